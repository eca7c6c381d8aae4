"""``<g1>`` and ``<d1>`` lines, both ways."""

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recorder.dialects.gameinfo import (
    format_delta,
    format_gameinfo,
    parse_delta,
    parse_gameinfo,
    parse_smith,
)
from recorder.events import DeltaBoard, GameInfo, Line, Malformed

HOUSE = "<g1> 183 p=0 t=crazyhouse r=1 u=0,1 it=60,2 i=90,3 pt=271 rt=1768,1770P ts=1,0 m=2 n=1"


def test_facts() -> None:
    got = parse_gameinfo(Line(HOUSE, 0))
    assert got == GameInfo(
        line=Line(HOUSE, 0),
        game_no=183,
        private=False,
        category="crazyhouse",
        rated=True,
        white_registered=True,
        black_registered=False,
        white_base_s=60,
        white_increment_s=2,
        black_base_s=90,
        black_increment_s=3,
        partner_game_no=271,
        white_rating="1768",
        black_rating="1770P",
        white_sealed=True,
        black_sealed=False,
    )
    assert format_gameinfo(got) == HOUSE.removesuffix(" m=2 n=1")


def test_help_page_form_without_the_last_keys() -> None:
    got = parse_gameinfo(Line("<g1> 1 p=0 t=blitz r=1 u=1,1 it=5,5 i=8,8 pt=0 rt=1586E,2100  ts=1,0", 0))
    assert isinstance(got, GameInfo)
    assert (got.partner_game_no, got.white_rating, got.white_sealed, got.black_sealed) == (None, "1586E", True, False)


def test_missing_keys_are_unknown_and_garbage_partners_none() -> None:
    got = parse_gameinfo(Line("<g1> 1 t=blitz pt=1515870810", 0))
    assert isinstance(got, GameInfo)
    assert (got.rated, got.private, got.white_base_s, got.white_sealed, got.partner_game_no) == (None,) * 5


@pytest.mark.parametrize(
    "text", ["<g1> x", "<g1> 1 hello", "<g1> 1 r=2", "<g1> 1 it=5", "<g1> 1 it=a,b", "<g1> 1 ts=1,9"]
)
def test_malformed_facts(text: str) -> None:
    assert isinstance(parse_gameinfo(Line(text, 0)), Malformed)


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("<d1> 399 10 O-O e8g8c 922 168890 207", (399, 10, "O-O", "e8g8c", 922, 168890, 207)),
        ("<d1> 2 6 dxe4 d5e4p 125 301775", (2, 6, "dxe4", "d5e4p", 125, 301775, None)),
        ("<d1> 2 6 dxe4 d5e4p 125 -75 0", (2, 6, "dxe4", "d5e4p", 125, -75, 0)),
    ],
)
def test_moves(text: str, facts: tuple[object, ...]) -> None:
    got = parse_delta(Line(text, 0))
    assert isinstance(got, DeltaBoard)
    assert (got.game_no, got.ply, got.san, got.smith, got.elapsed_ms, got.clock_ms, got.lag_ms) == facts
    assert format_delta(got) == text


SMITH = {
    "e2e4": ("e2e4", "", ""),
    "d5e4p": ("d5e4", "p", ""),
    "e5d6E": ("e5d6", "E", ""),
    "e1g1c": ("e1g1", "c", ""),
    "e8c8C": ("e8c8", "C", ""),
    "e7e8Q": ("e7e8", "", "Q"),
    "f2g1nN": ("f2g1", "n", "N"),
    "a7b8bB": ("a7b8", "b", "B"),
}


@pytest.mark.parametrize("text", SMITH)
def test_squares_both_ways(text: str) -> None:
    move = parse_smith(text)
    assert move is not None
    assert tuple(move) == SMITH[text]
    assert "".join(move) == text


@pytest.mark.parametrize("text", ["e2", "e2e9", "e2e4k", "e2e4pP", "N@e4", "e7e8q_", "o-o"])
def test_other_squares_are_a_malformed_line(text: str) -> None:
    assert parse_smith(text) is None
    assert isinstance(parse_delta(Line(f"<d1> 2 6 e4 {text} 125 301775 0", 0)), Malformed)


@given(st.text("<d1> 0123456789-abcdefghE+=NQx\u0661", max_size=40))
def test_any_text_behind_the_tag_is_a_move_or_malformed(text: str) -> None:
    got = parse_delta(Line(f"<d1> {text}", 0))
    assert isinstance(got, DeltaBoard | Malformed)
    if isinstance(got, DeltaBoard):
        assert parse_delta(Line(format_delta(got), 0)) == dataclasses.replace(got, line=Line(format_delta(got), 0))


def test_malformed_move() -> None:
    assert isinstance(parse_delta(Line("<d1> 399 0 O-O e8g8c 922 168890 207", 0)), Malformed)
    assert isinstance(parse_delta(Line("<d1> 399 10 O-O", 0)), Malformed)
    assert parse_delta(Line("x <d1> 399 10 O-O", 0)) is None
