"""``ics-recorder convert``: a log straight to PGN or BPGN, no archive involved."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from recorder.cli.export_options import format_of, make_pgn_options, output_options, pgn_options, say_written
from recorder.cli.options import INCLUDES, Command, WordSet, reading_options
from recorder.cli.output import say
from recorder.errors import SourceError
from recorder.exit_codes import ExitCode
from recorder.progress import show_progress
from recorder.text import plural

if TYPE_CHECKING:
    from exporters.base import Exporter

__all__ = ["command"]


@click.command(
    "convert",
    cls=Command,
    epilog="""\b
Examples:
  ics-recorder convert session.log -o session.pgn
  zcat session.log.gz | ics-recorder convert - > session.pgn
  ics-recorder convert bughouse.log -o bughouse.bpgn
""",
)
@click.argument("log", metavar="LOG")
@output_options
@reading_options
@pgn_options
@click.option(
    "--format",
    "format_name",
    type=click.Choice(("pgn", "bpgn")),
    show_default="as the output's suffix says, else pgn",
    help="Output format; bpgn has bughouse matches, both boards in one movetext.",
)
@click.option(
    "--include",
    type=WordSet(*INCLUDES),
    default="",
    help="Also convert these games: examined, set-up positions, empty (no known move).",
)
@click.option("--complete", is_flag=True, help="Only games recorded from the first move to the result.")
@click.option("--no-guests", is_flag=True, help="Exclude games of unregistered players.")
@click.option("--no-computers", is_flag=True, help="Exclude games of players with the title (C).")
@click.option("--strict", is_flag=True, help="Exit with status 1 if the log has anomalies.")
@click.pass_context
def command(
    ctx: click.Context,
    /,
    log: str,
    output: str,
    force: bool,
    clock: frozenset[str],
    style: str,
    variations: bool,
    comments: bool,
    engine: bool,
    as_crazyhouse: bool,
    format_name: str | None,
    include: frozenset[str],
    complete: bool,
    no_guests: bool,
    no_computers: bool,
    strict: bool,
    **reading: Any,
) -> None:
    """Convert a log to PGN or BPGN without an archive.

    LOG is a log of any kind that `import` reads, or - for standard input.
    """
    from exporters.base import Selection, open_output, refuse_protected
    from recorder.archive.inputs import GameReader, open_inputs, read_options
    from recorder.containment import failures_sentence
    from recorder.sources import path_kind

    if log != "-" and path_kind(log) == "folder":
        raise click.UsageError(f"{log} is a folder, and convert reads one log; import reads folders.")
    format_name = format_of(format_name, output, ("pgn", "bpgn"))
    exporter = _exporter(
        ctx,
        format_name,
        clock,
        style,
        variations=variations,
        comments=comments,
        engine=engine,
        as_crazyhouse=as_crazyhouse,
    )
    selection = Selection(complete=complete, guests=not no_guests, computers=not no_computers, include=include)
    with open_inputs([log]) as inputs, show_progress() as progress:
        for source in inputs:
            if source.error is not None:
                raise SourceError(source.error)
            if output != "-":
                refuse_protected(Path(output), source.files())
            reader = GameReader(source, read_options(**reading), progress)
            with open_output(output, force) as out:
                report = exporter.write(selection.select(reader), out)
            say_written(report, output, dict(selection.left_out))
            for warning in reader.report.warnings:
                say(warning)
            if reader.damage:
                say(reader.damage)
            unread = failures_sentence(reader.report, source.name)
            if unread is not None:
                say(unread)
            found = reader.report.anomalies
            if found:
                say(f"{plural(len(found), 'anomaly', 'anomalies')} in {source.name}; import -v -n lists them.")
                if strict:
                    ctx.exit(ExitCode.FINDINGS)
            if unread is not None:
                ctx.exit(ExitCode.INPUT)


def _exporter(
    ctx: click.Context,
    format_name: str,
    clock: frozenset[str],
    style: str,
    *,
    variations: bool,
    comments: bool,
    engine: bool,
    as_crazyhouse: bool,
) -> Exporter:
    if format_name == "pgn":
        from exporters.pgn.exporter import PgnExporter

        return PgnExporter(
            make_pgn_options(
                clock, style, variations=variations, comments=comments, engine=engine, as_crazyhouse=as_crazyhouse
            )
        )
    from exporters.bpgn import CLOCK_WORDS, BpgnExporter, BpgnOptions

    if style != "default" or variations or engine or as_crazyhouse:
        raise click.UsageError("BPGN has one style, no variations, no engines and both boards.")
    given = ctx.get_parameter_source("clock") is not click.core.ParameterSource.DEFAULT
    return BpgnExporter(BpgnOptions(clock if given else frozenset(CLOCK_WORDS), comments, keys=False))
