"""The page of a player: the report, live, and exactly the games behind its numbers."""

from __future__ import annotations

import re
from collections import Counter
from html import unescape

import pytest
from starlette.testclient import TestClient

from recorder.web import game_answers
from tests.support.site import HOSTILE


@pytest.fixture(scope="module")
def page(site: TestClient) -> str:
    answer = site.get("/player/Helmsman?server=FICS+freechess.org")
    assert answer.status_code == 200
    return answer.text


def links(html: str, caption: str) -> list[tuple[str, str]]:
    """The links of a table: address and text."""
    table = html.partition(f"<caption>{caption}")[2].partition("</table>")[0]
    return [(unescape(href), unescape(text)) for href, text in re.findall(r'<a href="([^"]*)">([^<]*)</a>', table)]


def test_numbers_lead_to_exactly_the_games_behind_them(site: TestClient, page: str) -> None:
    for caption in ("Results by time control and variant", "Openings by games", "Opponents by games"):
        numbers = [(href, text) for href, text in links(page, caption) if text.isdigit()]
        assert numbers
        for href, text in numbers:
            assert f"{text} game" in site.get(href).text, href
    assert ("/player/AntaresLight?server=FICS+freechess.org", "AntaresLight") in links(page, "Opponents by games")


def test_long_thinks_lead_to_their_moves(page: str) -> None:
    (first, game, *_) = links(page, "The moves that took longest")
    assert first == ("/game/6af87f9ef705e8a82d9b?ply=9", "5. d4")
    assert game == ("/game/6af87f9ef705e8a82d9b", "6af87f9e")


def test_a_game_leads_to_its_players_and_a_player_to_the_list(page: str, game_page: object) -> None:
    assert 'href="/player/Helmsman?server=FICS+freechess.org"' in game_page.text  # type: ignore[attr-defined]
    assert 'href="/?player=Helmsman&amp;server=FICS+freechess.org">Games of Helmsman<' in page


def test_a_page_is_about_the_newest_games_and_says_so(site: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(game_answers, "PLAYER_GAMES", 1)
    monkeypatch.setattr("exporters.report.player.draw_player_charts", lambda plies, player: ([], ""))
    counts = Counter(re.findall(r'href="(/player/[^"]*)"', site.get("/").text))
    (href, count), *_ = counts.most_common(1)
    assert count > 1
    assert f"{count - 1} games older than the newest 1" in site.get(unescape(href)).text


def test_players_that_are_not_there(site: TestClient) -> None:
    for path in ("/player/Nobody", "/player/Helmsman?since=2030-01-01", f"/player/{HOSTILE}x"):
        answer = site.get(path)
        assert (answer.status_code, "No such player" in answer.text) == (404, True)
        assert "<script>alert" not in answer.text
    assert site.get("/player/Helmsman?since=x").status_code == 400
