"""Header facts: the facts in each line, and the game they belong to."""

from __future__ import annotations

from recorder.events import RatingText
from recorder.model import Game
from recorder.tracking.facts import HeaderFacts, rating_number
from tests.edge_cases.scripts import Table, log, only, read


def info(**changes: str) -> str:
    """Return a ``<g1>`` line of game 7."""
    keys = {"t": "blitz", "r": "1", "u": "1,1", "it": "300,0", "i": "300,0", "pt": "0", "rt": "1500E,1600", "ts": "1,1"}
    return "<g1> 7 p=0 " + " ".join(f"{key}={value}" for key, value in (keys | changes).items())


OTHER = info(t="crazyhouse", r="0", u="0,0", it="60,0", i="60,0", rt="2000,2100", ts="0,0")


def header_facts(game: Game) -> tuple[object, ...]:
    white = game.white
    return game.category, game.rated, game.base_s, white.rating, white.registered, white.sealed


def first_game(*between: str) -> list[str]:
    table = Table()
    lines = [info(), table.observing(), table.frame(), *table.plays("e4"), *between, *table.plays("e5")]
    return [*lines, table.over("Bob resigns", "1-0"), table.removed()]


def second_game() -> list[str]:
    table = Table(7, "Carl", "Dora", base=1, clocks=(60_000, 60_000))
    return [OTHER, table.observing(), table.frame(), *table.plays("d4")]


def test_facts_of_a_game_do_not_reach_the_numbers_next_game() -> None:
    for between in ([], [info()]):
        first, second = sorted(
            read(log(*first_game(*between), *second_game())).games, key=lambda game: game.first_offset
        )
        assert header_facts(first) == ("blitz", True, 300, 1500, False, True)
        assert header_facts(second) == ("crazyhouse", False, 60, 2000, True, False)


def test_facts_printed_during_a_game_end_with_it() -> None:
    """No line contains facts of the number's next game."""
    table = Table(7, "Carl", "Dora", base=1, clocks=(60_000, 60_000))
    lines = [*first_game(info()), table.observing(), table.frame(), *table.plays("d4")]
    second = next(game for game in read(log(*lines)).games if game.white.handle == "Carl")
    assert header_facts(second) == (None, None, 60, None, None, None)


def test_facts_printed_during_a_game_belong_to_it() -> None:
    table = Table()
    game = only(read(log(table.frame(), *table.plays("e4"), info(), *table.plays("e5"))))
    assert header_facts(game) == ("blitz", True, 300, 1500, False, True)


def test_facts_of_a_later_start_belong_to_that_game() -> None:
    """The line precedes the end of the number's last game: the next board decides."""
    table = Table()
    lines = [info(), table.observing(), table.frame(), *table.plays("e4", "e5")]
    first, second = sorted(read(log(*lines, *second_game())).games, key=lambda game: game.first_offset)
    assert header_facts(first) == ("blitz", True, 300, 1500, False, True)
    assert header_facts(second) == ("crazyhouse", False, 60, 2000, True, False)


def test_players_are_swapped_when_the_first_in_creating_is_black() -> None:
    table = Table(relation=1)
    creating = "Creating: Bob (1708) Ann (++++) unrated blitz 5 0"
    game = only(read(log(creating, table.created(), table.frame(), *table.plays("e4"))))
    assert (game.white.rating_text, game.white.registered) == ("++++", False)
    assert (game.black.rating_text, game.black.rating) == ("1708", 1708)


def test_a_later_line_fills_and_does_not_replace() -> None:
    facts, later = HeaderFacts(50), HeaderFacts(20)
    facts.rated, facts.white_rating = False, RatingText("1500", 1500)
    later.rated, later.white_rating, later.category = True, RatingText("1900", 1900), "blitz"
    facts.add(later)
    assert (facts.category, facts.white_rating, facts.offset) == ("blitz", RatingText("1500", 1500), 20)


def test_facts_without_names_match_any_players() -> None:
    facts = HeaderFacts(0)
    assert facts.matches("Ann", "Bob")
    facts.white, facts.black = "Ann", "Bob"
    assert facts.matches("ANN", "bob")
    assert not facts.matches("Bob", "Ann")


def test_numbers_in_ratings() -> None:
    texts = ("1467P", "1500E", " 900", "++++", "----", "UNR", "²³")
    assert [rating_number(text) for text in texts] == [1467, 1500, 900, None, None, None, None]


def test_an_increment_of_zero_is_a_fact() -> None:
    """Other facts of the game do not remove it."""
    known, other = HeaderFacts(7, 1), HeaderFacts(7, 2)
    known.white_increment_s = known.black_increment_s = 0
    known.add(other)
    assert (known.white_increment_s, known.black_increment_s) == (0, 0)
