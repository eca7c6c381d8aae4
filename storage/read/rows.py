"""Rows of games out of the archive, many at once, by the driver."""

from __future__ import annotations

import sqlite3
from typing import Final

from recorder.model import Ply, PlyRow, Proof
from recorder.model.pgn_plies import USUAL, ShownLine, ShownPlies, whole_row
from recorder.movetext import integers
from storage.mapping import COLUMNS, PRECISIONS, STORED_PLY

__all__ = ["load_plies", "load_shown", "select_sql"]


def select_sql(table: str) -> str:
    """The start of a SELECT of all columns in the order of ``COLUMNS``."""
    names = ", ".join(f'"{name}"' for name in COLUMNS[table])
    return f"SELECT {names} FROM {table}"


_RUN: Final = "FROM plies WHERE id BETWEEN ? AND ? ORDER BY id"
_SELECT: Final = f"SELECT {', '.join(STORED_PLY.get(name, name) for name in Ply._fields)} {_RUN}"
_MOVERS_CLOCK: Final = "CASE ply & 1 WHEN 1 THEN white_clock_ms ELSE black_clock_ms END"

#: ``quality`` of a proved ply → proof, origin, precision.
_PROVED: Final = {
    quality: (quality & 7, quality >> 3 & 7, PRECISIONS[quality >> 6])
    for quality in range(64 * len(PRECISIONS))
    if quality & 7 != Proof.UNPROVED.value
}
_USUAL: Final = next(quality for quality, parts in _PROVED.items() if parts == USUAL)
_SELECT_SHOWN: Final = f"SELECT ply, san, {_MOVERS_CLOCK}, elapsed_ms, quality {_RUN}"
_SELECT_USUAL: Final = (  # in the order of ``id``, as a run of them is read
    "SELECT (SELECT ply FROM plies WHERE id = :first), json_group_array(san), "
    f"json_group_array({_MOVERS_CLOCK}), json_group_array(elapsed_ms), (SELECT ply FROM plies WHERE id = :last) "
    f"FROM plies WHERE id BETWEEN :first AND :last AND quality = {_USUAL}"
    f" AND (SELECT quality FROM plies WHERE id = :first) = {_USUAL}"  # else there is nothing to look for
)


def load_plies(driver: sqlite3.Connection, first: int, count: int, base_ms: int, base_offset: int) -> list[PlyRow]:
    """The plies of the rows ``first … first + count - 1``; the bases as for ``storage.write.rows.add_plies``."""
    return driver.execute(_SELECT, (base_ms, base_offset, first, first + count - 1)).fetchall()


def load_shown(driver: sqlite3.Connection, line: ShownLine, first: int, count: int) -> bool:
    """Like ``load_plies``, but into a line, and only what PGN shows: every column costs time, looked at or not.

    Returns:
        False where a ply is not proved: what can be shown of it depends on its move, so the line must be loaded whole.
    """
    run = (first, first + count - 1)
    line.shown = _usual_plies(driver, run)
    if line.shown is None:
        try:
            line.rows = [
                whole_row(ply, san, clock_ms, elapsed_ms, _PROVED[quality])
                for ply, san, clock_ms, elapsed_ms, quality in driver.execute(_SELECT_SHOWN, run)
            ]
        except KeyError:
            return False
    return True


def _usual_plies(driver: sqlite3.Connection, run: tuple[int, int]) -> ShownPlies | None:
    """The plies of these rows if each is as most are; from SQLite they come as text: a row of each costs it more.

    Numbers rise in a line (``db check`` tells where they do not), so the first, the last and how many they are suffice.
    """
    number, sans, clocks, elapsed, last = driver.execute(_SELECT_USUAL, {"first": run[0], "last": run[1]}).fetchone()
    if "\\" in sans or not sans.startswith('["'):
        return None  # no SAN of any server, or no ply
    moves = sans[2:-2].split('","')
    if not len(moves) == run[1] - run[0] + 1 == last - number + 1:
        return None  # not all of them are, or plies are missing between them
    clocks_ms, elapsed_ms = integers(clocks), integers(elapsed)
    if clocks_ms is None or elapsed_ms is None:
        return None
    return ShownPlies(number, moves, clocks_ms, elapsed_ms)
