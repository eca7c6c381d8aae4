"""Logs of an import read in several processes, ahead of the one that stores them.

Each process writes down what it would store of a log (``spool.py``), and that is stored in the order in which the logs
were named. Whether a log is new is decided when its turn comes: a log that is not, or
that was to be read otherwise, is read again there. So the archive is the same, however many processes there are.
"""

from __future__ import annotations

import tempfile
from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import CancelledError, Future
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Final

from recorder.archive.erasing import forgotten_in
from recorder.archive.importing import kind_of, try_storing
from recorder.archive.inputs import Fingerprint, Input, ReadOptions, fingerprint, timing_of, was_exported
from recorder.archive.pieces import PIECE_BYTES, Pieces, pieces_of
from recorder.archive.spool import Spool
from recorder.archive.storing import Outcome, SourceReading
from recorder.archive.workers import Channel, Workers, batches, jobs_for, look_until_done
from recorder.errors import SourceError
from storage import ArchiveStore, is_database

if TYPE_CHECKING:
    from recorder.progress import Progress
    from recorder.sources import SourceKind

__all__ = ["ReadAhead", "ReadingAhead", "reading_ahead"]

_BATCHES_AHEAD: Final = 2
_HEAD_BYTES: Final = 4096


@dataclass(frozen=True, slots=True)
class ReadAhead:
    """What another process found out about a log.

    Attributes:
        seen: its fingerprint.
        kind, options: as what and how it was read. spool: what to store of it. outcome: what became of it.
            All are None if it was not read, since it is not new.
    """

    seen: Fingerprint
    kind: SourceKind | None = None
    options: ReadOptions | None = None
    spool: Path | None = None
    outcome: Outcome | None = None


@dataclass(frozen=True, slots=True)
class _Batch:
    """Logs for one process.

    Attributes:
        logs: each with its number in the import. sizes: at which the hash so far is wanted. folder: for spools.
    """

    logs: list[tuple[int, Input]]
    sizes: list[int]
    keep: bool
    folder: Path


@dataclass(frozen=True, slots=True)
class _Step:
    """How far a process is with a log: ``done`` of ``total`` bytes."""

    number: int
    done: int
    total: int | None


class _Steps:
    """Progress with a log, said to the process that waits for it."""

    def __init__(self, channel: Channel, number: int) -> None:
        self._channel = channel
        self._number = number

    def __call__(self, name: str, done: int, total: int | None) -> None:
        self._channel.say(_Step(self._number, done, total))


def _read_batch(batch: _Batch, channel: Channel) -> None:
    """Read logs; runs in a process of its own."""
    for number, source in batch.logs:
        try:
            seen = fingerprint(source, batch.sizes)
        except SourceError:
            channel.say((number, None))  # is reported when its turn comes
            continue
        plan = channel.ask((number, replace(seen, running=None)))
        if plan is None:
            continue
        kind, options = plan
        outcome = Outcome(source.name, "new", seen.damage, kind.value, seen.sha256, seen.size, named=source.named)
        step = _Steps(channel, number)
        reading = SourceReading(
            Spool(_spool(batch.folder, number)), source, seen, kind, options, None, batch.keep, step, False, None
        )
        ended = try_storing(reading, outcome) or outcome
        # What fails here need not fail in its turn: perhaps there is no space in the temporary folder.
        channel.say((number, None if ended.status == "failed" else ended))


