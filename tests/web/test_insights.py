"""Insights: the numbers are those of the measure in Python, and lead to exactly the games behind them."""

import re
from html import unescape
from typing import Any

import pytest
from starlette.testclient import TestClient

from exporters.measures.program import Measured
from exporters.measures.words import figure_text, group_columns, shown_names
from exporters.report.tables import cell_text
from recorder.archive.game_measures import MEASURES, GamesMeasure
from recorder.web.insights import python_code, read_insight
from recorder.web.listing import FIELDS, archive_filters, kind_of
from tests.support.effort import long_after
from tests.support.tables import records


def codes(html: str) -> list[str]:
    return [unescape(code) for code in re.findall(r'<pre class="code"[^>]*>(.*?)</pre>', html, re.DOTALL)]


def rows(html: str) -> list[list[str]]:
    """The texts of the table's cells that are no names of groups, without those of the last column."""
    body = html.partition("<tbody>")[2].partition("</tbody>")[0]
    cells = [[cell.strip() for cell in re.findall(r"<td>(?:<a [^>]*>)?([^<]*)", row)] for row in body.split("<tr>")[1:]]
    return [[unescape(cell) for cell in row] for row in cells]


def computed(code: str) -> Any:
    """The table of a program that a page shows."""
    names: dict[str, Any] = {"print": lambda table: None}
    exec(code, names)
    return names["table"]


def texts(table: Any, *, of_lag: bool) -> list[list[str]]:
    groups = group_columns(table.columns)
    names = [name for name in shown_names(table.columns) if name not in groups]
    return [[tenths(figure_text(name, row, of_lag=of_lag) or "–") for name in names] for row in records(table)]


def tenths(text: str) -> str:
    """A time in minutes, seconds and thousandths, rounded half up."""
    found = re.fullmatch(r"(-?)(.*):([0-9]{2})\.([0-9]{3})", text)
    if found is None:
        return text
    sign, minutes, seconds, thousandths = found.groups()
    rounded = (int(seconds) * 1000 + int(thousandths) + 50) // 100
    assert rounded < 600
    return f"{sign if rounded or minutes.strip('0:') else ''}{minutes}:{rounded // 10:02}.{rounded % 10}"


@pytest.mark.parametrize(
    "query",
    [
        *long_after(1, [f"measure={name}" for name in MEASURES]),
        *long_after(
            2,
            [
                "measure=usage&by=phase&player=helmsman",
                "measure=usage&by=player&player=Helmsman&outcome=loss&colour=white",
                "measure=profile&by=opponent&then=side&since=2000-01-01&rated=yes",
                "measure=usage&by=time-control&ending=resign&plies_from=20&plies_to=90&time=180%2B0",
                "measure=usage&by=clock-band&then=lag-band&rating_from=1500&rating_to=1600",
                "measure=scramble&player=Helmsman&outcome=loss",
                "measure=usage&by=event&then=hour",
                "measure=usage&by=phase&clock_below=60",
                "measure=usage&by=phase&first=yes",
                "measure=lead&first=yes",
            ],
        ),
    ],
)
def test_the_page_and_its_python_code_have_the_same_numbers(site: TestClient, query: str) -> None:
    answer = site.get(f"/insights?{query}")
    assert answer.status_code == 200, query
    (code,) = codes(answer.text)
    table = computed(code)
    assert rows(answer.text) == texts(table, of_lag="measure=lag" in query)
    assert len(table) or "No data: no move of these games" in answer.text


def test_first_moves_count_only_where_they_are_asked_for(site: TestClient) -> None:
    without, included = (site.get(f"/insights?measure=usage&by=phase{more}").text for more in ("", "&first=yes"))
    assert " first move" in without.partition("Plies excluded")[2]
    assert " first move" not in included.partition("<main")[2].partition("</form>")[2]
    assert 'name="first"' in without


def test_the_python_code_knows_every_filter_or_names_it(site: TestClient) -> None:
    for field in FIELDS:
        value = {"number": "1", "date": "2020-01-31"}.get(kind_of(field)) or next(iter(field.words), "A")
        given = {"player": "x"} if field.name in ("colour", "outcome") else {}
        assert archive_filters({**given, field.name: value}) != archive_filters(given) or field.name == "next"
    state = read_insight([("measure", "usage"), ("moves", "e4"), ("next", "e5")])
    code = python_code(state, state.listed, GamesMeasure(Measured([], [], [], {}, {}, ()), {}, None, []), "x.db")
    assert code.startswith("# recorder.Archive has no filter for: Move played there.")


@pytest.mark.parametrize(
    "query",
    long_after(
        3,
        [
            "measure=usage&by=phase&first=yes&player=Helmsman",
            "measure=time-left&by=server",
            "measure=lag&by=sealed&then=opponent",
            "measure=usage&by=time-control&then=variant",
            "measure=usage&by=rating-band&then=phase",
            "measure=profile",
            "measure=instant&by=clock-band",
            "measure=known-moves&by=side",
        ],
    ),
)
def test_numbers_of_games_lead_to_exactly_these_games(site: TestClient, query: str) -> None:
    html = site.get(f"/insights?{query}").text
    links = re.findall(r'<td><a href="(/\?[^"]*)">(\d+)</a>', html)
    assert len(links) == len(rows(html)) > 0
    for href, number in links[:3]:
        (found,) = re.findall(r'<h2 id="count">(\d+) game', site.get(unescape(href)).text)
        assert found == number or (int(found) <= int(number) and "time-left" in query), href  # sides of games


