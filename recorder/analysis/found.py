"""How long an engine analyses one position, and what it tells of it: within bounds, compared with the position."""

from __future__ import annotations

import re
from collections import deque
from typing import Final, NamedTuple

from recorder.analysis.plan import Look
from recorder.cecp.moves import parse_move
from recorder.model import Thinking
from recorder.rules.prove import Position, Rules
from recorder.tracking.engines.view import play_move

__all__ = ["MOST_LINES", "MOST_PV", "Collected", "Found", "Limits", "is_playable"]

MOST_LINES: Final = 1_000
"""Of one position; more: the last ones are kept, which are the deepest."""

MOST_PV: Final = 4_096
"""Characters of a line's pv."""

_MOST_MS: Final = 600_000
_NUMBER: Final = re.compile(r"[0-9]{1,4}\.*|\.{2,3}", re.ASCII)


class Limits(NamedTuple):
    """When the thinking about a position ends: at the first of these that is reached. None: no such limit.

    Without ``time_ms`` a position that never reaches its depth or nodes ends after ``most_ms``, or when the engine has
    said nothing for long, which is told.
    """

    time_ms: int | None = None
    depth: int | None = None
    nodes: int | None = None

    @property
    def most_ms(self) -> int:
        """How long a position may take in any case."""
        return _MOST_MS if self.time_ms is None else self.time_ms


class Found(NamedTuple):
    """One position analysed.

    Attributes:
        look: the position.
        lines: what the engine told, in its order; ``seq`` counts from 0.
        notes: what was odd about it, phrases to follow the engine's name: ``told 1 line whose moves are not legal``.
    """

    look: Look
    lines: tuple[Thinking, ...]
    notes: tuple[str, ...]


class Collected:
    """The lines of one position while they come."""

    def __init__(self, look: Look) -> None:
        self.look = look
        self.notes: list[str] = []
        self._lines: deque[Thinking] = deque(maxlen=MOST_LINES)
        self._count = 0

    @property
    def last(self) -> Thinking | None:
        """The newest line."""
        return self._lines[-1] if self._lines else None

    @property
    def next_seq(self) -> int:
        """The place of the next line."""
        return self._count

    def add(self, line: Thinking) -> None:
        """Keep a line; its pv is cut where it is longer than any game."""
        self._lines.append(line._replace(pv=line.pv[:MOST_PV]))
        self._count += 1

    def go_on(self, text: str) -> None:
        """The last line's pv goes on."""
        if self._lines:
            last = self._lines[-1]
            self._lines[-1] = last._replace(pv=f"{last.pv} {text.strip()}".strip()[:MOST_PV])

    def found(self) -> Found:
        """All of it, compared with the position."""
        notes = list(self.notes)
        dropped = self._count - len(self._lines)
        if dropped:
            notes.append(f"told {self._count} lines, of which the last {len(self._lines)} are kept")
        lies = sum(not is_playable(self.look.position, line.pv) for line in self._lines)
        if lies:
            notes.append(f"told {lies} line{'s' * (lies > 1)} whose moves are not legal")
        return Found(self.look, tuple(self._lines), tuple(notes))


def is_playable(position: Position, pv: str) -> bool:
    """Whether the moves of a pv can be played, as far as the text is moves.

    Args:
        position: before them.
        pv: as printed: SAN or coordinates, perhaps with move numbers; a word that is neither ends what is looked at.
    Returns:
        In bughouse also True for pieces that a partner would have to pass first.
    """
    if position.rules is Rules.BUGHOUSE:
        position = position._replace(hands=None)
    for word in pv.split():
        if _NUMBER.fullmatch(word):
            continue
        move = parse_move(word)
        if move is None:
            return True
        step = play_move(position, move)
        if isinstance(step, str):
            return False
        position = step[2]
    return True
