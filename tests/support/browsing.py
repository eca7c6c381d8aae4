"""How tests open pages in a browser."""

from __future__ import annotations

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
