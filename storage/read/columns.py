"""Main lines as columns: what tables of very many plies are made of, read as arrays instead of game by game.

A null is ``NULL`` in the arrays, which no stored number is.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple, Unpack

import numpy as np
from numpy.typing import NDArray

from recorder.corrections import from_json
from recorder.model import Game, Proof, TimeBasis, day_of
from storage.files import open_sqlite, reading, uri_to_read
from storage.mapping import GAMES, QUALITIES
from storage.read.games import load_games
from storage.read.query import EVENT_TAG, select_ids
from storage.read.store import GameFilter, GameParts, Rows
from storage.settings import content_version
from storage.sound import SOURCE_KINDS, TIMES, RowCheck, UnsoundError, require_moves

NULL: Final = -(1 << 62)
_ROWS_AT_ONCE = 50_000
_TRIES = 5
_TOUCH = "SELECT count(*) FROM alembic_version"  # a transaction sees the moment of its first read

Ints = NDArray[np.int64]
Arrays = tuple[list[Ints], NDArray[np.object_]]
"""Integers, and the last one, a text."""
Fetch = Callable[[str, str], Arrays]
"""With one parameter."""


class GameFacts(NamedTuple):
    """With its source's hash and kind; None: it is a merged game."""

    id: int
    key: str
    server: str | None
    server_game_no: int | None
    kind: str
    variant: str | None
    category: str | None
    rated: int | None
    base_s: int | None
    increment_s: int | None
    black_base_s: int | None
    black_increment_s: int | None
    white: str
    white_rating_text: str | None
    white_rating: int | None
    white_titles: str | None
    white_registered: int | None
    white_sealed: int | None
    black: str
    black_rating_text: str | None
    black_rating: int | None
    black_titles: str | None
    black_registered: int | None
    black_sealed: int | None
    result: str
    ending: str
    termination: str
    reason_key: str | None
    complete: int
    time_basis: str
    start_fen: str | None
    start_ply: int
    first_offset: int
    started_at_ms: int | None
    start_precision: str | None
    date_text: str | None
    me: str | None
    eco: str | None
    opening: str | None
    opening_ply: int | None
    source_sha256: str | None
    source_kind: str | None

    @property
    def day(self) -> str | None:
        """As text (``2026-01-31``)."""
        day = day_of(self.started_at_ms, TimeBasis(self.time_basis), self.date_text)
        return None if day is None else str(day)


class PlainLine(NamedTuple):
    """The only one of the only observation, without anchors, pieces in hand and evaluations; it has every ply."""

    game_id: int
    started_at_ms: int | None
    start_ply: int | None
    start_white_clock_ms: int | None
    start_black_clock_ms: int | None
    start_at_ms: int | None
    start_precision: int | None
    first_ply_id: int
    ply_count: int


class PlyArrays(NamedTuple):
    """In the order that was asked for; times count from their observation's."""

    ply: Ints
    quality: Ints
    move: Ints
    white_clock_ms: Ints
    black_clock_ms: Ints
    elapsed_ms: Ints
    lag_ms: Ints
    at_ms: Ints
    san: NDArray[np.object_]


