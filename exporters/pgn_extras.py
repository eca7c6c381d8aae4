"""What may stand between the moves: taken-back plies as variations, chat as comments."""

from __future__ import annotations

from dataclasses import dataclass, field

from exporters.parts import Part
from exporters.pgn_text import brace_comment
from recorder.model import EventKind, Game, LineKind, Ply, PlyLine, Proof

__all__ = ["Extras", "Variation", "find_extras"]

_PROVED = frozenset({Proof.FULL.value, Proof.LIST.value, Proof.INFERRED.value})


@dataclass(frozen=True, slots=True)
class Variation:
    """Taken-back plies as far as they can be replayed; ``children`` are lines taken back out of them."""

    plies: list[Ply]
    children: dict[int, list[Variation]]


@dataclass(slots=True)
class Extras:
    """By ply: comments to write after it, variations to write after it (they replace it)."""

    comments: dict[int, list[str]] = field(default_factory=dict)
    variations: dict[int, list[Variation]] = field(default_factory=dict)

    def of(self, variation: Variation) -> Extras:
        """What stands between the moves of a variation."""
        return Extras({}, variation.children)


def find_extras(game: Game, part: Part, variations: bool, comments: bool) -> Extras:
    """What to write between the moves of one part.

    A variation follows the move that it replaces. Where nothing was played after a takeback there is no such move:
    the line stands in a comment after the last one.
    """
    extras = Extras()
    first = part.start_ply
    last = part.plies[-1].ply if part.plies else first
    if variations:
        _find_variations(game, first, last, extras)
    if comments:
        final = part.plies[-1:] == game.plies[-1:]
        for event in game.events:
            if event.kind is EventKind.CHAT and event.ply >= first and (event.ply <= last or final):
                extras.comments.setdefault(min(event.ply, last), []).append(
                    brace_comment(f"{event.actor} {event.detail}: {event.text}" if event.actor else event.text)
                )
    return extras


def _find_variations(game: Game, first: int, last: int, extras: Extras) -> None:
    for segment in game.segments:
        lines = game.observations[segment.observation].lines
        for line in lines:
            at = line.parent_ply
            if line.kind is not LineKind.TAKEBACK or line.parent != 0 or at is None or not first <= at <= last:
                continue
            if not segment.from_ply - 1 <= at <= segment.to_ply:
                continue
            variation = _variation(line, lines)
            if not variation.plies:
                continue
            if at < last:
                extras.variations.setdefault(at + 1, []).append(variation)
            else:
                moves = " ".join(ply.san for ply in variation.plies)
                extras.comments.setdefault(last, []).append(brace_comment(f"Taken back: {moves}"))


def _variation(line: PlyLine, lines: list[PlyLine]) -> Variation:
    plies: list[Ply] = []
    expected = line.parent_ply or 0
    for ply in line.plies:
        expected += 1
        if ply.ply != expected or ply.proof not in _PROVED:
            break
        plies.append(ply)
    numbers = {ply.ply for ply in plies}
    children: dict[int, list[Variation]] = {}
    for child in lines:
        if child.parent == line.number and child.parent_ply is not None and child.parent_ply + 1 in numbers:
            found = _variation(child, lines)
            if found.plies:
                children.setdefault(child.parent_ply + 1, []).append(found)
    return Variation(plies, children)
