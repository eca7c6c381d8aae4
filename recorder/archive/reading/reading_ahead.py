"""Logs of an import read in several processes, ahead of the one that stores them.

A process reads a log, or a piece of a PGN file, into a file of its parts, and returns what it found. Whether the log is
new is decided when its turn comes: a log that is not, or that is to be read otherwise, is read again. So the archive is
the same, however many processes there are.

A piece ends where a result, a blank line and a tag ``Event`` seem to divide two games. Whether they do is decided by
the reader of the piece, which comes to the place with all before it: a comment may contain such lines, too. Another
reader can begin there exactly if no game is open at the place. If one is, this process reads on from the last border.
"""

from __future__ import annotations

import copyreg
import pickle
import tempfile
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import repeat
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from recorder.archive.reading.importing import (
    Fingerprint,
    Found,
    Import,
    Part,
    Plan,
    ReadBefore,
    ReadOptions,
    SourcePass,
    SourceReading,
    clean_blocks,
    fingerprint,
    forgotten_in,
    kind_of,
    was_exported,
)
from recorder.archive.reading.inputs import Input
from recorder.archive.reading.workers import (
    TASKS_AHEAD,
    WorkerDiedError,
    Workers,
    count_of_cores,
    in_order,
    jobs_for,
    look_until_done,
)
from recorder.model import SourceKind
from recorder.model.plies import PlyLine
from recorder.progress import no_progress, of_several
from storage import ArchiveStore, is_database
from storage.write.source import ChunkCutter

if TYPE_CHECKING:
    from concurrent.futures import Future

    from recorder.progress import Progress

_PIECE_BYTES: Final = 4 << 20
"""About how long a piece is."""
_DIVIDED_BYTES: Final = 2 * _PIECE_BYTES
_MOST_BYTES: Final = 8 * _PIECE_BYTES
"""Where no border is found in so many bytes, there may be none for a long time."""
_BLOCK_BYTES: Final = 1 << 18
_BEGINS: Final = b'\n[Event "'
_RESULTS: Final = (b"1-0", b"0-1", b"1/2-1/2")
"""Behind which a game ends. Not ``*``: this program ends a part with it that the next one continues."""
_BETWEEN_BYTES: Final = 32
"""At most so many are a result and the empty lines between two games; in the games of ficsgames.org there are two."""


def _without_names(line: PlyLine) -> tuple[type[PlyLine], tuple[Any, ...]]:
    """How a line is pickled: plies as plain tuples take a quarter of the time."""
    return PlyLine, (line.number, line.kind, line.parent, line.parent_ply, [tuple(row) for row in line.rows])


_REDUCED: Final = {**copyreg.dispatch_table, PlyLine: _without_names}


def write_parts(path: Path, reading: SourceReading, *, keep: bool) -> Found:
    """Write all that a reading gives to a file; ``keep``: the source's bytes are wanted."""
    cutter = ChunkCutter()
    with path.open("wb") as file:

        def write(part: Part) -> None:
            if part.games or part.chunks:
                pickler = pickle.Pickler(file, pickle.HIGHEST_PROTOCOL)
                pickler.dispatch_table = _REDUCED
                pickler.dump(part)

        for clean, games, _ in reading:
            write(Part(b"", games, list(cutter.receive(clean)) if keep else ()))
        write(Part(b"", [], list(cutter.finish()) if keep else ()))
    return reading.found


@dataclass(slots=True)
class ReadParts:
    """Gives what another process has written with ``write_parts``, and removes the file. It is a ``SourceReading``."""

    path: Path
    found: Found

    def __iter__(self) -> Iterator[Part]:
        with self.path.open("rb") as file:
            while True:
                try:
                    yield pickle.load(file)
                except EOFError:
                    break
        self.path.unlink()


@dataclass(frozen=True, slots=True)
class _Task:
    """For which archive logs are read in another process; PGN files of ``divided_bytes`` are not read."""

    archive: Path
    options: ReadOptions
    keep: bool
    folder: Path
    count: int
    divided_bytes: int


