"""Commands for which a replay has nothing to do: what clients ask at login, and what needs other people.

They are answered in the servers' words, so that nobody waits for an answer.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from recorder.replay.session import Session

__all__ = ["COURTESIES", "Answer"]

Answer = Callable[["Session", str], None]
"""Answers a command: it is given the session and the words behind the command."""

_NUMBER: Final = re.compile(r"\d{1,6}", re.ASCII)
_HELP: Final = """This server replays recorded games; nobody plays here. It answers
  games, observe N, pobserve N, unobserve [N], follow NAME, moves [N], refresh [N],
  who, finger NAME, history NAME, smoves NAME N, sposition NAME N, examine NAME N,
  moves on an examined board, forward, backward, to 20w, revert, unexamine,
  set, iset, style, variables, ivariables, date, quit.
"tell replay help" tells how to move time.""".splitlines()


def _inchannel(session: Session, rest: str) -> None:
    """Nobody talks in channels here; a line that begins as a channel's list makes clients wait for its end."""
    word = rest.split()[0] if rest else ""
    if _NUMBER.fullmatch(word):
        session.tell(f"Channel {word} is empty.")
    else:
        session.tell(f"{word} is in no channels." if word else "No channels are in use.")


def _showlist(session: Session, rest: str) -> None:
    session.tell(f"-- {rest.split()[0]} list: 0 names --" if rest else "Lists:")


def _has_no(what: str) -> Answer:
    def answer(session: Session, rest: str) -> None:
        session.tell(f"{rest.split()[0] if rest else session.handle} has no {what}.")

    return answer


def _lines(*lines: str) -> Answer:
    def answer(session: Session, rest: str) -> None:
        session.tell(*lines)

    return answer


_NO_LISTS: Final = _lines("This replay keeps no lists.")
_NOT_PLAYING: Final = _lines("You are not playing a game.")

COURTESIES: Final[dict[str, Answer]] = {
    **dict.fromkeys(
        ("abort", "adjourn", "draw", "flag", "moretime", "pause", "resign", "say", "takeback", "unpause"), _NOT_PLAYING
    ),
    **dict.fromkeys(("match", "seek", "unseek"), _lines("Nobody plays here: this is a replay.")),
    **dict.fromkeys(("accept", "decline"), _lines("There are no offers to you.")),
    **dict.fromkeys(("addlist", "sublist"), _NO_LISTS),
    "cshout": _lines("(c-shouted to 0 players)"),
    "help": _lines(*_HELP),
    "inchannel": _inchannel,
    "it": _lines("(it-shouted to 0 players)"),
    "journal": _has_no("journal entries"),
    "messages": _lines("You have no messages."),
    "news": _lines("There are no new news items."),
    "next": _lines("There is no more."),
    "ptell": _lines("You do not have a partner at present."),
    "quit": _lines(),
    "shout": _lines("(shouted to 0 players)"),
    "showlist": _showlist,
    "sought": _lines("0 ads displayed."),
    "stored": _has_no("adjourned games"),
    "uptime": _lines("This server replays recorded games."),
}
"""What answers each of these commands."""
