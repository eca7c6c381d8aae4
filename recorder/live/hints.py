"""What the archive's process is told while somebody records: journals to take, and that something was written."""

from __future__ import annotations

import os
import threading
from typing import Final

__all__ = ["Hints"]

_NONE: Final = -1
_write: Final = os.write


class Hints:
    """A pipe to a process that may not be there. Nobody waits for it: at worst the process looks a little later."""

    def __init__(self) -> None:
        self._lock = threading.Lock()  # journals may be written by other threads
        self._pipe = _NONE
        self._orders: list[bytes] = []

    def connect(self, pipe: int, orders: list[bytes]) -> None:
        """A process is there.

        Args:
            pipe: to it; writing does not block. orders: lines for it, whatever those before it were told.
        """
        with self._lock:
            self._pipe = pipe
            self._orders = orders

    def order(self, line: bytes) -> None:
        """Have a process told something; if there is none, ``connect`` has it among the orders."""
        with self._lock:
            if self._pipe != _NONE:
                self._orders.append(line)

    def give(self) -> None:
        """Tell the process that there is something to read, and what it was not told yet."""
        with self._lock:
            if self._pipe == _NONE:
                return
            try:
                while self._orders:
                    _write(self._pipe, self._orders[0])
                    del self._orders[0]
                _write(self._pipe, b"\n")
            except OSError:
                pass  # it is full, or the process has just ended

    def close(self) -> None:
        """The process gets no more: it ends when it has done what it was told."""
        self.give()
        with self._lock:
            if self._pipe != _NONE:
                os.close(self._pipe)
                self._pipe = _NONE
