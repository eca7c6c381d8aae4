"""Keys of positions: one integer for board, side to move, castling rights and legal en passant capture.

Two positions of normal chess have one key if they are equal in all four. A key is the exclusive or of constants: one
for each piece on its square, one for each right and so on, so that a move changes it in a few steps (Zobrist 1970). The
constants are made from a fixed text: a key is the same in every version and on every machine, and can be stored.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Sequence
from functools import reduce
from operator import xor
from typing import Final

from recorder.rules.fen import en_passant_index
from recorder.rules.position import NO_PROMOTED, STANDARD_ROOKS, Position, Rules

_LETTERS: Final = "PNBRQKpnbrqk"
_START: Final = "RNBQKBNRPPPPPPPP" + "-" * 32 + "pppppppprnbqkbnr"  # a1 is first, as in an encoded move
_ALL_RIGHTS: Final = 15
_KEPT: Final = [
    _ALL_RIGHTS & ~{4: 3, 7: 1, 0: 2, 60: 12, 63: 4, 56: 8}.get(square, 0) for square in range(64)
]  # castling rights that remain after a move from or to a square
_CASTLED_ROOK: Final = {6: (7, 5), 2: (0, 3), 62: (63, 61), 58: (56, 59)}  # where the king arrives → the rook's squares
_BITS: Final = (1 << 62) - 1  # SQLite stores such an integer, which has no sign
_SIMPLE, _PAWN, _CASTLING = range(3)  # kinds of pieces: what a move can change besides its two squares
_KINGS: Final = (5, 11)  # places in _LETTERS
_KING: Final = 5  # as a promotion

_Piece = tuple[int, ...]


def _constants() -> tuple[int, ...]:
    count = 64 * len(_LETTERS) + 4 + 8 + 1
    text = hashlib.shake_256(b"ics-recorder position keys 1").digest(8 * count)
    return tuple(number & _BITS for number in struct.unpack(f">{count}Q", text))


_CONSTANTS: Final = _constants()
_KINDS: Final = {"P": _PAWN, "R": _CASTLING, "K": _CASTLING}
_PIECES: Final[tuple[_Piece, ...]] = tuple(
    (*_CONSTANTS[64 * index : 64 * index + 64], _KINDS.get(letter.upper(), _SIMPLE), index)
    for index, letter in enumerate(_LETTERS)
)
_OF_RIGHT: Final = _CONSTANTS[-13:-9]
_OF_FILE: Final = _CONSTANTS[-9:-1]
_BLACK_TO_MOVE: Final = _CONSTANTS[-1]
_OF_RIGHTS: Final = tuple(
    reduce(xor, (constant for bit, constant in enumerate(_OF_RIGHT) if rights >> bit & 1), 0) for rights in range(16)
)
_BOARD: Final[tuple[_Piece | None, ...]] = tuple(
    None if letter == "-" else _PIECES[_LETTERS.index(letter)] for letter in _START
)
START_KEY: Final = reduce(
    xor, (piece[square] for square, piece in enumerate(_BOARD) if piece is not None), _OF_RIGHTS[_ALL_RIGHTS]
)


def position_key(position: Position) -> int:
    """Return the key of a position of normal chess: kings castle from e1 and e8, with rooks in the corners."""
    key = _OF_RIGHTS[position.castling] if position.white_to_move else _OF_RIGHTS[position.castling] ^ _BLACK_TO_MOVE
    for square, piece in enumerate(_pieces(position)):
        if piece is not None:
            key ^= piece[square]
    return key ^ _OF_FILE[position.push_col] if en_passant_index(position) >= 0 else key


def _pieces(position: Position) -> list[_Piece | None]:
    letters = "".join(reversed(position.board.split(" ")))
    return [None if letter == "-" else _PIECES[_LETTERS.index(letter)] for letter in letters]


def position_keys(moves: Sequence[int | None], start: Position | None = None) -> list[int]:
    """Keys end before the first move that is None, a drop or from an empty square; an illegal one makes them noise."""
    board, key, rights = list(_BOARD), START_KEY, _ALL_RIGHTS
    if start is not None:
        board, rights = _pieces(start), start.castling
        key = position_key(start._replace(push_col=-1))
    black_to_move = _BLACK_TO_MOVE
    keys: list[int] = []
    for move in moves:
        if move is None:
            break
        origin, target = move & 63, move >> 6 & 63
        piece, taken = board[origin], board[target]
        if piece is None or move >> 12 > _KING:  # nothing to move, or a drop
            break
        key ^= piece[origin] ^ piece[target] ^ black_to_move
        board[origin], board[target] = None, piece
        if taken is not None:
            key ^= taken[target]
        kind = piece[64]
        if kind == _PAWN:
            step = target - origin
            if step in (16, -16):
                keys.append(key ^ _en_passant_key(board, target, rights))
                continue
            if move >> 12 or (taken is None and step & 1):
                key ^= _promoted(board, target, move >> 12) if move >> 12 else _taken_beside(board, target, step)
        elif kind == _CASTLING and origin - target in (2, -2) and piece[65] in _KINGS and target in _CASTLED_ROOK:
            key ^= _moved_rook(board, *_CASTLED_ROOK[target])
        if rights and (kind == _CASTLING or taken is not None):
            left = rights & _KEPT[origin] & _KEPT[target]
            key ^= _OF_RIGHTS[rights] ^ _OF_RIGHTS[left]
            rights = left
        keys.append(key)
    return keys


def _promoted(board: list[_Piece | None], square: int, to: int) -> int:
    """Returns the change of the key."""
    pawn = board[square]
    assert pawn is not None
    promoted = board[square] = _PIECES[pawn[65] + to]
    return pawn[square] ^ promoted[square]


def _taken_beside(board: list[_Piece | None], square: int, step: int) -> int:
    """Returns the change of the key."""
    victim = square - 8 if step > 0 else square + 8
    if not 0 <= victim < len(board):  # no rule has such a pawn; a log may
        return 0
    taken, board[victim] = board[victim], None
    return 0 if taken is None else taken[victim]


def _moved_rook(board: list[_Piece | None], origin: int, target: int) -> int:
    """Returns the change of the key."""
    rook = board[origin]
    if rook is None:
        return 0
    board[origin], board[target] = None, rook
    return rook[origin] ^ rook[target]


def _en_passant_key(board: list[_Piece | None], square: int, rights: int) -> int:
    """Return the part of a key for a pawn that was just moved two squares, 0 if no legal move takes it."""
    file = square & 7
    other = _PIECES[6 if square < 32 else 0]
    if not (file and board[square - 1] is other) and not (file < 7 and board[square + 1] is other):
        return 0
    letters = ["-" if piece is None else _LETTERS[piece[65]] for piece in board]
    text = " ".join("".join(letters[rank : rank + 8]) for rank in range(56, -1, -8))
    kings = text.find("K"), text.find("k")
    position = Position(text, square >= 32, rights, file, False, Rules.CHESS, None, NO_PROMOTED, STANDARD_ROOKS, *kings)
    return _OF_FILE[file] if en_passant_index(position) >= 0 else 0
