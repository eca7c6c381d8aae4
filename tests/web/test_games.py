"""The list of games: filters, order, pages, files, and what a reader sees when nothing is found or understood."""

import json
import re
import sqlite3
from contextlib import closing
from html import unescape
from pathlib import Path
from urllib.parse import parse_qs, quote, urlsplit

import pytest
from starlette.testclient import TestClient

from recorder.archive.locate import open_archive
from recorder.web import answers
from recorder.web.listing import read_list
from recorder.web.server import Access
from storage import GameFilter
from storage.read.listing import SORTS, ListOrder
from storage.read.query import conditions_of
from tests.support.cli import Cli
from tests.support.site import HERE, HOSTILE, PRIVATE, client_of, make_archive


def keys(html: str) -> list[str]:
    return re.findall(r'class="row" href="/game/([0-9a-f]{20})', html)


def link(html: str, words: str) -> str | None:
    found = re.search(rf'<a href="([^"]*)"[^>]*>{re.escape(words)}</a>', html)
    return None if found is None else unescape(found[1])


def test_all_games_are_listed_newest_first_and_every_row_leads_to_its_game(site: TestClient) -> None:
    answer = site.get("/")
    assert answer.status_code == 200
    found = keys(answer.text)
    assert len(found) == 19
    assert "19 games" in answer.text
    assert answer.text.index("2022-12-31") < answer.text.index("2017-02-07")
    assert site.get(f"/game/{found[0]}.pgn").status_code == 200


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ("player=helmsman", 1),
        ("player=Helmsman&colour=white&outcome=loss", 1),
        ("player=Helmsman&colour=black", 0),
        ("player=Helmsman&outcome=win", 0),
        ("player=Helmsman&opponent=AntaresLight", 1),
        ("since=2022-01-01", 2),
        ("since=2022-01-01&until=2022-02-01&server=FICS+freechess.org", 1),
        ("time=180%2B0", 3),
        ("rating_from=2000&rating_to=2100", 1),
        ("plies_from=100", 1),
        ("plies_to=29&since=2000-01-01", 1),
        ("ending=resign&player=Helmsman", 1),
        ("ending=resign,agreed&since=2000-01-01", 2),
        ("lasts_to=1", 0),
        ("clock_below=60", 3),
        ("lead=9999", 0),
        ("speed=standard&plies_from=100", 1),
        ("clock_below=60&player=Helmsman", 0),
        ("happened=draw-offer", 1),
        ("happened=takeback", 0),
        ("result=*&player=" + quote(HOSTILE, safe=""), 1),
    ],
)
def test_filters_choose_games_and_are_in_the_form_and_the_address(site: TestClient, query: str, count: int) -> None:
    html = site.get(f"/?{query}").text
    assert len(keys(html)) == count
    assert f"{count} game{'' if count == 1 else 's'} <small>of 19" in html
    listed = read_list([(name, value) for name, (value,) in parse_qs(query).items()])
    assert parse_qs(listed.query()) == parse_qs(query)
    for _, value in listed.chosen:
        assert value in unescape(html)


@pytest.mark.parametrize(("query", "count"), [("lasts_from=10", 1), ("lasts_to=9", 1), ("lasts_from=2&lasts_to=9", 0)])
def test_games_are_found_by_how_long_they_lasted(archive: Path, tmp_path: Path, query: str, count: int) -> None:
    copy = tmp_path / "archive.sqlite"
    copy.write_bytes(archive.read_bytes())
    with closing(sqlite3.connect(copy)) as db, db:
        for player, seconds in (("Helmsman", 600), ("blore", 61)):
            db.execute("UPDATE games SET ended_at_ms = started_at_ms + ? WHERE white = ?", (1000 * seconds, player))
    assert len(keys(client_of(copy).get(f"/?{query}").text)) == count


def test_a_player_has_a_score_and_its_numbers_lead_to_their_games(site: TestClient) -> None:
    html = unescape(site.get("/?player=Helmsman&opponent=AntaresLight").text)
    assert "<bdi>Helmsman</bdi> against <bdi>AntaresLight</bdi>: <strong>0 of 1</strong>" in html
    assert link(html, "1 lost") == "/?player=Helmsman&opponent=AntaresLight&outcome=loss"
    assert "1 game <small>of 19" in site.get(str(link(html, "1 lost"))).text
    assert 'class="score"' not in site.get("/").text


