"""``report --site``: pages that lead to each other, show what is for others, and are replaced only on request."""

import re
from html import unescape
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, expect

from exporters.report.game_list import FileSite, player_file
from recorder import Archive
from recorder.archive.locate import open_archive
from recorder.archive.pages import player_pages
from recorder.archive.pages.player_pages import pages_of_players, players_of_games
from recorder.errors import ExitCode
from storage import GameFilter
from storage.read.listing import ListOrder
from tests.support.cli import Cli
from tests.support.site import HOSTILE

HANDLES = (
    HOSTILE, "../../index", "CON", "nul.html", "a/b\\c:d*e?f|g", "player=x&outcome=win#y", "Z" * 120,
    "\u202eevil\u00e9", ".",
)  # fmt: skip
"""Handles that must harm neither a page nor a file; each plays two games."""
REAL = "Zanzibarovich"
_GAME = """[Event "x"]
[Site "FICS"]
[White "{white}"]
[Black "{black}"]
[WhiteElo "{elo}"]
[Result "{result}"]
[TimeControl "180+2"]

1. e4 {{[%clk 0:02:5{n}]}} c5 {{[%clk 0:02:50]}} 2. Nf3 {{[%clk 0:02:4{n}]}} d6 {{[%clk 0:02:40]}} {result}

"""


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An archive in which each of ``HANDLES`` won a game with White and lost one with Black against ``REAL``."""
    folder = tmp_path_factory.mktemp("hostile")
    games = []
    for n, handle in enumerate(HANDLES):
        quoted = handle.replace("\\", "\\\\").replace('"', '\\"')
        games.append(_GAME.format(white=quoted, black=REAL, elo=1500 + n, result="1-0", n=n))
        games.append(_GAME.format(white=REAL, black=quoted, elo=1600 - n, result="1-0", n=n))
    (folder / "games.pgn").write_text("".join(games), encoding="utf-8")
    Cli(folder / "archive.sqlite")("import", folder / "games.pgn")
    return folder / "archive.sqlite"


@pytest.fixture(scope="module")
def hostile_site(hostile: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hostile-site") / "site"
    assert (
        f"Wrote pages of 18 games and {len(HANDLES) + 1} players, " in Cli(hostile)("report", "--site", folder).stderr
    )
    return folder


@pytest.fixture(scope="module")
def folder(archive: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("static") / "site"
    said = Cli(archive)("report", "--site", folder, "--base-url", "https://example.org/games").stderr
    assert "Wrote pages of 19 games and 4 players, " in said
    return folder


def test_every_address_of_every_page_is_a_page(folder: Path) -> None:
    pages = sorted(folder.rglob("*.html"))
    assert len(list((folder / "games").glob("*.html"))) == 19
    assert len(list((folder / "players").iterdir())) == 4
    for page in pages:
        html = page.read_text(encoding="utf-8")
        assert "script-src 'self'" in unescape(html) or "script-src 'none'" in unescape(html)
        for href in re.findall(r'(?:href|src)="([^"#][^"]*)"', html):
            if not href.startswith("data:"):
                file = (page.parent / re.split("[?#]", unescape(href))[0]).resolve()
                assert file in pages or (file.is_file() and file.parent == folder / "assets"), (page, href)


def test_the_sitemap_lists_the_pages(folder: Path) -> None:
    listed = re.findall(r"<loc>https://example\.org/games/([^<]*)</loc>", (folder / "sitemap.xml").read_text())
    assert sorted(folder / name for name in listed) == sorted(folder.rglob("*.html"))


def test_each_page_of_a_game_names_its_picture_for_previews(folder: Path) -> None:
    for page in (folder / "games").glob("*.html"):
        html = page.read_text(encoding="utf-8")
        (address,) = re.findall(r'<meta property="og:image" content="https://example\.org/games/([^"]*)">', html)
        assert (folder / address).read_bytes().startswith(b"\x89PNG")
        assert page.with_suffix(".png") == folder / address
    assert "og:image" not in (folder / "index.html").read_text(encoding="utf-8")


def test_pseudonyms_filters_and_chat(archive: Path, tmp_path: Path) -> None:
    cli = Cli(archive)
    cli("report", "--site", tmp_path / "site", "--since", "2017-01-01", "--pseudonyms", "--chat", "none")
    texts = [page.read_text(encoding="utf-8") for page in (tmp_path / "site").rglob("*.html")]
    assert len(texts) == 4
    assert not any("helmsman" in text.lower() or "slaran" in text.lower() for text in texts)
    assert not (tmp_path / "site" / "sitemap.xml").exists()
    wrong = ("report", "--site", tmp_path / "other", "--player", "Helmsman", "--pseudonyms")
    assert "Handles and keys cannot choose games together with pseudonyms" in cli(*wrong, code=ExitCode.OUTPUT).stderr


def test_players_have_pages_and_games_lead_to_them(folder: Path) -> None:
    names = {path.name.rpartition("-")[0]: path for path in (folder / "players").iterdir()}
    assert sorted(names) == ["anderssen", "morphy", "steinitz", "zukertort"]
    page = names["morphy"].read_text(encoding="utf-8")
    for heading in ("Time left", "The moves that took longest", "Openings", "Opponents", "Games"):
        assert f">{heading}</" in page
    games = [path.read_text(encoding="utf-8") for path in (folder / "games").glob("*.html")]
    of_morphy = [html for html in games if f'href="../players/{names["morphy"].name}"' in html]
    assert of_morphy
    assert "All games, the newest first</caption>" in page
    assert len(re.findall(r'<th scope="row"><a href="\.\./games/', page)) == len(of_morphy)
    index = (folder / "index.html").read_text(encoding="utf-8")
    assert f'href="players/{names["morphy"].name}"' in index


@pytest.mark.long
def test_a_page_is_the_same_with_whom_it_is_made_and_about_the_newest_games(
    hostile: Path, hostile_site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_archive(str(hostile), read_only=True) as store:
        players = players_of_games(store, GameFilter())
        keys = frozenset(path.stem for path in (hostile_site / "games").iterdir())
        site = FileSite(keys, {(one.handle.lower(), one.server): one.file for one in players})
        for one, html in pages_of_players(store, players[:2], site):
            assert html == (hostile_site / "players" / one.file).read_bytes()
        monkeypatch.setattr(player_pages, "PLAYER_GAMES", 17)
        (frequent,) = (one for one in players_of_games(store, GameFilter()) if one.handle == REAL)
        assert (len(frequent.games), frequent.older) == (17, 1)


def test_last_chooses_the_same_games_for_the_index_and_for_players(tmp_path: Path) -> None:
    cli = Cli(tmp_path / "archive.sqlite")
    for n, white in enumerate("ABCD"):  # undated, so that they are ordered by their files
        (tmp_path / f"{n}.pgn").write_text(_GAME.format(white=white, black=REAL, elo=1500, result="1-0", n=n))
        cli("import", tmp_path / f"{n}.pgn")
    with open_archive(str(tmp_path / "archive.sqlite"), read_only=True) as store:
        for last in (2, 3):
            chosen = GameFilter(last=last)
            listed = {game.place.row_id for game in store.list_games(chosen, ListOrder("date", descending=True), 9)}
            (player,) = players_of_games(store, chosen)
            assert {row_id for _, row_id, _ in player.games} == listed


@pytest.mark.long
def test_a_number_that_excludes_games_of_its_list_has_no_link(tmp_path: Path) -> None:
    cli = Cli(tmp_path / "archive.sqlite")
    timed = [_GAME.format(white="A", black=black, elo=1500, result="1-0", n=n) for n, black in enumerate("BBCC")]
    timed[-1] = re.sub(r" \{[^}]*\}", "", timed[-1])
    (tmp_path / "games.pgn").write_text("".join(timed))
    cli("import", tmp_path / "games.pgn")
    cli("report", "--site", tmp_path / "site")
    pages = {path.name[0]: path.read_text(encoding="utf-8") for path in (tmp_path / "site" / "players").iterdir()}
    for name, games in (("a", "<td>3<td>"), ("b", ">2</a><td>"), ("c", "<td>1<td>")):
        table = pages[name].partition("<caption>Results by time control")[2].partition("</table>")[0]
        assert games in table
        assert ("<a " in table) is (name == "b")


def test_hostile_handles_are_inert_in_names_and_pages(hostile_site: Path) -> None:
    names = [path.name for path in (hostile_site / "players").iterdir()]
    assert len({name.lower() for name in names}) == len(HANDLES) + 1
    assert all(re.fullmatch(r"[a-z0-9-]{1,32}-[0-9a-f]{16}\.html", name) for name in names)
    assert sorted(path.name for path in hostile_site.parent.iterdir()) == ["site"]
    for page in hostile_site.rglob("*.html"):
        html = page.read_text(encoding="utf-8")
        assert "<script>alert" not in html
        assert "\u202e" not in html


@pytest.mark.long
def test_no_handle_is_in_a_name_or_a_page_with_pseudonyms(hostile: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    said = Cli(hostile)("report", "--site", site, "--last", 6, "--pseudonyms", "--chat", "none").stderr
    assert "pages of 6 games and 4 players, " in said
    words = (REAL.lower(), "alert(1)", "zzzz", "evil", "nul.html", "outcome=win#y")
    for page in site.rglob("*.html"):
        text = f"{page.relative_to(site)} {page.read_text(encoding='utf-8')}".lower()
        assert not [word for word in words if word in text], page
    (server,) = Archive(hostile).game_table()["server"].astype(object).unique()
    assert not {player_file(one, server) for one in (*HANDLES, REAL)} & {path.name for path in site.rglob("*.html")}


def test_a_folder_is_replaced_only_on_request(archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(player_pages, "pages_of_players", lambda archive, players, site: ())  # they take seconds
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


@pytest.mark.long
@pytest.mark.needs("chromium")
def test_numbers_of_a_player_lead_to_exactly_the_games_behind_them(hostile_site: Path, browser: Browser) -> None:
    page = browser.new_page()
    wrong: list[str] = []
    page.on("console", lambda message: wrong.append(message.text))
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("dialog", lambda dialog: wrong.append(dialog.message))
    page.on(
        "request", lambda request: None if request.url.startswith(("file:", "data:")) else wrong.append(request.url)
    )
    for path in sorted((hostile_site / "players").iterdir()):
        html = path.read_text(encoding="utf-8")
        links = re.findall(r'<a href="\.\./(index\.html#[^"]*)">([0-9]+)</a>', html)
        assert len(links) >= 8
        for href, number in dict(links[:12]).items():
            page.goto(f"{hostile_site.as_uri()}/{unescape(href)}")
            whole = f"{number} of 18 games"
            expect(page.locator("#count")).to_have_text(whole, timeout=10_000)
        page.goto(path.as_uri())
    page.locator("#opponents > summary").click()
    page.locator("#opponents a").first.click()
    page.get_by_role("link", name="All games", exact=True).or_(page.locator("h1")).first.wait_for()
    assert wrong == []
    page.close()


@pytest.mark.long
@pytest.mark.needs("chromium")
def test_a_player_is_read_without_a_script_and_by_everybody(folder: Path, browser: Browser) -> None:
    context = browser.new_context(java_script_enabled=False, viewport={"width": 390, "height": 700})
    page = context.new_page()
    page.goto((folder / "index.html").as_uri())
    page.get_by_role("link", name="Morphy", exact=True).first.click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Morphy")
    page.locator("#games > summary").click()
    page.locator("#games tbody th a").first.click()
    expect(page.get_by_role("link", name="Morphy", exact=True).first).to_be_visible()
    context.close()
    page = browser.new_page()
    page.goto(next((folder / "players").iterdir()).as_uri())
    found = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
    assert [one["id"] for one in found if one["impact"] in ("serious", "critical")] == []
    page.close()