_STAMPS: Final = """
SELECT g.id, g.ply_count, g.key || ' ' || json_array(g.last_offset, g.ended_at_ms, g.result, g.ending, g.termination,
  g.reason_key, g.server, g.white, g.white_rating_text, g.white_titles, g.white_registered, g.white_sealed, g.black,
  g.black_rating_text, g.black_titles, g.black_registered, g.black_sealed, g.rated, g.variant, g.category, g.base_s,
  g.increment_s, g.started_at_ms, g.time_basis, g.date_text, g.complete, g.eco, g.me, s.parser_version,
  g.corrected) || ' ' ||
  coalesce((SELECT group_concat(s.from_ply || '-' || s.to_ply || ':' || l.first_ply_id || '+' || l.ply_count)
  FROM segments s JOIN ply_lines l ON l.observation_id = s.observation_id AND l.line_no = 0 WHERE s.game_id = g.id), '')
  || coalesce((SELECT ' ' || group_concat(a.id) FROM analyses a WHERE a.game_key = g.key), '')
FROM games g LEFT JOIN sources s ON s.id = g.source_id WHERE g.merged_into IS NULL
"""
_OF_SOURCES = {
    "source_sha256": "CASE WHEN g.source_id IS NOT NULL THEN coalesce(s.sha256, '') END",
    "source_kind": "s.kind",
}
_SELECT_GAMES = f"SELECT {', '.join(_OF_SOURCES.get(name, f'g.{name}') for name in GameFacts._fields)}"
_SELECT_PLAIN = (
    "SELECT g.id, o.started_at_ms, o.start_ply, o.start_white_clock_ms, o.start_black_clock_ms,"
    " o.start_arrival_ms + coalesce(o.started_at_ms, 0), o.start_precision, l.first_ply_id, l.ply_count"
)
_OF_OBSERVATION = " AND NOT EXISTS (SELECT 1 FROM {} WHERE observation_id = o.id)"
_FROM_PLAIN = (
    "games g ON g.id = wanted.value JOIN observations o ON o.game_id = g.id"
    " JOIN ply_lines l ON l.observation_id = o.id JOIN segments s ON s.game_id = g.id"
    " WHERE s.to_ply - s.from_ply + 1 = l.ply_count AND l.ply_count = g.ply_count AND l.line_no = 0"
    " AND (SELECT count(*) FROM observations WHERE game_id = g.id) = 1"
    " AND (SELECT count(*) FROM ply_lines WHERE observation_id = o.id) = 1"
    f"{''.join(map(_OF_OBSERVATION.format, ('anchors', 'holdings', 'thinking')))}"
    " AND NOT EXISTS (SELECT 1 FROM analyses WHERE game_key = g.key) AND l.ply_count > 0 ORDER BY wanted.key"
)
_NULLABLE = PlyArrays._fields[2:-1]
_VALUES = ", ".join(f"coalesce(p.{name}, {NULL}) AS {name}" for name in _NULLABLE)
_SELECT_PLIES = (  # 511 is no quality
    f"SELECT p.ply << 9 | CASE p.quality WHEN p.quality & 511 THEN p.quality ELSE 511 END AS packed, {_VALUES}, p.san"
    " FROM json_each(?) run CROSS JOIN plies p"
    " ON p.id BETWEEN json_extract(run.value, '$[0]') AND json_extract(run.value, '$[1]')"
)
_CHECK_FACTS: Final = RowCheck.of(GameFacts, GAMES.words | {"source_kind": SOURCE_KINDS})
_CHECK_COUNT: Final = RowCheck({name: GAMES.types[name] for name in ("id", "ply_count")}, {})
_CHECK_PLAIN: Final = RowCheck.of(PlainLine, {})
_QUALITIES: Final = np.isin(np.arange(512), QUALITIES)


def _is_time(column: Ints) -> NDArray[np.bool_]:
    return (column >= TIMES.start) & (column < TIMES.stop)


class ColumnReader:
    def __init__(self, driver: sqlite3.Connection, fetch: Fetch | None) -> None:
        self._driver = driver
        self._fetch = fetch or _by_driver(driver)

    def games_of(self, where: GameFilter) -> list[tuple[int, int]]:
        """Row number and number of plies, in the archive's order."""
        return _CHECK_COUNT(self._driver.execute(*select_ids(where, columns="g.id, g.ply_count")))

    def content_version(self) -> str | None:
        return content_version(self._driver)

    def stamps(self) -> list[tuple[int, int, str]]:
        """Row number, number of plies, and what changes when the row or main line does."""
        return self._driver.execute(_STAMPS).fetchall()

    def games(self, ids: list[int], **parts: Unpack[GameParts]) -> Iterator[Game]:
        return load_games(self._driver, ids, **parts)

    def facts(self, ids: list[int]) -> list[GameFacts]:
        source = "games g ON g.id = wanted.value LEFT JOIN sources s ON s.id = g.source_id ORDER BY wanted.key"
        return list(map(GameFacts._make, _CHECK_FACTS(self._rows(_SELECT_GAMES, source, ids))))

    def plain_lines(self, ids: list[int]) -> list[PlainLine]:
        """In this order."""
        return list(map(PlainLine._make, _CHECK_PLAIN(self._rows(_SELECT_PLAIN, _FROM_PLAIN, ids))))

    def named_events(self, ids: list[int]) -> dict[int, str]:
        """The Event tag, of a saved game or as printed; of several sources the one that was imported first counts."""
        source = (
            "games w ON w.id = wanted.value OR w.merged_into = wanted.value"
            " JOIN observations o ON o.game_id = w.id AND (o.kind = 'pgn' OR w.dialect = 'ICC')"
            f" JOIN events e ON e.observation_id = o.id WHERE {EVENT_TAG}"
            " ORDER BY wanted.key, w.id DESC, o.seq DESC, e.seq DESC"
        )
        events = dict(self._rows("SELECT wanted.value, e.text", source, ids))
        by_hand = "games g ON g.id = wanted.value AND g.corrected IS NOT NULL"
        for number, text in self._rows("SELECT wanted.value, g.corrected", by_hand, ids):
            events.update((number, correction.value) for correction in from_json(text) if correction.field == "Event")
        return events

    def plies(self, runs: list[tuple[int, int]]) -> PlyArrays:
        """By the first row number and the number of rows of each run; UnsoundError: a row is missing or malformed."""
        joined: list[list[int]] = []
        for first, count in runs:
            if joined and joined[-1][1] == first - 1:
                joined[-1][1] += count
            else:
                joined.append([first, first + count - 1])
        (packed, *values), san = self._fetch(_SELECT_PLIES, json.dumps(joined))
        if len(packed) != sum(count for _, count in runs):
            raise UnsoundError("plies are missing")
        ply, quality = packed >> 9, packed & 511
        rises = np.diff(ply, prepend=0) > 0
        rises[np.cumsum([0, *(count for _, count in runs)])[:-1]] = True
        checks = [_QUALITIES[quality], ply > 0, rises, *(_is_time(column) | (column == NULL) for column in values)]
        if not all(check.all() for check in checks):
            raise UnsoundError("plies are malformed")
        require_moves(set(san[quality & 7 != Proof.UNPROVED.value].tolist()))
        return PlyArrays._make((ply, quality, *values, san))

    def _rows(self, select: str, source: str, wanted: list[int]) -> Rows:
        """Rows of a SELECT: ``source`` joins what it needs to ``wanted``: the numbers are ``value``, places ``key``."""
        return self._driver.execute(f"{select} FROM json_each(?) wanted CROSS JOIN {source}", (json.dumps(wanted),))


