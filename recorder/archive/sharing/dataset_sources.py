"""Making the sources of a data set: which of them, by which processes, and their records.

A source is read twice. The first pass finds its hash, by which it is known. The second writes its files, and its record
last: until then the source is not there, and the next run removes what a run that was ended has left of it.

Which sources are the beginnings of longer ones: a log that has grown takes the place of its earlier part.

A data set keeps no bytes. Of each source it has hashes of its first 16, 32, 64 … bytes, which find the few sources that
may be the beginning of a log; that log is then read again, up to their ends.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final, Protocol, TypeVar

from recorder.archive.reading.importing import (
    Fingerprint,
    Outcome,
    Plan,
    ReadOptions,
    identify,
    is_internal,
    store,
    why_failed,
)
from recorder.archive.reading.inputs import Input
from recorder.archive.reading.workers import WorkerDiedError
from recorder.containment import failures_sentence
from recorder.errors import StorageError
from recorder.model import ImportStatus, SourceKind, SourceReport
from recorder.pipeline import PARSER_VERSION
from recorder.progress import of_several
from storage.dataset.folder import DataFolder, Part
from storage.dataset.records import (
    DATASET_SCHEMA,
    SourceRecord,
    part_names,
    read_records,
    remove_source,
    stem_of,
    why_broken,
    write_record,
)
from storage.read.game_filter import GameFilter

if TYPE_CHECKING:
    from recorder.progress import Progress

DOUBLINGS: Final = tuple(1 << exponent for exponent in range(4, 48))
"""Sizes in bytes."""
_DIGITS: Final = 16
_ALL: Final = GameFilter(kinds=frozenset(), min_plies=0)


def doublings_of(marks: Mapping[int, str]) -> list[str]:
    """The first digits of the hashes of a source's first 16, 32, 64 … bytes, as far as it goes."""
    return [marks[size][:_DIGITS] for size in DOUBLINGS if size in marks]


def _texts(logs: Mapping[str, Outcome], records: Mapping[str, SourceRecord]) -> dict[str, Outcome]:
    """The sources that are there and the logs of this run, by their hashes."""
    there = {
        sha256: Outcome(
            record.name, ImportStatus.KNOWN, sha256=sha256, size_bytes=record.size_bytes,
            marks=dict(zip(DOUBLINGS, record.doublings, strict=False)),
        )
        for sha256, record in records.items()
    }  # fmt: skip
    return there | dict(logs)


def find_earlier(
    logs: Mapping[str, Outcome],
    records: Mapping[str, SourceRecord],
    look_again: Callable[[dict[str, list[int]]], list[Outcome]],
) -> dict[str, set[str]]:
    """Map the hash of each log of this run to the hashes of its earlier parts, which are logs of this run or there.

    ``look_again`` reads logs of this run again: hash → sizes at which the hash is wanted, too.
    """
    possible = _possible_parts(_texts(logs, records), logs)
    sizes = {sha256: [part.size_bytes for part in parts.values()] for sha256, parts in possible.items()}
    found: dict[str, set[str]] = {}
    for (sha256, parts), outcome in zip(possible.items(), look_again(sizes), strict=True):
        equal = {part for part, one in parts.items() if outcome.marks.get(one.size_bytes) == part}
        if equal and outcome.sha256 == sha256:  # else it was changed meanwhile
            found[sha256] = equal
    return found


def find_wholes(
    earlier: Mapping[str, set[str]], logs: Mapping[str, Outcome], records: Mapping[str, SourceRecord]
) -> dict[str, Outcome]:
    """Map the hash of each earlier part to the longest log of which it is the beginning."""
    wholes = _texts(logs, records)
    found: dict[str, Outcome] = {}
    for sha256 in sorted(earlier, key=lambda sha256: (wholes[sha256].size_bytes, sha256)):
        found |= dict.fromkeys(earlier[sha256], wholes[sha256])
    return found


