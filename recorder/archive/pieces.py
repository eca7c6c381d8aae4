"""A large PGN file read in pieces by several processes, and stored as one source.

A piece ends where a result, a blank line and a tag ``Event`` seem to divide two games. Whether they do is decided by
the reader of the piece, which comes to the place with all before it: a comment may contain such lines, too. Another
reader can begin there exactly if this one says so, with which no game is open. If
it does not, the file is read whole.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from recorder.archive.inputs import Input, ReadOptions, clean_blocks
from recorder.archive.spool import Spool, SpoolWriter, take_over
from recorder.archive.storing import Outcome, SourceReading, writing_source
from recorder.archive.workers import TASKS_AHEAD, Channel, Workers, look_until_done
from recorder.errors import SourceError
from recorder.model import SourceKind, SourceReport
from recorder.sources import HEAD_BYTES, detect, read_blocks

if TYPE_CHECKING:
    from recorder.model import Game
    from recorder.progress import Progress
    from storage import SourceWriter

__all__ = ["PIECE_BYTES", "NoBorderError", "Pieces", "cut_file", "joined_report", "pieces_of"]

PIECE_BYTES: Final = 4 << 20
"""About how long a piece is."""
_DIVIDED_BYTES: Final = 2 * PIECE_BYTES
_MOST_BYTES: Final = 8 * PIECE_BYTES
"""Where no border is found in so many bytes, there may be none for a long time."""
_BLOCK_BYTES: Final = 1 << 18
_BEGINS: Final = b'\n[Event "'
_RESULTS: Final = (b"1-0", b"0-1", b"1/2-1/2")
"""Behind which a game ends. Not ``*``: this program ends a part with it that the next one continues."""
_BETWEEN_BYTES: Final = 32
"""At most so many are a result and the empty lines between two games; in the games of ficsgames.org there are two."""


class NoBorderError(Exception):
    """A file cannot be read in the pieces that it was cut into, so it has to be read as a whole."""


@dataclass(frozen=True, slots=True)
class _Piece:
    """Bytes of a file for one process.

    Attributes:
        data: secrets and forgotten handles are replaced. offset: of their first byte. last: the file ends with them.
        options: how it is read. spool: gets the games.
    """

    data: bytes
    offset: int
    last: bool
    options: ReadOptions
    spool: Path


@dataclass(slots=True)
class _PieceRead:
    """What a process read of a piece; its games are in the spool.

    Attributes:
        counts: of the games. report: of these bytes alone. unredacted: as ``SavedPipeline.unredacted``.
        read_up_to: as of ``Pipeline``, before the end.
    """

    counts: Outcome
    report: SourceReport
    unredacted: int
    read_up_to: int


def _read_piece(piece: _Piece, channel: Channel) -> _PieceRead | None:
    """Read a piece, and say how many bytes of it were read; runs in a process of its own.

    Returns:
        None: no game ends with the piece, or something was found in it that is reported for a file as a whole.
    """
    pipeline = piece.options.piece_pipeline(piece.offset)
    counts = Outcome("", "new")
    with Spool(piece.spool).write_source(keep=False) as writer:

        def take(games: list[Game]) -> None:
            writer.add_games(games)
            counts.count(games)

        for at in range(0, len(piece.data), _BLOCK_BYTES):
            block = piece.data[at : at + _BLOCK_BYTES]
            take(pipeline.receive(block))
            channel.say(len(block))
        read_up_to = pipeline.read_up_to
        if not piece.last and read_up_to != piece.offset + len(piece.data):
            return None
        take(pipeline.finish())
    if pipeline.report.warnings or pipeline.report.failures:
        return None
    return _PieceRead(counts, pipeline.report, pipeline.unredacted, read_up_to)


class Pieces:
    """Reads PGN files in pieces.

    Args:
        workers: the processes. folder: for spools.
    """

    def __init__(self, workers: Workers, folder: Path) -> None:
        self._workers = workers
        self._folder = folder
        self._spools = 0

    def store(self, reading: SourceReading, outcome: Outcome) -> bool:
        """Read a file and store it, in one transaction.

        Args:
            reading: of a file of any kind. outcome: the games are counted in it.
        Returns:
            False: nothing is stored, because the file cannot be read in pieces.
        Raises:
            WorkerDiedError: a process died; nothing is stored.
            SourceError: the file was truncated while being read.
        """
        if reading.kind is not SourceKind.PGN or reading.before is not None or reading.on_games or reading.followed:
            return False
        try:
            with writing_source(reading) as writer:
                found = self._read(reading, writer)
                if reading.keep and found.unredacted:
                    writer.keep_nothing()
                writer.read_up_to(found.read_up_to, None)
                writer.finish(found.report)
        except (NoBorderError, OSError):  # no space in the temporary folder, which one process does not need
            return False
        outcome.games, outcome.plies, outcome.undated = found.counts.games, found.counts.plies, found.counts.undated
        outcome.report, outcome.read_up_to = found.report, found.read_up_to
        return True

    def _read(self, reading: SourceReading, writer: SourceWriter | SpoolWriter) -> _PieceRead:
        """Have a file read piece by piece; return what was found in all of it."""
        submitted: deque[tuple[_Piece, Future[_PieceRead | None]]] = deque()
        read_bytes: list[int] = []
        whole: _PieceRead | None = None

        def show() -> None:
            if reading.progress is not None:
                reading.progress(reading.source.name, sum(read_bytes), reading.seen.size)

        for piece in self._cut(reading, writer):
            submitted.append((piece, self._workers.submit(_read_piece, piece, said=read_bytes.append)))
            while len(submitted) > (0 if piece.last else TASKS_AHEAD * self._workers.jobs):
                done, future = submitted.popleft()
                look_until_done(future, show)
                whole = _take_over(writer, whole, done, future)
        assert whole is not None
        return whole

    def _cut(self, reading: SourceReading, writer: SourceWriter | SpoolWriter) -> Iterator[_Piece]:
        """Keep the bytes of a file and cut them into pieces."""
        size_bytes = reading.seen.size
        pieces = cut_file(reading.source, reading.options, size_bytes, PIECE_BYTES, None, on_clean=writer.keep)
        for data, offset, last in pieces:
            yield self._piece(reading, data, offset, last=last)

    def _piece(self, reading: SourceReading, data: bytes, offset: int, *, last: bool) -> _Piece:
        self._spools += 1
        return _Piece(data, offset, last, reading.options, self._folder / f"piece-{self._spools}.spool")


def cut_file(
    source: Input,
    options: ReadOptions,
    size_bytes: int,
    piece_bytes: int,
    progress: Progress | None,
    *,
    on_clean: Callable[[bytes], object] = lambda clean: None,
) -> Iterator[tuple[bytes, int, bool]]:
    """Cut a PGN file where games seem to end.

    Args:
        source: the file. options: how it is read.
        size_bytes: of the file, decompressed. piece_bytes: about how long a piece is.
        progress: called after each block. on_clean: called with all bytes, secrets and forgotten handles replaced.
    Yields:
        The bytes of each piece, the place where it begins, and whether it is the last one.
    Raises:
        NoBorderError: no game seems to end for a long time. SourceError: the file has changed.
    """
    blocks: list[bytes] = []
    offset = size = 0
    for clean in clean_blocks(source, SourceKind.PGN, options, size_bytes, progress):
        on_clean(clean)
        blocks.append(clean)
        size += len(clean)
        if size >= piece_bytes:
            data = b"".join(blocks)
            end = _last_border(data)
            if end:
                yield data[:end], offset, False
                offset += end
            elif size > _MOST_BYTES:
                raise NoBorderError
            blocks, size = [data[end:]], size - end
    yield b"".join(blocks), offset, True


def pieces_of(source: Input, options: ReadOptions) -> int:
    """In about how many pieces a file will be read.

    Args:
        source: the file. options: how it is read.
    Returns:
        0: it is too small, cannot be read, or is no PGN as far as its beginning shows.
    """
    size = source.size_bytes
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
    return size // PIECE_BYTES if kind is SourceKind.PGN else 0


def _last_border(data: bytes) -> int:
    """Where the last game of the bytes seems to begin; 0: nowhere."""
    at = len(data)
    while (at := data.rfind(_BEGINS, 0, at)) >= 0:
        between = data[max(at - _BETWEEN_BYTES, 0) : at + 1]
        ended = between.rstrip(b"\r\n")
        if ended.endswith(_RESULTS) and between.count(b"\n", len(ended)) > 1:
            return at + 1
    return 0


def _take_over(
    writer: SourceWriter | SpoolWriter, before: _PieceRead | None, piece: _Piece, future: Future[_PieceRead | None]
) -> _PieceRead:
    """Wait for a piece and store its games.

    Args:
        before: what was found in all pieces before; None: this is the first.
        future: of ``_read_piece``.
    Returns:
        What was found in this piece and all before it.
    Raises:
        NoBorderError: the piece cannot be read by itself.
    """
    read = future.result()
    if read is None:
        raise NoBorderError
    take_over(piece.spool, writer)
    if before is None:
        return read
    counts = replace(
        before.counts,
        games=before.counts.games + read.counts.games,
        plies=before.counts.plies + read.counts.plies,
        undated=before.counts.undated + read.counts.undated,
    )
    report = joined_report(before.report, read.report)
    return _PieceRead(counts, report, before.unredacted + read.unredacted, read.read_up_to)


def joined_report(before: SourceReport, after: SourceReport) -> SourceReport:
    """What was found in a piece of a file and all pieces before it."""
    return replace(
        after,
        line_count=before.line_count + after.line_count,
        anomalies=[*before.anomalies, *after.anomalies],
    )
