"""PyChess as a client of the replay server saves the games of the archive."""

import asyncio
from pathlib import Path

import pytest

from tests.live.test_xboard import ended, pgn_texts
from tests.replay.test_xboard import archived
from tests.support import corpus
from tests.support.cli import Cli
from tests.support.live import in_loop, running
from tests.support.programs import program

CLIENT = Path(corpus.__file__).with_name("pychess_client.py")


@pytest.mark.needs("pychess")
@in_loop
async def test_pychess_follows_and_saves_what_the_archive_has(tmp_path: Path) -> None:
    """It joins a game at its twentieth move, gets the moves before from a list, and sees the next games begin."""
    cli = archived("a02_features", "observer_GuestObsB", tmp_path)
    saved = pgn_texts(await saved_by_pychess(cli, tmp_path, "#4/20w", 3))
    recorded = pgn_texts(cli("export", "pgn", "--clock", "none").stdout)
    assert len(recorded) == 6
    assert saved == recorded[3:]


@pytest.mark.long
@pytest.mark.needs("pychess")
@in_loop
async def test_pychess_follows_games_with_a_date_and_nothing_else(tmp_path: Path) -> None:
    """Without a time of day, a time control, a kind and times of moves, and with names that no handle can have."""
    games = (
        '[Date "2005.09.14"]\n[White "Zukertort, J."]\n[Black "Steinitz, W."]\n\n'
        "1. e4 e5 2. Qh5 Nc6 3. Bc4 Nf6 4. Qxf7# 1-0",
        '[White "?"]\n[Black "Fairy-Max 4.8"]\n\n1. d4 d5 2. c4 1/2-1/2',
    )
    source = tmp_path / "old.pgn"
    source.write_text("\n\n".join(games) + "\n")
    cli = Cli(tmp_path / "a.sqlite")
    cli("import", source)
    saved = await saved_by_pychess(cli, tmp_path, "#1/1w", 2)
    assert pgn_texts(saved) == [text.rpartition("\n")[2] for text in games]
    assert '[Date "2005.09.14"]' in saved


async def saved_by_pychess(cli: Cli, folder: Path, place: str, games: int) -> str:
    """Return the PGN in which PyChess saved so many games from a place on."""
    saved = folder / "pychess.pgn"
    python = Path(program("pychess")).read_text().splitlines()[0].removeprefix("#!").strip()
    words = ("--db", cli.archive, "--speed", "20", "--pause-at", "begin", "--pause-at", "result")
    async with running("replay", "server", "--listen", "0", *words) as command:
        port = (await command.until("Connect a client")).split()[-1]
        process = await asyncio.create_subprocess_exec(
            *(python, "-W", "ignore", CLIENT, port, place, saved, str(games)),
            env={"HOME": str(folder), "LANG": "C.UTF-8"},
            stderr=asyncio.subprocess.PIPE,
        )
        try:
            _, complaints = await process.communicate()
        finally:
            await ended(process)
    assert process.returncode == 0, complaints.decode()
    return saved.read_text()
