"""A large raw log read in pieces by several processes, and stored as one source.

Each piece has a reader of its own. One that begins in the middle of a session knows less than one that comes from the
beginning: games are open, and earlier lines have shown who plays. But soon all that the two know is the same, as far as
it matters for later lines. So each reader reads on beyond the end of its piece, and both note at the same places what
they know. From the first place on at which they agree, and no game is open that began before the border, the games are
those of the later reader. Where two do not agree, both pieces are read again by one reader. If that does not help, the
rest of the log is read by one process, from the beginning of the last piece.
"""

from __future__ import annotations

import tempfile
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from contextlib import ExitStack
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final, NamedTuple

from recorder.archive.inputs import clean_blocks
from recorder.archive.log_readers import (
    LogPiece,
    PieceRead,
    Place,
    Reach,
    State,
    blocks_of,
    guessed_state,
    joined_state,
    read_piece,
)
from recorder.archive.spool import SpoolWriter, read_spool
from recorder.archive.workers import TASKS_AHEAD, Workers, look_until_done
from recorder.model import Anomaly, SourceKind, SourceReport
from recorder.pipeline import Pipeline
from recorder.tracking.assemble import add_titles

if TYPE_CHECKING:
    from recorder.archive.storing import Outcome, SourceReading
    from storage import SourceWriter

__all__ = ["LOG_PIECE_BYTES", "LogPieces", "Prefix"]

LOG_PIECE_BYTES: Final = 16 << 20
"""About how long a piece is."""


_REACH: Final = Reach()
_GUESS_STEPS: Final = 4


class _Read(NamedTuple):
    """A piece whose games are, from a place on, those of a reader of all lines.

    Attributes:
        begin: this place, in the head; None: the log begins with the piece.
    """

    piece: LogPiece
    found: PieceRead
    begin: Place | None


class Prefix(NamedTuple):
    """A log as far as it was read in pieces: the games in them are stored, and one process reads the rest.

    Attributes:
        kept_bytes: so many bytes of the log are kept, also behind the pieces.
        state: with which reading goes on, at its ``begin``; None: at the beginning of the log.
        restart: as ``Pipeline.restart``, where the pieces end.
        games_again, anomalies_again: what is found again first.
        anomalies, unredacted: what was found.
    """

    kept_bytes: int
    state: State | None = None
    restart: tuple[int, State] = (0, {})
    games_again: int = 0
    anomalies_again: Sequence[Anomaly] = ()
    anomalies: Sequence[Anomaly] = ()
    unredacted: int = 0

    def restart_behind(self, pipeline: Pipeline) -> tuple[int, State]:
        """As ``Pipeline.restart``, of the pipeline that has read the rest."""
        return pipeline.restart() if self.state is None else pipeline.restart_here() or self.restart

    def whole_report(self, rest: SourceReport) -> SourceReport:
        """What was found in the log, by the report of the pipeline that has read the rest."""
        again = Counter(self.anomalies_again)
        found = [*self.anomalies, *(one for one in rest.anomalies if not again[one] or again.subtract([one]))]
        return replace(rest, anomalies=sorted(found, key=lambda one: one.offset), anomalies_from=0)


