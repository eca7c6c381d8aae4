"""Logs and PGN files to a data set, without an archive: the folder, the run, and the manifest at its end."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from os import PathLike
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, TypeVar

from exporters.base import ExportReport, refuse_protected
from exporters.table_files import import_pyarrow
from recorder.archive.exporting import protected, require_games
from recorder.archive.reading.importing import Outcome, Outcomes, ReadOptions, read_options
from recorder.archive.reading.inputs import Input, open_inputs
from recorder.archive.reading.workers import Workers, in_order, jobs_for
from recorder.archive.sharing.dataset_sources import Making, Run
from recorder.errors import ExportError
from recorder.model import ImportStatus, SourceKind
from recorder.pipeline import PARSER_VERSION
from recorder.progress import shown_progress
from recorder.text import plural
from recorder.urls import is_url
from storage.dataset.files import count_shared_games
from storage.dataset.folder import DataFolder, open_folder
from storage.dataset.records import (
    Manifest,
    SourceRecord,
    read_manifest,
    read_records,
    remove_empty,
    remove_unfinished,
    stem_of,
    why_broken,
    write_manifest,
    write_record,
)

if TYPE_CHECKING:
    from recorder.progress import Progress
    from storage import ArchiveStore, GameFilter

_Task = TypeVar("_Task")
_Result = TypeVar("_Result")


@dataclass(slots=True)
class DatasetReport(Outcomes):
    """What making a data set did.

    Attributes:
        outcomes: what became of each source: ``new``, ``grown`` (it took the place of its earlier part), ``replaced``
            (rebuilt), ``known`` (unchanged, or an earlier part of ``part_of``), ``exported``, ``not-a-log`` or
            ``failed``.
        manifest: of the data set afterwards; None: nothing was written, because no log could be read.
        skipped: files in folders that were not opened, because of their names.
    """

    manifest: Manifest | None = None
    skipped: list[Path] = field(default_factory=list)


def convert_to_dataset(
    paths: Sequence[str],
    where: str,
    options: ReadOptions,
    *,
    jobs: int | None = None,
    update: bool = False,
    force: bool = False,
    dask: str | None = None,
    progress: Progress,
    on_file: Callable[[Outcome], object] = lambda outcome: None,
) -> DatasetReport:
    """Make a data set of logs and PGN files, or add to it; ``dask``: by a cluster.

    ``update``: sources that another version of this program wrote are rebuilt. The files do not depend on ``jobs``.
    """
    import_pyarrow()
    folder = open_folder(where, absolute=dask is not None)
    report = DatasetReport()
    with ExitStack() as stack:
        inputs = open_inputs(paths, report.skipped, progress=progress, copy_urls=dask is None)
        sources = list(stack.enter_context(inputs))
        progress(plural(len(sources), "file"), 0, sum(source.size_bytes for source in sources) or None)
        if dask is None:
            run = stack.enter_context(_local_run(sources, jobs))
        else:
            from recorder.archive.sharing.cluster import cluster_run

            sources = [replace(source, path=source.path.absolute()) for source in sources]
            run = stack.enter_context(cluster_run(dask, folder, sources))
        before = _look(folder, [path for source in sources for path in source.files()], update=update, force=force)
        records = [] if before is None or force else read_records(folder)
        known = {record.source: record for record in records}
        making = Making(folder, options, known, run, progress, on_file)
        changing = making.plan(sources)
        if changing:
            if before is not None and force:
                folder.remove_all()
            shared = 0 if before is None or force else before.shared_games
            write_manifest(folder, records, shared, parser_version=PARSER_VERSION, complete=False)
            making.make()
        report.outcomes = making.outcomes
        incomplete = making.incomplete
    if dask is not None:
        remove_unfinished(folder)
    if changing or records:
        reported = len(report.outcomes)
        report.manifest = _finished(folder, report, incomplete=incomplete)
        for outcome in report.outcomes[reported:]:
            on_file(outcome)
    return report


def _finished(folder: DataFolder, report: DatasetReport, *, incomplete: bool) -> Manifest | None:
    """Write the manifest of what there is now, and report broken sources; None: there is no data set."""
    found, files = read_records(folder), folder.files()
    if not found:
        remove_empty(folder)
        return None
    problems = {record.source: why_broken(folder.name, record, files) for record in found}
    for record in found:
        if (problem := problems[record.source]) is not None:
            report.outcomes.append(Outcome(record.name, ImportStatus.FAILED, problem, record.kind, record.source))
    whole = [record for record in found if problems[record.source] is None]
    games = [part.name for record in whole for part in record.parts if part.name.startswith("games/")]
    shared = count_shared_games(folder, games) if len(whole) > 1 else 0
    complete = len(whole) == len(found) and not incomplete
    return write_manifest(folder, found, shared, parser_version=PARSER_VERSION, complete=complete)


def make_dataset(
    paths: str | PathLike[str] | Iterable[str | PathLike[str]],
    folder: str | PathLike[str],
    *,
    update: bool = False,
    force: bool = False,
    progress: bool | Progress = False,
    kind: str | SourceKind | None = None,
    server: str | None = None,
    date: str | datetime.date | None = None,
    date_from_name: str | None = None,
    tz: str | None = None,
    chat: str | None = None,
    jobs: int | None = None,
) -> DatasetReport:
    """Make a data set of logs and PGN files without an archive, or add to one. Needs the extra ``parquet``.

    A game that several files contain is written once for each of them. A file that is in the data set already is
    skipped, or rebuilt if another version of this program wrote it. If the function is interrupted, finished files stay
    in the data set, and the next call with ``update`` adds the others.

    Args:
        paths: as for ``Archive.import_logs``, but no archives.
        folder: of the data set (``~`` is the home folder), or its ``s3://`` URL. ``Dataset`` reads it.
        update: add to an existing data set.
        force: replace an existing data set.
        progress, kind, server, date, date_from_name, tz, chat: as for ``Archive.import_logs``.
        jobs: how many processes read; None: one for each core. The files are the same.
    Returns:
        What became of each file, and the summary of the data set.
    Raises:
        ExportError: the folder exists already or cannot be written, or pyarrow is not installed.
        SourceError: an option has a value that is not known. StorageError: the data set cannot be read.
    """
    given = [paths] if isinstance(paths, str | PathLike) else list(paths)
    names = [str(path) if is_url(str(path)) else str(Path(path).expanduser()) for path in given]
    where = str(folder) if is_url(str(folder)) else str(Path(folder).expanduser())
    options = read_options(kind, server, date, tz, chat, date_from_name)
    if update and force:
        raise ExportError("update adds to a data set and force replaces it: give one of them.")
    with shown_progress(progress) as show:
        return convert_to_dataset(names, where, options, jobs=jobs, update=update, force=force, progress=show)


def export_dataset(archive: ArchiveStore, chosen: GameFilter, where: str, *, force: bool = False) -> ExportReport:
    """Write the tables of games of an archive as a data set: the archive is its one source."""
    import_pyarrow()
    require_games(archive, chosen)
    from exporters.dataset_parts import write_dataset

    folder, source = open_folder(where), token_hex(32)
    before = _look(folder, protected(archive), update=False, force=force)
    prepare = (lambda: None) if before is None else folder.remove_all
    written = write_dataset(archive, chosen, folder, source, stem_of(source), prepare=prepare)
    record = SourceRecord(
        source, archive.path.name, archive.path.stat().st_size, "archive", written.games, written.plies,
        parser_version=PARSER_VERSION, parts=written.parts,
    )  # fmt: skip
    write_record(folder, record)
    write_manifest(folder, [record], parser_version=PARSER_VERSION, complete=True)
    return ExportReport(record.games, record.plies)


def _look(folder: DataFolder, keep: Collection[Path], *, update: bool, force: bool) -> Manifest | None:
    """Look at the folder, and change nothing; return the manifest that is there."""
    manifest = read_manifest(folder)
    if manifest is None and folder.files():
        raise ExportError(f"{folder.name} is there and is no data set; name another folder.")
    if manifest is not None and force:
        refuse_protected(Path(folder.name), keep)
    if manifest is not None and not (update or force):
        raise ExportError(
            f"{folder.name} is a data set already; use --force to replace it, or `convert --update` to add sources."
        )
    return manifest


@contextmanager
def _local_run(sources: Sequence[Input], jobs: int | None) -> Iterator[Run]:
    """As many processes as ``jobs`` says, or none where there is too little to read."""
    processes = jobs_for([source.size_bytes for source in sources], jobs)
    if processes < 2:
        yield _run_here
        return
    with Workers(processes) as workers:
        yield partial(in_order, workers)


def _run_here(
    function: Callable[[_Task, Progress], _Result], tasks: Iterable[_Task], progress: Progress
) -> Iterator[Future[_Result]]:
    """As ``Run``, in this process."""
    for task in tasks:
        future: Future[_Result] = Future()
        try:
            future.set_result(function(task, progress))
        except Exception as error:  # the caller gets it from the future
            future.set_exception(error)
        yield future
