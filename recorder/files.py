"""Files: what can be closed, locks between processes, and names that outlive a power cut."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]  # lock() and is_locked() ask for it


class Closing:
    """A context manager that closes itself at the end of the block."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Release what is open; here it is nothing."""


def lock(fd: int, *, wait: bool = False) -> None:
    """BlockingIOError: another process holds the lock. OSError: the system or the file system has no locks."""
    if fcntl is None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))
    fcntl.flock(fd, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)


def is_locked(file: BinaryIO) -> bool:
    """Return whether a process, also this one through another open file, has locked a file; OSError without locks."""
    if fcntl is None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    return False


def sync_folder(folder: Path) -> None:
    """Wait until the disk has the names in a folder; does nothing on Windows, where no folder can be opened."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    fd = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
