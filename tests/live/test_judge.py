"""The value of an expression for a game whose facts may be unknown."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recorder.dialects.gameinfo import parse_gameinfo
from recorder.dialects.lists import parse_row
from recorder.dialects.notices import parse_header
from recorder.events import GameHeader, GameInfo, GamesRow, Line
from recorder.live.policy.candidates import explain, format_part
from recorder.live.policy.games import Listed
from recorder.live.policy.language import parse_policy
from recorder.tracking.facts import HeaderFacts

PAGE = (Path(__file__).parents[2] / "docs/reference/observe.md").read_text(encoding="utf-8")
ROW = "107 1835 PMFISHER    1831 Sfumato    [ br  5  12]   2:08 -  3:25 (31-30) W:  9"


def game(*texts: str) -> Listed:
    """A game with the facts of the given lines."""
    listed = Listed(107, HeaderFacts(0))
    for text in texts:
        line = Line(text, 0)
        event = parse_row(line) or parse_header(line) or parse_gameinfo(line)
        assert isinstance(event, GamesRow | GameHeader | GameInfo), text
        listed.take(event)
    return listed


def value(text: str, listed: Listed) -> bool | None:
    return explain(parse_policy(text), listed).part.value


def explained() -> list[tuple[str, str, str]]:
    (block,) = re.findall(r"^```explained\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    lines = [line for line in block.splitlines() if line]
    found = []
    for first, sentence in zip(lines[::2], lines[1::2], strict=True):
        row, _, policy = first.partition(" | ")
        found.append((row, policy, sentence))
    return found


@pytest.mark.parametrize(("row", "policy", "sentence"), explained())
def test_explanations_of_the_page(row: str, policy: str, sentence: str) -> None:
    judged = explain(parse_policy(policy), game(row))
    assert judged.sentence == sentence
    assert judged.observed is sentence.startswith("observed: ")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("all", True),
        ("!all", False),
        ("rated", True),
        ("unrated", False),
        ("blitz", True),
        ("standard", False),
        ("private", False),
        ("examined", False),
        ("guest", False),
        ("registered", True),
        ("computer", None),
        ("!computer", None),
        ("gm | rated", True),
        ("gm & unrated", False),
        ("titled & rated", None),
        ("player pmfisher", True),
        ("white PMFISHER", True),
        ("black PMFISHER", False),
        ("player Morphy", False),
        ("rating > 1830", True),
        ("rating > 1831", False),
        ("rating <= 1835", True),
        ("rating != 1831", False),
        ("white_rating = 1835", True),
        ("black_rating >= 1832", False),
        ("min_rating = 1831", True),
        ("max_rating = 1835", True),
        ("max_rating != 1835", False),
        ("min_rating < 1832", True),
        ("base = 5", True),
        ("increment > 12", False),
        ("etime = 13", True),
        ("number = 107", True),
        ("number < 107", False),
    ],
)
def test_values(text: str, expected: bool | None) -> None:
    assert value(text, game(ROW)) is expected


@pytest.mark.parametrize("text", ["rated", "blitz", "private", "examined", "guest", "registered", "gm", "base = 1",
                                  "rating > 1", "min_rating < 9", "max_rating = 9", "player X", "!rated"])  # fmt: skip
def test_everything_is_unknown_for_a_game_without_facts(text: str) -> None:
    judged = explain(parse_policy(text), Listed(1, HeaderFacts(0)))
    assert judged.part.value is None
    assert not judged.observed
    assert "unknown" in judged.sentence


def test_all_is_true_for_a_game_without_facts() -> None:
    assert explain(parse_policy("all"), Listed(1, HeaderFacts(0))).observed


def test_one_known_rating_decides_where_it_alone_can() -> None:
    half = game(ROW.replace("1831", "----"))
    assert value("min_rating > 1900", half) is False
    assert value("min_rating > 1800", half) is None
    assert value("max_rating > 1800", half) is True
    assert value("max_rating > 1900", half) is None
    assert value("max_rating = 1800", half) is False
    assert value("rating > 1900", half) is False
    assert value("rating > 1800", half) is None
    assert value("white_rating > 1800", half) is True
    assert value("registered", half) is True  # "----": an account without a rating


@given(
    st.one_of(st.none(), st.integers(1, 9)),
    st.one_of(st.none(), st.integers(1, 9)),
    st.sampled_from(["<", "<=", ">", ">=", "=", "!="]),
    st.integers(2, 10),
    st.sampled_from(["rating", "min_rating", "max_rating"]),
)
def test_a_value_is_unknown_if_it_could_be_true_or_false(
    white: int | None, black: int | None, sign: str, number: int, field: str
) -> None:
    def judged(one: int | None, two: int | None) -> bool | None:
        row = f"107 {one or '----'} A {two or '----'} B [ br  5  12]   2:08 -  3:25 (31-30) W:  9"
        return value(f"{field} {sign} {number}", game(row))

    possible = {
        judged(one, two)
        for one in ([white] if white is not None else range(1, 12))
        for two in ([black] if black is not None else range(1, 12))
    }
    answer = judged(white, black)
    if answer is not None:
        assert possible == {answer}
    elif field != "rating":
        assert possible == {True, False}


def test_two_times_must_both_hold() -> None:
    odds = game("<g1> 107 p=0 t=blitz r=1 u=0,0 it=300,0 i=60,12 pt=0 rt=1835,1831 ts=1,1")
    assert value("base >= 1", odds) is True
    assert value("base >= 2", odds) is False
    assert value("increment = 0", odds) is False
    assert value("base = 0.5", game("<g1> 107 it=30,0 i=30,0")) is True


def test_later_lines_add_facts() -> None:
    listed = game("107 1995 Kingkonglon ++++ jacksquart [ wu 15   0]  14:54 - 14:49 (38-39) B:  3")
    assert value("wild/fr", listed) is None
    assert value("player kingkonglonFan", listed) is True
    listed.take(parse_header(Line("Game 107: Kingkonglong (1995) jacksquarter (++++) unrated wild/fr 15 0", 0)))  # type: ignore[arg-type]  # the line is a header
    assert value("wild/fr & wild & guest", listed) is True
    assert value("player kingkonglonFan", listed) is False
    assert value("wild/5", listed) is False


def test_titles_of_an_icc_table() -> None:
    listed = game("107 2876 tuechdisaigon(GM)     2903 paj(C)                sr 60  15       B: 16")
    assert value("gm & computer & titled & !im", listed) is True
    plain = game("107 2876 tuechdisaigon     2903 paj                sr 60  15       B: 16")
    assert value("computer", plain) is False


def test_private_and_examined_games_must_be_asked_for() -> None:
    private = game(ROW.replace("[ br", "[pbr"))
    assert explain(parse_policy("rated"), private).sentence == "not observed: the game is private"
    assert explain(parse_policy("rated & (private | !private)"), private).observed
    examined = game("151 (Exam. 1591 Mystprism   1361 joelbaby  ) [ Br  2   0] W: 11")
    assert not explain(parse_policy("bughouse"), examined).observed
    assert explain(parse_policy("bughouse & examined"), examined).observed


def test_the_tree_with_values() -> None:
    judged = explain(parse_policy("rated & (gm | rating > 1900)"), game(ROW))
    assert format_part(judged.part) == (
        "rated & (gm | rating > 1900): unknown\n"
        "  rated: true (the game is rated)\n"
        "  gm | rating > 1900: unknown\n"
        "    gm: unknown (the players' titles are unknown)\n"
        "    rating > 1900: false (White has 1835, Black has 1831)"
    )
    assert judged.sentence == "not observed: gm is unknown because the players' titles are unknown"


def test_a_real_table_under_a_real_policy() -> None:
    """The games that the example of the command line chooses from 269, computed again from the columns."""
    listing = Path(__file__).parents[1] / "corpus/public/mekk-games-listing.txt"
    tree = parse_policy("rated & (blitz | standard) & rating > 1700")
    taken, wanted = set(), set()
    for text in listing.read_text(encoding="latin-1").splitlines():
        row = parse_row(Line(text, 0))
        if row is None:
            continue
        listed = Listed(row.game_no, HeaderFacts(0))
        listed.take(row)
        if explain(tree, listed).observed:
            taken.add(row.game_no)
        ratings = text[4:8], text[21:25]
        if text[38] == " " and text[39] in "bs" and text[40] == "r" and all(part.strip().isdigit() for part in ratings):
            wanted |= {int(text[:3])} if min(map(int, ratings)) > 1700 else set()
    assert taken == wanted
    assert len(taken) > 10


@pytest.mark.parametrize(
    ("category", "policy", "wanted"),
    [
        ("wild/fr", "chess960", True),
        ("wild(22)", "chess960", True),
        ("wild/5", "chess960", False),
        ("wild", "chess960", None),
        ("wild", "crazyhouse", False),
        ("nonstandard", "chess960", None),
        ("nonstandard", "blitz", False),
        ("nonstandard", "nonstandard", True),
        ("non-standard", "nonstandard", True),
        ("Non-standard", "nonstandard", True),
        ("blitz crazyhouse", "crazyhouse", True),
        ("blitz crazyhouse", "blitz", False),
        ("blitz chess", "blitz", True),
        ("blitz chess", "standard", False),
        ("wild(23)", "crazyhouse", True),
        ("wild(24)", "bughouse", True),
        ("wild(23)", "wild", True),
        ("wild(5)", "wild/5", True),
        ("bsuicide", "suicide", True),
        ("lightning", "bullet", False),
        ("Non-standard", "non-standard", True),
        ("capablanca", "capablanca", True),
        ("Capablanca", "capablanca", True),
        ("capablanca/0", "capablanca", True),
        ("blitz capablanca", "capablanca", True),
        ("blitz", "capablanca", False),
        ("nonstandard", "capablanca", None),
        ("gothic", "capablanca", False),
        ("wild(25)", "3check", True),
        ("blitz", "chess", True),
        ("blitz chess", "chess", True),
        ("wild", "chess", False),
        ("1-minute", "1-minute", True),
        ("5-minute", "1-minute", False),
    ],
)
def test_a_variant_matches_by_every_servers_name(category: str, policy: str, wanted: bool | None) -> None:
    """FICS prints ``wild/fr``, ICC ``wild(22)``, and FatICS the speed before the variant."""
    listed = game("<g1> 107 p=0 t=blitz r=1 u=0,0 it=300,300 i=0,0 pt=0 rt=1835,1831 ts=1,1")
    listed.facts.category = category
    assert value(policy, listed) is wanted