def test_players_and_keys_are_looked_up_by_indexes(archive: Path) -> None:
    def plan_of(where: GameFilter) -> list[str]:
        text, values = conditions_of(where)
        query = f"EXPLAIN QUERY PLAN SELECT count(*) FROM games g WHERE {text}"
        with closing(sqlite3.connect(archive)) as db:
            return [row[3] for row in db.execute(query, values)]

    assert "MULTI-INDEX OR" in plan_of(GameFilter(players=frozenset({"Helmsman"})))
    plan = plan_of(GameFilter(keys=frozenset({"6a", "f7b6"})))
    assert "MULTI-INDEX OR" in plan
    assert {step.split()[4] for step in plan if step.startswith("SEARCH k")} == {"uq_games_key", "uq_games_merged_key"}
    assert not [step for step in plan if step.startswith(("SCAN g", "SCAN k", "SCAN w"))]


def test_no_results_are_no_error_and_an_error_is_no_empty_list(site: TestClient, archive: Path) -> None:
    nothing = site.get("/?player=Helmsman&result=*")
    assert nothing.status_code == 200
    assert "No game matches these filters." in nothing.text
    unknown = site.get("/?player=Helm")
    assert unknown.status_code == 200
    assert "No player Helm; did you mean Helmsman (1 game)?" in unknown.text
    assert "1 game" in site.get("/?player=hELM*").text
    for query, words in (
        ("since=yesterday", "yesterday' is not a date"),
        ("rating_from=many", "Both rated from: 'many' is not a whole number."),
        ("colour=red", "'red' is none of white, black."),
        ("sort=beauty", "'beauty' is none of date, white"),
        ("after=[1]", "The place in the list cannot be read"),
        ("after=" + "[" * 5000, "The place in the list cannot be read"),
        ("variant=blits", "unknown variant 'blits'"),
        ("player=" + "x" * 201, "more than 200 characters"),
    ):
        answer = site.get(f"/?{query}")
        assert (answer.status_code, words in unescape(answer.text)) == (400, True), query
        assert "No game matches" not in answer.text
    missing = client_of(archive)
    moved = archive.rename(archive.with_suffix(".moved"))
    try:
        answer = missing.get("/")
        assert (answer.status_code, "There is no archive" in answer.text) == (503, True)
    finally:
        moved.rename(archive)


