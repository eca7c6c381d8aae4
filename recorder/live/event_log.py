"""``--log FILE``: what happens while something is recorded, one JSON object a line; docs/log.md has the names.

The file is opened for each line: these are few, and who rotates logs need not tell us. A log that cannot be written
never ends recording, and one whose disk hangs does not hold it up: it is written in a thread of its own.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from recorder.errors import ExportError
from recorder.live.message_printer import BackgroundQueue
from recorder.live.messages import EVENTS, Fact, MessageSink
from recorder.text import plural

__all__ = ["RunLog", "teller"]

_OWNER_ONLY = 0o600


class RunLog:
    """A log that is only appended to.

    Args:
        path: of the file; made if it is not there, readable by its owner alone.
        say: gets a sentence when it cannot be written; called in another thread.
        utc_ns: the wall clock.
    Raises:
        ExportError: it cannot be written when recording begins. Later that is said once, and recording goes on.
    """

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
            lambda missed: say(f"{plural(missed, 'line')} of the log {path} found no room: its disk did not answer.")
        )

    def write(self, event: str, sentence: str, /, **facts: Fact) -> None:
        """Append one event of ``EVENTS``; never waits for the disk."""
        at = datetime.fromtimestamp(self._utc_ns() // 1000 / 1_000_000, UTC).isoformat(timespec="milliseconds")
        line = {"at": at.replace("+00:00", "Z"), "level": EVENTS[event].level.value, "event": event}
        text = json.dumps({**line, "message": sentence, **facts}, ensure_ascii=True)
        self._queue.do(lambda: self._keep(text.encode("ascii") + b"\n"))

    def settle(self) -> None:
        """Wait until all is written, but not for ever."""
        self._queue.settle()

    def _keep(self, line: bytes) -> None:
        try:
            self._append(line)
        except OSError as error:
            if not self._failed:
                self._say(f"The log {self._path} cannot be written ({error.strerror or error}); recording goes on.")
            self._failed = True
        else:
            self._failed = False

    def _append(self, line: bytes) -> None:
        # A pipe that nobody reads is told, not waited for.
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


def teller(log: RunLog | None, speak: Callable[[str, str], None]) -> MessageSink:
    """What takes events: they are said to people and, if there is a log, written into it.

    Args:
        speak: gets the event and its sentence.
    """

    def tell(event: str, sentence: str, /, **facts: Fact) -> None:
        if log is not None:
            log.write(event, sentence, **facts)
        speak(event, sentence)

    return tell
