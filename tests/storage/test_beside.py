"""Which games ran beside those that changed."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing

import pytest

from storage.write.merged import _Source

_LONG = 4_000


@pytest.fixture
def driver() -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(":memory:")) as found:
        found.executescript(
            "CREATE TABLE games (id, source_id, kind, ply_count, ending, first_offset, last_offset, white_id, black_id,"
            " server_game_no); CREATE TABLE observations (id, game_id, kind, started_at_ms);"
            "CREATE TABLE players (id, handle_folded); INSERT INTO players VALUES (1, 'ann'), (2, 'bob');"
            "CREATE TABLE ply_lines (observation_id, first_ply_id);"
        )
        yield found


def source(driver: sqlite3.Connection, spans: list[tuple[int, int]]) -> _Source:
    for number, span in enumerate(spans):
        driver.execute("INSERT INTO games VALUES (?, 1, 'played', 9, 'result', ?, ?, 1, 2, 3)", (number, *span))
        driver.execute("INSERT INTO observations VALUES (?, ?, 'live', NULL)", (number, number))
    return _Source(driver, 1)


def test_games_beside_changed_ones_are_found(driver: sqlite3.Connection) -> None:
    found = source(driver, [(0, 9), (5, 50), (10, 20), (20, 30), (31, 40), (51, 60), (60, 70)])
    assert list(found.untouched({2})) == [1, 3]
    assert list(found.untouched({0, 2})) == [1, 3]
    assert list(found.untouched({3, 5})) == [1, 2, 6]
    assert list(found.untouched(set())) == []
    assert list(found.untouched(set(range(7)))) == []


def test_one_game_as_long_as_the_log_costs_no_look_at_each_pair(
    driver: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = source(driver, [(0, 100 * _LONG), *((100 * at, 100 * at + 50) for at in range(1, _LONG))])
    monkeypatch.setattr(_Source, "around", None)  # it goes through all games that begin before
    assert list(found.untouched(set(range(1, _LONG)))) == [0]
