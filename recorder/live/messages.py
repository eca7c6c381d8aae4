"""What a recorder reports while it runs, for people on the terminal and for programs in the file of ``--log``.

Each event has a name that stays, a sentence for people and facts for programs. The names are an interface: scripts look
for them in what ``--log`` writes, one JSON object a line; docs/reference/outages.md has all of them. No fact and no
sentence contains a password or what a connection carried before the login ended.

Both outputs are written in threads: a terminal that is held up or a disk that hangs never makes the recorder wait, and
a log that cannot be written never ends recording. The file is opened for each line, so logs can be rotated freely.
"""

from __future__ import annotations

import json
import os
import select
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from enum import Enum
from pathlib import Path
from queue import Full, Queue
from typing import Final, Protocol

from recorder.errors import ExportError
from recorder.text import clean, plural

Fact = str | int | bool | None


class MessageLevel(Enum):
    INFO = "info"
    WARNING = "warning"  # recording continues, and something is late or missing
    ERROR = "error"  # something has ended unexpectedly


class MessageSink(Protocol):
    def __call__(self, event: str, sentence: str, /, **facts: Fact) -> None:
        """One event: its name, one sentence, facts with units in their names."""


_WARNINGS: Final = frozenset(
    (
        *("disconnected", "unreachable", "refused", "view_lost", "not_reread", "not_notified", "not_imported"),
        *("exposed", "unknown_host", "client_refused", "style_left", "rows_unread", "hook_failed"),
    )
)
_ERRORS: Final = frozenset(("deaf", "mute", "unrecorded", "failed"))


def level_of(event: str) -> MessageLevel:
    if event in _ERRORS:
        return MessageLevel.ERROR
    return MessageLevel.WARNING if event in _WARNINGS else MessageLevel.INFO


_MOST: Final = 500
_END_S: Final = 3.0
_STDERR: Final = 2


class BackgroundQueue:
    """Runs functions one after another in a thread; ``dropped`` is called there with how many were dropped."""

    def __init__(self, dropped: Callable[[int], object]) -> None:
        self._dropped = dropped
        self._works: Queue[Callable[[], object]] = Queue(_MOST)
        self._missed = 0
        threading.Thread(target=self._run, name="messages", daemon=True).start()  # it never delays the program's end

    def do(self, work: Callable[[], object]) -> None:
        """Queue a function, from any thread. What it raises is ignored; if the queue is full, it is dropped."""
        try:
            self._works.put_nowait(work)
        except Full:
            with self._works.mutex:
                self._missed += 1

    def settle(self, limit_s: float = _END_S) -> bool:
        """False: functions are left."""
        with self._works.all_tasks_done:
            return self._works.all_tasks_done.wait_for(lambda: not self._works.unfinished_tasks, limit_s)

    def _run(self) -> None:
        while True:
            work = self._works.get()
            with suppress(Exception):
                work()
            if self._missed and self._works.empty():
                with self._works.mutex:
                    missed, self._missed = self._missed, 0
                with suppress(Exception):
                    self._dropped(missed)
            self._works.task_done()


class MessagePrinter:
    """Prints sentences on standard error from a thread; ``close`` waits a moment for them."""

    def __init__(self) -> None:
        self._queue = BackgroundQueue(lambda missed: _write(_encoded(f"({plural(missed, 'message')} dropped.)")))

    def say(self, sentence: str) -> None:
        """It is made safe for a terminal."""
        self.write(_encoded(clean(sentence)))

    def write(self, data: bytes) -> None:
        self._queue.do(lambda: _write(data))

    def settle(self, limit_s: float = _END_S) -> bool:
        """False: lines are left."""
        return self._queue.settle(limit_s)

    close = settle


def _encoded(sentence: str) -> bytes:
    encoding = getattr(sys.stderr, "encoding", None) or "utf-8"
    return f"{sentence}\n".encode(encoding, "backslashreplace")


def _write(data: bytes) -> None:
    """Write past Python's own buffer: a blocked thread would keep its lock and delay the end of the program."""
    if sys.stderr is None:  # closed at the start: the number may be that of another file now
        return
    while data:
        try:
            data = data[os.write(_STDERR, data) :]
        except BlockingIOError:
            select.select([], [_STDERR], [])


_OWNER_ONLY = 0o600


class RunLog:
    """Only its owner can read it. ``say`` gets, in another thread, a sentence when it cannot be written."""

    def __init__(self, path: Path, say: Callable[[str], object], utc_ns: Callable[[], int] = time.time_ns) -> None:
        self._path = path
        self._say = say
        self._utc_ns = utc_ns
        self._failed = False
        self._torn: tuple[int, int] | None = None  # the file that ends with a part of a line
        try:
            self._append(b"")
        except OSError as error:
            raise ExportError(f"The log {path} cannot be written: {error.strerror or error}.") from error
        self._queue = BackgroundQueue(
            lambda missed: say(f"{plural(missed, 'line')} of the log {path} dropped: the disk did not respond.")
        )

    def write(self, event: str, sentence: str, /, **facts: Fact) -> None:
        """Never waits for the disk."""
        at = datetime.fromtimestamp(self._utc_ns() // 1000 / 1_000_000, UTC).isoformat(timespec="milliseconds")
        line = {"at": at.replace("+00:00", "Z"), "level": level_of(event).value, "event": event}
        text = json.dumps({**line, "message": sentence, **facts}, ensure_ascii=True)
        self._queue.do(lambda: self._keep(text.encode("ascii") + b"\n"))

    def settle(self) -> None:
        self._queue.settle()

    def _keep(self, line: bytes) -> None:
        try:
            self._append(line)
        except OSError as error:
            if not self._failed:
                self._say(f"The log {self._path} cannot be written ({error.strerror or error}); recording continues.")
            self._failed = True
        else:
            self._failed = False

    def _append(self, line: bytes) -> None:
        # A pipe without a reader is reported, not waited for.
        handle = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NONBLOCK, _OWNER_ONLY)
        try:
            status = os.fstat(handle)
            file = status.st_dev, status.st_ino
            if line and file == self._torn:
                line = b"\n" + line
            written = os.write(handle, line)
            if written == len(line):
                self._torn = None
            elif written:
                self._torn = file
            if written < len(line):
                raise OSError(0, "the disk took only a part of a line")
        finally:
            os.close(handle)


def report_to(log: RunLog | None, show: Callable[[str, str], None], hooks: MessageSink | None = None) -> MessageSink:
    def report(event: str, sentence: str, /, **facts: Fact) -> None:
        if log is not None:
            log.write(event, sentence, **facts)
        show(event, sentence)
        if hooks is not None:
            hooks(event, sentence, **facts)

    return report
