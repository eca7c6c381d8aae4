"""What goes into the pipe to the archive's process, and what does not hold up whoever writes."""

from __future__ import annotations

import os

from recorder.live.hints import Hints


def _connected(*orders: bytes) -> tuple[int, Hints]:
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    hints = Hints()
    hints.connect(writer, list(orders))
    return reader, hints


def test_an_order_is_given_once_before_the_hint() -> None:
    reader, hints = _connected(b"one\n")
    hints.give()
    hints.order(b"two\n")
    hints.order(b"three\n")
    hints.give()
    hints.give()
    hints.close()
    assert os.read(reader, 1000) == b"one\n\ntwo\nthree\n\n\n\n"
    assert os.read(reader, 1) == b"", "it is closed"
    os.close(reader)


def test_a_hint_never_waits() -> None:
    reader, hints = _connected()
    for _ in range(100_000):
        hints.give()
    hints.order(b"late\n")
    hints.give()
    assert set(os.read(reader, 1 << 20)) == set(b"\n"), "it is full"
    hints.give()
    assert os.read(reader, 1000).startswith(b"late\n"), "what found no room is told when there is some"
    os.close(reader)
    hints.give()
    hints.close()
    hints.give()


def test_nobody_is_told_before_there_is_somebody() -> None:
    hints = Hints()
    hints.order(b"lost\n")
    hints.give()
    hints.close()
    reader, writer = os.pipe()
    hints.connect(writer, [])
    hints.give()
    assert os.read(reader, 1000) == b"\n"
    hints.close()
    os.close(reader)
