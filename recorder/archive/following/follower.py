"""Keeping an archive up to date with one log or journal that is being written.

The strategy: what is new is read once, by a pipeline that stays, and committed at once: games that are over as an
import stores them, games that go on as they stand (``storage.write.source``). Now and then, and at the end, the
source's row records how far that was (``_store``). After any error all of it is dropped and read again from that row,
as a growing log is imported: what the archive holds at last is what one import of the whole log gives.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Final

from recorder.archive.locate import open_archive
from recorder.archive.reading.importing import (
    STORED,
    Found,
    Import,
    LogReading,
    NothingYetError,
    Part,
    Plan,
    ReadOptions,
    timing_of,
)
from recorder.archive.reading.inputs import Input
from recorder.containment import contain
from recorder.errors import JournalError, RecorderError, SourceError, is_disk_full
from recorder.journal.format import NoteKind, RecordKind, parse_note, parse_record
from recorder.journal.parts import part_blocks, session_parts
from recorder.live.secrets.logs import Scrubbing
from recorder.model import SAVED_KINDS, GameEnd, GameKind, ImportStatus
from recorder.pipeline import Pipeline
from recorder.sources import SourceKind, is_journal, log_files, read_blocks
from recorder.sources.redaction import Forgotten, Redactor
from storage.write.source import OvertakenError, SourceInProgress

if TYPE_CHECKING:
    from recorder.model import Game
    from recorder.progress import Progress

State = tuple[int, int, int, int, int]
"""How many files a log consists of; of the last one device, inode, size, time of change."""

BLOCK: Final = 1 << 18
"""What is read at once of a plain file: a reader that gets so much is behind."""
_FIRST: Final = 1 << 13
"""What is asked for first: a block is memory that the system clears and takes back, which costs more than a line."""
_COMPARED: Final = 4096
_END_NOTE: Final = b'"end"'


def state_of(path: Path) -> State | None:
    """What changes whenever a log grows or is replaced; None: it is not there."""
    try:
        files = log_files(path)
        about = files[-1].stat()
    except OSError:
        return None
    return len(files), about.st_dev, about.st_ino, about.st_size, about.st_mtime_ns


class Tail:
    """A plain file that grows; every method raises SourceError if it cannot be read.

    ``replaced`` is why nothing more comes; it is set only after all was read. ``moved`` is where the file has gone if
    nothing is in its place.
    """

    def __init__(self, path: Path, offset: int) -> None:
        self.replaced: str | None = None
        self.moved: str | None = None
        self._path = path
        self._place = offset
        try:
            self._file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
            self._last = os.pread(self._file, min(offset, _COMPARED), max(offset - _COMPARED, 0))
        except OSError as error:
            raise _unreadable(path, error) from error

    def read(self) -> bytes:
        """What comes next, at most ``BLOCK`` bytes; nothing: there is no more now."""
        try:
            last = self._last
            if os.pread(self._file, len(last), self._place - len(last)) != last:
                shorter = os.fstat(self._file).st_size < self._place
                self.replaced = "became shorter" if shorter else "was replaced"
                return b""
            data = os.pread(self._file, _FIRST, self._place)
            if len(data) == _FIRST:
                data += os.pread(self._file, BLOCK - _FIRST, self._place + _FIRST)
            if not data:
                self._look_for_another()
        except OSError as error:
            raise _unreadable(self._path, error) from error
        self._place += len(data)
        self._last = (last + data)[-_COMPARED:] if len(data) < _COMPARED else data[-_COMPARED:]
        return data

    def _look_for_another(self) -> None:
        """Another log has its name; an empty one is none: logrotate creates it before the writer closes ours."""
        ours = os.fstat(self._file)
        try:
            there: os.stat_result | None = self._path.stat()
        except FileNotFoundError:
            there = None
        if there is not None and (there.st_dev, there.st_ino) == (ours.st_dev, ours.st_ino):
            self.moved = None
            return
        if there is not None and not there.st_size:
            there = None
        if there is not None or self.moved is None:
            entries = self._path.parent.iterdir() if self._path.parent.is_dir() else ()
            renamed = next((entry for entry in entries if entry != self._path and _is(entry, ours)), None)
            what = "was removed" if there is None else "was replaced"
            self.moved = what if renamed is None else f"was renamed to {renamed.name}"
        if there is not None:
            self.replaced = self.moved

    @property
    def ended(self) -> bool:
        return False

    def close(self) -> None:
        os.close(self._file)


class _PackedTail(Tail):
    """A compressed file: read again from its beginning whenever it has changed."""

    def __init__(self, path: Path, offset: int) -> None:
        super().__init__(path, 0)
        self._offset = offset
        self._blocks: Iterator[bytes] = iter(())
        self._state: State | None = None

    def read(self) -> bytes:
        for block in self._blocks:
            self._offset += len(block)
            return block
        state = state_of(self._path)
        if state == self._state:
            return b""
        if self._state is not None and (state is None or state[1:3] != self._state[1:3]):
            self._look_for_another()
            return b""
        self._state = state
        with closing(read_blocks(self._path, offset=self._offset)) as blocks:
            self._blocks = iter(list(blocks))
        return self.read()


class _JournalTail(Tail):
    """The parts of a journal's session, one after the other, compressed or not. A part that is read stays open."""

    def __init__(self, path: Path, offset: int, first_part: int = 0) -> None:
        self.replaced = self.moved = None
        self._path = path
        self._number = first_part - 1  # of the part that is read
        self._file = -1
        self._packed: Iterator[bytes] | None = None
        self._last = b""
        self._more: list[bytes] = []  # what was read since
        self._looked = False  # for the next part, since something was read
        try:
            while self._next_part():
                offset -= self._skip(offset)
                if not offset:
                    break
        except OSError as error:
            raise _unreadable(path, error) from error
        if self._file < 0 and self._packed is None:
            raise SourceError(f"{path}: cannot be read: the file no longer exists")
        if self._packed is None:
            cursor = os.lseek(self._file, 0, os.SEEK_CUR)
            self._last = os.pread(self._file, min(cursor, _COMPARED), max(cursor - _COMPARED, 0))

    def read(self) -> bytes:
        try:
            while not (data := self._here()):
                # Looking into the folder costs more than all else: after what is no part's end it can wait.
                if not self._looked and _END_NOTE not in self._last_line():
                    self._looked = True
                    return b""
                self._looked = True
                if not self._has_next():
                    return b""
                if data := self._here():  # the last that its writer wrote before it began the next part
                    break
                self._next_part()
        except OSError as error:
            raise _unreadable(self._path, error) from error
        self._looked = False
        if len(data) >= _COMPARED:
            self._more.clear()
        self._more.append(data)  # joined when asked for, because the reader waits for these bytes
        return data

    def _last_line(self) -> bytes:
        if self._more:
            self._last = b"".join((self._last, *self._more))[-_COMPARED:]
            self._more.clear()
        return self._last[:-1].rpartition(b"\n")[2] if self._last.endswith(b"\n") else b""

    @property
    def ended(self) -> bool:
        if self._packed is not None:
            return True  # no other part is compressed than one that was closed
        line = self._last_line()
        if _END_NOTE not in line:
            return False
        try:
            record = parse_record(line)
            note = parse_note(record.data) if record.kind is RecordKind.NOTE else {}
        except JournalError:
            return False
        return note.get("kind") == NoteKind.END and not note.get("more")

    def _here(self) -> bytes:
        if self._packed is not None:
            return next((block for block in self._packed if block), b"")
        if self._file < 0:
            return b""
        data = os.read(self._file, _FIRST)
        return data if len(data) < _FIRST else data + os.read(self._file, BLOCK - _FIRST)

    def _has_next(self) -> bool:
        try:
            return any(number > self._number for number in session_parts(self._path))
        except FileNotFoundError:  # its folder was removed; the part that is open can be read to its end
            return False

    def _next_part(self) -> bool:
        later = [entry for entry in session_parts(self._path).items() if entry[0] > self._number]
        if not later:
            return False
        number, path = later[0]
        self.close()
        if path.suffix == ".zst":
            self._packed = part_blocks(path)
        else:
            try:
                self._file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
            except FileNotFoundError:  # it is just being compressed
                self._packed = part_blocks(path.with_name(f"{path.name}.zst"))
        self._number = number
        return True

    def _skip(self, count: int) -> int:
        """Pass over bytes of this part; return how many it had."""
        if self._packed is None:
            return os.lseek(self._file, min(count, os.fstat(self._file).st_size), os.SEEK_SET)
        done = 0
        while done < count and (block := self._here()):
            done += len(block)
            if done > count:
                self._packed = chain((block[len(block) - (done - count) :],), self._packed)
                return count
        return done

    def close(self) -> None:
        if self._file >= 0:
            os.close(self._file)
        self._file, self._packed = -1, None


