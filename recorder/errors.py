"""The errors that this package raises on purpose, and the exit status that each of them gives the command.

::

    RecorderError
    ├── WireError      bytes that cannot become lines
    ├── LineError      a known line with an impossible field (also a ValueError)
    ├── SourceError    a log that cannot be opened, decompressed or recognised
    ├── JournalError   a journal that cannot be written or read
    ├── LoginError     a server that cannot be reached or does not let us in
    │   └── PasswordError   a password that is missing or cannot be one
    ├── ListenError    an address at which no client can be served
    ├── PolicyError    an expression or a list of handles that cannot be read
    │   └── NoPolicyError   a log does not contain the policy by which it was recorded
    ├── EngineError    a chess engine that cannot be started, hangs, crashes or breaks its protocol
    │   └── VariantError   one that does not play a game's variant: no fault of its
    ├── ReplayError    a place in a recording that cannot be read or found
    ├── StorageError   an archive that cannot be used: wrong schema, no such game, not ours
    │   ├── NoGamesError   no game matches the filters, or a player has none
    │   ├── UnknownVariantError   a filter names a variant that neither the rules nor the archive know
    │   └── SearchTimeoutError    a search that took longer than it may
    └── ExportError    a game that does not fit a format, or an output that must not be written

A class stands here only when some caller treats it differently.
"""

from __future__ import annotations

import errno
from enum import IntEnum
from typing import Final


class RecorderError(Exception):
    """Base of every error raised on purpose; its text is one sentence for the user."""


class WireError(RecorderError):
    """Bytes that cannot become lines.

    Args:
        message: what is wrong, one sentence.
        offset: where in the source's bytes, or None.
    """

    def __init__(self, message: str, offset: int | None = None) -> None:
        super().__init__(message if offset is None else f"{message} (at byte {offset})")
        self.offset = offset


class LineError(RecorderError, ValueError):
    """A line of a known kind with a field whose value is impossible.

    Args:
        message: what is wrong, one sentence without the line itself.
        line: the line's text.
        field: the field's name; None: the form of the whole line is wrong.
        value: the text of the field, or None.
    """

    def __init__(self, message: str, line: str = "", field: str | None = None, value: str | None = None) -> None:
        super().__init__(message)
        self.line = line
        self.field = field
        self.value = value


class SourceError(RecorderError):
    """A log that cannot be opened, decompressed or recognised."""


class JournalError(RecorderError):
    """A journal that cannot be written, so that recording must stop, or a file that is not a readable journal."""


class LoginError(RecorderError):
    """A server that cannot be reached or refuses the login; the text says why and never contains a password."""


class PasswordError(LoginError):
    """A password that is missing or invalid; the text never contains it."""


class ListenError(RecorderError):
    """An address at which no client can be served."""


class PolicyError(RecorderError):
    """An expression for games to observe, or a list of handles, that is invalid.

    Args:
        message: what is wrong and what was expected, one sentence.
        column: the place in the expression, counted from 1; None for a list of handles.
    """

    def __init__(self, message: str, column: int | None = None) -> None:
        super().__init__(message if column is None else f"Column {column} of the policy: {message}")
        self.column = column


class NoPolicyError(PolicyError):
    """A log does not contain the policy by which it was recorded."""


class EngineError(RecorderError):
    """A chess engine that cannot be used, or failed with a game; the text names the engine and what it did."""


class VariantError(EngineError):
    """A game of a variant that the engine does not play; it does not count as a failure of the engine."""


class ReplayError(RecorderError):
    """A place in a recording that is invalid, or that the recording does not contain."""


class StorageError(RecorderError):
    """An archive that cannot be read, written or opened, or that does not contain what was asked for."""


class NoGamesError(StorageError):
    """No game matches the filters, or no game has a player whom they name."""


class UnknownVariantError(StorageError):
    """A filter names a variant that is unknown to the rules and occurs in no game."""


class SearchTimeoutError(StorageError):
    """A search for a page took longer than it may, and was stopped."""


class ExportError(RecorderError):
    """A game that does not fit a format, or an output that must not be written."""


class ExitCode(IntEnum):
    OK = 0
    FINDINGS = 1  # a check found something, --strict and a log has anomalies, or no game matches the filters
    USAGE = 2
    INPUT = 3  # some log could not be read; the others were
    ARCHIVE = 4  # it cannot be used, or does not have all that was recorded
    OUTPUT = 5
    UNPROVED = 6  # verify could read none of the logs again
    JOURNAL = 7  # the journal cannot be written (recording has stopped) or read
    LOGIN = 8  # the server cannot be reached, or does not let us in
    LISTEN = 9  # no client can be served at the address of --listen, or of web
    ENGINE = 10  # an engine cannot be started, or failed with some game
    RECONNECTING = 11  # status --check: a recorder runs and has no connection
    NOT_RECORDING = 12  # status --check: no recorder runs
    INTERRUPTED = 130
    PIPE = 141


_STATUSES: Final[tuple[tuple[type[RecorderError], ExitCode], ...]] = (
    (SourceError, ExitCode.INPUT),
    (NoGamesError, ExitCode.FINDINGS),
    (StorageError, ExitCode.ARCHIVE),
    (ExportError, ExitCode.OUTPUT),
    (JournalError, ExitCode.JOURNAL),
    (LoginError, ExitCode.LOGIN),
    (ListenError, ExitCode.LISTEN),
    (EngineError, ExitCode.ENGINE),
)


_NO_ROOM: Final = (errno.ENOSPC, errno.EDQUOT)
_SQLITE_FULL: Final = 13


def is_disk_full(error: BaseException | None) -> bool:
    """Whether an error is, or comes from, a disk that is full."""
    while error is not None:
        if isinstance(error, OSError) and error.errno in _NO_ROOM:
            return True
        if getattr(error, "sqlite_errorcode", 0) & 0xFF == _SQLITE_FULL:
            return True
        error = error.__cause__
    return False


def exit_status(error: RecorderError) -> ExitCode:
    return next((status for kind, status in _STATUSES if isinstance(error, kind)), ExitCode.INPUT)
