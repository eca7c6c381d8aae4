"""Games back out of the archive, many per query."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

from sqlalchemy import Connection

from recorder.model import Game, Observation, SourceName
from storage import models
from storage.mapping import (
    Row,
    anchor_from_row,
    event_from_row,
    game_from_row,
    holdings_from_row,
    observation_from_row,
    ply_line_from_row,
    segment_from_row,
    select_sql,
)
from storage.plyrows import load_plies

__all__ = ["BATCH_GAMES", "load_games"]

BATCH_GAMES = 200
"""Games loaded by one set of queries: about 14,000 plies, a few megabytes."""


def load_games(
    connection: Connection, ids: list[int], *, with_events: bool, with_holdings: bool, with_lines: bool
) -> Iterator[Game]:
    """The games with these row numbers, in this order; memory is bounded by one batch.

    Args:
        connection: to the archive; must stay in one transaction while the iterator is used.
        ids: row numbers of ``games``.
        with_events, with_holdings: False leaves the observations' lists empty.
        with_lines: False loads only the main line of each observation.
    """
    driver = connection.connection.driver_connection
    assert isinstance(driver, sqlite3.Connection)
    for start in range(0, len(ids), BATCH_GAMES):
        yield from _load(driver, ids[start : start + BATCH_GAMES], with_events, with_holdings, with_lines)


def _load(
    driver: sqlite3.Connection, ids: list[int], with_events: bool, with_holdings: bool, with_lines: bool
) -> list[Game]:
    of_games = f"IN ({','.join(map(str, ids))})"  # integers of ours
    found: dict[int, Game] = {
        row[0]: game_from_row(row) for row in driver.execute(f"{select_sql(models.games)} WHERE id {of_games}")
    }
    seen: dict[int, Observation] = {}
    places: dict[int, int] = {}
    names = {
        row_id: SourceName(name, sha256)
        for row_id, name, sha256 in driver.execute(
            "SELECT id, name, sha256 FROM sources"
            f" WHERE id IN (SELECT source_id FROM observations WHERE game_id {of_games})"
        )
    }
    for row in driver.execute(f"{select_sql(models.observations)} WHERE game_id {of_games} ORDER BY game_id, seq"):
        seen[row[0]] = observation = observation_from_row(row)
        observation.source = names[row[1]]
        siblings = found[row[2]].observations
        places[row[0]] = len(siblings)
        siblings.append(observation)
    for row in driver.execute(f"{select_sql(models.segments)} WHERE game_id {of_games} ORDER BY game_id, seq"):
        found[row[0]].segments.append(segment_from_row(row, places))
    if seen:
        _load_children(driver, seen, with_events, with_holdings, with_lines)
    return [found[row_id] for row_id in ids]


def _load_children(
    driver: sqlite3.Connection, seen: dict[int, Observation], with_events: bool, with_holdings: bool, with_lines: bool
) -> None:
    ids = ",".join(map(str, seen))
    mine = f"WHERE observation_id IN ({ids})"
    main = "" if with_lines else " AND line_no = 0"
    for row in driver.execute(f"{select_sql(models.ply_lines)} {mine}{main} ORDER BY observation_id, line_no"):
        observation, line = seen[row[0]], ply_line_from_row(row)
        line.plies = load_plies(driver, row[5], row[6], observation.started_at_ms or 0, observation.offset)
        observation.lines.append(line)
    for row in driver.execute(f"{select_sql(models.anchors)} {mine}{main} ORDER BY observation_id, seq"):
        seen[row[0]].anchors.append(anchor_from_row(row))
    if with_holdings:
        for row in _in_order(driver, f"{select_sql(models.holdings)} {mine}"):
            seen[row[0]].holdings.append(holdings_from_row(row, seen[row[0]].started_at_ms or 0))
    if with_events:
        for row in _in_order(driver, f"{select_sql(models.events)} {mine}"):
            seen[row[0]].events.append(event_from_row(row, seen[row[0]].started_at_ms or 0))


def _in_order(driver: sqlite3.Connection, sql: str) -> Iterator[Row]:
    return iter(driver.execute(f"{sql} ORDER BY observation_id, seq"))
