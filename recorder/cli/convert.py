"""``ics-recorder convert``: logs to PGN, BPGN and data sets, without an archive."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from recorder.cli.export_options import PgnWords, format_of, output_options, pgn_options, say_excluded, say_written
from recorder.cli.option_types import WordSet
from recorder.cli.options import Command, Rare, dask_option, jobs_option, reading_options
from recorder.cli.output import long_work, say, say_skipped
from recorder.errors import ExitCode
from recorder.filters import INCLUDES
from recorder.model import ImportStatus
from recorder.text import clean, plural

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from recorder.archive.reading.converting import Converted
    from recorder.archive.reading.importing import Outcome
    from recorder.archive.sharing.dataset_making import DatasetReport

_STRAYS_NAMED = 3
_REFUSED = (ImportStatus.EXPORTED, ImportStatus.NOT_A_LOG, ImportStatus.FAILED)
_OF_READING = ("kind", "server", "date", "date_from_name", "tz", "chat")
_OF_DATASETS = frozenset(("logs", "dataset", "update", "force", "jobs", "dask", "strict", *_OF_READING))


@click.command(
    "convert",
    cls=Command,
    epilog="""\b
Examples:
  $ ics-recorder convert session.log -o session.pgn
  Wrote 5 games, 122 plies to session.pgn.
  zcat session.log.gz | ics-recorder convert - > session.pgn
  ics-recorder convert bughouse.log -o bughouse.bpgn
  ics-recorder convert --jobs 4 logs/ -o games.pgn
  ics-recorder convert --unique mine.log yours.log -o games.pgn
  ics-recorder convert --dataset games/ logs/ lichess.pgn.zst
  ics-recorder convert --dataset games/ --update logs/
  ics-recorder convert --dataset s3://my/games s3://my/2026-10.pgn.zst
