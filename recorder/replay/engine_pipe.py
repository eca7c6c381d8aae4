"""Connects a recorded game that plays as an engine to the interface that started it, over standard input and output."""

from __future__ import annotations

import os
import select
import signal
import sys
from time import monotonic_ns
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:  # ``announce`` runs before anything large is loaded
    from recorder.replay.engine import RecordedEngine

_MAX_LINE_BYTES: Final = 4096  # the protocol has no longer line
_STDIN: Final = 0
_READ_BYTES: Final = 65_536
_FIRST_LINE: Final = "feature done=0"  # an interface waits for the first feature for two seconds only


def announce() -> None:
    """Announce to the interface that features follow, and ignore its interrupts from now on."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # xboard interrupts before it has read that the engine needs none
    _write([_FIRST_LINE])


def play(engine: RecordedEngine) -> None:
    """Answer the interface until it sends ``quit`` or closes standard input."""
    rest = bytearray()
    while not engine.quits:
        due_ns = engine.due_ns
        wait_s = None if due_ns is None else max(0, due_ns - monotonic_ns()) / 1e9
        if select.select([_STDIN], [], [], wait_s)[0]:
            data = os.read(_STDIN, _READ_BYTES)
            if not data:
                return
            *lines, rest = (rest + data).split(b"\n")
            del rest[_MAX_LINE_BYTES:]
            for line in lines:
                text = line[:_MAX_LINE_BYTES].rstrip(b"\r").decode("utf-8", "replace")
                _write(engine.receive(text, monotonic_ns()))
                if engine.quits:
                    return
        _write(engine.take(monotonic_ns()))


def _write(lines: list[str]) -> None:
    if lines:
        sys.stdout.write("".join(f"{line}\n" for line in lines))
        sys.stdout.flush()
