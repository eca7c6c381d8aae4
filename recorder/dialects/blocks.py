"""Block mode's codes: which command a reply answers (``\\x15 id \\x16 code \\x16 … \\x17``).

A block holds all that a server sends because of one command; what others do comes outside of blocks. The identifier is
the client's own; only the code tells what was asked, whoever asked it. Codes that are not here change nothing.

Source: the codes that clients and FatICS list; error codes are 512 (bad command) and above, 0 is no command.
"""

from __future__ import annotations

from recorder.frames import Block

__all__ = ["LIST_BLOCKS", "STORED_BLOCKS", "TEXT_BLOCKS", "answers"]

_FINGER, _HELP, _HISTORY, _INFO, _JOURNAL, _LINE, _MESSAGES, _NEWS, _NEXT = 37, 50, 51, 55, 60, 64, 74, 78, 79
_MOVES, _OLDMOVES, _SMOVES, _SPOSITION = 77, 81, 123, 125

TEXT_BLOCKS = frozenset((_FINGER, _HELP, _HISTORY, _INFO, _JOURNAL, _LINE, _MESSAGES, _NEWS, _NEXT))
"""Answers that print other people's text: nothing in them is about a game."""

STORED_BLOCKS = frozenset((_OLDMOVES, _SMOVES, _SPOSITION))
"""Answers that show a stored game or a past one: its boards, hands and moves are none of a game that goes on."""

LIST_BLOCKS = frozenset((_MOVES, *STORED_BLOCKS))
"""Answers with a list or a board of another moment: hands in them are not those that a player has now."""


def answers(block: Block | None, codes: frozenset[int]) -> bool:
    """Whether a line stands in the answer to one of these commands."""
    return block is not None and block.code in codes
