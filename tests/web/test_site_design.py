"""How the pages of the site look in Chromium: no two texts overlap at any width, and boards and pictures are drawn."""

from __future__ import annotations

from io import BytesIO
from typing import Literal

import pytest
from PIL import Image
from playwright.sync_api import Page

from tests.support.browsing import check_widths
from tests.web.test_site_browser import PAGES

pytestmark = pytest.mark.needs("chromium")

HEIGHTS = {
    "games": 1050,
    "game": 2200,
    "player": 2150,
    "comparison": 2050,
    "insights": 1700,
    "explorer": 950,
    "live": 650,
}
"""The most pixels of each page in a window of 1366 to 650."""
COLOURS = {
    "light": ((235, 231, 220), (143, 165, 174)),
    "dark": ((201, 206, 211), (106, 128, 140)),
}
"""Of light and dark squares, as ``base.css`` has them."""


@pytest.mark.parametrize("name", HEIGHTS)
def test_no_two_texts_overlap_and_no_page_is_long(page: Page, url: str, name: str) -> None:
    page.goto(url + PAGES[name])
    check_widths(page)
    page.set_viewport_size({"width": 1366, "height": 650})
    assert page.evaluate("document.documentElement.scrollHeight") <= HEIGHTS[name]


@pytest.mark.parametrize("name", ["game", "player", "explorer"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_boards_have_their_squares(page: Page, url: str, name: str, scheme: Literal["light", "dark"]) -> None:
    page.set_viewport_size({"width": 1366, "height": 650})
    page.emulate_media(color_scheme=scheme)
    page.goto(url + PAGES[name])
    board = page.locator("svg.board").first
    drawn = Image.open(BytesIO(board.screenshot())).convert("RGB")
    side = drawn.width / 8
    corners = [drawn.getpixel((int((column + 0.95) * side), int(3.05 * side))) for column in (1, 2)]  # of b5 and c5
    assert corners == [*COLOURS[scheme]]