def _read_log(task: tuple[_Task, int, Input], progress: Progress) -> ReadBefore | None:
    """None: it cannot be read here, perhaps for lack of temporary space, so that is decided in its turn."""
    how, number, source = task
    try:
        with ArchiveStore.open(str(how.archive), read_only=True) as archive:
            beginnings = Import(archive, how.options).beginnings()
        hashed = fingerprint(source, [size for size, _ in beginnings])
        kind, result = kind_of(hashed, how.options), ReadBefore(replace(hashed, held=None))
        imported = not {hashed.sha256, *hashed.marks.values()}.isdisjoint(sha256 for _, sha256 in beginnings)
        if (
            kind is None
            or imported
            or was_exported(source, hashed.head, kind)
            or _is_divided(kind, hashed, how.divided_bytes)
        ):
            return result
        plan = Plan(source, hashed, kind, how.options.of(source))
        progress = of_several(progress, number, how.count)
        path = how.folder / f"{number}.parts"
        read = write_parts(path, plan.reading(progress), keep=how.keep and kind is not SourceKind.JOURNAL)
        return ReadBefore(result.hashed, kind, plan.options, ReadParts(path, read))
    except Exception:  # the importer reads it itself, and states why it fails
        return None


@dataclass(frozen=True, slots=True)
class _Piece:
    data: bytes
    offset: int
    last: bool
    options: ReadOptions
    path: Path


def _read_piece(piece: _Piece, progress: Progress) -> Found | None:
    """None: no game ends with it, or it has what is reported of a file as a whole, so it is read with what follows."""

    def blocks() -> Iterator[bytes]:
        for offset in range(0, len(piece.data), _BLOCK_BYTES):
            block = piece.data[offset : offset + _BLOCK_BYTES]
            yield block
            progress("", offset + len(block), len(piece.data))

    reading = SourcePass(blocks(), piece.options.pipeline(SourceKind.PGN, offset=piece.offset))
    try:
        found = write_parts(piece.path, reading, keep=False)
    except OSError:  # no space in the temporary folder, which one process does not need
        return None
    ended = piece.last or found.read_up_to == piece.offset + len(piece.data)
    return found if ended and not (found.report.warnings or found.report.failures) else None


def _is_divided(kind: SourceKind, hashed: Fingerprint, least_bytes: int) -> bool:
    return kind is SourceKind.PGN and hashed.size >= least_bytes


def _cut(blocks: Iterator[bytes]) -> Iterator[tuple[bytes, int, bool]]:
    """Cut a PGN file where games seem to end, or anywhere where none does for a long time; yield also the offset."""
    waiting: list[bytes] = []
    offset = size = 0
    for block in blocks:
        waiting.append(block)
        size += len(block)
        if size >= _PIECE_BYTES:
            data = b"".join(waiting)
            end = _last_border(data) or (size if size > _MOST_BYTES else 0)
            if end:
                yield data[:end], offset, False
                offset += end
            waiting, size = [data[end:]], size - end
    yield b"".join(waiting), offset, True


def _last_border(data: bytes) -> int:
    """Where the last game of the bytes seems to begin; 0: nowhere."""
    offset = len(data)
    while (offset := data.rfind(_BEGINS, 0, offset)) >= 0:
        between = data[max(offset - _BETWEEN_BYTES, 0) : offset + 1]
        ended = between.rstrip(b"\r\n")
        if ended.endswith(_RESULTS) and between.count(b"\n", len(ended)) > 1:
            return offset + 1
    return 0


