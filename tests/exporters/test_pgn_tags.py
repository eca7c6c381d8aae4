"""Tag pairs, one fact at a time; whole texts are in test_pgn.py."""

from __future__ import annotations

import pytest

from exporters.pgn.parts import PgnPart
from exporters.pgn.tags import event_name, fics_tags, tags, variant_name
from recorder.model import Game, GameKind, Player
from tests.exporters.games import make_game
from tests.exporters.pgn_reader import TAG


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


def test_variant_names() -> None:
    assert variant_name(make_game(variant="chess")) is None
    assert variant_name(make_game(variant=None)) is None
    assert variant_name(make_game([], variant="chess960")) == "Fischerandom"
    assert variant_name(make_game([], variant="wild/5")) == "wild/5"


def test_titles_and_computers() -> None:
    found = read(make_game(white=Player("Ann", titles="(*)(GM)(TM)"), black=Player("Bob", titles="(C)")))
    assert found["WhiteTitle"] == "GM"
    assert "WhiteIsComp" not in found
    assert "BlackTitle" not in found
    assert found["BlackIsComp"] == "Yes"
    assert read(make_game(white=Player("Ann", titles="(C)")), fics=True)["WhiteIsComp"] == "Yes"
