"""Numbers longer than any server prints: chat that was wrapped can hold any line, and must not stop an import."""

from pathlib import Path

import pytest

from recorder.dialects.recogniser import Recogniser
from recorder.events import Line
from recorder.model import Disposition
from tests.edge_cases.scripts import Table, log, read, sans
from tests.support.cli import Cli

LINES = (
    "<g1> {n} p=0 t=blitz r=0 it=300,0 i=300,0",
    "<g1> 7 p=0 t=blitz r=0 it={n},{n} i={n},{n} pt={n} rt={n},{n} ts=0,0",
    "<b1> game {n} white [] black []",
    "<d1> {n} 3 Nf3 g1f3 1 1 1",
    "Game 7: Eve goes forward {n} moves.",
    "Game {n}: Eve backs up 1 move.",
    "Game 7: Ann requests to take back {n} half move(s).",
    "{n} seconds were added to your opponent's clock.",
    "You are now observing game {n}.",
    "Removing game {n} from observation list.",
    "Entering examine mode for game {n}.",
    "Bob has made you an examiner of game {n}.",
    "Your partner is playing game {n} (Cid vs. Dan).",
    "Game 7: Ann ({n}) Bob (1500) rated blitz {n} {n}",
    "Creating: Ann ({n}) Bob (1500) rated blitz {n} {n}",
    "{{Game {n} (Ann vs. Bob) Creating rated blitz match.}}",
    "{{Game {n} (Ann vs. Bob) Ann resigns}} 0-1",
    "Cid(1500)[{n}] kibitzes: hi",
    "Cid({n}): hi",
    "Style {n} set.",
    "Movelist for game {n}:",
    "Rated blitz match, initial time: {n} minutes, increment: {n} seconds.",
)


@pytest.mark.parametrize("digits", [20, 5000])
@pytest.mark.parametrize("line", LINES)
def test_a_number_that_no_server_prints_is_none(line: str, digits: int) -> None:
    text = line.format(n="9" * digits)
    for event in Recogniser().feed([Line(text, 0, None, None)]):
        values = [getattr(event, name) for name in getattr(event, "_fields", ()) if name != "line"]
        assert all(abs(value) < 1 << 62 for value in values if isinstance(value, int))
    table = Table()
    found = read(log(table.frame(), table.play("e4"), text, table.play("e5"), table.over("Ann resigns", "0-1")))
    game = next(game for game in found.games if game.game_no == 7)
    assert (sans(game), game.result) == (["e4", "e5"], "0-1")


@pytest.mark.parametrize("digits", [20, 5000])
@pytest.mark.parametrize("field", ["push", "irreversible", "number", "base", "white_clock", "lag", "elapsed"])
@pytest.mark.parametrize("relation", [0, -2])
def test_a_frame_with_such_a_number_is_none(field: str, digits: int, relation: int) -> None:
    number = "9" * digits
    table = Table(relation=relation)
    first = table.frame(**{field: f"({number}:00)" if field == "elapsed" else number})
    found = read(log(first, table.frame(), table.play("e4")))
    (game,) = found.games
    assert (sans(game), found.anomalies(), found.frames(Disposition.MALFORMED)) == (["e4"], ["malformed"], [1])


@pytest.mark.parametrize("base", [5, 0], ids=["timed", "untimed"])
def test_clocks_of_the_next_board_that_no_server_has(base: int) -> None:
    table = Table(base=base, clocks=(60_000 * base, 60_000 * base))
    lines = [table.frame(), *table.plays("e4", "e5"), table.play("Nf3", white_clock="9" * 20)]
    found = read(log(*lines, table.play("Nc6"), table.play("Bb5")))
    (game,) = found.games
    clocks = [(ply.white_clock_ms is None, ply.black_clock_ms is None) for ply in game.plies]
    assert (sans(game)[2], clocks[2], clocks[3:]) == ("Nf3", (True, True), [(False, False)] * 2)
    assert found.anomalies() == ["malformed"]
    assert [event for event in game.events if event.kind.value == "clock"] == []


@pytest.mark.parametrize("field", ["number", "base", "increment", "move_no"])
def test_a_first_frame_with_a_number_that_no_table_holds_is_none(field: str) -> None:
    table = Table()
    first = table.frame(**{field: "9" * 12})
    found = read(log(first, table.frame(), table.play("e4")))
    (game,) = found.games
    assert (sans(game), found.anomalies(), found.frames(Disposition.MALFORMED)) == (["e4"], ["malformed"], [1])


_LIST = """Movelist for game 7:

Ann (1500) vs. Bob (1600) --- Mon Nov  4, 08:38 UTC 2002
Rated blitz match, initial time: 999999999 minutes, increment: 0 seconds.

Move  Ann                Bob
----  ----------------   ----------------
  1.  e4      (0:00)     e5      (0:00)
      {Ann resigns} 0-1
"""


def test_a_time_control_of_years_keeps_no_table_from_its_other_games(tmp_path: Path) -> None:
    (tmp_path / "odd.raw").write_bytes(log(f"fics% {_LIST}"))
    cli = Cli(tmp_path / "archive.sqlite")
    cli("import", "--kind", "raw", tmp_path / "odd.raw")
    assert [game["base_s"] for game in cli.json("games", "--json")] == [59_999_999_940]
    rows = [line.split(",") for line in cli("export", "plies").stdout.splitlines()]
    assert [row[rows[0].index("base_s")] for row in rows] == ["base_s", "", ""]
