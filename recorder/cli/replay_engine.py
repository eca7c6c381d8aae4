"""``replay engine``: an engine is shown recorded games, and what it thinks of their positions is kept."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import click

from recorder.cli.export_options import format_of
from recorder.cli.options import Command, Rare, archive_option, filter_options, force_option, game_filter, json_option
from recorder.cli.output import long_work, print_json, say
from recorder.cli.replay_options import SecondsType, files_of
from recorder.errors import EngineError, ExitCode
from recorder.text import clean, plural

if TYPE_CHECKING:
    from recorder.analysis.engine import AnalysisRun
    from recorder.model import Game

_USUAL_TIME_MS: Final = 1_000


def _read_command(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """An engine's command, as it was written; one without words or with half a quote is refused."""
    from recorder.analysis.process import split_command

    try:
        if value is not None:
            split_command(value)
    except EngineError as error:
        raise click.BadParameter(str(error), ctx, param) from None
    return value


@click.command(
    "engine",
    cls=Command,
    short_help="Analyse recorded games with a chess engine.",
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
    help="Command of an engine that speaks xboard's protocol (CECP).",
)  # fmt: skip
@click.option("--uci", metavar="COMMAND", callback=_read_command, help="Command of an engine that speaks UCI.")
@click.option("--time", "time_ms", type=SecondsType(), help="Time limit per position: 1s, 0.5, 200ms.")
@click.option("--depth", type=click.IntRange(min=1), metavar="N", help="Depth limit in plies.")
@click.option("--nodes", type=click.IntRange(min=1), metavar="N", help="Node limit per position.")
@click.option(
    "--option",
    "options",
    multiple=True,
    metavar="NAME[=VALUE]",
    help="Engine option; for CECP also memory (megabytes) and cores; can be repeated.",
)
@click.option(
    "--again", cls=Rare, is_flag=True, help="Analyse again what this engine has analysed with these settings."
)
@click.option(
    "-o", "--output", metavar="FILE", show_default="-, standard output", help="Output file (only when analysing files)."
)
@force_option
@click.option("--quiet", cls=Rare, is_flag=True, help="Print only problems.")
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
    """Analyse recorded games with a chess engine.

    KEY names a game; without KEY, all games that match the filters are analysed. The
    evaluation of each position of the main line is stored in the archive with the engine's name and settings; `show`,
    `export pgn --engine`, tables, pictures and reports use it. Positions that this engine has analysed with the same
    settings are skipped, so the same command continues an interrupted run.

    KEY can also be files (logs, journals or PGN): their games are written as PGN with evaluations.

    The analysis of a position ends at the first limit that is reached; the default is one second. If the engine fails
    in a game, the evaluations so far are kept, the next game is analysed, and the exit status is 10.
    """
    from recorder.analysis.engine import AnalysisRun
    from recorder.analysis.plan import Limits
    from recorder.analysis.process import EngineSpec
    from recorder.archive.replaying import analyse_games

    if (cecp is None) == (uci is None):
        raise click.UsageError("Name one engine: --engine for xboard's protocol, or --uci.")
    if time_ms == 0:
        raise click.UsageError("--time must be more than 0.")
    files = files_of(keys, filters)
    _refuse_outputs(files, output, again=again, as_json=as_json)
    limits = Limits(_USUAL_TIME_MS if (time_ms, depth, nodes) == (None, None, None) else time_ms, depth, nodes)
    command = cecp if cecp is not None else uci or ""
    spec = EngineSpec("uci" if cecp is None else "cecp", command, _read_options(options))

    run = AnalysisRun(spec, limits, partial(_report, quiet))
    try:
        with long_work(steps=True) as progress:
            chosen = game_filter(keys=keys, **filters)
            analyse_games(run, files, where, chosen, output or "-", again=again, force=force, progress=progress)
    except KeyboardInterrupt:
        run.interrupted = True
    if as_json:
        print_json(run.to_json())
    elif not quiet and run.engine is not None:
        say(_summary(run))
    if run.interrupted:
        raise KeyboardInterrupt
    if run.failed:
        ctx.exit(ExitCode.ENGINE)


def _report(quiet: bool, game: Game, text: str, ply: int | None = None) -> None:
    """Print a message about a game; ``quiet`` suppresses those about a position of it."""
    if ply is None or not quiet:
        say(f"{_title(game)}{'' if ply is None else f', ply {ply}'}: {clean(text)}")


def _refuse_outputs(files: Sequence[str], output: str | None, *, again: bool, as_json: bool) -> None:
    """Make sure that the analyses go where the options say.

    Args:
        files: whose games are analysed; none: games of the archive, where their analyses are stored.
    Raises:
        click.UsageError: an option has no meaning there.
    """
    format_of(None, output or "-", ("pgn",))
    if output is not None and not files:
        raise click.UsageError(
            "Analyses of the archive's games are stored in the archive; write them with `export pgn --engine`."
        )
    if files and again:
        raise click.UsageError("Analyses of files are not stored: omit --again.")
    if files and as_json and output in (None, "-"):
        raise click.UsageError("Standard output has the PGN: name a file with -o, or omit --json.")


def _read_options(words: Sequence[str]) -> dict[str, str | None]:
    found: dict[str, str | None] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not name.strip():
            raise click.UsageError(f"--option {word!r} has no name; write NAME=VALUE.")
        found[name.strip()] = value if equals else None
    return found


def _summary(run: AnalysisRun) -> str:
    """The result of the analysis in whole sentences, on one line."""
    from recorder.analysis.engine import MOST_FAILURES

    assert run.engine is not None
    name = clean(run.engine.name)
    sentences = [f"{name} analysed {plural(run.positions, 'position')} of {plural(run.games, 'game')}."]
    if run.begun:
        sentences.append(f"The analysis of {plural(run.begun, 'game')} is incomplete.")
    if run.silent:
        sentences.append(f"The engine returned no evaluation for {plural(run.silent, 'position')}.")
    if run.known:
        sentences.append(f"The archive already had an analysis for {plural(run.known, 'position')}.")
    if run.unknown:
        sentences.append(f"The positions of {plural(run.unknown, 'game')} are unknown.")
    if run.failed:
        sentences.append(f"The engine failed in {plural(len(run.failed), 'game')}.")
    if run.gave_up:
        sentences.append(f"The analysis stopped after {MOST_FAILURES} failures in a row.")
    return " ".join(sentences)


def _title(game: Game) -> str:
    return clean(f"{game.key[:8]} {game.white.handle} vs. {game.black.handle}")
