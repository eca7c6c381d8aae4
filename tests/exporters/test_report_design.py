"""How the page of a game looks in Chromium at three sizes: each sentence about its design is an assertion here.

Each size opens each of three pages once: a game with evaluations, lag and an engine's whispers; the same game without
them, which is in the docs; and one with takebacks.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from playwright.sync_api import Browser, Page

from exporters.evaluations import BOUND_CP, CHANCES
from exporters.report.game import game_report
from recorder.model import Analysis, EventKind, Game, Thinking
from recorder.web.links import WebSite
from storage import ArchiveStore
from tests.docs.run_page import look_alike
from tests.docs.screenshots import IMAGES, KEY, SHOTS, take, write_page
from tests.exporters.test_report import bughouse_match, chat, taken_back_game
from tests.support import browsing
from tests.support.effort import long_after

pytestmark = pytest.mark.needs("chromium")

SCORES_CP = {3: 30, 4: 30, 5: 25, 6: 20, 7: -60, 8: 90, 9: -150, 10: 700, 30: -80}
SIGNS = {7: "?!", 8: "?", 9: "??", 10: "??"}
CONTROLS = (
    ".plate.black .clock",
    "svg.board",
    ".plate.white .clock",
    "#line",
    "#toggle",
    "#think",
    "#speed",
    "#thinks",
)


class Report(NamedTuple):
    """A page in one size of window. ``page`` shows one of ``paths`` at a time."""

    page: Page
    paths: dict[str, Path]
    shot: str

    def show(self, name: str) -> Page:
        """Show a page from its start; other pages keep their place in the address only."""
        address = self.paths[name].as_uri()
        if self.page.url.partition("?")[0].partition("#")[0] != address:
            self.page.goto(address)
        self.page.evaluate("scrollTo(0, 0)")
        self.page.keyboard.press("Home")
        return self.page


def evaluated(game: Game) -> Game:
    """The game with an analysis and an engine's whispers."""
    lines = tuple(
        Thinking(ply, ply, "Deep", ply % 2 == 0, 12, cp if ply % 2 == 0 else -cp, *(None,) * 6, "e4", None, 0)  # type: ignore[arg-type]
        for ply, cp in SCORES_CP.items()
    )
    for line in game.observations[0].lines:
        line.plies = [ply._replace(lag_ms=(ply.lag_ms or 0) + 100 + 3 * ply.ply) for ply in line.plies]
    game.analyses.append(Analysis("Deep", "uci", "{}", 0, lines))
    game.observations[0].events += [chat(900 + ply, ply, f"depth {ply} score +0.{ply}") for ply in (11, 12, 13)]
    return game


