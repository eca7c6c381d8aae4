"""A file of a journal that is being appended to."""

from __future__ import annotations

import os

__all__ = ["AppendedFile"]

_sync = getattr(os, "fdatasync", os.fsync)  # the size is synced, too, as far as it takes to read the bytes again


class AppendedFile:
    """A file that is appended to. Every method raises ``OSError``.

    Args:
        name: where it stands, for what is said when it is gone.
        fd: it is open for appending; this object closes it.
    """

    def __init__(self, name: str, fd: int) -> None:
        self._name = name
        self._fd = fd

    def write(self, data: bytes, /) -> int:
        """Hand bytes to the operating system, perhaps fewer than all; how many it took."""
        return os.write(self._fd, data)

    def sync(self) -> None:
        """Return when the disk has what was written."""
        _sync(self._fd)

    def check(self) -> None:
        """Fail if the file has been removed: what is written to it would be lost unseen."""
        if os.fstat(self._fd).st_nlink == 0:
            raise FileNotFoundError(None, "it was removed while it was being written", self._name)

    def close(self) -> None:
        """Let go of it."""
        os.close(self._fd)
