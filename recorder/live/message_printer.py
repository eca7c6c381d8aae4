"""Writing in a thread: a terminal that is held up or a disk that hangs never makes the recorder wait."""

from __future__ import annotations

import os
import select
import sys
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import Final, Self

from recorder.text import clean, plural

__all__ = ["BackgroundQueue", "MessagePrinter"]

_MOST: Final = 500
_END_S: Final = 3.0
_STDERR: Final = 2


class BackgroundQueue:
    """A thread that does one thing after the other; who hands something over never waits.

    Args:
        left_out: called in the thread when it gets on again, with how many things there was no room for.
        most: how many things may wait.
    """

    def __init__(self, left_out: Callable[[int], object], most: int = _MOST) -> None:
        self._left_out = left_out
        self._most = most
        self._works: deque[Callable[[], object]] = deque()
        self._missed = 0
        self._idle = True
        self._changed = threading.Condition()
        threading.Thread(target=self._run, name="messages", daemon=True).start()  # it holds no exit up

    def do(self, work: Callable[[], object]) -> None:
        """Have something done, in any thread; what fails there is passed over. At the bound it is left out."""
        with self._changed:
            if len(self._works) >= self._most:
                self._missed += 1
            else:
                self._works.append(work)
                self._changed.notify_all()

    def settle(self, limit_s: float = _END_S) -> bool:
        """Wait until all is done, but not for ever; whether it is."""
        with self._changed:
            return self._changed.wait_for(lambda: self._idle and not self._works, limit_s)

    def _run(self) -> None:
        while True:
            with self._changed:
                self._idle = not self._works and not self._missed
                self._changed.notify_all()
                self._changed.wait_for(lambda: self._works or self._missed)
                self._idle = False
                work = self._works.popleft() if self._works else None
                missed = 0
                if work is None:
                    missed, self._missed = self._missed, 0
            with suppress(Exception):
                if work is None:
                    self._left_out(missed)
                else:
                    work()


class MessagePrinter:
    """Says sentences on standard error while something living goes on, whoever holds that up.

    At its end as a context it waits a moment for what is not said yet.
    """

    def __init__(self) -> None:
        self._queue = BackgroundQueue(
            lambda missed: _write(_encoded(f"({plural(missed, 'message')} found no room here.)"))
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.settle()

    def say(self, sentence: str) -> None:
        """Say one line, made safe for a terminal."""
        self.write(_encoded(clean(sentence)))

    def write(self, data: bytes) -> None:
        """Write bytes."""
        self._queue.do(lambda: _write(data))

    def settle(self, limit_s: float = _END_S) -> bool:
        """Wait until all is said, but not for ever; whether it is."""
        return self._queue.settle(limit_s)


def _encoded(sentence: str) -> bytes:
    encoding = getattr(sys.stderr, "encoding", None) or "utf-8"
    return f"{sentence}\n".encode(encoding, "backslashreplace")


def _write(data: bytes) -> None:
    """Write past Python's own buffer: its lock, held by a thread that waits, would hold up the program's end."""
    if sys.stderr is None:  # closed when we began: the number may be that of another file now
        return
    while data:
        try:
            data = data[os.write(_STDERR, data) :]
        except BlockingIOError:
            select.select([], [_STDERR], [])
