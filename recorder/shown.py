"""Plies as far as PGN shows them: four values instead of fourteen, for those who write very many."""

from __future__ import annotations

from typing import Any, Final, cast

from recorder.model import Game, LineKind, Origin, Ply, PlyLine, PlyRow, Precision, Proof

__all__ = ["USUAL", "ShownLine", "ShownRow", "shown_line", "shown_row", "whole_row"]

#: Of a ply that boards prove fully and whose times have milliseconds: its number, SAN, the mover's clock, elapsed time.
ShownRow = tuple[int, str, int | None, int | None]

USUAL: Final = (Proof.FULL.value, Origin.FRAME.value, Precision.MILLISECONDS.value)
"""Proof, origin and precision of such a ply."""


def shown_row(row: Ply | PlyRow) -> ShownRow:
    """A ply so; one that is proved otherwise, or has other times, comes without them."""
    if row[10:13] != USUAL:
        return row[0], row[2], None, None
    return row[0], row[2], row[3] if row[0] & 1 else row[4], row[5]


def whole_row(row: ShownRow, quality: tuple[int, int, int | None] = USUAL) -> PlyRow:
    """The ply of which only that was loaded, and how it is proved: what PGN does not show is None."""
    ply, san, clock_ms, elapsed_ms = row
    white_ms, black_ms = (clock_ms, None) if ply & 1 else (None, clock_ms)
    found: Any = (ply, None, san, white_ms, black_ms, elapsed_ms, None, None, None, None, *quality, None)
    return cast(PlyRow, found)  # though its offset is None


class ShownLine(PlyLine):
    """A line that an archive gives to those who write PGN.

    Attributes:
        shown: its plies, if each of them is as ``ShownRow`` says and nobody has asked for ``rows`` yet; else None.
    """

    __slots__ = ("_rows", "shown")

    def __init__(self, number: int, kind: LineKind, parent: int | None, parent_ply: int | None) -> None:
        super().__init__(number, kind, parent, parent_ply, [])
        self.shown: list[ShownRow] | None = None

    def __len__(self) -> int:
        return len(self._rows) if self.shown is None else len(self.shown)

    def ply(self, place: int) -> Ply:
        """One of its plies."""
        return Ply._make(self._rows[place] if self.shown is None else whole_row(self.shown[place]))

    @property
    def rows(self) -> list[Ply] | list[PlyRow]:
        """As in any line; from then on these count."""
        if self.shown is not None:
            self._rows: list[Ply] | list[PlyRow] = list(map(whole_row, self.shown))
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
    if not isinstance(line, ShownLine) or not line.shown:
        return None
    return line if line.shown[0][0] == first and line.shown[-1][0] == last else None
