"""Header facts: the facts in each line, and the game they belong to."""

from recorder.events import RatingText
from recorder.model import Game
from recorder.tracking.facts import HeaderFacts, rating_number
from tests.edge_cases.scripts import Table, log, only, read
from tests.test_pipeline import Archived, by_key, whole


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


def test_a_line_that_comes_twice_takes_no_fact_away() -> None:
    table = Table()
    header = "Game 7: Ann (1510) Bob (1600) rated blitz 5 0"
    game = only(read(log(header, header, info(), info(), table.observing(), table.frame(), *table.plays("e4"))))
    assert (game.white.rating, game.white.registered, game.base_s) == (1510, False, 300)


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


# -- the table of games --------------------------------------------------------------------------------------------


def listed(
    number: int = 7, *, white: str = "1544 Ann", black: str = "1731 Bob", kind: str = "br", base: int = 5, move: int = 1
) -> list[str]:
    """The answer to ``games`` with one row."""
    row = f"{number:3d} {white:<16} {black:<15} [ {kind} {base:2d}   0]   5:00 -  5:00 (39-39) W: {move:2d}"
    return ["", row, "", "  1 game displayed."]


def of_the_table(game: Game) -> tuple[object, ...]:
    return game.white.rating, game.black.rating, game.rated, game.category, game.variant


def after(*lines: str, table: Table | None = None) -> tuple[object, ...]:
    """What a game says that is observed after these lines."""
    game = table or Table()
    return of_the_table(read(log(*lines, game.observing(), game.frame(), *game.plays("e4", "e5"))).games[-1])


NOTHING = (None, None, None, None, "chess")


def test_the_table_of_games_gives_ratings_and_kind_where_no_line_does() -> None:
    assert after(*listed()) == (1544, 1731, True, "blitz", "chess")
    assert after(*listed(kind="bu", white="++++ Ann")) == (None, 1731, False, "blitz", "chess")
    assert after(*listed(), Table().header("standard")) == (1500, 1600, True, "standard", "chess")
    assert after(*listed(kind="wr"), Table().header("wild/5"))[3:] == ("wild/5", "wild/5")
    names = Table(7, "Zorblaxxxxxxx", "Abcdefghijkl")
    assert after(*listed(white="1544 Zorblaxxxxx", black="1731 Abcdefghij"), table=names)[:2] == (1544, 1731)


def test_a_row_of_another_game_gives_nothing() -> None:
    exam = "  7 (Exam. 1544 Ann        1731 Bob       ) [ br  5   0] W:  1"
    for rows in (listed(8), listed(white="1544 Carl"), listed(base=3), listed(move=12), [exam]):
        assert after(*rows) == NOTHING
    far = ["chatter"] * 10_000
    assert after(*listed(), *far) == NOTHING
    assert after(*listed(), "{Game 7 (Ann vs. Bob) Bob resigns} 1-0") == NOTHING
    assert after(*listed(), "{Game 7 (Ann vs. Bob) Creating unrated blitz match.}")[:3] == (None, None, False)
    first = Table()
    shown = [first.observing(), first.frame(), *first.plays("e4"), *listed(), first.over("Bob resigns", "1-0")]
    assert after(*shown) == NOTHING
    games = read(log(*shown, Table().observing(), Table().frame())).games
    assert of_the_table(games[0]) == (1544, 1731, True, "blitz", "chess")


def test_a_row_in_a_log_that_grows_reaches_its_game() -> None:
    table = Table()
    lines = [
        *listed(),
        "a line",
        table.observing(),
        table.frame(),
        *table.plays("e4"),
        table.over("Bob resigns", "1-0"),
    ]
    stream = log(*lines, *listed(9, white="1200 Carl", black="1300 Dora"))
    other = Table(9, "Carl", "Dora")
    longer = stream + log(other.observing(), other.frame(), *other.plays("d4"))
    expected = by_key(whole(longer)[0])
    for cut in range(0, len(longer), 7):
        archived = Archived()
        archived.read(longer[:cut])
        archived.read(longer)
        assert by_key(archived.games) == expected
    assert {game.white.rating for game in whole(longer)[0]} == {1200, 1544}
