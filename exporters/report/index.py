"""The index page of an archive: its games, players, time controls, and the logs it was made from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from exporters.report.page import count, plain_name, render_page
from exporters.report.tables import (
    NOTHING,
    Section,
    Table,
    control_words,
    day_text,
    game_kind,
    known,
    marks_of,
    newest_first,
    period,
    result_text,
    score_cells,
    text_of,
)
from exporters.tables.arrays import records
from exporters.tables.facts import reason_words

if TYPE_CHECKING:
    import pandas as pd

    from storage.dataset.files import DatasetSource
    from storage.read.sources import SourceRow

__all__ = ["MOST_GAMES", "index_report"]

MOST_GAMES = 2000
"""How many games the page lists by default; its counts are of all games."""
_MOST_PLAYERS = 100
_MOST_CONTROLS = 40
_MOST_LOGS = 200


def index_report(
    games: pd.DataFrame,
    sides: pd.DataFrame,
    sources: Sequence[SourceRow | DatasetSource] = (),
    *,
    excluded: Mapping[str, int] | None = None,
    most: int | None = None,
) -> bytes:
    """A self-contained page about an archive, or about a choice of its games.

    Args:
        games, sides: the game frame and the side frame of the same games.
        sources: the logs of the archive. excluded: reason → games that were asked for and are not in the frames.
        most: how many games the page lists, the newest; None: ``MOST_GAMES``.
    Returns:
        HTML in UTF-8; the same tables give the same bytes.
    Raises:
        ExportError: what the page needs is not installed.
    """
    listed = newest_first(games, most or MOST_GAMES)
    parts = (
        ("Players", "players", [_players(sides)]),
        ("Time controls and variants", "controls", [_controls(games)]),
        ("How games ended", "endings", [_endings(games)]),
        ("Logs", "logs", [_logs(sources)]),
    )
    sections = [
        Section(heading, name, [table for table in tables if table is not None]) for heading, name, tables in parts
    ]
    values = {
        "title": "Archive of chess games",
        "description": " · ".join(filter(None, (count(len(games), "game"), period(games["day"])))),
        "facts": list(_facts(games, sides, sources)),
        "left_out": [f"{count(number, 'game')} {reason}" for reason, number in (excluded or {}).items()],
        "sections": [section for section in sections if section.tables],
        "games": [_game(row) for row in records(listed)],
        "game_count": len(games),
    }
    return render_page("index.html", values, styles=("tables.css",), scripts=("index.js",))


def _facts(
    games: pd.DataFrame, sides: pd.DataFrame, sources: Sequence[SourceRow | DatasetSource]
) -> Iterator[tuple[str, str]]:
    yield "Games", f"{len(games):,}, with {count(int(games['plies'].sum()), 'half-move')}"
    days = period(games["day"])
    if days:
        undated = int(games["day"].isna().sum())
        yield "Period", days + (f"; {count(undated, 'game')} without a date" if undated else "")
    guest = sides["player_guest"].fillna(False).astype(bool)
    members = int(sides.loc[~guest, "player_id"].nunique())
    guests = int(guest.sum())
    players = count(members, "player")
    yield "Players", players + (f"; {count(guests, 'side')} played by guests, counted together" if guests else "")
    servers = games["server"].astype("string").fillna("unknown").value_counts().sort_index()
    names = sorted(servers.items(), key=lambda item: (-int(item[1]), str(item[0])))
    yield "Servers", ", ".join(f"{name} ({number:,})" for name, number in names)
    partly = int((~games["complete"]).sum())
    yield "Complete", f"{len(games) - partly:,}, seen from the first move to the end; {partly:,} not"
    if sources:
        yield "Made from", count(len(sources), "log")


def _players(sides: pd.DataFrame) -> Table | None:
    """Who played most; guests in one row, since another guest may have the same handle tomorrow."""
    guest = sides["player_guest"].fillna(False).astype(bool)
    sides = sides[["player_id", "player", "player_computer", "player_rating", "server", "score", "day"]]
    groups = [(len(group), group) for _, group in sides[~guest].groupby("player_id", observed=True, sort=True)]
    groups.sort(key=lambda item: -item[0])
    rows = []
    for _, group in groups[:_MOST_PLAYERS]:
        last = group.iloc[-1]
        name = plain_name(str(last["player"])) + (" (computer)" if group["player_computer"].fillna(False).any() else "")
        ratings = group["player_rating"].dropna()
        low, high = (int(ratings.min()), int(ratings.max())) if len(ratings) else (None, None)
        rating = NOTHING if low is None else str(low) if low == high else f"{low} to {high}"
        rows.append([name, text_of(last["server"]) or NOTHING, *score_cells(group), rating, period(group["day"])])
    if guest.any():
        own = sides[guest]
        rows.append(["guests, together", NOTHING, *score_cells(own), NOTHING, period(own["day"])])
    more = len(groups) - _MOST_PLAYERS
    note = f"{count(more, 'player')} with fewer games not listed." if more > 0 else ""
    columns = ("Player", "Server", "Games", "Won", "Drawn", "Lost", "Score", "Rating", "Period")
    return Table("Players by games", columns, rows, frozenset({0, 1, 8}), note) if rows else None


def _controls(games: pd.DataFrame) -> Table | None:
    counted = _counted(games, ["variant", "time_control"])
    rows = [
        [text_of(variant) or "unknown", control_words(control), f"{len(group):,}", f"{int(group['plies'].sum()):,}"]
        for (variant, control), group in counted[:_MOST_CONTROLS]
    ]
    more = len(counted) - _MOST_CONTROLS
    note = f"{count(more, 'more kind')} with fewer games not listed." if more > 0 else ""
    return Table("Games by variant and White's time", ("Variant", "Time control", "Games", "Plies"), rows,
                 frozenset({0, 1}), note) if rows else None  # fmt: skip


def _endings(games: pd.DataFrame) -> Table | None:
    rows = []
    for (result, ending, reason), group in _counted(games, ["result", "ending", "reason"]):
        how = reason_words(text_of(reason) or None) or "not known"
        rows.append([result_text(text_of(result), text_of(ending)), how, f"{len(group):,}"])
    return Table("Games by result and reason", ("Result", "Reason", "Games"), rows, frozenset({0, 1})) if rows else None


def _counted(games: pd.DataFrame, by: list[str]) -> list[tuple[tuple[Any, ...], pd.DataFrame]]:
    """Groups of games, the largest first."""
    plain = games[["plies"]].assign(**{name: games[name].astype("string").fillna("") for name in by})
    groups: list[tuple[tuple[Any, ...], pd.DataFrame]] = [
        (key if isinstance(key, tuple) else (key,), group) for key, group in plain.groupby(by, sort=True)
    ]
    return sorted(groups, key=lambda item: -len(item[1]))


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
    note = f"{count(more, 'more log')} not listed." if more > 0 else ""
    columns = ("Log", "ID", "Kind", "Server", "Recorded by", "Games", "Bytes")
    return Table("All logs of the archive", columns, rows, frozenset({0, 1, 2, 3, 4}), note) if rows else None


def _game(row: Mapping[str, Any]) -> dict[str, Any]:
    key = str(row["key"])
    return {
        "key": key[:8],
        "day": day_text(row["started_ms"], str(row["time_basis"]), row["day"]),
        "white": _player(row, "white"),
        "black": _player(row, "black"),
        "kind": game_kind(row),
        "control": control_words(row["time_control"]),
        "result": result_text(str(row["result"]), str(row["ending"])),
        "reason": reason_words(text_of(row["reason"]) or None),
        "plies": f"{int(row['plies']):,}" + ("" if row["complete"] else " *"),
    }


def _player(row: Mapping[str, Any], side: str) -> dict[str, Any]:
    rating = row[f"{side}_rating"]
    return {
        "name": plain_name(str(row[side])),
        "rating": str(int(rating)) if known(rating) else "",
        "marks": marks_of(row, side),
    }
