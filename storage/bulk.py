"""Many rows in few steps of SQLite: an INSERT of 64 rows costs half of 64 INSERTs of one."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from itertools import chain
from typing import Any, Final

__all__ = ["insert_rows", "insert_values", "select_in"]

_STEP_ROWS: Final = 256
_SMALLER: Final = 4
_WIDEST_KEY: Final = 2

# The driver looks for a way to store None every time, a third of the time that a row takes; this one it finds at once.
# It gives None for None, and unlike a function of ours it does so without the interpreter.
_NONE: Final[dict[None, None]] = {}
sqlite3.register_adapter(type(None), _NONE.get)


def insert_rows(driver: sqlite3.Connection, into: str, rows: Collection[Sequence[Any]]) -> None:
    """Insert rows of one width, in order.

    Args:
        driver: of the archive.
        into: an INSERT up to the word VALUES.
        rows: the values of each.
    """
    if rows:
        width = len(next(iter(rows)))
        insert_values(driver, into, width, list(chain.from_iterable(rows)))


def insert_values(driver: sqlite3.Connection, into: str, width: int, values: list[Any]) -> None:
    """As ``insert_rows``, for rows that stand one after another in one list.

    Args:
        width: how many values a row has.
        values: those of all rows.
    """
    most = driver.getlimit(sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER) // width
    for at, rows in _steps(len(values) // width, most):
        driver.execute(_statement(into, width, rows), values[at * width : (at + rows) * width])


def _steps(rows: int, most: int) -> Iterator[tuple[int, int]]:
    """Cut so many rows into steps of few sizes, ``most`` at once; yields where each begins and how many rows it has.

    A statement for 200 rows takes as long to prepare as 200 rows to insert: only those that come again may be prepared.
    """
    at, step = 0, _STEP_ROWS
    while at < rows:
        while step > most or step > rows - at:
            step //= _SMALLER
        yield at, step
        at += step


# One string object for equal statements: the driver finds a prepared one by its text.
@lru_cache(maxsize=128)
def _statement(into: str, width: int, rows: int) -> str:
    return into + ", ".join([f"({', '.join('?' * width)})"] * rows)


def select_in(driver: sqlite3.Connection, select: str, keys: Collection[Sequence[Any]]) -> Iterator[tuple[Any, ...]]:
    """The rows of a SELECT whose condition ends with a list of keys.

    Args:
        driver: of the archive.
        select: up to and with ``IN (VALUES``.
        keys: each one or two values; all have one width.
    """
    most = driver.getlimit(sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER) // _WIDEST_KEY
    wanted = list(keys)
    for at, count in _steps(len(wanted), most):
        some = wanted[at : at + count]
        yield from driver.execute(f"{_statement(select, len(some[0]), count)})", list(chain.from_iterable(some)))
