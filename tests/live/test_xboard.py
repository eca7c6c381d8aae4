"""xboard through the proxy: the archive has the played games, and no file has the password."""

import asyncio
import json
import os
import re
import signal
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import zstandard

from tests.support import cecp
from tests.support.cli import Cli
from tests.support.corpus import stream_chunks, truth
from tests.support.live import in_loop, journalled, running
from tests.support.programs import program
from tests.support.script import Hear, Say, Step, Wait, script_of_chunks
from tests.support.testserver import FATICS, Dialogue, ScriptedServer

SECRET = "s3cretWord"
PATIENCE_S = 20  # for the end of a program
PLAYER = ("a01_standard", "player_Morphy")


@asynccontextmanager
async def display() -> AsyncIterator[str]:
    """Start an invisible display; return its name."""
    ours, theirs = os.pipe()
    server = await asyncio.create_subprocess_exec(
        *(program("Xvfb"), "-displayfd", str(theirs), "-nolisten", "tcp"),
        pass_fds=[theirs],
        stderr=asyncio.subprocess.DEVNULL,
    )
    os.close(theirs)
    try:
        with os.fdopen(ours) as number:
            yield f":{(await asyncio.to_thread(number.readline)).strip()}"
    finally:
        await ended(server)


async def ended(process: asyncio.subprocess.Process) -> None:
    """End a program; kill it if it does not end."""
    if process.returncode is None:
        process.terminate()
    try:
        await asyncio.wait_for(process.wait(), PATIENCE_S)
    except TimeoutError:
        process.kill()
        await process.wait()


