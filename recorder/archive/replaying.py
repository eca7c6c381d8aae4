"""Games to replay and to analyse: of files, or of an archive, where a game is read when its time has come."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from recorder.archive.exporting import named_games
from recorder.archive.locate import open_archive
from recorder.archive.reading.kept_bytes import Log, RecordedLines, hash_at, log_in_archive, log_in_file
from recorder.errors import NoGamesError, ReplayError, SourceError
from recorder.model import Game, Link, LinkKind, SourceKind, SourceName
from recorder.replay.moments import GameMoment, moments_of_game
from recorder.replay.served import served_names
from recorder.replay.several import Outline, Timeline, outline_of, partner_keys, partners_of
from recorder.replay.show import Chapter, ReplaySource
from recorder.sources import detect, read_blocks, read_head
from storage.read.store import MOVES_ALONE, GameParts

if TYPE_CHECKING:
    from recorder.analysis.engine import AnalysisRun
    from recorder.model import AnalysedPosition, Game
    from recorder.progress import Progress
    from recorder.replay.boards import Lines
    from storage import ArchiveStore, GameFilter

HELD: Final = 64
"""Games of an archive that are kept in memory after they were read."""
_NO_GAME: Final = "No games to replay match these filters; `ics-recorder games` lists the games."

_Marks = Callable[[Sequence[GameMoment]], Mapping[int, str]]


class Library(NamedTuple):
    """Games to replay, and the kinds of servers that they are of."""

    recording: ReplaySource
    dialects: frozenset[str | None]


@contextmanager
def open_library(
    files: Sequence[str],
    where: str,
    chosen: GameFilter,
    *,
    pace_ms: int,
    idle_max_ms: int | None,
    marks: _Marks | None = None,
    lost: Callable[[str], None] | None = None,
) -> Iterator[Library]:
    """The games to replay, of an archive without files; ``marks`` adds markers by the places of a game's moments."""
    if files:
        games = games_of_files(files)
        lines = RecordedLines(_logs_of(files).get)
        yield _library(games, games.__getitem__, lines, pace_ms, idle_max_ms, marks, lost)
        return
    with open_archive(where) as archive:
        named = named_games(archive, chosen)
        if named.keys:  # a bughouse match has two boards
            others = [key for game in archive.games(named) for key in partner_keys(game)]
            named = replace(named, keys=named.keys.union(others))
        keys: list[str] = []

        def each() -> Iterator[Game]:
            for game in archive.games(named):
                keys.append(game.key)
                yield game

        lines = RecordedLines(lambda sha256: log_in_archive(archive, sha256))
        yield _library(each(), lambda number: archive.game(keys[number]), lines, pace_ms, idle_max_ms, marks, lost)


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
        players.append(served_names(game))
        dialects.add(game.dialect)
    if not outlines:
        raise NoGamesError(_NO_GAME)
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


def games_to_replay(files: Sequence[str], where: str, chosen: GameFilter) -> list[Game]:
    if files:
        return games_of_files(files)
    with open_archive(where) as archive:
        games = list(archive.games(named_games(archive, chosen)))
    if not games:
        raise NoGamesError(_NO_GAME)
    return games


def games_of_files(files: Sequence[str]) -> list[Game]:
    """All games of files, by their start; both boards of a bughouse match are linked."""
    games = [game for name in files for game in _games_of(name)]
    if not games:
        raise SourceError(f"There is no game in {', '.join(files)}.")
    games.sort(key=lambda game: (game.started_at_ms or 0, game.first_offset))
    _link_partners(games)
    return games


def _games_of(name: str) -> list[Game]:
    """A file's games, which tell that they are of it."""
    from recorder.reading import read_games

    games = list(read_games(name))
    sha256, kind = _log_of(Path(name))
    for game in games:
        for observation in game.observations:
            observation.source = SourceName(name, sha256, kind.value)
    return games


def _log_of(path: Path) -> tuple[str, SourceKind]:
    head, blocks = read_head(read_blocks(path))
    kind = detect(head)
    assert kind is not None  # games were read from it
    return hash_at(blocks)[0], kind


def _logs_of(files: Sequence[str]) -> dict[str, Log]:
    logs: dict[str, Log] = {}
    for path in map(Path, files):
        sha256, kind = _log_of(path)
        log = log_in_file(path, kind)
        if log is not None:
            logs[sha256] = log
    return logs


def _link_partners(games: Sequence[Game]) -> None:
    """As an archive does."""
    from recorder.relating.bughouse import pair_bughouse

    by_key = {game.key: game for game in games}
    for key, other, evidence in pair_bughouse(games):
        by_key[key].links.append(Link(LinkKind.PARTNER, other, evidence))
        by_key[other].links.append(Link(LinkKind.PARTNER, key, evidence))


def analyse_games(
    run: AnalysisRun,
    files: Sequence[str],
    where: str,
    chosen: GameFilter,
    output: str,
    *,
    again: bool,
    force: bool,
    progress: Progress,
) -> None:
    """Analyse games of an archive, which keeps the analyses, or of files, which are written as PGN.

    ``again``: also the positions of the archive that this engine has analysed with these settings.
    """
    from exporters.base import refuse_existing
    from recorder.analysis.engine import open_engine

    if files:
        refuse_existing(output, force)
    with ExitStack() as stack:
        archive = None if files else stack.enter_context(open_archive(where, read_only=False))
        games = games_of_files(files) if archive is None else _games_to_analyse(archive, chosen)
        run.engine = stack.enter_context(open_engine(run.spec, run.limits))
        if archive is None:
            _write_analysed(run, games, files, output, force=force, progress=progress)
        else:
            _analyse_archive(run, archive, [game.key for game in games], again=again, progress=progress)


def _games_to_analyse(archive: ArchiveStore, chosen: GameFilter) -> list[Game]:
    """The chosen games, with little more than their keys."""
    parts: GameParts = {**MOVES_ALONE, "whole_plies": False}
    games = list(archive.games(named_games(archive, chosen), **parts))
    if not games:
        raise NoGamesError("No games to analyse match these filters; `ics-recorder games` lists the games.")
    return games


def _analyse_archive(
    run: AnalysisRun, archive: ArchiveStore, keys: Sequence[str], *, again: bool, progress: Progress
) -> None:
    """Store the analyses about once a second."""
    for number, key in enumerate(keys, 1):
        game = archive.game(key)
        head = run.head(game)
        analysed = set() if again else archive.analyses.analysed_plies(game, head)
        store = partial(archive.analyses.add, key, head, again=again)
        run.analyse(game, analysed, store, partial(progress, f"game {number} of {len(keys)}"))
        if run.is_over:
            break


def _write_analysed(
    run: AnalysisRun, games: Sequence[Game], files: Sequence[str], output: str, *, force: bool, progress: Progress
) -> None:
    from exporters.base import open_output
    from exporters.pgn.exporter import PgnExporter, PgnOptions

    with open_output(output, force, [Path(name) for name in files]) as out:
        PgnExporter(PgnOptions(engine=True)).write(_annotated(run, games, progress), out)


def _annotated(run: AnalysisRun, games: Sequence[Game], progress: Progress) -> Iterator[Game]:
    """The games with the engine's analyses; the rest unchanged if the engine fails."""
    for number, game in enumerate(games, 1):
        if not run.is_over:
            head = run.head(game)
            positions: list[AnalysedPosition] = []
            run.analyse(game, set(), positions.extend, partial(progress, f"game {number} of {len(games)}"))
            if positions:
                lines = tuple(line for position in positions for line in position.lines)
                game.analyses[:] = [replace(head, lines=lines)]
        yield game
