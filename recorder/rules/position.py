"""A position: the board of a frame and the facts that the board does not show; a move as one small integer."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from functools import partial
from typing import Final, NamedTuple

WHITE_SHORT, WHITE_LONG, BLACK_SHORT, BLACK_LONG = 1, 2, 4, 8
STANDARD_ROOKS = (7, 0, 7, 0)
NO_PROMOTED: frozenset[int] = frozenset()
_FILES: Final = "abcdefgh"
_PIECES: Final = ".nbrqkp"


class Rules(Enum):
    CHESS = "chess"
    CHESS960 = "chess960"
    CRAZYHOUSE = "crazyhouse"
    BUGHOUSE = "bughouse"
    SUICIDE = "suicide"  # giveaway and antichess too
    LOSERS = "losers"
    ATOMIC = "atomic"
    HORDE = "horde"  # White has pawns for all pieces, and no king
    RACING = "racing"  # racing kings: no move may give check
    WILD = "wild"  # chess from any start position, with the castling of a king on d
    BOARDS = "boards"  # no chess legality: the two boards decide (variants whose rules are not known here)
    FRAMES = "frames"  # nothing is proved: boards that are not 8×8, have other pieces or hidden squares

    apart: bool

    def __init__(self, word: str) -> None:
        #: ``prove`` itself does not prove it: ``variant_moves`` or ``boards`` does, or nothing.
        self.apart = word in ("suicide", "losers", "atomic", "horde", "racing", "wild", "boards", "frames")


class Position(NamedTuple):
    """An immutable position.

    Attributes:
        board: 71 characters, rank 8 first, ranks joined by one blank, ``-`` empty.
        castling: rights that remain: 1 White short, 2 White long, 4 Black short, 8 Black long.
        push_col: file 0-7 of the double pawn push just made by the opponent, -1 none.
        in_check: whether the side to move is in check (always False for ``Rules.SUICIDE`` and ``BOARDS``).
        rules: which rules prove its moves.
        holdings: White's and Black's pieces in hand, upper case in the order PNBRQ; None: not known or no drop game.
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
    holdings: tuple[str, str] | None
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


def encode_move(uci: str) -> int:
    """Pack a UCI move into an integer below 2**16: origin + 64 × target + 4096 × promotion (1 n, 2 b, 3 r, 4 q, 5 k).

    A drop (``N@e4``, ``P@e4``) has 4096 × (8 + piece), origin 0 and pieces 1 n, 2 b, 3 r, 4 q, 5 k, 6 p.
    """
    if uci[1] == "@":
        return (8 + _PIECES.index(uci[0].lower())) << 12 | _square(uci[2:4]) << 6
    promotion = _PIECES.index(uci[4]) if len(uci) > 4 else 0
    return promotion << 12 | _square(uci[2:4]) << 6 | _square(uci[:2])


def decode_move(move: int) -> str:
    """Unpack ``encode_move``'s integer into UCI notation."""
    extra, to = move >> 12, _name(move >> 6 & 63)
    if extra >= 8:
        return f"{_PIECES[extra - 8].upper()}@{to}"
    return _name(move & 63) + to + (_PIECES[extra] if extra else "")


def _square(name: str) -> int:
    return _FILES.index(name[0]) + 8 * (int(name[1]) - 1)


def _name(square: int) -> str:
    return f"{_FILES[square & 7]}{(square >> 3) + 1}"
