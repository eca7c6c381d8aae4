"""The game of an event line, and when a game is emitted."""

import pytest

from recorder.model import Game
from recorder.pipeline import Pipeline
from recorder.sources import SourceKind
from tests.edge_cases.scripts import Table, details, events, log, only, read, sans


def by_number(games: list[Game]) -> dict[int | None, Game]:
    return {game.game_no: game for game in games}


def chat(game: Game) -> list[str]:
    return [event.text for event in events(game, "chat")]


def test_chat_without_a_number_belongs_to_the_speakers_game_or_to_the_only_one() -> None:
    table, other = Table(7), Table(8, "Carl", "Dora")
    lines = [table.frame(), "Eve(1500) kibitzes: one"]
    lines += [other.frame(), "Eve(1500) whispers: of which?"]
    lines += ["Carl(1500) kibitzes: two", "Eve(1500)[8] kibitzes: three", "Eve(1500)[9] kibitzes: four"]
    lines += ["bob(C)(1500) kibitzes: five", "Dora whispers: six", "Bob kibitzes: seven"]
    lines += [table.over("Bob resigns", "1-0"), table.removed(), "Bob kibitzes: eight", "Eve kibitzes: nine"]
    games = by_number(read(log(*lines)).games)
    assert chat(games[7]) == ["one", "five", "seven"]
    assert chat(games[8]) == ["two", "three", "six", "eight", "nine"]


def test_a_player_of_several_games_gives_no_game() -> None:
    lines = [
        Table(7, "Ann", "Bob").frame(),
        Table(8, "Ann", "Carl").frame(),
        "Ann kibitzes: of which?",
        "Bob kibitzes: 7",
    ]
    games = by_number(read(log(*lines)).games)
    assert (chat(games[7]), chat(games[8])) == (["7"], [])


@pytest.mark.parametrize(
    ("kept", "words"),
    [("none", []), ("public", ["kibitz"]), ("own", ["tell", "kibitz", "say"]), ("all", ["tell", "kibitz", "say"])],
)
def test_which_chat_is_kept(kept: str, words: list[str]) -> None:
    table = Table(7, relation=1)
    lines = ["**** Starting FICS session as Ann ****", table.created(), table.frame(), "Bob tells you: hi"]
    lines += ["Bob(1600)[7] kibitzes: hm", "Bob[7] says: gg", *table.plays("e4")]
    pipeline = Pipeline(SourceKind.RAW, chat=kept)
    games = pipeline.receive(log(*lines)) + pipeline.finish()
    assert [details(game, "chat") for game in games] == [words]


def test_an_unknown_choice_of_chat_is_refused() -> None:
    with pytest.raises(ValueError, match="chat must be"):
        Pipeline(SourceKind.RAW, chat="some")


def test_the_end_of_another_pair_does_not_end_the_game() -> None:
    table = Table()
    lines = [table.frame(), *table.plays("e4", "e5"), "{Game 7 (Ann vs. Carl) Carl resigns} 1-0"]
    game = only(read(log(*lines, *table.plays("Nf3"))))
    assert (sans(game), game.result) == (["e4", "e5", "Nf3"], "*")


def test_a_result_after_the_result_changes_nothing() -> None:
    table = Table()
    lines = [table.frame(), *table.plays("e4", "e5"), table.over("Bob resigns", "1-0")]
    game = only(read(log(*lines, table.over("Ann resigns", "0-1"))))
    assert (game.result, details(game, "result")) == ("1-0", ["resign"])


def test_a_rematch_ends_by_its_own_result() -> None:
    """The result of a rematch without boards does not belong to the game we left."""
    table = Table()
    lines = [table.frame(), *table.plays("e4", "e5"), table.removed(), table.created()]
    game = only(read(log(*lines, table.over("Ann resigns", "0-1"))))
    assert (game.result, game.end) == ("*", "unobserved")


def test_an_ended_game_is_emitted_after_a_while() -> None:
    """Measured in bytes of the log; until then a late list may still join it."""
    table = Table()
    pipeline = Pipeline(SourceKind.RAW)
    over = log(table.frame(), *table.plays("e4", "e5"), table.over("Bob resigns", "1-0"))
    assert pipeline.receive(over) == []
    other = log("x" * 1000) * 300 + log("{Game 9 (Eve vs. Zed) Zed resigns} 1-0", "another line")
    assert [sans(game) for game in pipeline.receive(other)] == [["e4", "e5"]]
    assert pipeline.finish() == []


def test_titles_come_from_chat() -> None:
    table = Table()
    game = only(read(log(table.frame(), "Ann(FM)(1500)[7] kibitzes: hi", *table.plays("e4"))))
    assert (game.white.titles, game.black.titles) == ("(FM)", None)