@asynccontextmanager
async def xboard(port: str, folder: Path, screen: str, *words: object) -> AsyncIterator[asyncio.subprocess.Process]:
    """Start xboard, which logs in itself."""
    logon = folder / "logon"
    logon.write_text(f"Morphy\n{SECRET}\n")
    process = await asyncio.create_subprocess_exec(
        *(program("xboard"), "-ics", "-icshost", "127.0.0.1", "-icsport", port, "-icslogon", str(logon)),
        *("-autoSaveGames", "false", "-popupExitMessage", "false"),
        *words,
        env={**os.environ, "DISPLAY": screen, "HOME": str(folder)},
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        yield process
    finally:
        await ended(process)
        logon.unlink()


def move_texts(games: list[dict[str, Any]]) -> list[str]:
    """Return the played moves as PGN movetext."""
    return [
        " ".join(f"{ply // 2 + 1}. {san}" if ply % 2 == 0 else san for ply, san in enumerate(game["moves_san"]))
        + f" {game['result']}"
        for game in games
    ]


def recorded_texts(cli: Cli) -> list[str]:
    """Return the movetexts of an archive's games, oldest first, without comments."""
    return pgn_texts(cli("export", "pgn", "--include", "empty", "--clock", "none").stdout)


def pgn_texts(pgn: str) -> list[str]:
    """Return the movetexts of PGN, without comments."""
    plain = re.sub(r"\{[^}]*\}(?:\s+\d+\.\.\.)?", "", re.sub(r"^\[.*\]$", "", pgn, flags=re.M))
    return [" ".join(text.split()) for text in plain.split("\n\n") if text.strip()]


def assert_no_secret(folder: Path) -> None:
    """Check that no file below a folder contains the password, including compressed ones."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert len(files) > 2
    for path in files:
        data = path.read_bytes()
        if path.suffix == ".zst":
            data = zstandard.ZstdDecompressor().decompressobj().decompress(data)
        assert SECRET.encode() not in data, path


@pytest.mark.needs("xboard", "Xvfb")
@in_loop
async def test_xboard_plays_through_the_proxy(tmp_path: Path) -> None:
    chunks = stream_chunks(*PLAYER)
    begin = next(index for index, (_, data) in enumerate(chunks) if b"Creating: " in data)
    script = [Wait(9000), *script_of_chunks(chunks[begin:])]
    journals = tmp_path / "journals"
    async with (
        ScriptedServer(Dialogue(FATICS, {"Morphy": SECRET}, script=script, speed=30)) as server,
        running(
            *("proxy", f"127.0.0.1:{server.port}", "--listen", "127.0.0.1:0", "--no-import"),
            *("--journal-dir", journals),
        ) as command,
        display() as screen,
    ):
        port = (await command.until("Connect a client")).split()[-1]
        async with xboard(port, tmp_path, screen):
            connection = await server.connection()
            await connection.done.wait()
            await asyncio.sleep(0.3)
        await command.until("Connection 1 was ended by the client")
        assert await command.end(signal.SIGTERM) == 0
    assert connection.handle == "Morphy"
    assert connection.lines[:2] == [b"Morphy", SECRET.encode()]
    kept = journalled(journals)
    assert kept.received == bytes(connection.written)
    assert len(kept.sent) == len(connection.heard)
    assert b"style 12" in kept.sent
    assert SECRET.encode() not in kept.raw
    assert SECRET not in command.talk

    cli = Cli(tmp_path / "a.sqlite")
    cli("import", journals)
    played = [game for game in truth(PLAYER[0])["games"] if "Morphy" in (game["white"], game["black"])]
    assert recorded_texts(cli) == move_texts(played)
    assert_no_secret(tmp_path)


def as_xboard_says(move: str, castles: bool) -> bytes:
    """Return a move as xboard sends it to a server."""
    if castles:
        return b"o-o" if move[2] == "g" else b"o-o-o"
    return (move[:4] + (f"={move[4]}" if move[4:] else "")).encode()


def refereed(chunks: list[tuple[int, bytes]], moves: Iterator[bytes]) -> Iterator[Step]:
    """Return the server's output; each board that shows a move of the client follows that move."""
    for step in script_of_chunks(chunks):
        if isinstance(step, Say):
            frames = re.findall(rb"<12> .*", step.data)
            if any(int(frame.split()[19]) == -1 for frame in frames):
                yield Hear(next(moves))
        yield step


@pytest.mark.long
@pytest.mark.needs("xboard", "Xvfb")
@in_loop
async def test_xboard_plays_its_own_moves_through_the_proxy(tmp_path: Path) -> None:
    """The engine of xboard plays the recorded moves; the server waits for each before it shows the next."""
    chunks = stream_chunks(*PLAYER)
    starts = [index for index, (_, data) in enumerate(chunks) if b"Creating: " in data]
    played = [game for game in truth(PLAYER[0])["games"] if "Morphy" in (game["white"], game["black"])][:3]
    assert all(game["white"] == "Morphy" for game in played)
    moves = [
        as_xboard_says(uci, san.startswith("O-O"))
        for game in played
        for uci, san in list(zip(game["moves_uci"], game["moves_san"], strict=True))[::2]
    ]
    script = [Wait(9000), *refereed(chunks[starts[0] : starts[3]], iter(moves))]
    (tmp_path / "games.json").write_text(json.dumps([game["moves_uci"] for game in played]))
    engine = f"{sys.executable} {cecp.__file__} {tmp_path / 'games.json'}"
    journals, archive, debug = tmp_path / "journals", tmp_path / "a.sqlite", tmp_path / "xboard.debug"
    async with (
        ScriptedServer(Dialogue(FATICS, {"Morphy": SECRET}, script=script, speed=30)) as server,
        running(
            *("proxy", f"127.0.0.1:{server.port}", "--listen", "0", "--journal-dir", journals, "--db", archive),
            *("--pgn", tmp_path / "games.pgn"),
        ) as command,
        display() as screen,
    ):
        port = (await command.until("Connect a client")).split()[-1]
        async with xboard(port, tmp_path, screen, "-zp", "-fcp", engine, "-debug", "-nameOfDebugFile", debug):
            connection = await server.connection()
            await connection.done.wait()
            await asyncio.sleep(0.3)
        await command.until("Connection 1: 3 games went into")
        assert await command.end(signal.SIGTERM) == 0
    assert [line for line in connection.lines if line in moves] == moves
    kept = journalled(journals)
    assert kept.received == bytes(connection.written)
    assert [line for line in kept.sent.replace(b"\r", b"").split(b"\n") if line in moves] == moves
    assert SECRET not in command.talk
    assert recorded_texts(Cli(archive)) == move_texts(played)
    assert pgn_texts((tmp_path / "games.pgn").read_text()) == move_texts(played)
    assert SECRET.encode() in debug.read_bytes(), "xboard itself writes it down"
    cli = Cli(tmp_path / "b.sqlite")
    cli("import", debug)
    cli("journal", "scrub", debug, "-o", tmp_path / "clean.debug")
    assert len(set(recorded_texts(cli)) & set(move_texts(played))) == 3
    debug.unlink()
    assert_no_secret(tmp_path)
