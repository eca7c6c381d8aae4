"""The screenshots of the docs: ``python -m tests.docs.screenshots`` takes them again.

``tests/exporters/test_report_design.py`` takes them, too, and fails if one does not look like its file in docs/images.
"""

import tempfile
from pathlib import Path

from playwright.sync_api import Page, ViewportSize

from recorder.archive.locate import open_archive
from recorder.archive.pages.reports import page_of_game
from tests.docs.pages import ROOT
from tests.docs.run_page import write_small
from tests.support import programs
from tests.support.browsing import chromium
from tests.support.cli import SERVER, Cli

IMAGES = ROOT / "docs" / "images"
_SAVED = SERVER.parent / "pgn" / "ficsgames-variants-by-year.pgn"
KEY = "6af87f9e"
SHOTS = {
    "report.png": ViewportSize(width=1366, height=650),
    "report-1280.png": ViewportSize(width=1280, height=900),
    "report-phone.png": ViewportSize(width=390, height=844),
}
"""File names, and the size of the window that each shows."""


def write_page(folder: Path) -> Path:
    cli = Cli(folder / "archive.sqlite")
    cli("import", _SAVED)
    path = folder / "game.html"
    with open_archive(str(cli.archive)) as archive:
        path.write_bytes(page_of_game(archive, KEY).html)
    return path


def take(page: Page, name: str, to: Path) -> None:
    """Take a screenshot of the page, after the longest think of the game."""
    page.set_viewport_size(SHOTS[name])
    page.evaluate("scrollTo(0, 0)")
    for key in ("Home", "]", "ArrowRight"):
        page.keyboard.press(key)
    page.screenshot(path=to)


def main() -> None:
    """Write the screenshots, with few colours."""
    programs.allow(frozenset({"chromium"}))
    with tempfile.TemporaryDirectory() as made, chromium() as browser:
        page = browser.new_page(reduced_motion="reduce")
        page.goto(write_page(Path(made)).as_uri())
        for name in SHOTS:
            take(page, name, Path(made) / name)
            write_small(Path(made) / name, IMAGES / name)


if __name__ == "__main__":
    main()
