"""``--log FILE``: what happens while something is recorded, one JSON object a line; docs/log.md has the names.

The file is opened for each line: these are few, and who rotates logs need not tell us. A log that cannot be written
never ends recording.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from recorder.cli.terminal import say
from recorder.errors import ExportError
from recorder.live.telling import EVENTS, Fact

if TYPE_CHECKING:
    from recorder.live.telling import Tell

__all__ = ["RunLog", "log_option", "teller"]

_AnyCommand = TypeVar("_AnyCommand", bound=Callable[..., Any])
_OWNER_ONLY = 0o600


def log_option(command: _AnyCommand) -> _AnyCommand:
    """``--log``, as ``log_file``."""
    return click.option(
        "--log",
        "log_file",
        type=click.Path(dir_okay=False, path_type=Path),
        metavar="FILE",
        help="Append what happens to this file, one JSON object a line; docs/log.md has the events.",
    )(command)


class RunLog:
    """A log that is only appended to.

    Args:
        path: of the file; made if it is not there, readable by its owner alone.
        utc_ns: the wall clock.
    Raises:
        ExportError: it cannot be written when recording begins. Later that is said once, and recording goes on.
    """

    def __init__(self, path: Path, utc_ns: Callable[[], int] = time.time_ns) -> None:
        self._path = path
        self._utc_ns = utc_ns
        self._failed = False
        try:
            self._append(b"")
        except OSError as error:
            raise ExportError(f"The log {path} cannot be written: {error.strerror or error}.") from error

    def write(self, event: str, sentence: str, /, **facts: Fact) -> None:
        """Append one event of ``EVENTS``."""
        at = datetime.fromtimestamp(self._utc_ns() // 1000 / 1_000_000, UTC).isoformat(timespec="milliseconds")
        line = {"at": at.replace("+00:00", "Z"), "level": EVENTS[event].level.value, "event": event}
        text = json.dumps({**line, "message": sentence, **facts}, ensure_ascii=True)
        try:
            self._append(text.encode("ascii") + b"\n")
        except OSError as error:
            if not self._failed:
                say(f"The log {self._path} cannot be written ({error.strerror or error}); recording goes on.")
            self._failed = True
        else:
            self._failed = False

    def _append(self, line: bytes) -> None:
        handle = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, _OWNER_ONLY)
        try:
            if os.write(handle, line) < len(line):
                raise OSError(0, "the disk took only a part of a line")
        finally:
            os.close(handle)


def teller(log: RunLog | None, speak: Callable[[str, str], None]) -> Tell:
    """What takes events: they are said to people and, if there is a log, written into it.

    Args:
        speak: gets the event and its sentence.
    """

    def tell(event: str, sentence: str, /, **facts: Fact) -> None:
        if log is not None:
            log.write(event, sentence, **facts)
        speak(event, sentence)

    return tell
