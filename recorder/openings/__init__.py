"""Names of chess openings: which one a game of normal chess reached last, found by position.

``openings.tsv`` contains the names. ``tests/openings/table.py`` writes it from the tables of lichess-org/chess-openings
(CC0); the lines at its top have version and licence. Each row has the key of its position, so transpositions are found.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from recorder.rules.position import Position

__all__ = ["DEEPEST", "Opening", "TABLE", "find_opening", "opening_names", "opening_of"]

DEEPEST: Final = 36
"""Half-moves of the longest line in the table: no later position has a name."""

TABLE: Final = Path(__file__).with_name("openings.tsv")


class Opening(NamedTuple):
    """A named opening, and where a game reached it.

    Attributes:
        eco: its code in the Encyclopaedia of Chess Openings, ``A00`` to ``E99``.
        name: in English, as ``Sicilian Defense: Najdorf Variation, English Attack``.
        ply: half-moves after which the game was last in a named position.
    """

    eco: str
    name: str
    ply: int

    @property
    def family(self) -> str:
        """The name before the colon: ``Sicilian Defense``."""
        return self.name.partition(": ")[0]

    @property
    def variation(self) -> str | None:
        """The name after the colon: ``Najdorf Variation, English Attack``; None: there is none."""
        return self.name.partition(": ")[2] or None


def find_opening(plies: Sequence[tuple[Any, ...]]) -> Opening | None:
    """Plies have their number and their move in front; what follows a missing ply or an unknown move does not count."""
    from recorder.rules.keys import position_keys  # most commands need no rules

    first = plies[:DEEPEST]
    if first and first[-1][0] != len(first):  # some are missing
        first = [ply for number, ply in enumerate(first, 1) if ply[0] == number]
    names = _names()
    keys = position_keys([ply[1] for ply in first])
    for ply in range(len(keys), 0, -1):
        if (row := names.get(keys[ply - 1])) is not None:
            eco, name, _ = row.split("\t")
            return Opening(eco, name, ply)
    return None


def opening_of(position: Position) -> Opening | None:
    """With 0 as its ply; None: the position has no name."""
    from recorder.rules.keys import position_key

    row = _names().get(position_key(position))
    if row is None:
        return None
    eco, name, _ = row.split("\t")
    return Opening(eco, name, 0)


@cache
def opening_names() -> frozenset[str]:
    return frozenset(row.split("\t")[1] for row in _names().values())


@cache
def _names() -> dict[int, str]:
    rows = TABLE.read_text(encoding="utf-8").splitlines()
    return {int(row[:16], 16): row[17:] for row in rows if row[0] != "#"}
