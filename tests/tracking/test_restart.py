"""Single cases of a growing log; ``tests/test_pipeline.py`` tests the property with the corpus."""

import chess
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.edge_cases.scripts import Table, log, read
from tests.support.effort import examples
from tests.test_pipeline import Archived, by_key, counts, whole
from tests.tracking.answers import RUNNING, movelist


def two_games(second: int) -> bytes:
    """Two games, malformed lines and quoted frames; the second game has its own or the same number."""
    table, other = Table(), Table(second, "Carl", "Dora")
    lines = ["odd zero", table.header(), table.observing(), table.frame(), *table.plays("e4", "e5")]
    lines += [table.over("Bob resigns", "1-0"), table.removed(), "some odd line", "Bob kibitzes: <12> x"]
    lines += [other.header(), other.observing(), other.frame(), *other.plays("d4", "d5")]
    return log(*lines, other.over("Dora resigns", "1-0"), "other odd line")


def check(data: bytes, ends: list[int]) -> None:
    """Read the log at each of these sizes, then completely; compare with one reading."""
    expected, reference = whole(data)
    archived = Archived()
    for end in ends:
        archived.read(data[:end])
    last = archived.read(data)
    assert by_key(archived.games) == by_key(expected)
    assert counts(last) == counts(reference)
    assert last.report.line_count == reference.report.line_count
    assert sorted(last.report.shapes) == sorted(reference.report.shapes)
    assert last.report.anomalies == reference.report.anomalies


@pytest.mark.parametrize("second", [7, 8])
@pytest.mark.parametrize("steps", [(0,), (0, 3), (0, 3, 6), (0, 0, 1, 2, 3)])
def test_growth_by_bytes_that_are_no_whole_line(second: int, steps: tuple[int, ...]) -> None:
    data = two_games(second)
    middle = data.find(b"P/d7-d5")
    check(data, [middle + step for step in steps])


@pytest.mark.parametrize("second", [7, 8])
def test_growth_line_by_line(second: int) -> None:
    data = two_games(second)
    check(data, [at + 1 for at, byte in enumerate(data) if byte == 10])


def test_growth_after_a_list_of_an_emitted_game() -> None:
    table, other = Table(), Table(8, "Carl", "Dora")
    lines = [table.observing(), table.frame(), *table.plays("e4", "e5"), table.over("Bob resigns", "1-0")]
    lines += [other.observing(), other.frame(), *other.plays("d4")]
    lines += movelist("e4", "e5", number=None, trailer="{Bob resigns} 1-0")
    new = Table(7, "Ed", "Fay")
    lines += ["fics% ", new.observing(), new.frame(), *new.plays("c4"), *other.plays("d5")]
    data = log(*lines)
    listed, begun = data.find(b"Ann (1500)"), data.find(b"Ed Fay")
    for ends in ([listed], [begun + 40], [len(data) - 5], [listed, begun + 40, begun + 41, len(data) - 5]):
        check(data, ends)
    assert len(read(data).games) == 3


def test_repeated_growth_beside_an_emitted_game() -> None:
    """The first reading emits the first game, which reaches beyond the restart point of all others."""
    table, long, new = Table(), Table(8, "Carl", "Dora"), Table(7, "Ed", "Fay")
    lines = [table.observing(), table.frame(), *table.plays("e4"), long.observing(), long.frame()]
    lines += [*table.plays("e5", "Nf3"), table.over("Bob resigns", "1-0"), new.observing(), new.frame()]
    first = len(log(*lines))
    lines += [*long.plays("d4"), *new.plays("c4")]
    second = len(log(*lines))
    data = log(*lines, *long.plays("d5"), *new.plays("c5"))
    check(data, [first, second])
    check(data, [first, second, second + 10, len(data) - 10])


@pytest.mark.parametrize("announced", ["created", "creating", "header"])
def test_growth_behind_the_announcement_of_an_emitted_game(announced: str) -> None:
    """Reading goes on at the board of the long game: the line that announced the second one is not read again."""
    long, table, new = Table(8, "Carl", "Dora"), Table(), Table(7, "Ed", "Fay")
    lines = {
        "created": table.created(),
        "creating": "Creating: Ann (1500) Bob (1600) rated blitz 5 0",
        "header": table.header(),
    }
    before = [lines[announced], long.frame(), table.frame(), *table.plays("e4"), table.over("Bob resigns", "1-0")]
    data = log(*before, new.frame(), *long.plays("d4"), *new.plays("c4"))
    check(data, [len(log(*before)), len(data) - 5])
    assert [game.category for game in whole(data)[0] if game.white.handle == "Ann"] == ["blitz"]


def test_growth_after_the_second_game_of_two_players() -> None:
    """That its number had a game of the same players shows that its first board is not of its start."""
    table, second = Table(), Table()
    lines = [table.frame(), *table.plays("e4"), table.over("Bob resigns", "1-0"), second.created()]
    data = log(*lines, *second.plays("d4", "d5"))
    check(data, [len(log(*lines, *Table().plays("d4")))])


