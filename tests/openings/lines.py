"""The rows of the table of openings, and moves from SAN."""

from typing import NamedTuple

from recorder.openings import TABLE
from recorder.rules.fen import position_from_fen
from recorder.rules.position import Rules
from recorder.rules.prove import play_san

START = position_from_fen("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", Rules.CHESS)


class Row(NamedTuple):
    """A row of the table: code, name and a line that leads to the position."""

    eco: str
    name: str
    sans: tuple[str, ...]

    def moves(self) -> list[int]:
        return moves_of(*self.sans)


def moves_of(*sans: str) -> list[int]:
    """Moves from the normal start, encoded."""
    position, moves = START, []
    for san in sans:
        step = play_san(position, san)
        assert not isinstance(step, str), step
        moves.append(step[0])
        position = step[2]
    return moves


def table() -> list[Row]:
    lines = [line for line in TABLE.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    return [Row(eco, name, tuple(sans.split())) for _, eco, name, sans in (line.split("\t") for line in lines)]