def _possible_parts(texts: Mapping[str, Outcome], logs: Mapping[str, Outcome]) -> dict[str, dict[str, Outcome]]:
    """Texts of which, by the hashes, at least half is equal to a longer log; without doublings the name is equal."""
    by_half: dict[tuple[int, str], list[str]] = {}
    for sha256, text in texts.items():
        doublings = doublings_of(text.marks)
        by_half.setdefault((len(doublings), doublings[-1] if doublings else text.name), []).append(sha256)
    parts: dict[str, dict[str, Outcome]] = {}
    for sha256, log in logs.items():
        halves = [(0, log.name), *enumerate(doublings_of(log.marks), 1)]
        alike = {part: texts[part] for half in halves for part in by_half.get(half, ())}
        if shorter := {part: text for part, text in alike.items() if text.size_bytes < log.size_bytes}:
            parts[sha256] = shorter
    return parts


_Task = TypeVar("_Task")
_Result = TypeVar("_Result")


class Run(Protocol):
    """Has a function called for several tasks, as ``workers.in_order`` does in other processes."""

    def __call__(
        self, function: Callable[[_Task, Progress], _Result], tasks: Iterable[_Task], progress: Progress
    ) -> Iterator[Future[_Result]]:
        """Call a function of a module for tasks that can be pickled, each made a little before its turn."""


@dataclass(frozen=True, slots=True)
class SourceToFind:
    """A source whose hash and kind a process finds, and its hash at the sizes ``marks``."""

    source: Input
    options: ReadOptions
    marks: Sequence[int]
    place: tuple[int, int]  # its number among all of the run, and how many there are


def find_source(task: SourceToFind, progress: Progress) -> Outcome:
    return identify(task.source, task.options, task.marks, of_several(progress, *task.place))


@dataclass(frozen=True, slots=True)
class SourceToMake:
    folder: DataFolder
    source: Input
    sha256: str
    kind: SourceKind
    options: ReadOptions
    size_bytes: int
    place: tuple[int, int]


@dataclass(slots=True)
class SourceMade:
    """What was written of a source; ``message`` is why not all could be read, ``failed`` why nothing could."""

    games: int = 0
    plies: int = 0
    undated: int = 0
    parts: list[Part] = field(default_factory=list)
    report: SourceReport = field(default_factory=SourceReport)
    message: str | None = None
    failed: str | None = None
    internal: bool = False  # an error of this program is why


def make_source(task: SourceToMake, progress: Progress) -> SourceMade:
    """Nothing else is changed, and doing it again gives the same files."""
    from exporters.dataset_parts import write_dataset
    from storage import ArchiveStore

    if task.source.error is not None:
        return SourceMade(failed=task.source.error)
    hashed = Fingerprint(task.sha256, task.size_bytes, b"", {}, None)
    plan = Plan(task.source, hashed, task.kind, task.options.of(task.source))
    progress = of_several(progress, *task.place)
    with (
        TemporaryDirectory(prefix="ics-recorder-") as folder,
        ArchiveStore.open(str(Path(folder, "source.sqlite")), create=True, read_only=False) as archive,
    ):
        try:
            outcome = Outcome(task.source.name, ImportStatus.NEW)
            with archive.transaction():
                report = store(archive, plan.facts(), plan.reading(progress), outcome, keep=False).report
                if values := task.options.stated():
                    archive.corrections.edit_source(task.sha256, values, {})
        except StorageError:
            raise
        except Exception as error:  # the other sources are still converted
            return SourceMade(failed=why_failed(error, task.source.name), internal=is_internal(error))
        written = write_dataset(archive, _ALL, task.folder, task.sha256, stem_of(task.sha256))
    return SourceMade(*written, report, failures_sentence(report, task.source.name))


@dataclass(slots=True)
class _Plan:
    """A source that is to be made; ``done``: its record is written, or it has failed."""

    source: Input
    options: ReadOptions
    outcome: Outcome
    place: tuple[int, int]
    done: bool = False