@contextmanager
def column_reader(path: Path, *, read_only: bool, arrow: bool) -> Iterator[tuple[sqlite3.Connection, ColumnReader]]:
    """ADBC's own connection sees the same moment if nothing was committed between, which a third connection can see."""
    adbc = _adbc() if arrow else None
    with closing(open_sqlite(path, read_only=True)) as probe, reading(path, read_only=read_only) as driver:
        for _ in range(_TRIES):
            if adbc is None:
                break
            (before,) = probe.execute("PRAGMA data_version").fetchone()
            driver.execute(_TOUCH).fetchall()
            with (
                closing(adbc.connect(uri_to_read(path))) as other,
                other.cursor() as cursor,
            ):
                cursor.execute(_TOUCH)
                cursor.fetchall()
                (after,) = probe.execute("PRAGMA data_version").fetchone()
                if before == after:
                    yield driver, ColumnReader(driver, _by_arrow(cursor))
                    return
            driver.execute("ROLLBACK")
            driver.execute("BEGIN")
        yield driver, ColumnReader(driver, None)


def _adbc() -> Any:
    try:
        import adbc_driver_sqlite.dbapi
        import pyarrow  # noqa: F401 -- the driver alone gives no arrays
    except ImportError:
        return None
    return adbc_driver_sqlite.dbapi


def _by_arrow(cursor: Any) -> Fetch:
    def fetch(sql: str, parameter: str) -> Arrays:
        cursor.execute(sql, [parameter])
        try:
            *numbers, text = (column.to_numpy() for column in cursor.fetch_arrow_table().columns)
        except OSError as error:  # a value of another type than those before it
            raise sqlite3.DataError(str(error)) from error
        return [_integers(column) for column in numbers], text

    return fetch


def _by_driver(driver: sqlite3.Connection) -> Fetch:
    def fetch(sql: str, parameter: str) -> Arrays:
        cursor = driver.execute(sql, (parameter,))
        blocks: list[list[Ints]] = [[] for _ in cursor.description[1:]]
        texts: list[NDArray[np.object_]] = [np.empty(0, dtype=object)]
        while rows := cursor.fetchmany(_ROWS_AT_ONCE):
            *numbers, text = zip(*rows, strict=True)
            for block, column in zip(blocks, numbers, strict=True):
                block.append(_integers(np.array(column)))
            texts.append(np.array(text, dtype=object))
        return [np.concatenate([np.empty(0, dtype=np.int64), *block]) for block in blocks], np.concatenate(texts)

    return fetch


def _integers(column: NDArray[Any]) -> Ints:
    """One without rows may be of any type."""
    if len(column) and column.dtype.kind not in "iub":
        raise UnsoundError("a number is none")
    return column.astype(np.int64, copy=False)
