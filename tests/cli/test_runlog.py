"""The log of a run: lines of JSON, whatever becomes of its file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from recorder.cli.runlog import RunLog, teller
from recorder.errors import ExportError


def test_a_line_for_each_event(tmp_path: Path) -> None:
    path = tmp_path / "run.log"
    path.write_text("before\n", encoding="ascii")
    spoken: list[tuple[str, str]] = []
    tell = teller(RunLog(path, lambda: 1_763_762_402_118_999_999), lambda *said: spoken.append(said))
    tell("logged_in", "Logged in as \x1bZoë.", handle="Zoë")
    tell("disconnected", "Lost.", how="lost", retry_ms=2000)
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
    RunLog(tmp_path / "run.log")
    assert (tmp_path / "run.log").stat().st_mode & 0o777 == 0o600


def test_a_log_that_cannot_begin_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ExportError, match="cannot be written: No such file"):
        RunLog(tmp_path / "nowhere" / "run.log")


def test_a_log_that_goes_away_is_told_of_once_and_begun_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    log = RunLog(folder / "run.log")
    (folder / "run.log").unlink()
    folder.rmdir()
    log.write("logged_in", "In.", handle=None)
    log.write("logged_in", "In.", handle=None)
    assert capsys.readouterr().err.count("recording goes on") == 1
    folder.mkdir()
    log.write("logged_in", "In again.", handle=None)
    assert "In again." in (folder / "run.log").read_text(encoding="ascii")
