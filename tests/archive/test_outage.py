"""What a recorder that was killed and started again has of a game is one game, in the archive and in its PGN."""

from pathlib import Path

import pytest

from exporters.pgn.exporter import PgnOptions
from recorder.archive.following.follower import Follower
from recorder.archive.following.pgn import FinishedGames
from recorder.archive.reading.importing import ReadOptions
from recorder.journal.format import VERSION, JournalHeader
from tests.archive.test_following import pgn_keys
from tests.edge_cases.scripts import Table, log
from tests.relating.interrupted import LONG
from tests.support.cli import Cli
from tests.support.journals import ANCHOR_NS, lines_of, received

CORPUS = Path(__file__).parent.parent / "corpus" / "outage"
SPENT = [900, 700, 1300, 1250, 2600, 1900, 4000, 1800, 1600, 1100, *[1100, 1400, 2300, 1900, 1150] * 4]


def record(cli: Cli, journals: list[Path]) -> list[str]:
    """Take journals as a recorder with ``--pgn`` does, one after the other; return the results in the PGN."""
    pgn = cli.archive.with_name("games.pgn")
    for journal in journals:
        finished = FinishedGames(str(pgn), PgnOptions(), shares=lambda _: True)
        updater = Follower(str(cli.archive), journal, ReadOptions(), keep=False, outlets=(finished,))
        updater.look()
        assert updater.finish(), updater.problem
    return [line for line in pgn.read_text().splitlines() if line.startswith("[Result ")]


@pytest.mark.long
def test_each_game_of_two_journals_is_there_once(tmp_path: Path) -> None:
    cli, imported = Cli(tmp_path / "a.sqlite"), Cli(tmp_path / "imported.sqlite")
    journals = sorted(CORPUS.glob("*.zst"))
    imported("import", *reversed(journals))
    games = imported.json("games", "--json")
    found = {
        (game["white"]["handle"], game["server_game_no"]): (game["ply_count"], game["result"], game["complete"])
        for game in games
        if (game["white"]["handle"], game["black"]["handle"]) in (("BotAo", "BotAp"), ("BotAn", "BotAm"))
    }
    assert found[("BotAo", 16)] == (3, "1-0", True)
    assert found[("BotAn", 18)] == (31, "1-0", True)
    assert imported.json("duplicates", "--json") == []
    record(cli, journals)
    assert cli.json("games", "--json") == games
    keys = pgn_keys(tmp_path / "games.pgn")  # a game with a gap has several entries
    assert set(keys) <= {game["key"] for game in games}
    assert all(keys.count(game["key"]) == 1 for game in games if game["complete"])


def _listed(number: int, plies: int, first_half: int, *, ms: bool) -> list[str]:
    """The list of a game in progress; of what was played before it was adjourned it may print no times."""

    def time(spent_ms: int) -> str:
        text = f"{spent_ms // 60_000}:{spent_ms // 1000 % 60:02}"
        return f"({text}.{spent_ms % 1000:03})" if ms else f"({text})"

    halves = [
        f"{san:<7} {time(0 if ply < max(first_half, 2) else spent)}"
        for ply, (san, spent) in enumerate(zip(LONG[:plies], SPENT, strict=False))
    ]
    return [
        f"Movelist for game {number}:",
        "",
        "Ann (1500) vs. Bob (1600) --- Fri Nov 21, 22:00 UTC 2025",
        "Rated blitz match, initial time: 5 minutes, increment: 0 seconds.",
        "",
        "Move  Ann                Bob",
        "----  ----------------   ----------------",
        *(f"{row + 1:3d}.  {'     '.join(halves[2 * row : 2 * row + 2])}" for row in range((plies + 1) // 2)),
        "      {Still in progress} *",
    ]


@pytest.mark.parametrize("ms", [True, False])
@pytest.mark.parametrize("first_half", [10, 0])
@pytest.mark.parametrize("number", [7, 9])
def test_a_game_that_is_adjourned_resumed_and_then_cut_is_there_once(
    tmp_path: Path, ms: bool, first_half: int, number: int
) -> None:
    """It is adjourned after ten plies, and the recorder misses the plies 17 to 20."""
    table, at_ms = Table(7, ms=ms), 0
    sent: tuple[list[tuple[int, list[str]]], ...] = ([(0, [table.observing(), table.header(), table.frame()])], [])
    for ply, (san, spent_ms) in enumerate(zip(LONG, SPENT, strict=True), 1):
        frame = table.play(san, spent_ms)
        at_ms += spent_ms
        sent[ply > 16].append((at_ms, [frame] if ply not in range(17, 21) else []))
        if ply == 10:
            sent[0].append((at_ms + 300, [table.over("Game adjourned by mutual agreement", "*")]))
            at_ms, table.number = at_ms + 60_000, number
            continuing = f"{{{table.pair} Continuing rated blitz match.}}"
            sent[0].append((at_ms, [continuing, table.observing(), table.header(), table.frame()]))
        if ply == 20:
            joining = [table.observing(), table.header(), table.frame(), *_listed(number, 20, first_half, ms=ms)]
            sent[1].append((at_ms + 100, joining))
    sent[1].append((at_ms + 500, [table.over("Ann resigns", "0-1")]))
    cli = Cli(tmp_path / "a.sqlite")
    journals = []
    for place, chunks in enumerate(sent, 1):
        header = JournalHeader(VERSION, f"{place:016x}", 1, "record", "chess.example", 5000, ANCHOR_NS, "test")
        lines = [received(log("fics% FatICS"))]
        lines += [received(log(*text), moment_ms * 1_000_000) for moment_ms, text in chunks if text]
        journals.append(tmp_path / f"2025112{place}T220000000Z_h_5000_{place:016x}_00001.journal")
        journals[-1].write_bytes(lines_of(header, *lines))
    assert record(cli, journals) == ['[Result "0-1"]']
    (game,) = cli.json("games", "--json")
    assert (game["ply_count"], game["result"], game["complete"]) == (30, "0-1", True)
