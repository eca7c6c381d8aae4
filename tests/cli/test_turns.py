"""The archive's process takes long turns, and nothing else about it changes."""

from __future__ import annotations

import errno
import os
import platform
import re
import struct
import subprocess
import sys

import pytest

from recorder.cli import turns

ATTRIBUTES = struct.Struct("<IIQiIQQQ")
SCHED_GETATTR = {"x86_64": 315, "aarch64": 275, "riscv64": 275}.get(platform.machine())
KERNEL = tuple(map(int, re.findall(r"\d+", platform.release())[:2]))

# Processes of their own: what is asked for stays until a process ends.
SCRIPT = f"""
import ctypes, os
from recorder.cli.turns import take_long_turns
os.sched_setscheduler(0, os.%s, os.sched_param(0))
os.nice(3)
took = take_long_turns()
found = ctypes.create_string_buffer({ATTRIBUTES.size})
ctypes.CDLL(None).syscall({SCHED_GETATTR}, 0, found, len(found), 0)
print(took, found.raw.hex())
"""
known = pytest.mark.skipif(SCHED_GETATTR is None, reason="the number of the system call is not known here")


def after(policy: str) -> tuple[bool, int, int, int]:
    """Whether the system took it, and then the policy, the niceness and the length of turns."""
    done = subprocess.run([sys.executable, "-c", SCRIPT % policy], capture_output=True, text=True, check=True)
    took, found = done.stdout.split()
    _, found_policy, _, nice, _, turn_ns, _, _ = ATTRIBUTES.unpack(bytes.fromhex(found))
    return took == "True", found_policy, nice, turn_ns


@known
def test_turns_are_long_and_niceness_stays() -> None:
    turn_ns = 20_000_000 if KERNEL >= (6, 12) else 0
    nice = min(os.getpriority(os.PRIO_PROCESS, 0) + 3, 19)
    assert after("SCHED_OTHER") == (True, os.SCHED_OTHER, nice, turn_ns)


@known
def test_a_policy_that_somebody_chose_stays() -> None:
    took, policy, *_ = after("SCHED_BATCH")
    assert (took, policy) == (False, os.SCHED_BATCH)


def refuse(_: int) -> int:
    raise OSError(errno.ENOSYS, "Function not implemented")


def test_a_c_library_or_a_python_that_lacks_something_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(os, "sched_getscheduler", refuse)  # as musl does
        assert not turns.take_long_turns()
    monkeypatch.setitem(sys.modules, "ctypes", None)
    assert not turns.take_long_turns()


@pytest.mark.parametrize(("name", "value"), [("system", "Darwin"), ("machine", "pdp11")])
def test_elsewhere_nothing_changes(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setattr(turns.platform, name, lambda: value)
    assert not turns.take_long_turns()
