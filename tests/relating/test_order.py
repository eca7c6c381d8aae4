"""What the order of lines shows: boards of two logs without times of day, and sessions that repeat each other."""

import random
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cache

import pytest

from recorder.model import Game, SourceName
from recorder.relating.board_order import Beside, BoardOrders
from recorder.relating.game_view import View
from recorder.relating.merge import merge_games

from .scenes import connections, games_of, played, truth_of


@cache
def _recorded(scenario: str) -> dict[str, tuple[Game, int]]:
    """Key → what an observer tells without times of day, and its number in the truth; all of one server."""
    return {
        game.key: (replace(game, server="example.org"), truth_of(scenario, name)[place])
        for name in connections(scenario)
        if name.startswith("observer")
        for place, game in enumerate(games_of(scenario, name, timed=False))
        if played([game])
    }


def _beside(games: Iterable[Game]) -> Beside:
    """As an archive looks them up."""
    views = [View(game) for game in games]

    def around(game: Game) -> list[Game]:
        return [
            view.game
            for view in views
            if view.source == View(game).source
            and view.game.key != game.key
            and view.game.first_offset <= game.last_offset
            and view.game.last_offset >= game.first_offset
        ]

    def beside(one: Game, other: Game) -> list[tuple[Game, Game]]:
        return [(mine, its) for mine in around(one) for its in around(other) if _seat(mine) == _seat(its)]

    return beside


def _seat(game: Game) -> tuple[str, str, int | None]:
    return game.white.handle, game.black.handle, game.game_no


def _merged(games: list[Game]) -> list[Game]:
    return merge_games(games, BoardOrders(_beside(games)))


def test_eight_boards_of_two_logs_are_one_game_each() -> None:
    recorded = _recorded("c07_eight_boards")
    games = [game for game, _ in recorded.values()]
    expected = _merged(games)
    merged_of = [{recorded[key][1] for key in game.merged_from} for game in expected]
    assert merged_of == [{recorded[game.key][1]} for game in expected]
    assert len(expected) == 16
    assert len(merge_games(games)) < 8, "only their order shows most of it"
    random.Random(3).shuffle(games)
    assert _merged(games) == expected


def test_a_session_that_repeats_another_is_not_one_with_it() -> None:
    """The boards of b07 and c07 were played by the same programs with the same moves."""
    recorded = {**_recorded("b07_eight_boards"), **_recorded("c07_eight_boards")}
    scenarios = {key: name for name in ("b07_eight_boards", "c07_eight_boards") for key in _recorded(name)}
    merged = _merged([game for game, _ in recorded.values()])
    assert len(merged) == 32
    assert all(len({scenarios[key] for key in game.merged_from}) == 1 for game in merged)


@pytest.mark.parametrize(
    "number", ["01_standard", "02_features", "03_wild", "04_chatter_takeback_pause", "06_bughouse"]
)
def test_games_that_a_script_repeats_on_another_server_are_others(number: str) -> None:
    """As if it were one server: moves, numbers and ratings are equal, and so is the order of a match's boards."""
    scenarios = {key: name for name in (f"b{number}", f"c{number}") for key in _recorded(name)}
    games = [game for name in dict.fromkeys(scenarios.values()) for game, _ in _recorded(name).values()]
    merged = _merged(games)
    assert all(len({scenarios[key] for key in game.merged_from}) == 1 for game in merged)
    assert bool(merged) is (number != "01_standard"), "its games are short"


def _changed(change: Callable[[Game], Game]) -> str | None:
    """Why two records of a short game, one of them changed, are of one game; the boards beside it are known."""
    recorded = list(_recorded("c07_eight_boards").values())
    one, other = (game for game, number in recorded if number == 0)
    assert len(one.plies) == 6
    other = change(other)
    orders = BoardOrders(_beside(game for game, _ in recorded))
    why = orders.same(View(one), View(other))
    assert orders.same(View(other), View(one)) == why
    return why


def test_a_number_is_one_game_at_any_moment() -> None:
    assert _changed(lambda game: game) == "the same number during 10 lines of a game of both logs"
    assert _changed(lambda game: replace(game, game_no=9)) is None


def test_a_game_at_another_place_of_the_log_is_not_the_same() -> None:
    def later(game: Game) -> Game:
        shift = game.last_offset - game.first_offset
        (seen,) = game.observations
        plies = [ply._replace(offset=ply.offset + shift) for ply in seen.lines[0].plies]
        moved = replace(seen, offset=seen.offset + shift, lines=[replace(seen.lines[0], rows=plies)])
        return replace(game, observations=[moved])

    assert _changed(later) is None


def test_a_game_repeated_too_often_is_not_looked_at() -> None:
    """The order of each with each costs the square of their number."""
    recorded = list(_recorded("c07_eight_boards").values())
    one, other = (game for game, number in recorded if number == 0)
    repeated = [
        replace(
            other, key=f"{copy:020}", observations=[replace(other.observations[0], source=SourceName("", f"{copy}"))]
        )
        for copy in range(40)
    ]
    looked: list[str] = []

    def beside(one: Game, other: Game) -> list[tuple[Game, Game]]:
        looked.append(one.key)
        return []

    merge_games([one, *repeated[:2]], BoardOrders(beside))
    assert len(looked) == 3
    merge_games([one, *repeated], BoardOrders(beside))
    assert len(looked) == 3
