"""``report --site``: pages that lead to each other, show what is for others, and are replaced only on request."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, expect

from recorder.errors import ExitCode
from tests.support.cli import Cli


@pytest.fixture(scope="module")
def folder(archive: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("static") / "site"
    said = Cli(archive)("report", "--site", folder, "--base-url", "https://example.org/games").stderr
    assert "Wrote pages of 19 games, " in said
    return folder


def test_every_address_of_every_page_is_a_page(folder: Path) -> None:
    pages = sorted(folder.rglob("*.html"))
    assert len(list((folder / "games").iterdir())) == 19
    for page in pages:
        html = page.read_text(encoding="utf-8")
        assert "script-src 'sha256-" in unescape(html) or "script-src 'none'" in unescape(html)
        for href in re.findall(r'href="([^"#][^"]*)"', html):
            if not href.startswith("data:"):
                assert (page.parent / re.split("[?#]", unescape(href))[0]).resolve() in pages, (page, href)


def test_the_sitemap_lists_the_pages(folder: Path) -> None:
    listed = re.findall(r"<loc>https://example\.org/games/([^<]*)</loc>", (folder / "sitemap.xml").read_text())
    assert sorted(folder / name for name in listed) == sorted(folder.rglob("*.html"))


def test_pseudonyms_filters_and_chat(archive: Path, tmp_path: Path) -> None:
    cli = Cli(archive)
    cli("report", "--site", tmp_path / "site", "--since", "2017-01-01", "--pseudonyms", "--chat", "none")
    texts = [page.read_text(encoding="utf-8") for page in (tmp_path / "site").rglob("*.html")]
    assert len(texts) == 4
    assert not any("helmsman" in text.lower() or "slaran" in text.lower() for text in texts)
    assert not (tmp_path / "site" / "sitemap.xml").exists()
    wrong = ("report", "--site", tmp_path / "other", "--player", "Helmsman", "--pseudonyms")
    assert "Handles and keys cannot choose games together with pseudonyms" in cli(*wrong, code=ExitCode.OUTPUT).stderr


def test_a_folder_is_replaced_only_on_request(archive: Path, tmp_path: Path) -> None:
    cli, site, mine = Cli(archive), tmp_path / "site", tmp_path / "mine"
    words = ("--since", "2022-01-01")
    cli("report", "--site", site, *words)
    old = site / "games" / "0000.html"
    old.write_text("old")
    assert "replace it with --force" in cli("report", "--site", site, *words, code=ExitCode.OUTPUT).stderr
    cli("report", "--site", site, *words, "--force")
    assert not old.exists()
    (site / "CNAME").write_text("mine")
    assert "CNAME is not of the site" in cli("report", "--site", site, *words, "--force", code=ExitCode.OUTPUT).stderr
    assert (site / "CNAME").exists()
    mine.mkdir()
    (mine / "letter.txt").write_text("mine")
    assert "is no site" in cli("report", "--site", mine, *words, "--force", code=ExitCode.OUTPUT).stderr
    assert (mine / "letter.txt").exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mine", "site"], "nothing unfinished is left"
    for others in (("--index",), ("-o", "x.html"), ("--chat", "all")):
        cli("report", "--site", tmp_path / "x", *others, code=ExitCode.USAGE)
    cli("report", "--index", "--pseudonyms", code=ExitCode.USAGE)
    assert "no address" in cli("report", "--site", tmp_path / "x", "--base-url", "me", code=ExitCode.OUTPUT).stderr


@pytest.mark.needs("chromium")
def test_it_opens_from_the_disk_and_searches_without_requests(folder: Path, browser: Browser) -> None:
    page = browser.new_page()
    page.set_default_timeout(120_000)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto((folder / "index.html").as_uri())
    page.get_by_label("Show only games with these words").fill("helmsman b")
    expect(page.locator("#count")).to_have_text("1 of 19 games")
    page.locator("#rows a").first.click()
    page.wait_for_url("**/games/6af87f9e*")
    page.keyboard.press("End")
    assert page.locator("button.mv[aria-current] .san").inner_text() == "Rxc3"
    page.get_by_role("link", name="Helmsman", exact=True).first.click()
    expect(page.locator("#count")).to_have_text("1 of 19 games")
    assert all(url.startswith(("file:", "data:")) for url in asked)
    found = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
    assert [one["id"] for one in found if one["impact"] in ("serious", "critical")] == []
    page.close()
