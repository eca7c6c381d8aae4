"""Logs of an import read in several processes, ahead of the one that stores them.

A process reads a log, or a piece of a PGN file, into a file of its parts, and returns what it found. Whether the log is
new is decided when its turn comes: a log that is not, or that is to be read otherwise, is read again. So the archive is
the same, however many processes there are.

A piece ends where a result, a blank line and a tag ``Event`` seem to divide two games. Whether they do is decided by
the reader of the piece, which comes to the place with all before it: a comment may contain such lines, too. Another
reader can begin there exactly if no game is open at the place. If one is, the file is read whole.
"""

from __future__ import annotations

import copyreg
import pickle
import tempfile
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from recorder.archive.care.erasing import forgotten_in
from recorder.archive.reading.importing import (
    Found,
    Import,
    NoBorderError,
    Part,
    Plan,
    ReadBefore,
    SourceReading,
    kind_of,
)
from recorder.archive.reading.inputs import Input, ReadOptions, clean_blocks, fingerprint, was_exported
from recorder.archive.reading.workers import TASKS_AHEAD, Channel, Workers, jobs_for, look_until_done, of_batches
from recorder.errors import SourceError
from recorder.model import SourceKind
from recorder.model.plies import PlyLine
from recorder.progress import of_several
from recorder.sources import HEAD_BYTES, detect, read_blocks
from storage import is_database
from storage.write.chunks import ChunkCutter

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
    """Write all that a reading gives to a file.

    Args:
        keep: whether the source's bytes are wanted.
    Returns:
        What was found.
    """
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
    """How logs are read in another process.

    Attributes:
        sizes: at which the hash so far is wanted. known: hashes of sources with which nothing new begins.
        folder: for files of parts. count: of all logs.
    """

    options: ReadOptions
    sizes: list[int]
    known: frozenset[str]
    keep: bool
    folder: Path
    count: int


def _read_log(task: _Task, log: tuple[int, Input], channel: Channel) -> ReadBefore | None:
    """Read a log, if it is new; runs in a process of its own.

    Args:
        log: with its number, from 1.
    Returns:
        None: it cannot be read here. Perhaps there is no space in the temporary folder, so that is decided in its turn.
    """
    number, source = log
    try:
        seen = fingerprint(source, task.sizes)
        kind = kind_of(seen, task.options)
        if kind is None or not task.known.isdisjoint({seen.sha256, *seen.marks.values()}):
            return ReadBefore(seen)
        if was_exported(source, seen.head, kind):
            return ReadBefore(seen)
        plan = Plan(source, seen, kind, task.options.of(source))
        progress = of_several(channel.progress, number, task.count)
        path = task.folder / f"{number}.parts"
        found = write_parts(path, plan.reading(progress), keep=task.keep and kind is not SourceKind.JOURNAL)
        return ReadBefore(seen, kind, plan.options, ReadParts(path, found))
    except Exception:
        return None


class ReadingAhead:
    """The logs of an import on their way through several processes.

    Args:
        importing: takes them. sources: all files of the import. numbers: of those that are read ahead, from 1.
    """

    def __init__(
        self,
        workers: Workers,
        folder: Path,
        importing: Import,
        sources: Sequence[Input],
        numbers: Sequence[int],
        progress: Progress,
    ) -> None:
        options = replace(importing.options, forgotten=forgotten_in(importing.archive))

        def task() -> _Task:
            sizes, known = importing.known_sizes(), importing.known()
            return _Task(options, sizes, known, importing.keep, folder, len(sources))

        logs = [(number, sources[number - 1]) for number in numbers]
        sizes = [source.size_bytes for _, source in logs]
        self._numbers = frozenset(numbers)
        self._read = of_batches(workers, _read_log, task, logs, sizes, progress)

    def take(self, number: int) -> ReadBefore | None:
        """Wait until the log of this number was read; its turn has come.

        Returns:
            None: it must be read here.
        Raises:
            WorkerDiedError: the process died while reading it.
        """
        if number not in self._numbers:
            return None
        read = next(self._read)
        if isinstance(read, Exception):
            raise read
        return read


@dataclass(frozen=True, slots=True)
class _Piece:
    """Bytes of a PGN file for one process: ``data``, ``offset`` and ``last`` as ``_cut_file`` gives them."""

    data: bytes
    offset: int
    last: bool
    options: ReadOptions
    path: Path


class _PieceReading:
    """Reads a piece of a PGN file. It is a ``SourceReading`` of these bytes alone.

    Args:
        piece: of the file. on_bytes: called with the number of bytes that were read.
    Raises:
        NoBorderError: while it is read: no game ends with the piece, or something was found in it that is reported for
            a file as a whole.
    """

    found: Found

    def __init__(self, piece: _Piece, on_bytes: Callable[[int], object]) -> None:
        self._piece = piece
        self._on_bytes = on_bytes

    def __iter__(self) -> Iterator[Part]:
        data, offset = self._piece.data, self._piece.offset
        pipeline = self._piece.options.piece_pipeline(offset)
        for at in range(0, len(data), _BLOCK_BYTES):
            block = data[at : at + _BLOCK_BYTES]
            yield Part(block, pipeline.receive(block))
            self._on_bytes(len(block))
        read_up_to = pipeline.read_up_to
        if not self._piece.last and read_up_to != offset + len(data):
            raise NoBorderError
        yield Part(b"", pipeline.finish())
        report = pipeline.report
        if report.warnings or report.failures:
            raise NoBorderError
        self.found = Found(report, read_up_to, pipeline.unredacted)


def _is_divided(plan: Plan) -> bool:
    """Whether a file is read in pieces."""
    return plan.kind is SourceKind.PGN and plan.before is None and plan.seen.size >= _DIVIDED_BYTES


