"""A report in Chromium: it plays, listens to the keyboard, reaches for nothing, and nothing of a log runs in it."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, ViewportSize

from exporters.report.game import game_report
from recorder.model import Game, Precision
from storage import ArchiveStore as Storage
from tests.exporters.games import make_game
from tests.exporters.test_report import HOSTILE, chat, hostile_game, taken_back_game
from tests.support.browsing import DESK, Open
from tests.support.cli import GUESTS, Cli

pytestmark = pytest.mark.needs("chromium")


def thinking(ply: int) -> tuple[int, int, int, int]:
    """White thinks 4 s, 20 s at the third move; Black 2 s."""
    took = {3: 4_000, 5: 20_000}.get(ply, 2_000) if ply > 2 else 1_000
    white = 60_000 - (4_000 if ply >= 3 else 0) - (20_000 if ply >= 5 else 0) - (2_000 if ply >= 7 else 0)
    return white, 60_000 - 2_000 * max(0, ply // 2 - 1), took, 10


def timed_game(**facts: object) -> Game:
    game = make_game(clocks=thinking, base_s=60, **facts)
    line = game.observations[0].lines[0]
    line.plies = [ply._replace(at_ms=None) for ply in line.plies]
    game.observations[0].events.append(chat(0, 3, "Is this a trap?", "Kibitzer"))
    return game


@pytest.fixture(scope="module")
def pictured(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The longest of fifteen recorded games with its pictures; the handles in these are hostile."""
    cli = Cli(tmp_path_factory.mktemp("archive") / "archive.sqlite")
    cli("import", GUESTS)
    key = max(cli.table("games"), key=lambda game: int(game["Plies"]))["Key"]
    with Storage.open(str(cli.archive), read_only=True) as storage:
        game = storage.game(key)
    white, black = (one._replace(handle=f"{HOSTILE}{one.handle}") for one in (game.white, game.black))
    return game_report(replace(game, white=white, black=black))


def current(page: Page) -> str:
    return page.locator("button.mv[aria-current] .san, .start button[aria-current]").inner_text()


def clocks(page: Page) -> tuple[str, str]:
    return page.locator(".plate.white .clock").inner_text(), page.locator(".plate.black .clock").inner_text()


def men(page: Page) -> int:
    return page.locator("svg.board .men use").count() - page.locator(".final .men use").count()


def test_it_steps_with_keys_buttons_and_the_move_list(opened: Open) -> None:
    page = opened(timed_game())
    assert page.title() == "Ann – Bob"
    assert current(page) == "Start"
    page.keyboard.press("ArrowRight")
    page.get_by_role("button", name="On one move").click()
    assert current(page) == "e5"
    page.keyboard.press("End")
    assert current(page) == "Qxf7#"
    assert men(page) == 31  # a pawn was taken
    assert page.locator("#live").inner_text().startswith("4, White: queen takes f7, checkmate.")
    page.keyboard.press("ArrowLeft")
    assert current(page) == "Nf6"
    page.locator("button.mv", has_text="Qh5").click()
    assert current(page) == "Qh5"
    assert page.locator("#now-said").inner_text().split("\n")[0].startswith("Kibitzer kibitz Is this a trap?")
    assert "queen h5" in page.locator("#position-0").inner_text()
    assert page.locator(".stage .mark").count() == 2
    assert page.url.endswith("?ply=3")
    page.reload()
    assert current(page) == "Qh5"
    assert page.url.endswith("?ply=3")
    page.locator("button.mv", has_text="Qh5").click()
    page.keyboard.press("ArrowDown")  # in the list: White's next move
    assert current(page) == "Bc4"
    assert page.evaluate("document.activeElement.textContent").split()[0] == "Bc4"
    page.keyboard.press("Home")
    assert current(page) == "Start"
    page.keyboard.press("ArrowLeft")
    assert current(page) == "Start"
    # One stop for the tabulator in the list: the current move.
    assert page.locator("button.mv[tabindex='0']").count() == 1


