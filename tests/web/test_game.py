"""The site's pages of a game and of a player: the report, live, and exactly the games behind its numbers."""

import re
import sys
from collections import Counter
from html import unescape
from pathlib import Path
from urllib.parse import quote

import pytest
from httpx2 import Response
from starlette.testclient import TestClient

from recorder.web import answers
from recorder.web.server import Access
from tests.support.cli import Cli
from tests.support.site import HERE, HOSTILE, client_of, make_archive

KEY = "6af87f9e"


def bar(html: str) -> dict[str, str | None]:
    """The bar at the top: words and addresses."""
    items = html.partition('aria-label="Site">')[2].partition("</nav>")[0]
    links = {
        unescape(words): unescape(href) for href, words in re.findall(r'<a href="([^"]*)"[^>]*>([^<]*)</a>', items)
    }
    return {**links, **dict.fromkeys(re.findall(r"<span>([^<]*)</span>", items))}


def test_a_game_is_its_report_with_its_place_in_the_list(site: TestClient, game_page: Response) -> None:
    html = game_page.text
    assert "<title>Helmsman – AntaresLight</title>" in html
    assert 'id="data"' in html  # what the script plays
    links = bar(html)
    assert links["Games"] == "/?since=2017-01-01&sort=date"
    assert "1 of 3" in links
    assert "‹ Previous" not in links
    assert (links["Next ›"] or "").endswith("?since=2017-01-01&sort=date")
    lines = bar(site.get((links["Next ›"] or "").replace("?", "/lines?")).text)
    assert lines["Games"] == links["Games"]
    assert '<a href="/player/Helmsman?server=FICS+freechess.org"' in html
    assert links["PGN"] is not None
    assert site.get(links["PGN"]).text.startswith("[Event ")
    assert '<a href="/?player=Helmsman&amp;opponent=AntaresLight">' in html
    assert site.get(links["JSON"] or "").json()["key"].startswith(KEY)
    picture = site.get(links["GIF"] or "")
    assert picture.headers["content-type"] == "image/gif"
    assert picture.content.startswith(b"GIF89a")


def test_without_pillow_no_page_offers_a_picture(site: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "PIL", None)
    assert "GIF" not in bar(site.get(f"/game/{KEY}?sort=white").text)


def test_lines_of_the_logs_around_a_move(site: TestClient) -> None:
    listed = re.findall(r'class="row" href="/game/([0-9a-f]{20})', site.get("/?sort=date").text)
    key = listed[3]  # of the log, which has no date
    whole = site.get(f"/game/{key}/lines").text
    assert "&lt;12&gt; " in whole
    part = site.get(f"/game/{key}/lines?ply=3").text
    assert 0 < part.count("<tr") < whole.count("<tr")
    assert part.count('class="here"') >= 1
    assert "Lines around move 2." in part
    link = re.search(r'href="([^"#]*)#(log-[0-9a-f]{12})"', site.get(f"/game/{key}").text)
    assert link[1] == f"/game/{key}/lines"
    assert f'id="{link[2]}"' in whole


def test_what_others_may_not_see_is_on_no_page(archive: Path, site: TestClient) -> None:
    """Saved comments and lines of logs: ``db share`` keeps neither."""
    public = client_of(archive, Access(hosts=HERE))
    query = "player=" + quote(HOSTILE, safe="")
    (key,) = set(re.findall(r"/game/([0-9a-f]{20})", site.get(f"/?{query}").text))
    own, others = (one.get(f"/game/{key}").text for one in (site, public))
    assert "onerror" in own
    assert "onerror" not in others
    assert "Log lines" in own
    assert "Log lines" not in others
    assert "/lines" not in others
    assert site.get(f"/game/{key}/lines").status_code == 200
    assert public.get(f"/game/{key}/lines").status_code == 403
    assert "onerror" in site.get(f"/game/{key}.jsonl").text
    for path in (f"/game/{key}.jsonl", f"/game/{key}.pgn", f"/games.jsonl?{query}", f"/games.csv?{query}"):
        assert "onerror" not in public.get(path).text


def test_hostile_text_is_inert_on_the_page_of_a_game(site: TestClient) -> None:
    query = "player=" + quote(HOSTILE, safe="")
    (key,) = set(re.findall(r"/game/([0-9a-f]{20})", site.get(f"/?{query}").text))
    for path in (f"/game/{key}?{query}", f"/game/{key}/lines"):
        html = site.get(path).text
        assert "<script>alert" not in html
        assert "<img" not in html


def test_a_game_that_is_not_there(site: TestClient) -> None:
    for path in ("/game/ffff", "/game/ffff/lines", "/game/ffff.pgn", "/game/ffff.gif", "/game/nonsense"):
        answer = site.get(path)
        assert (answer.status_code, "No such game" in answer.text) == (404, True)
    assert site.get(f"/game/{KEY}.exe").status_code == 404
    assert "There is no such page" in site.get("/nothing").text


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
    thinks = page.partition('id="thinks"')[2].partition("</section>")[0]
    assert re.findall(r'<a href="([^"]*)">([^<]*)</a>', thinks)[0] == ("/game/6af87f9ef705e8a82d9b?ply=9", "5. d4")
    assert thinks.count('<svg class="board"') == thinks.count("<li>") > 3


def test_a_game_leads_to_its_players_and_a_player_to_the_list(page: str, game_page: object) -> None:
    assert 'href="/player/Helmsman?server=FICS+freechess.org"' in game_page.text  # type: ignore[attr-defined]
    assert 'href="/?player=Helmsman&amp;server=FICS+freechess.org">Games of Helmsman<' in page


@pytest.mark.long
def test_a_page_is_about_the_newest_games_and_says_so(site: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answers, "PLAYER_GAMES", 1)
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


def test_an_address_shows_its_half_move_without_a_script(site: TestClient) -> None:
    """What is no half-move of the game shows the start."""
    html = site.get("/game/6af87f9e?ply=9").text
    assert '<p class="move" id="now-move">5. d4</p>' in html
    assert re.search(r'<p class="sub">[^<]*Alekhine[^<]*\(B0\d\)', html)  # the opening is in the header
    assert html.partition('id="board-0"')[2].partition('class="men"')[0].count('<rect class="mark"') == 2
    for wrong in ("0", "999", "x", "-1", "9" * 50):
        assert "Start position</p>" in site.get(f"/game/6af87f9e?ply={wrong}").text


def test_a_half_move_leads_to_its_position_in_the_explorer(tmp_path: Path) -> None:
    archive = make_archive(tmp_path)
    site = client_of(archive)
    assert re.search(r'href="/game/6af87f9e[0-9a-f]*/position\?ply=9"', site.get("/game/6af87f9e?ply=9").text)
    Cli(archive)("db", "positions", "--build")
    place = site.get("/game/6af87f9e/position?ply=9").headers["location"]
    assert place.startswith("/explorer?position=")
    assert re.findall(r"(\d+) games?</a></h2>", site.get(place).text) == ["1"]
    assert site.get("/game/00000000/position").status_code == 404
