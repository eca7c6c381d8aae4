"""The pages about a player and about an archive: whom they are about, what they tell, that nothing harms there."""

import re
from itertools import accumulate
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pytest
from playwright.sync_api import ViewportSize

from exporters.measures import definitions
from exporters.measures import functions as measures
from exporters.measures.program import run_each
from exporters.measures.source import Plies
from exporters.report.game import game_report
from exporters.report.index import index_report
from exporters.report.pictures import rating_panels
from exporters.report.player import _opponents, player_values, render_player
from recorder import Archive
from recorder.archive.pages.reports import boards_of
from recorder.web.links import WebSite
from storage import ArchiveStore as Storage
from tests.exporters.test_report import HOSTILE, Page
from tests.support.browsing import Open
from tests.support.cli import GUESTS, SERVER, WATCHER, Cli
from tests.support.evaluated import PGN
from tests.support.tables import records

ADA = SERVER / "a11_adjourn_disconnect" / "observer_GuestAda.raw"
"""Six short games, three of them with guests."""


@pytest.fixture(scope="module")
def cli(tmp_path_factory: pytest.TempPathFactory) -> Cli:
    cli = Cli(tmp_path_factory.mktemp("pages") / "archive.sqlite")
    cli("import", WATCHER, GUESTS, ADA)
    return cli


@pytest.fixture(scope="module")
def archive(cli: Cli) -> Archive:
    return Archive(cli.archive)


@pytest.fixture(scope="module")
def handle(archive: Archive) -> str:
    """The registered player with the most games."""
    sides = archive.sides()
    return str(sides[~sides["player_guest"].fillna(False)]["player"].astype("string").mode()[0])