@pytest.mark.parametrize("more", ["", "&player=Helmsman&versus=AntaresLight"])
def test_bars_of_a_lead_lead_to_their_games(site: TestClient, more: str) -> None:
    html = site.get(f"/insights?measure=lead&by=time-control{more}").text
    bars = re.findall(r'<li><span class="label">.*?</li>', html)
    assert bars
    assert all('href="/?' in bar for bar in bars)
    (game,) = re.findall(r'href="(/\?[^"]*)"', bars[0])[:1]
    listed = site.get(unescape(game)).text
    assert re.search(r'<h2 id="count">[12] game', listed)
    assert re.search(r"<span>Insights</span> <bdi>lead: .* (ahead|behind).* at move [23]0</bdi>", listed)


@pytest.mark.parametrize(
    "group", ["x", "1", '["usage",["phase"],0,{}]', '["usage",["nothing"],false,{}]', "[[],[[]],true,[]]"]
)
def test_a_group_that_cannot_be_read_is_refused(site: TestClient, group: str) -> None:
    answer = site.get("/", params={"group": group})
    assert (answer.status_code, "is no group of games" in answer.text) == (400, True)


def test_a_group_without_a_row_has_no_games(site: TestClient) -> None:
    answer = site.get("/", params={"group": '["usage",["phase"],false,{"phase":"end"}]'})
    assert (answer.status_code, "No game matches" in answer.text) == (200, True)


def test_a_game_of_a_group_is_one_game(site: TestClient) -> None:
    (game,) = re.findall(r'<td><a href="(/game/[^"]*)">', site.get("/insights?measure=usage&by=game").text)[:1]
    assert site.get(f"{game}.pgn").status_code == 200


def test_each_row_states_what_it_excludes(site: TestClient) -> None:
    html = site.get("/insights?measure=instant&by=time-control").text
    assert re.search(r'<td class="word"><bdi>\d+ first move', html)
    assert "counted" in html
    assert re.search(r"n = \d+", html)


@pytest.mark.long
def test_two_players_are_compared(site: TestClient) -> None:
    html = site.get("/insights?measure=usage&by=phase&player=Helmsman&versus=AntaresLight").text
    first, second = (computed(code) for code in codes(html))
    assert sorted(rows(html)) == sorted(texts(first, of_lag=False) + texts(second, of_lag=False))
    assert 'class="s1"' in html
    alone = site.get("/insights?measure=usage&by=phase&player=Helmsman&versus=Ghost").text
    assert "Ghost: no game matches these filters." in alone


def test_what_cannot_be_computed_is_no_empty_table(site: TestClient) -> None:
    for query, words in (
        ("measure=beauty", "&#39;beauty&#39; is none of usage"),
        ("measure=usage&by=beauty", "Group by"),
        ("measure=usage&by=phase&then=phase", "both dimensions are the same"),
        ("measure=hours&by=hour", "hour does not go with hours"),
        ("measure=usage&versus=Helmsman", "choose the first player"),
        ("measure=usage&variant=blits", "unknown variant"),
        ("measure=usage&since=x", "is not a date"),
    ):
        answer = site.get(f"/insights?{query}")
        assert (answer.status_code, words in answer.text) == (400, True), query
    assert site.get("/insights").status_code == 200
    assert site.get("/insights?measure=usage&by=").headers["location"] == "/insights?measure=usage"
    nothing = site.get("/insights?measure=usage&player=Ghost")
    assert (nothing.status_code, "No results" in nothing.text) == (200, True)


def test_a_table_is_sorted_by_the_column_whose_heading_is_clicked(site: TestClient) -> None:
    html = site.get("/insights?measure=usage&by=player").text
    (more,) = re.findall(r'<a href="(/insights\?[^"]*sort=[^"]*)"[^>]*>Plies', html)
    plies = [int(row[1].replace(",", "")) for row in rows(site.get(unescape(more)).text)]
    assert plies == sorted(plies, reverse=True) or plies == sorted(plies)
    assert len(set(plies)) > 1


@pytest.mark.parametrize(
    ("ms", "precision", "text"),
    [
        (11_030, "seconds", "0:11.0"),
        (11_000, "seconds", "0:11"),
        (11_960, "milliseconds", "0:12.0"),
        (-11_030, "seconds", "-0:11.0"),
        (0, "milliseconds", "0:00.0"),
    ],
)
def test_a_time_is_whole_however_it_is_rounded(ms: int, precision: str, text: str) -> None:
    assert cell_text("p95_ms", {"p95_ms": ms, "precision": precision}) == text