def open_tail(path: Path, offset: int, *, first_part: int = 0) -> Tail:
    """``offset`` counts decompressed bytes, those of parts below ``first_part`` not."""
    if is_journal(path):
        return _JournalTail(path, offset, first_part)
    with closing(read_blocks(path)) as blocks:
        packed = blocks.compression is not None
    return _PackedTail(path, offset) if packed else Tail(path, offset)


def _is(entry: Path, ours: os.stat_result) -> bool:
    about = entry.lstat()
    return (about.st_dev, about.st_ino) == (ours.st_dev, ours.st_ino)


def _unreadable(path: Path, error: OSError) -> SourceError:
    return SourceError(f"{path}: cannot be read: {error.strerror or error}")


_SETTLE_S: Final = 1.5
_TIMED_S: Final = 5.0
_AGAIN_S: Final = 2.0
"""How long to wait before what failed is tried again."""
_LONGEST_PAUSE_S: Final = 60.0
_OVERTAKEN: Final = 3
_OVERTAKEN_S: Final = 30.0
"""Who is overtaken so often within this has another beside it that does the same."""
_AT_ONCE: Final = 8 << 20
"""Only so much of a log is imported in one transaction: the rest comes in blocks, in flat memory."""


class Outlet:
    """Gets the games of a log when they are committed; this one does nothing with them.

    ``owes``: after ``end``, it still has to write games of the source, which is to be taken once more. ``looks_back``:
    it finds in the archive, at ``begin``, what it was not given: until a long log is read it is given nothing.
    """

    problem: str | None = None
    owes = False
    looks_back = False

    def begin(self, where: str, source: str) -> None:
        """A source was read so far, perhaps not for the first time; ``source``: its sha256."""

    def look(self, games: list[Game]) -> None:
        """Games in progress that have changed, as they stand."""

    def take(self, games: list[Game]) -> None:
        """Finished games, which do not change any more."""
        self.look(games)

    def settle(self, where: str, source: str, read_up_to: int) -> None:
        """Games that begin before this place are never given again."""

    def end(self, where: str, source: str, games: list[Game], final: bool) -> None:
        """The log has come to its end. Unless ``final``, these games may be given again, and may have become more."""
        self.look(games)


