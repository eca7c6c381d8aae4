"""A large raw log read in pieces by several processes, and stored as one source.

A reader that begins in the middle of a session knows less than one that comes from its beginning: games are open, and
earlier lines have shown who plays. But soon all that the two know is the same, as far as it matters for later lines. So
each piece is read beyond its end, and the next one is begun where the reader of the piece before says that no game is
open any more that began before the border, and both readers say with the state from which a grown log is continued
(``Pipeline.restart``) that they know the same. Where they do not agree, reading goes on from the first one's state.
"""

from __future__ import annotations

import tempfile
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final, NamedTuple

from recorder.archive.inputs import ReadOptions, clean_blocks
from recorder.archive.log_states import State, can_be_joined, digest_of, guessed_state, joined_state
from recorder.archive.spool import Spool, SpoolWriter, read_spool
from recorder.archive.workers import TASKS_AHEAD, Channel, Workers, look_until_done
from recorder.model import Anomaly, SourceKind
from recorder.pipeline import Pipeline
from recorder.tracking.assemble import add_titles

if TYPE_CHECKING:
    from recorder.archive.storing import Outcome, SourceReading
    from storage import SourceWriter

__all__ = ["LOG_PIECE_BYTES", "LogPieces", "Prefix"]

LOG_PIECE_BYTES: Final = 16 << 20
"""About how long a piece is."""


class _Reach(NamedTuple):
    """How far a piece is read beyond its end, and the next one looked at.

    Attributes:
        step_bytes: between two places at which readers are compared.
        most_steps: in a session of 32 boards 20 to 45 are needed.
        steps_after: that first one at which no game is open that began before the border.
    """

    step_bytes: int = 64 << 10
    most_steps: int = 64
    steps_after: int = 4

    @property
    def bytes(self) -> int:
        """How far that is at most."""
        return self.step_bytes * self.most_steps


_REACH: Final = _Reach()
_GUESS_STEPS: Final = 4
_MOST_ALONE: Final = 2


@dataclass(frozen=True, slots=True)
class _Piece:
    """Lines of a log for one process.

    Attributes:
        path: of its bytes, secrets and forgotten handles replaced. then: of those of the next piece; None: it is the
            last one.
        offset: of the first byte. end: behind the last one.
        state: what the reader knows. guessed: it does not come from the lines before.
    """

    path: Path
    then: Path | None
    offset: int
    end: int
    state: State | None
    guessed: bool
    options: ReadOptions
    reach: _Reach

    @property
    def spool(self) -> Path:
        """For the games."""
        return self.path.with_suffix(".spool")


class _Place(NamedTuple):
    """What a reader knows at a place that is between two lines, or before a line that is not complete.

    Attributes:
        digest: of all that matters for later lines; None: no reader can agree.
        games: how many have ended. offset, state: as ``Pipeline.restart``; no state: a list is open.
    """

    digest: bytes | None
    games: int
    offset: int
    state: State


@dataclass(slots=True)
class _PieceRead:
    """What a process read of a piece; the games are in the spool.

    Attributes:
        head: places behind the first steps, if the piece was begun with a guess.
        tail: places beyond the end, or that at the end of the log.
        failed: an error of this program occurred.
    """

    head: list[_Place] = field(default_factory=list)
    tail: list[_Place] = field(default_factory=list)
    anomalies: list[Anomaly] = field(default_factory=list)
    unredacted: int = 0
    failed: bool = False


class _Read(NamedTuple):
    """A piece that was read as one reader of all lines would have read it.

    Attributes:
        begin: from this place on, in the head; None: from the first line.
        end: the last place from which reading can go on.
    """

    piece: _Piece
    found: _PieceRead
    begin: _Place | None
    end: _Place


class Prefix(NamedTuple):
    """A log as far as it was read in pieces; its games are stored.

    Attributes:
        state: with which reading goes on, as of ``Pipeline.restart``. kept_bytes: what is kept of the log.
        games_again: so many games are found again first.
        anomalies, unredacted: what was found.
    """

    state: State | None
    kept_bytes: int
    games_again: int
    anomalies: list[Anomaly]
    unredacted: int