@pytest.fixture(scope="module")
def paths(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    found = {name: folder / f"{name}.html" for name in ("full", "back")}
    found["plain"] = write_page(folder)
    with ArchiveStore.open(str(folder / "archive.sqlite"), read_only=True) as storage:
        found["full"].write_bytes(game_report(evaluated(storage.game(KEY))))
        found["site"] = folder / "site.html"
        browsing.write_page(found["site"], game_report(evaluated(storage.game(KEY)), site=WebSite()))
    found["back"].write_bytes(game_report(taken_back_game()))
    found["match"] = folder / "match.html"
    found["match"].write_bytes(game_report(bughouse_match().a, match=bughouse_match()))
    return found


@pytest.fixture(scope="module", params=long_after(2, SHOTS))
def report(request: pytest.FixtureRequest, browser: Browser, paths: dict[str, Path]) -> Iterator[Report]:
    """Whatever the console says, and every request for anything but the page, fails the size's last test."""
    page = browser.new_page(viewport=SHOTS[request.param], reduced_motion="reduce")
    page.set_default_timeout(30_000)
    wrong: list[str] = []
    page.on("console", lambda message: wrong.append(message.text))
    page.on("pageerror", lambda error: wrong.append(str(error)))
    own = {path.as_uri() for path in paths.values()}
    page.on(
        "request",
        lambda asked: None if asked.url.partition("#")[0].partition("?")[0] in own else wrong.append(asked.url),
    )
    yield Report(page, paths, request.param)
    page.close()
    assert wrong == []


def edges(page: Page, selector: str, side: str) -> list[float]:
    """Where elements begin or end, in pixels."""
    return page.locator(selector).evaluate_all(f"all => all.map(one => one.getBoundingClientRect().{side})")


def test_board_clocks_and_controls_are_seen_without_scrolling(report: Report) -> None:
    page = report.show("full")
    height = SHOTS[report.shot]["height"]
    for selector in CONTROLS:
        assert 0 <= edges(page, selector, "top")[0] < edges(page, selector, "bottom")[0] <= height, selector
    assert page.evaluate("document.documentElement.scrollWidth") <= SHOTS[report.shot]["width"]


def test_a_move_pair_has_one_row_with_bars_and_a_column_of_clocks(report: Report) -> None:
    page = report.show("full")
    rows = page.locator(".moves tbody tr:has(td .played)")
    assert rows.locator("th").all_inner_texts() == [f"{number}." for number in range(1, 23)]
    for side in (2, 3):
        column = f".moves tbody tr td:nth-child({side}) .mv"
        assert len(edges(page, f"{column} .clk", "right")) == 22
        assert len({round(right) for right in edges(page, f"{column} .clk", "right")}) == 1
        assert len({round(left) for left in edges(page, f"{column} .bar", "left")}) <= 2  # that of the current move
    shares = {round(one) for one in edges(page, ".mv .bar", "width")}
    assert len(shares) > 5
    longest = page.locator(".mv.long")
    assert longest.locator(".san").all_inner_texts() == ["Rc8"]
    assert round(longest.locator(".bar").evaluate("one => one.getBoundingClientRect().width")) == max(shares)


def test_bad_moves_have_signs_instead_of_words(report: Report) -> None:
    page = report.show("full")
    assert page.locator(".mv .nag").all_inner_texts() == list(SIGNS.values())
    words = "one => !one.children.length && /blunder|mistake|inaccuracy/.test(one.textContent)"
    spoken = page.locator(".moves span").evaluate_all(f"all => all.filter({words}).map(one => one.className)")
    assert set(spoken) == {"sr"}


def test_an_evaluation_bar_is_there_where_there_are_evaluations(report: Report) -> None:
    page = report.show("full")
    bar, white = page.locator(".evals"), page.locator(".evals .for-white")
    assert bar.is_visible()
    assert bar.get_attribute("aria-label") == "Evaluation unknown"
    shares = []
    for ply in range(1, 11):
        page.keyboard.press("ArrowRight")
        if ply in SCORES_CP:
            shares.append(int(white.get_attribute("height") or 0))
    assert bar.get_attribute("aria-label") == "Evaluation +7.00"
    assert page.locator("#now-move").inner_text().startswith("5… cxd4??")
    assert shares == [CHANCES[BOUND_CP + SCORES_CP[ply]] for ply in range(3, 11)]
    field, board = edges(page, ".evals", "bottom")[0], edges(page, "svg.board", "bottom")[0]
    assert abs(field - board) < 2
    page.keyboard.press("f")
    assert bar.evaluate("one => getComputedStyle(one).transform") == "matrix(1, 0, 0, -1, 0, 0)"
    page.keyboard.press("f")
    assert report.show("plain").locator(".evals").count() == 0


def test_engine_whispers_are_folded(report: Report) -> None:
    page = report.show("full")
    talk = page.locator(".said.engine")
    assert talk.count() == 3
    assert not any(row.is_visible() for row in talk.all())
    fold = page.get_by_label("Show engine output (3)")
    fold.check()
    assert all(row.is_visible() for row in talk.all())
    fold.uncheck()


def test_a_takeback_takes_one_line(report: Report) -> None:
    page = report.show("back")
    taken = [event for event in taken_back_game().events if event.kind is EventKind.TAKEBACK]
    heights = page.locator(".moves .branch").evaluate_all("all => all.map(one => one.getBoundingClientRect().height)")
    assert len(heights) == len(taken)
    assert max(heights) < 36
    assert "half-move taken back" not in page.locator(".moves").inner_text()


def test_pictures_scale_and_their_cursors_line_up(report: Report) -> None:
    page = report.show("full")
    charts = page.locator("svg.chart")
    names = [(chart.get_attribute("aria-label") or "").partition(".")[0] for chart in charts.all()]
    assert names == ["Clock race", "Evaluation", "Time for each move", "Lag"]
    width = "one => [one.getBoundingClientRect().width, one.parentElement.clientWidth, one.parentElement.scrollWidth]"
    for chart in charts.all():
        own, place, inner = chart.evaluate(width)
        assert own <= place == inner
        letters = 11 * own / chart.evaluate("one => one.viewBox.baseVal.width")
        assert letters > 7, "the smallest letters of the axes, in pixels"
    for _ in range(12):  # White's moves and Black's; that of half-move 11 has no evaluation
        page.keyboard.press("ArrowRight")
        places = edges(page, ".cursor:not(.off)", "left")
        assert len(places) == 4
        assert max(places) - min(places) < 1


def test_what_has_no_data_is_one_line_at_the_end(report: Report) -> None:
    page = report.show("plain")
    headings = page.locator(".more h2:visible").all_inner_texts()
    assert headings == ["Clock race", "Time for each move", "Clocks", "About this game", "Sources"]
    for card in page.locator(".more .card:visible").all():
        assert card.locator("svg, td, dd, li, pre").count() > 0
    last = page.locator(".more > :last-child")
    assert last.inner_text().startswith("No data: lag, evaluations. No anomalies: ")
    assert "No data" not in " ".join(page.locator(".card").all_inner_texts())


def test_it_plays_at_many_speeds_and_leads_to_long_thinks(report: Report) -> None:
    page = report.show("plain")
    speeds = page.locator("#speed option").evaluate_all("all => all.map(one => one.value)")
    assert speeds[0] == "0.25"
    assert speeds[-1] == "32"
    page.keyboard.press("]")
    assert page.locator("#now-move").inner_text() == "A long think: AntaresLight, 17 s. Play goes on."
    assert page.locator("button.mv[aria-current] .san").inner_text() == "Nxb5"
    page.keyboard.press("End")
    page.keyboard.press("[")
    assert page.locator("button.mv[aria-current] .san").inner_text() == "Nxb5"
    page.keyboard.press("Home")
    page.locator("#think").click()
    assert page.locator("button.mv[aria-current] .san").inner_text() == "Nxb5"
    page.goto(f"{report.paths['plain'].as_uri()}?ply=30")
    assert page.locator("button.mv[aria-current] .san").inner_text() == "Rc8"


def test_the_screenshots_of_the_docs_show_the_page(report: Report, tmp_path: Path) -> None:
    page = report.show("plain")
    take(page, report.shot, tmp_path / report.shot)
    kept = IMAGES / report.shot
    assert kept.stat().st_size < 100_000
    assert look_alike(tmp_path / report.shot, kept), "python -m tests.docs.screenshots"


@pytest.mark.parametrize("name", long_after(1, ["full", "back", "site", "match"]))
def test_no_texts_overlap_at_any_width(browser: Browser, paths: dict[str, Path], name: str) -> None:
    """The list of a game with evaluations and thousandths is the widest."""
    page = browser.new_page(reduced_motion="reduce")
    page.goto(paths[name].as_uri())
    browsing.check_widths(page)
    page.close()
