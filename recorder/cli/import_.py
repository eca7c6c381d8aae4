"""``ics-recorder import``: logs into the archive."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from recorder.archive.locate import open_archive
from recorder.cli.options import Command, Rare, archive_option, jobs_option, json_option, reading_options, typed
from recorder.cli.output import confirm, long_work, print_json, print_table, say, say_skipped
from recorder.errors import ExitCode
from recorder.model import ImportStatus
from recorder.text import byte_size, named, plural

if TYPE_CHECKING:
    from recorder.archive.reading.import_paths import ImportReport, Merged
    from recorder.archive.reading.importing import Outcome
    from storage import ArchiveStore

_PLAYERS = named("name players games_taken_out=games")
_ANALYSES = named("name analyses left_out=homeless")


@click.command(
    "import",
    cls=Command,
    epilog="""\b
Examples:
  $ ics-recorder import session.log saved.pgn
  ...
  2 logs (2 new): 8 games, 303 moves
  ...
  The archive has 8 games of 10 players.
  ...
  ics-recorder import ~/ics-logs
  ics-recorder import -n ~/ics-logs      what each file is; nothing is stored
  ics-recorder import -n -v session.log  what is in it; nothing is stored
  ics-recorder import laptop.sqlite      another archive, merged into this one
  ics-recorder import --server freechess.org --tz Europe/Vienna session.log.gz
  zcat old.gz | ics-recorder import -
  ics-recorder import --find             logs of clients in their usual places