def test_it_plays_in_the_time_that_was_thought(opened: Open) -> None:
    page = opened(timed_game())
    page.locator("button.mv", has_text="e5").click()
    page.keyboard.press("Escape")
    page.keyboard.press(" ")
    assert page.get_by_role("button", name="Pause").is_visible()
    page.clock.run_for(3_000)
    assert current(page) == "e5"
    white, black = clocks(page)
    assert white in ("0:57", "0:58")
    assert black == "1:00"
    assert page.locator(".plate.white.turn.runs").count() == 1
    page.clock.run_for(1_200)
    assert current(page) == "Qh5"
    page.clock.run_for(2_000)
    assert current(page) == "Nc6"
    page.keyboard.press(" ")
    page.clock.run_for(60_000)
    assert current(page) == "Nc6"
    page.keyboard.press("+")
    page.keyboard.press("+")
    assert page.locator("#speed").input_value() == "4"
    page.keyboard.press(" ")
    page.clock.run_for(4_000)
    assert current(page) == "Nc6"
    page.clock.run_for(1_200)
    assert current(page) == "Bc4"
    page.clock.run_for(5_000)
    assert current(page) == "Qxf7#"
    assert page.get_by_role("button", name="Play").is_visible()


def test_long_thinks_can_be_shortened_or_stopped_at(opened: Open) -> None:
    page = opened(timed_game())
    page.select_option("#thinks", "2")  # at most 3 seconds
    page.locator("button.mv", has_text="Nc6").click()
    page.keyboard.press(" ")
    page.clock.run_for(3_200)
    assert current(page) == "Bc4"
    page.keyboard.press(" ")
    page.select_option("#thinks", "stop")
    page.locator("button.mv", has_text="Qh5").click()
    page.get_by_role("button", name="Play").click()
    page.clock.run_for(2_400)
    assert current(page) == "Nc6"
    assert page.get_by_role("button", name="Play").is_visible()
    assert "A long think: Ann, 20 s" in page.locator("#live").inner_text()
    page.get_by_role("button", name="Play").click()
    page.clock.run_for(20_400)
    assert current(page) == "Bc4"


def test_long_thinks_are_found_without_clocks(opened: Open) -> None:
    def timed_alone(ply: int) -> tuple[None, None, int, None]:
        return None, None, 20_000 if ply == 5 else 2_000, None

    page = opened(make_game(clocks=timed_alone, base_s=None, increment_s=None))
    page.get_by_role("button", name="To the next long think").click()
    assert current(page) == "Nc6"
    page.get_by_role("button", name="Play").click()
    page.clock.run_for(500)
    assert page.locator(".plate.white .think").inner_text().endswith(" s")


def test_moves_are_spoken(opened: Open) -> None:
    words = {
        "e4": "e4",
        "Nf3": "knight f3",
        "Nbxd7+": "knight b takes d7, check",
        "R1e2": "rook 1 e2",
        "exd8=Q#": "e takes d8 becomes a queen, checkmate",
        "O-O": "castles short",
        "O-O-O+": "castles long, check",
        "N@f7": "drops a knight on f7",
        "@f7": "drops a pawn on f7",
        "P/e2-e4 <b>": "P/e2-e4 <b>",
    }
    page = opened(timed_game())
    assert page.evaluate("sans => sans.map((san) => spokenMove(san))", [*words]) == [*words.values()]
    page.keyboard.press("End")
    assert page.locator("#live").inner_text() == "4, White: queen takes f7, checkmate. Took 2 seconds. 34 seconds left."


