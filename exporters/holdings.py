"""Which pieces both sides had in hand after a ply."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from operator import attrgetter

from recorder.model import Game, HoldingsChange, Observation, Origin, Ply

__all__ = ["Hands", "hands_after", "hands_at", "hands_of", "with_hands"]

Hands = tuple[str | None, str | None]
_UNKNOWN: Hands = (None, None)
_OFFSET = attrgetter("offset")
_NOT_SHOWN = frozenset((Origin.MOVELIST.value, Origin.INFERRED.value))


def hands_of(seen: Observation) -> list[HoldingsChange]:
    """An observation's plain holdings lines in the order of their offsets.

    Lines that tell a passed piece may stand before the frame they belong to: they are not the state after a ply.
    """
    return sorted((change for change in seen.holdings if change.passed is None), key=_OFFSET)


def hands_after(ply: Ply, changes: list[HoldingsChange]) -> Hands:
    """White's and Black's letters after a ply: from the first plain line behind the ply's own, else those before it.

    Only lines that change a hand are kept: where there is none for a ply, that ply's line said what the last one did.
    None where no line is, and for plies that no board showed. Source: servers print a plain ``<b1>`` directly after
    every board of a game with holdings.
    """
    if not changes or ply.origin in _NOT_SHOWN:
        return _UNKNOWN
    place = bisect_right(changes, ply.offset, key=_OFFSET)
    if place == len(changes) or changes[place].ply != ply.ply:
        place -= 1
    return _UNKNOWN if place < 0 else (changes[place].white, changes[place].black)


def hands_at(game: Game, ply: int, offset: int) -> tuple[str, str] | None:
    """White's and Black's letters from the first plain holdings line after the board at ``offset``, or None."""
    for seen in game.observations:
        if seen.offset <= offset <= seen.end_offset:
            for change in seen.holdings:
                if change.passed is None and change.ply == ply and change.offset > offset:
                    return change.white, change.black
    return None


def with_hands(game: Game) -> Iterator[tuple[Ply, Hands]]:
    """The main line's plies, each with the hands after it."""
    if not any(seen.holdings for seen in game.observations):
        for ply in game.plies:
            yield ply, _UNKNOWN
        return
    for segment in game.segments:
        seen = game.observations[segment.observation]
        changes = hands_of(seen)
        for ply in seen.lines[0].plies:
            if segment.from_ply <= ply.ply <= segment.to_ply:
                yield ply, hands_after(ply, changes)
