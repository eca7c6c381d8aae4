"""Logs and PGN files to a data set, without an archive: the folder, the run, and the manifest at its end.

A source is read twice. The first pass finds its hash, by which it is known. The second writes its files, and its record
last: until then the source is not there, and the next run removes what a run that was ended has left of it.

Which sources are the beginnings of longer ones: a log that has grown takes the place of its earlier part. A data set
keeps no bytes. Of each source it has hashes of its first 16, 32, 64 … bytes, which find the few sources that may be the
beginning of a log; that log is then read again, up to their ends.
"""

from __future__ import annotations

import datetime
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from os import PathLike
from pathlib import Path
from secrets import token_hex
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final, NamedTuple

from exporters.base import ExportReport, refuse_protected
from exporters.table_files import import_pyarrow
from recorder.archive.exporting import protected, require_games
from recorder.archive.reading.importing import (
    Fingerprint,
    Outcome,
    Outcomes,
    Plan,
    ReadOptions,
    identify,
    is_internal,
    read_options,
    store,
    why_failed,
)
from recorder.archive.reading.inputs import Input, open_inputs
from recorder.archive.reading.workers import Run, WorkerDiedError, running
from recorder.containment import failures_sentence
from recorder.errors import ExportError, StorageError
from recorder.model import ImportStatus, SourceKind
from recorder.pipeline import PARSER_VERSION
from recorder.progress import of_several, shown_progress
from recorder.text import plural
from recorder.urls import is_url
from storage.dataset.files import (
    DATASET_SCHEMA,
    DataFolder,
    Manifest,
    Part,
    SourceRecord,
    count_shared_games,
    open_folder,
    part_names,
    read_manifest,
    read_records,
    remove_empty,
    remove_source,
    remove_unfinished,
    rows_of,
    stem_of,
    why_broken,
    write_manifest,
    write_record,
)
from storage.read.store import EVERY_GAME, GameFilter

if TYPE_CHECKING:
    from recorder.progress import Progress
    from storage import ArchiveStore

_DOUBLINGS: Final = tuple(1 << exponent for exponent in range(4, 48))
"""Sizes in bytes."""
_DIGITS: Final = 16


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


def _doublings_of(marks: Mapping[int, str]) -> list[str]:
    """The first digits of the hashes of a source's first 16, 32, 64 … bytes; ``marks`` as of ``Outcome``."""
    return [marks[size][:_DIGITS] for size in _DOUBLINGS if size in marks]


class _Text(NamedTuple):
    """A source that is there or of this run; of one without doublings the name finds longer ones."""

    name: str
    size_bytes: int
    doublings: list[str]


@dataclass(frozen=True, slots=True)
class SourceTask:
    """A source whose hash and kind a process finds, or, with its ``outcome``, of which it writes the files."""

    folder: DataFolder
    source: Input
    options: ReadOptions
    place: tuple[int, int]  # its number among all of the run, and how many there are
    marks: Sequence[int] = _DOUBLINGS  # sizes at which its hash is wanted, too
    outcome: Outcome | None = None


def find_source(task: SourceTask, progress: Progress) -> Outcome:
    return identify(task.source, task.options, task.marks, of_several(progress, *task.place))


class SourceMade(NamedTuple):
    outcome: Outcome
    parts: Sequence[Part] = ()
    internal: bool = False  # it failed because of an error of this program