def _read_piece(piece: _Piece, channel: Channel) -> _PieceRead:
    """Read a piece, and say how many bytes of it were read; runs in a process of its own."""
    found = _PieceRead()
    pipeline = piece.options.pipeline(SourceKind.RAW, resume=piece.state, offset=piece.offset)
    assert isinstance(pipeline, Pipeline)
    games = 0
    with Spool(piece.spool).write_source(keep=False) as writer:

        def read(block: bytes) -> None:
            nonlocal games
            ended = pipeline.receive(block)
            writer.add_games(ended)
            games += len(ended)

        for number, block in enumerate(_blocks(piece.path, piece.reach)):
            read(block)
            channel.say(len(block))
            if piece.guessed and number < piece.reach.most_steps:
                found.head.append(_place(pipeline, games, 0))
        settled = 0
        for block in islice(_blocks(piece.then, piece.reach), piece.reach.most_steps) if piece.then else ():
            read(block)
            found.tail.append(_place(pipeline, games, piece.end))
            settled += found.tail[-1].offset >= piece.end
            if settled > piece.reach.steps_after:
                break
        if piece.then is None:
            found.tail.append(_place(pipeline, games, 0))
    report = pipeline.report
    found.anomalies, found.unredacted = report.anomalies, pipeline.unredacted
    found.failed = bool(report.failures)
    return found


def _blocks(path: Path, reach: _Reach) -> Iterator[bytes]:
    with path.open("rb") as file:
        while block := file.read(reach.step_bytes):
            yield block


