"""Games that only a movelist told of."""

from __future__ import annotations

from recorder.pipeline import Pipeline
from recorder.sources import SourceKind
from tests.edge_cases.scripts import Table, log, only, read, sans
from tests.tracking.answers import RUNNING, movelist

MOVES = ("e4", "e5", "Nf3", "Nc6")


def test_a_running_games_list_waits_for_its_first_board() -> None:
    table = Table()
    table.plays(*MOVES)
    lines = [*movelist(*MOVES, trailer=RUNNING), table.observing(), table.frame(), *table.plays("Bb5")]
    game = only(read(log(*lines, table.over("Bob resigns", "1-0"))))
    assert (sans(game), game.complete) == ([*MOVES, "Bb5"], True)


def test_a_running_games_list_is_not_of_the_number_next_door() -> None:
    table = Table(8)
    table.plays(*MOVES)
    games = read(log(*movelist(*MOVES, trailer=RUNNING), table.observing(), table.frame(), *table.plays("Bb5"))).games
    assert sorted((game.game_no, sans(game)) for game in games) == [(7, list(MOVES)), (8, ["Bb5"])]


def test_a_list_without_its_last_line_is_told() -> None:
    found = read(log(*movelist(*MOVES, trailer=RUNNING)[:-1], "fics% "))
    assert found.anomalies() == ["cut"]
    assert sans(only(found)) == list(MOVES)


def test_no_more_lists_are_held_than_needed() -> None:
    """A long answer to many ``smoves`` gives its games early, each once."""
    names = [f"A{chr(97 + at % 26)}{chr(97 + at // 26)} Bob" for at in range(70)]
    lines = [line for pair in names for line in movelist(*MOVES, trailer="{Bob resigns} 1-0", number=None, names=pair)]
    pipeline = Pipeline(SourceKind.RAW)
    early = pipeline.receive(log(*lines))
    late = pipeline.finish()
    assert len(early) >= 5
    assert sorted(game.white.handle for game in early + late) == sorted(pair.split()[0] for pair in names)
