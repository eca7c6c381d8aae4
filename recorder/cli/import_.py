"""``ics-recorder import``: logs into the archive."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from recorder.archive.locate import archive_file, open_archive
from recorder.cli.options import archive_option, json_option, reading_options
from recorder.cli.output import print_json, say, show_progress
from recorder.errors import StorageError
from recorder.exit_codes import ExitCode
from recorder.progress import of_several
from recorder.text import plural

if TYPE_CHECKING:
    from recorder.archive.importing import Outcome
    from recorder.archive.inputs import Input
    from recorder.archive.merging import Merged
    from recorder.progress import Progress
    from storage import ArchiveStore

__all__ = ["command"]


@click.command(
    "import",
    epilog="""\b
Examples:
  ics-recorder import ~/ics-logs
  ics-recorder import -n ~/ics-logs               what each file is, nothing is stored
  ics-recorder import laptop.sqlite               another archive, merged into this one
  ics-recorder import --server freechess.org --tz Europe/Vienna session.log.gz
  zcat old.gz | ics-recorder import -
""",
)
@click.argument("paths", nargs=-1, required=True, metavar="PATH…")
@reading_options
@archive_option
@click.option("-n", "--dry-run", is_flag=True, help="Only tell what each file is; store nothing.")
@click.option("--no-keep-source", is_flag=True, help="Keep path and sha256 of the logs only, not their bytes.")
@click.option("--strict", is_flag=True, help="Exit with status 1 if a log has anomalies.")
@click.option(
    "-v", "--verbose", is_flag=True, help="List anomalies, unrecognised lines by shape, and notes file by file."
)
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    /,
    paths: tuple[str, ...],
    where: str,
    dry_run: bool,
    no_keep_source: bool,
    strict: bool,
    verbose: bool,
    as_json: bool,
    **reading: Any,
) -> None:
    """Read logs or another archive into the archive: files, folders with all below them, or - for standard input.

    The kind of each file is told by its content; gz, bz2, xz and zst files are read as what is in them. A log that
    is already in the archive changes nothing, nor does an older copy of one; of a log that grew only the new part
    is read, and a log that cannot be read does not keep the others from being read. A file in a folder that is no
    log is told, but is no failure; hidden files, .csv, .parquet, .db and .sqlite in folders are not opened, and PGN
    and BPGN that this program wrote (its games have a RecorderKey) is left out there.

    From another archive comes what importing its logs would give, without reading them again: the longer version of
    a log that both have, nothing twice, nothing that was forgotten here. A player whom either was told to forget is
    forgotten, so games that only this archive has may go: how many is told, with -n beforehand. Reading options do not
    apply to it.
    """
    from recorder.archive.copies import Copies
    from recorder.archive.importing import import_source, tell_kind
    from recorder.archive.inputs import open_inputs, read_options
    from recorder.cli.import_report import (
        analyses_json,
        outcome_json,
        players_json,
        print_analyses,
        print_merged,
        print_outcome,
        print_players,
    )
    from recorder.live.status import is_state_file
    from storage import is_database

    options = read_options(**reading)
    outcomes: list[Outcome] = []
    skipped: list[Path] = []
    besides: list[dict[str, Any]] = []
    archive = None if dry_run else open_archive(where, create=True, read_only=False)
    copies = None if archive is None else Copies(archive)
    try:
        with open_inputs(paths, skipped) as inputs, show_progress() as progress:
            sources = list(inputs)
            for number, source in enumerate(sources, 1):
                file_progress = of_several(progress, number, len(sources))
                if source.named and is_database(source.path):
                    merged = _merge(where, archive, source, file_progress)
                    outcomes += merged.outcomes
                    for outcome in [] if as_json else merged.outcomes:
                        print_merged(outcome)
                    if merged.players:
                        besides.append(players_json(source.name, merged))
                        if not as_json:
                            print_players(source.name, merged, dry_run=dry_run)
                    if merged.analyses or merged.homeless:
                        besides.append(analyses_json(source.name, merged))
                        if not as_json:
                            print_analyses(source.name, merged)
                    continue
                if archive is None or copies is None:
                    outcome = tell_kind(source, options)
                else:
                    outcome = import_source(
                        archive, source, options, copies=copies, keep=not no_keep_source, progress=file_progress
                    )
                    if verbose and outcome.status == "known" and outcome.sha256 and outcome.part_of is None:
                        outcome.report = archive.report(outcome.sha256)
                outcomes.append(outcome)
                if not as_json:
                    print_outcome(outcome, verbose=verbose, alone=len(sources) == 1)
        if not as_json:
            _sum_up(outcomes, archive, verbose=verbose)
    finally:
        if archive is not None:
            archive.close()
    if as_json:
        print_json([*(outcome_json(outcome, verbose=verbose) for outcome in outcomes), *besides])
    skipped = [path for path in skipped if not is_state_file(path)]  # what recorders that run now keep
    if skipped:
        say(f"{plural(len(skipped), 'file')} skipped by name: hidden files, tables and databases.")
    if any(outcome.unreadable for outcome in outcomes) or all(outcome.kind is None for outcome in outcomes):
        ctx.exit(ExitCode.INPUT)
    flawed = sum(outcome.flawed for outcome in outcomes)
    if strict and flawed:
        say(f"{plural(flawed, 'log')} with anomalies (--strict).")
        ctx.exit(ExitCode.FINDINGS)


def _sum_up(outcomes: list[Outcome], archive: ArchiveStore | None, *, verbose: bool) -> None:
    """Tell of all files together; ``archive`` None: nothing was stored."""
    from recorder.cli.import_report import print_notes, print_total, say_archive

    stored = [outcome for outcome in outcomes if outcome.status in ("new", "grown", "replaced")]
    if len(outcomes) > 1:
        distinct = None
        if archive is not None and all(outcome.status == "new" for outcome in stored):
            distinct = archive.count_of_sources([outcome.sha256 for outcome in stored if outcome.sha256])
        print_total(outcomes, dry_run=archive is None, distinct=distinct)
        if not verbose:
            print_notes(outcomes)
    if stored and archive is not None:
        say_archive(archive)


def _merge(where: str, archive: ArchiveStore | None, source: Input, progress: Progress) -> Merged:
    """Merge another archive; ``archive`` None: only tell."""
    from recorder.archive.importing import Outcome
    from recorder.archive.merging import Merged, merge
    from storage import reading_other

    ours = archive_file(where)
    with ExitStack() as stack:
        try:
            if ours.exists() and source.path.samefile(ours):
                raise StorageError(f"{source.name} is the archive itself.")
            other = stack.enter_context(reading_other(source.path))
        except StorageError as error:
            return Merged([Outcome(source.name, "failed", str(error))], 0, 0)
        if archive is not None or not ours.exists():
            return merge(archive, other, source.name, dry_run=archive is None, progress=progress)
        with open_archive(where) as reading:
            return merge(reading, other, source.name, dry_run=True, progress=progress)
