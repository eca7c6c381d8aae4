"""What was taken back in a game that several sources tell: each line once."""

from __future__ import annotations

from recorder.model import Game, LineKind

__all__ = ["told_once"]

_Line = tuple[int, int]


def told_once(game: Game) -> set[_Line]:
    """The observation and number of every line beside the main ones; of those that several sources tell alike one.

    It is that of the observation that gives plies of the main line, if there is one. A line that another source's line
    leaves is there for it.
    """
    main = {segment.observation for segment in game.segments}
    found: set[_Line] = set()
    known: set[object] = set()
    for index in sorted(range(len(game.observations)), key=lambda index: (index not in main, index)):
        told: dict[int | None, object] = {}
        parents = {line.number: line.parent for line in game.observations[index].lines}
        for line in game.observations[index].lines:
            moves = tuple(ply.san if ply.move is None else ply.move for ply in line.plies)
            what = told[line.number] = None if line.parent is None else (told.get(line.parent), line.parent_ply, moves)
            if not game.witnesses or line.kind is not LineKind.TAKEBACK or what not in known:
                number: int | None = line.number
                while number is not None and (index, number) not in found:
                    found.add((index, number))
                    number = parents.get(number)
            known.add(what)
    return found
