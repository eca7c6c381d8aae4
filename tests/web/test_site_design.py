"""How the pages of the site look in Chromium: no two texts overlap at any width, and boards and pictures are drawn."""

from __future__ import annotations

from io import BytesIO
from typing import Literal

import pytest
from PIL import Image
from playwright.sync_api import Page

from tests.web.test_site_browser import PAGES

pytestmark = pytest.mark.needs("chromium")

WIDTHS = (360, 390, 430, 480, 560, 640, 720, 768, 834, 960, 1024, 1100, 1150, 1200, 1240, 1366, 1536, 1920, 2200, 2560)
SHOWN = ("games", "game", "player", "comparison", "insights", "explorer", "live")
OVERLAPS = """() => {
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode, parent = node.parentElement;
    if (!node.data.trim() || !parent.checkVisibility()) continue;
    if (parent.closest("defs, select, option, datalist, script, .sr, template, thead")) continue;
    let box = null;
    for (let one = parent; one; one = one.parentElement) {
      if (getComputedStyle(one).overflowY === "visible" || one === document.body) continue;
      box = one.getBoundingClientRect();
      break;
    }
    const range = document.createRange();
    range.selectNodeContents(node);
    for (const rect of range.getClientRects()) {
      if (rect.width < 2) continue;
      if (box && (rect.bottom > box.bottom + 1 || rect.top < box.top - 1 || rect.right > box.right + 1)) continue;
      found.push([rect, node.data.trim()]);
    }
  }
  found.sort((a, b) => a[0].top - b[0].top);
  const wrong = [];
  found.forEach(([a, text], place) => {
    for (let i = place + 1; i < found.length && found[i][0].top < a.bottom; i++) {
      const [b, other] = found[i];
      const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
      const down = Math.min(a.bottom, b.bottom) - b.top;
      if (across > 2 && down > 5) wrong.push(`${text} / ${other}`);
    }
  });
  return wrong;
}"""
COLOURS = {
    "light": ((235, 231, 220), (143, 165, 174)),
    "dark": ((201, 206, 211), (106, 128, 140)),
}
"""Of light and dark squares, as ``base.css`` has them."""


@pytest.mark.parametrize("name", SHOWN)
def test_no_two_texts_overlap_at_twenty_widths(page: Page, url: str, name: str) -> None:
    page.goto(url + PAGES[name])
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 768})
        assert page.evaluate(OVERLAPS) == [], width
        assert page.evaluate("document.documentElement.scrollWidth") <= width


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
