"""A real client, xboard, on the replay server: what it sees and saves is what the archive has."""

from __future__ import annotations

import asyncio
from pathlib import Path

from recorder.journal.format import Header, Record
from tests.live.test_xboard import XBOARD, XVFB, display, move_texts, pgn_texts, xboard
from tests.support.cli import Cli
from tests.support.corpus import stream_chunks, truth
from tests.support.journals import HEADER, lines_of, received
from tests.support.live import in_loop, running

SCENARIO, CONNECTION = "a01_standard", "observer_GuestObsA"


async def saved(path: Path, games: int) -> str:
    """The PGN, once it has so many games."""
    while True:
        text = path.read_text() if path.exists() else ""
        if text.count("[Result ") >= games and text.endswith("\n\n"):
            return text
        await asyncio.sleep(0.1)


@in_loop
async def test_xboard_observes_and_saves_what_the_archive_has(tmp_path: Path) -> None:
    assert XBOARD is not None, "xboard is not installed"
    assert XVFB is not None, "Xvfb is not installed"
    journal = tmp_path / "session.journal"
    records: list[Header | Record] = [HEADER]
    records += [received(data, at_ms * 1_000_000) for at_ms, data in stream_chunks(SCENARIO, CONNECTION)]
    journal.write_bytes(lines_of(*records))
    archive = tmp_path / "a.sqlite"
    cli = Cli(archive)
    cli("import", journal)
    pgn = tmp_path / "xboard.pgn"
    words = ("--db", archive, "--observe", "--speed", "4", "--player", "Morphy", "--idle-max", "1")
    async with running("replay", "server", "--listen", "0", *words) as command, display() as screen:
        port = (await command.until("Point your client at it")).split()[-1]
        async with xboard(port, tmp_path, screen, "-saveGameFile", pgn, "-autoSaveGames", "true"):
            text = await saved(pgn, 5)
    played = [game for game in truth(SCENARIO)["games"] if "Morphy" in (game["white"], game["black"])]
    assert pgn_texts(text) == move_texts(played)
    assert pgn_texts(cli("export", "pgn", "--player", "Morphy", "--clock", "none").stdout) == pgn_texts(text)