def test_a_search_that_takes_too_long_is_said_to_be_stopped(site: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("storage.read.query._STEPS", 1)
    monkeypatch.setattr(answers, "SEARCH_S", -1.0)
    answer = site.get("/?player=Helmsman")
    assert answer.status_code == 503
    assert "Timed out" in answer.text
    assert "No game matches" not in answer.text


def test_empty_fields_of_the_form_leave_the_address(site: TestClient) -> None:
    answer = site.get("/?player=Ann&opponent=&since=&sort=-date")
    assert (answer.status_code, answer.headers["location"]) == (303, "/?player=Ann&sort=-date")


@pytest.mark.parametrize("by", sorted(SORTS))
@pytest.mark.parametrize("descending", [False, True])
def test_pages_follow_each_other_in_every_order(archive: Path, by: str, descending: bool) -> None:
    """Forwards and backwards, with equal and unknown values, every game comes once."""
    where, order = read_list([]).where, ListOrder(by, descending)
    with open_archive(str(archive)) as store:
        whole = store.list_games(where, order, 100)
        keys = [game.key for game in whole]
        assert len(set(keys)) == 19
        pages, after = [], None
        while page := store.list_games(where, order, 4, after=after):
            assert [game.of for game in page] == [None if after else 19] * len(page)
            pages.append([game.key for game in page])
            after = page[-1].place
        assert [key for page in pages for key in page] == keys
        assert [game.key for game in store.list_games(where, order, 4, before=whole[4].place)] == pages[0]
        assert [game.key for game in store.list_games(where, order, 3, before=whole[-1].place)] == keys[-4:-1]
        assert [store.rank_of(where, order, game.place) for game in whole] == list(range(19))
        assert store.place_of(whole[7].key, order) == whole[7].place
    values = [game.place.value for game in whole]
    known = [value for value in values if value is not None]
    assert values == [*sorted(known, reverse=descending), *[None] * (len(values) - len(known))]


def test_the_reader_turns_pages_by_links(site: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answers, "PAGE_GAMES", 8)
    first = site.get("/?sort=white").text
    assert link(first, "‹ Previous") is None
    second = site.get(link(first, "Next ›")).text
    third = site.get(link(second, "Next ›")).text
    assert link(third, "Next ›") is None
    assert [len(keys(page)) for page in (first, second, third)] == [8, 8, 3]
    assert len({*keys(first), *keys(second), *keys(third)}) == 19
    assert keys(site.get(link(third, "‹ Previous")).text) == keys(second)
    assert keys(site.get(link(second, "« First")).text) == keys(first)


def test_a_heading_sorts_and_sorts_the_other_way_round(site: TestClient) -> None:
    html = site.get("/?player=Helmsman").text
    assert 'aria-sort="descending"><a href="/?player=Helmsman&amp;sort=date">' in html
    assert 'href="/?player=Helmsman&amp;sort=-plies"' in html
    assert 'href="/?player=Helmsman&amp;sort=white"' in html
    assert 'aria-sort="ascending"' in site.get("/?sort=white").text


def test_the_games_of_a_list_are_files(site: TestClient) -> None:
    query = "since=2022-01-01"
    rows = site.get(f"/games.csv?{query}")
    assert rows.headers["content-disposition"] == 'attachment; filename="games.csv"'
    assert len(rows.text.splitlines()) == 3
    assert site.get(f"/games.pgn?{query}").text.count("[White ") == 2
    found = [json.loads(line) for line in site.get(f"/games.jsonl?{query}").text.splitlines()]
    assert {game["white"]["handle"] for game in found} == {"exeComp", "blore"}
    assert site.get("/games.exe").status_code == 404
    assert site.get("/games.csv?since=x").status_code == 400


def test_handles_are_completed(site: TestClient) -> None:
    assert site.get("/players.json?q=HELM").json() == ["Helmsman"]
    assert site.get("/players.json?q=").json() == []


@pytest.mark.long
def test_hostile_text_is_inert_and_unknown_is_a_dash(site: TestClient) -> None:
    html = site.get("/?player=" + quote(HOSTILE, safe="")).text
    assert "<script>alert" not in html
    assert "49" not in html.split("<table")[1].split("</table>")[0].replace(" 49", "")
    row = html.split("<tbody>")[1].split("</tr>")[0]
    assert row.count(">–<") >= 4  # date, both ratings, time control
    assert ">0<" not in row
    links = re.findall(r'href="([^"]*)"', row)
    players = {f"/player/{quote(name, safe='')}" for name in (HOSTILE, "../../?a=b#c")}
    assert {urlsplit(unescape(one)).path for one in links} == {f"/game/{keys(html)[0]}", *players}
    for player in players:
        assert site.get(player).status_code == 200


def test_the_archive_is_only_read(site: TestClient, archive: Path) -> None:
    before = archive.read_bytes()
    for path in ("/", "/?player=Helmsman", "/games.csv", "/players.json?q=a"):
        assert site.get(path).status_code == 200
        assert site.post(path).status_code in (404, 405)
    assert archive.read_bytes() == before
    assert sqlite3.connect(archive).execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_games_that_reached_a_position_and_the_moves_played_there(tmp_path: Path) -> None:
    archive = make_archive(tmp_path)
    site = client_of(archive)
    query = "moves=e4"
    unbuilt = site.get(f"/?{query}").text
    assert "Not searched: 19 games" in unbuilt
    assert "No game matches these filters." in unbuilt
    Cli(archive)("db", "positions", "--build")
    listed = site.get(f"/?{query}").text
    assert "Not searched" not in listed
    assert link(listed, "Explorer") == f"/explorer?{query}"
    page = site.get(f"/explorer?{query}").text
    assert f"{len(keys(listed))} games</a>" in page
    assert "King&#39;s Pawn Game (B00)" in page
    rows = re.findall(r'<th scope="row"><a href="([^"]*)">([^<]*)</a></th>.*?<a href="([^"]*)"[^>]*>(\d+)</a>', page)
    assert len(rows) >= 4
    for following, san, games, count in rows:
        assert len(keys(site.get(unescape(games)).text)) == int(count), san
        assert f"{int(count)} game" in site.get(unescape(following)).text
    narrowed = site.get(f"/explorer?{query}&result=1-0").text
    assert '<option value="1-0" selected>' in narrowed
    assert all(parse_qs(urlsplit(unescape(href)).query)["result"] == ["1-0"] for href, _ in re.findall(
        r'<th scope="row"><a href="([^"]*)">([^<]*)</a>', narrowed
    ))  # fmt: skip
    for path, words in (("/explorer?moves=e5", "'e5', is not legal"), ("/?next=e4", "give a position")):
        answer = site.get(path)
        assert (answer.status_code, words in unescape(answer.text)) == (400, True)


def test_forms_offer_every_server_and_log_with_its_name(tmp_path: Path) -> None:
    archive = make_archive(tmp_path)
    private, public = (
        unescape(client_of(archive, access).get("/").text) for access in (PRIVATE, Access(hosts=HERE, private=False))
    )
    assert '<option value="FICS freechess.org">FICS freechess.org<' in public
    (source,) = re.findall(r'<option value="([0-9a-f]+)">ficsgames-variants-by-year\.pgn \(\1\)<', private)
    assert f'<option value="{source}">{source}<' in public
