"""The two notations of a move in a frame, decoded once per distinct text.

The verbose field is ``P/e2-e4``, ``P/e7-e8=Q`` (or without the piece), ``P/@@-e4``, ``o-o``; the pretty field is
like SAN. Source: "help style12" and the move printers of the server families.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple

from recorder.rules.position import encode_move
from recorder.rules.tables import ATTACKS, EMPTY_SLICE, NAMES, PINS, Pin, index_of

#: What kind of shift: decides which tests it needs. The order counts: ``DOUBLE`` and ``CAPTURE`` are above ``PUSH``.
OFFICER: Final = 0
KING: Final = 1
PUSH: Final = 2
DOUBLE: Final = 3
CAPTURE: Final = 4

#: A decoded verbose move with everything that does not depend on the position. A plain tuple, because unpacking an
#: exact tuple is what the hot path does first: piece, from, to, path (None: nothing between), kind, the lower square,
#: what stands on it afterwards, the higher square, what stands on that, move, quiet SAN, capture SAN, castling rights
#: kept, attacks of the arrived piece, pins of the own king, discoveries on the other king.
Shift = tuple[
    str, int, int, slice | None, int, int, str, int, str, int, str, str, int,
    tuple[slice | None, ...], tuple[Pin | None, ...], tuple[Pin | None, ...],
]  # fmt: skip


class Castle(NamedTuple):
    long: bool


class Drop(NamedTuple):
    letter: str
    to: int


class NeedsPromotion(NamedTuple):
    """Some servers leave the piece to the pretty move."""

    verbose: str


class Pretty(NamedTuple):
    """What a pretty move names. ``letter`` upper case; None: not given. ``castle``: 1 short, 2 long."""

    letter: str
    file: int | None
    row: int | None
    capture: bool
    to: int
    promotion: str | None
    drop: bool
    castle: int


_VERBOSE: Final = re.compile(r"([PNBRQKpnbrqk])/([a-h][1-8])-([a-h][1-8])(?:=([NBRQKnbrqk]))?")
_DROP: Final = re.compile(r"([PNBRQpnbrq])/@@-([a-h][1-8])")
_CASTLE: Final = {f"{o}-{o}{tail}": bool(tail) for o in "oO0" for tail in ("", f"-{o}")}
_EP_MARK = re.compile(r" ?(?:e\.p\.|ep)\Z")
_PRETTY: Final = re.compile(
    r"(?:([PNBRQK])?([a-h])?([1-8])?([x-])?([a-h][1-8])(?:=?([NBRQK])|=([nbrqk]))?|([PNBRQ])?@([a-h][1-8]))"
)
_KEEP: Final = {
    index_of(name): 15 & ~lost for name, lost in (("e1", 3), ("h1", 1), ("a1", 2), ("e8", 12), ("h8", 4), ("a8", 8))
}


def castle_side(verbose: str) -> bool | None:
    """None: it is no castling text."""
    return _CASTLE.get(verbose)


def split_verbose(verbose: str) -> tuple[str, int, int, str | None] | None:
    """Split ``P/e2-e4``, ``P/e7-e8=Q`` or ``P/@@-e4`` into letter, origin (-1: a drop), target and promotion."""
    if match := _VERBOSE.fullmatch(verbose) or _VERBOSE.fullmatch(_EP_MARK.sub("", verbose)):
        letter, origin, target, promotion = match.groups()
        return letter.upper(), index_of(origin), index_of(target), promotion and promotion.upper()
    if match := _DROP.fullmatch(_EP_MARK.sub("", verbose)):
        return match[1].upper(), -1, index_of(match[2]), None
    return None


def verbose_of(board: str, uci: str, san: str) -> str:
    """As frames do: ``P/e2-e4``. SAN says what castles: some variants begin with the king on d1."""
    if san.startswith("O-O"):
        return "o-o-o" if san.startswith("O-O-O") else "o-o"
    if uci[1] == "@":
        return f"{uci[0]}/@@-{uci[2:]}"
    promotion = f"={uci[4].upper()}" if len(uci) > 4 else ""
    return f"{board[index_of(uci[:2])].upper()}/{uci[:2]}-{uci[2:4]}{promotion}"


#: Only geometrically possible moves are remembered, so both dictionaries are bounded by geometry (< 6,000 texts each).
_SHIFTS: Final[tuple[dict[str, Shift], dict[str, Shift]]] = ({}, {})


def read_shift(verbose: str, white: bool) -> Shift | Castle | Drop | NeedsPromotion | str:
    """Decode a verbose move of one colour, or say why no piece can make it on any board."""
    side = castle_side(verbose)
    if side is not None:
        return Castle(side)
    parts = split_verbose(verbose)
    if parts is None:
        return "unreadable verbose move"
    letter, origin, target, promotion = parts
    if origin < 0:
        return Drop(letter, target)
    if letter == "P":
        if target // 9 in (0, 7) and promotion is None:
            return NeedsPromotion(verbose)
        if promotion is not None and (promotion == "K" or target // 9 != (0 if white else 7)):
            return "illegal: impossible promotion"
    elif promotion is not None:
        return "illegal: impossible promotion"
    shift = _make_shift(letter, origin, target, promotion, white)
    if isinstance(shift, tuple) and not _EP_MARK.search(verbose):
        _SHIFTS[white][verbose] = shift
    return shift


def known_shifts(white: bool) -> dict[str, Shift]:
    """The dictionary itself, which ``read_shift`` fills."""
    return _SHIFTS[white]


def _make_shift(letter: str, origin: int, target: int, promotion: str | None, white: bool) -> Shift | str:
    piece = letter if white else letter.lower()
    path = ATTACKS[piece][origin][target]
    kind = KING if letter == "K" else OFFICER
    if letter == "P":
        kind, path = _pawn_kind(origin, target, white)
        if origin // 9 in (0, 7):
            path = None
    if path is None:
        return "illegal: the piece does not move so"
    crossed = None if path == EMPTY_SLICE else path
    placed = piece if promotion is None else promotion if white else promotion.lower()
    low, high = min(origin, target), max(origin, target)
    first, second = ("-", placed) if origin < target else (placed, "-")
    to = NAMES[target]
    suffix = f"={promotion}" if promotion else ""
    if letter == "P":
        quiet, capture = f"{to}{suffix}", f"{NAMES[origin][0]}x{to}{suffix}"
    else:
        quiet, capture = f"{letter}{to}", f"{letter}x{to}"
    move = encode_move(NAMES[origin] + to + (promotion or "").lower())
    return (
        piece, origin, target, crossed, kind,
        low, first, high, second,
        move, quiet, capture, _KEEP.get(origin, 15) & _KEEP.get(target, 15),
        ATTACKS[placed][target], PINS[not white][origin], PINS[white][origin],
    )  # fmt: skip


def _pawn_kind(origin: int, target: int, white: bool) -> tuple[int, slice | None]:
    step = -9 if white else 9
    if target == origin + step:
        return PUSH, EMPTY_SLICE
    if target == origin + 2 * step and origin // 9 == (6 if white else 1):
        return DOUBLE, slice(origin + step, origin + step + 1)
    return CAPTURE, ATTACKS["P" if white else "p"][origin][target]


@lru_cache(maxsize=4096)
def read_pretty(pretty: str) -> Pretty | None:
    """Read a pretty or movelist move leniently.

    Needless disambiguation, check, mate and comment signs, ``e8Q`` for ``e8=Q``, ``@e4`` for ``P@e4``, an ``ep`` mark
    and castling with small or capital o or zero are all read. None: it is no move.
    """
    text = _EP_MARK.sub("", pretty.rstrip("+#!?"))
    if text in _CASTLE:
        return Pretty("K", None, None, False, -1, None, False, 2 if _CASTLE[text] else 1)
    match = _PRETTY.fullmatch(text)
    if match is None:
        return None
    letter, file, rank, sign, to, big, small, dropped, drop_to = match.groups()
    if drop_to:
        return Pretty(dropped or "P", None, None, False, index_of(drop_to), None, True, 0)
    promotion = big or (small.upper() if small else None)
    return Pretty(
        letter or "P",
        None if file is None else "abcdefgh".index(file),
        None if rank is None else 8 - int(rank),
        sign == "x",
        index_of(to),
        promotion,
        False,
        0,
    )
