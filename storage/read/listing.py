"""Lists of games a page at a time: any order, and the games that follow or precede a place in it."""

from __future__ import annotations

import sqlite3
from typing import Any, Final, NamedTuple

from storage.mapping import GAMES
from storage.read.query import DATED_MS, conditions_and_last, conditions_of, within
from storage.read.store import GameFilter
from storage.sound import RowCheck

SORTS: Final[dict[str, str]] = {
    "date": DATED_MS,
    "white": "lower(g.white)",
    "black": "lower(g.black)",
    "white-rating": "g.white_rating",
    "black-rating": "g.black_rating",
    "result": "g.result",
    "time": "g.base_s + 40 * coalesce(g.increment_s, 0)",
    "eco": "g.eco",
    "plies": "g.ply_count",
}
"""What a list can be sorted by, with its value in SQL; ``time`` is the time for 40 moves."""

_COLUMNS: Final = (
    "key", "kind", "server", "white", "white_rating_text", "white_rating", "white_titles", "white_registered",
    "black", "black_rating_text", "black_rating", "black_titles", "black_registered", "rated", "variant", "category",
    "base_s", "increment_s", "black_base_s", "black_increment_s", "result", "reason", "reason_key", "ending",
    "started_at_ms", "time_basis", "date_text", "complete", "ply_count",
    "eco", "opening",
)  # fmt: skip


class ListOrder(NamedTuple):
    """Games of equal value are ordered as they were stored."""

    by: str = "date"
    descending: bool = True


class ListPlace(NamedTuple):
    """Null is None."""

    value: int | str | None
    row_id: int


class ListedGame(NamedTuple):
    """The names are those of columns of ``games``; ``of``: how many games the list has, None if not counted."""

    place: ListPlace
    of: int | None
    key: str
    kind: str
    server: str | None
    white: str
    white_rating_text: str | None
    white_rating: int | None
    white_titles: str | None
    white_registered: int | None
    black: str
    black_rating_text: str | None
    black_rating: int | None
    black_titles: str | None
    black_registered: int | None
    rated: int | None
    variant: str | None
    category: str | None
    base_s: int | None
    increment_s: int | None
    black_base_s: int | None
    black_increment_s: int | None
    result: str
    reason: str | None
    reason_key: str | None
    ending: str
    started_at_ms: int | None
    time_basis: str | None
    date_text: str | None
    complete: int
    ply_count: int
    eco: str | None
    opening: str | None


_CHECK: Final = RowCheck({name: GAMES.types[name] for name in _COLUMNS}, GAMES.words)


def list_games(
    driver: sqlite3.Connection,
    where: GameFilter,
    order: ListOrder,
    count: int,
    *,
    after: ListPlace | None = None,
    before: ListPlace | None = None,
    limit_s: float = 10,
) -> list[ListedGame]:
    """Behind ``after``, or the last ones in front of ``before``; games without the value come last either way."""
    text, values = conditions_and_last(where)
    backwards = before is not None
    if (place := before or after) is not None:
        beyond, more = _beyond(order, place, backwards)
        text, values = f"{text} AND {beyond}", (*values, *more)
    value, descends = SORTS[order.by], order.descending is not backwards
    way = "DESC" if descends else "ASC"
    nulls = "FIRST" if backwards else "LAST"
    chosen = (
        f"SELECT g.id AS id, {value} AS value, {'NULL' if place else 'count(*) OVER ()'} AS listed FROM games g"
        f" WHERE {text} ORDER BY value {way} NULLS {nulls}, g.id {way} LIMIT ?"
    )
    columns = ", ".join(f"g.{name}" for name in _COLUMNS)
    statement = (
        f"SELECT {columns}, f.value, f.id, f.listed FROM ({chosen}) f JOIN games g ON g.id = f.id"
        f" ORDER BY f.value {way} NULLS {nulls}, f.id {way}"
    )
    rows = []
    with within(driver, limit_s):
        for *columns_of, sorts_by, row_id, of in _CHECK(driver.execute(statement, (*values, count))):
            rows.append(ListedGame(ListPlace(sorts_by, row_id), of, *columns_of))
    return rows[::-1] if backwards else rows


def _beyond(order: ListOrder, place: ListPlace, backwards: bool) -> tuple[str, tuple[Any, ...]]:
    value = SORTS[order.by]
    sign = "<" if order.descending is not backwards else ">"
    if place.value is None:
        equal = f"({value} IS NULL AND g.id {sign} ?)"
        return (f"({equal} OR {value} IS NOT NULL)" if backwards else equal), (place.row_id,)
    nulls = "" if backwards else f" OR {value} IS NULL"
    return f"(({value}, g.id) {sign} (?, ?){nulls})", (place.value, place.row_id)


def place_of(driver: sqlite3.Connection, key: str, order: ListOrder) -> ListPlace | None:
    """By its stored key (of a merged game); None: there is no such game."""
    statement = f"SELECT {SORTS[order.by]}, g.id FROM games g WHERE g.key = ? AND g.merged_into IS NULL"
    row = driver.execute(statement, (key,)).fetchone()
    return None if row is None else ListPlace(*row)


def rank_of(driver: sqlite3.Connection, where: GameFilter, order: ListOrder, place: ListPlace) -> int:
    text, values = conditions_of(where)
    beyond, more = _beyond(order, place, backwards=True)
    (count,) = driver.execute(f"SELECT count(*) FROM games g WHERE {text} AND {beyond}", (*values, *more)).fetchone()
    return int(count)