class LogPieces:
    """Reads one raw log in pieces, from its beginning, as far as the readers of the pieces agree.

    Args:
        workers: the processes. folder: for pieces and spools.
        reading: of the log. writer: of the source. outcome: the games are counted in it.
    """

    def __init__(
        self,
        workers: Workers,
        folder: Path,
        reading: SourceReading,
        writer: SourceWriter | SpoolWriter,
        outcome: Outcome,
    ) -> None:
        self._workers = workers
        self._folder = folder
        self._reading = reading
        self._writer = writer
        self._outcome = outcome
        self._files = 0
        self._kept_bytes = 0
        self._submitted: deque[tuple[LogPiece, Future[PieceRead]]] = deque()
        self._guess: State = {}  # what the readers of later pieces are taken to know
        # What a reader of all lines knows where what is stored ends:
        self._state: State | None = None
        self._anomalies: tuple[list[Anomaly], ...] = ([], [])
        self._unredacted = 0
        self._read_bytes: list[int] = []

    def read(self) -> Prefix:
        """Read the log and store its games.

        Returns:
            How far it was read.
        Raises:
            WorkerDiedError: a process died. SourceError: the file has changed.
        """
        with tempfile.TemporaryDirectory(dir=self._folder, ignore_cleanup_errors=True) as folder:
            self._folder = Path(folder)  # pieces that are not wanted any more may still be read
            last = self._read_pieces()
            if last is None:
                return Prefix(self._kept_bytes)
            return self._with_last(last) or self._before_last(last)

    def _with_last(self, last: _Read) -> Prefix | None:
        """Store the last piece of the log. None: it cannot be used up to its end."""
        ended, place = last.found.ended, last.found.tail[-1]
        if ended is None or not place.state:
            return None
        before, state = self._state_after(last, place.state), self._state_after(last, ended)
        if before is None or state is None:
            return None
        self._store(last, None)
        size_bytes = self._reading.seen.size
        self._show(size_bytes)
        tracker = {**state["tracker"], "mark": size_bytes}
        state = {**state, "from": size_bytes, "begin": size_bytes, "tracker": tracker}
        return self._prefix(state, (place.offset, before))

    def _before_last(self, last: _Read) -> Prefix:
        """Have this piece and all behind it read by one process."""
        if last.begin is None or self._state is None or last.piece.state is None:
            return Prefix(self._kept_bytes)
        known = self._state_after(last, last.piece.state)
        again = zip(last.found.anomalies, last.begin.anomalies, strict=True)
        prefix = self._prefix(known, (last.begin.offset, self._state))
        return prefix._replace(
            games_again=last.begin.games, anomalies_again=[one for found, count in again for one in found[:count]]
        )

    def _prefix(self, state: State | None, restart: tuple[int, State]) -> Prefix:
        anomalies = [one for found in self._anomalies for one in found]
        return Prefix(self._kept_bytes, state, restart, anomalies=anomalies, unredacted=self._unredacted)

    def _read_pieces(self) -> _Read | None:
        """Read pieces and store their games for as long as readers agree.

        Returns:
            The last one, not stored yet; None: there is none.
        """
        last: _Read | None = None
        joined = False  # this border and the one before it are inside a piece
        for piece, found in self._reads():
            if last is None:
                last = _Read(piece, found, None)
            elif (agreed := self._agreement(last, found)) is not None:
                end, begin, state = agreed
                self._store(last, end)
                self._state = state
                last, joined = _Read(piece, found, begin), False
            elif joined or (both := self._read_both(last.piece, piece)) is None:
                break  # perhaps there is a game that never ends
            else:
                last, joined = last._replace(piece=both[0], found=both[1]), True
        for _, waiting in self._submitted:
            waiting.cancel()
        return last

    def _reads(self) -> Iterator[tuple[LogPiece, PieceRead]]:
        """Have the pieces read, some ahead.

        Yields:
            Each in its turn, up to the first that cannot be used: an error of this program occurred in it, or there is
            no space in the temporary folder, which one process does not need.
        Raises:
            WorkerDiedError: a process died. SourceError: the file has changed.
        """
        pieces = self._pieces()
        while True:
            try:
                ahead = TASKS_AHEAD * self._workers.jobs + 1 - len(self._submitted)
                self._submitted += map(self._submit, islice(pieces, max(ahead, 0)))
                if not self._submitted:
                    return
                piece, future = self._submitted.popleft()
                found = self._result(future)
            except OSError:
                return
            if found.failed:
                return
            yield piece, found

    def _submit(self, piece: LogPiece) -> tuple[LogPiece, Future[PieceRead]]:
        self._files += 1
        piece = replace(piece, spool=self._folder / f"piece-{self._files}.spool")
        return piece, self._workers.submit(read_piece, piece, said=self._read_bytes.append)

    def _result(self, future: Future[PieceRead]) -> PieceRead:
        """Wait for a piece, and show how much was read, up to about where one process may read on alone."""
        size_bytes = self._reading.seen.size
        look_until_done(future, lambda: self._show(min(sum(self._read_bytes), size_bytes - _REACH.bytes)))
        return future.result()

    def _show(self, done: int) -> None:
        if self._reading.progress is not None:
            self._reading.progress(self._reading.source.name, done, self._reading.seen.size)

    def _read_both(self, one: LogPiece, other: LogPiece) -> tuple[LogPiece, PieceRead] | None:
        """Have two pieces read by one reader. The next ones begin with what it knows of the session at its end.

        Returns:
            None: they cannot be used.
        """
        both, future = self._submit(replace(one, paths=one.paths + other.paths, then=other.then, end=other.end))
        try:
            found = self._result(future)
        except OSError:
            return None
        self._guess = found.tail[-1].state or self._guess
        for number, (piece, waiting) in enumerate(self._submitted):
            state = guessed_state(piece.offset, self._guess)
            if state != piece.state:
                waiting.cancel()
                self._submitted[number] = self._submit(replace(piece, state=state))
        return None if found.failed else (both, found)

    def _agreement(self, last: _Read, found: PieceRead) -> tuple[Place, Place, State] | None:
        """Where the reader of the next piece knows the same.

        Returns:
            The place in the tail of the last piece, the same place in the head of the next one, and what a reader of
            all lines knows there. None: they do not agree.
        """
        for end, begin in zip(last.found.tail, found.head, strict=False):
            if end.digest is not None and end.digest == begin.digest:
                state = self._state_after(last, end.state)
                if state is None or joined_state(state, begin.state, begin.state) is None:
                    return None
                return end, begin, state
        return None

    def _state_after(self, read: _Read, now: State) -> State | None:
        """What a reader of all lines knows where the reader of a piece knows this; None: it cannot be said."""
        if read.begin is None or self._state is None:
            return now
        return joined_state(self._state, read.begin.state, now)

    def _store(self, read: _Read, end: Place | None) -> None:
        """Store what was found in a piece up to a place in its tail; None: up to the end of the log."""
        skipped, since = (0, (0, 0)) if read.begin is None else (read.begin.games, read.begin.anomalies)
        titles = {} if self._state is None else self._state["tracker"]["titles"]
        at = 0
        for _, (games,) in read_spool(read.piece.spool):
            first, at = at, at + len(games)
            some = games[max(skipped - first, 0) : None if end is None else max(end.games - first, 0)]
            for game in some:
                add_titles(game, titles)
            self._writer.add_games(some)
            self._outcome.count(some)
        for path in (read.piece.spool, *read.piece.paths):
            path.unlink()
        until = (None, None) if end is None else end.anomalies
        for kind, found in enumerate(read.found.anomalies):
            self._anomalies[kind].extend(found[since[kind] : until[kind]])
        self._unredacted += read.found.unredacted

    def _pieces(self) -> Iterator[LogPiece]:
        """Cut the log into pieces; its bytes are kept on the way.

        Raises:
            SourceError: the file has changed. OSError: there is no space in the temporary folder.
        """
        waiting: tuple[Path, int, int] | None = None

        def piece(then: Path | None) -> LogPiece:
            assert waiting is not None
            path, offset, end = waiting
            state = guessed_state(offset, self._guess) if offset else None
            return LogPiece((path,), then, offset, end, state, self._reading.options, _REACH, path)

        for path, offset, end in self._cut():
            if not offset and not self._learn(path):
                return
            if waiting is not None:
                yield piece(path)
            waiting = path, offset, end
        if waiting is not None:
            yield piece(None)

    def _learn(self, path: Path) -> bool:
        """Learn what the first lines of a log show of its session.

        Returns:
            False: it can only be read as a whole.
        """
        pipeline = self._reading.options.pipeline(SourceKind.RAW)
        assert isinstance(pipeline, Pipeline)
        for number, block in enumerate(blocks_of((path,), _REACH), 1):
            pipeline.receive(block)
            if number >= _GUESS_STEPS and (place := pipeline.restart_here()) is not None:
                self._guess = place[1]
                return True
        return False

    def _cut(self) -> Iterator[tuple[Path, int, int]]:
        """Write the lines of each piece to a file, secrets and forgotten handles replaced.

        Yields:
            The file, the place of its first byte, and that behind its last one.
        Raises:
            SourceError: the log has changed. OSError: there is no space.
        """
        size_bytes = self._reading.seen.size
        piece_bytes = max(_REACH.bytes, min(LOG_PIECE_BYTES, size_bytes // self._workers.jobs))
        # Pieces of one length: behind a short one at the end no reader would agree.
        piece_bytes = size_bytes // max(size_bytes // piece_bytes, 1) + _REACH.step_bytes
        begin = end = 0
        with ExitStack() as files:
            out = files.enter_context(self._next_file())
            for clean in self._clean():
                while end - begin + len(clean) > piece_bytes:
                    lines = clean.rfind(b"\n", 0, max(piece_bytes - (end - begin), 0)) + 1 or clean.find(b"\n") + 1
                    if not lines:
                        break
                    out.write(clean[:lines])
                    files.close()
                    end += lines
                    yield Path(out.name), begin, end
                    out, begin, clean = files.enter_context(self._next_file()), end, clean[lines:]
                out.write(clean)
                end += len(clean)
        if end > begin:
            yield Path(out.name), begin, end

    def _next_file(self) -> IO[bytes]:
        self._files += 1
        return (self._folder / f"piece-{self._files}.raw").open("wb")

    def _clean(self) -> Iterator[bytes]:
        """The bytes of the log, secrets and forgotten handles replaced; they are kept on the way.

        Raises:
            SourceError: the log has changed.
        """
        reading = self._reading
        for clean in clean_blocks(reading.source, SourceKind.RAW, reading.options, reading.seen.size, None):
            self._writer.keep(clean)
            self._kept_bytes += len(clean)
            yield clean