def is_over(end: GameEnd, first_offset: int, read_up_to: int, final: bool = False) -> bool:
    """Whether nothing later in the log can go on with a game; what begins before ``read_up_to`` is final."""
    return final or end.is_over or (end is not GameEnd.LOG_ENDS and first_offset < read_up_to)


def has_ended(game: Game) -> bool:
    """Whether a game is over. One that others examine, as a relay, has no line of its end, but may have a result."""
    closed = game.kind is GameKind.EXAMINED and game.end is not GameEnd.LOG_ENDS and game.result != "*"
    return game.end.is_over or closed


class MissingFacts(Outlet):
    """Reports each missing fact of a log once; ``notify`` gets one sentence."""

    def __init__(self, log: str, notify: Callable[[str], object]) -> None:
        self._log = log
        self._notify = notify
        self._reported: set[str] = set()

    def look(self, games: list[Game]) -> None:
        missing = {}
        if any(game.server is None for game in games):
            missing["site"] = "--server NAME"
        if any(game.day is None for game in games):
            missing["date"] = "--date YYYY-MM-DD"
        missing = {fact: option for fact, option in missing.items() if fact not in self._reported}
        if missing:
            self._reported |= missing.keys()
            what = f"does not name the {' or the '.join(missing)} of its games"
            them = "them" if len(missing) > 1 else "it"
            self._notify(f"{self._log} {what}; follow it again with {' and '.join(missing.values())} to add {them}.")


