"""A real client, xboard, through the proxy: what was played is what the archive has, and its password is nowhere."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from recorder.live.manners import FATICS
from recorder.live.script import Wait, script_of_chunks
from recorder.live.testserver import Dialogue, ScriptedServer
from tests.support.cli import Cli
from tests.support.corpus import stream_chunks, truth
from tests.support.live import in_loop, journalled, running

PATH = f"{os.environ.get('PATH', '')}:/usr/games"  # Debian puts xboard there
XBOARD, XVFB = shutil.which("xboard", path=PATH), shutil.which("Xvfb")
SECRET = "s3cretWord"
PLAYER = ("a01_standard", "player_Morphy")


@asynccontextmanager
async def display() -> AsyncIterator[str]:
    """A screen that nobody sees; gives its name."""
    ours, theirs = os.pipe()
    server = await asyncio.create_subprocess_exec(
        str(XVFB), "-displayfd", str(theirs), "-nolisten", "tcp", pass_fds=[theirs], stderr=asyncio.subprocess.DEVNULL
    )  # fmt: skip
    os.close(theirs)
    try:
        with os.fdopen(ours) as number:
            yield f":{(await asyncio.to_thread(number.readline)).strip()}"
    finally:
        server.terminate()
        await server.wait()


@in_loop
async def test_xboard_plays_through_the_proxy(tmp_path: Path) -> None:
    assert XBOARD is not None, "xboard is not installed"
    assert XVFB is not None, "Xvfb is not installed"
    chunks = stream_chunks(*PLAYER)
    begin = next(index for index, (_, data) in enumerate(chunks) if b"Creating: " in data)
    script = [Wait(9000), *script_of_chunks(chunks[begin:])]
    logon = tmp_path / "logon"
    logon.write_text(f"Morphy\n{SECRET}\n")
    journals = tmp_path / "journals"
    async with (
        ScriptedServer(Dialogue(FATICS, {"Morphy": SECRET}, script=script, speed=30)) as server,
        running(
            *("proxy", f"127.0.0.1:{server.port}", "--listen", "127.0.0.1:0", "--no-import"),
            *("--journal-dir", journals),
        ) as command,
        display() as screen,
    ):
        port = (await command.until("Point your client at it")).split()[-1]
        xboard = await asyncio.create_subprocess_exec(
            *(str(XBOARD), "-ics", "-icshost", "127.0.0.1", "-icsport", port, "-icslogon", str(logon)),
            *("-autoSaveGames", "false", "-popupExitMessage", "false"),
            env={**os.environ, "DISPLAY": screen, "HOME": str(tmp_path)},
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
        )
        try:
            connection = await server.connection()
            await connection.done.wait()
            await asyncio.sleep(0.3)
        finally:
            if xboard.returncode is None:
                xboard.terminate()
            await xboard.wait()
        await command.until("Connection 1 was ended by the client")
        assert await command.end(signal.SIGTERM) == 0
    assert connection.handle == "Morphy"
    assert connection.lines[:2] == [b"Morphy", SECRET.encode()]
    kept = journalled(journals)
    assert kept.received == bytes(connection.said)
    assert len(kept.sent) + kept.withheld == len(connection.heard)
    assert b"style 12" in kept.sent
    assert SECRET.encode() not in kept.raw
    assert SECRET not in command.talk

    cli = Cli(tmp_path / "a.sqlite")
    cli("import", journals)
    played = [game for game in truth(PLAYER[0])["games"] if "Morphy" in (game["white"], game["black"])]
    recorded = re.sub(r"\{[^}]*\}", "", cli("export", "pgn", "--include", "empty", "--clock", "none").stdout)
    assert recorded.count("[Event ") == len(played)
    for game in played:
        moves = " ".join(f"{ply // 2 + 1}. {san}" if ply % 2 == 0 else san for ply, san in enumerate(game["moves_san"]))
        assert f"{moves} {game['result']}" in " ".join(recorded.split())
