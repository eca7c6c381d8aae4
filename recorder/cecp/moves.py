"""Moves as the engine protocol writes them: coordinates, SAN, drops, castling, several legs, the null move."""

from __future__ import annotations

import re
from enum import Enum
from typing import Final, NamedTuple

_SQUARE: Final = r"[a-l](?:1[0-2]|[0-9])"
_DROP: Final = re.compile(rf"([A-Za-z]\+?)[@*]({_SQUARE})[+#!?]{{0,4}}", re.ASCII)
_CASTLING: Final = re.compile(r"(?:O-?O(-?O)?|0-?0(-?0)?|o-?o(-?o)?)[+#!?]{0,4}", re.ASCII)
_LEGS: Final = re.compile(rf"{_SQUARE}{_SQUARE}(?:,{_SQUARE}{_SQUARE})*,?[A-Za-z+]?", re.ASCII)
_SHIFT: Final = re.compile(
    rf"(?:(\+?[A-Z])/?)?([a-l]?(?:1[0-2]|[0-9])?)[-:xX]?({_SQUARE})"
    r"(?:[=/]?(?:\(([A-Za-z])\)|([A-Za-z]))|=)?(?: ?ep| ?e\.p\.)?[+#!?]{0,4}",
    re.ASCII,
)
_NULL_MOVES: Final = ("@@@@", "--", "Z0", "null", "pass")


class MoveKind(Enum):
    COORDINATES = "coordinates"
    SAN = "san"
    DROP = "drop"
    CASTLING = "castling"
    LEGS = "legs"
    NULL = "null"
    UNREADABLE = "unreadable"


class MoveText(NamedTuple):
    """A move as written; squares where the text names them, of SAN ``origin`` may be a file or a rank only."""

    kind: MoveKind
    text: str
    origin: str | None = None
    target: str | None = None
    letter: str | None = None  # promoted to, or dropped
    long: bool = False  # castling to the queen's side
    piece: str | None = None  # in front of SAN


def parse_move(text: str) -> MoveText | None:
    """Read a move; None: the text does not have the form of a move."""
    # Source: section 8, MOVE: e2e4, e7e8q, P@h3, O-O, "c4d5,d5e4", @@@@, or SAN; a comma at the end: the engine's next
    # "move" is the next leg. xboard's parser also reads e7-e8, e7xd8=Q, exd8(Q), Ng1-f3, P/e7-e8=Q.
    if match := _CASTLING.fullmatch(text):
        return MoveText(MoveKind.CASTLING, text, long=any(match.groups()))
    if match := _DROP.fullmatch(text):
        return MoveText(MoveKind.DROP, text, None, match[2], match[1])
    if text in _NULL_MOVES:
        return MoveText(MoveKind.NULL, text)
    if "," in text and _LEGS.fullmatch(text):
        return MoveText(MoveKind.LEGS, text)
    match = _SHIFT.fullmatch(text)
    if match is None:
        return None
    piece, origin, target, bracketed, letter = match.groups()
    kind = MoveKind.COORDINATES if piece is None and len(origin) > 1 else MoveKind.SAN
    return MoveText(kind, text, origin or None, target, bracketed or letter, piece=piece)


def any_move(text: str) -> MoveText:
    return parse_move(text) or MoveText(MoveKind.UNREADABLE, text)