def _place(pipeline: Pipeline, games: int, least: int) -> _Place:
    """Where a reader is; ``least``: with a game that began before it no reader can agree."""
    place = pipeline.restart_here()
    if place is None:
        return _Place(None, games, 0, {})
    digest = None if place[0] < least else digest_of(*place, pipeline.passing_state())
    return _Place(digest, games, *place)


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
        self._parent = self._folder = folder
        self._reading = reading
        self._writer = writer
        self._outcome = outcome
        self._made = 0
        self._kept_bytes = 0
        self._state: State | None = None
        self._anomalies: list[Anomaly] = []
        self._unredacted = 0
        self._games_again = 0
        self._agreed = 0
        self._read_bytes: list[int] = []

    def read(self) -> Prefix:
        """Read the log and store its games.

        Returns:
            How far it was read. What follows is read by one process: at least the games in progress at the end.
        Raises:
            WorkerDiedError: a process died. SourceError: the file has changed.
        """
        alone = 0  # how often readers did not agree at the first border
        while alone < _MOST_ALONE:
            before, agreed = self._state, self._agreed
            with tempfile.TemporaryDirectory(dir=self._parent, ignore_cleanup_errors=True) as folder:
                self._folder = Path(folder)  # pieces that are not wanted any more may still be read
                if self._read_on() or self._state is before:
                    break
            if self._state is not None and self._reading.seen.size - self._state["begin"] < _REACH.bytes:
                break
            alone += self._agreed == agreed
        return Prefix(self._state, self._kept_bytes, self._games_again, self._anomalies, self._unredacted)

    def _read_on(self) -> bool:
        """Read as many pieces as readers agree on; return whether nothing is to be read in pieces behind them."""
        submitted: deque[tuple[_Piece, Future[_PieceRead]]] = deque()
        pieces = self._pieces()
        last: _Read | None = None
        full = False
        try:
            while True:
                try:
                    while len(submitted) <= TASKS_AHEAD * self._workers.jobs:
                        if (next_piece := next(pieces, None)) is None:
                            break
                        submitted.append(
                            (next_piece, self._workers.submit(_read_piece, next_piece, said=self._read_bytes.append))
                        )
                    if not submitted:
                        break
                    piece, future = submitted.popleft()
                    look_until_done(future, self._show_progress)
                    found = future.result()
                except OSError:  # no space in the temporary folder, which one process does not need
                    full = True
                    break
                if last is None:
                    if found.failed or (end := _end(found, 0)) is None:
                        return False
                    last = _Read(piece, found, None, end)
                    continue
                agreed = self._follow(last, piece, found)
                if agreed is None:
                    break
                following, place = agreed
                self._store(last, place)
                self._agreed += 1
                last = following
        finally:
            for _, waiting in submitted:
                waiting.cancel()
        if last is not None:
            self._store(last, last.end)
        return full or (not submitted and (last is None or last.piece.then is None))

    def _show_progress(self) -> None:
        """Show how much was read, up to about where one process reads on alone."""
        if self._reading.progress is not None:
            size_bytes = self._reading.seen.size
            self._reading.progress(
                self._reading.source.name, min(sum(self._read_bytes), size_bytes - _REACH.bytes), size_bytes
            )

    def _follow(self, last: _Read, piece: _Piece, found: _PieceRead) -> tuple[_Read, _Place] | None:
        """Go on with the next piece.

        Returns:
            What was read of it, and where it begins in the tail of the last one. None: it was begun with a guess that
            was wrong, or it cannot be used up to its end.
        """
        if found.failed:
            return None
        for one, other in zip(last.found.tail, found.head, strict=False):
            if one.digest is not None and one.digest == other.digest:
                break
        else:
            return None
        end = _end(found, one.state["tracker"]["mark"])
        if end is None:
            return None
        if not can_be_joined(self._state_after(last, one), other.state, end.state):
            return None
        return _Read(piece, found, other, end), one

    def _state_after(self, read: _Read, place: _Place) -> State:
        """The state at a place of a reader that read all lines before it."""
        if read.begin is None:
            return place.state
        assert self._state is not None
        return joined_state(self._state, read.begin.state, place.state)

    def _store(self, read: _Read, end: _Place) -> None:
        """Store the games that ended in a piece up to a place in its tail."""
        begin = read.begin
        skipped = self._games_again if begin is None else begin.games
        titles = {} if begin is None or self._state is None else self._state["tracker"]["titles"]
        at = self._games_again = 0
        for _, (games,) in read_spool(read.piece.spool):
            first, at = at, at + len(games)
            games = games[: max(end.games - first, 0)]
            self._games_again += sum(game.first_offset >= end.offset for game in games)
            some = games[max(skipped - first, 0) :]
            for game in some:
                add_titles(game, titles)
            self._writer.add_games(some)
            self._outcome.count(some)
        read.piece.spool.unlink()
        read.piece.path.unlink()
        before = 0 if self._state is None else self._state["tracker"]["mark"]
        self._state = self._state_after(read, end)
        mark = self._state["tracker"]["mark"]
        self._anomalies += [found for found in read.found.anomalies if before <= found.offset < mark]
        self._unredacted += read.found.unredacted

    def _pieces(self) -> Iterator[_Piece]:
        """Cut the log, from the place where reading goes on; its bytes are kept on the way.

        Raises:
            SourceError: the file has changed.
        """
        state, options = self._state, self._reading.options
        offset = 0 if state is None else state["begin"]
        guess: State | None = None
        waiting: tuple[Path, int, int] | None = None

        def piece(then: Path | None) -> _Piece:
            assert waiting is not None
            begins = waiting[1] == offset
            known = state if begins else guessed_state(waiting[1], guess or {})
            return _Piece(waiting[0], then, *waiting[1:], known, not begins, options, _REACH)

        for path, begin, end in self._cut(offset):
            if guess is None:
                guess = state or self._first_guess(path)
                if guess is None:
                    return
            if waiting is not None:
                yield piece(path)
            waiting = path, begin, end
        if waiting is not None:
            yield piece(None)

    def _first_guess(self, path: Path) -> State | None:
        """What the first lines of a log show of its session; None: it can only be read as a whole."""
        pipeline = self._reading.options.pipeline(SourceKind.RAW)
        assert isinstance(pipeline, Pipeline)
        for number, block in enumerate(_blocks(path, _REACH), 1):
            pipeline.receive(block)
            if number >= _GUESS_STEPS and (place := pipeline.restart_here()) is not None:
                return place[1]
        return None

    def _cut(self, offset: int) -> Iterator[tuple[Path, int, int]]:
        """Write the lines of each piece to a file, secrets and forgotten handles replaced.

        Args:
            offset: where the first piece begins.
        Yields:
            The file, the place of its first byte, and that behind its last one.
        Raises:
            SourceError: the log has changed.
        """
        size_bytes = self._reading.seen.size
        piece_bytes = max(_REACH.bytes, min(LOG_PIECE_BYTES, size_bytes // self._workers.jobs))
        # Pieces of one length: behind a short one at the end no reader would agree.
        piece_bytes = size_bytes // max(size_bytes // piece_bytes, 1) + _REACH.step_bytes
        begin = end = offset
        with ExitStack() as files:
            out = files.enter_context(self._next_file())
            for clean in self._clean(offset):
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
        self._made += 1
        return (self._folder / f"piece-{self._made}.raw").open("wb")

    def _clean(self, offset: int) -> Iterator[bytes]:
        """The bytes from a place on, secrets and forgotten handles replaced; they are kept on the way.

        Raises:
            SourceError: the log has changed.
        """
        reading, done = self._reading, offset
        for clean in clean_blocks(reading.source, SourceKind.RAW, reading.options, reading.seen.size, None, offset):
            new = clean[max(self._kept_bytes - done, 0) :]
            self._writer.keep(new)
            self._kept_bytes += len(new)
            done += len(clean)
            yield clean


def _end(found: _PieceRead, mark: int) -> _Place | None:
    """The last place from which reading can go on, no game being open that began before a mark; None: there is none."""
    usable = (place for place in reversed(found.tail) if place.state and place.offset >= mark)
    return next(usable, None)
