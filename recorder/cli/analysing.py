"""``replay engine``: an engine is shown recorded games, and what it thinks of their positions is kept."""

from __future__ import annotations

import contextlib
import json
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import monotonic, time_ns
from typing import TYPE_CHECKING, Any, Final

import click

from recorder.cli.exporting import require_keys
from recorder.cli.options import archive_option, filter_options, force_option, game_filter, json_option, open_archive
from recorder.cli.playing import SecondsType, files_of, games_to_replay
from recorder.cli.terminal import ExitCode, clean, plural, print_json, say, show_progress
from recorder.errors import EngineError, StorageError, VariantError

if TYPE_CHECKING:
    from recorder.cli.engines import Engine
    from recorder.cli.terminal import Progress
    from recorder.model import AnalysedPosition, Analysis, Game
    from recorder.replay.analysis.spec import EngineSpec, Limits
    from storage import Archive

__all__ = ["engine"]

_USUAL_TIME_MS: Final = 1_000
_STORED_EVERY_S: Final = 1.0
_MOST_FAILURES: Final = 3
"""Games in a row with which an engine may fail before nothing more is expected of it."""

_Store = Callable[["Analysis", "Sequence[AnalysedPosition]"], None]


def _read_command(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """An engine's command, as it was written; one without words or with half a quote is refused."""
    from recorder.cli.engineprocess import split_command

    try:
        if value is not None:
            split_command(value)
    except EngineError as error:
        raise click.BadParameter(str(error), ctx, param) from None
    return value


@click.command(
    "engine",
    short_help="Have an engine analyse recorded games.",
    epilog="""\b
Examples:
  ics-recorder replay engine 6af8 --engine "gnuchess --xboard" --time 1s
  ics-recorder replay engine --player Morphy --last 20 --uci stockfish --depth 14 --option Threads=2
  ics-recorder replay engine --variant crazyhouse --engine sjeng --nodes 100000
  ics-recorder replay engine session.log --uci stockfish -o annotated.pgn
  ics-recorder export pgn 6af8 --engine
""",
)
@filter_options
@click.option(
    "--engine", "cecp", metavar="COMMAND", callback=_read_command,
    help="An engine that speaks xboard's protocol (CECP).",
)  # fmt: skip
@click.option("--uci", metavar="COMMAND", callback=_read_command, help="An engine that speaks UCI.")
@click.option("--time", "time_ms", type=SecondsType(), help="So long for each position: 1s, 0.5, 200ms.")
@click.option("--depth", type=click.IntRange(min=1), metavar="N", help="So deep, in half-moves.")
@click.option("--nodes", type=click.IntRange(min=1), metavar="N", help="So many nodes.")
@click.option(
    "--option",
    "options",
    multiple=True,
    metavar="NAME[=VALUE]",
    help="An option of the engine; for CECP memory (megabytes) and cores, too. May be repeated.",
)
@click.option("--again", is_flag=True, help="Analyse anew what this engine has analysed with these settings.")
@click.option(
    "-o", "--output", metavar="FILE", show_default="-, standard output", help="Of files: where the PGN is written."
)
@force_option
@click.option("--quiet", is_flag=True, help="Say only what is wrong.")
@json_option
@archive_option
@click.pass_context
def engine(
    ctx: click.Context,
    /,
    keys: tuple[str, ...],
    cecp: str | None,
    uci: str | None,
    time_ms: int | None,
    depth: int | None,
    nodes: int | None,
    options: tuple[str, ...],
    again: bool,
    output: str | None,
    force: bool,
    quiet: bool,
    as_json: bool,
    where: str,
    **filters: Any,
) -> None:
    """Have an engine analyse the positions of recorded games.

    KEY is the beginning of a game's key; without KEY the games are those that the options choose. What the engine
    tells of each position of the main line is stored in the archive, with its name and settings: show prints it
    beside the moves, export pgn --engine writes it, tables, plots and reports use it. A position that the same engine
    has looked at with the same settings is not looked at again, so a run that was interrupted is gone on with by the
    same command.

    KEY may be files instead, logs, journals or PGN: their games are written as PGN with evaluations.

    The first limit that is reached ends the thinking about a position; without any it is one second. Of a game with
    which the engine fails what it told until then is kept, and the next game goes on; the exit status is 10 then.
    """
    from recorder.cli.engines import open_engine
    from recorder.replay.analysis.spec import EngineSpec, Limits

    if (cecp is None) == (uci is None):
        raise click.UsageError("Name one engine: --engine for xboard's protocol, or --uci.")
    if time_ms == 0:
        raise click.UsageError("--time 0 leaves no time to think.")
    files = files_of(keys, filters)
    if output is not None and not files:
        raise click.UsageError("Analyses of the archive's games are stored there: export pgn --engine writes them.")
    if files and again:
        raise click.UsageError("Of files nothing is remembered: leave out --again.")
    if files and as_json and output in (None, "-"):
        raise click.UsageError("Standard output has the PGN: name a file with -o, or leave out --json.")
    limits = Limits(_USUAL_TIME_MS if (time_ms, depth, nodes) == (None, None, None) else time_ms, depth, nodes)
    command = cecp if cecp is not None else uci or ""
    spec = EngineSpec("uci" if cecp is None else "cecp", command, _read_options(options))
    run = _Run(spec, limits, quiet=quiet)
    with run.until_interrupted(), contextlib.ExitStack() as stack:
        archive = None if files else stack.enter_context(open_archive(where, read_only=False))
        games = _keys(archive, keys, filters) if archive is not None else games_to_replay(files, keys, where, filters)
        stack.enter_context(_ended_by_sigterm())
        run.engine = stack.enter_context(open_engine(spec, limits))
        progress = stack.enter_context(show_progress(steps=True))
        if archive is not None:
            run.into_archive(archive, [game.key for game in games], again=again, progress=progress)
        else:
            run.into_pgn(games, files, output or "-", force=force, progress=progress)
    if as_json:
        print_json(run.to_json())
    elif not quiet and run.engine is not None:
        say(run.summary())
    if run.interrupted:
        raise KeyboardInterrupt
    if run.failed:
        ctx.exit(ExitCode.ENGINE)


def _read_options(words: Sequence[str]) -> dict[str, str | None]:
    found: dict[str, str | None] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not name.strip():
            raise click.UsageError(f"--option {word!r} has no name; write NAME=VALUE.")
        found[name.strip()] = value if equals else None
    return found


def _keys(archive: Archive, keys: tuple[str, ...], filters: dict[str, Any]) -> list[Game]:
    """The games to analyse, with little more than their keys.

    Raises:
        StorageError: there is none.
    """
    chosen = game_filter(keys=keys, **filters)
    require_keys(archive, chosen)
    games = list(
        archive.games(
            chosen, with_events=False, with_holdings=False, with_lines=False, with_thinking=False, whole_plies=False
        )
    )
    if not games:
        raise StorageError("There is no such game to analyse.")
    return games


@contextlib.contextmanager
def _ended_by_sigterm() -> Iterator[None]:
    """What ends the program ends the engine, too, and what it has told is stored."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _settings(limits: Limits, options: Mapping[str, str | None], variant: str | None) -> str:
    """What an engine's answers depend on, as ``Analysis.settings`` has it."""
    limit = {name: value for name, value in limits._asdict().items() if value is not None}
    settings = {"limit": limit, "options": dict(options), "variant": variant}
    return json.dumps(settings, sort_keys=True, ensure_ascii=False)


@dataclass(slots=True)
class _Run:
    """One engine with one limit, game by game.

    Attributes:
        engine: None: it has not started yet.
        games: of which positions were analysed. begun: of them, those with which the engine failed then.
        positions: those. silent: of them, about which it told nothing.
        known: positions that had been analysed before.
        unknown: games in which no position is known. failed: keys of the others with which the engine failed, and how.
        interrupted: somebody wants it to end.
    """

    spec: EngineSpec
    limits: Limits
    quiet: bool
    engine: Engine | None = None
    games: int = 0
    begun: int = 0
    positions: int = 0
    silent: int = 0
    known: int = 0
    unknown: int = 0
    failed: list[tuple[str, str]] = field(default_factory=list)
    interrupted: bool = False
    _failures: int = 0

    @contextlib.contextmanager
    def until_interrupted(self) -> Iterator[None]:
        """An interrupt ends the block, and what was done before is to be told."""
        try:
            yield
        except KeyboardInterrupt:
            self.interrupted = True

    def into_archive(self, archive: Archive, keys: Sequence[str], *, again: bool, progress: Progress) -> None:
        """Analyse games of an archive, and store it there about once a second."""
        for number, key in enumerate(keys, 1):
            game = archive.game(key)
            head = self._head(game)
            known = set() if again else archive.analysed_plies(game, head)

            def store(analysis: Analysis, positions: Sequence[AnalysedPosition], key: str = key) -> None:
                archive.add_analysis(key, analysis, positions, again=again)

            self._analyse(game, head, known, store, progress, f"game {number} of {len(keys)}")
            if self.is_over:
                break

    def into_pgn(
        self, games: Sequence[Game], files: Sequence[str], output: str, *, force: bool, progress: Progress
    ) -> None:
        """Analyse games of files, and write all of them as PGN."""
        from exporters.output import open_output
        from exporters.pgn import PgnExporter, PgnOptions

        with open_output(output, force, [Path(name) for name in files]) as out:
            PgnExporter(PgnOptions(engine=True)).write(self._annotated(games, progress), out)

    def _annotated(self, games: Sequence[Game], progress: Progress) -> Iterator[Game]:
        """The games, with what the engine told of them; the rest as they were when it cannot go on."""
        for number, game in enumerate(games, 1):

            def keep(analysis: Analysis, positions: Sequence[AnalysedPosition], game: Game = game) -> None:
                lines = tuple(line for position in positions for line in position.lines)
                before = game.analyses[-1].lines if game.analyses else ()
                game.analyses[:] = [replace(analysis, lines=before + lines)]

            if not self.is_over:
                self._analyse(game, self._head(game), set(), keep, progress, f"game {number} of {len(games)}")
            yield game

    @property
    def is_over(self) -> bool:
        """Whether nothing more is to be asked of the engine."""
        return self.interrupted or self._failures == _MOST_FAILURES

    @property
    def _started(self) -> Engine:
        assert self.engine is not None
        return self.engine

    def _head(self, game: Game) -> Analysis:
        from recorder.model import Analysis

        settings = _settings(self.limits, self.spec.options, game.variant)
        return Analysis(self._started.name, self.spec.protocol, settings, time_ns() // 1_000_000, ())

    def _analyse(
        self, game: Game, head: Analysis, known: set[int], store: _Store, progress: Progress, name: str
    ) -> None:
        """Show the engine a game; what it tells goes to ``store`` about once a second, and whatever happens."""
        from recorder.model import AnalysedPosition
        from recorder.replay.analysis.plan import make_plan

        plan = make_plan(game)
        places = {look.ply for look in plan.looks}
        wanted = places - known
        self.known += len(places) - len(wanted)
        self.unknown += not places
        if not wanted:
            return
        told: list[AnalysedPosition] = []
        before, stored_s = self.positions, monotonic()
        try:
            for found in self._started.analyse(plan.only(wanted)):
                told.append(AnalysedPosition(found.look.ply, found.look.fen, found.lines))
                self.positions += 1
                self.silent += not found.lines
                progress(name, self.positions - before, len(wanted))
                for note in found.notes if not self.quiet else ():
                    say(f"{_title(game)}, ply {found.look.ply}: {clean(self._started.name)} {clean(note)}.")
                if monotonic() - stored_s > _STORED_EVERY_S:
                    store(head, told)
                    told, stored_s = [], monotonic()
            self._failures = 0
        except EngineError as error:
            self._failures += not isinstance(error, VariantError)
            self.failed.append((game.key, str(error)))
            self.begun += self.positions > before
            say(f"{_title(game)}: {clean(str(error))}")
        except KeyboardInterrupt:
            self.interrupted = True
        finally:
            if told:
                store(head, told)
            self.games += self.positions > before

    def summary(self) -> str:
        """One line."""
        name = clean(self._started.name)
        said = f"{name}: {plural(self.positions, 'position')} of {plural(self.games, 'game')} analysed"
        if self.begun:
            said += f" ({self.begun:,} not to the end)"
        if self.silent:
            said += f", nothing told of {self.silent:,} of them"
        if self.known:
            said += f", {self.known:,} known already"
        if self.unknown:
            said += f"; {plural(self.unknown, 'game')} without a position that our rules know"
        if self.failed:
            said += f"; it failed with {plural(len(self.failed), 'game')}"
        if self._failures == _MOST_FAILURES:
            said += " in a row and was asked no more" if len(self.failed) == _MOST_FAILURES else ", at last in a row"
        return f"{said}."

    def to_json(self) -> dict[str, Any]:
        """The same as JSON values."""
        return {
            "engine": None if self.engine is None else self.engine.name,
            "protocol": self.spec.protocol,
            "games": self.games,
            "positions": self.positions,
            "without_lines": self.silent,
            "known": self.known,
            "games_without_positions": self.unknown,
            "failed": [{"key": key, "error": error} for key, error in self.failed],
            "interrupted": self.interrupted,
        }


def _title(game: Game) -> str:
    return clean(f"{game.key[:8]} {game.white.handle} vs. {game.black.handle}")
