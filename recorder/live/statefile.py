"""How a recorder stands, for other processes: a small file in the folder of the journals, replaced every second.

The recorder holds a lock on the file for as long as it runs, so what a crash has left is known from what is current.
"""

from __future__ import annotations

import contextlib
import fcntl
import fnmatch
import json
import os
import secrets
from pathlib import Path
from typing import Final, NamedTuple

__all__ = ["RecorderState", "StateFile", "is_state_file", "read_states"]

_NAMES: Final = ".record-*.state"  # hidden: what is not is taken for a journal
_MOST_BYTES: Final = 1 << 16
_TRIES: Final = 100


class RecorderState(NamedTuple):
    """What a recorder says of itself; counts are since it began.

    Attributes:
        at_ms: UTC, when it said so.
        state, retry_ms, outages, received_bytes, watched: as in ``Snapshot``.
        matched, whole, partly, recovered, missed: as in ``Tally``.
        lag_ms: the longest of the last moves of the observed games; None: the server prints none.
        quiet_ms: since the last byte came; None: none came yet.
        handle: as the server writes it; None: not logged in, or a guest whose name is not known. guest: whether it
            logged in as a guest; None: not logged in.
        journal: the name of the file being written; None: there is none.
    """

    pid: int
    at_ms: int
    server: str
    state: str
    retry_ms: int | None
    outages: int
    received_bytes: int
    watched: int
    matched: int
    whole: int
    partly: int
    recovered: int
    missed: int
    lag_ms: int | None
    quiet_ms: int | None
    handle: str | None
    guest: bool | None
    journal: str | None


class StateFile:
    """The file of one recorder; what crashes have left is removed.

    Args:
        folder: of the journals; made if it is not there.
    """

    def __init__(self, folder: Path) -> None:
        with contextlib.suppress(OSError):  # the first journal says what is wrong
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._path = folder / _NAMES.replace("*", secrets.token_hex(4))
        self._fd: int | None = None
        for left in folder.glob(f"{_NAMES}*"):
            with contextlib.suppress(OSError):
                if not _is_locked(left):
                    left.unlink()

    def write(self, state: RecorderState) -> None:
        """Replace what the file says, at once and as a whole; a disk that is full leaves it as it was."""
        new = self._path.with_suffix(".state.new")
        try:
            fd = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        except OSError:
            return
        data = json.dumps(state._asdict()).encode("ascii")
        try:
            with contextlib.suppress(OSError):  # a file system without locks
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.write(fd, data) < len(data):
                raise OSError("written in part only")
            new.replace(self._path)
        except OSError:
            os.close(fd)
            with contextlib.suppress(OSError):
                new.unlink()
            return
        self._close()
        self._fd = fd

    def remove(self) -> None:
        """Recording has ended."""
        with contextlib.suppress(OSError):
            self._path.unlink(missing_ok=True)
        self._close()

    def _close(self) -> None:
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None


def _is_locked(path: Path) -> bool:
    with path.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        return False


def is_state_file(path: Path) -> bool:
    """Whether a file is by its name one that a recorder keeps for itself."""
    return fnmatch.fnmatchcase(path.name, f"{_NAMES}*")


def read_states(folder: Path) -> list[RecorderState]:
    """What the recorders that run say of themselves, in order of their process numbers.

    Args:
        folder: of the journals; it need not exist.
    """
    return sorted(state for path in folder.glob(_NAMES) if (state := _read(path)) is not None)


def _read(path: Path) -> RecorderState | None:
    for _ in range(_TRIES):
        try:
            with path.open("rb") as file:
                data = file.read(_MOST_BYTES)
                try:
                    fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
                except BlockingIOError:
                    return RecorderState(**json.loads(data))
                if os.fstat(file.fileno()).st_nlink:
                    return None  # a crash has left it
        except (OSError, ValueError, TypeError):  # another version of this program has other members
            return None
    return None
