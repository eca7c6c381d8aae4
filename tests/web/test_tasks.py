"""What people come to the site for: each task of ``docs/how-to/web.md``, done in Chromium as the page says."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.support.effort import long_after

pytestmark = pytest.mark.needs("chromium")

DOCUMENT: Final = Path(__file__).parents[2] / "docs" / "how-to" / "web.md"


def field_of(page: Page, label: str) -> Locator:
    return page.locator(f'label:has(> span:text-is("{label}"))').locator("input, select")


def search(page: Page, **fields: str) -> int:
    """Fill in fields by their labels, press Search, and count the games of the list."""
    for label, value in fields.items():
        field = field_of(page, label)
        if not field.is_visible():
            page.get_by_text("More filters").click()
        if field.evaluate("field => field.tagName") == "SELECT":
            field.select_option(label=value)
        else:
            field.fill(value)
    page.get_by_role("button", name="Search").click()
    page.wait_for_url("**/?*")
    return page.locator("a.row").count()


def saved(page: Page, words: str) -> str:
    with page.expect_download() as download:
        page.get_by_role("link", name=words, exact=True).click()
    return download.value.path().read_text(encoding="utf-8")


def open_game(page: Page, player: str) -> None:
    search(page, Player=player)
    page.locator("a.row").first.click()
    page.wait_for_url("**/game/*")


def open_player(page: Page, player: str) -> None:
    search(page, Player=player)
    page.locator("tbody").get_by_role("link", name=player, exact=True).first.click()
    page.wait_for_url("**/player/*")


def leads_to_games(page: Page, caption: str) -> None:
    """The first number of a table leads to a list of so many games."""
    table = page.get_by_role("table").filter(has=page.locator("caption", has_text=caption))
    number = table.get_by_role("link", name=re.compile(r"^[1-9]\d*$")).first
    count = int(number.inner_text())
    number.click()
    page.wait_for_url("**/?*")
    assert page.locator("a.row").count() == count


def games_of_a_player(page: Page) -> None:
    assert search(page, Player="Helmsman") == 1
    assert '[White "Helmsman"]' in saved(page, "PGN")


def games_of_a_year(page: Page) -> None:
    assert search(page, From="2022-01-01", To="2022-12-31") == 2


def complete_games(page: Page) -> None:
    everything = page.locator("a.row").count()
    assert 0 < search(page, Complete="only complete games") < everything


def games_of_a_log(page: Page) -> None:
    page.get_by_text("More filters").click()
    field_of(page, "Source").select_option(index=1)
    page.get_by_role("button", name="Search").click()
    page.wait_for_url("**/?source=*")
    assert page.locator("a.row").count() in (1, 3, 15)


def lines_of_a_move(page: Page) -> None:
    open_game(page, "Helmsman")
    page.get_by_role("button", name="d4").first.click()
    page.get_by_role("link", name="Log lines").click()
    expect(page.locator(".sub")).to_contain_text("Lines around move")


def games_with_a_draw_offer(page: Page) -> None:
    assert search(page, With="draw offers") == 1


def unfinished_games(page: Page) -> None:
    assert search(page, Result="unfinished") > 0
    assert set(page.locator("tbody td.result").all_inner_texts()).isdisjoint({"1–0", "0–1", "½–½"})


def steps_by_keyboard(page: Page) -> None:
    open_game(page, "Helmsman")
    page.keyboard.press("ArrowRight")
    first = page.locator("button.mv[aria-current] .san").inner_text()
    page.keyboard.press("End")
    assert page.locator("button.mv[aria-current] .san").inner_text() == "Rxc3" != first


def next_game(page: Page) -> None:
    open_game(page, "Morphy")
    first = page.url
    page.get_by_role("link", name="Next ›").click()
    page.wait_for_url(lambda url: url != first)
    expect(page.get_by_text("2 of ")).to_be_visible()


def position_by_address(page: Page) -> None:
    open_game(page, "Helmsman")
    page.goto(f"{page.url.partition('?')[0]}?ply=44")
    assert page.locator("button.mv[aria-current] .san").inner_text() == "Rxc3"


def score_of_two_players(page: Page) -> None:
    assert search(page, Player="Helmsman", Opponent="AntaresLight") == 1
    page.get_by_role("link", name="1 lost").click()
    page.wait_for_url("**outcome=loss*")
    assert page.locator("a.row").count() == 1


def longest_thinks(page: Page) -> None:
    open_player(page, "Helmsman")
    page.get_by_role("link", name="5. d4").first.click()
    page.wait_for_url("**/game/*ply=9*")


def results_by_opening(page: Page) -> None:
    open_player(page, "Helmsman")
    page.locator("summary", has_text=re.compile("^Openings$")).click()
    leads_to_games(page, "Openings by games")


def short_of_time(page: Page) -> None:
    assert search(page, **{"A clock below (seconds)": "60"}) == 3


def lost_while_ahead(page: Page) -> None:
    search(page, **{"Player": "Helmsman", "Lost with a lead of (seconds)": "1"})
    assert page.locator(".chosen li").count() == 3  # two filters, and the way to remove both
    assert "Not understood" not in page.locator("main").inner_text()


def openings_by_time(page: Page) -> None:
    open_player(page, "Helmsman")
    card = page.locator("section.card", has=page.get_by_role("heading", name="Openings by time"))
    expect(card.locator("li").first).to_contain_text(re.compile(r"[0-9]+\.[0-9] s"))


def games_of_a_lead(page: Page) -> None:
    page.get_by_role("link", name="Insights").click()
    page.get_by_role("link", name="Score by lead on the clock").click()
    page.locator(".bars a").first.click()
    page.wait_for_url("**/?group=*")
    assert page.locator("a.row").count() >= 1


def list_in_a_notebook(page: Page) -> None:
    rows = saved(page, "CSV").splitlines()
    assert len(rows) == 1 + 19
    assert rows[0].startswith("key,")


TASKS: Final[dict[str, Callable[[Page], None]]] = {
    "save the games of a player as PGN": games_of_a_player,
    "list the games of a year": games_of_a_year,
    "list only complete games": complete_games,
    "list what one log contains": games_of_a_log,
    "see the lines of a log that a move was read from": lines_of_a_move,
    "find games with a draw offer": games_with_a_draw_offer,
    "list games that did not end": unfinished_games,
    "step through a game with the keyboard": steps_by_keyboard,
    "go on to the next game of the list": next_game,
    "send another player a position": position_by_address,
    "see the score between two players": score_of_two_players,
    "find the longest thinks of a player": longest_thinks,
    "see a player's results by opening": results_by_opening,
    "list games in which a clock fell below a minute": short_of_time,
    "list games that a player lost while ahead on the clock": lost_while_ahead,
    "see which openings cost a player most time": openings_by_time,
    "list the games behind a bar of insights": games_of_a_lead,
    "analyse a list of games in a notebook": list_in_a_notebook,
}


def test_each_task_of_the_document_is_tried() -> None:
    rows = re.findall(r"^\| ([^|]+) \| [^|]+ \|$", DOCUMENT.read_text(encoding="utf-8"), re.M)
    assert [row for row in rows if row not in ("task", "---")] == list(TASKS)


@pytest.mark.parametrize("task", long_after(3, TASKS))
def test_a_task_works_as_the_document_says(page: Page, url: str, task: str) -> None:
    page.goto(url)
    TASKS[task](page)
