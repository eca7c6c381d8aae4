"""What of an examined game is not its main line and stands in no variation of it, as parts of their own.

That is what lies behind plies that were not shown: movetext must be legal.
"""

from __future__ import annotations

from dataclasses import replace

from exporters.parts import Part, cut_line, fen_with_hands
from recorder.model import Anchor, Game, LineKind, Observation, ObservationKind, PlyLine

__all__ = ["named_as", "parts_around"]


def parts_around(game: Game, main: list[Part]) -> tuple[list[Part], int]:
    """All parts of an examined game, in the order in which its positions were first shown.

    Args:
        main: the parts of its main line.
    Returns:
        The parts, and how many of them reach to the end of the main line.
    """
    first = min((segment.observation for segment in game.segments), default=0)
    beside = _parts_beside(game)
    before = [part for part in beside if part.beside is not None and part.beside[0] < first]
    return [*before, *main, *beside[len(before) :]], len(before) + len(main)


def _parts_beside(game: Game) -> list[Part]:
    main = {segment.observation for segment in game.segments} or {0}
    parts: list[Part] = []
    for index, seen in enumerate(game.observations):
        if seen.kind is not ObservationKind.EXAMINED:
            continue
        found: list[tuple[int, Part]] = []
        for line in seen.lines:
            if line.kind is LineKind.VARIATION:
                found += [(line.number, part) for part in _of_variation(game, seen, line)]
            elif index not in main:
                found += [(0, part) for part in _of_main(game, seen, line)]
        for number, part in found:
            part.beside = index, number
            parts.append(part)
    return parts


def named_as(game: Game, part: Part) -> Game:
    """The game with the names that were printed with the part's boards."""
    if part.beside is None:
        return game
    seen = game.observations[part.beside[0]]
    white, black = game.white, game.black
    if (white.handle, black.handle) == (seen.white, seen.black):
        return game
    blank = {"rating_text": None, "rating": None, "titles": None}
    return replace(
        game,
        white=white._replace(handle=seen.white, **blank),
        black=black._replace(handle=seen.black, **blank),
    )


def _of_main(game: Game, seen: Observation, line: PlyLine) -> list[Part]:
    anchors = _anchors(seen, 0)
    plies = line.plies
    first = min([anchor.ply for anchor in anchors.values()], default=0)
    start_ply = first if not plies or plies[0].ply > first else plies[0].ply - 1
    begin = anchors.get(start_ply)
    return cut_line(game, plies, anchors, None if begin is None else fen_with_hands(game, begin), start_ply)


def _of_variation(game: Game, seen: Observation, line: PlyLine) -> list[Part]:
    """What of a variation cannot stand in parentheses after the move that it replaces."""
    anchors = _anchors(seen, line.number)
    if not anchors or line.parent_ply is None:
        return []
    plies = line.plies
    begin = anchors.get(line.parent_ply)
    if begin is not None:
        return cut_line(game, plies, anchors, fen_with_hands(game, begin), line.parent_ply)
    inside = 0
    while (
        inside < len(plies) and plies[inside].ply == line.parent_ply + 1 + inside and plies[inside].ply not in anchors
    ):
        inside += 1
    parts = cut_line(game, plies[inside:], anchors, None, -1)
    return [part for part in parts if part.rows or part.unproved]


def _anchors(seen: Observation, line: int) -> dict[int, Anchor]:
    return {anchor.ply: anchor for anchor in seen.anchors if anchor.line == line}
