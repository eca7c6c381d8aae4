"""The archive's process takes long turns, and nothing else about it changes."""

from __future__ import annotations

import os
import platform
import struct
import subprocess
import sys

import pytest

from recorder.cli import turns

ATTRIBUTES = struct.Struct("<IIQiIQQQ")
SCHED_GETATTR = {"x86_64": 315, "aarch64": 275, "riscv64": 275}
KERNEL = tuple(map(int, platform.release().split(".")[:2]))

# Processes of their own: what is asked for stays until a process ends.
SCRIPT = f"""
import ctypes, os
from recorder.cli.turns import take_long_turns
%s
took = take_long_turns()
found = ctypes.create_string_buffer({ATTRIBUTES.size})
ctypes.CDLL(None).syscall({SCHED_GETATTR[platform.machine()]}, 0, found, len(found), 0)
print(took, found.raw.hex())
"""


def after(before: str) -> tuple[bool, int, int, int]:
    """Whether the system took it, and then the policy, the niceness and the length of turns."""
    done = subprocess.run([sys.executable, "-c", SCRIPT % before], capture_output=True, text=True, check=True)
    took, found = done.stdout.split()
    _, policy, _, nice, _, turn_ns, _, _ = ATTRIBUTES.unpack(bytes.fromhex(found))
    return took == "True", policy, nice, turn_ns


def test_turns_are_long_and_niceness_stays() -> None:
    turn_ns = 20_000_000 if KERNEL >= (6, 12) else 0
    assert after("os.nice(3)") == (True, os.SCHED_OTHER, 3, turn_ns)


def test_a_policy_that_somebody_chose_stays() -> None:
    took, policy, *_ = after("os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))")
    assert (took, policy) == (False, os.SCHED_BATCH)


@pytest.mark.parametrize(("name", "value"), [("system", "Darwin"), ("machine", "pdp11")])
def test_elsewhere_nothing_changes(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setattr(turns.platform, name, lambda: value)
    assert not turns.take_long_turns()
