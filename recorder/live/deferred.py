"""A journal that is written in a thread of its own, so that nobody who forwards bytes waits for the disk.

What waits to be written is bounded. At the bound the caller waits a moment: a thread that merely lags behind takes
something meanwhile, and so the disk slows the sender down. One that takes nothing has a disk that hangs: recording
ends, loudly, and what waits is written, with a note that it ended there, when the disk answers after all.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from queue import SimpleQueue
from typing import Any, Final

from recorder.errors import JournalError
from recorder.live.recording import Journal

__all__ = ["MOST_BYTES", "DeferredJournal"]

MOST_BYTES: Final = 16 << 20
"""What may wait, each thing with ``_EACH_BYTES`` for its own weight in memory."""

_EACH_BYTES: Final = 512
_HANGS_S: Final = 0.25
_LOOK_S: Final = 0.005
_CLOSE_S: Final = 10.0


class DeferredJournal:
    """Writes to a journal in another thread; every call but ``close`` returns at once, or at the bound within a moment.

    Args:
        journal: only the thread uses it from now on, but for its clock and its name.
        most_bytes: how much may wait.
        hangs_s: at this bound, how long it takes to tell a disk that hangs from one that is slow.
        close_s: how long ``close`` waits for the disk.

    Raises:
        JournalError: from every method: the journal could not be written, or too much waits. It is written no more.
    """

    def __init__(
        self,
        journal: Journal,
        *,
        most_bytes: int = MOST_BYTES,
        hangs_s: float = _HANGS_S,
        close_s: float = _CLOSE_S,
    ) -> None:
        self._journal = journal
        self._most_bytes = most_bytes
        self._hangs_s = hangs_s
        self._close_s = close_s
        self._work: SimpleQueue[tuple[int, Callable[[], None]] | None] = SimpleQueue()
        self._given = 0  # bytes; counted here alone
        self._taken = 0  # counted in the thread alone
        self._failure: Exception | None = None
        self._closing = False
        self._thread = threading.Thread(target=self._write, name="journal", daemon=True)  # a dead disk holds no exit up
        self._thread.start()

    def now_ns(self) -> int:
        """Nanoseconds since the journal's anchor."""
        return self._journal.now_ns()

    def received(self, data: bytes, at_ns: int | None = None) -> None:
        """Write what the server sent."""
        self._put(len(data), partial(self._journal.received, data, self._at(at_ns)))

    def sent(self, data: bytes, at_ns: int | None = None) -> None:
        """Write what was sent to the server."""
        self._put(len(data), partial(self._journal.sent, data, self._at(at_ns)))

    def withheld(self, count: int, at_ns: int | None = None) -> None:
        """Write how many bytes were sent that must not be kept."""
        self._put(0, partial(self._journal.withheld, count, self._at(at_ns)))

    def note(self, kind: str, **facts: Any) -> None:
        """Write a fact about the connection."""
        self._put(0, partial(self._journal.note, kind, **facts))

    def tick(self) -> None:
        """To be called at least once a second."""
        if self._taken == self._given or self._failure is not None:
            self._put(0, self._journal.tick)

    def close(self) -> None:
        """Write what waits and close the file; after a failure without waiting for it."""
        if self._closing:
            return
        self._closing = True
        self._work.put((0, self._journal.close))
        self._work.put(None)
        if self._failure is None:
            self._thread.join(self._close_s)
        if self._failure is not None:
            raise self._failure
        if self._thread.is_alive():
            raise JournalError(
                f"The disk did not answer for {self._close_s:.0f} s: {self._waiting:,} bytes wait to be written."
            )

    @property
    def _waiting(self) -> int:
        return self._given - self._taken

    def _at(self, at_ns: int | None) -> int:
        return self._journal.now_ns() if at_ns is None else at_ns

    def _put(self, size: int, write: Callable[[], None]) -> None:
        if self._failure is not None:
            raise self._failure
        size += _EACH_BYTES
        if self._waiting + size > self._most_bytes and not self._takes(size):
            self._failure = JournalError(
                f"The disk does not answer: {self._waiting:,} bytes wait to be written. See to the disk, then connect "
                "again."
            )
            self._work.put((0, partial(self._journal.note, "unrecorded", why="the disk did not answer")))
            raise self._failure
        self._given += size
        self._work.put((size, write))

    def _takes(self, size: int) -> bool:
        """Wait until there is room; False: the thread has taken nothing for too long."""
        taken, since = self._taken, time.monotonic()
        while self._waiting + size > self._most_bytes:
            if self._taken != taken:
                taken, since = self._taken, time.monotonic()
            elif time.monotonic() - since > self._hangs_s:
                return False
            time.sleep(_LOOK_S)
        return True

    def _write(self) -> None:
        broken = False
        while (work := self._work.get()) is not None:
            size, write = work
            if not broken:
                try:
                    write()
                except Exception as error:
                    broken = True
                    self._failure = self._failure or error
                    with suppress(Exception):  # it has failed already; only its file is to be let go
                        self._journal.close()
            self._taken += size
