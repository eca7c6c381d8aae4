"""``proxy`` with the login dialogues of real servers: both sides get every byte, and no file has the password."""

import asyncio
import contextlib
import signal
from pathlib import Path

import pytest

from recorder.wire.timeseal import PING_ANSWER, format_hello, seal
from tests.cli.test_proxy_secrets import assert_nowhere
from tests.live.dialogues import DIALOGUES, PASSWORD, PINGS, SpokenServer
from tests.live.logins import FORBIDDEN, LOGINS, C, S, Script
from tests.support.cli import Cli
from tests.support.live import Caller, in_loop, journalled, running

NEWER = b"n3werWord"
COMMANDS = (b"password " + PASSWORD + b" " + NEWER, PASSWORD, b"alias in tell bob " + NEWER, b"moves", b"quit")


def line_of(text: bytes, timeseal: int | None) -> bytes:
    """Return what a client sends; a time seal has seven bits a character."""
    return text + b"\n" if timeseal is None else seal(bytes(byte & 0x7F for byte in text), 17)


async def log_in(port: int, name: str, timeseal: int | None) -> Caller:
    """A client that answers each prompt of the server, then sends its commands."""
    caller = await Caller.call(port)
    if timeseal is not None:
        caller.send(line_of(format_hello(timeseal, "ann", "somewhere"), timeseal))
    words = 0
    for step in DIALOGUES[name]:
        words += len(step.says)
        while len(caller.heard.replace(PINGS[timeseal], b"")) < words:
            caller.heard += await caller.reader.read(1 << 16)
        if timeseal is not None:
            caller.send(line_of(PING_ANSWER, timeseal))
        if step.takes is not None:
            caller.send(line_of(step.takes, timeseal))
    for command in COMMANDS:
        caller.send(line_of(command, timeseal))
    await caller.rest()
    caller.writer.close()
    return caller


@pytest.mark.long_except("None")
@pytest.mark.parametrize("timeseal", [None, 1, 2])
@in_loop
async def test_every_servers_login(timeseal: int | None, tmp_path: Path) -> None:
    servers: list[SpokenServer] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        servers.append(SpokenServer(list(DIALOGUES.values())[len(servers)], timeseal))
        await servers[-1].serve(reader, writer)

    listener = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        async with running(
            *("proxy", f"127.0.0.1:{listener.sockets[0].getsockname()[1]}", "--listen", "0"),
            *("--journal-dir", tmp_path / "journals", "--db", tmp_path / "a.sqlite"),
            *("--pgn", tmp_path / "games.pgn", "--log", tmp_path / "run.log"),
        ) as command:
            port = int((await command.until("Connect a client")).split()[-1])
            for name, steps in DIALOGUES.items():
                caller = await asyncio.wait_for(log_in(port, name, timeseal), 300)
                assert caller.heard == servers[-1].written, name
                answers = [step.takes for step in steps if step.takes is not None]
                output = [line_of(text, timeseal).strip() for text in (*answers, *COMMANDS)]
                assert [line_of(text, timeseal).strip() for text in servers[-1].lines] == output, name
                assert servers[-1].pongs == (0 if timeseal is None else len(steps)), name
            await command.until(f"Connection {len(DIALOGUES)}: 0 games went into")
            assert_nowhere(tmp_path, command.talk, (PASSWORD, NEWER))
            assert await command.end(signal.SIGTERM) == 0
    finally:
        listener.close()
    kept = journalled(tmp_path / "journals")
    assert len(kept.received) == sum(len(server.written) for server in servers)
    written = b"".join(bytes(server.written) for server in servers)
    assert all(a == b or b == ord("*") for a, b in zip(written, kept.received, strict=True))
    assert kept.received.count(b"*" * 7) < written.count(b"*" * 7) + 10, "names that did not log in"
    assert len(kept.sent) == sum(len(server.heard) for server in servers)
    open_at_once = len(servers) - 2  # not: a prompt of the user's own, and an empty line after WILL ECHO
    assert kept.sent.count(line_of(b"moves", timeseal)) == open_at_once, "what is no secret is kept"
    for secret in (PASSWORD, NEWER):
        assert line_of(secret, timeseal) not in kept.sent
        assert secret not in kept.sent + kept.received


@pytest.mark.long  # tests/live/test_secrets_logins.py is the quick one
@pytest.mark.parametrize("step", [12, 1])
@in_loop
async def test_logins_that_no_known_server_has(step: int, tmp_path: Path) -> None:
    """Both sides get every byte, and no file, message or answer of a command has a secret."""
    scripts = list(LOGINS.values())[::step]
    begun = 0

    async def play(script: Script, side: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for sender, text in script:
            if sender == side:
                writer.write(text)
            else:
                assert await reader.readexactly(len(text)) == text
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal begun
        begun += 1
        await play(scripts[begun - 1], S, reader, writer)

    listener = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        async with running(
            *("proxy", f"127.0.0.1:{listener.sockets[0].getsockname()[1]}", "--listen", "0"),
            *("--journal-dir", tmp_path / "journals", "--db", tmp_path / "a.sqlite"),
            *("--pgn", tmp_path / "games.pgn", "--log", tmp_path / "run.log"),
        ) as command:
            port = int((await command.until("Connect a client")).split()[-1])
            for script in scripts:
                await play(script, C, *await asyncio.open_connection("127.0.0.1", port))
            await command.until(f"Connection {len(scripts)}: 0 games went into")
            assert_nowhere(tmp_path, command.talk, FORBIDDEN)
            assert await command.end(signal.SIGTERM) == 0
    finally:
        listener.close()
    kept = journalled(tmp_path / "journals")
    assert len(kept.received) == sum(len(text) for script in scripts for side, text in script if side == S)
    assert len(kept.sent) == sum(len(text) for script in scripts for side, text in script if side == C)
    assert not [secret for secret in FORBIDDEN if secret in kept.received + kept.sent]
    cli = Cli(tmp_path / "b.sqlite")
    said = [cli("import", "-v", "--chat", "all", tmp_path / "journals").output]
    said += [cli("explain", path, code=None).output for path in (tmp_path / "journals").iterdir()]
    assert_nowhere(tmp_path, "".join(said), FORBIDDEN)
