"""The queue in which the answers about an archive are made, and those that are kept.

A few threads make them. Equal requests share one answer; one whose readers have all left is dropped; when too many
wait, the site is busy. An answer is kept until the archive changes.
"""

from __future__ import annotations

import gzip
import threading
from collections import OrderedDict, deque
from collections.abc import Callable, Hashable, Mapping
from concurrent.futures import Future
from typing import TYPE_CHECKING, Final

from starlette.datastructures import Headers
from starlette.responses import Response

THREADS: Final = 3
WAITING: Final = 32
"""Answers that wait for a thread; to another request the site answers that it is busy."""

_KEPT_BYTES: Final = 32 << 20
_PACKED_FROM_BYTES: Final = 1000
_LEVEL: Final = 6

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

_Waiter = Future[Response]


class Page(Response):
    """An answer that is sent packed to those who can unpack it."""

    media_type = "text/html"

    def init_headers(self, headers: Mapping[str, str] | None = None) -> None:
        """Make its headers, packed and not."""
        super().init_headers(headers)
        self.packed = b""
        if len(self.body) >= _PACKED_FROM_BYTES:
            self.packed = gzip.compress(self.body, _LEVEL, mtime=0)
            self.raw_headers = [*self.raw_headers, (b"vary", b"accept-encoding")]
            size = (b"content-length", str(len(self.packed)).encode())
            others = [header for header in self.raw_headers if header[0] != b"content-length"]
            self._packed_headers = [*others, size, (b"content-encoding", b"gzip")]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it."""
        if not self.packed or "gzip" not in Headers(scope=scope).get("accept-encoding", ""):
            return await super().__call__(scope, receive, send)
        await send({"type": "http.response.start", "status": self.status_code, "headers": self._packed_headers})
        await send({"type": "http.response.body", "body": self.packed})
        return None


class BusyError(Exception):
    """Too many answers wait."""


class LeftError(Exception):
    """All clients that waited for the answer have left, or the site ends."""


class _Job:
    def __init__(self, key: Hashable, make: Callable[[], Response]) -> None:
        self.key, self.make = key, make
        self.waiters: set[_Waiter] = set()


class Work:
    """Makes answers in threads, and keeps those that are ``settled`` while the ``version`` stays the same."""

    def __init__(self, version: Callable[[], Hashable] = tuple, settled: Callable[[], bool] = lambda: False) -> None:
        self._version, self._settled = version, settled
        self._changed = threading.Condition()  # guards all that follows
        self._queue: deque[_Job] = deque()
        self._jobs: dict[Hashable, _Job] = {}  # waiting and in a thread
        self._running: dict[threading.Thread, _Job | None] = {}
        self._kept: OrderedDict[Hashable, Page] = OrderedDict()
        self._kept_bytes = 0
        self._closed = False

    @property
    def busy(self) -> bool:
        """Whether a thread makes an answer."""
        with self._changed:
            return any(job is not None for job in self._running.values())

    @property
    def waiting(self) -> int:
        """How many answers wait for a thread."""
        return len(self._queue)

    def ask(self, key: Hashable | None, make: Callable[[], Response]) -> _Waiter:
        """The answer, soon; with a ``key``, equal requests share it."""
        waiter: _Waiter = Future()
        whole = None if key is None else (key, self._version())
        with self._changed:
            if self._closed:
                raise BusyError
            if whole in self._kept:
                self._kept.move_to_end(whole)
                waiter.set_result(self._kept[whole])
                return waiter
            job = None if whole is None else self._jobs.get(whole)
            if job is None:
                if len(self._queue) >= WAITING:
                    raise BusyError
                job = _Job(waiter if whole is None else whole, make)
                self._jobs[job.key] = job
                self._queue.append(job)
                if len(self._running) < THREADS:
                    thread = threading.Thread(target=self._run, name="answers", daemon=True)
                    self._running[thread] = None
                    thread.start()
                self._changed.notify()
            job.waiters.add(waiter)
        return waiter

    def leave(self, waiter: _Waiter) -> None:
        """Who asked does not wait any more; an answer for which no client waits is not begun."""
        with self._changed:
            job = next((job for job in self._jobs.values() if waiter in job.waiters), None)
            if job is None:
                return
            job.waiters.remove(waiter)
            if not job.waiters:
                del self._jobs[job.key]
                if job in self._queue:
                    self._queue.remove(job)

    def check(self) -> None:
        """Raise ``LeftError`` if no client waits for the answer that this thread makes."""
        job = self._running.get(threading.current_thread())
        if job is not None and (self._closed or not job.waiters):
            raise LeftError

    def close(self) -> None:
        """The site ends: what waits is not made."""
        with self._changed:
            self._closed = True
            self._queue.clear()
            self._changed.notify_all()

    def _run(self) -> None:
        me = threading.current_thread()
        while True:
            with self._changed:
                self._running[me] = None
                self._changed.wait_for(lambda: self._queue or self._closed)
                if self._closed:
                    return
                job = self._running[me] = self._queue.popleft()
            found: Response | None = None
            failed: BaseException | None = None
            try:
                found = job.make()
                keeps = isinstance(job.key, tuple) and found.status_code == 200 and self._settled()
            except BaseException as error:
                failed, keeps = error, False
            with self._changed:
                if self._jobs.get(job.key) is job:
                    del self._jobs[job.key]
                waiters = list(job.waiters)
                if keeps and isinstance(found, Page):
                    self._keep(job.key, found)
            for waiter in waiters:
                if not waiter.set_running_or_notify_cancel():
                    continue
                if found is None:
                    waiter.set_exception(failed)
                else:
                    waiter.set_result(found)

    def _keep(self, key: Hashable, answer: Page) -> None:
        if (before := self._kept.pop(key, None)) is not None:  # two readers came one after the other
            self._kept_bytes -= len(before.body) + len(before.packed)
        self._kept[key] = answer
        self._kept_bytes += len(answer.body) + len(answer.packed)
        while self._kept_bytes > _KEPT_BYTES:
            _, old = self._kept.popitem(last=False)
            self._kept_bytes -= len(old.body) + len(old.packed)
