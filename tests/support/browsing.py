"""How tests open pages in a browser."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Page, ViewportSize, sync_playwright

from exporters.report.page import site_files
from tests.support.programs import program

DESK = ViewportSize(width=1280, height=900)

Open = Callable[..., Page]

_ARGUMENTS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


_WIDTHS = (360, 390, 430, 480, 560, 640, 720, 768, 834, 960, 1024, 1100, 1150, 1200, 1240, 1366, 1536, 1920, 2200, 2560)
_OVERLAPS = """() => {
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


@contextmanager
def chromium() -> Iterator[Browser]:
    """Chromium for the tests of a module."""
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=program("chromium"), args=_ARGUMENTS)
        yield started
        started.close()


def write_page(path: Path, html: bytes) -> list[Path]:
    """Write a page as a file that opens without a site. Returns the files that pages share, which are beside it."""
    path.write_bytes(html.replace(b'"/assets/', b'"assets/'))
    shared = [path.parent / "assets" / name for name in site_files() if name.encode() in html]
    for one in shared:
        one.parent.mkdir(exist_ok=True)
        one.write_bytes(site_files()[one.name])
    return shared


def check_widths(page: Page) -> None:
    """That no two texts overlap and the page scrolls in one direction, at twenty widths from phones to wide screens."""
    for width in _WIDTHS:
        page.set_viewport_size({"width": width, "height": 768})
        assert page.evaluate(_OVERLAPS) == [], width
        assert page.evaluate("document.documentElement.scrollWidth") <= width
