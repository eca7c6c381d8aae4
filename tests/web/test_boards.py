"""Boards of all pages: their squares have the colours of the reader's theme."""

import io
import re
from pathlib import Path
from urllib.parse import quote

import pytest
from httpx2 import Response
from PIL import Image
from playwright.sync_api import Browser
from starlette.testclient import TestClient

from exporters.report.game import game_report
from recorder.web.live_feed import LiveReader
from recorder.web.pages import live_page
from tests.exporters.games import make_game
from tests.exporters.test_report import saved_match
from tests.support.browsing import write_page
from tests.support.site import HOSTILE
from tests.web.test_live import BOARD, writer

SCHEMES = ("light", "dark")
_PLACES = ((15 + 3, 15 + 3 * 45 - 5), (15 + 45 + 3, 15 + 3 * 45 - 5))
"""Corners of a6 and b6, in the units of a drawn board."""


@pytest.fixture(scope="module")
def pages(site: TestClient, game_page: Response, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Every kind of page that has a board, and a game that has none which can be drawn."""
    match = saved_match("1A. e4 {179} 1B. d4 {178} 1a. e5 {177} 1b. d5 {176}")
    journal = writer(folder := tmp_path_factory.mktemp("journals"))
    journal.note("connected")
    reader = LiveReader(folder, with_chat=True)
    journal.received(BOARD)
    reader.look()
    ((name, board),) = reader.state.boards.items()
    boards = {name: board, "wide": board._replace(id="wide", squares="")}
    live = live_page(reader.state._replace(boards=boards), search="", playing=False, hide_results=False)
    reader.close()
    journal.close()
    return {
        "report": game_report(make_game()).decode(),
        "match": game_report(match.a, match=match).decode(),
        "game": game_page.text,
        "explorer": site.get("/explorer?moves=e4").text,
        "player": site.get("/player/Helmsman").text,
        "live": live.decode(),
    }


@pytest.mark.needs("chromium")
@pytest.mark.long_except("game", "live")
@pytest.mark.parametrize("name", ["report", "match", "game", "explorer", "player", "live"])
def test_squares_have_the_colours_of_the_theme(
    pages: dict[str, str], browser: Browser, tmp_path: Path, name: str
) -> None:
    path = tmp_path / "page.html"
    write_page(path, pages[name].encode())
    page = browser.new_page(java_script_enabled=False)
    page.goto(path.as_uri())
    boards = page.locator("svg.board:visible, .final svg:visible")
    assert boards.count() == {"report": 2, "match": 4, "game": 2, "player": 10}.get(name, 1)
    for scheme in SCHEMES:
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        style = "getComputedStyle(document.documentElement)"
        wanted = [page.evaluate(f"{style}.getPropertyValue('--{word}')") for word in ("light", "dark")]
        with Image.open(io.BytesIO(page.screenshot(full_page=True))) as shot:
            picture = shot.convert("RGB")
        for board in boards.all():
            box = board.bounding_box()
            assert box is not None
            left, top, width, height = [float(part) for part in (board.get_attribute("viewBox") or "").split()]
            seen = [
                "#{:02x}{:02x}{:02x}".format(
                    *picture.getpixel(  # type: ignore[misc]
                        (
                            int(box["x"] + (x - left) / width * box["width"]),
                            int(box["y"] + (y - top) / height * box["height"]),
                        )
                    )
                )
                for x, y in _PLACES
            ]
            assert seen == wanted, scheme
    page.close()


def test_boards_beside_a_player_without_thinks_are_drawn(site: TestClient) -> None:
    for first, second in ((quote(HOSTILE, safe=""), "Helmsman"), ("Helmsman", quote(HOSTILE, safe=""))):
        html = site.get(f"/player/{first}?versus={second}").text
        used = set(re.findall(r'<use [^>]*href="#([^"]+)"', html))
        assert used
        assert used <= set(re.findall(r' id="([^"]+)"', html))
