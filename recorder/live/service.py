"""Signals that end the program, and reports to the service manager: ready, alive, stopping.

Each report is one datagram to the socket that the manager names in the environment.

Source: sd_notify(3), sd_watchdog_enabled(3).
"""

from __future__ import annotations

import asyncio
import os
import select
import signal
import socket
from collections.abc import Callable, Iterator, MutableMapping
from contextlib import contextmanager
from typing import Final

_LOOK_S: Final = 0.1


class ServiceManager:
    """The service manager, if there is one; without one every method does nothing."""

    def __init__(self, environment: MutableMapping[str, str], failed: Callable[[str], object]) -> None:
        # Removed, so that no child process reports in the recorder's place.
        self._address = environment.pop("NOTIFY_SOCKET", "")
        interval = environment.pop("WATCHDOG_USEC", "")
        process = environment.pop("WATCHDOG_PID", str(os.getpid()))
        self._watchdog_s: float | None = None
        if process == str(os.getpid()) and interval.isascii() and interval.isdecimal() and int(interval) > 0:
            self._watchdog_s = int(interval) / 2_000_000  # half of it
        self._failed = failed
        self._has_failed = False
        self._is_stopping = False

    async def run(self, is_recording: Callable[[], bool], stop: asyncio.Event) -> None:
        """Report READY when recording has begun, WATCHDOG while the loop runs, and STOPPING, until cancelled."""
        if self._address:
            await asyncio.gather(self._watch(), self._report_ready(is_recording), self._report_stopping(stop))

    async def _watch(self) -> None:
        while self._watchdog_s is not None:
            self._send("WATCHDOG=1")
            await asyncio.sleep(self._watchdog_s)

    async def _report_ready(self, is_recording: Callable[[], bool]) -> None:
        while not self._is_stopping and not (is_recording() and self._send("READY=1")):
            await asyncio.sleep(_LOOK_S)

    async def _report_stopping(self, stop: asyncio.Event) -> None:
        await stop.wait()
        self.stopping()

    def stopping(self) -> None:
        if self._address and not self._is_stopping:
            self._is_stopping = True
            self._send("STOPPING=1")

    def _send(self, state: str) -> bool:
        """Send one report without waiting; return whether the system has accepted it."""
        address = self._address
        try:
            if address[0] not in "/@":
                raise OSError("NOTIFY_SOCKET is neither an absolute path nor an abstract socket")
            name = os.fsencode(address)
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
                sender.setblocking(False)
                sender.sendto(state.encode("ascii"), b"\0" + name[1:] if address[0] == "@" else name)
        except BlockingIOError:
            return False
        except (OSError, ValueError) as error:
            if not self._has_failed:
                self._has_failed = True
                self._failed(getattr(error, "strerror", None) or str(error))
            return False
        return True


def heed_signals(stop: asyncio.Event, hurry: asyncio.Event) -> None:
    """Ctrl-C or SIGTERM sets ``stop``, then ``hurry``: skip what is not archived; a lost terminal sets ``stop``."""
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, lambda: (hurry if stop.is_set() else stop).set())
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # ignored under nohup
        loop.add_signal_handler(signal.SIGHUP, stop.set)


class StopRequest:
    """An event that a signal handler may set. It has no lock, which the handler's own thread could already own."""

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
