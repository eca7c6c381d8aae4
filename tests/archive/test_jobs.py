"""``verify``, ``db rebuild`` and ``convert`` in several processes: as in one, whatever happens to the others."""

import os
import shutil
import signal
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.testing import Result

from recorder.archive.care import verifying
from recorder.archive.reading import converting, workers
from recorder.archive.reading.importing import SourceReading
from recorder.errors import ExitCode
from recorder.progress import Progress
from recorder.sources.redaction import Forgotten
from storage import ArchiveStore, SourceRow
from tests.archive.test_reading_ahead import ROOT, contents
from tests.support.cli import ADJOURNED, SERVER, WATCHER, Cli


@pytest.fixture(autouse=True)
def few_logs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few logs are enough, and the processes find the functions of this module."""
    monkeypatch.setattr(workers, "_WORTH_BYTES", 1)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))


@pytest.fixture(scope="module")
def _made(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    folder = tmp_path_factory.mktemp("made")
    cli, copy, log = Cli(folder / "archive.sqlite"), folder / "copy.sqlite", folder / ADJOURNED.name
    cli("import", WATCHER, *(SERVER / name for name in ("a09_ivariables", "b09_crazyhouse", "a12_bughouse")))
    shutil.copy(ADJOURNED, log)
    cli("import", "--no-keep-source", log)
    log.unlink()
    cli("db", "backup", copy)
    return copy.read_bytes()


@pytest.fixture
def made(cli: Cli, _made: bytes) -> Cli:
    """An archive of several logs, one of which can no longer be read."""
    cli.archive.write_bytes(_made)
    return cli


@pytest.fixture
def no_reading_here(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Afterwards this process must not read sources itself."""

    def refused(*_arguments: object) -> None:
        pytest.fail("a source was read by the storing process")

    def forbid() -> None:
        monkeypatch.setattr(verifying, "audit_source", refused)
        monkeypatch.setattr(verifying, "whole_blocks", refused)

    return forbid


def both(cli: Cli, *words: str, code: int | None = 0, forbid: Callable[[], None] | None = None) -> Result:
    """Run a command with one process and with three: it prints the same."""
    one = cli(*words, "--jobs", "1", code=code)
    if forbid is not None:
        forbid()
    three = cli(*words, "--jobs", "3", code=code)
    assert (three.stdout, three.stderr) == (one.stdout, one.stderr)
    return three


def damage(cli: Cli, *statements: str) -> None:
    connection = sqlite3.connect(cli.archive)
    with connection:
        for statement in statements:
            assert connection.execute(statement).rowcount
    connection.close()


@pytest.mark.long
def test_verify_finds_the_same_in_the_same_order(made: Cli, no_reading_here: Callable[[], None]) -> None:
    damage(
        made,
        "UPDATE plies SET white_clock_ms = white_clock_ms + 1 WHERE ply = 7",
        "UPDATE games SET result = '1/2-1/2' WHERE result = '0-1'",
    )
    both(made, "verify", "--json", code=ExitCode.FINDINGS)
    found = both(made, "verify", code=ExitCode.FINDINGS, forbid=no_reading_here)
    assert found.stdout.count("differs in its plies") > 3
    assert "not audited" in found.stdout


