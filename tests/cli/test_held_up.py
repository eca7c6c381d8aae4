"""A blocked terminal, archive or archive process never stops ``record`` or ``proxy``, and is reported."""

import asyncio
import contextlib
import os
import signal
import sqlite3
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from recorder.archive.recording.archiving import ArchiveChild
from recorder.errors import ExitCode
from tests.archive.test_following import STREAM, games_of
from tests.archive.test_recording import children_of, plies_in
from tests.archive.test_recording import journal_in as journal_in_folder
from tests.cli.test_record import SCRIPT
from tests.live.test_capture import MOVE, TABLE
from tests.support.cli import ADJOURNED, Cli
from tests.support.effort import long_after
from tests.support.live import Caller, in_loop, journalled, running
from tests.support.testserver import FICS, Dialogue, ScriptedServer


@contextlib.asynccontextmanager
async def unheard(*words: object) -> AsyncIterator[tuple[asyncio.subprocess.Process, int]]:
    """Start the command with a standard error that is full until the caller reads the other end."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    with contextlib.suppress(BlockingIOError):
        while True:
            os.write(writer, b"." * 1000)
    with contextlib.suppress(BlockingIOError):
        while True:
            os.write(writer, b".")
    os.set_blocking(writer, True)
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "recorder", *map(str, words)), stdin=asyncio.subprocess.DEVNULL, stderr=writer
    )
    os.close(writer)
    try:
        yield process, reader
    finally:
        os.close(reader)
        if process.returncode is None:
            process.kill()
        await process.wait()


@pytest.mark.long
@in_loop
async def test_proxy_serves_all_clients_while_standard_error_is_blocked(tmp_path: Path) -> None:
    with contextlib.closing(await asyncio.start_server(lambda _r, _w: None, "127.0.0.1", 0)) as free:
        port = free.sockets[0].getsockname()[1]
    where = ["--listen", port, "--journal-dir", tmp_path / "j", "--no-import", "--log", tmp_path / "log"]
    async with (
        ScriptedServer(lambda _: Dialogue(FICS, answers={b"date": b"It is late.\n\r"})) as server,
        unheard("proxy", f"127.0.0.1:{server.port}", *where) as (process, _),
    ):
        callers: list[Caller] = []
        while not callers:
            with contextlib.suppress(ConnectionRefusedError):
                callers.append(await Caller.call(port))
            await asyncio.sleep(0.05)
        callers.append(await Caller.call(port))
        for caller in callers:
            caller.send(b"guest\n\ndate\n")
            await caller.until(b"It is late.\n\r")
        process.send_signal(signal.SIGHUP)
        assert await process.wait() == ExitCode.OK, "a terminal that goes away ends it cleanly"
    assert len(list((tmp_path / "j").iterdir())) == 2
    assert [note["kind"] for note in journalled(tmp_path / "j").notes].count("end") == 2
    assert '"client_left"' in (tmp_path / "log").read_text(encoding="ascii")


@pytest.mark.long
@in_loop
async def test_record_continues_when_its_archive_process_ends_while_standard_error_is_blocked(tmp_path: Path) -> None:
    words = ["--guest", "--observe", "rated", "--journal-dir", tmp_path / "j", "--db", tmp_path / "a.sqlite"]
    async with (
        ScriptedServer(Dialogue(FICS, script=SCRIPT[:2], answers={b"games": TABLE})) as server,
        unheard("record", f"127.0.0.1:{server.port}", *words) as (process, _),
    ):
        connection = await server.connection()
        await connection.done.wait()
        for child in children_of(process.pid):
            os.kill(child, signal.SIGKILL)
        while children_of(process.pid):
            await asyncio.sleep(0.05)
        await connection.say(MOVE)
        while MOVE not in journalled(tmp_path / "j").received:
            await asyncio.sleep(0.05)
        process.send_signal(signal.SIGTERM)
        assert await process.wait() == ExitCode.OK


@pytest.mark.long
@in_loop
async def test_a_process_that_cannot_be_started_is_reported_and_retried(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    messages: list[str] = []
    real = asyncio.create_subprocess_exec

    async def refuse(*_: object, **__: object) -> None:
        monkeypatch.setattr("asyncio.create_subprocess_exec", real)
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr("asyncio.create_subprocess_exec", refuse)
    before = len(list(Path("/proc/self/fd").iterdir()))
    child = ArchiveChild(str(cli.archive), messages.append)
    child.start()
    while not messages:
        await asyncio.sleep(0.02)
    assert len(list(Path("/proc/self/fd").iterdir())) == before
    journal = journal_in_folder(tmp_path / "j", child)
    journal.received(STREAM)
    journal.close()
    await plies_in(cli.archive, 50)
    assert await child.finish() == []
    why = "cannot be started (Resource temporarily unavailable)"
    assert messages == [f"The archive's process {why}; it is started again in 2 s."]


@pytest.mark.parametrize(
    ("program", "message"),
    long_after(
        1,
        [
            ("import sys; sys.exit(3)", "The archive's process has ended (status 3); it is started again in 2 s."),
            ("import sys; print('null', file=sys.stderr)", "null"),
            ("import sys; print('x' * 3_000_000 + '\\nnow', file=sys.stderr)", "now"),
            (
                "import sys, time; print('{\"done\": 1}', file=sys.stderr, flush=True); time.sleep(600)",
                "The archive's process is not understood (TypeError: a bug); it is started again in 2 s.",
            ),
        ],
    ),
)
@in_loop
async def test_a_process_that_fails_is_reported_and_restarted(
    program: str, message: str, cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    messages: list[str] = []
    real = asyncio.create_subprocess_exec

    async def another(*words: str, **how: Any) -> asyncio.subprocess.Process:
        monkeypatch.setattr("asyncio.create_subprocess_exec", real)
        process = await real(words[0], "-c", program, **how)
        if "exit" in program:  # it has ended before it gets a request
            await process.wait()
        return process

    monkeypatch.setattr("asyncio.create_subprocess_exec", another)
    child = ArchiveChild(str(cli.archive), messages.append)
    child.start()
    while not [sentence for sentence in messages if "started again" in sentence]:
        await asyncio.sleep(0.02)
    assert message in messages
    journal = journal_in_folder(tmp_path / "j", child)
    journal.received(STREAM)
    journal.close()
    assert await child.finish() == []
    assert len(games_of(cli)) == 5


@pytest.mark.parametrize("command", long_after(1, ["record", "proxy"]))
@in_loop
async def test_a_second_signal_ends_at_once_and_the_status_reports_the_unfinished_import(
    command: str, tmp_path: Path
) -> None:
    archive = tmp_path / "a.sqlite"
    Cli(archive)("import", ADJOURNED)
    more = ["--guest", "--observe", "rated"] if command == "record" else ["--listen", "127.0.0.1:0"]
    async with (
        ScriptedServer(Dialogue(FICS, answers={b"games": TABLE})) as server,
        running(command, f"127.0.0.1:{server.port}", *more, "--journal-dir", tmp_path / "j", "--db", archive) as run,
    ):
        with contextlib.closing(sqlite3.connect(archive, isolation_level=None)) as other:
            other.execute("BEGIN EXCLUSIVE")
            if command == "proxy":
                caller = await Caller.call(int((await run.until("-icsport ")).split()[-1]))
                caller.send(b"guest\n\n")
                await caller.until(b"fics% ")
            else:
                await run.until("Logged in as")
            run.process.send_signal(signal.SIGTERM)
            while b'"kind":"end"' not in journalled(tmp_path / "j").raw:
                await asyncio.sleep(0.05)
            assert await asyncio.wait_for(run.end(signal.SIGTERM), 300) == ExitCode.ARCHIVE
    assert "ics-recorder import" in run.talk
    assert "Traceback" not in run.talk


@pytest.mark.long
@in_loop
async def test_an_unwritable_journal_is_reported_before_waiting_for_the_archive(tmp_path: Path) -> None:
    archive = tmp_path / "a.sqlite"
    Cli(archive)("import", ADJOURNED)
    words = ["--guest", "--observe", "rated", "--journal-dir", tmp_path / "j", "--db", archive]
    async with (
        ScriptedServer(Dialogue(FICS, script=SCRIPT, answers={b"games": TABLE})) as server,
        running("record", f"127.0.0.1:{server.port}", *words) as run,
    ):
        with contextlib.closing(sqlite3.connect(archive, isolation_level=None)) as other:
            other.execute("BEGIN EXCLUSIVE")
            connection = await server.connection()
            await connection.done.wait()
            for path in (tmp_path / "j").iterdir():
                path.unlink()
            await run.until("Error: ")
            assert run.process.returncode is None, "the archive cannot be finished yet"
            other.execute("ROLLBACK")
        assert await run.end() == ExitCode.JOURNAL
    assert run.talk.count("Error: ") == 1
    assert f"Journals: {tmp_path / 'j'}\n" in run.talk
