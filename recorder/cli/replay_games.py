"""The games of a replay: of an archive only when each comes is held, and a game is read when its time has come."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from recorder.archive.locate import open_archive
from recorder.archive.recorded_lines import RecordedLines, log_in_archive
from recorder.cli.options import game_filter
from recorder.cli.replay_options import NO_GAME, games_to_replay, logs_of
from recorder.errors import ReplayError, StorageError
from recorder.model import Game
from recorder.replay.moments import GameMoment, moments_of_game
from recorder.replay.several import Outline, Timeline, outline_of, partners_of
from recorder.replay.show import Chapter, ReplaySource

if TYPE_CHECKING:
    from recorder.replay.boards import Lines

__all__ = ["HELD", "Library", "open_library"]

HELD: Final = 64
"""Games that are held for whoever comes to them next."""

_Marks = Callable[[Sequence[GameMoment]], Mapping[int, str]]


class Library(NamedTuple):
    """Games to replay, and the kinds of servers that they are of."""

    recording: ReplaySource
    dialects: frozenset[str | None]


@contextmanager
def open_library(
    files: Sequence[str],
    keys: tuple[str, ...],
    where: str,
    filters: dict[str, Any],
    *,
    pace_ms: int,
    idle_max_ms: int | None,
    marks: _Marks | None = None,
    lost: Callable[[str], None] | None = None,
) -> Iterator[Library]:
    """The games to replay, as long as it is used.

    Args:
        files: holding them; none: they are in an archive.
        keys, where, filters: as the command was given them, of an archive's games.
        pace_ms, idle_max_ms: of the time line.
        marks: more markers, by the places of a game's moments.
        lost: as ``ReplaySource`` takes it.
    Raises:
        SourceError: no game is in the files, or one cannot be read. StorageError: the archive has no such game.
    """
    if files:
        games = games_to_replay(files, keys, where, filters)
        lines = RecordedLines(logs_of(files).get)
        yield _library(games, games.__getitem__, lines, pace_ms, idle_max_ms, marks, lost)
        return
    from recorder.cli.export_options import named_games, require_keys

    with open_archive(where) as archive:
        chosen = named_games(archive, game_filter(keys=keys, **filters))
        require_keys(archive, chosen)
        known: list[str] = []

        def each() -> Iterator[Game]:
            for game in archive.games(chosen):
                known.append(game.key)
                yield game

        lines = RecordedLines(lambda sha256: log_in_archive(archive, sha256))
        yield _library(each(), lambda number: archive.game(known[number]), lines, pace_ms, idle_max_ms, marks, lost)


def _library(
    games: Iterable[Game],
    read: Callable[[int], Game],
    recorded: RecordedLines,
    pace_ms: int,
    idle_max_ms: int | None,
    marks: _Marks | None,
    lost: Callable[[str], None] | None,
) -> Library:
    """Look at every game once; ``read`` gives it again."""
    outlines: list[Outline] = []
    players: list[tuple[str, str]] = []
    dialects: set[str | None] = set()
    for game in games:
        outlines.append(outline_of(game, pace_ms, marks))
        players.append((game.white.handle, game.black.handle))
        dialects.add(game.dialect)
    if not outlines:
        raise StorageError(NO_GAME)
    counts = [len(outline.at_ms) for outline in outlines]

    @lru_cache(HELD)
    def chapter(number: int) -> Chapter:
        game = read(number)
        moments = moments_of_game(game, number, pace_ms)
        if len(moments) != counts[number]:
            raise ReplayError(f"Game {game.key} is no longer what it was when the replay began: start it again.")
        return Chapter(game, moments)

    @lru_cache(HELD)
    def lines(number: int) -> Lines:
        return recorded.of(chapter(number).game)

    timeline = Timeline(outlines, lambda number: chapter(number).game, idle_max_ms)
    partners = partners_of([(outline.key, outline.partners) for outline in outlines])
    return Library(ReplaySource(players, timeline, chapter, lines, partners, lost), frozenset(dialects))
