"""Replays of games in memory."""

from collections.abc import Callable, Sequence

from recorder.model import Game
from recorder.replay.boards import Lines
from recorder.replay.moments import GameMoment
from recorder.replay.served import served_names
from recorder.replay.several import partner_keys, partners_of
from recorder.replay.show import Chapter, ReplaySource


def source_of(
    games: Sequence[Game], moments: Sequence[GameMoment], lines: Callable[[int], Lines | None] = lambda _game: None
) -> ReplaySource:
    """A replay of games, with moments that hold their content."""
    partners = partners_of([(game.key, partner_keys(game)) for game in games])
    chapters: list[Chapter] = []
    made = ReplaySource(
        [served_names(game) for game in games], moments, lambda number: chapters[number], lines, partners
    )
    chapters += [
        Chapter(game, [moments[place] for place in places]) for game, places in zip(games, made.places, strict=True)
    ]
    return made
