"""The lines of a game that is a tree, indented by what they leave, and the order in which it was shown."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import click

from recorder.cli.output import print_table
from recorder.model import EventKind, Game, GameEvent, LineKind, Observation, ObservationKind, Ply, PlyLine
from recorder.text import clean


class _Line(NamedTuple):
    depth: int
    line: PlyLine


def has_tree(game: Game) -> bool:
    """Whether there is more to it than one line."""
    return any(_roots(game)) or any(
        line.kind is LineKind.VARIATION for seen in game.observations for line in seen.lines
    )


def is_shown(event: GameEvent) -> bool:
    """Whether an event says which board of an examined game was shown."""
    return event.kind is EventKind.EXAMINE and event.detail == "shown"


def print_tree(game: Game) -> None:
    """Print the variations of each source under the line that they leave, and lines from other start positions."""
    main = _main(game)
    for index, seen in enumerate(game.observations):
        other = seen.kind is ObservationKind.EXAMINED and index not in main
        lines = list(_in_depth(seen))
        if not other and all(line.kind is not LineKind.VARIATION for _, line in lines):
            continue
        fen = next((anchor.fen for anchor in seen.anchors if anchor.line == 0 and anchor.reason == "start"), None)
        which = f" of source {index} ({seen.white} - {seen.black})" if other else ""
        click.echo()
        click.echo(clean(f"Lines{which}{f' from {fen}' if fen is not None else ''}"))
        for depth, line in lines:
            if line.kind is LineKind.TAKEBACK:
                continue
            left = "" if line.parent is None else f"after {_place(line.parent_ply or 0)} of {line.parent}: "
            click.echo(clean(f"{line.number:>4} {'  ' * depth}{left}{_moves(line.plies)}"))


def print_shown(game: Game) -> None:
    """Print which board was shown when."""
    from recorder.times import iso

    rows = []
    for index, seen in enumerate(game.observations):
        sans = {(line.number, ply.ply): ply.san for line in seen.lines for ply in line.plies}
        rows += [
            (
                iso(event.at_ms, game.time_basis),
                index,
                event.value,
                _place(event.ply),
                sans.get((event.value or 0, event.ply)),
                event.offset,
            )
            for event in seen.events
            if is_shown(event)
        ]
    if rows:
        click.echo("\nShown")
        rows.sort(key=lambda row: row[-1])
        print_table(("At", "Source", "Line", "After", "Move", "Offset"), rows, right=("Source", "Line", "Offset"))


def _main(game: Game) -> set[int]:
    return {segment.observation for segment in game.segments} or {0}


def _roots(game: Game) -> list[int]:
    main = _main(game)
    return [
        index
        for index, seen in enumerate(game.observations)
        if seen.kind is ObservationKind.EXAMINED and index not in main
    ]


def _in_depth(seen: Observation) -> Iterator[_Line]:
    """Every line with how deep it lies, each under the one that it leaves."""
    below: dict[int | None, list[PlyLine]] = {}
    for line in seen.lines:
        below.setdefault(line.parent, []).append(line)
    waiting = [_Line(0, line) for line in reversed(below.get(None, []))]
    while waiting:
        depth, line = waiting.pop()
        yield _Line(depth, line)
        waiting += [_Line(depth + 1, child) for child in reversed(below.get(line.number, []))]


def _place(ply: int) -> str:
    """``the start``, ``12.`` after White's move, ``12...`` after Black's."""
    return "the start" if ply == 0 else f"{(ply + 1) // 2}{'.' if ply % 2 else '...'}"


def _moves(plies: list[Ply]) -> str:
    """Movetext; an ellipsis where plies are missing."""
    words: list[str] = []
    last: int | None = None
    for ply in plies:
        if last is not None and ply.ply != last + 1:
            words.append("…")
        begins = last is None or ply.ply != last + 1
        number = f"{_place(ply.ply)} " if ply.white_moved or begins else ""
        words.append(f"{number}{ply.san}")
        last = ply.ply
    return " ".join(words) or "no move"
