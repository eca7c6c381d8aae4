"""Every address is answered: what its parameters say may be refused, but is no failure of the site."""

from urllib.parse import quote, urlencode

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from starlette.testclient import TestClient

from recorder.web.listing import FIELDS
from tests.support.effort import examples

PATHS = (
    "/", "/games.csv", "/games.pgn", "/games.jsonl", "/games.xlsx", "/insights", "/players.json", "/explorer", "/live",
    "/game/6af87f9e/lines", "/game/6af87f9e.pgn", "/game/{}", "/game/{}/lines", "/player/{}",
    "/live.pgn", "/live/{}.pgn", "/game/{}.gif",
)  # fmt: skip
NAMES = (
    *(field.name for field in FIELDS), "sort", "after", "before", "measure", "by", "then", "versus", "figure", "ply",
    "delay", "q", "playing", "hide",
)  # fmt: skip
ODD = (
    "O-O", "*", "[", "%", "_", "/", "'", '"', "\\", "../../x", "-1", "1e9", "9" * 6, "9" * 30, "１２", "NaN", "null",
    "[1,2]", "[[],1]", "{}", '["a",99999999999999999999]', '["\\ud800",1]', "2020-02-30", "2020", "0000", "9999-12-31",
    "0001-01-01", "-date", "\x00", "\x1b[31m", "\u202e", "İ", "a" * 200, "a" * 201, "e4 e5", "e4 " * 66, "--", "@@",
    "8/8/8/8/8/8/8/8 w - - 0 1", "4k3/8/8/8/8/8/8/4K3 w - - 0 1", "wild/99999", "unknown", "yes", "no", "white", "win",
    "x\r\nSet-Cookie: a=b", "300+0", "last", "last~9", "6af8", "usage", "phase",
)  # fmt: skip
VALUES = st.sampled_from(ODD) | st.text(max_size=20)


@pytest.mark.parametrize("address", ["/player/", "/player/%20", "/player/%00", "/player/?versus=Ann"])
def test_an_address_without_a_player_is_of_no_page(site: TestClient, address: str) -> None:
    assert site.get(address).status_code in (400, 404)


@settings(max_examples=examples(200))
@given(st.sampled_from(PATHS), VALUES, st.lists(st.tuples(st.sampled_from(NAMES), VALUES), max_size=3))
@example("/games.csv", "", [("variant", "O-O")])
@example("/games.pgn", "", [("variant", "wild/99999")])
@example("/explorer", "", [("variant", "O-O"), ("moves", "e4")])
@example("/player/{}", "*", [])
def test_no_parameter_is_a_failure(site: TestClient, path: str, word: str, pairs: list[tuple[str, str]]) -> None:
    address = path.format(quote(word, safe="", errors="replace")) + "?" + urlencode(pairs, errors="replace")
    answer = site.get(address)
    assert answer.status_code in (200, 202, 303, 400, 404, 405), (address, answer.status_code)


@pytest.mark.parametrize("name", [field.name for field in FIELDS])
def test_a_word_that_no_filter_knows_is_refused_or_matches_nothing(site: TestClient, name: str) -> None:
    for path in ("/", "/games.csv", "/explorer"):
        assert site.get(path, params={name: "O-O"}).status_code in (200, 400), path
