"""Columns in their order, statements made of them, and inserting many rows in few steps.

``storage.schema.tables`` says what the columns are. It needs SQLAlchemy, which takes longer to load than some hundred
games to read: whoever reads an archive does without, and a test keeps both equal.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from itertools import chain
from typing import Any, Final

__all__ = ["COLUMNS", "insert_into", "insert_rows", "insert_sql", "insert_values", "select_in", "select_sql"]

_COLUMNS: Final = {
    "sources": (
        "id sha256 size_bytes name path kind server dialect me time_basis options timing parser_version read_up_to"
        " restart_state kept_bytes line_count warnings"
    ),
    "source_chunks": "source_id offset size_bytes zstd",
    "source_counts": "source_id tag disposition count",
    "source_shapes": "source_id seq shape lines first_offset",
    "anomalies": "source_id seq kind offset server_game_no message text",
    "players": "id server handle handle_folded",
    "games": (
        "id key kind server dialect server_game_no"
        " white_id white white_rating_text white_rating white_titles white_registered white_sealed"
        " black_id black black_rating_text black_rating black_titles black_registered black_sealed"
        " rated variant category base_s increment_s black_base_s black_increment_s base_inferred variant_inferred"
        " start_fen start_ply result reason reason_key termination ending started_at_ms ended_at_ms time_basis"
        " date_text complete continued partner_server_game_no me ply_count source_id first_offset last_offset"
        " merged_into start_precision"
    ),
    "game_evidence": "game_id seq kind text",
    "game_links": "game_id other_game_id kind evidence",
    "observations": (
        "id source_id game_id seq kind server_game_no white black relation offset end_offset started_at_ms ended_at_ms"
        " start_ply start_verbose start_pretty start_elapsed_ms start_white_clock_ms start_black_clock_ms start_lag_ms"
        " start_arrival_ms start_precision start_offset"
    ),
    "ply_lines": "observation_id line_no kind parent_line_no parent_ply first_ply_id ply_count",
    "plies": (
        "id ply move san white_clock_ms black_clock_ms elapsed_ms lag_ms at_ms flags irreversible quality from_offset"
    ),
    "anchors": "observation_id seq line_no ply fen reason offset",
    "holdings": "observation_id seq ply white black passed at_ms offset",
    "events": "observation_id seq kind detail ply actor value text white_clock_ms black_clock_ms at_ms offset",
    "thinking": (
        "observation_id seq ply engine white depth score_cp mate time_ms nodes selective_depth nodes_per_s"
        " tablebase_hits pv at_ms offset"
    ),
    "segments": "game_id seq from_ply to_ply observation_id",
    "analysis_lines": (
        "position_id seq depth score_cp mate time_ms nodes selective_depth nodes_per_s tablebase_hits pv"
    ),
}

COLUMNS: Final = {table: tuple(names.split()) for table, names in _COLUMNS.items()}
"""Of the tables whose rows are stored or read as a whole."""


def _quoted(table: str) -> str:
    return ", ".join(f'"{name}"' for name in COLUMNS[table])


def insert_into(table: str) -> str:
    """An INSERT of all columns up to the word VALUES and a blank.

    ``OR FAIL``: a row that breaks a constraint is an error as ever, but SQLite need not keep the old pages of each
    statement to undo that statement alone, which was half of all that an import wrote: the transaction undoes all.
    """
    return f"INSERT OR FAIL INTO {table} ({_quoted(table)}) VALUES "


def insert_sql(table: str) -> str:
    """An INSERT of one row."""
    return f"{insert_into(table)}({', '.join('?' * len(COLUMNS[table]))})"


def select_sql(table: str) -> str:
    """The start of a SELECT of all columns in their order."""
    return f"SELECT {_quoted(table)} FROM {table}"


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
