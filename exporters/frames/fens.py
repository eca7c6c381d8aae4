"""FEN of very many boards: each different rank is spelled once."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from exporters.frames.boards import LETTERS, Replayed
from storage.columns import NULL, PlyArrays

__all__ = ["fens"]

_EMPTY = re.compile(r"\.+")
_CASTLING = tuple("".join(letter for bit, letter in enumerate("KQkq") if code >> bit & 1) or "-" for code in range(16))


def fens(
    played: Replayed, plies: PlyArrays, white_hands: NDArray[np.object_], black_hands: NDArray[np.object_]
) -> NDArray[np.object_]:
    """The position after each row; None where the board is not known.

    The en passant square is written where a pawn stands beside the one that was pushed, pinned or not. Hands follow the
    board in brackets where they were printed. What nobody printed (castling rights, half-moves) is ``-`` and 0.
    """
    assert played.boards is not None
    boards = np.ascontiguousarray(played.boards)
    ranks = boards.view(np.uint64)
    codes, place = np.unique(ranks, return_inverse=True)
    words = np.array([_word(code.tobytes()) for code in codes], dtype=object)[place.reshape(ranks.shape)]
    found: NDArray[np.object_] = words[:, 7]
    for rank in range(6, -1, -1):
        found = found + "/" + words[:, rank]
    for row in np.flatnonzero([hand is not None for hand in white_hands]).tolist():
        found[row] += f"[{white_hands[row]}{black_hands[row].lower()}]"
    flags = np.where(plies.flags == NULL, 0, plies.flags)
    white = plies.ply & 1 == 1
    found = found + np.where(white, " b ", " w ").astype(object) + np.array(_CASTLING, dtype=object)[flags & 15]
    found = found + " " + _en_passant(boards, flags >> 4, white) + " "
    still = np.where(plies.irreversible == NULL, 0, np.maximum(plies.irreversible, 0))
    found = found + still.astype(str).astype(object) + " " + ((plies.ply >> 1) + 1).astype(str).astype(object)
    found[~played.known] = None
    return found


def _word(squares: bytes) -> str:
    return _EMPTY.sub(lambda run: str(len(run[0])), "".join(LETTERS[code] for code in squares))


def _en_passant(boards: NDArray[np.uint8], pushed: NDArray[np.int64], white: NDArray[np.bool_]) -> NDArray[np.object_]:
    """``e3``, or ``-``; ``pushed`` is the file of a double push just made and 1, or 0."""
    found = np.full(len(boards), "-", dtype=object)
    rows = np.flatnonzero(pushed > 0)
    file, by_white = pushed[rows] - 1, white[rows]
    rank = np.where(by_white, 24, 32)
    taker = np.where(by_white, 9, 1)
    beside = (file > 0) & (boards[rows, rank + np.maximum(file - 1, 0)] == taker)
    beside |= (file < 7) & (boards[rows, rank + np.minimum(file + 1, 7)] == taker)
    names = np.array([f"{letter}{number}" for number in (6, 3) for letter in "abcdefgh"], dtype=object)
    found[rows[beside]] = names[(file + np.where(by_white, 8, 0))[beside]]
    return found