""",
)
@click.argument("paths", nargs=-1, metavar="PATH…")
@reading_options
@archive_option
@click.option("-n", "--dry-run", is_flag=True, help="Identify files without importing them; with -v also read them.")
@click.option(
    "--find",
    is_flag=True,
    help="Find logs of xboard, PyChess and other clients in their usual places, list them, and ask.",
)
@click.option("-y", "--yes", is_flag=True, help="With --find: do not ask; required where there is no terminal.")
@click.option("--no-keep-source", cls=Rare, is_flag=True, help="Store path and SHA-256 of the logs, not their bytes.")
@jobs_option
@click.option("--strict", cls=Rare, is_flag=True, help="Exit with status 1 if a log has anomalies.")
@click.option(
    "-v",
    "--verbose",
    is_flag=True,
    help="List the anomalies, unrecognised lines (grouped by shape) and notes of each file.",
)
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    /,
    paths: tuple[str, ...],
    where: str,
    dry_run: bool,
    find: bool,
    yes: bool,
    no_keep_source: bool,
    jobs: int | None,
    strict: bool,
    verbose: bool,
    as_json: bool,
    **reading: Any,
) -> None:
    """Import logs, PGN, BPGN or another archive into the archive.

    PATH is a file, a folder (with all folders below it), an https:// or s3:// URL, or - for standard input. The kind of
    a file is recognised by its content; gz, bz2, xz and zst files are decompressed. Importing a log again, or an older
    copy of it, changes nothing; of a log that has grown, only the games that have changed are stored. A log that cannot
    be read does not stop the others. In folders, files that are not logs are reported and skipped; hidden files, .csv,
    .parquet, .db and .sqlite files and PGN that this program wrote are not opened.

    Importing another archive gives the same result as importing its logs; the options under "Reading logs" do not
    apply. Dates, servers and time zones that a log has in one of the archives only are kept. Players and logs that
    either archive has erased are excluded, so this archive can lose games; -n reports how many.

    --find needs no PATH. It looks where xboard, WinBoard, PyChess, Jin, BabasChess, Raptor, eboard and Scid keep their
    files; -n only lists what it finds.
    """
    if find:
        paths = _found(ctx, paths, dry_run=dry_run, yes=yes, as_json=as_json)
    elif yes or not paths:
        raise click.UsageError(
            "--yes is for --find." if yes else "Name a PATH, or let --find look for logs of clients."
        )
    from recorder.archive.reading.import_paths import import_paths
    from recorder.archive.reading.importing import read_options
    from recorder.cli.import_report import count_all, outcome_json

    archive = None if dry_run else open_archive(where, create=True, read_only=False)
    before = 0 if archive is None else count_all(archive)

    def on_file(log: Outcome | Merged, alone: bool) -> None:
        if archive is not None and verbose:
            _add_report(log, archive)
        if not as_json:
            _print_file(log, alone=alone, dry_run=dry_run, verbose=verbose)

    try:
        with long_work() as progress:
            report = import_paths(
                archive,
                where,
                paths,
                read_options(**reading),
                keep=not no_keep_source,
                read=verbose,
                jobs=jobs,
                progress=progress,
                on_file=on_file,
            )
        if not as_json:
            _sum_up(report.outcomes, archive, before, verbose=verbose)
            if archive is not None and not before and count_all(archive):
                ours = shlex.join(["ics-recorder", *(["--db", where] if typed(ctx, "where") else [])])
                say(f"Next: {ours} games (or show last, web --open)")
    finally:
        if archive is not None:
            archive.close()
    if as_json:
        rows = [outcome_json(outcome, verbose=verbose) for outcome in report.outcomes]
        for merged in report.merged:
            rows += [_PLAYERS(merged) | {"status": "players"}] if merged.players else []
            rows += [_ANALYSES(merged) | {"status": "analyses"}] if merged.analyses or merged.homeless else []
        print_json(rows)
    say_skipped(report.skipped)
    ctx.exit(_exit_status(report, strict=strict))


def _found(ctx: click.Context, paths: tuple[str, ...], *, dry_run: bool, yes: bool, as_json: bool) -> tuple[str, ...]:
    """The logs of clients in their usual places, listed, and imported if the user agrees."""
    from recorder.archive.reading.inputs import CLIENTS, find_client_logs

    if paths:
        raise click.UsageError("--find looks in the usual places of clients: give no PATH with it.")
    logs = list(find_client_logs(os.environ, Path.home()))
    if not logs:
        say(f"No log in the usual places of {', '.join(CLIENTS)}: name files or folders.")
        ctx.exit(ExitCode.FINDINGS)
    if dry_run and as_json:
        print_json([log._asdict() for log in logs])
    elif not as_json:
        rows = [(log.client, byte_size(log.size_bytes), log.path) for log in logs]
        print_table(("Client", "Size", "File"), rows, right=("Size",))
    if dry_run:
        ctx.exit(ExitCode.OK)
    if not yes:
        confirm(f"Import {plural(len(logs), 'file')}?", "give --yes to import without asking, or -n only to list")
    return tuple(log.path for log in logs)


def _add_report(log: Outcome | Merged, archive: ArchiveStore) -> None:
    """To the outcome of a known log, what was found when it was read."""
    from recorder.archive.reading.importing import Outcome

    if isinstance(log, Outcome) and log.status == ImportStatus.KNOWN and log.sha256 and log.part_of is None:
        log.report = archive.report(log.sha256)


def _print_file(outcome: Outcome | Merged, *, alone: bool, dry_run: bool, verbose: bool) -> None:
    from recorder.archive.reading.import_paths import Merged
    from recorder.cli.import_report import print_merged, print_outcome

    if isinstance(outcome, Merged):
        print_merged(outcome, dry_run=dry_run)
    else:
        print_outcome(outcome, verbose=verbose, alone=alone)


def _exit_status(report: ImportReport, *, strict: bool) -> ExitCode:
    if report.failures or all(outcome.kind is None for outcome in report.outcomes):
        return ExitCode.INPUT
    flawed = sum(outcome.flawed for outcome in report.outcomes)
    if strict and flawed:
        say(f"{plural(flawed, 'log')} with anomalies (--strict).")
        return ExitCode.FINDINGS
    return ExitCode.OK


def _sum_up(outcomes: list[Outcome], archive: ArchiveStore | None, before: int, *, verbose: bool) -> None:
    from recorder.archive.reading.importing import STORED
    from recorder.cli.import_report import print_notes, print_total, say_archive

    stored = [outcome for outcome in outcomes if outcome.status in STORED]
    # others than new logs may repeat games of an earlier import
    countable = all(outcome.status == ImportStatus.NEW for outcome in stored)
    if len(outcomes) > 1:
        distinct = None
        if archive is not None and countable:
            distinct = archive.count_of_sources([outcome.sha256 for outcome in stored if outcome.sha256])
        print_total(outcomes, dry_run=archive is None, distinct=distinct)
        if not verbose:
            print_notes(outcomes)
    if stored and archive is not None:
        if serverless := archive.count_serverless([outcome.sha256 for outcome in stored if outcome.sha256]):
            games = plural(serverless, "game")
            say(f"{games} without a server may be in another log, too: use --server (see `duplicates`).")
        say_archive(archive, None if countable else before)
