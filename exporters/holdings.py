"""Which pieces both sides had in hand after a ply."""

from __future__ import annotations

from collections.abc import Iterator

from recorder.model import Game, HoldingsChange, Observation, Ply

__all__ = ["Hands", "hands_after", "hands_at", "hands_of", "with_hands"]

Hands = tuple[str | None, str | None]
_UNKNOWN: Hands = (None, None)


def hands_of(seen: Observation) -> dict[int, list[HoldingsChange]]:
    """An observation's plain holdings lines by the ply before them.

    Lines that tell a passed piece may stand before the frame they belong to: they are not the state after a ply.
    """
    found: dict[int, list[HoldingsChange]] = {}
    for change in seen.holdings:
        if change.passed is None:
            found.setdefault(change.ply, []).append(change)
    return found


def hands_after(ply: Ply, changes: dict[int, list[HoldingsChange]]) -> Hands:
    """White's and Black's letters from the first holdings line after the ply's own line; None where there is none.

    Source: servers print a plain ``<b1>`` directly after every board of a game with holdings.
    """
    if not changes:
        return _UNKNOWN
    for change in changes.get(ply.ply, ()):
        if change.offset > ply.offset:
            return change.white, change.black
    return _UNKNOWN


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
