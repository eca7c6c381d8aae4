"""The default of every export and what it excludes."""

from exporters.selection import Selection
from recorder.model import GameEnd, GameKind, Player
from tests.exporters.games import make_game

BOB = Player("Bob", "1467", 1467)
GAMES = {
    "full": make_game(black=BOB),
    "cut": make_game(black=BOB, complete=False, end=GameEnd.LOG_ENDS),
    "adjourned": make_game(black=BOB, complete=False, end=GameEnd.ADJOURNED),
    "guest": make_game(black=Player("GuestABCD")),
    "computer": make_game(white=Player("Deep", titles="(C)"), black=BOB),
    "examined": make_game(kind=GameKind.EXAMINED),
    "setup": make_game([], kind=GameKind.SETUP),
    "empty": make_game([]),
}


def taken(selection: Selection) -> list[str]:
    names = {id(game): name for name, game in GAMES.items()}
    return [names[id(game)] for game in selection.select(GAMES.values())]


def test_default_takes_played_games_with_a_ply() -> None:
    selection = Selection()
    assert taken(selection) == ["full", "cut", "adjourned", "guest", "computer"]
    assert selection.taken == 5
    assert selection.excluded == {"examined": 1, "setup": 1, "without a known move": 1}
    assert selection.marked == {"incomplete": 2, "adjourned": 1}
    assert selection.summary() == (
        "5 games (1 adjourned, 2 incomplete); excluded: 1 examined, 1 setup, 1 without a known move"
    )


def test_complete() -> None:
    selection = Selection(complete=True)
    assert taken(selection) == ["full", "guest", "computer"]
    assert selection.excluded["incomplete"] == 2


def test_no_guests_no_computers() -> None:
    selection = Selection(guests=False, computers=False)
    assert taken(selection) == ["full", "cut", "adjourned"]
    assert selection.excluded["with a guest"] == selection.excluded["with a computer"] == 1


def test_include() -> None:
    assert taken(Selection(include=frozenset(["examined", "empty"]), complete=True)) == [
        "full", "guest", "computer", "examined", "empty",
    ]  # fmt: skip
    assert taken(Selection(include=frozenset(["setup", "empty"]), complete=True))[-2:] == ["setup", "empty"]
