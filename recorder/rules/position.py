"""A position: the board of a frame and the facts that the board does not show."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from functools import partial
from typing import Final, NamedTuple

__all__ = [
    "BLACK_LONG",
    "BLACK_SHORT",
    "NO_PROMOTED",
    "STANDARD_ROOKS",
    "WHITE_LONG",
    "WHITE_SHORT",
    "Position",
    "PositionRow",
    "Rules",
    "make_position",
]

WHITE_SHORT, WHITE_LONG, BLACK_SHORT, BLACK_LONG = 1, 2, 4, 8
STANDARD_ROOKS = (7, 0, 7, 0)
NO_PROMOTED: frozenset[int] = frozenset()


class Rules(Enum):
    """Which rules prove a move."""

    CHESS = "chess"
    CHESS960 = "chess960"
    CRAZYHOUSE = "crazyhouse"
    BUGHOUSE = "bughouse"
    SUICIDE = "suicide"  # giveaway and antichess too
    LOSERS = "losers"
    ATOMIC = "atomic"
    HORDE = "horde"  # White has pawns for all pieces, and no king
    RACING = "racing"  # racing kings: nobody may give check
    WILD = "wild"  # chess from any start position, with the castling of a king on d
    BOARDS = "boards"  # no chess legality: the two boards decide (variants whose rules are not known here)
    FRAMES = "frames"  # nothing is proved: boards that are not 8×8, have other pieces or hidden squares

    apart: bool

    def __init__(self, word: str) -> None:
        #: ``prove`` itself does not prove it: ``rules_variants`` or ``rules_boards`` does, or nothing.
        self.apart = word in ("suicide", "losers", "atomic", "horde", "racing", "wild", "boards", "frames")


class Position(NamedTuple):
    """An immutable position.

    Attributes:
        board: 71 characters, rank 8 first, ranks joined by one blank, ``-`` empty.
        white_to_move: whose move it is.
        castling: rights still held: 1 White short, 2 White long, 4 Black short, 8 Black long.
        push_col: file 0-7 of the double pawn push just made by the opponent, -1 none.
        in_check: whether the side to move is in check (always False for ``Rules.SUICIDE`` and ``BOARDS``).
        rules: which rules prove its moves.
        hands: White's and Black's pieces in hand, upper case in the order PNBRQ; None: not known or no drop game.
        promoted: board indexes of promoted pieces (drop games only).
        rook_cols: files of the castling rooks in the order of the rights' bits.
        white_king, black_king: board indexes of the kings, -1 without one; they save two searches a ply.
    """

    board: str
    white_to_move: bool
    castling: int
    push_col: int
    in_check: bool
    rules: Rules
    hands: tuple[str, str] | None
    promoted: frozenset[int]
    rook_cols: tuple[int, int, int, int]
    white_king: int
    black_king: int


#: A position's fields in their order. A compiled module takes a position apart as this several times quicker.
PositionRow = tuple[
    str, bool, int, int, bool, Rules, tuple[str, str] | None, frozenset[int], tuple[int, int, int, int], int, int
]
make_position: Final[Callable[[PositionRow], Position]] = partial(tuple.__new__, Position)
"""A position of its fields in their order, made in half the time that a call of ``Position`` takes."""
