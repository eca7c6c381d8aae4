"""Writes the bytes of a connection before they are parsed, and compresses closed parts in a thread.

A record is one line, passed to the operating system in one call before the method returns, so that a crash of this
program loses nothing that was acknowledged; the caller chooses when the disk has it (``Sync``). A file is only appended
to. After the first failure to write or sync every call raises, because a disk that failed once may have dropped data
that it acknowledged.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from enum import Enum
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final, NoReturn

from zstandard import ZstdError

from recorder.errors import JournalError
from recorder.files import sync_folder
from recorder.journal.format import (
    MAX_DATA_BYTES,
    VERSION,
    JournalHeader,
    NoteKind,
    RecordKind,
    format_header,
    format_note,
    record_line,
)
from recorder.journal.parts import (
    SUFFIX,
    AppendedFile,
    compress_part,
    find_part,
    is_closed,
    is_unfinished,
    new_part,
    part_name,
    session_name,
    session_parts,
)

_STALE_S: Final = 3600


class Compressor:
    def __init__(self, folder: Path) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="journal")
        self._left: list[tuple[str, str]] = []  # those that a crash left and that stay plain
        self._work: list[tuple[str, Future[object]]] = []
        try:
            there = sorted(folder.iterdir())  # now: what this process closes later is in ``compress``
        except OSError as error:
            self._left.append(("", str(error)))
        else:
            self._work.append(("", self._thread.submit(self._compress_left_over, there)))

    def compress(self, path: Path) -> None:
        self._work.append((path.name, self._thread.submit(compress_part, path)))

    def failures(self) -> list[tuple[str, str]]:
        """Names and reasons, since the last call."""
        done = [(name, work) for name, work in self._work if work.done()]
        self._work = [entry for entry in self._work if entry not in done]
        left, self._left = self._left, []
        return left + [(name, str(error)) for name, work in done if (error := work.exception()) is not None]

    def finish(self) -> None:
        self._thread.shutdown()

    def _compress_left_over(self, there: list[Path]) -> None:
        """Finish work that a crash interrupted: compress closed parts, remove unfinished files without a writer."""
        for path in there:
            if is_unfinished(path):
                with contextlib.suppress(OSError):  # another program does the same now
                    if time.time() - path.stat().st_mtime > _STALE_S:
                        path.unlink()
            elif path.suffix == SUFFIX and session_name(path.name) and is_closed(path):
                try:
                    compress_part(path)
                except (OSError, JournalError, ZstdError) as error:  # the next part may succeed
                    self._left.append((path.name, str(error)))


MAX_PART_BYTES: Final = 64 << 20
SYNC_INTERVAL_NS: Final = 1_000_000_000

_DAY_NS: Final = 86_400 * 1_000_000_000
_CHECK_NS: Final = 1_000_000_000  # how often to check whether the file was removed
# A clock that continues while the machine sleeps; Windows has neither.
_CLOCK: Final[int | None] = getattr(time, "CLOCK_BOOTTIME", getattr(time, "CLOCK_MONOTONIC", None))
_RECEIVED: Final = RecordKind.RECEIVED.mark
_SENT: Final = RecordKind.SENT.mark
_NOTE: Final = RecordKind.NOTE.mark


class Sync(Enum):
    """When the disk has the written bytes. If the process is killed, nothing is lost with any of the three."""

    ALWAYS = "always"  # before the call returns: a power cut loses nothing that was acknowledged
    INTERVAL = "interval"  # a power cut loses at most the last two seconds
    OS = "os"  # a power cut loses what the operating system has not yet written, commonly 30 seconds


class JournalClock:
    def utc_ns(self) -> int:
        """Nanoseconds since 1970; read once a session."""
        return time.time_ns()

    def monotonic_ns(self) -> int:
        """Never goes back, even when the wall clock is set."""
        return time.monotonic_ns() if _CLOCK is None else time.clock_gettime_ns(_CLOCK)


SYSTEM: Final = JournalClock()


def make_journal_folder(journals: Path) -> None:
    """Refuse a folder in which no journal can be written, before anything is recorded."""
    try:
        journals.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not os.access(journals, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    except OSError as error:
        raise JournalError(
            f"No journal can be written in {journals} ({error.strerror}): name another folder by --journal-dir."
        ) from error


class JournalWriter:
    """The journal of one connection: a file, or several parts one after the other. Not for use by several threads.

    A part that would grow beyond ``max_bytes`` is closed and the next begun, and also at midnight (UTC).
    ``last_sync_ns`` is when the disk last confirmed that it has everything, since the anchor. After a JournalError,
    which every method may raise, nothing is written any more.
    """

    def __init__(
        self,
        folder: Path,
        *,
        host: str,
        port: int | None,
        role: str,
        sync: Sync = Sync.ALWAYS,
        max_bytes: int = MAX_PART_BYTES,
        clock: JournalClock = SYSTEM,
        open_part: Callable[[Path], AppendedFile] = new_part,
    ) -> None:
        self._folder = folder
        self._sync = sync
        self._max_bytes = max_bytes
        self._clock_ns = clock.monotonic_ns
        self._start_ns = clock.monotonic_ns()
        self._open_part = open_part
        program = f"ics-recorder {version('ics-recorder')}"
        self.anchor_utc_ns = clock.utc_ns()
        self._header = JournalHeader(VERSION, secrets.token_hex(8), 0, role, host, port, self.anchor_utc_ns, program)
        self._refusal: str | None = None
        self._file: AppendedFile | None = None
        self.path = folder
        self.size_bytes = 0
        self.last_sync_ns: int | None = None
        self._records = 0  # in this part
        self._unsynced = False
        self._checked_ns = 0
        self._day_end_ns = 0
        try:
            if not folder.is_dir():
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                sync_folder(folder.parent)
            self._compressor = Compressor(folder)
        except OSError as error:
            self._fail(error)
        self._begin_part(0)

    def now_ns(self) -> int:
        """Since the session's anchor; to be called when bytes arrive."""
        return self._clock_ns() - self._start_ns

    def received(self, data: bytes, at_ns: int | None = None) -> None:
        self._put(_RECEIVED, data, self.now_ns() if at_ns is None else at_ns)

    def sent(self, data: bytes, at_ns: int | None = None) -> None:
        """It may be before the last record."""
        self._put(_SENT, data, self.now_ns() if at_ns is None else at_ns)

    def note(self, kind: str, **facts: Any) -> None:
        """Write a fact about the connection: ``connected``, ``closed``, ``outage`` …; ``end`` is this module's own."""
        self._append(self.now_ns(), _NOTE, format_note(kind, facts))

    def tick(self) -> None:
        """Do what time demands; to be called at least once a second while nothing arrives, too."""
        self._refuse()
        now = self.now_ns()
        if now >= self._day_end_ns:
            self._next_part(now)
        self._check(now)
        if self._sync is Sync.INTERVAL and self._unsynced:
            self._sync_if_due(now)
        for part, why in self._compressor.failures():
            self.note(NoteKind.UNCOMPRESSED, part=part, why=why)

    def close(self) -> None:
        """End the journal, unless it has failed or is closed, and wait until its parts are compressed."""
        if self._refusal is None:
            self._end_part(self.now_ns(), more=False)
            self._refusal = f"The journal {self.path} is closed."
        self._compressor.finish()
        self.path = find_part(self.path)

    def discard(self) -> None:
        self.close()
        for path in session_parts(self.path).values():
            path.unlink(missing_ok=True)

    def _put(self, mark: bytes, data: bytes, at_ns: int) -> None:
        if len(data) <= MAX_DATA_BYTES:
            if data:
                self._append(at_ns, mark, data)
            return
        for begin in range(0, len(data), MAX_DATA_BYTES):
            self._append(at_ns, mark, data[begin : begin + MAX_DATA_BYTES])

    def _append(self, at_ns: int, mark: bytes, data: bytes) -> None:
        self._refuse()
        line = record_line(at_ns, mark, data) + b"\n"
        # A part begins with a record, however long: else a record beyond ``max_bytes`` would open parts for ever.
        if at_ns >= self._day_end_ns or (self._records and self.size_bytes + len(line) > self._max_bytes):
            self._next_part(at_ns)
        self._look()  # nothing goes into a file that was removed
        self._write(line)
        self._records += 1
        if self._sync is Sync.ALWAYS:
            self._sync_now()
            self._check(self.now_ns())
        elif at_ns - self._checked_ns >= _CHECK_NS:
            now = self.now_ns()
            self._check(now)
            if self._sync is Sync.INTERVAL:
                self._sync_if_due(now)

    def _write(self, line: bytes) -> None:
        file = self._file
        assert file is not None
        try:
            done = file.write(line)
            while done < len(line):  # the next write reports the error
                done += file.write(line[done:])
        except OSError as error:
            self._fail(error)
        self.size_bytes += len(line)
        self._unsynced = True

    def _check(self, now: int) -> None:
        self._checked_ns = now
        self._look()

    def _look(self) -> None:
        assert self._file is not None
        try:
            self._file.check()
        except OSError as error:
            self._fail(error)

    def _sync_if_due(self, now: int) -> None:
        if now - (self.last_sync_ns or 0) >= SYNC_INTERVAL_NS:
            self._sync_now()

    def _sync_now(self) -> None:
        assert self._file is not None
        try:
            self._file.sync()
        except OSError as error:
            self._fail(error)
        self.last_sync_ns = self.now_ns()
        self._unsynced = False

    def _begin_part(self, at_ns: int) -> None:
        header = self._header._replace(part=self._header.part + 1)
        self._header = header
        self.path = self._folder / part_name(header)
        self._records = self.size_bytes = 0
        day = (header.anchor_utc_ns + at_ns) // _DAY_NS
        self._day_end_ns = (day + 1) * _DAY_NS - header.anchor_utc_ns
        try:
            self._file = self._open_part(self.path)
        except OSError as error:
            self._fail(error)
        try:
            self._write(format_header(header) + b"\n")
        except JournalError:
            with contextlib.suppress(OSError):
                if not self.path.stat().st_size:  # the disk is full: it would be no journal
                    self.path.unlink()
            raise
        # The folder, too: after a power cut a file whose name the disk does not have is lost with all its bytes.
        if self._sync is not Sync.OS:
            self._sync_now()
            try:
                sync_folder(self._folder)
            except OSError as error:
                self._fail(error)

    def _next_part(self, at_ns: int) -> None:
        self._end_part(self.now_ns(), more=True)
        self._begin_part(at_ns)

    def _end_part(self, now: int, *, more: bool) -> None:
        self._check(now)  # not later: once a part is closed, other processes may compress and remove it
        facts = {"records": self._records, "more": more}
        self._write(record_line(now, _NOTE, format_note(NoteKind.END, facts)) + b"\n")
        if self._sync is not Sync.OS:
            self._sync_now()
        file, self._file = self._file, None
        assert file is not None
        try:
            file.close()
        except OSError as error:
            self._fail(error)
        self._compressor.compress(self.path)

    def _refuse(self) -> None:
        if self._refusal is not None:
            raise JournalError(self._refusal)

    def _fail(self, error: OSError) -> NoReturn:
        self._refusal = (
            f"The journal {self.path} cannot be written: {error.strerror or error}. Recording has stopped; see to the"
            " disk, then start again."
        )
        file, self._file = self._file, None
        if file is not None:
            with contextlib.suppress(OSError):
                file.close()
        raise JournalError(self._refusal) from error
