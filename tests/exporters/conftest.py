"""One Chromium for each module that looks at pages.

Not for the whole run: while Playwright works, no test of the same process can start a loop of its own.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Error, Page, Request, ViewportSize

from exporters.report.game import game_report
from recorder.model import Game
from tests.support.browsing import DESK, Open, chromium, write_page


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One Chromium for the whole module."""
    with chromium() as started:
        yield started


@pytest.fixture(scope="module")
def tab(browser: Browser) -> Page:
    """One page for all tests: a new one takes Chromium longer than most of them."""
    page = browser.new_page(viewport=DESK, reduced_motion="reduce")
    page.set_default_timeout(5_000)
    page.clock.install(time=0)
    page.clock.pause_at(10_000)  # from now on time passes only when a test lets it
    return page


@pytest.fixture
def opened(browser: Browser, tab: Page, tmp_path: Path) -> Iterator[Open]:
    """Opens a report; whatever the console says, every error and every request fails the test."""
    wrong: list[str] = []
    paths: list[Path] = []
    without: list[Page] = []
    shared: set[str] = set()

    def spoke(message: ConsoleMessage) -> None:
        wrong.append(message.text)

    def broke(error: Error) -> None:
        wrong.append(str(error))

    def asked(request: Request) -> None:
        if request.url.partition("?")[0].partition("#")[0] not in (paths[-1].as_uri(), *shared):
            wrong.append(request.url)

    def open_page(game: Game | bytes, viewport: ViewportSize = DESK, *, scripts: bool = True) -> Page:
        page = tab if scripts else plain()
        paths.append(tmp_path / f"{len(paths)}.html")
        html = game if isinstance(game, bytes) else game_report(game)
        shared.update(one.as_uri() for one in write_page(paths[-1], html))
        page.set_viewport_size(viewport)
        page.emulate_media(media="screen", color_scheme="light", reduced_motion="reduce")
        page.goto(paths[-1].as_uri())
        return page

    def plain() -> Page:
        page = browser.new_page(java_script_enabled=False)
        without.append(page)
        page.set_default_timeout(5_000)
        listen(page)
        return page

    def listen(page: Page) -> None:
        page.on("console", spoke)
        page.on("pageerror", broke)
        page.on("request", asked)

    listen(tab)
    yield open_page
    tab.remove_listener("console", spoke)
    tab.remove_listener("pageerror", broke)
    tab.remove_listener("request", asked)
    for page in without:
        page.close()
    assert wrong == []
