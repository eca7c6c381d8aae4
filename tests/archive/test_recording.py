"""The archive's process, which imports journals for the recorder and the proxy."""

import asyncio
import contextlib
import os
import signal
import sqlite3
import sys
from pathlib import Path

import pytest

import recorder.archive.recording.archiving
from recorder.archive.recording.archiving import ArchiveChild, import_left_open
from recorder.journal import open_sessions
from recorder.journal.writer import JournalWriter, Sync
from tests.archive.test_following import END, STREAM, games_of, pgn_keys
from tests.cli.test_record import SCRIPT
from tests.live.test_capture import TABLE
from tests.support.cli import ADJOURNED, Cli
from tests.support.live import Running, in_loop, running
from tests.support.testserver import FICS, Dialogue, ScriptedServer


def journal_in(folder: Path, child: ArchiveChild, name: str = "h", max_bytes: int = 9_000) -> JournalWriter:
    journal = JournalWriter(folder, host=name, port=1, role="record", sync=Sync.OS, max_bytes=max_bytes)
    child.take(journal.path)
    return journal


async def plies_in(archive: Path, at_least: int) -> int:
    """Wait until the archive has this number of plies."""
    while True:
        if archive.exists():
            reader = sqlite3.connect(f"file:{archive}?mode=ro", uri=True)
            try:
                (count,) = reader.execute("SELECT count(*) FROM plies").fetchone()
                if count >= at_least:
                    return int(count)
            except sqlite3.OperationalError:
                pass  # it is being created
            finally:
                reader.close()
        await asyncio.sleep(0.02)


@pytest.mark.long
@in_loop
async def test_journals_are_taken_while_they_are_written(cli: Cli, tmp_path: Path) -> None:
    messages: list[str] = []
    done: list[tuple[Path, int]] = []
    pgn = tmp_path / "games.pgn"
    child = ArchiveChild(
        str(cli.archive), messages.append, pgn=str(pgn), done=lambda path, games: done.append((path, games))
    )
    child.start()
    journals = [journal_in(tmp_path / "j", child, name) for name in ("one", "two")]
    for begin in range(0, len(STREAM), 700):
        for journal in journals:
            journal.received(STREAM[begin : begin + 700])
        if begin == 14_000:
            await plies_in(cli.archive, 60)
            assert child.state == "follows the journal", messages
    journals[0].close()
    while not done:
        await asyncio.sleep(0.02)
    assert [games for _, games in done] == [5], "as soon as it has its end"
    journals[1].close()
    assert await child.finish() == []
    assert messages == []
    assert child.appended == len(pgn_keys(pgn)) == 10
    other = Cli(tmp_path / "other.sqlite")
    other("import", tmp_path / "j")
    assert games_of(cli) == games_of(other)
    cli("db", "check")
    assert cli("verify").stdout.count("agrees; 5 games") == 2


@pytest.mark.long
@in_loop
async def test_a_killed_archive_process_is_restarted(cli: Cli, tmp_path: Path) -> None:
    messages: list[str] = []
    child = ArchiveChild(str(cli.archive), messages.append)
    journal = journal_in(tmp_path / "j", child)
    child.start()
    journal.received(STREAM[:END])
    await plies_in(cli.archive, 50)
    os.kill(child._process.pid, signal.SIGKILL)
    journal.received(STREAM[END:])
    while not messages:
        await asyncio.sleep(0.02)
    assert "it is started again in 2 s" in messages[0]
    journal.close()
    assert await child.finish() == []
    assert len(games_of(cli)) == 5


@pytest.mark.long
@in_loop
async def test_a_process_that_is_killed_at_the_end_does_not_leave_a_journal_to_be_imported(
    cli: Cli, tmp_path: Path
) -> None:
    messages: list[str] = []
    child = ArchiveChild(str(cli.archive), messages.append)
    child.start()
    journal = journal_in(tmp_path / "j", child)
    journal.received(STREAM)
    await plies_in(cli.archive, 60)
    journal.close()
    os.kill(child._process.pid, signal.SIGKILL)
    assert await child.finish() == []
    assert messages == ["The archive's process has ended (status -9)."]
    other = Cli(tmp_path / "other.sqlite")
    other("import", tmp_path / "j")
    assert games_of(cli) == games_of(other)


@pytest.mark.long
@in_loop
async def test_an_unfinished_import_is_finished_by_the_next_start(cli: Cli, tmp_path: Path) -> None:
    pgn = tmp_path / "games.pgn"
    child = ArchiveChild(str(cli.archive), lambda _: None, pgn=str(pgn))
    child.start()
    journal = journal_in(tmp_path / "j", child)
    child.sign(journal)
    journal.received(STREAM[:END])
    await plies_in(cli.archive, 50)
    os.kill(child._process.pid, signal.SIGKILL)
    journal.received(STREAM[END:])
    journal.close()
    child._running.cancel()
    restarted = ArchiveChild(str(cli.archive), lambda _: None, pgn=str(tmp_path / "other.pgn"))
    restarted.start()
    while "agrees; 5 games, " not in cli("verify").stdout:
        await asyncio.sleep(0.1)
    assert await restarted.finish() == []
    assert len(pgn_keys(pgn)) == 5


