"""The site in Chromium: accessible, of every width, by keyboard, without a script and without requests elsewhere."""

from contextlib import nullcontext
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from recorder.web.server import Access
from tests.support.browsing import check_widths
from tests.support.site import HERE, serve

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
    "comparison": "/player/Helmsman?versus=AntaresLight",
    "insights": "/insights?measure=usage&by=phase&then=side&player=Helmsman&versus=AntaresLight",
    "explorer": "/explorer?moves=e4",
    "live": "/live",
}
HEIGHTS = {
    "games": 1050,
    "game": 2200,
    "player": 2150,
    "comparison": 2050,
    "insights": 1700,
    "explorer": 950,
    "live": 650,
}
"""The most pixels of these pages in a window of 1366 to 650."""


def severe(page: Page, *rules: str) -> list[str]:
    """The findings of axe-core, also those of its best practices.

    Args:
        rules: that are checked; none: all.
    """
    chosen = {"runOnly": [*rules]} if rules else {}
    found = Axe().run(page, options={"resultTypes": ["violations"], **chosen}).response["violations"]
    return [f"{one['id']}: {node['html'][:120]}" for one in found for node in one["nodes"]]


@pytest.mark.long_except("games", "game", "explorer")
@pytest.mark.parametrize("name", PAGES)
def test_pages_are_accessible_and_fit_every_width(page: Page, url: str, name: str) -> None:
    page.goto(url + PAGES[name])
    page.emulate_media(color_scheme="dark")
    assert severe(page, "color-contrast") == []
    page.emulate_media(color_scheme="light")
    assert severe(page) == []
    for width in (390, 768, 1100, 1366, 1920):
        page.set_viewport_size({"width": width, "height": 650})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        lines = "cells => cells.map(cell => cell.getClientRects().length)"
        assert {1, *page.locator("td.eco span:visible").evaluate_all(lines)} == {1}
    if name in HEIGHTS:
        check_widths(page)
    page.set_viewport_size({"width": 1366, "height": 650})
    assert page.evaluate("document.documentElement.scrollHeight") <= HEIGHTS.get(name, 5000)
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
    lines = page.get_by_role("link", name="Log lines")
    assert (lines.get_attribute("href") or "").endswith("/lines?player=helmsman&ply=44")
    lines.click()
    assert "Lines around move 22…" in page.locator(".sub").inner_text()
    page.get_by_role("link", name="Game", exact=True).click()
    assert page.locator("button.mv[aria-current] .san").inner_text() == "Rxc3"
    page.get_by_role("link", name="Games", exact=True).click()
    page.wait_for_url("**/?player=helmsman")


def test_a_reader_plays_moves_on_the_board_of_the_explorer_and_takes_them_back(page: Page, url: str) -> None:
    page.goto(f"{url}/explorer?rated=yes")
    board = page.locator("#board")
    for square in ((4.5, 6.5), (4.5, 4.5), (4.5, 1.5), (4.5, 3.5)):  # e2, e4, e7, e5
        box = board.bounding_box()
        side = box["width"] / 8
        with page.expect_navigation() if square[1] in (4.5, 3.5) else nullcontext():
            board.click(position={"x": square[0] * side, "y": square[1] * side})
    assert page.url == f"{url}/explorer?moves=e4+e5&rated=yes"
    page.get_by_role("link", name="Take back").click()
    page.wait_for_url(f"{url}/explorer?moves=e4&rated=yes")


def test_another_player_is_compared(page: Page, url: str) -> None:
    page.goto(f"{url}/player/Helmsman")
    page.get_by_label("Compare with").fill("AntaresLight")
    page.get_by_role("button", name="Show").click()
    page.wait_for_url(f"{url}/player/Helmsman?versus=AntaresLight")
    expect(page.locator("main h2 a")).to_have_text(["Helmsman", "AntaresLight"])


def test_the_whole_row_leads_to_the_game_and_a_name_to_its_player(page: Page, url: str) -> None:
    page.goto(f"{url}/?since=2017-01-01")
    page.locator("tbody tr", has_text="Helmsman").locator("td.plies").click(force=True)
    page.wait_for_url("**/game/6af87f9e*")
    page.go_back()
    name = page.locator("tbody").get_by_role("link", name="Helmsman", exact=True)
    page.route("**/player/*", lambda route: route.fulfill(body="The page of a player"))  # the site needs seconds for it
    name.click()
    page.wait_for_url("**/player/Helmsman*")
    page.unroute("**/player/*")


def test_lists_and_games_work_without_a_script(browser: Browser, url: str) -> None:
    page = browser.new_page(java_script_enabled=False)
    page.set_default_timeout(120_000)
    page.goto(url)
    page.get_by_label("Opponent").fill("antareslight")
    page.get_by_role("button", name="Search").click()
    assert page.url == f"{url}/?opponent=antareslight"
    page.locator("tbody tr").get_by_role("link").first.click()
    assert page.locator(".moves td").count() > 40
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
