"""A journal written in a thread: no byte is lost, no client waits, and a hanging disk is reported."""

import threading
import time
from typing import Any

from recorder.live.recording import DeferredJournal
from tests.live.test_recording import FakeJournal


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


def test_a_slow_disk_slows_the_sender_and_loses_nothing() -> None:
    disk = Disk()
    disk.pause_s = 0.002
    journal = DeferredJournal(disk, most_bytes=20_000, hangs_s=10)
    for number in range(100):
        journal.received(b"x" * 1000, number)
        assert journal._waiting <= 20_000
    journal.close()
    assert len(disk.wrote) == 101