def test_clocks_of_whole_seconds_never_show_more(opened: Open) -> None:
    def low(ply: int) -> tuple[int, int, int, int]:
        return 15_000 - 1_000 * ply, 15_000, 1_000, 0

    for precision, tenths in ((Precision.SECONDS, False), (Precision.MILLISECONDS, True)):
        game = make_game(clocks=low, precision=precision, base_s=60)
        game.observations[0].lines[0].plies = [ply._replace(at_ms=None) for ply in game.plies]
        page = opened(game)
        page.keyboard.press("ArrowRight")
        page.keyboard.press("ArrowRight")
        page.keyboard.press(" ")
        page.clock.run_for(450)
        white = clocks(page)[0]
        assert ("." in white) is tenths, white
        assert page.locator(".plate.white .clock.low").count() == 0
        assert ("." in page.locator(".moves").inner_text()) is True  # the numbers of moves
    assert page.locator("button.mv.low").count() == 0


def test_a_low_clock_is_marked(opened: Open) -> None:
    page = opened(make_game(clocks=lambda ply: (4_000, 50_000, 1_000, 0), base_s=60))
    page.keyboard.press("End")
    assert page.locator(".plate.white .clock.low").count() == 1
    assert page.locator(".plate.black .clock.low").count() == 0
    assert page.locator("button.mv.low").count() == 4


def test_taken_back_moves_come_and_go(opened: Open) -> None:
    page = opened(taken_back_game())
    page.locator(".branch button.mv", has_text="Nc4").first.click()
    assert current(page) == "Nc4"
    before = page.locator("#position-0").text_content()
    page.keyboard.press("ArrowRight")
    assert page.locator("#now-move").inner_text() == "Back after a takeback"
    assert page.locator("#position-0").text_content() != before
    assert "taken back" in page.locator("#live").inner_text()


def test_pictures_lead_to_moves_and_follow_them(opened: Open, pictured: bytes) -> None:
    page = opened(pictured)
    assert page.locator("svg.chart").count() >= 2
    chart = page.locator("svg.chart").first
    tick, box = chart.locator("text", has_text=re.compile("^10$")).bounding_box(), chart.bounding_box()
    chart.click(position={"x": tick["x"] + tick["width"] / 2 - box["x"], "y": box["height"] / 2})
    assert current(page) == page.locator("tr:has(th:text-is('10.')) .mv .san").first.inner_text()
    cursor = chart.locator(".cursor").bounding_box()
    assert abs(cursor["x"] + cursor["width"] / 2 - tick["x"] - tick["width"] / 2) < 2
    page.keyboard.press("ArrowRight")
    moved = chart.locator(".cursor").bounding_box()
    assert moved["x"] > cursor["x"]
    page.keyboard.press("Home")
    assert chart.locator(".cursor.off").count() == 1
    # Colours are those of the reader's theme.
    colour = "getComputedStyle(document.querySelector('svg.chart .white')).stroke"
    assert page.evaluate(colour) == "rgb(213, 94, 0)"
    page.emulate_media(color_scheme="dark", media="screen")
    assert page.evaluate(colour) == "rgb(230, 159, 0)"


def test_the_board_turns_and_the_slider_leads(opened: Open) -> None:
    page = opened(timed_game())
    below = "document.querySelector('.plate.white').getBoundingClientRect().top"
    top = page.evaluate(below)
    page.keyboard.press("f")
    assert page.evaluate(below) < top
    assert page.get_by_role("button", name="Turn the board").get_attribute("aria-pressed") == "true"
    page.locator("#line").fill("6500")
    assert current(page) == "Qh5"
    assert (page.locator("#line").get_attribute("aria-valuetext") or "").startswith("2. Qh5, 0:0")


def test_nothing_of_a_log_runs(opened: Open) -> None:
    page = opened(hostile_game())
    for _ in range(9):
        page.keyboard.press("ArrowRight")
    page.keyboard.press(" ")
    page.clock.run_for(500)
    assert page.evaluate("window.harmed") is None
    assert page.locator("img").count() == 0
    assert "</script><script>window.harmed=1</script>" in page.locator("h1").inner_text()
    assert HOSTILE[-6:] not in page.content()


