"""The site in Chromium: accessible, of every width, by keyboard, without a script and without requests elsewhere."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import uvicorn
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from recorder.live.net.sockets import Address, listen
from recorder.web.app import make_app
from recorder.web.security import Access
from tests.support.browsing import chromium
from tests.support.site import HERE

pytestmark = pytest.mark.needs("chromium")

TOKEN = "a token of the tests"
PAGES = {
    "games": "/",
    "filters": "/?player=Helmsman&rated=yes&sort=plies",
    "nothing": "/?player=Nobody",
    "error": "/?since=yesterday",
    "game": "/game/6af87f9e?since=2017-01-01",
    "lines": "/game/6af87f9e/lines?ply=12",
    "missing": "/nothing",
    "player": "/player/Helmsman",
    "insights": "/insights?measure=usage&by=phase&then=side&player=Helmsman&versus=AntaresLight",
}


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as started:
        yield started


def serve(archive: Path, access: Access) -> Iterator[str]:
    """A site at a free port, for the time of a module."""
    sockets = listen(Address("127.0.0.1", 0))
    server = uvicorn.Server(
        uvicorn.Config(make_app(str(archive), access), lifespan="off", log_level="error", ws="none")
    )
    thread = threading.Thread(target=server.run, kwargs={"sockets": sockets})
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield f"http://127.0.0.1:{sockets[0].getsockname()[1]}"
    server.should_exit = True
    thread.join()


@pytest.fixture(scope="module")
def url(archive: Path) -> Iterator[str]:
    yield from serve(archive, Access(hosts=HERE, private=True))


@pytest.fixture(scope="module")
def tab(browser: Browser) -> Page:
    page = browser.new_page(viewport={"width": 1366, "height": 650}, reduced_motion="reduce")
    page.set_default_timeout(120_000)
    return page


@pytest.fixture
def page(tab: Page, url: str) -> Iterator[Page]:
    """The page; what its console says and requests to other sites fail the test."""
    wrong: list[str] = []

    def said(message: object) -> None:
        text = str(getattr(message, "text", message))
        if "Failed to load resource" not in text:  # the status of a page about an error
            wrong.append(text)

    def asked(request: object) -> None:
        if not str(request.url).startswith((url, "data:")):  # type: ignore[attr-defined]
            wrong.append(str(request.url))  # type: ignore[attr-defined]

    for event, listener in (("console", said), ("pageerror", said), ("request", asked)):
        tab.on(event, listener)  # type: ignore[call-overload]
    yield tab
    for event, listener in (("console", said), ("pageerror", said), ("request", asked)):
        tab.remove_listener(event, listener)
    assert wrong == []


def severe(page: Page, *rules: str) -> list[str]:
    """The serious and critical findings of axe-core.

    Args:
        rules: that are checked; none: all.
    """
    chosen = {"runOnly": [*rules]} if rules else {}
    found = Axe().run(page, options={"resultTypes": ["violations"], **chosen}).response["violations"]
    return [
        f"{one['id']}: {node['html'][:120]}"
        for one in found
        if one["impact"] in ("serious", "critical")
        for node in one["nodes"]
    ]


@pytest.mark.parametrize("name", PAGES)
def test_pages_are_accessible_and_fit_every_width(page: Page, url: str, name: str) -> None:
    page.goto(url + PAGES[name])
    page.emulate_media(color_scheme="dark")
    assert severe(page, "color-contrast") == []
    page.emulate_media(color_scheme="light")
    assert severe(page) == []
    for width in (390, 768, 1366, 1920):
        page.set_viewport_size({"width": width, "height": 650})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.set_viewport_size({"width": 1366, "height": 650})
    assert page.locator("h1").count() == 1
    assert page.locator("main").count() == 1


def test_a_reader_searches_and_replays_by_keyboard(page: Page, url: str) -> None:
    page.goto(url)
    page.get_by_label("Player", exact=True).focus()
    page.keyboard.type("helm")
    expect(page.locator("#handles option")).to_have_attribute("value", "Helmsman")
    page.keyboard.type("sman")
    page.keyboard.press("Enter")
    page.wait_for_url("**/?player=helmsman")
    row = page.locator("a.row")
    assert row.count() == 1
    row.focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/game/6af87f9e*")
    page.keyboard.press("End")
    lines = page.get_by_role("link", name="Lines of the logs")
    assert (lines.get_attribute("href") or "").endswith("/lines?player=helmsman&ply=44")
    lines.click()
    assert "Lines around move 22…" in page.locator(".sub").inner_text()
    page.get_by_role("link", name="Game", exact=True).click()
    assert page.locator("button.mv[aria-current] .san").inner_text() == "Rxc3"
    page.get_by_role("link", name="Games", exact=True).click()
    page.wait_for_url("**/?player=helmsman")


def test_the_whole_row_leads_to_the_game_and_a_name_to_its_player(page: Page, url: str) -> None:
    page.goto(f"{url}/?since=2017-01-01")
    page.locator("tbody tr", has_text="Helmsman").locator("td.plies").click(force=True)
    page.wait_for_url("**/game/6af87f9e*")
    page.go_back()
    name = page.locator("tbody").get_by_role("link", name="Helmsman", exact=True)
    with page.expect_request("**/player/Helmsman*"):
        name.click(no_wait_after=True)


def test_lists_and_games_work_without_a_script(browser: Browser, url: str) -> None:
    page = browser.new_page(java_script_enabled=False)
    page.set_default_timeout(120_000)
    page.goto(url)
    page.get_by_label("Opponent").fill("antareslight")
    page.get_by_role("button", name="Search").click()
    assert page.url == f"{url}/?opponent=antareslight"
    page.locator("tbody tr").get_by_role("link").first.click()
    assert page.locator("button.mv, span.mv").count() > 40
    page.close()


def test_the_token_in_the_form(browser: Browser, archive: Path) -> None:
    for url in serve(archive, Access(hosts=HERE, token=TOKEN)):
        page = browser.new_page()
        page.set_default_timeout(120_000)
        page.goto(f"{url}/?player=Helmsman")
        assert severe(page) == []
        page.keyboard.type(TOKEN)  # the field has the focus
        page.keyboard.press("Enter")
        page.locator("a.row").wait_for()
        assert page.url == f"{url}/?player=Helmsman"
        assert TOKEN not in page.content()
        page.close()
