"""The queue in which the answers about an archive are made, and those that are kept.

A few threads make them. Equal requests share one answer; one whose readers have all left is dropped; when too many
wait, the site is busy. An answer is kept until the archive changes.
"""

from __future__ import annotations

import gzip
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Final

from starlette.datastructures import Headers
from starlette.responses import Response

THREADS: Final = 3
WAITING: Final = 32  # answers that wait for a thread; to another request the site answers that it is busy

_KEPT_BYTES: Final = 32 << 20
_PACKED_FROM_BYTES: Final = 1000
_LEVEL: Final = 6

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send


class Page(Response):
    """An answer that is sent packed to those who can unpack it."""

    media_type = "text/html"

    def init_headers(self, headers: Mapping[str, str] | None = None) -> None:
        super().init_headers(headers)
        self.packed = gzip.compress(self.body, _LEVEL, mtime=0) if len(self.body) >= _PACKED_FROM_BYTES else b""
        if self.packed:
            self.raw_headers = [*self.raw_headers, (b"vary", b"accept-encoding")]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not self.packed or "gzip" not in Headers(scope=scope).get("accept-encoding", ""):
            return await super().__call__(scope, receive, send)
        others = [header for header in self.raw_headers if header[0] != b"content-length"]
        size = (b"content-length", str(len(self.packed)).encode())
        headers = [*others, size, (b"content-encoding", b"gzip")]
        await send({"type": "http.response.start", "status": self.status_code, "headers": headers})
        await send({"type": "http.response.body", "body": self.packed})
        return None


class BusyError(Exception):
    """Too many answers wait."""


class LeftError(Exception):
    """All clients that waited for the answer have left, or the site ends."""


class Job:
    made: Future[Response]

    def __init__(self, key: Hashable) -> None:
        self.key = key
        self.readers = 0


class Work:
    """Makes answers in threads, and keeps those that are ``settled`` while the ``version`` stays the same."""

    def __init__(self, version: Callable[[], Hashable] = tuple, settled: Callable[[], bool] = lambda: False) -> None:
        self._version, self._settled = version, settled
        self._threads = ThreadPoolExecutor(THREADS, "answers")
        self._lock = threading.Lock()  # guards all that follows
        self._jobs: dict[Hashable, Job] = {}
        self._running: dict[int, Job] = {}
        self._kept: OrderedDict[Hashable, Page] = OrderedDict()
        self._kept_bytes = 0
        self._closed = False

    @property
    def busy(self) -> bool:
        return bool(self._running)

    @property
    def waiting(self) -> int:
        return sum(job not in self._running.values() for job in [*self._jobs.values()])

    def ask(self, key: Hashable | None, make: Callable[[], Response]) -> Job:
        """The answer, soon; with a ``key``, equal requests share it."""
        whole = object() if key is None else (key, self._version())
        with self._lock:
            if self._closed:
                raise BusyError
            job = self._jobs.get(whole) or Job(whole)
            job.readers += 1
            if whole in self._kept:
                self._kept.move_to_end(whole)
                job.made = Future()
                job.made.set_result(self._kept[whole])
            elif whole not in self._jobs:
                if self.waiting >= WAITING:
                    raise BusyError
                self._jobs[whole] = job
                job.made = self._threads.submit(self._make, job, make)
        return job

    def leave(self, job: Job) -> None:
        """Who asked does not wait any more; an answer for which no client waits is not begun."""
        with self._lock:
            job.readers -= 1
            if not job.readers and self._jobs.get(job.key) is job:
                del self._jobs[job.key]
                job.made.cancel()

    def check(self) -> None:
        """Raise ``LeftError`` if no client waits for the answer that this thread makes."""
        job = self._running.get(threading.get_ident())
        if job is not None and (self._closed or not job.readers):
            raise LeftError

    def close(self) -> None:
        """The site ends: what waits is not made."""
        with self._lock:
            self._closed = True
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _make(self, job: Job, make: Callable[[], Response]) -> Response:
        keeps = False
        self._running[threading.get_ident()] = job
        try:
            response = make()
            keeps = isinstance(job.key, tuple) and response.status_code == 200 and self._settled()
        finally:
            with self._lock:
                del self._running[threading.get_ident()]
                if self._jobs.get(job.key) is job:
                    del self._jobs[job.key]
                if keeps and isinstance(response, Page):
                    self._keep(job.key, response)
        return response

    def _keep(self, key: Hashable, answer: Page) -> None:
        if (before := self._kept.pop(key, None)) is not None:  # two readers came one after the other
            self._kept_bytes -= len(before.body) + len(before.packed)
        self._kept[key] = answer
        self._kept_bytes += len(answer.body) + len(answer.packed)
        while self._kept_bytes > _KEPT_BYTES:
            _, old = self._kept.popitem(last=False)
            self._kept_bytes -= len(old.body) + len(old.packed)
