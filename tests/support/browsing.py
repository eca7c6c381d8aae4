"""How tests open pages in a browser."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, Page, ViewportSize, sync_playwright

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