@pytest.fixture(scope="module")
def page(cli: Cli, handle: str, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    out = tmp_path_factory.mktemp("page") / "player.html"
    message = cli("report", "--player", handle.upper(), "-o", out).stderr
    assert f"games of {handle}, " in message
    assert f"to {out}." in message
    assert "--force" in cli("report", "--index", "-o", out, code=5).stderr
    return out.read_bytes()


# --- whom it is about


GAME = """[Event "{event}"]
[Site "{site}"]
[White "{white}"]
[Black "{black}"]
[Result "1-0"]
[TimeControl "300+0"]

1. e4 {{[%clk 0:04:5{n}]}} e5 {{[%clk 0:04:50]}} 2. Nf3 {{[%clk 0:04:4{n}]}} Nc6 {{[%clk 0:04:40]}} 1-0

"""


@pytest.fixture
def many_servers(tmp_path: Path) -> Cli:
    """Ann's games on a known server and on none, and games of two guests of one handle."""
    games = (("FICS rated blitz", "FICS", "Ann", "Bob"), ("x", "?", "Ann", "Cid"), ("x", "?", "Dora", "ANN"),
             ("x", "FICS", "GuestABCD", "Ann"), ("y", "FICS", "GuestABCD", "Eve"))  # fmt: skip
    saved = tmp_path / "games.pgn"
    saved.write_text("".join(
        GAME.format(event=event, site=site, white=white, black=black, n=number)
        for number, (event, site, white, black) in enumerate(games)
    ))  # fmt: skip
    cli = Cli(tmp_path / "archive.sqlite")
    cli("import", saved)
    return cli


def test_the_command_names_what_is_counted_together_and_what_is_excluded(
    many_servers: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("exporters.report.player.render_player", lambda *_, **__: b"")  # only messages are read

    def message_of(*words: str, code: int = 0) -> str:
        return many_servers("report", *words, "-o", tmp_path / "page.html", "--force", code=code).stderr

    sites = [game["server"] for game in many_servers.json("games", "--json", "--player", "Ann")]
    named = next(site for site in sites if site is not None)
    assert sites.count(None) == 2
    assert "Wrote the report of 4 games of A" in (message := message_of("--player", "ann"))
    assert f"Combined: 2 on {named}, 2 on unknown; --server NAME (or unknown) chooses one." in message
    assert "Wrote the report of 2 games of A" in (message := message_of("--player", "ann", "--server", "unknown"))
    assert "Excluded: 2 on other servers." in message
    assert len(many_servers.json("games", "--json", "--server", "UNKNOWN")) == 2
    assert "GuestABCD is the handle of 2 guests" in message_of("--player", "GuestABCD", code=5)
    for words in (("plot", "curve", "-o", tmp_path / "curve.svg"), ("clocks", "--table", "time-left")):
        assert "2 guests" in many_servers(*words, "--player", "guestabcd", code=5).stderr
    by_player = many_servers.json("clocks", "--table", "usage", "--by", "player", "--player", "guestabcd", "--json")
    assert len(by_player["rows"]) <= 2


def test_opponents_of_one_handle_on_several_servers_are_distinguished() -> None:
    rows = pd.DataFrame(
        [("Bob", "x", "x/bob"), ("bob", None, "?/bob"), ("Cid", "x", "x/cid")],
        columns=["opponent", "server", "opponent_id"],
    ).assign(opponent_guest=False, opponent_computer=False, score=1.0)
    table = _opponents(records(rows), None, {})
    assert [row[0] for row in table.rows] == ["bob (server unknown)", "Bob (x)", "Cid"]


# --- many players at once


@pytest.mark.parametrize(
    ("name", "by"), [("profile", ("time_control",)), ("time_left", ()), ("clock_lead", ()), ("lag", ())]
)
def test_a_measure_of_many_players_is_that_of_each(archive: Archive, name: str, by: tuple[str, ...]) -> None:
    plies = archive.plies()
    players = list(plies["mover_id"].astype("string").value_counts().index[:3])
    program = getattr(definitions, name)(by=("mover_id", *by))
    found = run_each(program, Plies.of(plies), [*players, "absent"])
    for player in players:
        alone = getattr(measures, name)(plies[plies["mover_id"] == player], by=by)
        assert found[player].records() == records(alone)
        assert found[player].attrs == alone.attrs
    assert found["absent"].rows == []
    assert not found["absent"].attrs["plies"]


def test_ratings_are_a_line_for_each_kind_of_game() -> None:
    sides: list[dict[str, Any]] = [
        {"category": kind, "variant": "chess", "player_rating": rating, "day": "2020-01-01"}
        for kind, rating in (("blitz", 1500), ("standard", 1700), ("blitz", 1623), (None, 1400), ("blitz", None))
    ]
    (curve,) = rating_panels(sides)
    assert curve.key == [("white", "blitz: 1500 to 1623, 1623 in the last of 2 games")]
    assert curve.note == "2 kinds of games with fewer ratings not shown."
    assert curve.svg.count('class="line') == 1
    assert ">1500</text>" in curve.svg
    assert not list(rating_panels(sides[:2]))
    (undated,) = rating_panels([*sides, {**sides[0], "player_rating": 900, "day": None}])
    assert (undated.svg, undated.key) == (curve.svg, curve.key)
    assert undated.note == f"{curve.note} 1 game without a date not shown."
    scales: dict[str, float] = {}
    others = [{**row, "player_rating": row["player_rating"] and row["player_rating"] - 400} for row in sides]
    drawn = [panel for _ in range(2) for one in (sides, others) for panel in rating_panels(one, scales)][2:]
    assert all(">1200</text>" in one.svg and ">1600</text>" in one.svg for one in drawn)


def test_a_rating_curve_of_many_games_keeps_its_extremes() -> None:
    row = {"category": "blitz", "variant": "chess", "day": "2020-01-01"}
    ratings = [1500 + n % 7 for n in range(50_000)]
    ratings[12_345], ratings[34_567] = 1400, 1650
    (curve,) = rating_panels([{**row, "player_rating": rating} for rating in ratings])
    (line,) = re.findall('class="line white" d="M[0-9.]+ ([^"]*)"', curve.svg)
    steps = re.findall(r"[lh][0-9.]+ ?(-?[0-9]+)?", line)
    assert 250 < len(steps) < 1000
    assert curve.note.startswith(f"{len(steps) + 1:,} of 50,000 ratings are drawn")
    assert [words for _, words in curve.key] == ["blitz: 1400 to 1650, 1505 in the last of 50,000 games"]
    heights = list(
        accumulate((int(step or 0) for step in steps), initial=int(line.partition("l")[0].partition("h")[0]))
    )
    assert (min(heights), max(heights)) == (20, 190)  # from the highest rating to the lowest


# --- words


# --- what a player's page tells


def test_the_page_has_tables_with_captions_and_pictures_with_words(page: bytes) -> None:
    parsed = Page(page)
    tables = sum(tag == "table" for tag, _ in parsed.elements)
    assert tables >= 8
    assert sum(tag == "caption" for tag, _ in parsed.elements) == tables
    charts = [attributes for tag, attributes in parsed.elements if attributes.get("class") == "chart"]
    assert charts
    assert sum(tag == "ul" and attributes.get("class") == "bars" for tag, attributes in parsed.elements) >= 2
    assert all(re.search(r"\d+ (lost )?games?|[\d,]+ openings?|Ratings", chart["aria-label"] or "") for chart in charts)
    assert b"<p>No data" not in page  # tables without rows are one line at the end
    heads = [attributes for tag, attributes in parsed.elements if tag == "th"]
    assert {head.get("scope") for head in heads} == {"col", "row", None}  # the first cell of a row needs none
    targets = {attributes["id"] for _, attributes in parsed.elements if attributes.get("id")}
    links = [attributes["href"] or "" for tag, attributes in parsed.elements if tag in ("a", "use")]
    assert links
    assert {link.removeprefix("#") for link in links} <= targets


def test_its_figures_are_those_of_the_measures(archive: Archive, handle: str, page: bytes) -> None:
    text = Page(page).text
    plies, sides = archive.plies(player=handle), archive.sides(player=handle)
    own = plies[plies["mover"] == handle]
    mine = sides[sides["player"] == handle]
    assert f"{len(mine):,}, with {len(own):,} moves of this player" in text
    for row in measures.longest_thinks(own, 3).to_dict("records"):
        dots = "." if row["side"] == "white" else "…"
        assert f"{row['move_no']}{dots} {row['san']}" in text
        assert row["key"][:8] in text
    assert "excluded: " in text or "nothing excluded" in text
    for key in mine["key"]:
        assert key[:8] in text


@pytest.mark.long
def test_whole_seconds_stay_whole(archive: Archive) -> None:
    sides = archive.sides()
    coarse = archive.plies()
    coarse = coarse[coarse["precision"] == "seconds"]
    name = str(coarse["mover"].astype("string").mode()[0])
    own = sides[sides["key"].isin(coarse["key"])]
    text = Page(player_report(coarse, records(own), player=name)).text
    tables = text.partition("Results by time control")[2].partition("Do the clocks")[0]
    assert "in whole seconds only" in tables
    assert not re.search(r"\d:\d\d\.\d\d", tables), "means have tenths, and nothing is finer"


def player_report(plies: pd.DataFrame, sides: Any, **about: Any) -> bytes:
    return render_player(player_values(plies, sides, **about), about.get("site"))


def hostile(frame: pd.DataFrame) -> pd.DataFrame:
    """Every word that strangers write, made hostile."""
    made = frame.copy()
    for name in ("player", "opponent", "white", "black", "mover", "category", "server", "variant", "termination"):
        if name in made:
            made[name] = made[name].cat.rename_categories(lambda word: f"{word}{HOSTILE}")
    return made


@pytest.fixture(scope="module")
def hostile_pages(cli: Cli, archive: Archive, handle: str) -> list[bytes]:
    return [hostile_player(archive, handle), hostile_index(archive, cli.archive)]


def hostile_player(archive: Archive, player: str) -> bytes:
    plies, sides = hostile(archive.plies(player=player)), hostile(archive.sides(player=player))
    plies["mover_id"] = plies["mover_id"].astype("string")
    return player_report(
        plies,
        records(sides),
        player=f"{player}{HOSTILE}",
        excluded={HOSTILE: 1},
        site=WebSite(),
        filters={"player": HOSTILE},
    )


def hostile_index(archive: Archive, storage: Path) -> bytes:
    with Storage.open(str(storage), read_only=True) as opened:
        sources = opened.sources()
    for source in sources:
        source.__dict__["name"] = f"/home/ann/{HOSTILE}"
    return index_of(hostile(archive.game_table()), sources, excluded={HOSTILE: 2})


def index_of(games: pd.DataFrame, *arguments: Any, **named: Any) -> bytes:
    connection = duckdb.connect()
    connection.register("games", games.assign(place=range(len(games))))

    def query(statement: str) -> list[dict[str, Any]]:
        found = connection.execute(statement)
        names = [name for name, *_ in found.description or ()]
        return [dict(zip(names, row, strict=True)) for row in found.fetchall()]

    return index_report(query, *arguments, **named)


def assert_inert(page: bytes, scripts: int) -> None:
    parsed = Page(page)
    assert "img" not in {tag for tag, _ in parsed.elements}
    assert len(parsed.inner["script"]) == scripts
    for _, attributes in parsed.elements:
        assert not [name for name in attributes if name.startswith("on") or name in ("style", "srcdoc", "action")]
    assert not set(page.decode()) & set("\u202e\u2066\x1b")
    assert "window.harmed=1</script>" in parsed.text


def test_hostile_words_become_text(hostile_pages: list[bytes]) -> None:
    for page, scripts in zip(hostile_pages, (0, 1), strict=True):
        assert_inert(page, scripts)


# --- what the index tells


def test_the_index_has_all_games_players_and_logs(cli: Cli, archive: Archive) -> None:
    parsed = Page(cli("report", "--index", "-o", "-").stdout_bytes)
    games = archive.game_table()
    for key in games["key"]:
        assert key[:8] in parsed.text
    assert "All games, the newest first" in parsed.text
    for name in (WATCHER.name, GUESTS.name):
        assert name in parsed.text
    assert str(WATCHER.parent) not in parsed.text
    guests = int(archive.sides()["player_guest"].fillna(False).sum())
    assert f"{guests} sides played by guests, counted together" in parsed.text
    assert "guests, together" in parsed.text


def test_the_index_lists_as_many_as_were_asked_for(archive: Archive) -> None:
    games = archive.game_table()
    parsed = Page(index_of(games, most=3))
    assert f"The newest 3 of {len(games)} games" in parsed.text
    dated, undated = games[games["day"].notna()], games[games["day"].isna()]
    newest = [*dated["key"][::-1], *undated["key"]][:3]
    assert [place for key in newest if (place := parsed.text.find(key[:8])) > 0] == sorted(
        parsed.text.find(key[:8]) for key in newest
    )
    assert not [key for key in games["key"] if key not in newest and key[:8] in parsed.text]
    assert index_of(games, most=3) == index_of(games, most=3)


# --- the command


def test_a_player_page_runs_nothing(page: bytes) -> None:
    assert "script" not in {tag for tag, _ in Page(page).elements}
    assert "runs no script" in Page(page).text
    assert b"script-src 'none'" in page


@pytest.mark.long
def test_the_same_archive_gives_the_same_bytes(cli: Cli, archive: Archive, handle: str, page: bytes) -> None:
    """The command, which was given the handle in capitals, and the function."""
    plies, sides = archive.plies(player=handle), records(archive.sides(player=handle))
    with Storage.open(str(cli.archive), read_only=True) as storage:
        assert player_report(plies, sides, player=handle, boards=boards_of(storage)) == page


def test_the_command_counts_what_the_index_excludes(cli: Cli, tmp_path: Path) -> None:
    index = tmp_path / "index.html"
    assert "the index of 1 game, " in cli("report", "--index", "--last", 1, "-o", index).stderr
    assert "older than the newest 1" in Page(index.read_bytes()).text


def test_the_command_says_what_it_cannot(cli: Cli, archive: Archive, handle: str) -> None:
    assert "--index" in cli("report", code=2).stderr
    assert "--index" in cli("report", "last", "last~1", code=2).stderr
    assert "--index" in cli("report", "last", "--rated", code=2).stderr
    assert "once" in cli("report", "--player", "a", "--player", "b", "-o", "x.html", code=2).stderr
    assert "no player Zoe." in cli("report", "--player", "Zoe", "-o", "x.html", code=1).stderr
    assert "No games match these filters" in cli("report", "--index", "--since", "2999-01-01", code=1).stderr
    sides = archive.sides()
    counted = sides[sides["player_guest"].fillna(False)]["player"].astype("string").value_counts()
    assert "guests, maybe of several people" in cli("report", "--player", counted.index[0], code=5).stderr


# --- in Chromium


@pytest.mark.needs("chromium")
@pytest.mark.parametrize("width", [320, 1280])
def test_pages_scroll_in_one_direction_and_nothing_runs(
    opened: Open, page: bytes, hostile_pages: list[bytes], width: int
) -> None:
    for written in (page, *hostile_pages):
        shown = opened(written, viewport=ViewportSize(width=width, height=760))
        assert shown.evaluate("document.documentElement.scrollWidth") <= width
        assert shown.evaluate("window.harmed") is None
        assert shown.locator("img").count() == 0
        assert shown.locator("table, .chart").first.is_visible()


@pytest.mark.needs("chromium")
def test_a_player_page_leads_to_its_parts_and_follows_the_theme(opened: Open, page: bytes) -> None:
    shown = opened(page, scripts=False)
    assert shown.locator("#games table").is_hidden()
    shown.locator("summary", has_text="Games").last.click()
    assert shown.locator("#games table").is_visible()
    shown.locator("summary", has_text="Games").last.click()
    assert shown.locator("#thinks svg.board").count() == shown.locator("#thinks li").count() > 3
    assert shown.evaluate("document.documentElement.scrollHeight") <= 2500
    assert shown.locator("svg.chart, ul.bars").count() >= 3
    light = shown.locator("svg.chart").first.screenshot()
    shown.emulate_media(color_scheme="dark", media="screen")
    assert shown.locator("svg.chart").first.screenshot() != light
    shown.emulate_media(media="print")
    assert shown.evaluate("document.querySelector('#games table').getClientRects().length") > 0


@pytest.mark.needs("chromium")
def test_the_index_is_filtered_by_words(opened: Open, cli: Cli) -> None:
    shown = opened(cli("report", "--index", "-o", "-").stdout_bytes)
    rows = shown.locator("table.games tbody tr:visible")
    every = rows.count()
    first = rows.first.locator("code").inner_text()
    shown.get_by_label("Show only games with these words").fill(f"  {first.upper()} ")
    shown.clock.run_for(1_000)  # it waits for the end of a word
    shown.locator("#found", has_text="1 of").wait_for()
    assert rows.count() == 1
    assert shown.locator("#found").inner_text() == f"1 of {every} games"
    shown.keyboard.press("Escape")
    shown.clock.run_for(1_000)
    assert rows.count() == every
    assert shown.locator("#found").inner_text() == ""


@pytest.mark.needs("chromium")
def test_without_a_script_the_index_has_all_games_in_one_line_each(opened: Open, cli: Cli) -> None:
    page = cli("report", "--index", "-o", "-").stdout_bytes
    shown = opened(page, viewport=ViewportSize(width=390, height=760), scripts=False)
    assert shown.locator(".filter").is_hidden()
    assert shown.locator("table.games tbody tr").count() > 10
    words = shown.locator("table.games bdi").evaluate_all("all => all.map(one => one.offsetHeight)")
    assert len(set(words)) == 1, "the list scrolls, also on a phone: no game needs two lines"


@pytest.mark.long
def test_blunders_in_time_trouble_have_a_section_where_moves_are_evaluated(tmp_path: Path, page: bytes) -> None:
    """The figures are computed by hand in tests/tables/measures/test_losses.py."""
    (tmp_path / "evaluated.pgn").write_bytes(PGN)
    cli = Cli(tmp_path / "archive.sqlite")
    cli("import", tmp_path / "evaluated.pgn")
    plies, sides = Archive(cli.archive).plies(), Archive(cli.archive).sides()
    words = " ".join(Page(player_report(plies, records(sides), player="Ann")).text.split())
    assert "enough 2 1 0 0 0.0% 0.40 little 3 1 0 2 66.7% 7.53" in words
    assert "below 5 s 2 0 0 2 100.0% 11.00" in words
    assert "No data: Time left after moves 10, 20, 30 and 40 (excluded: 6 plies (other moves)); " in words
    assert "Blunders" not in Page(page).text
    with Storage.open(str(cli.archive), read_only=True) as storage:
        drawn = Page(game_report(storage.game("last")))
    named = [dict(attributes).get("aria-label", "") for _, attributes in drawn.elements]
    assert "Evaluation" in named
