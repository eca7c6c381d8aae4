from __future__ import annotations

from typing import Any

import pytest

from recorder.errors import JournalError
from recorder.live.recording import RecordedConnection
from recorder.live.secrets.client import Release


class FakeJournal:
    """A journal that keeps its calls; raises ``broken`` once it is set."""

    def __init__(self) -> None:
        self.wrote: list[tuple[Any, ...]] = []
        self.broken: Exception | None = None

    def _put(self, *what: Any) -> None:
        if self.broken is not None:
            raise self.broken
        self.wrote.append(what)

    def now_ns(self) -> int:
        return 7

    def received(self, data: bytes, at_ns: int | None = None) -> None:
        self._put("<", data, at_ns)

    def sent(self, data: bytes, at_ns: int | None = None) -> None:
        self._put(">", data, at_ns)

    def withheld(self, count: int, at_ns: int | None = None) -> None:
        self._put("withheld", count, at_ns)

    def note(self, kind: str, **facts: Any) -> None:
        self._put(kind, facts)

    def tick(self) -> None:
        self._put("tick")

    def close(self) -> None:
        self._put("close")


class FakeGuard:
    """A guard that holds everything until the server sends ``in``."""

    def __init__(self) -> None:
        self.kept_back: list[Release] = []
        self.broken = False

    def server_sent(self, data: bytes) -> list[Release]:
        if self.broken:
            raise RuntimeError("s3cret")
        return self.finish() if data == b"in" else []

    def client_sent(self, data: bytes, at_ns: int) -> list[Release]:
        if self.broken:
            raise RuntimeError("s3cret")
        secret = data == b"s3cret"
        self.kept_back.append(Release(at_ns, b"" if secret else data, len(data) if secret else 0))
        return []

    def take_repeated(self) -> list[bytes]:
        return []

    def take_learned(self) -> list[bytes]:
        return []

    def finish(self) -> list[Release]:
        released, self.kept_back = self.kept_back, []
        return released


def started() -> tuple[FakeJournal, FakeGuard, list[str], RecordedConnection]:
    journal, guard, messages = FakeJournal(), FakeGuard(), list[str]()
    return journal, guard, messages, RecordedConnection(journal, guard, messages.append)


def test_server_bytes_are_written_at_once_and_client_bytes_when_released() -> None:
    journal, _, messages, recording = started()
    recording.note("connected")
    recording.server_sent(b"password: ", 1)
    recording.client_sent(b"s3cret", 2)
    recording.client_sent(b"moves\n", 3)
    assert journal.wrote == [("connected", {}), ("<", b"password: ", 1)]
    recording.server_sent(b"in", 4)
    recording.close(by="client")
    assert journal.wrote[2:] == [
        ("<", b"in", 4),
        ("withheld", 6, 2),
        (">", b"moves\n", 3),
        ("closed", {"by": "client"}),
        ("close",),
    ]
    assert not messages
    assert not recording.failed


def test_a_password_that_the_server_repeats_is_not_written() -> None:
    journal, _, _, recording = started()
    recording.server_sent(b"fics% Password changed to se", 1)
    recording.server_sent(b"cret.\n\rfics% ", 2)
    assert journal.wrote == [("<", b"fics% Password changed to **", 1), ("<", b"*****\n\rfics% ", 2)]


def test_bytes_kept_back_are_written_at_the_end() -> None:
    journal, _, _, recording = started()
    recording.client_sent(b"name\n", 1)
    recording.close()
    assert journal.wrote == [(">", b"name\n", 1), ("closed", {}), ("close",)]


def test_a_failed_guard_leaves_only_counts_of_the_clients_bytes() -> None:
    journal, guard, messages, recording = started()
    recording.client_sent(b"held", 1)
    guard.broken = True
    recording.server_sent(b"in", 2)
    recording.client_sent(b"s3cret", 3)
    recording.server_sent(b"more", 4)
    recording.close()
    assert journal.wrote == [
        ("<", b"in", 2),
        ("withheld", 4, None),
        ("withheld", 6, 3),
        ("<", b"more", 4),
        ("closed", {}),
        ("close",),
    ]
    assert recording.failed
    assert len(messages) == 1
    assert "RuntimeError" in messages[0]
    assert "s3cret" not in messages[0]


def test_a_failed_journal_ends_the_recording_and_is_reported_once() -> None:
    journal, _, messages, recording = started()
    recording.server_sent(b"one", 1)
    journal.broken = JournalError("The journal x cannot be written: No space left on device.")
    recording.server_sent(b"two", 2)
    recording.client_sent(b"three", 3)
    recording.tick()
    recording.note("outage")
    journal.broken = None
    recording.server_sent(b"in", 4)
    recording.close()
    assert journal.wrote == [("<", b"one", 1)]
    assert recording.failed
    assert messages == [
        "RECORDING HAS ENDED, the connection continues: The journal x cannot be written: No space left on device."
    ]


def test_a_journal_failure_is_raised_where_recording_is_the_only_purpose() -> None:
    journal, guard, messages = FakeJournal(), FakeGuard(), list[str]()
    recording = RecordedConnection(journal, guard, messages.append, must=True)
    recording.client_sent(b"held", 1)
    journal.broken = JournalError("The journal x cannot be written: No space left on device.")
    with pytest.raises(JournalError):
        recording.server_sent(b"one", 2)
    with pytest.raises(JournalError):
        recording.release()
    assert not messages
    journal.broken, guard.broken = None, True
    recording.server_sent(b"two", 3)
    assert recording.muted == "RuntimeError"
    assert ("<", b"two", 3) in journal.wrote


def test_a_bug_in_the_journal_does_not_end_the_connection() -> None:
    journal, _, messages, recording = started()
    journal.broken = ZeroDivisionError("s3cret")
    recording.server_sent(b"one", 1)
    recording.close()
    assert recording.failed
    assert messages == ["RECORDING HAS ENDED, the connection continues: the journal failed (ZeroDivisionError)."]
