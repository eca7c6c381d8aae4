"""Plies as far as PGN shows them: four values instead of fourteen."""

from __future__ import annotations

from itertools import count
from typing import Any, Final, NamedTuple, cast

from recorder.model import Game, LineKind, Origin, Ply, PlyLine, PlyRow, Precision, Proof

__all__ = ["USUAL", "ShownLine", "ShownPlies", "shown_line", "shown_plies", "whole_row"]

USUAL: Final = (Proof.FULL.value, Origin.FRAME.value, Precision.MILLISECONDS.value)
"""Proof, origin and precision of a ply that boards prove fully and whose times have milliseconds."""


class ShownPlies(NamedTuple):
    """Plies that follow each other, value by value. One that is not ``USUAL`` comes without its times.

    Attributes:
        first: number of the first one. sans: their SAN.
        clocks_ms, elapsed_ms: the mover's clock after each, and what it took; None where that is not known.
    """

    first: int
    sans: list[str]
    clocks_ms: list[int | None]
    elapsed_ms: list[int | None]


def shown_plies(rows: list[Ply] | list[PlyRow], first: int) -> ShownPlies:
    """The plies of a line so; the first of them has this number."""
    sans: list[str] = []
    clocks_ms: list[int | None] = []
    of_each_ms: list[int | None] = []
    for row in rows:
        usual = row[10:13] == USUAL
        sans.append(row[2])
        clocks_ms.append((row[3] if row[0] & 1 else row[4]) if usual else None)
        of_each_ms.append(row[5] if usual else None)
    return ShownPlies(first, sans, clocks_ms, of_each_ms)


def whole_row(
    ply: int, san: str, clock_ms: int | None, elapsed_ms: int | None, quality: tuple[int, int, int | None] = USUAL
) -> PlyRow:
    """The ply of which only that was loaded, and how it is proved: what PGN does not show is None."""
    white_ms, black_ms = (clock_ms, None) if ply & 1 else (None, clock_ms)
    found: Any = (ply, None, san, white_ms, black_ms, elapsed_ms, None, None, None, None, *quality, None)
    return cast(PlyRow, found)  # though its offset is None


class ShownLine(PlyLine):
    """A line that an archive gives to those who write PGN.

    Attributes:
        shown: its plies, if they follow each other, each is ``USUAL`` with its times known, and nobody has asked for
            ``rows`` yet; else None.
    """

    __slots__ = ("_rows", "shown")

    def __init__(self, number: int, kind: LineKind, parent: int | None, parent_ply: int | None) -> None:
        super().__init__(number, kind, parent, parent_ply, [])
        self.shown: ShownPlies | None = None

    def __len__(self) -> int:
        return len(self._rows) if self.shown is None else len(self.shown.sans)

    def ply(self, place: int) -> Ply:
        """One of its plies."""
        if self.shown is None:
            return Ply._make(self._rows[place])
        first, sans, clocks_ms, elapsed_ms = self.shown
        return Ply._make(whole_row(first + place, sans[place], clocks_ms[place], elapsed_ms[place]))

    @property
    def rows(self) -> list[Ply] | list[PlyRow]:
        """As in any line; from then on these count."""
        if self.shown is not None:
            first, sans, clocks_ms, elapsed_ms = self.shown
            self._rows: list[Ply] | list[PlyRow] = list(map(whole_row, count(first), sans, clocks_ms, elapsed_ms))
            self.shown = None
        return self._rows

    @rows.setter
    def rows(self, rows: list[Ply] | list[PlyRow]) -> None:
        self._rows = rows
        self.shown = None


def shown_line(game: Game) -> ShownLine | None:
    """The line that is the game's main line from end to end, if nothing but ``shown`` was loaded of it; else None."""
    if len(game.segments) != 1:
        return None
    first, last, observation = game.segments[0]
    line = game.observations[observation].lines[0]
    if not isinstance(line, ShownLine) or line.shown is None:
        return None
    return line if line.shown.first == first and first + len(line) - 1 == last else None
