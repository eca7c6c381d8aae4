"""What the signals that end a program do while something is recorded, followed or served."""

from __future__ import annotations

import asyncio
import os
import select
import signal
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["StopRequest", "heed_signals", "stop_on_signals"]


def heed_signals(stop: asyncio.Event, hurry: asyncio.Event) -> None:
    """Ctrl-C or SIGTERM sets ``stop``, and once that is set ``hurry``; a terminal that goes away sets ``stop``.

    To be called in the loop.
    """
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, lambda: (hurry if stop.is_set() else stop).set())
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # ignored under nohup: the terminal may go
        loop.add_signal_handler(signal.SIGHUP, stop.set)


class StopRequest:
    """An event that a signal's handler may set. It has no lock, which the handler could find held by its own thread."""

    def __init__(self) -> None:
        self._asked = False
        self._ends = os.pipe()

    def is_set(self) -> bool:
        return self._asked

    def set(self) -> None:
        self._asked = True
        os.write(self._ends[1], b".")

    def wait(self, timeout_s: float) -> None:
        select.select([self._ends[0]], [], [], timeout_s)

    def close(self) -> None:
        for end in self._ends:
            os.close(end)


@contextmanager
def stop_on_signals() -> Iterator[StopRequest]:
    """An event that the first SIGINT or SIGTERM sets; a second one ends the program as usual."""
    stop = StopRequest()
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def ask(_number: int, _frame: object) -> None:
        stop.set()
        for number, handler in before.items():
            signal.signal(number, handler)

    for number in before:
        signal.signal(number, ask)
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        stop.close()