@in_loop
async def test_the_archive_process_ends_when_its_recorder_is_killed(cli: Cli, tmp_path: Path) -> None:
    program = f"""
import asyncio, time
from pathlib import Path
from recorder.archive.recording.archiving import ArchiveChild
from recorder.journal.writer import JournalWriter, Sync
async def main():
    child = ArchiveChild({str(cli.archive)!r}, print)
    child.start()
    journal = JournalWriter(Path({str(tmp_path / "j")!r}), host="h", port=1, role="record", sync=Sync.OS)
    child.take(journal.path)
    journal.received(open({str(tmp_path / "stream")!r}, "rb").read())
    while child._process is None:
        await asyncio.sleep(0.01)
    print(child._process.pid, flush=True)
    await asyncio.sleep(3600)
asyncio.run(main())
"""
    (tmp_path / "stream").write_bytes(STREAM)
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", program, stdout=asyncio.subprocess.PIPE)
    pid = int(await process.stdout.readline())
    process.kill()
    await process.wait()
    while lives(pid):
        await asyncio.sleep(0.05)
    assert len(games_of(cli)) == 5, "received bytes were read before it ended"


@in_loop
async def test_a_journal_left_open_is_imported_completely_even_if_the_recorder_ends_at_once(
    cli: Cli, tmp_path: Path
) -> None:
    (tmp_path / "j").mkdir()
    writer = JournalWriter(tmp_path / "elsewhere", host="h", port=1, role="record", sync=Sync.OS)
    writer.received(STREAM)
    (tmp_path / "j" / writer.path.name).write_bytes(writer.path.read_bytes())
    messages: list[str] = []
    child = ArchiveChild(str(cli.archive), messages.append)
    child.start()
    taking = asyncio.create_task(import_left_open(tmp_path / "j", child.import_journals, messages.append, "later"))
    assert await child.finish(taking=taking) == []
    assert messages == ["1 journal was left open by a crash; the archive has all of it now."]
    assert open_sessions(tmp_path / "j") == []
    assert "nothing new" in cli("import", tmp_path / "j").stdout
    writer.close()


@in_loop
async def test_the_archive_process_is_ended_after_the_time_limit(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise the event loop ends first, and Python prints a traceback."""
    monkeypatch.setattr(recorder.archive.recording.archiving, "_END_S", 0.1)
    cli("import", ADJOURNED)
    child = ArchiveChild(str(cli.archive), lambda _: None)
    journal = journal_in(tmp_path / "j", child)
    with contextlib.closing(sqlite3.connect(cli.archive, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        child.start()
        journal.received(STREAM[:END])
        while child._process is None:
            await asyncio.sleep(0.01)
        assert await child.finish() == [journal.path]
        assert child._process.returncode is not None
        assert not child._running.cancelled(), "it was waited for"


@in_loop
async def test_no_password_is_inherited(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ICS_RECORDER_PASSWORD", "openSesame")
    child = ArchiveChild(str(cli.archive), lambda _: None)
    child.start()
    while child._process is None:
        await asyncio.sleep(0.01)
    assert b"openSesame" not in Path(f"/proc/{child._process.pid}/environ").read_bytes()
    assert await child.finish() == []


@pytest.mark.long
@in_loop
async def test_a_killed_record_leaves_no_process_and_the_next_fills_the_pgn(cli: Cli, tmp_path: Path) -> None:
    played = Dialogue(FICS, script=SCRIPT, answers={b"games": TABLE})
    words = ["--guest", "--observe", "rated & blitz", "--journal-dir", tmp_path / "j", "--db", cli.archive]
    pgn = tmp_path / "games.pgn"
    async with ScriptedServer(lambda number: Dialogue(FICS) if number else played) as server:
        address = f"127.0.0.1:{server.port}"
        async with running("record", address, *words, "--pgn", pgn) as run:
            await (await server.connection()).done.wait()
            await plies_in(cli.archive, 1)  # until then the archive is being created
            while not [game for game in games_of(cli) if game["result"] == "1-0"]:
                await asyncio.sleep(0.05)
            (child,) = children_of(run.process.pid)
            await run.end(signal.SIGKILL)
            while lives(child):
                await asyncio.sleep(0.05)
        Cli(cli.archive)("db", "check")
        pgn.unlink()
        async with running("record", address, *words) as run:
            await run.until("left open by a crash; the archive has all of it now.")
            assert await run.end(signal.SIGTERM) == 0
    assert len(pgn_keys(pgn)) == 1
    assert len(games_of(cli)) == 1
    assert "agrees; 1 game, " in cli("verify").stdout


@pytest.mark.long
@in_loop
async def test_record_continues_when_the_event_reader_closes_its_pipe(cli: Cli, tmp_path: Path) -> None:
    played = Dialogue(FICS, script=SCRIPT, answers={b"games": TABLE})
    words = ["--guest", "--observe", "rated & blitz", "--journal-dir", tmp_path / "j", "--db", cli.archive]
    reader, writer = os.pipe()
    async with ScriptedServer(played) as server:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "recorder", "record", f"127.0.0.1:{server.port}", *map(str, words)),
            *("--events", "-"),
            stdout=writer,
            stderr=asyncio.subprocess.PIPE,
        )
        os.close(writer)
        os.close(reader)
        run = Running(process)
        await run.until("The event reader has ended")
        while not [game for game in games_of(cli) if game["result"] == "1-0"]:
            await asyncio.sleep(0.05)
        assert await run.end(signal.SIGTERM) == 141


def children_of(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
