"""PyChess as a client of the replay server saves the games of the archive."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.live.test_xboard import ended, pgn_texts
from tests.replay.test_xboard import archived
from tests.support import corpus
from tests.support.live import in_loop, running
from tests.support.programs import program

CLIENT = Path(corpus.__file__).with_name("pychess_client.py")


@pytest.mark.needs("pychess")
@in_loop
async def test_pychess_follows_and_saves_what_the_archive_has(tmp_path: Path) -> None:
    """It joins a game at its twentieth move, gets the moves before from a list, and sees the next games begin."""
    cli = archived("a02_features", "observer_GuestObsB", tmp_path)
    saved = tmp_path / "pychess.pgn"
    python = Path(program("pychess")).read_text().splitlines()[0].removeprefix("#!").strip()
    words = ("--db", cli.archive, "--speed", "20", "--pause-at", "begin", "--pause-at", "result")
    async with running("replay", "server", "--listen", "0", *words) as command:
        port = (await command.until("Connect a client")).split()[-1]
        process = await asyncio.create_subprocess_exec(
            *(python, "-W", "ignore", CLIENT, port, "#4/20w", saved, "3"),
            env={"HOME": str(tmp_path), "LANG": "C.UTF-8"},
            stderr=asyncio.subprocess.PIPE,
        )
        try:
            _, complaints = await process.communicate()
        finally:
            await ended(process)
    assert process.returncode == 0, complaints.decode()
    recorded = pgn_texts(cli("export", "pgn", "--clock", "none").stdout)
    assert len(recorded) == 6
    assert pgn_texts(saved.read_text()) == recorded[3:]
