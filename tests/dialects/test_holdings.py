"""``<b1>`` lines, both ways."""

import pytest

from recorder.dialects.gameinfo import format_holdings, parse_holdings
from recorder.events import HoldingsLine, Line, Malformed

TABLE = [
    ("<b1> game 6 white [PNBBB] black [PNB]", (6, "PNBBB", "PNB", None, None)),
    ("<b1> game 52 white [NB] black [N] <- BN", (52, "NB", "N", "N", False)),
    ("<b1> game 76 white [B] black [] <- WB", (76, "B", "", "B", True)),
    ("<b1> game 1 white [] black []", (1, "", "", None, None)),
    ("<b1> game 455 white [PRN] black [BQ]", (455, "PRN", "BQ", None, None)),
]


@pytest.mark.parametrize(("text", "facts"), TABLE)
def test_both_ways(text: str, facts: tuple[object, ...]) -> None:
    got = parse_holdings(Line(text, 3))
    assert isinstance(got, HoldingsLine)
    assert (got.game_no, got.white, got.black, got.passed, got.passed_to_white) == facts
    assert format_holdings(got) == text


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("<b1> game 1 white [pn] black [q] <- bq", "<b1> game 1 white [PN] black [Q] <- BQ"),
        ("<b1> game 1  white [ PN ]  black[ ]  <-  WN ", "<b1> game 1 white [PN] black [] <- WN"),
        ("<b1> game 1 Kramnik [PA] Topalov [C]", "<b1> game 1 white [PA] black [C]"),
        ("<b1> game 1 [PA] [C]", "<b1> game 1 white [PA] black [C]"),
    ],
)
def test_the_brackets_decide(text: str, same: str) -> None:
    got = parse_holdings(Line(text, 3))
    assert isinstance(got, HoldingsLine)
    assert format_holdings(got) == same


@pytest.mark.parametrize(
    "text",
    ["<b1> game x white [P] black []", "<b1> game 1 white [P", "<b1> game 1 white [P] black [3]", "<b1>", "<b1> hello"],
)
def test_other_text_after_the_tag_is_malformed(text: str) -> None:
    got = parse_holdings(Line(text, 3))
    assert isinstance(got, Malformed)
    assert got.tag == "<b1>"


def test_other_lines() -> None:
    assert parse_holdings(Line("X kibitzes: <b1> game 1 white [] black []", 0)) is None
