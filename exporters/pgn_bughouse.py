"""A bughouse board as crazyhouse, for programs that know no bughouse."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from exporters.parts import Part
from recorder.model import Game

__all__ = ["as_crazyhouse"]

_REMARK = "Bughouse: what came from the other board is in hand from the start"
_START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
_ORDER = "QRBNP"


def as_crazyhouse(game: Game, parts: list[Part]) -> tuple[Game, list[Part]]:
    """The game and its parts as crazyhouse in which every move is legal.

    In crazyhouse a piece comes into the hand of whoever takes it, in bughouse from the other board. So each part begins
    with all the pieces in hand that are dropped in it, in the main line or in lines beside it; what is captured comes
    on top and is not needed.
    """
    beside = Counter(
        (ply.white_moved, _dropped(ply.san))
        for seen in game.observations
        for line in seen.lines[1:]
        for ply in line.plies
        if "@" in ply.san
    )
    found = [part if part.fen is None and part.start_ply else _with_hands(part, beside) for part in parts]
    return replace(game, variant="crazyhouse", start_fen=found[0].fen), found


def _with_hands(part: Part, beside: Counter[tuple[bool, str]]) -> Part:
    placement, _, rest = (part.fen or _START).partition(" ")
    dropped = beside + Counter((ply.white_moved, _dropped(ply.san)) for ply in part.plies if "@" in ply.san)
    hands = "".join(letter * dropped[True, letter] for letter in _ORDER)
    hands += "".join(letter.lower() * dropped[False, letter] for letter in _ORDER)
    return replace(part, fen=f"{placement.partition('[')[0]}[{hands}] {rest}", remark=_REMARK)


def _dropped(san: str) -> str:
    return "P" if san[0] == "@" else san[0]
