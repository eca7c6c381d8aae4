"""The archive's process is stuck on a journal, or its recorder is killed."""

import asyncio
import os
import signal
import sqlite3
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path

import pytest

import recorder.archive.recording.archiving
from recorder.archive.recording.archiving import ArchiveChild
from tests.archive.test_following import END, STREAM, games_of
from tests.archive.test_recording import journal_in, lives, plies_in
from tests.support.cli import Cli
from tests.support.compiled import ROOT
from tests.support.live import in_loop

STUCK = b"\nAnn tells you: be stuck\n"
HANGS = {
    "Python": "while True: pass",
    "a pattern": "re.fullmatch(r'(a+)+b', 'a' * 64)",
    "SQL": "sqlite3.connect(':memory:').execute("
    "'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n').fetchone()",
    "sleep": "time.sleep(3600)",
}


@pytest.fixture
def hang(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """Make started processes hang, in the way that the parameter names, when they parse ``be stuck``."""
    (tmp_path / "patched").mkdir()
    (tmp_path / "patched" / "sitecustomize.py").write_text(f"""
import re, sqlite3, time
from recorder.pipeline import Pipeline
receive = Pipeline.receive
def stuck(self, block):
    if b"be stuck" in block:
        {HANGS[request.param]}
    return receive(self, block)
Pipeline.receive = stuck
""")
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path / 'patched'}{os.pathsep}{ROOT}")


def limit(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    monkeypatch.setattr(recorder.archive.recording.archiving, "_STUCK_S", seconds)


@in_loop
async def no_progress(cli: Cli, tmp_path: Path) -> None:
    messages: list[str] = []
    child = ArchiveChild(str(cli.archive), messages.append, chat="own")
    good, bad = (journal_in(tmp_path / "j", child, name, 1 << 20) for name in ("good", "bad"))
    child.start()
    for journal in (good, bad):
        journal.received(STREAM[:END])
    path = bad.path
    before = await plies_in(cli.archive, 100)
    bad.received(STUCK)
    while not messages:
        await asyncio.sleep(0.05)
    good.received(STREAM[END:])
    await plies_in(cli.archive, before + 1)
    bad.received(STREAM[END:])
    assert "lacks 1 journal set aside" in child.state
    good.close()
    bad.close()
    assert await child.finish() == [path]
    (sentence,) = messages
    assert sentence.startswith(f"The archive made no progress on {path} for 2 s or longer: it is set aside")
    assert sentence.endswith(f": ics-recorder import --db {cli.archive} --chat own {path}")
    assert not await child.import_journals([path]), "it is not in the archive"
    Cli(cli.archive)("db", "check")


@pytest.mark.long_except("SQL")
@pytest.mark.parametrize("hang", HANGS, indirect=True)
@pytest.mark.usefixtures("hang")
def test_a_journal_without_progress_is_set_aside_and_others_are_imported(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    limit(monkeypatch, 2.0)
    no_progress(cli, tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("hang", ["Python"], indirect=True)
@pytest.mark.usefixtures("hang")
@in_loop
async def test_a_journal_of_an_earlier_run_that_makes_no_progress_is_set_aside_too(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    limit(monkeypatch, 2.0)
    messages: list[str] = []
    child = ArchiveChild(str(cli.archive), messages.append)
    child.start()
    bad = journal_in(tmp_path / "j", child, "bad", 1 << 20)
    path = bad.path
    bad.received(STREAM[:END] + STUCK)
    bad.close()
    assert not await child.import_journals([path])
    good = journal_in(tmp_path / "j", child, "good")
    good.received(STREAM)
    good.close()
    assert await child.finish() == [path]
    assert len(messages) == 1
    assert len(games_of(cli)) == 5


@pytest.mark.long_except("sleep")
@pytest.mark.parametrize("hang", HANGS, indirect=True)
@pytest.mark.usefixtures("hang")
@in_loop
async def test_a_stuck_process_ends_soon_after_its_recorder_is_killed(
    cli: Cli, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """It ends after a third of the limit, or, in C code that handles no signals, after the whole limit."""
    limit_s = 0.5 if "sleep" in request.node.name else 3.0  # what waits is given ten times as long
    program = f"""
import asyncio
from pathlib import Path
import recorder.archive.recording.archiving
from recorder.archive.recording.archiving import ArchiveChild
from recorder.journal.writer import JournalWriter, Sync
recorder.archive.recording.archiving._STUCK_S = {limit_s}
async def main():
    child = ArchiveChild({str(cli.archive)!r}, print)
    child.start()
    journal = JournalWriter(Path({str(tmp_path / "j")!r}), host="h", port=1, role="record", sync=Sync.OS)
    child.take(journal.path)
    journal.received({STREAM[:END]!r})
    while child.state == "begins":
        await asyncio.sleep(0.01)
    print(child._process.pid, flush=True)
    await asyncio.sleep(1.0)
    journal.received({STUCK!r})
    await asyncio.sleep(1.0)
    print("stuck", flush=True)
    await asyncio.sleep(3600)
asyncio.run(main())
"""
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", program, stdout=asyncio.subprocess.PIPE)
    pid = int(await process.stdout.readline())
    assert await process.stdout.readline() == b"stuck\n"
    process.kill()
    await process.wait()
    assert lives(pid), "else it was not stuck"
    killed_s = time.monotonic()
    while lives(pid):
        await asyncio.sleep(0.05)
    assert time.monotonic() - killed_s < 120.0
    Cli(cli.archive)("db", "check")


@asynccontextmanager
async def archive_locked(archive: Path) -> AsyncIterator[None]:
    with closing(sqlite3.connect(archive, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield
        await asyncio.sleep(2.0)
        other.execute("ROLLBACK")


@asynccontextmanager
async def process_stopped(child: ArchiveChild) -> AsyncIterator[None]:
    await asyncio.sleep(0.5)
    os.kill(child._process.pid, signal.SIGSTOP)
    yield
    await asyncio.sleep(5.5)  # longer than all limits
    os.kill(child._process.pid, signal.SIGCONT)


@pytest.mark.long_except("0.5-process stopped")
@pytest.mark.parametrize(("limit_s", "what"), [(0.5, "archive locked"), (0.5, "process stopped")])
@in_loop
async def test_a_justified_wait_sets_no_journal_aside(
    limit_s: float, what: str, cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    limit(monkeypatch, limit_s)
    messages: list[str] = []
    child = ArchiveChild(str(cli.archive), messages.append)
    child.start()
    journal = journal_in(tmp_path / "j", child)
    journal.received(STREAM[:END])
    await plies_in(cli.archive, 50)
    async with archive_locked(cli.archive) if what == "archive locked" else process_stopped(child):
        journal.received(STREAM[END:])
    journal.close()
    assert await child.finish() == []
    assert messages == []
    assert len(games_of(cli)) == 5