def test_handles_in_pictures_are_words(opened: Open, pictured: bytes) -> None:
    page = opened(pictured)
    assert page.locator("svg.chart").count() >= 1
    assert page.evaluate("window.harmed") is None
    assert page.locator("img").count() == 0
    assert "\u202e" not in page.content()


def test_the_policy_holds(browser: Browser, tmp_path: Path) -> None:
    """What a hole in the escaping would let in does not run either."""
    path = tmp_path / "holed.html"
    hole = b"<img src=x onerror='window.harmed=1'><script>window.harmed=2</script><p style='color:red'>"
    path.write_bytes(game_report(make_game()).replace(b"<footer", hole + b"<footer"))
    page = browser.new_page()
    refused: list[str] = []
    page.on("console", lambda message: refused.append(message.text))
    page.goto(path.as_uri())
    page.wait_for_timeout(100)
    assert page.evaluate("window.harmed") is None
    assert len([text for text in refused if "Content Security Policy" in text]) >= 3
    assert page.evaluate("try { document.body.innerHTML = '<b>' } catch (error) { error.name }") == "TypeError"
    page.close()


@pytest.mark.parametrize("width", [800, 961, 1120, 1121, 1200])
def test_pictures_are_whole_on_a_desk(opened: Open, pictured: bytes, width: int) -> None:
    page = opened(pictured, viewport=ViewportSize(width=width, height=900))
    cut = "cards => cards.filter(card => card.scrollWidth > card.clientWidth).length"
    assert page.locator(".chart-card .wide").count() > 1
    assert page.locator(".chart-card .wide").evaluate_all(cut) == 0


@pytest.mark.parametrize("width", [320, 390, 768])
def test_a_phone_scrolls_in_one_direction(opened: Open, width: int) -> None:
    page = opened(hostile_game(), viewport=ViewportSize(width=width, height=760))
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    box = page.locator("svg.board").first.bounding_box()
    assert box["width"] > width * 0.7 or width > 600


def test_on_a_phone_the_board_stays_while_moves_are_chosen(opened: Open) -> None:
    page = opened(taken_back_game(), viewport=ViewportSize(width=390, height=844))
    page.locator("button.mv", has_text="Nxe4").first.click()
    board, move = (
        page.locator(".stage svg.board").bounding_box(),
        page.locator("button.mv[aria-current]").bounding_box(),
    )
    assert 0 <= board["y"] < board["y"] + board["height"] < move["y"] < 844


def test_what_is_printed_has_moves_tables_and_the_final_board(opened: Open) -> None:
    page = opened(timed_game())
    page.emulate_media(media="print")
    assert page.locator(".stage").is_hidden()
    assert page.locator(".final svg").is_visible()
    assert page.locator("button.mv", has_text="Qxf7#").is_visible()
    assert page.locator(".figures").is_visible()


def test_without_a_script_everything_but_the_player_is_there(browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "game.html"
    path.write_bytes(game_report(timed_game()))
    page = browser.new_page(viewport=DESK, java_script_enabled=False)
    page.goto(path.as_uri())
    assert page.locator(".controls").is_hidden()
    assert page.locator(".final svg").is_visible()
    assert page.locator("tr", has_text="Qxf7#").inner_text().split() == ["4.", "Qxf7#", "2.0", "s", "0:34.0"]
    assert page.locator(".stage .men use").count() == 32
    page.close()


def test_every_control_has_a_name(opened: Open) -> None:
    page = opened(timed_game())
    names = page.evaluate(
        """[...document.querySelectorAll('button:not([hidden]), select, input')].map((one) =>
        (one.getAttribute('aria-label') || one.closest('label')?.textContent || one.textContent).trim())"""
    )
    assert all(names)
    assert page.locator("svg.board").first.get_attribute("role") == "img"
    page.keyboard.press("Tab")
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"