@pytest.mark.long
def test_sources_are_audited_here_once_the_archive_was_changed(made: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """The other processes would see what was written after this process's snapshot began."""
    expected = made("verify").output
    watch_changes = ArchiveStore.watch_changes

    @contextmanager
    def watch_and_write(archive: ArchiveStore) -> Iterator[Callable[[], bool]]:
        with watch_changes(archive) as changed:
            assert not changed()
            damage(made, "UPDATE sources SET path = path || '~'")
            assert changed()
            yield changed

    read: list[str] = []
    audit = verifying.audit_source

    def noted(archive: ArchiveStore, row: SourceRow, progress: object) -> object:
        read.append(row.id)
        return audit(archive, row, progress)  # type: ignore[arg-type]  # the progress that audit was given

    monkeypatch.setattr(ArchiveStore, "watch_changes", watch_and_write)
    monkeypatch.setattr(verifying, "audit_source", noted)
    assert made("verify", "--jobs", "2").output == expected
    assert len(read) == len(made.json("sources", "--json"))


@pytest.mark.long
def test_rebuild_makes_the_same_archive(made: Cli, tmp_path: Path, no_reading_here: Callable[[], None]) -> None:
    assert "not kept in the archive" in both(made, "db", "rebuild", code=ExitCode.INPUT).stderr
    assert "is unchanged" in made("db", "rebuild", "--jobs", "3", code=ExitCode.INPUT).stderr
    damage(made, "UPDATE plies SET white_clock_ms = white_clock_ms + 1 WHERE ply = 7")
    copy = tmp_path / "copy.sqlite"
    made("db", "backup", copy)
    one = Cli(copy)("db", "rebuild", "--carry-over", "--jobs", "1")
    no_reading_here()
    three = made("db", "rebuild", "--carry-over", "--jobs", "3")
    assert three.stdout == one.stdout
    assert "differs in its plies" in three.stdout
    assert contents(made.archive) == contents(copy)


def dying_reading(
    where: Path, forgotten: Forgotten, folder: Path, count: int, task: tuple[int, SourceRow], progress: Progress
) -> SourceReading | verifying.Unread:
    """As ``_read_apart``; kills its process when it comes to one log."""
    if task[1].name == WATCHER.name:
        os.kill(os.getpid(), signal.SIGKILL)
    return verifying._read_apart(where, forgotten, folder, count, task, progress)


def dying_audit(task: tuple[Path, SourceRow, int, int], progress: Progress) -> verifying.Audit:
    """As ``_audit_apart``; kills its process when it comes to one log."""
    if task[1].name == WATCHER.name:
        os.kill(os.getpid(), signal.SIGKILL)
    return verifying._audit_apart(task, progress)


@pytest.mark.long
def test_a_process_that_dies_costs_the_log_that_it_was_reading(made: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    before = contents(made.archive)
    monkeypatch.setattr(verifying, "_read_apart", dying_reading)
    monkeypatch.setattr(verifying, "_audit_apart", dying_audit)
    problems = made("db", "rebuild", "--jobs", "2", code=ExitCode.INPUT).stderr.splitlines()
    assert sum("since the process that read it ended with signal 9." in line for line in problems) == 1
    assert any(WATCHER.name in line and "ended with signal 9" in line for line in problems)
    assert contents(made.archive) == before
    found = made("verify", "--jobs", "2", code=ExitCode.INPUT)
    assert found.stdout.count("agrees") == len(made.json("sources", "--json")) - 2
    assert f"{WATCHER.name}: the process that read it ended with signal 9. Verify it again." in found.stderr


@pytest.mark.long
def test_convert_writes_the_same(cli: Cli, tmp_path: Path) -> None:
    logs = [
        *sorted((SERVER / "b09_crazyhouse").glob("*.raw*")),
        WATCHER,
        SERVER / "a12_bughouse/observer_GuestBga.raw.gz",
    ]
    words = list(map(str, logs))
    for name, more in {"pgn": ["--variations", "--no-guests"], "bpgn": []}.items():
        one, three = tmp_path / f"one.{name}", tmp_path / f"three.{name}"
        expected = cli("convert", *words, *more, "-o", one, "--jobs", "1").stderr
        found = cli("convert", *words, *more, "-o", three, "--jobs", "3").stderr
        assert found == expected.replace(str(one), str(three))
        assert three.read_bytes() == one.read_bytes()
    texts = [cli("convert", log).stdout for log in logs]
    assert both(cli, "convert", *words).stdout == "".join(texts)
    assert all(texts)


def dying_conversion(task: converting._Task, progress: Progress) -> converting.Converted:
    """As ``_convert_apart``; kills its process when it comes to one log."""
    if task.source.path == ADJOURNED:
        os.kill(os.getpid(), signal.SIGKILL)
    return converting._convert_apart(task, progress)


def test_a_conversion_whose_process_dies_names_the_log(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(converting, "_convert_apart", dying_conversion)
    target = tmp_path / "games.pgn"
    message = cli("convert", WATCHER, ADJOURNED, "-o", target, "--jobs", "2", code=ExitCode.INPUT).stderr
    assert f"{ADJOURNED}: the process that read it ended with signal 9. Convert it again." in message
    assert target.read_text() == cli("convert", WATCHER).stdout
