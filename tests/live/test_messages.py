"""Messages: their names are an interface, and how they are written."""

import json
import os
import threading
from pathlib import Path

import pytest

from recorder.errors import ExportError
from recorder.live.messages import RunLog, level_of, report_to
from tests.support.messages import EVENTS


def test_the_level_of_every_event_is_documented() -> None:
    assert len(EVENTS) > 25
    assert {event: level_of(event).value for event in EVENTS} == {event: one.level for event, one in EVENTS.items()}


def test_no_fact_has_a_name_of_the_line_itself() -> None:
    assert not {"at", "level", "event", "message"} & {fact for one in EVENTS.values() for fact in one.facts}


def test_a_line_for_each_event(tmp_path: Path) -> None:
    path = tmp_path / "run.log"
    path.write_text("before\n", encoding="ascii")
    spoken: list[tuple[str, str]] = []
    report = report_to(
        log := RunLog(path, print, lambda: 1_763_762_402_118_999_999), lambda *words: spoken.append(words)
    )
    report("logged_in", "Logged in as \x1bZoë.", handle="Zoë")
    report("disconnected", "Lost.", how="lost", retry_ms=2000)
    log.settle()
    first, *lines = path.read_text(encoding="ascii").splitlines()
    assert first == "before"
    assert [json.loads(line) for line in lines] == [
        {
            "at": "2025-11-21T22:00:02.118Z",
            "level": "info",
            "event": "logged_in",
            "message": "Logged in as \x1bZoë.",
            "handle": "Zoë",
        },
        {
            "at": "2025-11-21T22:00:02.118Z",
            "level": "warning",
            "event": "disconnected",
            "message": "Lost.",
            "how": "lost",
            "retry_ms": 2000,
        },
    ]
    assert spoken == [("logged_in", "Logged in as \x1bZoë."), ("disconnected", "Lost.")]


def test_only_the_owner_reads_it(tmp_path: Path) -> None:
    RunLog(tmp_path / "run.log", print)
    assert (tmp_path / "run.log").stat().st_mode & 0o777 == 0o600


def test_a_log_that_cannot_be_created_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ExportError, match="cannot be written: No such file"):
        RunLog(tmp_path / "nowhere" / "run.log", print)


def test_a_deleted_log_is_reported_once_and_recreated(tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    messages: list[str] = []
    log = RunLog(folder / "run.log", messages.append)
    (folder / "run.log").unlink()
    folder.rmdir()
    log.write("logged_in", "In.", handle=None)
    log.write("logged_in", "In.", handle=None)
    log.settle()
    assert [sentence.endswith("recording continues.") for sentence in messages] == [True]
    folder.mkdir()
    log.write("logged_in", "In again.", handle=None)
    log.settle()
    assert "In again." in (folder / "run.log").read_text(encoding="ascii")


def test_a_pipe_without_a_reader_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ExportError, match="cannot be written: No such device"):
        RunLog(tmp_path / "pipe", print)


def test_a_hanging_disk_does_not_delay_recording(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    messages: list[str] = []
    log = RunLog(tmp_path / "run.log", messages.append)
    hangs = threading.Event()
    real = os.write

    def slow(handle: int, data: bytes) -> int:
        hangs.wait(60)
        return real(handle, data)

    monkeypatch.setattr(os, "write", slow)
    for _ in range(600):
        log.write("logged_in", "In.", handle=None)
    hangs.set()
    log.settle()
    kept = len((tmp_path / "run.log").read_text(encoding="ascii").splitlines())
    assert kept in (500, 501)  # one line may be in the middle of its write
    assert messages == [f"{600 - kept} lines of the log {tmp_path / 'run.log'} dropped: the disk did not respond."]


def test_a_truncated_line_is_ended_before_the_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = RunLog(tmp_path / "run.log", lambda _: None)
    real = os.write
    monkeypatch.setattr(os, "write", lambda handle, data: real(handle, data[:20]))
    log.write("logged_in", "In.", handle=None)
    log.settle()
    monkeypatch.undo()
    for _ in range(2):
        log.write("logged_in", "In.", handle=None)
    log.settle()
    cut, *lines = (tmp_path / "run.log").read_text(encoding="ascii").splitlines()
    assert len(cut) == 20
    assert [json.loads(line)["event"] for line in lines] == ["logged_in", "logged_in"]
