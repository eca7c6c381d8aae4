"""``record --dry-run`` against the scripted server."""

import asyncio
import sys
from pathlib import Path

from recorder.errors import ExitCode
from recorder.wire.timeseal import PING_ANSWER, unseal
from tests.live.test_capture import TABLE
from tests.support.live import in_loop
from tests.support.script import Fault
from tests.support.testserver import FICS, Dialogue, ScriptedServer


async def record(port: int, folder: Path, *more: str) -> tuple[int, str, str]:
    """Run the command to its end: exit status, standard output, standard error."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "recorder", "record", f"127.0.0.1:{port}", "--guest", "--dry-run"),
        *("--journal-dir", str(folder / "journals"), "--db", str(folder / "a.sqlite"), *more),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, talk = await process.communicate()
    assert process.returncode is not None
    return process.returncode, out.decode(), talk.decode()


@in_loop
async def test_a_dry_run_prints_the_games_and_observes_none(tmp_path: Path) -> None:
    async with ScriptedServer(Dialogue(FICS, answers={b"games": TABLE})) as server:
        status, out, talk = await record(server.port, tmp_path, "--observe", "rated & blitz")
        (connection,) = server.connections
    assert status == ExitCode.OK
    assert connection.lines == [b"guest", b"", b"games", b"quit"]
    heading, *rows = (line.split("\t") for line in out.splitlines())
    assert heading == ["game", "White", "Black", "why"]
    assert rows == [
        ["12", "Ann", "Bob", "rated is true because the game is rated and blitz is true because the game is blitz"]
    ]
    assert "1 game, 1 would be observed." in talk
    assert list(tmp_path.iterdir()) == []


@in_loop
async def test_a_dry_run_with_a_time_seal(tmp_path: Path) -> None:
    async with ScriptedServer(Dialogue(FICS, answers={b"games": b"[G]\x00" + TABLE})) as server:
        status, _, talk = await record(server.port, tmp_path, "--observe", "rated", "--timeseal2")
        (connection,) = server.connections
    assert status == ExitCode.OK
    assert connection.lines == [b"guest", b"", b"games", b"quit"]
    lines = [unseal(line) for line in bytes(connection.heard).split(b"\n")[:-1]]
    texts = [line[0] for line in lines if line is not None]
    assert len(texts) == len(lines)
    assert texts[0].startswith(b"TIMESEAL2|")
    assert PING_ANSWER in texts
    assert "1 game, 1 would be observed." in talk


@in_loop
async def test_an_unreachable_server_and_a_refused_login_fail(tmp_path: Path) -> None:
    async with ScriptedServer(Dialogue(FICS, refusal="\nThe server is full.\n")) as server:
        status, out, talk = await record(server.port, tmp_path, "--observe", "rated")
        assert (status, out) == (ExitCode.LOGIN, "")
        assert "Error: " in talk
        port = server.port
    status, out, talk = await record(port, tmp_path, "--observe", "rated")
    assert (status, out) == (ExitCode.LOGIN, "")
    assert "refuses the connection" in talk


@in_loop
async def test_a_lost_connection_is_not_reported_as_unreachable(tmp_path: Path) -> None:
    async with ScriptedServer(Dialogue(FICS, script=[Fault.RESET])) as server:
        status, out, talk = await record(server.port, tmp_path, "--observe", "rated")
        assert (status, out) == (ExitCode.LOGIN, "")
        output = f"Error: The connection to 127.0.0.1:{server.port} was lost (Connection reset by peer).\n"
        assert talk == output