def make_source(task: SourceTask, progress: Progress) -> SourceMade:
    """Nothing else is changed, and doing it again gives the same files."""
    from exporters.dataset_parts import write_dataset
    from storage import ArchiveStore

    assert task.outcome is not None
    source, outcome, sha256 = task.source, replace(task.outcome), _sha256_of(task)
    if source.error is not None:
        return _failed(task, source.error)
    hashed = Fingerprint(sha256, outcome.size_bytes, b"", {}, None)
    plan = Plan(source, hashed, SourceKind(outcome.kind), task.options.of(source))
    progress = of_several(progress, *task.place)
    with (
        TemporaryDirectory(prefix="ics-recorder-") as folder,
        ArchiveStore.open(str(Path(folder, "source.sqlite")), create=True, read_only=False) as archive,
    ):
        try:
            with archive.transaction():
                report = store(archive, plan.facts(), plan.reading(progress), outcome, keep=False).report
                if values := task.options.stated():
                    archive.corrections.edit_source(sha256, values, {})
        except StorageError:
            raise
        except Exception as error:  # the other sources are still converted
            return _failed(task, why_failed(error, source.name), internal=is_internal(error))
        parts = write_dataset(archive, EVERY_GAME, task.folder, sha256, stem_of(sha256))
    outcome.games, outcome.plies, outcome.undated = (
        rows_of(parts, prefix) for prefix in ("games/", "plies/", "games/undated/")
    )
    outcome.message = outcome.message or failures_sentence(report, source.name)
    return SourceMade(outcome, parts)


def _failed(task: SourceTask, why: str, *, internal: bool = False) -> SourceMade:
    assert task.outcome is not None
    return SourceMade(replace(task.outcome, status=ImportStatus.FAILED, message=why), internal=internal)


