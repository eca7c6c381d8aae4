"""The page of running recordings in Chromium, while a recorder records from a scripted server, ends and comes back."""

import asyncio
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.live.test_capture import BOARD, END, MOVE, TABLE
from tests.support.script import Hear, Say
from tests.support.site import HOSTILE, PRIVATE, serve
from tests.support.testserver import FICS, Dialogue, ScriptedServer
from tests.web.test_site_browser import severe

pytestmark = [pytest.mark.needs("chromium"), pytest.mark.long]

FIRST = MOVE.replace(b"e4 0 0 0", b"e4 0 1 150")
SECOND = (
    b"\n\r<12> rnbqkbnr pppp-ppp -------- ----p--- ----P--- -------- PPPP-PPP RNBQKBNR W 4 1 1 1 1 0 12 Ann Bob 0 5 0 "
    b"39 39 300000 297000 2 P/e7-e5 (0:03.000) e5 0 1 0\n\r\n\rfics% "
)
KIBITZ = f"\n\rEve(U)(1500)[12] kibitzes: {HOSTILE}\n\rfics% ".encode()
NAMES = "Ann – Bob"


@contextmanager
def chess_server() -> Iterator[tuple[int, Callable[[int, bytes], None]]]:
    """A scripted server in a thread: its port, and a function that lets it send bytes to a client."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()

    def wait(work: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(work, loop).result(60)

    script = [Hear(b"observe 12"), Say(BOARD)]
    server = ScriptedServer(Dialogue(FICS, script=script, answers={b"games": TABLE}))
    wait(server.__aenter__())

    def say(number: int, data: bytes) -> None:
        connection = wait(server.connection(number))
        wait(connection.done.wait())
        wait(connection.say(data))

    try:
        yield server.port, say
    finally:
        wait(server.__aexit__())
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


@contextmanager
def recording(port: int, journals: Path) -> Iterator[None]:
    """A recorder in a process of its own, which is killed."""
    words = ("record", f"127.0.0.1:{port}", "--guest", "--observe", "all", "--no-import", "--quiet")
    process = subprocess.Popen([sys.executable, "-m", "recorder", *words, "--journal-dir", journals])
    try:
        yield
    finally:
        process.kill()
        process.wait()


def check_controls(page: Page, say: Callable[[int, bytes], None]) -> None:
    """Pin, search, pause and the states of the connection, by keyboard."""
    board = page.locator("article.game", has_text="Ann")
    pin = page.get_by_role("button", name=f"Pin {NAMES}")
    pin.focus()
    page.keyboard.press("Enter")
    expect(page.locator("#pinned article")).to_have_count(1)
    expect(pin).to_have_attribute("aria-pressed", "true")
    expect(pin).to_be_focused()
    page.get_by_label("Name").fill("ghost")
    expect(page.locator("#empty")).to_have_text("No game matches.")
    assert page.url.endswith("/live?q=ghost")
    page.get_by_label("Name").fill("")
    page.get_by_role("button", name="Pause").focus()
    page.keyboard.press("Space")
    expect(page.locator("#link")).to_contain_text("Paused. The boards are those of ")
    say(0, SECOND)
    page.wait_for_timeout(1000)
    expect(board.locator(".last strong")).to_have_text("1. e4")
    page.keyboard.press("Space")
    expect(board.locator(".last strong")).to_have_text("1… e5")
    page.clock.fast_forward(13_000)
    expect(page.locator("#link")).to_contain_text("Stale")
    expect(page.locator("#link")).to_have_text("Connected.")  # the next sign of the site


def check_look(page: Page) -> None:
    """Dark and light, each width, no serious finding."""
    page.emulate_media(color_scheme="dark")
    assert severe(page, "color-contrast") == []
    page.emulate_media(color_scheme="light")
    assert severe(page) == []
    for width in (390, 768, 1366, 1920):
        page.set_viewport_size({"width": width, "height": 700})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator(".records").evaluate("card => card.clientHeight") < 60  # one line


def test_a_game_is_watched_while_recorder_and_site_come_and_go(browser: Browser, archive: Path, tmp_path: Path) -> None:
    page = browser.new_page()
    page.set_default_timeout(60_000)
    expect.set_options(timeout=30_000)
    wrong: list[str] = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on(
        "console",
        lambda said: wrong.append(said.text) if "Failed to load" not in said.text and "ERR_" not in said.text else None,
    )
    page.clock.install()
    journals = tmp_path / "journals"
    site = serve(archive, PRIVATE, journals=journals)
    url = next(site)
    board = page.locator("article.game", has_text="Ann")
    with chess_server() as (port, say):
        page.goto(f"{url}/live")
        expect(page.locator("#link")).to_have_text("Connected.")
        expect(page.locator("#nothing")).to_be_visible()
        with recording(port, journals):
            expect(board.locator(".last strong")).to_have_text("No move yet")
            say(0, FIRST + KIBITZ)
            expect(board.locator(".last strong")).to_have_text("1. e4")
            expect(board.locator(".seat.black .time")).to_contain_text("4:5")  # its clock runs
            expect(board.locator(".said")).to_have_text(f"Eve {HOSTILE}")
            assert board.locator(".men use").count() == 32
            check_look(page)
            check_controls(page, say)
            say(0, END)
            expect(board.locator(".result")).to_have_text("1–0 Bob resigns")
            page.get_by_label("Hide results").check()
            expect(board.locator(".result")).to_be_hidden()
            expect(board.locator(".instead")).to_be_visible()
            page.get_by_label("In progress only").check()
            expect(board).to_be_hidden()
        expect(page.locator("#sessions")).to_contain_text("without closing the journal")
        with recording(port, journals):
            expect(board.locator(".last strong")).to_have_text("No move yet")
            assert page.locator("#pinned article").count() == 1
            assert list(site) == []  # the site ends
            expect(page.locator("#link")).to_contain_text("Not connected; trying again.")
            say(1, FIRST)
            site = serve(archive, PRIVATE, journals=journals, port=int(url.rpartition(":")[2]))
            next(site)
            expect(board.locator(".last strong")).to_have_text("1. e4")
            expect(page.locator("#link")).to_have_text("Connected.")
            assert re.search(r"playing=1&hide=1$", page.url)
    page.close()
    assert list(site) == []
    assert wrong == []
