"""The page of a game: the report, live, with its place in the list and the lines of its logs."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path
from urllib.parse import quote

from httpx2 import Response
from starlette.testclient import TestClient

from recorder.web.security import Access
from tests.support.site import HERE, HOSTILE, client_of

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
    assert link is not None
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
    assert "Lines of the logs" in own
    assert "Lines of the logs" not in others
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
    for path in ("/game/ffff", "/game/ffff/lines", "/game/ffff.pgn", "/game/nonsense"):
        answer = site.get(path)
        assert (answer.status_code, "No such game" in answer.text) == (404, True)
    assert site.get(f"/game/{KEY}.exe").status_code == 404
    assert "There is no such page" in site.get("/nothing").text
