"""PGN as text: tag pairs, escaping, wrapping, reasons."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from exporters.pgn.annotations import Item, brace_comment, brace_text, comment_of
from exporters.pgn.exporter import colours_for_handles, wrap
from exporters.pgn.parts import PgnPart
from exporters.pgn.tags import event_name, fics_tags, readable, tag, tag_lines, tags
from recorder.model import Game, GameKind, Player
from recorder.movetext import GLUE, split_remark
from tests.exporters.games import make_game
from tests.exporters.pgn_reader import TAG

WORDS = st.lists(st.text("abc{}[%", min_size=1, max_size=100), min_size=1, max_size=60)


@given(WORDS)
def test_wrap_only_turns_blanks_into_line_feeds(words: list[str]) -> None:
    text = " ".join(words)
    wrapped = wrap(text)
    assert wrapped.replace("\n", " ") == text
    for line in wrapped.split("\n"):
        assert len(line) <= 79 or " " not in line


@given(st.lists(st.text()))
@example(["a\u2028b\u2029", "\x85\x0b\x0c\x1c\r\n"])
def test_only_line_feeds_end_a_tag_pair(values: list[str]) -> None:
    pairs = [tag("White", value) for value in values]
    assert tag_lines("".join(pairs)) == pairs


def test_wrap_never_breaks_at_glue() -> None:
    assert wrap("a" * 70 + f" [%clk{GLUE}0:04:57]") == "a" * 70 + "\n[%clk 0:04:57]"


@given(st.text())
@example("\u00c2\u00b9")
def test_tag_values_come_back(value: str) -> None:
    match = TAG.fullmatch(tag("White", value))
    assert match[2].replace("\\\\", "\0").replace('\\"', '"').replace("\0", "\\") == readable(value)


@given(st.text())
def test_no_text_leaves_its_comment(text: str) -> None:
    comment = brace_comment(text)
    assert comment[0] == "{"
    assert comment.index("}") == len(comment) - 1
    assert "[%" not in comment
    assert not any(line.startswith("%") for line in wrap("a " * 30 + comment).split("\n"))


_PARTS = st.lists(st.text(" |ab\n", max_size=12).map(lambda text: " ".join(text.split())), min_size=1, max_size=5)


@given(_PARTS)
def test_parts_of_a_comment_come_back(parts: list[str]) -> None:
    comment = comment_of([Item(brace_text(part)) for part in parts])
    assert [" ".join(part.split()) for part in split_remark(wrap(comment)[1:-1])] == parts


def test_times_and_marks_are_kept_with_the_words_behind_them() -> None:
    times, mark, words = Item("[%clk 0:01:00]", bare=True), Item("[%csl Gd4]", bare=True), Item("good")
    assert comment_of([times, mark, words, words, mark]) == "{[%clk 0:01:00] [%csl Gd4] good | good | [%csl Gd4]}"
    depth = Item("[%depth 9]", bare=True)  # alone it belongs to no evaluation and must not be attached to one
    assert comment_of([times, depth, Item("[%eval 0.10]")], " ") == "{ [%clk 0:01:00] | [%depth 9] | [%eval 0.10] }"


def test_readable_decodes_utf_8_and_leaves_latin_1() -> None:
    assert readable("caf\xc3\xa9") == "café"
    assert readable("caf\xe9") == "café"
    assert readable("a\x07\x08b\tc") == "a b c"


@pytest.mark.parametrize(
    ("reason", "colours"),
    [
        ("Ann resigns", "White resigns"),
        ("wins's king exploded", "Black's king exploded"),
        ("wins wins by losing all material", "Black wins by losing all material"),
        ("Ann wins by losing all material", "White wins by losing all material"),
        (
            "wins ran out of time and Ann has no material to mate",
            "Black ran out of time and White has no material to mate",
        ),
        ("Neither player has mating material", "Neither player has mating material"),
        ("Game drawn by mutual agreement", "Game drawn by mutual agreement"),
        ("Anna resigns", "Anna resigns"),
    ],
)
def test_colours_for_handles(reason: str, colours: str) -> None:
    assert colours_for_handles(reason, "Ann", "wins") == colours


def read(game: Game, fics: bool = False) -> dict[str, str]:
    part = PgnPart(None, 0, game.plies)
    return dict(TAG.findall(fics_tags(game, part, True) if fics else tags(game, part, 1, 1)))


@pytest.mark.parametrize(
    ("facts", "control"),
    [
        ({}, "300+0"),
        ({"base_s": 0, "increment_s": 12}, "0+12"),
        ({"base_s": 0}, "-"),
        ({"base_s": None}, "?"),
        ({"increment_s": None}, "?"),
        ({"black_base_s": 60}, "?"),
    ],
)
def test_time_control(facts: dict[str, int | None], control: str) -> None:
    assert read(make_game(**facts))["TimeControl"] == control


def test_time_odds_have_both_controls() -> None:
    found = read(make_game(black_base_s=60, black_increment_s=2))
    assert (found["WhiteTimeControl"], found["BlackTimeControl"]) == ("300+0", "60+2")
    found = read(make_game(black_base_s=60), fics=True)
    assert (found["WhiteClock"], found["BlackClock"]) == ("0:05:00.000", "0:01:00.000")


def test_ten_seconds_that_were_inferred() -> None:
    game = make_game(base_s=10, increment_s=1, base_inferred=True)
    assert read(game)["TimeControl"] == "10+1"
    found = read(game, fics=True)
    assert (found["TimeControl"], found["WhiteClock"]) == ("0+1", "0:10.000")


def test_unknown_facts_have_no_tags_but_the_seven() -> None:
    game = make_game(
        server=None, dialect=None, game_no=None, rated=None, category=None, variant=None, base_s=None, increment_s=None,
        started_at_ms=None, ended_at_ms=None, white=Player("Ann"), complete=True,
    )  # fmt: skip
    assert read(game) == {
        "Event": "ICS game", "Site": "?", "Date": "????.??.??", "Round": "-", "White": "Ann", "Black": "Bob",
        "Result": "1-0", "TimeControl": "?", "Termination": "normal", "PlyCount": "7", "RecorderKey": game.key,
    }  # fmt: skip
    assert read(game, fics=True) == {
        "Event": "ICS game", "Site": "?", "White": "Ann", "Black": "Bob", "PlyCount": "7", "Result": "1-0",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("facts", "event"),
    [
        ({}, "FICS rated blitz game"),
        ({"rated": False}, "FICS unrated blitz game"),
        ({"category": None, "variant": "atomic"}, "FICS rated atomic game"),
        ({"dialect": "icc", "category": None}, "ICC rated game"),
        ({"dialect": "chessd"}, "chessd rated blitz game"),
        ({"kind": GameKind.EXAMINED, "rated": False, "category": "untimed"}, "FICS examined game"),
        ({"kind": GameKind.SETUP, "variant": "crazyhouse"}, "FICS examined crazyhouse game"),
    ],
)
def test_event(facts: dict[str, object], event: str) -> None:
    assert event_name(make_game(**facts)) == event


def test_titles_and_computers() -> None:
    found = read(make_game(white=Player("Ann", titles="(*)(GM)(TM)"), black=Player("Bob", titles="(C)")))
    assert found["WhiteTitle"] == "GM"
    assert "WhiteIsComp" not in found
    assert "BlackTitle" not in found
    assert found["BlackIsComp"] == "Yes"
    assert read(make_game(white=Player("Ann", titles="(C)")), fics=True)["WhiteIsComp"] == "Yes"