def test_growth_after_a_list_that_alone_shows_its_game() -> None:
    """The list's line with the number is read again, too."""
    data = log(*movelist("e4", "e5", trailer=RUNNING, number=7), "fics% ")
    check(data, [len(data) - 5])


STEPS = ("created", "creating", "header", "info", "board", "move", "list", "over", "removed", "chat", "of a player")
PAIRS = (("Ann", "Bob"), ("Carl", "Dora"), ("Ed", "Fay"))


def logged(steps: list[tuple[int, str]]) -> bytes:
    """Two numbers whose games follow each other: lines that announce a game, its boards, lists and end."""
    lines: list[str] = []
    games = {7: 0, 8: 0}
    tables: dict[int, Table] = {}
    for number, step in steps:
        table = tables.get(number) or Table(number, *PAIRS[games[number] % len(PAIRS)])
        running = number in tables
        if step == "move" or (step == "board" and not running):
            tables[number] = table
            sans = sorted(map(table.board.san, table.board.legal_moves))
            lines.append(table.play(sans[0]) if step == "move" and sans else table.frame())
        elif not running and step == "created":
            lines.append(table.created())
        elif not running and step == "creating":
            lines.append(f"Creating: {table.white} (1500) {table.black} (1600) rated blitz 5 0")
        elif not running and step == "header":
            lines += [table.observing(), table.header()]
        elif not running and step == "info":
            lines.append(f"<g1> {number} p=0 t=blitz r=1 u=1,1 it=300,0 i=300,0 pt=0 rt=1500,1600 ts=1,0 m=2 n=1")
        elif step == "chat":
            lines += ["Eve(1500) kibitzes: hm", "Game clock paused."]
        elif running and step == "of a player":
            lines.append(f"{table.white}(1500) kibitzes: hi")
        elif running and step == "list":
            played = chess.Board().variation_san(table.board.move_stack).replace(".", ". ").split()
            sans = [word for word in played if not word.endswith(".")]
            lines += movelist(*sans, trailer=RUNNING, number=number, names=f"{table.white} {table.black}")
            lines.append("fics% ")
        elif running and step in ("over", "removed"):
            lines.append(table.over(f"{table.black} resigns", "1-0") if step == "over" else table.removed())
            del tables[number]
            games[number] += 1
    return log(*lines)


@settings(max_examples=examples(100), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(st.tuples(st.sampled_from((7, 8)), st.sampled_from(STEPS)), max_size=60),
    st.lists(st.integers(0, 20_000), min_size=1, max_size=3),
)
def test_growth_anywhere(steps: list[tuple[int, str]], places: list[int]) -> None:
    data = logged(steps)
    check(data, sorted(at % (len(data) + 1) for at in places))


def test_words_without_a_number_beside_an_emitted_game() -> None:
    """The game that goes on is read again without the one that was emitted: it must not get the words of that one."""
    table, other = Table(), Table(8, "Carl", "Dora")
    lines = [other.frame(), table.frame(), *table.plays("e4")]
    lines += ["Carl kibitzes: hi", "Eve kibitzes: hm", "Bob kibitzes: here", "Game clock paused."]
    lines += [other.over("Dora resigns", "1-0"), other.removed(), "Eve kibitzes: now"]
    lines += [Table(8, "Ed", "Fay").frame(), "Eve kibitzes: hm"]  # the number's next game: the first one is emitted
    data = log(*lines, *table.plays("e5"))
    found = {
        game.white.handle: [event.text for event in game.events if event.kind.value == "chat"]
        for game in whole(data)[0]
    }
    assert found == {"Ann": ["here", "now"], "Carl": ["hi"], "Ed": []}
    check(data, [at + 1 for at, byte in enumerate(data) if byte == 10])


def test_a_restart_does_not_go_back_behind_an_emitted_game() -> None:
    """A header before the place is of a game that begins behind it; an emitted game began between both."""
    table, other, next_one = Table(8), Table(7), Table(8, "Carl", "Dora")
    lines = [table.created(), other.observing(), other.header(), table.frame(), table.over("Bob resigns", "1-0")]
    lines += [next_one.frame()]
    places = [len(log(*lines))]
    lines += [other.frame()]
    check(log(*lines, *other.plays("e4")), [*places, len(log(*lines))])


def test_a_game_that_began_before_another_login_keeps_its_session() -> None:
    table = Table()
    greeting = "**** Starting FICS session as %s ****"
    data = log(greeting % "Carl", table.header(), table.observing(), table.frame(), *table.plays("e4", "e5"))
    data += log(greeting % "Dora", "some line", "another line")
    (game,) = whole(data)[0]
    assert game.me == "Carl"
    check(data, [data.index(b"another line")])
