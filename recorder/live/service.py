"""Reports to the service manager that has started this process: ready, alive, stopping.

Each report is one datagram to the socket that the manager names in the environment.

Source: sd_notify(3), sd_watchdog_enabled(3).
"""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Callable, MutableMapping
from typing import Final

__all__ = ["ServiceManager"]

_LOOK_S: Final = 0.1


class ServiceManager:
    """The service manager, if there is one; without one every method does nothing.

    Args:
        environment: names the socket and the watchdog's interval. Those variables are removed from it, so that no child
            process reports in our place.
        failed: gets the reason, a clause, when a report cannot be sent; only once.
    """

    def __init__(self, environment: MutableMapping[str, str], failed: Callable[[str], object]) -> None:
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
        """Report READY when recording has begun, WATCHDOG for as long as the loop runs, and STOPPING, until cancelled.

        Args:
            is_recording: whether we are logged in and record. stop: set when recording is to end.
        """
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
        """Report STOPPING. A second time: nothing."""
        if self._address and not self._is_stopping:
            self._is_stopping = True
            self._send("STOPPING=1")

    def _send(self, state: str) -> bool:
        """Send one report without waiting; whether the system has taken it."""
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
