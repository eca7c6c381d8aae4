"""Games back out of the archive, many per query."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

from sqlalchemy import Connection

from recorder.model import Game, Observation, PlyLine, PlyRow, SourceName
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
    thinking_from_row,
)
from storage.plyrows import load_plies, load_timed_plies

__all__ = ["BATCH_GAMES", "load_games"]

BATCH_GAMES = 200
"""Games loaded by one set of queries, all but their plies, which are most of it."""


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What to load besides the games: the arguments of ``load_games``."""

    events: bool
    holdings: bool
    lines: bool
    whole_plies: bool
    thinking: bool


class _Run(NamedTuple):
    """Where the plies of a line are."""

    seen: Observation
    line: PlyLine
    first: int
    plies: int


def load_games(
    connection: Connection,
    ids: list[int],
    *,
    with_events: bool,
    with_holdings: bool,
    with_lines: bool,
    whole_plies: bool,
    with_thinking: bool,
) -> Iterator[Game]:
    """The games with these row numbers, in this order; memory is bounded by one batch without its plies.

    Args:
        connection: to the archive; must stay in one transaction while the iterator is used.
        ids: row numbers of ``games``.
        with_events, with_holdings, with_thinking: False leaves the observations' lists empty.
        with_lines: False loads no plies that were taken back, only main lines and variations.
        whole_plies: False leaves None what ``load_timed_plies`` does not load.
    """
    driver = connection.connection.driver_connection
    assert isinstance(driver, sqlite3.Connection)
    wanted = _Wanted(with_events, with_holdings, with_lines, whole_plies, with_thinking)
    for start in range(0, len(ids), BATCH_GAMES):
        yield from _load(driver, ids[start : start + BATCH_GAMES], wanted)


def _load(driver: sqlite3.Connection, ids: list[int], wanted: _Wanted) -> Iterator[Game]:
    """Games of one batch. Each gets its plies just before it is handed out: they are used while they are in cache."""
    of_games = f"IN ({','.join(map(str, ids))})"  # integers of ours
    found: dict[int, Game] = {
        row[0]: game_from_row(row) for row in driver.execute(f"{select_sql(models.games)} WHERE id {of_games}")
    }
    seen: dict[int, Observation] = {}
    places: dict[int, int] = {}
    runs: dict[int, list[_Run]] = {}
    runs_of_game: dict[int, list[list[_Run]]] = {row_id: [] for row_id in ids}
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
        runs[row[0]] = []
        runs_of_game[row[2]].append(runs[row[0]])
    for row in driver.execute(f"{select_sql(models.segments)} WHERE game_id {of_games} ORDER BY game_id, seq"):
        found[row[0]].segments.append(segment_from_row(row, places))
    if seen:
        _load_children(driver, seen, runs, wanted)
    for row_id in ids:
        for run in chain.from_iterable(runs_of_game.pop(row_id)):
            run.line.rows = _load_run(driver, run, wanted.whole_plies)
        yield found.pop(row_id)


def _load_run(driver: sqlite3.Connection, run: _Run, whole: bool) -> list[PlyRow]:
    load = load_plies if whole else load_timed_plies
    return load(driver, run.first, run.plies, run.seen.started_at_ms or 0, run.seen.offset)


def _load_children(
    driver: sqlite3.Connection, seen: dict[int, Observation], runs: dict[int, list[_Run]], wanted: _Wanted
) -> None:
    """Everything below observations; of the lines' plies only where they are, appended to ``runs``."""
    ids = ",".join(map(str, seen))
    mine = f"WHERE observation_id IN ({ids})"
    main = "" if wanted.lines else " AND line_no = 0"
    told = "" if wanted.lines else " AND (line_no = 0 OR kind = 'variation')"
    for row in driver.execute(f"{select_sql(models.ply_lines)} {mine}{told} ORDER BY observation_id, line_no"):
        line = ply_line_from_row(row)
        seen[row[0]].lines.append(line)
        runs[row[0]].append(_Run(seen[row[0]], line, row[5], row[6]))
    for row in driver.execute(f"{select_sql(models.anchors)} {mine}{main} ORDER BY observation_id, seq"):
        seen[row[0]].anchors.append(anchor_from_row(row))
    if wanted.holdings:
        for row in _in_order(driver, f"{select_sql(models.holdings)} {mine}"):
            seen[row[0]].holdings.append(holdings_from_row(row, seen[row[0]].started_at_ms or 0))
    if wanted.events:
        for row in _in_order(driver, f"{select_sql(models.events)} {mine}"):
            seen[row[0]].events.append(event_from_row(row, seen[row[0]].started_at_ms or 0))
    if wanted.thinking:
        for row in _in_order(driver, f"{select_sql(models.thinking)} {mine}"):
            seen[row[0]].thinking.append(thinking_from_row(row, seen[row[0]].started_at_ms or 0))


def _in_order(driver: sqlite3.Connection, sql: str) -> Iterator[Row]:
    return iter(driver.execute(f"{sql} ORDER BY observation_id, seq"))