class FollowedLog:
    """A log that is being written, as far as it was read. First it is the ``SourceReading`` of an import."""

    found: Found

    def __init__(self, plan: Plan, progress: Progress) -> None:
        kind, size = plan.kind, plan.hashed.size
        if kind in SAVED_KINDS:
            raise SourceError(
                f"{plan.source.name} contains saved games, and only logs can be followed; import it when it has grown."
            )
        pipeline = plan.options.pipeline(kind, in_progress=True)
        assert isinstance(pipeline, Pipeline)
        self.pipeline = pipeline
        self.scrubbing = Scrubbing(kind, redactor=Redactor(plan.options.forgotten or Forgotten(), kind))
        self.size = 0  # of the bytes that the archive knows of; ``running`` is their hash
        self.running = hashlib.sha256()
        self.unread = b""  # behind them: ``scrubbing`` waits for the end of their line
        self.mark = secrets.token_hex(8)  # in the source's row until another process changes it
        self.games: list[Game] = []  # that the import stored
        self._plan = plan
        size_before = 0 if plan.before is None else plan.before.size_bytes
        self._end = size if kind is SourceKind.TYPESCRIPT else min(size, max(_AT_ONCE, size_before))
        self.behind = self._end < size  # there is more of it, not looked at yet
        self._blocks = LogReading(plan.source, progress, size=self._end) if self._end else ()

    def __iter__(self) -> Iterator[Part]:
        plan, name, pipeline = self._plan, self._plan.source.name, self.pipeline
        for block in self._blocks:
            clean, games = self.receive(block)
            self.games += [game for game in games if game.first_offset >= plan.read_up_to]
            self.advance(block, len(clean))
            yield Part(clean, games)
        if self.size + len(self.unread) != self._end:
            raise SourceError(f"{name}: the file was truncated while being read; import it again")
        if not self.size:
            raise NothingYetError(f"{name} has no whole line yet")
        bytes_read = self.running.hexdigest(), self.size
        self.found = Found(pipeline.report, pipeline.read_up_to, pipeline.unredacted, self.mark, bytes_read)

    def receive(self, data: bytes) -> tuple[bytes, list[Game]]:
        """Parse the next bytes; return those that are in whole lines now, without secrets, and finished games."""
        clean = self.scrubbing.receive(data)
        return clean, self.pipeline.receive(clean) if clean else []

    def advance(self, data: bytes, whole: int) -> None:
        """These bytes were read; of all that are not in ``size`` yet, so many are in whole lines now."""
        self.unread += data
        self.running.update(self.unread[:whole])
        self.unread = self.unread[whole:]
        self.size += whole