def _cut_file(source: Input, options: ReadOptions, size_bytes: int) -> Iterator[tuple[bytes, int, bool]]:
    """Cut a PGN file where games seem to end.

    Args:
        source: the file. options: how it is read.
        size_bytes: of the file, decompressed.
    Yields:
        The bytes of each piece, secrets and forgotten handles replaced, the place where it begins, and whether it is
        the last one.
    Raises:
        NoBorderError: no game seems to end for a long time. SourceError: the file has changed.
    """
    blocks: list[bytes] = []
    offset = size = 0
    for clean in clean_blocks(source, SourceKind.PGN, options, size_bytes, None):
        blocks.append(clean)
        size += len(clean)
        if size >= _PIECE_BYTES:
            data = b"".join(blocks)
            end = _last_border(data)
            if end:
                yield data[:end], offset, False
                offset += end
            elif size > _MOST_BYTES:
                raise NoBorderError
            blocks, size = [data[end:]], size - end
    yield b"".join(blocks), offset, True


def _pieces_of(source: Input, options: ReadOptions) -> int:
    """In about how many pieces a file will be read.

    Args:
        source: the file. options: how it is read.
    Returns:
        0: it is too small, cannot be read, or is no PGN as far as its beginning shows.
    """
    size = source.size_bytes if source.error is None else 0
    if size < _DIVIDED_BYTES:
        return 0
    kind = options.kind
    if kind is None:
        head = b""
        try:
            with closing(read_blocks(source.path)) as blocks:
                for block in blocks:
                    head += block
                    if len(head) >= HEAD_BYTES:
                        break
        except SourceError:
            return 0
        kind = detect(head[:HEAD_BYTES])
    return size // _PIECE_BYTES if kind is SourceKind.PGN else 0


def _last_border(data: bytes) -> int:
    """Where the last game of the bytes seems to begin; 0: nowhere."""
    at = len(data)
    while (at := data.rfind(_BEGINS, 0, at)) >= 0:
        between = data[max(at - _BETWEEN_BYTES, 0) : at + 1]
        ended = between.rstrip(b"\r\n")
        if ended.endswith(_RESULTS) and between.count(b"\n", len(ended)) > 1:
            return at + 1
    return 0


def _read_piece(piece: _Piece, channel: Channel) -> Found | None:
    """Read a piece, and say how many bytes of it were read; runs in a process of its own.

    Returns:
        None: it must be read with the rest of the file.
    """
    try:
        return write_parts(piece.path, _PieceReading(piece, channel.say), keep=False)
    except (NoBorderError, OSError):  # no space in the temporary folder, which one process does not need
        return None


class DividedReading:
    """Reads a PGN file in pieces, in several processes. It is a ``SourceReading``.

    Args:
        plan: how it is read. folder: for files of parts.
    Raises:
        NoBorderError: while it is read: it must be read as a whole.
    """

    found: Found

    def __init__(self, workers: Workers, folder: Path, plan: Plan, progress: Progress) -> None:
        self._workers = workers
        self._folder = folder
        self._plan = plan
        self._progress = progress

    def __iter__(self) -> Iterator[Part]:
        source, seen, options = self._plan.source, self._plan.seen, self._plan.options
        submitted: deque[tuple[Path, Future[Found | None]]] = deque()
        read_bytes: list[int] = []
        whole: Found | None = None

        def show() -> None:
            self._progress(source.name, sum(read_bytes), seen.size)

        for data, offset, last in _cut_file(source, options, seen.size):
            yield Part(data, [])
            path = self._folder / f"{offset}.piece"
            piece = _Piece(data, offset, last, options, path)
            submitted.append((path, self._workers.submit(_read_piece, piece, said=read_bytes.append)))
            while len(submitted) > (0 if last else TASKS_AHEAD * self._workers.jobs):
                path, future = submitted.popleft()
                look_until_done(future, show)
                found = future.result()
                if found is None:
                    raise NoBorderError
                yield from ReadParts(path, found)
                whole = found if whole is None else _joined(whole, found)
        assert whole is not None
        self.found = whole


def _joined(before: Found, after: Found) -> Found:
    """What was found in a piece of a file and all pieces before it."""
    report = replace(
        after.report,
        line_count=before.report.line_count + after.report.line_count,
        anomalies=[*before.report.anomalies, *after.report.anomalies],
    )
    return replace(after, report=report, unredacted=before.unredacted + after.unredacted)


def _divided(workers: Workers, folder: Path, plan: Plan, progress: Progress) -> SourceReading | None:
    """The reading of a large new PGN file."""
    return DividedReading(workers, folder, plan, progress) if _is_divided(plan) else None


@contextmanager
def read_ahead(
    importing: Import, sources: Sequence[Input], *, jobs: int | None, progress: Progress
) -> Iterator[ReadingAhead | None]:
    """Read the logs of an import in several processes, for as long as the block.

    Args:
        importing: takes them. sources: all files, in their order. jobs: how many processes; None: one for each core.
        progress: called while a log is waited for.
    Yields:
        None: there is too little for several processes.
    """
    pieces = {number: _pieces_of(source, importing.options) for number, source in enumerate(sources, 1)}
    numbers = [
        number
        for number, source in enumerate(sources, 1)
        if not pieces[number] and source.error is None and not (source.named and is_database(source.path))
    ]
    sizes = [sources[number - 1].size_bytes for number in numbers]
    processes = jobs_for([*sizes, *[_PIECE_BYTES] * sum(pieces.values())], jobs)
    if processes < 2:
        yield None
        return
    with tempfile.TemporaryDirectory(prefix="ics-recorder-import-") as folder, Workers(processes) as workers:
        importing.opened = partial(_divided, workers, Path(folder))
        yield ReadingAhead(workers, Path(folder), importing, sources, numbers, progress)
