"""An import in several processes: the archive is the one that one process makes, whatever happens to the others."""

import errno
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import closing
from functools import reduce
from pathlib import Path
from typing import Any

import pytest

from recorder.archive.reading import reading_ahead, workers
from recorder.archive.reading.import_paths import ImportReport, import_paths
from recorder.archive.reading.importing import ReadBefore, ReadOptions
from recorder.archive.reading.inputs import Input
from recorder.archive.reading.reading_ahead import _read_log, _Task
from recorder.archive.reading.workers import Workers
from recorder.errors import ExitCode
from recorder.progress import Progress, no_progress
from storage import ArchiveStore
from tests.support.cli import ADJOURNED, SERVER, WATCHER, Cli

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture(autouse=True)
def few_logs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few logs are enough, and the processes find the functions of this module."""
    monkeypatch.setattr(workers, "_WORTH_BYTES", 1)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))


def import_with(
    jobs: int, where: Path, paths: Sequence[Path], *, progress: Progress = no_progress, **options: Any
) -> ImportReport:
    with ArchiveStore.open(str(where), create=True) as archive:
        names = [str(path) for path in paths]
        return import_paths(archive, str(where), names, ReadOptions(**options), jobs=jobs, progress=progress)


def contents(where: Path) -> dict[str, list[tuple[Any, ...]]]:
    """All rows of an archive by table, as they are stored, but its own secret and when corrections were decided."""
    with closing(sqlite3.connect(where)) as connection:
        decided = [ms for (ms,) in connection.execute("SELECT DISTINCT decided_ms FROM corrections")]

        def timeless(value: Any) -> Any:
            if isinstance(value, str):
                return reduce(lambda text, ms: text.replace(str(ms), "then"), decided, value)
            return "then" if value in decided else value

        names = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return {
            name: [tuple(map(timeless, row)) for row in connection.execute(f"SELECT * FROM {name}")]
            for name in names
            if name != "settings" and not name.startswith("sqlite_")
        }


def both(tmp_path: Path, *imports: Sequence[Path], **options: Any) -> list[ImportReport]:
    """Import with one process and with three; the archives must be equal. Returns the reports of the three."""
    one, three = tmp_path / "one.db", tmp_path / "three.db"
    reports = []
    for paths in imports:
        expected = import_with(1, one, paths, **options)
        found = import_with(3, three, paths, **options)
        assert [(o.name, o.status, o.message, o.games, o.plies) for o in found.outcomes] == [
            (o.name, o.status, o.message, o.games, o.plies) for o in expected.outcomes
        ]
        assert [o.report for o in found.outcomes] == [o.report for o in expected.outcomes]
        reports.append(found)
    assert contents(three) == contents(one)
    return reports


@pytest.mark.long
def test_the_archive_of_several_processes_is_that_of_one(tmp_path: Path) -> None:
    folders = sorted(
        folder for folder in SERVER.iterdir() if folder.name[:3] in ("a01", "a03", "a10", "a12", "b08", "b09", "x03")
    )
    (report,) = both(tmp_path, folders)
    assert sum(outcome.status == "new" for outcome in report.outcomes) > 15
    assert report.plies > 3000


def test_progress_names_each_log(tmp_path: Path) -> None:
    """Also one that was read while another one was stored."""
    shown: dict[str, None] = {}
    logs = sorted((SERVER / "a10_examine").glob("*.raw"))
    import_with(2, tmp_path / "a.db", logs, progress=lambda name, done, total: shown.update({name: None}))
    assert list(shown) == ["file 1 of 2: observer_GuestExa.raw", "file 2 of 2: observer_GuestExb.raw"]


@pytest.mark.long
def test_logs_that_grow_repeat_or_are_none_are_settled_in_their_turn(tmp_path: Path) -> None:
    whole = WATCHER.read_bytes()
    logs = {
        "1-begun.log": whole[: len(whole) // 3],
        "2-grown.log": whole[: 2 * len(whole) // 3],
        "3-whole.log": whole,
        "4-copy.log": whole,
        "5-part.log": whole[: len(whole) // 2],
        "6-none.txt": b"not a log\n",
        "7-empty.log": b"",
    }
    paths = [tmp_path / name for name in logs]
    for path in paths:
        path.write_bytes(logs[path.name])
    (report,) = both(tmp_path, paths)
    assert [outcome.status for outcome in report.outcomes] == [
        *("new", "grown", "grown", "known", "known", "not-a-log", "not-a-log")
    ]


@pytest.mark.long
def test_games_of_several_logs_keep_the_order_of_their_keys(tmp_path: Path) -> None:
    """The same games from several observers: equal keys, and merged games."""
    folder = SERVER / "a09_ivariables"
    (report,) = both(tmp_path, sorted(folder.glob("observer_*"), reverse=True), chat="all")
    with ArchiveStore.open(str(tmp_path / "three.db")) as archive:
        assert any(len(game.merged_from) > 1 for game in archive.games())
    assert report.games > 0


def test_what_is_read_ahead_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from recorder.archive.reading import importing

    def refused(*_arguments: object) -> None:
        pytest.fail("a log was read by the storing process")

    monkeypatch.setattr(importing.Plan, "reading", refused)
    monkeypatch.setattr(importing, "fingerprint", refused)
    report = import_with(2, tmp_path / "games.db", [WATCHER, ADJOURNED])
    assert [outcome.status for outcome in report.outcomes] == ["new", "new"]


def dying_log(task: tuple[_Task, int, Input], progress: Progress) -> ReadBefore | None:
    """As ``_read_log``; kills its process when it comes to one log."""
    if task[2].path.name == ADJOURNED.name:
        os.kill(os.getpid(), signal.SIGKILL)
    return _read_log(task, progress)


@pytest.mark.long
def test_a_process_that_dies_costs_the_log_that_it_was_reading(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading_ahead, "_read_log", dying_log)
    where, paths = tmp_path / "games.db", [WATCHER, ADJOURNED, SERVER / "a03_crazyhouse"]
    report = import_with(2, where, paths)
    failed = [outcome for outcome in report.outcomes if outcome.status == "failed"]
    assert [outcome.message for outcome in failed] == [
        f"{ADJOURNED}: the process that read it ended with signal 9; nothing of it was stored. Import it again."
    ]
    assert report.failures == failed
    monkeypatch.undo()
    repeated = import_with(1, where, paths)
    assert [outcome.status for outcome in repeated.outcomes].count("new") == 1
    import_with(1, tmp_path / "one.db", [path for path in paths if path != ADJOURNED])
    import_with(1, tmp_path / "one.db", [ADJOURNED])
    assert contents(where) == contents(tmp_path / "one.db")


def full_log(task: tuple[_Task, int, Input], progress: Progress) -> ReadBefore | None:
    """As ``_read_log``, without space in the temporary folder."""

    def full(*_: object, **_how: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reading_ahead, "write_parts", full)
        return _read_log(task, progress)


@pytest.mark.long
def test_a_full_temporary_folder_costs_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading_ahead, "_read_log", full_log)
    both(tmp_path, [WATCHER, ADJOURNED])


def test_the_password_is_not_given_to_the_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ICS_RECORDER_PASSWORD", "secret")
    with Workers(1) as processes:
        assert "ICS_RECORDER_PASSWORD" not in processes.submit(environment, "", no_progress).result()


def environment(task: str, progress: Progress) -> list[str]:
    return list(os.environ)


def children_of(process: int) -> list[int]:
    return [
        int(folder.name)
        for folder in Path("/proc").iterdir()
        if folder.name.isdigit()
        and (stat := (folder / "stat")).exists()
        and stat.read_text().rpartition(")")[2].split()[1] == str(process)
    ]


@pytest.mark.long_except("2")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP, signal.SIGKILL])
def test_what_was_finished_stays_when_the_import_is_ended(cli: Cli, tmp_path: Path, number: signal.Signals) -> None:
    """Ctrl-C, a closed terminal and ``kill -9`` in the middle: no process is left, another import brings the rest."""
    whole = WATCHER.read_bytes()
    logs = []
    for place in range(5):
        logs.append(tmp_path / f"{place}.log")
        logs[-1].write_bytes(whole.replace(b"GuestObs", f"Guest{place}bs".encode()) * 80)
    folder = tmp_path / "temporary"
    folder.mkdir()
    command = (sys.executable, "-m", "recorder", "import", "--db", str(cli.archive), "--jobs", "2", *map(str, logs))
    environment = {**os.environ, "TMPDIR": str(folder)}
    process = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline().startswith(f"{logs[0]}: raw")  # the first log is stored, others are being read
    children = children_of(process.pid)
    assert children
    process.send_signal(number)
    _, errors = process.communicate(timeout=300)
    if number is not signal.SIGKILL:
        assert process.returncode == ExitCode.INTERRUPTED
        assert errors.splitlines()[-1] == "Interrupted; finished work is kept."
        assert not list(folder.iterdir())
    end = time.monotonic() + 120
    while any(Path(f"/proc/{child}/cmdline").exists() for child in children):
        assert time.monotonic() < end, "a process was left"
        time.sleep(0.05)
    assert 1 <= len(cli.json("sources", "--json")) < len(logs)
    cli("import", "--jobs", "2", *logs)
    import_with(1, tmp_path / "one.db", logs)
    assert contents(cli.archive) == contents(tmp_path / "one.db")