class Follower:
    """Brings an archive up to date with one log, as often as it is asked to. No method raises.

    ``named``: the user named this log: if the archive forgets it, it comes back. ``step`` is called before each step,
    with whether it may take long without new bytes, as opening an archive.
    """

    def __init__(
        self,
        where: str,
        path: Path,
        options: ReadOptions,
        *,
        keep: bool = True,
        outlets: Sequence[Outlet] = (),
        named: bool = True,
        step: Callable[[bool], None] = lambda _long: None,
    ) -> None:
        self.problem: str | None = None  # why the archive is not up to date; the next ``look`` tries again
        self.waiting: str | None = None  # why there is nothing to read yet
        self.known = False  # the archive has all of it
        self.replaced: str | None = None
        self.full = False  # the archive's disk
        self.games = 0
        self._where = where
        self._path = path
        self._options = options
        self._keep = keep and not is_journal(path)
        self._outlets = outlets
        self._named = named
        self._step = step
        self._tail: Tail | None = None
        self._log: FollowedLog | None = None
        self._source: SourceInProgress | None = None
        self._kept: list[bytes] = []
        self._final: dict[str, int] = {}  # games that were counted and may be read again
        self._known = 0  # games of before
        self._unsettled = False
        self._lagging: list[Outlet] = []  # what is begun when all of a long log is in the archive
        self._timed = False
        self._settled_s = 0.0
        self._failed_s: float | None = None
        self._pause_s = _AGAIN_S
        self._overtaken_s: list[float] = []  # when another program has changed the source, the last times
        self._seen: State | None = None

    @property
    def ended(self) -> bool:
        return self._tail is not None and self._tail.ended

    @property
    def moved(self) -> str | None:
        """Where the log has gone while nothing is in its place, or None."""
        return None if self._tail is None else self._tail.moved

    @property
    def resting(self) -> bool:
        return self._failed_s is not None and time.monotonic() - self._failed_s < self._pause_s

    def look(self, *, settle: bool = False) -> bool:
        """``settle``: let the archive know now how far it was read; else it is done every now and then."""
        self.replaced = None
        return (settle or not self.resting) and self._attempt(lambda: self._look(settle))

    def finish(self) -> bool:
        """Read the last bytes; games without an end end with the log. Return whether the archive has everything."""
        done = self._attempt(self._finish)
        self.close()
        if any(outlet.problem for outlet in self._outlets):
            self._failed_s = time.monotonic()  # what comes next is the whole log again
            self._pause_s = min(2 * self._pause_s, _LONGEST_PAUSE_S)
        return done and self.problem is None

    def close(self) -> None:
        """Let go of the log and the archive, as if this program were killed."""
        tail, source = self._tail, self._source
        self._tail = self._log = self._source = None
        self._kept = []
        self._lagging = []
        self._unsettled = False
        if tail is not None:
            tail.close()
        if source is not None:
            source.close()

    def _attempt(self, step: Callable[[], bool]) -> bool:
        try:
            try:
                more = step()
            except OvertakenError:
                self.close()  # another process changed the source: start from its state
                self._leave_it_to_another()
                more = step()
        except RecorderError as error:
            self.problem, self.full = str(error), is_disk_full(error)
        except (MemoryError, OSError, sqlite3.Error) as error:
            self.problem, self.full = f"{type(error).__name__}: {error}", is_disk_full(error)
        except Exception as error:  # a bug of ours must not end a recording
            self.problem, self.full = contain(error), False
        else:
            self.problem, self.full, self._failed_s = None, False, None
            return more
        self.close()
        self._failed_s = time.monotonic()
        return False

    def _leave_it_to_another(self) -> None:
        """Wait longer and longer while another process follows this log: two would undo each other's work for ever."""
        now = time.monotonic()
        self._overtaken_s = [at_s for at_s in self._overtaken_s if now - at_s < _OVERTAKEN_S + self._pause_s] + [now]
        if len(self._overtaken_s) >= _OVERTAKEN:
            self._overtaken_s.clear()
            self._pause_s = min(2 * self._pause_s, _LONGEST_PAUSE_S)
            raise SourceError(f"Another program is importing {self._path} too; waiting for it to end.")

    # --- steps

    def _look(self, settle: bool) -> bool:
        if self._source is None:
            state = state_of(self._path)
            if state is None or (state == self._seen and (self.waiting is not None or self._timed)):
                return False
            if self._timed and not settle and time.monotonic() - self._settled_s < _TIMED_S:
                return False
            self._seen = state
            if not self._begin():
                return False
        more = self._read_on()
        if self._tail is not None and self._tail.replaced is not None:
            self.replaced = self._tail.replaced
            self._end()
            return True
        if any(outlet.problem for outlet in self._outlets):
            self._unsettled = True
        if self._unsettled and (settle or self._timed or time.monotonic() - self._settled_s >= _SETTLE_S):
            self._settle()
        if self._timed:
            self.close()
        return more

    def _finish(self) -> bool:
        if self._source is not None or (state_of(self._path) is not None and self._begin()):
            self._read_on()
            self._end()
        return True

    def _begin(self) -> bool:
        """Import the log so far, and keep it open; return whether it can be followed from now on."""
        source = Input(str(self._path), self._path, named=self._named, on_block=lambda: self._step(False))
        self._step(True)
        with open_archive(self._where, create=True, read_only=False) as archive:
            importing = Import(archive, self._options, keep=self._keep, again=True)
            importing.opened = self._open
            outcome = importing.take(source)
            path = archive.path
            self._step(True)
        if outcome.status == ImportStatus.FAILED:
            raise SourceError(outcome.message or f"{self._path} cannot be read")
        if outcome.status == ImportStatus.FORGOTTEN:
            self.waiting = f"{self._path} was taken out of the archive"
            return False
        log = self._log
        if outcome.status not in STORED or outcome.sha256 is None or log is None:
            self._log = None
            self.known = outcome.message is None
            self.waiting = outcome.message or (
                f"{self._path} holds only the beginning of a log that the archive has: {outcome.part_of}"
            )
            return False
        self.waiting, self.known = None, False
        self._source = SourceInProgress(path, outcome.sha256, log.mark)
        self._tail = open_tail(self._path, log.size + len(log.unread))
        # A typescript's times come in a file of their own, which is read as a whole.
        self._timed = outcome.kind == SourceKind.TYPESCRIPT.value and timing_of(source) is not None
        self._keep = self._keep and outcome.kind != SourceKind.JOURNAL.value and not log.pipeline.unredacted
        self._settled_s = time.monotonic()
        games, log.games = log.games, []
        self._count(games)
        changed = self._write([])
        self._unsettled = True  # games that go on are stored now
        self._lagging = [outlet for outlet in self._outlets if outlet.looks_back and log.behind]
        for outlet in self._current():
            outlet.begin(self._where, outcome.sha256)  # when the archive has all that they look for
        self._pass_on(games, changed)
        return True

    def _open(self, plan: Plan, progress: Progress) -> FollowedLog:
        self._log = FollowedLog(plan, progress)
        return self._log

    @property
    def _at_work(self) -> tuple[FollowedLog, Tail, SourceInProgress]:
        assert self._log is not None
        assert self._tail is not None
        assert self._source is not None
        return self._log, self._tail, self._source

    def _read_on(self) -> bool:
        log, tail, _ = self._at_work
        more = False
        while data := tail.read():
            more = self._unsettled = True
            self._step(False)
            clean, games = log.receive(data)
            # Who is behind shows games only when they are over: the quickest way to catch up.
            self._commit(games, behind=len(data) >= BLOCK)
            log.advance(data, len(clean))  # what a row can do without comes behind its commit
            if self._keep and clean:
                self._kept.append(clean)
            if time.monotonic() - self._settled_s >= _SETTLE_S:
                self._settle()
        if self._lagging:
            self._step(True)
            self._settle()
            lagging, self._lagging = self._lagging, []
            for outlet in lagging:
                outlet.begin(self._where, log.running.hexdigest())
        return more

    def _current(self) -> list[Outlet]:
        return [outlet for outlet in self._outlets if outlet not in self._lagging]

    def _commit(self, games: list[Game], behind: bool = False) -> None:
        changed = self._write(games, behind)
        self._count(games)
        self._pass_on(games, changed)

    def _write(self, games: list[Game], behind: bool = False) -> list[Game]:
        """Also write the games in progress that have changed, unless there is more to read, and return them."""
        log, _, source = self._at_work
        living = log.pipeline.in_progress
        changed = [] if behind else living.changed()
        gone = living.gone()
        if not (games or gone or changed):
            return []
        with source.transaction():
            for row in gone:
                source.remove(row)
            source.add_games(games)
            rows = source.replace([(record.row, game) for record, game in changed])
            for (record, _), row in zip(changed, rows, strict=True):
                record.row = row
            if not behind and (games or gone or any(game.end.is_over for _, game in changed)):
                source.relate()  # before the outlets get them
        return [game for _, game in changed]

    def _count(self, games: list[Game]) -> None:
        self._final.update((game.key, game.first_offset) for game in games)
        self.games = self._known + len(self._final)

    def _pass_on(self, games: list[Game], changed: list[Game]) -> None:
        for outlet in self._current():
            if games:
                outlet.take(games)
            if changed:
                outlet.look(changed)

    def _settle(self) -> None:
        log, _, _ = self._at_work
        self._store(log.pipeline.read_up_to, log.mark)

    def _store(self, read_up_to: int, mark: str | None) -> None:
        """Commit how far the log was read. ``mark`` is of the reader that can continue; None: all games are final."""
        log, _, source = self._at_work
        drop = self._keep and log.pipeline.unredacted  # bytes with a forgotten player
        self._keep = self._keep and not drop
        source.settle(
            sha256=log.running.hexdigest(),
            size_bytes=log.size,
            kept=self._kept if self._keep else None,
            drop=drop,
            read_up_to=read_up_to,
            unfinished=mark,
            report=log.pipeline.report,
        )
        self._kept = []
        self._unsettled = False
        self._settled_s = time.monotonic()
        later = {} if mark is None else {key: first for key, first in self._final.items() if first >= read_up_to}
        self._known += len(self._final) - len(later)
        self._final = later
        if mark is not None:
            for outlet in self._current():
                outlet.settle(self._where, log.running.hexdigest(), read_up_to)
        source.checkpoint()

    def _end(self) -> None:
        log, tail, _ = self._at_work
        self._step(True)
        final = tail.ended or tail.replaced is not None
        rest = log.scrubbing.finish()
        log.advance(b"", len(rest))
        if self._keep and rest:
            self._kept.append(rest)
        self._commit(log.pipeline.receive(rest) if rest else [])
        read_up_to = log.pipeline.read_up_to
        games = log.pipeline.finish()
        self._write(games)
        self._count(games)
        if self._outlets:
            self._store(read_up_to, log.mark)  # they find in the archive what they lack
        for outlet in self._outlets:
            outlet.end(self._where, log.running.hexdigest(), games, final)
        # What an outlet lacks, the next one that takes this source finds.
        lacking = any(outlet.problem or outlet.owes for outlet in self._outlets)
        self._store(read_up_to, log.mark if lacking else None)
        self.close()
