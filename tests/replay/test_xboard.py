"""xboard as a client of the replay server shows and saves the games of the archive."""

import asyncio
from pathlib import Path

import pytest

from tests.live.test_xboard import display, move_texts, pgn_texts, xboard
from tests.support.cli import Cli
from tests.support.corpus import stream_chunks, truth
from tests.support.journals import timed_journal
from tests.support.live import in_loop, running

SCENARIO, CONNECTION = "a01_standard", "observer_GuestObsA"


async def saved(path: Path, games: int) -> str:
    """Wait until the PGN has this number of games; return it."""
    while True:
        text = path.read_text() if path.exists() else ""
        if text.count("[Result ") >= games and text.endswith("\n\n"):
            return text
        await asyncio.sleep(0.1)


def archived(scenario: str, connection: str, folder: Path) -> Cli:
    """An archive of a recorded connection's games, with their arrival times."""
    journal = folder / "session.journal"
    journal.write_bytes(timed_journal(stream_chunks(scenario, connection)))
    cli = Cli(folder / "a.sqlite")
    cli("import", journal)
    return cli


@pytest.mark.long
@pytest.mark.needs("xboard", "Xvfb")
@in_loop
async def test_xboard_observes_and_saves_what_the_archive_has(tmp_path: Path) -> None:
    cli = archived(SCENARIO, CONNECTION, tmp_path)
    pgn = tmp_path / "xboard.pgn"
    words = ("--db", cli.archive, "--observe", "--speed", "4", "--player", "Morphy", "--idle-max", "1")
    async with running("replay", "server", "--listen", "0", *words) as command, display() as screen:
        port = (await command.until("Connect a client")).split()[-1]
        async with xboard(port, tmp_path, screen, "-saveGameFile", pgn, "-autoSaveGames", "true"):
            text = await saved(pgn, 5)
    played = [game for game in truth(SCENARIO)["games"] if "Morphy" in (game["white"], game["black"])]
    assert pgn_texts(text) == move_texts(played)
    assert pgn_texts(cli("export", "pgn", "--player", "Morphy", "--clock", "none").stdout) == pgn_texts(text)
