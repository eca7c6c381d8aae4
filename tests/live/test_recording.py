from typing import Any

import pytest

from recorder.errors import JournalError
from recorder.journal import JournalWriter
from recorder.live.recording import RecordedConnection
from recorder.live.secrets.client import SecretGuard


class FakeJournal(JournalWriter):
    """A journal that keeps its calls; raises ``broken`` once it is set."""

    def __init__(self) -> None:
        self.wrote: list[tuple[Any, ...]] = []
        self.broken: Exception | None = None
        self.now = 7

    def _put(self, *what: Any) -> None:
        if self.broken is not None:
            raise self.broken
        self.wrote.append(what)

    def now_ns(self) -> int:
        return self.now

    def received(self, data: bytes, at_ns: int | None = None) -> None:
        self._put("<", data, at_ns)

    def sent(self, data: bytes, at_ns: int | None = None) -> None:
        self._put(">", data, at_ns)

    def note(self, kind: str, **facts: Any) -> None:
        self._put(kind, facts)

    def tick(self) -> None:
        self._put("tick")

    def close(self) -> None:
        self._put("close")


def started(*, must: bool = False) -> tuple[FakeJournal, list[str], RecordedConnection]:
    journal, messages = FakeJournal(), list[str]()
    return journal, messages, RecordedConnection(journal, messages.append, must=must)


def break_guard(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("s3cret")

    monkeypatch.setattr(SecretGuard, "client_sent", broken)
    monkeypatch.setattr(SecretGuard, "server_sent", broken)


def test_a_failed_guard_leaves_only_masked_bytes_of_the_client(monkeypatch: pytest.MonkeyPatch) -> None:
    journal, messages, recording = started()
    recording.client_sent(b"held", 1)
    break_guard(monkeypatch)
    recording.server_sent(b"in", 2)
    recording.client_sent(b"s3cret", 3)
    recording.server_sent(b"more", 4)
    recording.close()
    assert journal.wrote == [
        ("<", b"in", 2),
        (">", b"****", 7),
        (">", b"******", 7),
        ("<", b"more", 4),
        ("closed", {}),
        ("close",),
    ]
    assert recording.failed
    assert len(messages) == 1
    assert "RuntimeError" in messages[0]
    assert "s3cret" not in messages[0]


def test_a_journal_failure_is_raised_where_recording_is_the_only_purpose(monkeypatch: pytest.MonkeyPatch) -> None:
    journal, messages, recording = started(must=True)
    recording.client_sent(b"held", 1)
    journal.broken = JournalError("The journal x cannot be written: No space left on device.")
    with pytest.raises(JournalError):
        recording.server_sent(b"one", 2)
    with pytest.raises(JournalError):
        recording.release()
    assert not messages
    journal.broken = None
    break_guard(monkeypatch)
    recording.server_sent(b"two\n", 3)
    assert recording.muted == "RuntimeError"
    assert ("<", b"two\n", 3) in journal.wrote


def test_a_bug_in_the_journal_does_not_end_the_connection() -> None:
    journal, messages, recording = started()
    journal.broken = ZeroDivisionError("s3cret")
    recording.server_sent(b"one", 1)
    recording.close()
    assert recording.failed
    assert messages == ["RECORDING HAS ENDED, the connection continues: the journal failed (ZeroDivisionError)."]
