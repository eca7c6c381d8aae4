"""How the archive's process shares a processor with whoever records.

Linux since 6.12 lets a process say how long its turns may be; one that is woken and takes short turns interrupts one
that takes long turns. So a recorder that a disk has just answered need not wait until the archive has its row, and the
archive's process loses none of its share. Where the system knows no such thing, nothing changes.

Source: sched(7) and sched_setattr(2) of the Linux manual; the system calls' numbers are those of the kernel's tables.
"""

from __future__ import annotations

import os
import platform
import struct
import sys
from contextlib import suppress
from typing import Final

__all__ = ["take_long_turns"]

_TURN_NS: Final = 20_000_000
_SCHED_SETATTR: Final = {"x86_64": 314, "aarch64": 274, "riscv64": 274}
_ATTRIBUTES: Final = struct.Struct("<IIQiIQQQ")  # size, policy, flags, nice, priority, runtime, deadline, period


def take_long_turns() -> bool:
    """Let whoever wakes on this process's processor go first; whether the system took it.

    A policy that somebody has chosen for this process stays; so does how nice it is.
    """
    number = _SCHED_SETATTR.get(platform.machine())
    if platform.system() != "Linux" or number is None or sys.maxsize < 1 << 32:  # else the numbers are others
        return False
    with suppress(OSError, AttributeError, ImportError):  # a Python or a C library that has something of it not
        import ctypes

        if os.sched_getscheduler(0) == os.SCHED_OTHER:
            nice = os.getpriority(os.PRIO_PROCESS, 0)
            attributes = _ATTRIBUTES.pack(_ATTRIBUTES.size, os.SCHED_OTHER, 0, nice, 0, _TURN_NS, 0, 0)
            call = ctypes.CDLL(None).syscall
            return bool(call(ctypes.c_long(number), 0, ctypes.c_char_p(attributes), 0) == 0)
    return False
