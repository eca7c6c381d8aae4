"""Rows into the archive, many in few steps, by the driver: what is inserted once a game or more often.

A ply's row is its tuple with times, places and proof packed.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from itertools import chain
from typing import Any, Final

from recorder.model import Ply, PlyRow
from storage.mapping import COLUMNS, PRECISION_CODES


def _quoted(columns: Sequence[str]) -> str:
    return ", ".join(f'"{name}"' for name in columns)


def insert_into(table: str) -> str:
    """An INSERT of all columns up to the word VALUES and a blank.

    ``OR FAIL``: a row that breaks a constraint is an error as ever, but SQLite need not keep the old pages of each
    statement to undo that statement alone, which was half of all that an import wrote: the transaction undoes all.
    """
    return f"INSERT OR FAIL INTO {table} ({_quoted(COLUMNS[table])}) VALUES "


def insert_sql(table: str) -> str:
    return f"{insert_into(table)}({', '.join('?' * len(COLUMNS[table]))})"


_STEP_ROWS: Final = 256
_SMALLER: Final = 4
_WIDEST_KEY: Final = 2

# The driver looks for a way to store None every time, a third of the time that a row takes; this one it finds at once.
# It gives None for None, and unlike a function of ours it does so without the interpreter.
_NONE: Final[dict[None, None]] = {}
sqlite3.register_adapter(type(None), _NONE.get)


def insert_rows(driver: sqlite3.Connection, into: str, rows: Collection[Sequence[Any]]) -> None:
    """Rows have one width; ``into`` ends with the word VALUES."""
    if rows:
        width = len(next(iter(rows)))
        insert_values(driver, into, width, list(chain.from_iterable(rows)))


def insert_values(driver: sqlite3.Connection, into: str, width: int, values: list[Any]) -> None:
    """The values follow one another in one list."""
    most = driver.getlimit(sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER) // width
    for begin, rows in _steps(len(values) // width, most):
        driver.execute(_statement(into, width, rows), values[begin * width : (begin + rows) * width])


def _steps(rows: int, most: int) -> Iterator[tuple[int, int]]:
    """Cut so many rows into steps of few sizes, ``most`` at once; yields where each begins and how many rows it has.

    A statement for 200 rows takes as long to prepare as 200 rows to insert: only those that come again may be prepared.
    """
    begin, step = 0, _STEP_ROWS
    while begin < rows:
        while step > most or step > rows - begin:
            step //= _SMALLER
        yield begin, step
        begin += step


# One string object for equal statements: the driver finds a prepared one by its text.
@lru_cache(maxsize=128)
def _statement(into: str, width: int, rows: int) -> str:
    return into + ", ".join([f"({', '.join('?' * width)})"] * rows)


def select_in(driver: sqlite3.Connection, select: str, keys: Collection[Sequence[Any]]) -> Iterator[tuple[Any, ...]]:
    """Keys are one or two values; ``CROSS JOIN`` looks each up in an index, ``IN`` with pairs would read all of it."""
    most = driver.getlimit(sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER) // _WIDEST_KEY
    wanted = list(keys)
    for begin, count in _steps(len(wanted), most):
        some = wanted[begin : begin + count]
        values = _statement("WITH wanted AS (VALUES ", len(some[0]), count)
        yield from driver.execute(f"{values}) {select}", list(chain.from_iterable(some)))


_TIMED: Final = COLUMNS["plies"][1:]
_UNTIMED: Final = tuple(name for name in _TIMED if name != "at_ms")  # to bind a None costs the driver most of all
_INTO: Final = {columns: f"INSERT OR FAIL INTO plies ({_quoted(columns)}) VALUES " for columns in (_TIMED, _UNTIMED)}
_NUMBERED: Final = {
    columns: f"INSERT INTO plies (id, {_quoted(columns)}) VALUES ({', '.join('?' * (len(columns) + 1))})"
    for columns in (_TIMED, _UNTIMED)
}


def add_plies(
    values: list[Any], plies: list[Ply] | list[PlyRow], base_ms: int, base_offset: int, *, timed: bool = True
) -> bool:
    """In one flat list for ``insert_plies``. False: an arrival is known and not ``timed``; nothing is appended."""
    codes = PRECISION_CODES
    before = len(values)
    for (
        ply, move, san, white_ms, black_ms, elapsed_ms, lag_ms, at_ms, flags, irreversible,
        proof, origin, precision, offset,
    ) in plies:  # fmt: skip
        if timed:
            values.append(None if at_ms is None else at_ms - base_ms)
        elif at_ms is not None:
            del values[before:]
            return False
        values += (
            ply, move, san, white_ms, black_ms, elapsed_ms, lag_ms, flags, irreversible,
            1 if proof == precision == 1 and not origin else proof | origin << 3 | codes[precision] << 6,
            offset - base_offset,
        )  # fmt: skip
    return True


def insert_plies(driver: sqlite3.Connection, values: list[Any], end: int, *, timed: bool = True) -> None:
    """Rows from 1 on are numbered by SQLite; those below 0 are of games in progress. ``end`` is behind the last."""
    columns = _TIMED if timed else _UNTIMED
    width = len(columns)
    first = end - len(values) // width
    if first <= 1:
        explicit = len(values) if first < 1 else width  # the largest may be below 0
        rows = [(first + at // width, *values[at : at + width]) for at in range(0, min(explicit, len(values)), width)]
        driver.executemany(_NUMBERED[columns], rows)
        values = values[explicit:]
    insert_values(driver, _INTO[columns], width, values)