class _Making:
    """Makes the sources of one run; ``outcomes`` are of all sources, in their order."""

    def __init__(
        self,
        folder: DataFolder,
        records: dict[str, SourceRecord],
        run: Run,
        progress: Progress,
        on_file: Callable[[Outcome], object],
    ) -> None:
        self._folder = folder
        self._records = records
        self._run = run
        self._progress = progress
        self._on_file = on_file
        self._tasks: list[SourceTask] = []  # of sources to be made
        self._parts: list[tuple[SourceTask, str]] = []  # of beginnings of others, and the hashes of those
        self._earlier = {sha256: set(record.earlier) for sha256, record in records.items()}
        self.outcomes: list[Outcome] = []
        self._open: set[int] = set()  # places of sources that are not made yet, and not reported
        self._reported = 0
        self.incomplete = False  # a process died, or this program had an error: a source is not there

    def plan(self, sources: Sequence[Input], options: ReadOptions) -> bool:
        """Find what is to be made of sources; return whether anything is to be changed."""
        count, records = len(sources), self._records
        looks = [SourceTask(self._folder, source, options, (n, count)) for n, source in enumerate(sources, 1)]
        self.outcomes = self._find(looks)
        logs = {
            outcome.sha256: (look, outcome)
            for look, outcome in zip(looks, self.outcomes, strict=True)
            if outcome.status == ImportStatus.LOG and outcome.sha256 is not None
        }
        texts = {old.source: _Text(old.name, old.size_bytes, old.doublings) for old in records.values()} | {
            sha256: _Text(log.name, log.size_bytes, _doublings_of(log.marks)) for sha256, (_, log) in logs.items()
        }
        possible = _possible_parts(texts, logs)
        again = [
            replace(logs[sha256][0], marks=[texts[part].size_bytes for part in parts])
            for sha256, parts in possible.items()
        ]
        for (sha256, parts), outcome in zip(possible.items(), self._find(again), strict=True):
            if outcome.sha256 == sha256:  # else it was changed meanwhile
                equal = {part for part in parts if outcome.marks.get(texts[part].size_bytes) == part}
                self._earlier.setdefault(sha256, set()).update(equal)
        wholes: dict[str, str] = {}  # of each earlier part the longest log of which it is the beginning
        for sha256 in sorted(self._earlier, key=lambda sha256: (texts[sha256].size_bytes, sha256)):
            wholes |= dict.fromkeys(self._earlier[sha256], sha256)
        files = self._folder.files() if records else {}
        current = {sha256 for sha256, record in records.items() if why_broken(self._folder.name, record, files) is None}
        seen: set[str] = set()
        for look, outcome in zip(looks, self.outcomes, strict=True):
            task = self._task(look, outcome, seen, current)
            if (whole := wholes.get(outcome.sha256 or "")) is not None:
                outcome.status, outcome.part_of = ImportStatus.KNOWN, texts[whole].name
            if task is not None and whole is not None:
                self._parts.append((task, whole))
            elif task is not None:
                self._tasks.append(task)
        made = {_sha256_of(task) for task in self._tasks}
        self._open = {task.place[0] for task in self._tasks}
        self._open |= {task.place[0] for task, whole in self._parts if whole in made}
        self._report()
        replaced = records.keys() & {part for parts in self._earlier.values() for part in parts}
        unnoted = any(record.earlier != sorted(self._earlier[sha256]) for sha256, record in records.items())
        return bool(self._tasks or replaced or unnoted)

    def _find(self, tasks: Sequence[SourceTask]) -> list[Outcome]:
        outcomes = []
        for task, done in zip(tasks, self._run(find_source, tasks, self._progress), strict=True):
            try:
                outcomes.append(done())
            except WorkerDiedError as error:
                source, self.incomplete = task.source, True
                outcomes.append(Outcome(source.name, ImportStatus.FAILED, _died(source, error), named=source.named))
        return outcomes

    def _task(self, look: SourceTask, outcome: Outcome, seen: set[str], current: set[str]) -> SourceTask | None:
        """``seen`` are hashes of the sources before it, ``current`` of those whose files are there."""
        if outcome.status != ImportStatus.LOG or outcome.sha256 is None:
            return None
        options, stored = look.options.of(look.source), self._records.get(outcome.sha256)
        if outcome.sha256 in seen or (stored and outcome.sha256 in current and _is_current(stored, options)):
            outcome.status = ImportStatus.KNOWN
            return None
        seen.add(outcome.sha256)
        parts = [self._records[part] for part in self._earlier.get(outcome.sha256, ()) if part in self._records]
        before = stored or max(parts, key=lambda record: record.size_bytes, default=None)
        again = ImportStatus.GROWN if stored is None else ImportStatus.REPLACED
        outcome.status = ImportStatus.NEW if before is None else again
        if before is not None:
            options = options.over(ReadOptions.from_json(before.options, options.timing))
        return replace(look, options=options, outcome=outcome)

    def make(self) -> None:
        """Make sources; what an earlier run has left of them is removed before."""
        left = part_names(self._folder.files())
        failed = self._make(self._tasks, left)
        alone = [task for task, whole in self._parts if whole in failed]
        for task in alone:
            assert task.outcome is not None
            task.outcome.status, task.outcome.part_of = ImportStatus.NEW, None
        self._make(alone, left)
        for record in read_records(self._folder):
            earlier = self._earlier.get(record.source, set())
            if record.earlier != sorted(earlier):
                write_record(self._folder, replace(record, earlier=sorted(earlier)))
            for sha256 in earlier & self._records.keys():
                remove_source(self._folder, sha256, left.get(stem_of(sha256), []))

    def _make(self, tasks: Sequence[SourceTask], left: dict[str, list[str]]) -> set[str]:
        """Return the hashes of sources that failed; ``left``: files that are there, as of ``part_names``."""
        failed = set()
        for task in tasks:
            remove_source(self._folder, _sha256_of(task), left.get(stem_of(_sha256_of(task)), []))
        for task, done in zip(tasks, self._run(make_source, tasks, self._progress), strict=True):
            sha256 = _sha256_of(task)
            try:
                made = done()
            except WorkerDiedError as error:
                made = _failed(task, _died(task.source, error), internal=True)
            self.incomplete = self.incomplete or made.internal
            self.outcomes[task.place[0] - 1] = made.outcome
            self._open.discard(task.place[0])
            if made.outcome.status == ImportStatus.FAILED:
                failed.add(sha256)
            else:
                self._write_record(task, made)
                self._open -= {part.place[0] for part, whole in self._parts if whole == sha256}
            self._report()
        return failed

    def _write_record(self, task: SourceTask, made: SourceMade) -> None:
        outcome, sha256 = made.outcome, _sha256_of(task)
        record = SourceRecord(
            sha256,
            task.source.name,
            outcome.size_bytes,
            outcome.kind or "",
            outcome.games,
            outcome.plies,
            0 if outcome.report is None else len(outcome.report.anomalies),
            outcome.message,
            task.options.to_json(),
            parser_version=PARSER_VERSION,
            doublings=_doublings_of(outcome.marks),
            earlier=sorted(self._earlier.get(sha256, ())),
            parts=list(made.parts),
        )
        write_record(self._folder, record)

    def _report(self) -> None:
        """Report sources that are done, up to the first that is not."""
        while self._reported < len(self.outcomes) and self._reported + 1 not in self._open:
            self._on_file(self.outcomes[self._reported])
            self._reported += 1