class ReadingAhead:
    """The logs of an import on their way through several processes.

    Args:
        workers: the processes. folder: for spools.
        archive: into which they are read. sources: all files of the import, in their order.
        groups: those that other processes read as a whole, with their numbers.
        options: how they are read. keep: whether their bytes are kept.
    Attributes:
        pieces: reads others in pieces.
    """

    def __init__(
        self,
        workers: Workers,
        folder: Path,
        archive: ArchiveStore,
        sources: Sequence[Input],
        groups: list[list[tuple[int, Input]]],
        options: ReadOptions,
        *,
        keep: bool,
    ) -> None:
        self._workers = workers
        self._folder = folder
        self._keep = keep
        self._archive = archive
        self._options = replace(options, forgotten=forgotten_in(archive))
        self._known = archive.growth_candidates()
        self._gone = [(row.size_bytes, row.sha256) for row in archive.erasures.forgotten_sources()]
        self._lock = Lock()
        self._hashes = {sha256 for _, sha256 in (*self._known, *self._gone)}
        self._heads: list[tuple[int, bytes]] = []
        self._steps: dict[int, _Step] = {}
        self._plans: dict[int, ReadAhead] = {}
        self._sources = sources
        self._batches = groups
        self.pieces = Pieces(workers, folder)
        self._futures: dict[int, Future[ReadAhead | None]] = {
            number: Future() for batch in self._batches for number, _ in batch
        }
        self._place = {number: at for at, batch in enumerate(self._batches) for number, _ in batch}
        self._submitted = 0

    def take(self, number: int, progress: Progress) -> ReadAhead | None:
        """Wait until a log was read.

        Args:
            number: of the log among the files of the import. progress: called while it is waited for.
        Returns:
            None: it must be read when its turn comes: no process has read it, or it may continue another log of this
            import, whose hash its fingerprint has not.
        Raises:
            WorkerDiedError: the process died while reading it.
        """
        read = self._wait(number, progress) if number in self._futures else None
        if read is None or self._may_continue(read.seen):
            return None
        known = [size for size, sha256 in self._archive.growth_candidates() if sha256 not in self._hashes]
        if not (sizes := [size for size in known if size <= read.seen.size]):
            return read
        try:  # other programs have stored logs since
            found = fingerprint(self._sources[number], sizes)
        except SourceError:
            return None
        return replace(read, seen=replace(read.seen, marks=read.seen.marks | found.marks))

    def _may_continue(self, seen: Fingerprint) -> bool:
        with self._lock:
            return any(size < seen.size and seen.head.startswith(head) for size, head in self._heads)

    def _wait(self, number: int, progress: Progress) -> ReadAhead | None:
        """Wait until a process has read a log, and report its progress.

        Returns:
            What it found; None: the process ended without reading this log.
        Raises:
            WorkerDiedError: the process died while it read this log. Any exception that the reading raised.
        """
        future = self._futures[number]
        while self._submitted < len(self._batches) and self._submitted <= self._place[number] + self._ahead:
            self._submit(self._submitted)
            self._submitted += 1

        def show() -> None:
            if (step := self._steps.get(number)) is not None:
                progress(self._sources[number].name, step.done, step.total)

        look_until_done(future, show)
        return future.result()

    def done(self, number: int) -> None:
        """Forget a log that is stored."""
        self._steps.pop(number, None)
        _spool(self._folder, number).unlink(missing_ok=True)

    @property
    def _ahead(self) -> int:
        return _BATCHES_AHEAD * self._workers.jobs

    def _submit(self, at: int) -> None:
        """Have a process read batch number ``at``."""
        logs = self._batches[at]
        sizes = sorted({size for size, _ in (*self._known, *self._gone)})
        batch = _Batch(logs, sizes, self._keep, self._folder)
        future = self._workers.submit(_read_batch, batch, said=self._said, asked=self._asked)
        future.add_done_callback(partial(self._ended, logs))

    def _asked(self, question: tuple[int, Fingerprint]) -> tuple[SourceKind, ReadOptions] | None:
        """As what and how a log is read; None: it is not new, or seems so."""
        number, seen = question
        source = self._sources[number]
        kind = kind_of(seen, self._options)
        marked = any(seen.marks.get(size) == sha256 for size, sha256 in (*self._known, *self._gone))
        with self._lock:
            wanted = kind is not None and not marked and seen.sha256 not in self._hashes
            self._hashes.add(seen.sha256)
            self._heads.append((seen.size, seen.head[:_HEAD_BYTES]))
        if kind is None or not wanted or was_exported(source, seen.head, kind):
            self._futures[number].set_result(ReadAhead(seen))
            return None
        options = replace(self._options, timing=timing_of(source))
        self._plans[number] = ReadAhead(seen, kind, options)
        return kind, options

    def _said(self, message: _Step | tuple[int, Outcome | None]) -> None:
        """Take a message of a process.

        Args:
            message: progress, or the number of a log and its outcome (None: it was not read).
        """
        if isinstance(message, _Step):
            self._steps[message.number] = message
            return
        number, outcome = message
        read = (
            None
            if outcome is None
            else replace(self._plans[number], spool=_spool(self._folder, number), outcome=outcome)
        )
        self._futures[number].set_result(read)

    def _ended(self, logs: list[tuple[int, Input]], done: Future[None]) -> None:
        """A process is done with a batch, or died: the log that it was reading is named, the others are read again."""
        error = CancelledError() if done.cancelled() else done.exception()
        for number, _ in logs:
            future = self._futures[number]
            if not future.done():
                if error is None:
                    future.set_result(None)
                else:
                    future.set_exception(error)
                    error = None


def _spool(folder: Path, number: int) -> Path:
    """Where a process writes down what is to be stored of log number ``number``."""
    return folder / f"{number}.spool"


def _batches(sources: Sequence[Input], divided: Collection[int]) -> list[list[tuple[int, Input]]]:
    """The logs that other processes read, with their numbers among all files, in groups for one process each.

    Args:
        sources: all files. divided: numbers of those that are read in pieces.
    """
    logs = [
        (number, source)
        for number, source in enumerate(sources)
        if number not in divided and source.error is None and not (source.named and is_database(source.path))
    ]
    return [[logs[place] for place in group] for group in batches([source.size_bytes for _, source in logs])]


@contextmanager
def reading_ahead(
    archive: ArchiveStore, sources: Sequence[Input], options: ReadOptions, *, keep: bool, jobs: int | None
) -> Iterator[ReadingAhead | None]:
    """Read the logs of an import in several processes, for as long as the block.

    Args:
        archive: into which they are read. sources: all files of the import, in their order.
        options: how they are read. keep: whether their bytes are kept.
        jobs: how many processes; None: one for each core.
    Yields:
        None: there is too little for several processes.
    """
    pieces = {number: pieces_of(source, options) for number, source in enumerate(sources) if source.error is None}
    groups = _batches(sources, {number for number, count in pieces.items() if count})
    sizes = [sum(source.size_bytes for _, source in group) for group in groups]
    processes = jobs_for([*sizes, *[PIECE_BYTES] * sum(pieces.values())], jobs)
    if processes < 2:
        yield None
        return
    with tempfile.TemporaryDirectory(prefix="ics-recorder-import-") as folder, Workers(processes) as workers:
        yield ReadingAhead(workers, Path(folder), archive, sources, groups, options, keep=keep)
