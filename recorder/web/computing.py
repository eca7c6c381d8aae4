"""Computations that may take longer than a request: each is started once and shared by all who ask for it."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Final

from recorder.errors import SearchTimeoutError

__all__ = ["COMPUTING_S", "KEPT_S", "AbandonedError", "Computation", "Computations"]

COMPUTING_S: Final = 300.0
"""How long a computation may take, from when it begins to run."""

KEPT_S: Final = 60.0
"""How long a result is kept for pages that ask for it again."""

_ABANDONED_S: Final = 20.0
"""After so long without a request, a computation is stopped."""

_LOOKS_EVERY_S: Final = 0.02
_AT_ONCE: Final = 2
_MOST: Final = 8
"""Computations that run or wait."""


class AbandonedError(Exception):
    """A computation was stopped, because no client asks for it any more or because the site ends."""


class Computation:
    """A computation that waits, runs or has ended.

    Attributes:
        read, total: how many plies it has read, and how many there are to read; 0: it has not begun.
        reading: which reading of the plies it is: some measures read them more than once.
    """

    def __init__(self) -> None:
        self.read = self.total = self.reading = 0
        self._asked_s = time.monotonic()
        self._stopped = False
        self._ends_s: float | None = None
        self._ended_s: float | None = None
        self._again = False
        self._result: Future[Any]

    def start(self, threads: ThreadPoolExecutor, compute: Callable[[Computation], Any]) -> None:
        """Let it run as soon as one of the threads is free."""

        def run() -> Any:
            try:
                self._check()
                self._ends_s = time.monotonic() + COMPUTING_S
                return compute(self)
            finally:
                self._ended_s = time.monotonic()

        self._result = threads.submit(run)

    def progress(self, read: int, total: int) -> None:
        """State how many plies have been read; 0 begins a reading.

        Raises:
            AbandonedError: the result is not wanted any more. SearchTimeoutError: the computation takes too long.
        """
        self.reading += read == 0
        self.read, self.total = read, total
        self._check()

    def _check(self) -> None:
        now_s = time.monotonic()
        if self._stopped or now_s - self._asked_s > _ABANDONED_S:
            raise AbandonedError
        if self._ends_s is not None and now_s > self._ends_s:
            raise SearchTimeoutError(f"The computation took longer than {COMPUTING_S:g} seconds.")

    async def within(self, wait_s: float) -> bool:
        """Wait for the result: whether it is there. If it is not, it is kept for a later request."""
        ends_s = time.monotonic() + wait_s
        while not (ended := self._result.done()) and time.monotonic() < ends_s:
            await asyncio.sleep(_LOOKS_EVERY_S)
        self._asked_s = time.monotonic()
        self._again |= not ended
        return ended

    def result(self) -> Any:
        """What the computation returned. Raises what it raised."""
        return self._result.result()

    def wanted(self) -> None:
        """A client asks for it."""
        self._asked_s = time.monotonic()

    def stop(self) -> None:
        """Let it end without a result."""
        self._stopped = True

    @property
    def ended(self) -> bool:
        """Whether it has a result or an error."""
        return self._result.done()

    @property
    def usable(self) -> bool:
        """Whether a new request may get its result: the archive may have changed since an older one."""
        if not self._result.done():
            return not self._stopped
        fresh = self._again and self._ended_s is not None and time.monotonic() - self._ended_s < KEPT_S
        return fresh and not isinstance(self._result.exception(), AbandonedError)


class Computations:
    """The computations of a site: a few run at a time, and a few more wait."""

    def __init__(self) -> None:
        # Not the threads of other requests: computations that wait for each other must not take them all.
        self._threads = ThreadPoolExecutor(_AT_ONCE, "computation")
        self._lock = threading.Lock()
        self._known: dict[str, Computation] = {}
        self._closed = False

    def known(self, name: str) -> bool:
        """Whether ``ask`` would find the computation with a name."""
        with self._lock:
            return name in self._known and self._known[name].usable

    def ask(self, name: str, compute: Callable[[Computation], Any]) -> Computation | None:
        """The computation with a name; it is started if there is none.

        Args:
            name: equal for equal results. compute: is called in a thread, with the computation for its progress.
        Returns:
            None: too many others run or wait, or the site ends.
        """
        with self._lock:
            self._known = {known: one for known, one in self._known.items() if one.usable}
            found = self._known.get(name)
            if found is None:
                if self._closed or sum(not one.ended for one in self._known.values()) >= _MOST:
                    return None
                found = self._known[name] = Computation()
                found.start(self._threads, compute)
            found.wanted()
            return found

    def close(self) -> None:
        """Stop all computations, and begin none."""
        with self._lock:
            self._closed = True
            for one in self._known.values():
                one.stop()
