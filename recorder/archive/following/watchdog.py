"""A time limit on the archive's process that holds even while it is stuck in C code.

The kernel ends the process: a timer of processor time and one of elapsed time run, with the default action of their
signals, and each step of progress sets them again. Waiting for a lock, for the disk or while the machine sleeps takes
no processor time, so only the longer limit of elapsed time counts there.

Source: setitimer(2) and prctl(2) of the Linux manual.
"""

from __future__ import annotations

import os
import platform
import signal
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

STUCK_SIGNALS: Final = frozenset(number for number in signal.Signals if number.name in ("SIGALRM", "SIGPROF"))
"""A process that one of these has ended made no progress. Windows has none of them."""

_LONG: Final = 10
"""How many times longer a step may take that reads no bytes, or waits: opening an archive, writing many games."""
_ALONE: Final = 1 / 3
"""What is left of the limit when the parent has ended."""
_AGAIN: Final = 1 / 30
"""What part of the limit passes before the same timers are set again: a system call takes as long as a short line."""
_PR_SET_PDEATHSIG: Final = 1


class Unwatched:
    """Progress that has no time limit."""

    def begin(self, log: Path) -> None:
        """Work at a log begins."""

    def understand(self) -> None:
        """A block of bytes is about to be parsed, from memory."""

    def progress(self) -> None:
        """A block of bytes was read, parsed or stored."""

    def pause(self) -> None:
        """Something begins that may take long without new bytes, such as opening an archive."""

    def end(self) -> None:
        """No log is in work: this process may wait, or be stopped, for ever."""


class Watchdog(Unwatched):
    """Ends this process when it makes no progress, or soon after its parent has ended.

    Args:
        limit_s: how much processor time one block of bytes may take.
        name_fd: a file that holds the name of the log in work; see ``read_name``.
    """

    def __init__(self, limit_s: float, name_fd: int) -> None:
        self._limit_s = limit_s
        self._name_fd = name_fd
        self._named: Path | None = None
        self._processor = self._elapsed = 0  # what the timers are set to, in limits
        self._set_s = 0.0
        self._parent = os.getppid()
        self._alone = False
        for number in STUCK_SIGNALS:
            signal.signal(number, signal.SIG_DFL)
        signal.signal(signal.SIGUSR1, lambda _number, _frame: self._end_soon())
        _ask_for_signal(signal.SIGUSR1)

    def begin(self, log: Path) -> None:
        if log != self._named:
            self._named = log
            os.pwrite(self._name_fd, os.fsencode(log) + b"\0", 0)
        self._set(1, _LONG)

    def understand(self) -> None:
        self._set(1, 1)

    def progress(self) -> None:
        self._set(1, _LONG)

    def pause(self) -> None:
        self._set(_LONG, _LONG)

    def end(self) -> None:
        self._set(1, 0)

    def _set(self, processor: int, elapsed: int) -> None:
        """Set the timers that end a process without progress.

        Args:
            processor, elapsed: limits in multiples of ``limit_s``, of processor time and of elapsed time; 0: no limit.
        """
        now_s = time.monotonic()
        again = now_s - self._set_s >= _AGAIN * self._limit_s
        if again:
            self._set_s = now_s
            if os.getppid() != self._parent:
                self._end_soon()
        if again or processor != self._processor:
            self._processor = processor
            signal.setitimer(signal.ITIMER_PROF, processor * self._limit_s)
        if (again or elapsed != self._elapsed) and not self._alone:
            self._elapsed = elapsed
            signal.setitimer(signal.ITIMER_REAL, elapsed * self._limit_s)

    def _end_soon(self) -> None:
        """The parent has ended: what it wrote last is still read, but not for long."""
        if not self._alone:
            self._alone = True
            signal.setitimer(signal.ITIMER_REAL, self._limit_s * _ALONE)


def read_name(name_fd: int) -> Path | None:
    """The log that a process under a ``Watchdog`` worked at last; None: it has begun with none."""
    name = os.pread(name_fd, os.fstat(name_fd).st_size, 0).partition(b"\0")[0]
    return Path(os.fsdecode(name)) if name else None


def _ask_for_signal(number: int) -> None:
    """Have the system send a signal when the parent ends, where it can; elsewhere the next step of progress sees it."""
    if platform.system() == "Linux":
        with suppress(OSError, AttributeError, ImportError):
            import ctypes

            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, number)
