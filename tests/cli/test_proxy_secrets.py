"""No password reaches a file, a message or the process list, however a client logs in through the proxy."""

import asyncio
import contextlib
import signal
import sqlite3
from pathlib import Path

import pytest
import zstandard

from recorder.wire.timeseal import format_hello, seal
from tests.support.cli import Cli
from tests.support.effort import long_after
from tests.support.live import Caller, in_loop, journalled, running
from tests.support.testserver import MANNERS, Dialogue, Manners, ScriptedServer

SECRET, WRONG, NEWER = b"pr0xySecret", b"pr0xyGuess", b"pr0xyNewer"
CHANGED = b'Password of Ann changed from "' + SECRET + b'" to "' + NEWER + b'".\n\r'
LOGINS: dict[str, list[tuple[bytes, bytes]]] = {
    "one by one": [(b"Ann", b"password: "), (SECRET, b"% ")],
    "typed early": [(b"Ann\n" + SECRET + b"\nmoves", b"moves")],
    "wrong first": [(b"Ann", b"password: "), (WRONG, b"ogin: "), (b"Ann", b"password: "), (SECRET, b"% ")],
    "wrong first, typed early": [(b"Ann\n" + WRONG + b"\nAnn\n" + SECRET + b"\nmoves", b"moves")],
    "on one line": [(b"Ann " + SECRET, b"% ")],
    "on one line, wrong first": [(b"Ann " + WRONG + b"\nAnn " + SECRET + b"\nmoves", b"moves")],
    "as the name": [(b"Ann" + WRONG + b"9", b"ogin: "), (b"Ann", b"password: "), (SECRET, b"% ")],
}
"""The input to send, and the end of the output to wait for."""
COMMANDS = (
    b"password " + SECRET + b" " + NEWER,
    b"$$pass " + SECRET + b" " + NEWER,
    SECRET,
    b"alias in tell bob " + SECRET + b" and " + NEWER,
    NEWER + b" " + NEWER,
)


async def log_in(port: int, name: str, sealed: int | None) -> bytes:
    """Run a client from its login to its end; return what it received."""
    caller = await Caller.call(port)

    def send(lines: bytes) -> None:
        for line in lines.split(b"\n"):
            caller.send(line + b"\n" if sealed is None else seal(line, 17))

    if sealed is not None:
        send(format_hello(sealed, "test", "somewhere"))
    await caller.until(b"ogin: ")
    for typed, then in LOGINS[name]:
        send(typed)
        await caller.until(then)
    for number, command in enumerate(COMMANDS):
        send(command + b"\ndate%d" % number)
        await caller.until(b"date%d" % number)
    send(b"quit")
    await caller.rest()
    caller.writer.close()
    return bytes(caller.heard)


def assert_nowhere(folder: Path, talk: str, secrets: tuple[bytes, ...] = (SECRET, WRONG, NEWER)) -> None:
    """Check that no file (plain or uncompressed), message or process list contains a secret."""
    texts = {"talk": talk.encode()}
    for path in (path for path in folder.rglob("*") if path.is_file()):
        texts[str(path)] = path.read_bytes()
        if path.suffix == ".zst":
            texts[f"{path}, unpacked"] = zstandard.ZstdDecompressor().decompressobj().decompress(path.read_bytes())
        elif path.suffix == ".sqlite":
            with contextlib.closing(sqlite3.connect(path)) as archive:
                texts[f"{path}, dumped"] = "\n".join(archive.iterdump()).encode()
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            texts[str(process)] = (process / "cmdline").read_bytes() + (process / "environ").read_bytes()
    assert len(texts) > 5
    for where, text in texts.items():
        for secret in secrets:
            for form in (secret, seal(bytes(byte & 0x7F for byte in secret), 17).strip(), secret.hex().encode()):
                assert form not in text, where


@pytest.mark.long_except("fics")
@pytest.mark.parametrize("manners", long_after(2, MANNERS.values()), ids=MANNERS)
@in_loop
async def test_the_password_is_nowhere_however_it_is_typed(tmp_path: Path, manners: Manners) -> None:
    answers = dict.fromkeys(COMMANDS[:2], CHANGED)
    dialogue = Dialogue(manners, {"Ann": SECRET.decode()}, answers=answers)
    async with (
        ScriptedServer(dialogue) as server,
        running(
            *("proxy", f"127.0.0.1:{server.port}", "--listen", "0"),
            *("--journal-dir", tmp_path / "journals", "--db", tmp_path / "a.sqlite"),
            *("--pgn", tmp_path / "games.pgn", "--log", tmp_path / "run.log"),
        ) as command,
    ):
        port = int((await command.until("Connect a client")).split()[-1])
        for sealed in (None, 1, 2):
            for name in LOGINS:
                heard = await asyncio.wait_for(log_in(port, name, sealed), 300)
                assert SECRET in heard, "the server repeats it, so there is something to be found"
        await command.until(f"Connection {3 * len(LOGINS)}: 0 games went into")
        assert_nowhere(tmp_path, command.talk)
        assert await command.end(signal.SIGTERM) == 0
    assert all(connection.handle == "Ann" for connection in server.connections)
    kept = journalled(tmp_path / "journals")
    assert len(kept.received) == sum(len(connection.written) for connection in server.connections)
    assert len(kept.sent) == sum(len(connection.heard) for connection in server.connections)
    assert kept.sent.count(b"date1\n") == len(LOGINS), "what is no secret is kept"
    assert kept.sent.count(seal(b"date1", 17)) == 2 * len(LOGINS)
    output = Cli(tmp_path / "b.sqlite")("import", "--verbose", "--chat", "all", tmp_path / "journals")
    assert_nowhere(tmp_path, command.talk + output.output)