""",
)
@click.argument("logs", nargs=-1, required=True, metavar="LOG…")
@output_options
@click.option(
    "--dataset",
    metavar="DIR",
    help="Write a data set of plies, games and events to this folder or s3:// URL: Parquet files by variant and month.",
)
@click.option("--update", cls=Rare, is_flag=True, help="Add new logs to the data set of --dataset.")
@jobs_option
@dask_option
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
@click.option("--unique", is_flag=True, help="Write a game of several logs once, merged as an import merges it.")
@click.option("--complete", cls=Rare, is_flag=True, help="Only games recorded from the first move to the result.")
@click.option("--no-guests", cls=Rare, is_flag=True, help="Exclude games of unregistered players.")
@click.option("--no-computers", cls=Rare, is_flag=True, help="Exclude games of players with the title (C).")
@click.option("--strict", cls=Rare, is_flag=True, help="Exit with status 1 if a log has anomalies.")
@click.pass_context
def command(
    ctx: click.Context,
    /,
    logs: tuple[str, ...],
    output: str,
    force: bool,
    dataset: str | None,
    update: bool,
    jobs: int | None,
    dask: str | None,
    pgn_words: PgnWords,
    format_name: str | None,
    include: frozenset[str],
    unique: bool,
    complete: bool,
    no_guests: bool,
    no_computers: bool,
    strict: bool,
    **reading: Any,
) -> None:
    """Convert logs to PGN, BPGN or a data set without an archive.

    LOG is a log that `import` reads, a folder of logs, an https:// or s3:// URL, or - for standard input. Games are
    written log after log, a game of several logs once for each; with --unique, once, and all games by their start. A
    log that cannot be read is reported, the others are converted, and the exit status is 3.

    --dataset writes tables of plies, games and events for DuckDB, Dask and others. A log that the data set has already
    is skipped, or rebuilt if another version of this program wrote it or one of its files is missing or cut. A log that
    has grown replaces its earlier part. After Ctrl-C, --update adds the logs that are missing. With --dask, a Dask
    cluster does the work (docs/how-to/larger-than-memory.md); folders must have the same path on all its computers.
    """
    if dataset is not None:
        _refuse_others(ctx)
        _make_dataset(ctx, logs, dataset, force=force, update=update, jobs=jobs, dask=dask, strict=strict, **reading)
        return
    if dask is not None:
        raise click.UsageError("--dask makes a data set; name it with --dataset.")
    if update:
        raise click.UsageError("--update adds logs to a data set; name it with --dataset.")
    from recorder.archive.reading.converting import Conversion, convert_logs, convert_unique
    from recorder.archive.reading.importing import read_options
    from recorder.archive.reading.inputs import open_inputs

    format_name = format_of(format_name, output, ("pgn", "bpgn"))
    conversion = Conversion(
        read_options(**reading),
        pgn_words.pgn() if format_name == "pgn" else pgn_words.bpgn(ctx),
        complete=complete,
        guests=not no_guests,
        computers=not no_computers,
        include=include,
    )
    skipped: list[Path] = []
    with long_work() as progress:
        if unique:
            converted = convert_unique(logs, skipped, conversion, output, force=force, jobs=jobs, progress=progress)
        else:
            with open_inputs(logs, skipped, progress) as inputs:
                converted = convert_logs(list(inputs), conversion, output, force=force, jobs=jobs, progress=progress)
    _say_converted(converted, output)
    say_skipped(skipped)
    if any(result.log.unreadable for result in converted):
        ctx.exit(ExitCode.INPUT)
    if strict and any(result.log.report is not None and result.log.report.anomalies for result in converted):
        ctx.exit(ExitCode.FINDINGS)
    if not any(result.written.games for result in converted):
        ctx.exit(ExitCode.FINDINGS)


def _say_converted(converted: Sequence[Converted], output: str) -> None:
    from exporters.base import ExportReport

    total, excluded = ExportReport(), Counter[str]()
    for result in converted:
        total.games += result.written.games
        total.plies += result.written.plies
        total.excluded += result.written.excluded
        excluded += result.excluded
    if total.games:
        say_written(total, output, dict(excluded))
    elif not all(result.log.status in _REFUSED for result in converted if result.log.name):
        say("No games to write.")
        say_excluded([*excluded.items(), *sorted(total.excluded.items())])
    for log in (result.log for result in converted if result.log.status not in _REFUSED):
        for warning in [] if log.report is None else log.report.warnings:
            say(warning if len(converted) == 1 or warning.startswith(log.name) else f"{log.name}: {warning}")
        if log.message is not None:
            say(log.message)
        if log.report is not None and log.report.anomalies:
            say(f"{plural(len(log.report.anomalies), 'anomaly', 'anomalies')} in {log.name}; import -n -v lists them.")
    refused = [result.log for result in converted if result.log.status in _REFUSED]
    for log in refused:
        if log.unreadable:
            say(f"Error: {log.message}")
    strays = [log for log in refused if not log.unreadable]
    if len(strays) > _STRAYS_NAMED:
        names = ", ".join(log.name for log in strays[:_STRAYS_NAMED])
        say(f"{plural(len(strays), 'file')} skipped that are no logs, or that ics-recorder wrote: {names} …")
        return
    for log in strays:
        say(log.message or f"{log.name}: ics-recorder wrote it; name it to convert it")


def _refuse_others(ctx: click.Context) -> None:
    for parameter in ctx.command.params:
        name = parameter.name or ""
        if name not in _OF_DATASETS and ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            option = max(parameter.opts, key=len)
            raise click.UsageError(f"{option} has no meaning with --dataset, which writes all games as tables.")


def _make_dataset(
    ctx: click.Context,
    logs: tuple[str, ...],
    where: str,
    *,
    force: bool,
    update: bool,
    jobs: int | None,
    dask: str | None,
    strict: bool,
    **reading: Any,
) -> None:
    from recorder.archive.reading.importing import read_options
    from recorder.archive.sharing.dataset_making import convert_to_dataset

    if dask is not None and jobs is not None:
        raise click.UsageError("--jobs is for processes of this computer, --dask for a cluster: give one of them.")
    if force and update:
        raise click.UsageError("--update adds to a data set and --force replaces it: give one of them.")
    written = False

    def on_file(outcome: Outcome) -> None:
        nonlocal written
        written = written or outcome.status in (ImportStatus.NEW, ImportStatus.REPLACED)
        _print_outcome(outcome)

    try:
        with long_work() as progress:
            report = convert_to_dataset(
                logs,
                where,
                read_options(**reading),
                jobs=jobs,
                update=update,
                force=force,
                dask=dask,
                progress=progress,
                on_file=on_file,
            )
    except KeyboardInterrupt:
        if force and not written:  # the folder may have the old data set
            say("Interrupted; repeat the command.")
        else:
            again = "with --update instead of --force" if force else "with --update"
            say(f"Interrupted; finished logs are in the data set. To add the others, repeat the command {again}.")
        ctx.exit(ExitCode.INTERRUPTED)
    say_skipped(report.skipped)
    _print_total(report, where)
    if report.failures or all(outcome.kind is None for outcome in report.outcomes):
        ctx.exit(ExitCode.INPUT)
    if strict and any(outcome.report is not None and outcome.report.anomalies for outcome in report.outcomes):
        ctx.exit(ExitCode.FINDINGS)


_STATUSES = {
    "new": "",
    "grown": ", grew",
    "replaced": ", rebuilt",
    "known": ": unchanged",
    "exported": ": excluded, ics-recorder wrote it",
}


def _print_outcome(outcome: Outcome) -> None:
    if outcome.message:
        say(clean(outcome.message))
    if outcome.part_of is not None:
        click.echo(f"{clean(outcome.name)}: an earlier part of {clean(outcome.part_of)}; nothing new")
        return
    if outcome.status not in _STATUSES:
        return
    report = outcome.report
    counts = "" if report is None else f": {plural(outcome.games, 'game')}, {plural(outcome.plies, 'ply', 'plies')}"
    click.echo(f"{clean(outcome.name)}{_STATUSES[outcome.status]}{counts}")
    if report is not None:
        for warning in report.warnings:
            click.echo(f"  {clean(warning)}")
        if report.anomalies:
            click.echo(f"  {plural(len(report.anomalies), 'anomaly', 'anomalies')}; import -n -v lists them")


def _print_total(report: DatasetReport, where: str) -> None:
    whole = report.manifest
    if whole is None:
        return
    games, plies = plural(whole.games, "game"), plural(whole.plies, "ply", "plies")
    say(f"The data set {where} has {games}, {plies} of {plural(whole.sources, 'log')}.")
    if whole.shared_games:
        say(
            f"{plural(whole.shared_games, 'game')} with equal players, day, moves and result in several logs, each "
            "once for every log; --unique counts one of each."
        )