class DividedReading:
    """Reads a PGN file in pieces, in several processes, as far as each ends with a game. It is a ``SourceReading``."""

    found: Found

    def __init__(self, workers: Workers, folder: Path, plan: Plan, progress: Progress) -> None:
        self._workers = workers
        self._folder = folder
        self._plan = plan
        self._progress = progress

    def __iter__(self) -> Iterator[Part]:
        source, hashed, options = self._plan.source, self._plan.hashed, self._plan.options
        pieces = _cut(clean_blocks(source, hashed, SourceKind.PGN, options, no_progress))
        submitted: deque[tuple[_Piece, Future[Found | None]]] = deque()
        read_bytes: dict[int, int] = {}  # of each piece, by its offset
        whole: Found | None = None

        def note(offset: int, _name: str, done: int, _total: int | None) -> None:
            read_bytes[offset] = done

        def show() -> None:
            self._progress(source.name, sum(read_bytes.values()), hashed.size)

        for data, offset, last in pieces:
            piece = _Piece(data, offset, last, options, self._folder / f"{offset}.piece")
            read_bytes[offset] = 0  # another thread only changes it
            submitted.append((piece, self._workers.submit(_read_piece, piece, partial(note, offset))))
            while len(submitted) > (0 if last else TASKS_AHEAD * self._workers.jobs):
                piece, future = submitted[0]
                look_until_done(future, show)
                found = future.result()
                if found is None:  # read on in this process
                    reading = SourcePass(
                        self._rest([waiting for waiting, _ in submitted], pieces),
                        options.pipeline(SourceKind.PGN, offset=piece.offset),
                    )
                    yield from reading
                    found = reading.found
                    submitted.clear()
                else:
                    submitted.popleft()
                    yield Part(piece.data, [])
                    yield from ReadParts(piece.path, found)
                whole = found if whole is None else _joined(whole, found)
        assert whole is not None
        self.found = whole

    def _rest(self, waiting: list[_Piece], pieces: Iterator[tuple[bytes, int, bool]]) -> Iterator[bytes]:
        """The pieces that were given but not read, and those that follow."""
        for piece in waiting:
            yield piece.data
        for data, offset, _ in pieces:
            yield data
            self._progress(self._plan.source.name, offset + len(data), self._plan.hashed.size)


def _joined(before: Found, after: Found) -> Found:
    report = replace(
        after.report,
        line_count=before.report.line_count + after.report.line_count,
        anomalies=[*before.report.anomalies, *after.report.anomalies],
    )
    return replace(after, report=report, unredacted=before.unredacted or after.unredacted)


@contextmanager
def read_ahead(
    importing: Import, sources: Sequence[Input], *, jobs: int | None, progress: Progress
) -> Iterator[Iterator[ReadBefore | WorkerDiedError | None]]:
    """Yield for each file in its turn what a process found out about it, or that it died; None: nothing."""
    processes = jobs or count_of_cores()
    if processes < 2:
        yield repeat(None)
        return
    with tempfile.TemporaryDirectory(prefix="ics-recorder-import-") as folder, Workers(processes) as workers:

        def opened(plan: Plan, progress: Progress) -> SourceReading:
            if plan.before is None and _is_divided(plan.kind, plan.hashed, _DIVIDED_BYTES):
                return DividedReading(workers, Path(folder), plan, progress)
            return plan.reading(progress)

        importing.opened = opened
        yield _read_logs(workers, Path(folder), importing, sources, progress)


def _read_logs(
    workers: Workers, folder: Path, importing: Import, sources: Sequence[Input], progress: Progress
) -> Iterator[ReadBefore | WorkerDiedError | None]:
    logs = [
        (number, source)
        for number, source in enumerate(sources, 1)
        if source.error is None and not (source.named and is_database(source.path))
    ]
    sizes = [source.size_bytes for _, source in logs]
    if jobs_for(sizes, workers.jobs) < 2:
        yield from repeat(None)
    archive = importing.archive
    options = replace(importing.options, forgotten=forgotten_in(archive))
    how = _Task(archive.path, options, importing.keep, folder, len(sources), _DIVIDED_BYTES)
    read = in_order(workers, _read_log, ((how, *log) for log in logs), progress)
    numbers = {number for number, _ in logs}
    for number in range(1, len(sources) + 1):
        try:
            yield next(read)() if number in numbers else None
        except WorkerDiedError as error:
            yield error
