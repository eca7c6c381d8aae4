"""A journal written in a thread: no byte is lost, no client waits, and a hanging disk is reported."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import Any

import pytest

from recorder.errors import JournalError
from recorder.live.net.sockets import in_thread
from recorder.live.recording import DeferredJournal, RecordedConnection
from tests.live.test_recording import FakeJournal
from tests.support.live import in_loop


class Disk(FakeJournal):
    """A journal on a disk that can hang or be slow."""

    def __init__(self) -> None:
        super().__init__()
        self.turns = threading.Event()
        self.turns.set()
        self.pause_s = 0.0

    def _put(self, *what: Any) -> None:
        self.turns.wait(600)
        if self.pause_s:
            time.sleep(self.pause_s)
        super()._put(*what)


def test_everything_is_written_in_order_before_the_journal_is_closed() -> None:
    disk = Disk()
    disk.pause_s = 0.001
    journal = DeferredJournal(disk)
    assert journal.now_ns() == 7
    journal.note("connected", port=1)
    for number in range(50):
        journal.received(b"%d" % number, number)
        journal.sent(b"x")
    journal.close()
    journal.close()
    each = [what for number in range(50) for what in (("<", b"%d" % number, number), (">", b"x", 7))]
    assert disk.wrote == [("connected", {"port": 1}), *each, ("close",)]


def test_a_hanging_disk_delays_no_client_and_is_reported_once_at_the_bound() -> None:
    disk = Disk()
    messages: list[str] = []
    journal = DeferredJournal(disk, most_bytes=1 << 20, hangs_s=0.05)
    recording = RecordedConnection(journal, messages.append)
    disk.turns.clear()
    for number in range(40):
        recording.server_sent(b"x" * 10_000, number)
        recording.tick()
    assert not messages
    for number in range(1000):
        recording.server_sent(b"x" * 10_000, number)
    recording.close(by="client")
    assert len(messages) == 1
    assert messages[0].startswith("RECORDING HAS ENDED, the connection continues: The disk does not respond: 1,0")
    assert recording.failed
    assert disk.wrote == []
    disk.turns.set()
    journal._thread.join(20)
    written = [what for what in disk.wrote if what[0] == "<"]
    assert 90 < len(written) < 110, "what waited is written when the disk answers"
    assert disk.wrote[-2:] == [("unrecorded", {"why": "the disk did not answer"}), ("close",)]


def test_a_slow_disk_slows_the_sender_and_loses_nothing() -> None:
    disk = Disk()
    disk.pause_s = 0.002
    journal = DeferredJournal(disk, most_bytes=20_000, hangs_s=10)
    for number in range(100):
        journal.received(b"x" * 1000, number)
        assert journal._waiting <= 20_000
    journal.close()
    assert len(disk.wrote) == 101


def test_a_failure_is_raised_by_the_next_call() -> None:
    disk = Disk()
    disk.broken = JournalError("The journal x cannot be written: No space left on device.")
    journal = DeferredJournal(disk)
    journal.received(b"one", 1)
    while journal._failure is None:
        time.sleep(0.001)
    for call in (journal.tick, lambda: journal.received(b"two", 2), journal.close):
        with pytest.raises(JournalError, match="No space"):
            call()
    journal._thread.join(20)
    assert disk.wrote == []


def test_closing_has_a_time_limit() -> None:
    disk = Disk()
    journal = DeferredJournal(disk, close_s=0.1)
    disk.turns.clear()
    journal.received(b"one", 1)
    with pytest.raises(JournalError, match="The disk did not respond for 0 s: 515 bytes are waiting"):
        journal.close()
    disk.turns.set()
    journal._thread.join(20)
    assert disk.wrote == [("<", b"one", 1), ("close",)]


@in_loop
async def test_work_in_a_thread_returns_its_result_raises_or_is_late() -> None:
    late: list[int] = []
    go = threading.Event()

    def slow() -> int:
        go.wait(20)
        return 5

    def fails() -> int:
        raise JournalError("no")

    assert await in_thread(lambda: 4, late.append) == 4
    with pytest.raises(JournalError, match="no"):
        await in_thread(fails, late.append)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await in_thread(slow, late.append)
    assert not late
    go.set()
    while not late:
        await asyncio.sleep(0.01)
    assert late == [5]