def _sha256_of(task: SourceTask) -> str:
    return (task.outcome and task.outcome.sha256) or ""


def _possible_parts(texts: Mapping[str, _Text], logs: Iterable[str]) -> dict[str, list[str]]:
    """Map the hashes of logs to those of the texts that may be their beginnings: at least half of each is equal."""
    by_half = defaultdict[tuple[int, str], list[str]](list)
    for sha256, text in texts.items():
        by_half[len(text.doublings), text.doublings[-1] if text.doublings else text.name].append(sha256)
    possible = {}
    for sha256 in logs:
        log = texts[sha256]
        halves = [(0, log.name), *enumerate(log.doublings, 1)]
        alike = [part for half in halves for part in by_half.get(half, ())]
        if parts := [part for part in alike if texts[part].size_bytes < log.size_bytes]:
            possible[sha256] = parts
    return possible


def _is_current(record: SourceRecord, options: ReadOptions) -> bool:
    """Whether a source that is there was read as it would be read now."""
    given = {name: value for name, value in options.to_json().items() if value is not None}
    made_by = (record.program, record.parser_version, record.schema)
    current = made_by == (version("ics-recorder"), PARSER_VERSION, DATASET_SCHEMA)
    return current and record.options | given == record.options


def _died(source: Input, error: WorkerDiedError) -> str:
    return f"{source.name}: the process that read it {error}; nothing of it is in the data set. Use --update to add it."


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
            run = stack.enter_context(running([source.size_bytes for source in sources], jobs))
        else:
            from recorder.archive.sharing.cluster import cluster_run

            sources = [replace(source, path=source.path.absolute()) for source in sources]
            run = stack.enter_context(cluster_run(dask, folder, sources))
        before = _look(folder, [path for source in sources for path in source.files()], update=update, force=force)
        records = [] if before is None or force else read_records(folder)
        by_source = {record.source: record for record in records}
        making = _Making(folder, by_source, run, progress, on_file)
        changing = making.plan(sources, options)
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
    records, files = read_records(folder), folder.files()
    if not records:
        remove_empty(folder)
        return None
    problems = {record.source: why_broken(folder.name, record, files) for record in records}
    for record in records:
        if (problem := problems[record.source]) is not None:
            report.outcomes.append(Outcome(record.name, ImportStatus.FAILED, problem, record.kind, record.source))
    whole = [record for record in records if problems[record.source] is None]
    games = [part.name for record in whole for part in record.parts if part.name.startswith("games/")]
    shared = count_shared_games(folder, games) if len(whole) > 1 else 0
    complete = len(whole) == len(records) and not incomplete
    return write_manifest(folder, records, shared, parser_version=PARSER_VERSION, complete=complete)


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
    listed = [paths] if isinstance(paths, str | PathLike) else list(paths)
    names = [str(path) if is_url(str(path)) else str(Path(path).expanduser()) for path in listed]
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
    parts = write_dataset(archive, chosen, folder, source, stem_of(source), prepare=prepare)
    record = SourceRecord(
        source, archive.path.name, archive.path.stat().st_size, "archive", rows_of(parts, "games/"),
        rows_of(parts, "plies/"), parser_version=PARSER_VERSION, parts=parts,
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
