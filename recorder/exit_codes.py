"""Exit statuses of the command, and which error gives which."""

from __future__ import annotations

from enum import IntEnum
from typing import Final

from recorder.errors import (
    EngineError,
    ExportError,
    JournalError,
    ListenError,
    LoginError,
    RecorderError,
    SourceError,
    StorageError,
)

__all__ = ["ExitCode", "exit_status"]


class ExitCode(IntEnum):
    """What the process's exit status means; docs/reference/cli.md has the same table."""

    OK = 0
    FINDINGS = 1  # verify, db check or journal check found something, or --strict and a log has anomalies
    USAGE = 2
    INPUT = 3  # some log could not be read; the others were
    ARCHIVE = 4  # it cannot be used, or does not have all that was recorded
    OUTPUT = 5
    UNPROVED = 6  # verify could read none of the logs again
    JOURNAL = 7  # the journal cannot be written (recording has stopped) or read
    LOGIN = 8  # the server cannot be reached, or does not let us in
    LISTEN = 9  # nobody can be served at the address of --listen
    ENGINE = 10  # an engine cannot be started, or failed with some game
    RECONNECTING = 11  # status --check: a recorder runs and has no connection
    NOT_RECORDING = 12  # status --check: no recorder runs
    INTERRUPTED = 130
    PIPE = 141


_STATUSES: Final[tuple[tuple[type[RecorderError], ExitCode], ...]] = (
    (SourceError, ExitCode.INPUT),
    (StorageError, ExitCode.ARCHIVE),
    (ExportError, ExitCode.OUTPUT),
    (JournalError, ExitCode.JOURNAL),
    (LoginError, ExitCode.LOGIN),
    (ListenError, ExitCode.LISTEN),
    (EngineError, ExitCode.ENGINE),
)


def exit_status(error: RecorderError) -> ExitCode:
    """What the process's exit status is after an error."""
    return next((status for kind, status in _STATUSES if isinstance(error, kind)), ExitCode.INPUT)
