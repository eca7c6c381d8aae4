"""Making the sources of a data set: which of them, by which processes, and their records.

A source is read twice. The first pass finds its hash, by which it is known. The second writes its files; of a large PGN
file in pieces, each by a process of its own. When all pieces are written the record is: until then the source is not
there, and the next run removes what a run that was ended has left of it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from typing import TYPE_CHECKING, Final, Protocol, TypeVar

from recorder.archive.dataset_growth import DOUBLINGS, doublings_of, find_earlier, find_wholes
from recorder.archive.dataset_pieces import (
    Piece,
    PieceMade,
    Reporting,
    SourceToFind,
    find_source,
    make_piece,
    rename_doubles,
)
from recorder.archive.inputs import Input, ReadOptions, timing_of
from recorder.archive.pieces import NoBorderError, cut_file, joined_report, pieces_of
from recorder.archive.storing import Outcome
from recorder.archive.workers import WorkerDiedError
from recorder.errors import SourceError
from recorder.model import SourceKind
from recorder.pipeline import PARSER_VERSION
from recorder.progress import of_several
from storage.dataset.folder import DataFolder
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

if TYPE_CHECKING:
    from recorder.progress import Progress

__all__ = ["Making", "Run"]

_PIECE_BYTES: Final = 8 << 20

_Task = TypeVar("_Task")
_Result = TypeVar("_Result")


class Run(Protocol):
    """Has a function called for several tasks, as ``workers.in_order`` does in other processes."""

    def __call__(
        self, function: Callable[[_Task, Reporting], _Result], tasks: Iterable[_Task], progress: Progress
    ) -> Iterator[Future[_Result]]:
        """Call the function.

        Args:
            function: of a module. Gets a task, which can be pickled.
            tasks: each is made a little before its turn.
            progress: called while a task is waited for.
        Yields:
            What became of each task, in their order; ``WorkerDiedError`` if its process died.
        """


@dataclass(slots=True)
class _Plan:
    """A source that is to be made.

    Attributes:
        outcome: of it, filled in when it is done. place: as in ``Piece``. divided: it is read in pieces.
        undivided: it must be read again as one, because its pieces do not end where games do.
        done: its record is written, or it has failed.
        made: its pieces so far.
    """

    source: Input
    options: ReadOptions
    outcome: Outcome
    place: tuple[int, int]
    divided: bool
    undivided: bool = False
    done: bool = False
    made: list[PieceMade] = field(default_factory=list)

    @property
    def ended(self) -> bool:
        """Whether no more of its pieces are wanted."""
        return self.undivided or self.outcome.status == "failed"


class Making:
    """Makes the sources of one run.

    Args:
        folder: of the data set. options: how sources are read. records: of the sources in it, by hash.
        run: has tasks done. progress: called while that is waited for. on_file: called after each source.
    Attributes:
        outcomes: of all sources, in their order.
        incomplete: a source is not there because a process that read it died, or because of an error of this program.
    """

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
        self.incomplete = False

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
        logs = {one.sha256: one for one in self.outcomes if one.status == "log" and one.sha256 is not None}
        look_of = {one.sha256: look for look, one in zip(looks, self.outcomes, strict=True)}

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
                outcome.status, outcome.part_of = "known", whole.name
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
        """The hashes of sources."""
        found = []
        for look, future in zip(looks, self._run(find_source, looks, self._progress), strict=True):
            source = look.source
            try:
                found.append(future.result())
            except WorkerDiedError as error:
                self.incomplete = True
                found.append(Outcome(source.name, "failed", _died(source, error), named=source.named))
        return found

    def make(self) -> None:
        """Make sources; what an earlier run has left of them is removed before."""
        left = part_names(self._folder.files())
        self._make_all(self._plans, left)
        alone = [plan for plan, whole in self._parts if whole.status == "failed"]
        for plan in alone:
            plan.outcome.status, plan.outcome.part_of = "new", None
        self._make_all(alone, left)
        self._report()
        for record in read_records(self._folder):
            earlier = self._earlier.get(record.source, set())
            if record.earlier != sorted(earlier):
                write_record(self._folder, replace(record, earlier=sorted(earlier)))
            for sha256 in earlier & self._records.keys():
                remove_source(self._folder, sha256, left.get(stem_of(sha256), []))

    def _make_all(self, plans: Sequence[_Plan], left: dict[str, list[str]]) -> None:
        """Make sources, those that cannot be divided as one; ``left``: as for ``_remove``."""
        for plan in plans:
            self._remove(plan, left)
        self._make(plans)
        again = [plan for plan in plans if plan.undivided]
        left = part_names(self._folder.files()) if again else {}
        for plan in again:
            self._remove(plan, left)
            plan.divided = plan.undivided = False
            plan.made.clear()
        self._make(again)

    def _report(self) -> None:
        """Report sources that are done, up to the first that is not."""
        while self._unreported:
            outcome, plan = self._unreported[0]
            if plan is not None and not plan.done:
                return
            self._unreported.popleft()
            self._on_file(outcome)

    def _remove(self, plan: _Plan, names: dict[str, list[str]]) -> None:
        """Remove the files of a source; ``names``: as ``part_names`` gives them."""
        sha256 = plan.outcome.sha256 or ""
        remove_source(self._folder, sha256, names.get(stem_of(sha256), []))

    def _plan(self, source: Input, outcome: Outcome, place: tuple[int, int], seen: set[str]) -> _Plan | None:
        """What is to be made of a source; None: nothing. ``seen``: hashes of the sources before it."""
        if outcome.status != "log" or outcome.sha256 is None:
            return None
        options = replace(self._options, timing=timing_of(source))
        known = self._records.get(outcome.sha256)
        current = known is not None and known.source not in self._broken and _is_current(known, options)
        if outcome.sha256 in seen or current:
            outcome.status = "known"
            return None
        seen.add(outcome.sha256)
        parts = [self._records[part] for part in self._earlier.get(outcome.sha256, ()) if part in self._records]
        before = known or max(parts, key=lambda record: record.size_bytes, default=None)
        outcome.status = "new" if before is None else "grown" if known is None else "replaced"
        if before is not None:
            options = options.over(ReadOptions.from_json(before.options, options.timing))
        divided = pieces_of(source, options) > 0
        return _Plan(source, options, outcome, place, divided)

    def _make(self, plans: Sequence[_Plan]) -> None:
        """Have sources made, in their order."""
        sent: deque[tuple[_Plan, bool]] = deque()
        for future in self._run(make_piece, self._pieces(plans, sent), self._progress):
            self._report()
            plan, last = sent.popleft()
            if plan.ended:
                continue
            try:
                made = future.result()
            except WorkerDiedError as error:
                self.incomplete = True
                _fail(plan, _died(plan.source, error))
                continue
            if made is None:
                plan.undivided = True
            elif made.failed is not None:
                self.incomplete = self.incomplete or made.internal
                _fail(plan, made.failed)
            else:
                plan.made.append(made)
                if last:
                    self._finish(plan)
                    self._report()
        self._report()

    def _pieces(self, plans: Sequence[_Plan], sent: deque[tuple[_Plan, bool]]) -> Iterator[Piece]:
        """All pieces; ``sent`` gets the plan of each and whether it is the last one."""
        for plan in plans:
            sha256, kind = plan.outcome.sha256 or "", SourceKind(plan.outcome.kind)
            whole = Piece(
                self._folder, plan.source, sha256, kind, plan.options, plan.outcome.size_bytes, place=plan.place
            )
            if not plan.divided:
                sent.append((plan, True))
                yield whole
                continue
            progress = of_several(self._progress, *plan.place)
            try:
                cut = cut_file(plan.source, plan.options, whole.size_bytes, _PIECE_BYTES, progress)
                for number, (data, begin, last) in enumerate(cut):
                    sent.append((plan, last))
                    yield replace(whole, number=number, data=data, begin=begin, last=last)
            except NoBorderError:
                plan.undivided = True
            except SourceError as error:
                _fail(plan, str(error))

    def _finish(self, plan: _Plan) -> None:
        """Write the record of a source whose files are written."""
        outcome = plan.outcome
        rename_doubles(self._folder, plan.made)
        for made in plan.made:
            outcome.games += made.games
            outcome.plies += made.plies
            outcome.undated += made.undated
            outcome.message = outcome.message or made.message
            outcome.report = made.report if outcome.report is None else joined_report(outcome.report, made.report)
        assert outcome.report is not None
        record = SourceRecord(
            outcome.sha256 or "",
            plan.source.name,
            outcome.size_bytes,
            outcome.kind or "",
            outcome.games,
            outcome.plies,
            len(outcome.report.anomalies),
            outcome.message,
            plan.options.to_json(),
            parser_version=PARSER_VERSION,
            doublings=doublings_of(outcome.marks),
            earlier=sorted(self._earlier.get(outcome.sha256 or "", ())),
            parts=sorted(part for made in plan.made for part in made.parts),
        )
        write_record(self._folder, record)
        plan.done = True
        for part, whole in self._parts:
            part.done = part.done or whole is outcome
        plan.made.clear()


def _is_current(known: SourceRecord, options: ReadOptions) -> bool:
    """Whether a source that is there was read as it would be read now."""
    given = {name: value for name, value in options.to_json().items() if value is not None}
    made_by = (known.program, known.parser_version, known.schema)
    current = made_by == (version("ics-recorder"), PARSER_VERSION, DATASET_SCHEMA)
    return current and known.options | given == known.options


def _fail(plan: _Plan, why: str) -> None:
    plan.outcome.status, plan.outcome.message, plan.done = "failed", why, True
    plan.made.clear()


def _died(source: Input, error: WorkerDiedError) -> str:
    return f"{source.name}: the process that read it {error}; nothing of it is in the data set. Use --update to add it."
