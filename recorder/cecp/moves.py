"""Moves as the engine protocol writes them: coordinates, SAN, drops, castling, several legs, the null move."""

from __future__ import annotations

import re
from enum import Enum
from typing import Final, NamedTuple

__all__ = ["MoveKind", "MoveText", "format_move", "parse_move"]

_SQUARE: Final = r"[a-l](?:1[0-2]|[0-9])"
_COORDINATES: Final = re.compile(rf"({_SQUARE})({_SQUARE})=?([A-Za-z+]?)", re.ASCII)
_DROP: Final = re.compile(rf"([A-Za-z]\+?)@({_SQUARE})[+#]?", re.ASCII)
_CASTLING: Final = re.compile(r"(?:O-O(-O)?|0-0(-0)?|o-o(-o)?)[+#]?", re.ASCII)
_LEGS: Final = re.compile(rf"{_SQUARE}{_SQUARE}(?:,{_SQUARE}{_SQUARE})*,?[A-Za-z+]?", re.ASCII)
_SAN: Final = re.compile(
    rf"[A-Z]?\+?[a-l]?(?:1[0-2]|[0-9])?[x-]?({_SQUARE})(?:=?\(?([A-Za-z])\)?)?(?:ep|e\.p\.)?[+#]?[!?]{{0,2}}", re.ASCII
)
_NULL_MOVE: Final = "@@@@"


class MoveKind(Enum):
    """How a move is written."""

    COORDINATES = "coordinates"
    SAN = "san"
    DROP = "drop"
    CASTLING = "castling"
    LEGS = "legs"
    NULL = "null"


class MoveText(NamedTuple):
    """A move as written.

    ``origin`` and ``target`` are squares where the text names them (``origin`` of coordinates only). ``letter`` is the
    promotion piece or the piece dropped, as written. ``long``: castling to the queen's side.
    """

    kind: MoveKind
    text: str
    origin: str | None = None
    target: str | None = None
    letter: str | None = None
    long: bool = False


def parse_move(text: str) -> MoveText | None:
    """Read a move; None: the text does not have the form of a move.

    Source: the protocol's section 8, MOVE: ``e2e4``, ``e7e8q``, ``P@h3``, ``O-O``, ``c4d5,d5e4``, ``@@@@``, or SAN.
    A comma at the end means that the engine's next ``move`` continues with the next leg.
    """
    if match := _COORDINATES.fullmatch(text):
        return MoveText(MoveKind.COORDINATES, text, match[1], match[2], match[3] or None)
    if match := _CASTLING.fullmatch(text):
        return MoveText(MoveKind.CASTLING, text, long=any(match.groups()))
    if match := _DROP.fullmatch(text):
        return MoveText(MoveKind.DROP, text, None, match[2], match[1])
    if text == _NULL_MOVE:
        return MoveText(MoveKind.NULL, text)
    if "," in text and _LEGS.fullmatch(text):
        return MoveText(MoveKind.LEGS, text)
    if match := _SAN.fullmatch(text):
        return MoveText(MoveKind.SAN, text, None, match[1], match[2])
    return None


def format_move(move: MoveText) -> str:
    """Write the move that ``parse_move`` reads."""
    return move.text
