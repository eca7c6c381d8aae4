"""The index page of an archive: its games, players, time controls, and the logs it was made from."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from exporters.report.page import plain_name, render_page
from exporters.report.tables import (
    NOTHING,
    Section,
    Table,
    control_words,
    game_cells,
    known,
    marks_of,
    period,
    rating_text,
    result_text,
    score_cells,
)
from exporters.tables.facts import reason_words
from recorder.text import plural

if TYPE_CHECKING:
    from storage.dataset.files import DatasetSource
    from storage.read.sources import SourceRow

Query: TypeAlias = "Callable[[str], Sequence[Mapping[str, Any]]]"
"""The rows of a statement over ``games``, which has a row for each game, with its ``place``."""

MOST_GAMES = 2000  # how many games the page lists by default; its counts are of all games
_MOST_PLAYERS = 100
_MOST_CONTROLS = 40
_MOST_LOGS = 200


_SIDES = " UNION ALL ".join(
    f"SELECT {side}_id AS id, {side} AS handle, coalesce({side}_guest, FALSE) AS guest, {side}_computer AS computer,"
    f" {side}_rating AS rating, server, day, place,"
    f" CASE result WHEN '1-0' THEN {won} WHEN '0-1' THEN {1 - won} WHEN '1/2-1/2' THEN 0.5 END AS points FROM games"
    for side, won in (("white", 1), ("black", 0))
)
_PLAYED = (
    "count(*) AS games, count(*) FILTER (points = 1) AS wins, count(*) FILTER (points = 0.5) AS draws,"
    " count(*) FILTER (points = 0) AS losses, min(rating) AS lowest, max(rating) AS highest,"
    " min(day)::VARCHAR AS first, max(day)::VARCHAR AS last, coalesce(bool_or(computer), FALSE) AS computer,"
    " arg_max(handle::VARCHAR, place) AS handle, arg_max(server::VARCHAR, place) AS server"
)


def index_report(
    query: Query,
    sources: Sequence[SourceRow | DatasetSource] = (),
    *,
    excluded: Mapping[str, int] | None = None,
    most: int | None = None,
) -> bytes:
    """A self-contained page about a choice of games; ``excluded`` counts by reason those that are not there."""
    (counted,) = query(
        "SELECT count(*) AS games, coalesce(sum(plies), 0)::BIGINT AS plies, count(*) FILTER (complete) AS complete,"
        " count(*) FILTER (day IS NULL) AS undated, min(day)::VARCHAR AS first, max(day)::VARCHAR AS last FROM games"
    )
    listed = query(
        "SELECT * EXCLUDE (started_at) FROM games"
        f" ORDER BY day IS NULL, CASE WHEN day IS NULL THEN place ELSE -place END LIMIT {most or MOST_GAMES}"
    )
    players = query(f"SELECT id, {_PLAYED} FROM ({_SIDES}) WHERE NOT guest GROUP BY id ORDER BY games DESC, id")
    (guests,) = query(f"SELECT {_PLAYED} FROM ({_SIDES}) WHERE guest")
    parts = (
        ("Players", "players", _players(players, guests)),
        ("Time controls and variants", "controls", _controls(query)),
        ("How games ended", "endings", _endings(query)),
        ("Logs", "logs", _logs(sources)),
    )
    values = {
        "title": "Archive of chess games",
        "description": " · ".join(filter(None, (plural(counted["games"], "game"), _period(counted)))),
        "facts": list(_facts(query, counted, len(players), guests["games"], len(sources))),
        "left_out": [f"{plural(number, 'game')} {reason}" for reason, number in (excluded or {}).items()],
        "sections": [Section(heading, name, [table]) for heading, name, table in parts if table is not None],
        "games": map(_game, listed),
        "listed_count": len(listed),
        "game_count": counted["games"],
    }
    return render_page("index.html", values, styles=("tables.css",), scripts=("index.js",))


def _period(row: Mapping[str, Any]) -> str:
    return "" if row["first"] is None else period((row["first"], row["last"]))


def _facts(query: Query, counted: Mapping[str, Any], players: int, guests: int, logs: int) -> Iterator[tuple[str, str]]:
    yield "Games", f"{counted['games']:,}, with {plural(counted['plies'], 'half-move')}"
    if days := _period(counted):
        undated = counted["undated"]
        yield "Period", days + (f"; {plural(undated, 'game')} without a date" if undated else "")
    together = f"; {plural(guests, 'side')} played by guests, counted together" if guests else ""
    yield "Players", plural(players, "player") + together
    servers = query(
        "SELECT coalesce(server::VARCHAR, 'unknown') AS name, count(*) AS n FROM games GROUP BY ALL"
        " ORDER BY n DESC, name"
    )
    yield "Servers", ", ".join(f"{row['name']} ({row['n']:,})" for row in servers)
    partly = counted["games"] - counted["complete"]
    yield "Complete", f"{counted['complete']:,}, seen from the first move to the end; {partly:,} not"
    if logs:
        yield "Made from", plural(logs, "log")


def _players(players: Sequence[Mapping[str, Any]], guests: Mapping[str, Any]) -> Table | None:
    """Who played most; guests in one row, since another guest may have the same handle tomorrow."""
    rows = []
    for player in players[:_MOST_PLAYERS]:
        name = plain_name(player["handle"]) + (" (computer)" if player["computer"] else "")
        rating = rating_text(player["lowest"], player["highest"])
        rows.append([name, player["server"] or NOTHING, *_scores(player), rating, _period(player)])
    if guests["games"]:
        rows.append(["guests, together", NOTHING, *_scores(guests), NOTHING, _period(guests)])
    more = len(players) - _MOST_PLAYERS
    note = f"{plural(more, 'player')} with fewer games not listed." if more > 0 else ""
    columns = ("Player", "Server", "Games", "Won", "Drawn", "Lost", "Score", "Rating", "Period")
    return Table("Players by games", columns, rows, frozenset({0, 1, 8}), note) if rows else None


def _scores(row: Mapping[str, Any]) -> list[str]:
    return score_cells(row["games"], row["wins"], row["draws"], row["losses"])


def _controls(query: Query) -> Table | None:
    controls = query(
        "SELECT variant::VARCHAR AS kind, time_control::VARCHAR AS control, count(*) AS games,"
        " sum(plies)::BIGINT AS plies FROM games GROUP BY ALL"
        " ORDER BY games DESC, kind NULLS FIRST, control NULLS FIRST"
    )
    rows = [
        [row["kind"] or "unknown", control_words(row["control"]), f"{row['games']:,}", f"{row['plies']:,}"]
        for row in controls[:_MOST_CONTROLS]
    ]
    more = len(controls) - _MOST_CONTROLS
    note = f"{plural(more, 'more kind')} with fewer games not listed." if more > 0 else ""
    return Table("Games by variant and White's time", ("Variant", "Time control", "Games", "Plies"), rows,
                 frozenset({0, 1}), note) if rows else None  # fmt: skip


def _endings(query: Query) -> Table | None:
    endings = query(
        "SELECT result::VARCHAR AS score, ending::VARCHAR AS ended, reason::VARCHAR AS why, count(*) AS games"
        " FROM games GROUP BY ALL ORDER BY games DESC, score, ended, why NULLS FIRST"
    )
    rows = [
        [result_text(row["score"], row["ended"]), reason_words(row["why"]) or "not known", f"{row['games']:,}"]
        for row in endings
    ]
    return Table("Games by result and reason", ("Result", "Reason", "Games"), rows, frozenset({0, 1})) if rows else None


def _logs(sources: Sequence[SourceRow | DatasetSource]) -> Table | None:
    """The logs by their names; their paths are private."""
    rows = [
        [
            row.name.replace("\\", "/").rsplit("/", 1)[-1],
            row.id,
            row.kind,
            row.server or NOTHING,
            row.me or NOTHING,
            f"{row.games:,}",
            f"{row.size_bytes:,}",
        ]
        for row in sources[:_MOST_LOGS]
    ]
    more = len(sources) - _MOST_LOGS
    note = f"{plural(more, 'more log')} not listed." if more > 0 else ""
    columns = ("Log", "ID", "Kind", "Server", "Recorded by", "Games", "Bytes")
    return Table("All logs of the archive", columns, rows, frozenset({0, 1, 2, 3, 4}), note) if rows else None


def _game(row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        **game_cells(row),
        "white": _player(row, "white"),
        "black": _player(row, "black"),
        "result": result_text(str(row["result"]), str(row["ending"])),
    }


def _player(row: Mapping[str, Any], side: str) -> dict[str, Any]:
    rating = row[f"{side}_rating"]
    return {
        "name": plain_name(str(row[side])),
        "rating": str(int(rating)) if known(rating) else "",
        "marks": marks_of(row, side),
    }
