"""A move as one small integer, and back to UCI notation."""

from __future__ import annotations

from typing import Final

__all__ = ["decode_move", "encode_move"]

_FILES: Final = "abcdefgh"
_PIECES: Final = ".nbrqkp"


def encode_move(uci: str) -> int:
    """Pack a UCI move into an integer below 2**16.

    Args:
        uci: ``e2e4``, ``e7e8q`` (any of nbrqk) or a drop ``N@e4``/``P@e4``.
    Returns:
        from + 64 × to + 4096 × promotion (1 n, 2 b, 3 r, 4 q, 5 k); a drop has 4096 × (8 + piece) with from 0
        and pieces 1 n, 2 b, 3 r, 4 q, 5 k, 6 p.
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