class Making:
    """Makes the sources of one run; ``outcomes`` are of all sources, in their order."""

    def __init__(
        self,
        folder: DataFolder,
        options: ReadOptions,
        records: dict[str, SourceRecord],
        run: Run,
        progress: Progress,
        on_file: Callable[[Outcome], object],
    ) -> None:
        self._folder = folder
        self._options = options
        self._records = records
        self._run = run
        self._progress = progress
        self._broken: set[str] = set()
        self._plans: list[_Plan] = []
        self._parts: list[tuple[_Plan, Outcome]] = []
        self._earlier = {sha256: set(record.earlier) for sha256, record in records.items()}
        self.outcomes: list[Outcome] = []
        self._on_file = on_file
        self._unreported: deque[tuple[Outcome, _Plan | None]] = deque()
        self.incomplete = False  # a process died, or this program had an error: a source is not there

    def plan(self, sources: Sequence[Input]) -> bool:
        """Find what is to be made of sources; return whether anything is to be changed."""
        files = self._folder.files() if self._records else {}
        self._broken = {
            sha256
            for sha256, record in self._records.items()
            if why_broken(self._folder.name, record, files) is not None
        }
        looks = [
            SourceToFind(source, self._options, DOUBLINGS, (number, len(sources)))
            for number, source in enumerate(sources, 1)
        ]
        self.outcomes = self._find(looks)
        logs = {one.sha256: one for one in self.outcomes if one.status == ImportStatus.LOG and one.sha256 is not None}
        look_of = {outcome.sha256: look for look, outcome in zip(looks, self.outcomes, strict=True)}

        def look_again(sizes: dict[str, list[int]]) -> list[Outcome]:
            return self._find([replace(look_of[sha256], marks=some) for sha256, some in sizes.items()])

        for sha256, parts in find_earlier(logs, self._records, look_again).items():
            self._earlier.setdefault(sha256, set()).update(parts)
        wholes = find_wholes(self._earlier, logs, self._records)
        seen: set[str] = set()
        for number, (source, outcome) in enumerate(zip(sources, self.outcomes, strict=True), 1):
            plan = self._plan(source, outcome, (number, len(sources)), seen)
            whole = wholes.get(outcome.sha256 or "")
            if whole is not None:
                outcome.status, outcome.part_of = ImportStatus.KNOWN, whole.name
            if plan is not None and whole is not None:
                self._parts.append((plan, whole))
            elif plan is not None:
                self._plans.append(plan)
            self._unreported.append((outcome, plan))
        planned = {id(plan.outcome) for plan in self._plans}
        for plan, whole in self._parts:
            plan.done = id(whole) not in planned
        self._report()
        replaced = self._records.keys() & {part for parts in self._earlier.values() for part in parts}
        unnoted = any(record.earlier != sorted(self._earlier[sha256]) for sha256, record in self._records.items())
        return bool(self._plans or replaced or unnoted)

    def _find(self, looks: Sequence[SourceToFind]) -> list[Outcome]:
        found = []
        for look, future in zip(looks, self._run(find_source, looks, self._progress), strict=True):
            source = look.source
            try:
                found.append(future.result())
            except WorkerDiedError as error:
                self.incomplete = True
                found.append(Outcome(source.name, ImportStatus.FAILED, _died(source, error), named=source.named))
        return found

    def make(self) -> None:
        """Make sources; what an earlier run has left of them is removed before."""
        left = part_names(self._folder.files())
        self._make(self._plans, left)
        alone = [plan for plan, whole in self._parts if whole.status == ImportStatus.FAILED]
        for plan in alone:
            plan.outcome.status, plan.outcome.part_of = ImportStatus.NEW, None
        self._make(alone, left)
        self._report()
        for record in read_records(self._folder):
            earlier = self._earlier.get(record.source, set())
            if record.earlier != sorted(earlier):
                write_record(self._folder, replace(record, earlier=sorted(earlier)))
            for sha256 in earlier & self._records.keys():
                remove_source(self._folder, sha256, left.get(stem_of(sha256), []))

    def _report(self) -> None:
        """Report sources that are done, up to the first that is not."""
        while self._unreported:
            outcome, plan = self._unreported[0]
            if plan is not None and not plan.done:
                return
            self._unreported.popleft()
            self._on_file(outcome)

    def _plan(self, source: Input, outcome: Outcome, place: tuple[int, int], seen: set[str]) -> _Plan | None:
        """What is to be made of a source; None: nothing. ``seen``: hashes of the sources before it."""
        if outcome.status != ImportStatus.LOG or outcome.sha256 is None:
            return None
        options = self._options.of(source)
        known = self._records.get(outcome.sha256)
        current = known is not None and known.source not in self._broken and _is_current(known, options)
        if outcome.sha256 in seen or current:
            outcome.status = ImportStatus.KNOWN
            return None
        seen.add(outcome.sha256)
        parts = [self._records[part] for part in self._earlier.get(outcome.sha256, ()) if part in self._records]
        before = known or max(parts, key=lambda record: record.size_bytes, default=None)
        again = ImportStatus.GROWN if known is None else ImportStatus.REPLACED
        outcome.status = ImportStatus.NEW if before is None else again
        if before is not None:
            options = options.over(ReadOptions.from_json(before.options, options.timing))
        return _Plan(source, options, outcome, place)

    def _make(self, plans: Sequence[_Plan], left: dict[str, list[str]]) -> None:
        """Have sources made, in their order; ``left``: files that are there, as ``part_names`` gives them."""
        tasks = []
        for plan in plans:
            outcome, sha256 = plan.outcome, plan.outcome.sha256 or ""
            remove_source(self._folder, sha256, left.get(stem_of(sha256), []))
            kind = SourceKind(outcome.kind)
            tasks.append(
                SourceToMake(self._folder, plan.source, sha256, kind, plan.options, outcome.size_bytes, plan.place)
            )
        for plan, future in zip(plans, self._run(make_source, tasks, self._progress), strict=True):
            try:
                made = future.result()
            except WorkerDiedError as error:
                self.incomplete = True
                made = SourceMade(failed=_died(plan.source, error))
            self.incomplete = self.incomplete or made.internal
            if made.failed is not None:
                plan.outcome.status, plan.outcome.message = ImportStatus.FAILED, made.failed
            else:
                self._finish(plan, made)
            plan.done = True
            self._report()

    def _finish(self, plan: _Plan, made: SourceMade) -> None:
        outcome, sha256 = plan.outcome, plan.outcome.sha256 or ""
        outcome.games, outcome.plies, outcome.undated = made.games, made.plies, made.undated
        outcome.message, outcome.report = outcome.message or made.message, made.report
        record = SourceRecord(
            sha256,
            plan.source.name,
            outcome.size_bytes,
            outcome.kind or "",
            outcome.games,
            outcome.plies,
            len(made.report.anomalies),
            outcome.message,
            plan.options.to_json(),
            parser_version=PARSER_VERSION,
            doublings=doublings_of(outcome.marks),
            earlier=sorted(self._earlier.get(sha256, ())),
            parts=made.parts,
        )
        write_record(self._folder, record)
        for part, whole in self._parts:
            part.done = part.done or whole is outcome


def _is_current(known: SourceRecord, options: ReadOptions) -> bool:
    """Whether a source that is there was read as it would be read now."""
    given = {name: value for name, value in options.to_json().items() if value is not None}
    made_by = (known.program, known.parser_version, known.schema)
    current = made_by == (version("ics-recorder"), PARSER_VERSION, DATASET_SCHEMA)
    return current and known.options | given == known.options


def _died(source: Input, error: WorkerDiedError) -> str:
    return f"{source.name}: the process that read it {error}; nothing of it is in the data set. Use --update to add it."
