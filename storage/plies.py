"""Rows of the large table, many at a time. A ply's row is its tuple with times, places and proof packed."""

from __future__ import annotations

import sqlite3
from typing import Any, Final

from recorder.model import Origin, Ply, PlyRow, Precision, Proof
from recorder.model.pgn_plies import USUAL, ShownLine, ShownPlies, whole_row
from recorder.movetext import integers
from storage.statements import COLUMNS, insert_values

__all__ = ["QUALITIES", "add_untimed", "add_values", "insert_numbered", "insert_plies", "load_plies", "load_shown"]

_TIMED: Final = tuple(name for name in COLUMNS["plies"] if name != "id")
_UNTIMED: Final = tuple(name for name in _TIMED if name != "at_ms")  # to bind a None costs the driver most of all
_INTO: Final = {  # "OR FAIL" as in ``names.insert_into``
    names: f"INSERT OR FAIL INTO plies ({', '.join(names)}) VALUES " for names in (_TIMED, _UNTIMED)
}
_NUMBERED: Final = {
    names: f"INSERT INTO plies (id, {', '.join(names)}) VALUES ({', '.join('?' * (len(names) + 1))})"
    for names in (_TIMED, _UNTIMED)
}

# the third part of ``quality``; 0 for the commonest one
_PRECISION_CODES: Final = {
    Precision.MILLISECONDS.value: 0,
    Precision.SECONDS.value: 1,
    None: 2,
    Precision.DERIVED_MILLISECONDS.value: 3,
    Precision.DERIVED_SECONDS.value: 4,
    Precision.ELAPSED_DERIVED_MILLISECONDS.value: 5,
    Precision.ELAPSED_DERIVED_SECONDS.value: 6,
}
_PRECISIONS: Final = {code: precision for precision, code in _PRECISION_CODES.items()}
_STORED: Final = {
    "at_ms": "at_ms + ?",
    "proof": "quality & 7",
    "origin": "quality >> 3 & 7",
    "precision": (
        "CASE quality >> 6 WHEN 0 THEN 1 WHEN 1 THEN 0 WHEN 3 THEN 3 WHEN 4 THEN 2 WHEN 5 THEN 5 WHEN 6 THEN 4 END"
    ),
    "offset": "from_offset + ?",
}
_RUN: Final = "FROM plies WHERE id BETWEEN ? AND ? ORDER BY id"
_SELECT: Final = f"SELECT {', '.join(_STORED.get(name, name) for name in Ply._fields)} {_RUN}"
_MOVERS_CLOCK: Final = "CASE ply & 1 WHEN 1 THEN white_clock_ms ELSE black_clock_ms END"

QUALITIES: Final = tuple(
    proof | origin << 3 | code << 6 for code in _PRECISIONS for origin in map(int, Origin) for proof in map(int, Proof)
)
"""All that ``quality`` can be."""

#: ``quality`` of a proved ply → proof, origin, precision.
_PROVED: Final = {
    quality: (quality & 7, quality >> 3 & 7, _PRECISIONS[quality >> 6])
    for quality in range(64 * len(_PRECISIONS))
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


def add_values(values: list[Any], plies: list[Ply] | list[PlyRow], base_ms: int, base_offset: int) -> None:
    """Append the columns of plies, without ``id``, row after row in one flat list.

    Args:
        values: what ``insert_plies`` will get.
        plies: a line.
        base_ms, base_offset: its observation's ``started_at_ms`` (0 where that is None) and ``offset``.
    """
    codes = _PRECISION_CODES
    for (
        ply, move, san, white_ms, black_ms, elapsed_ms, lag_ms, at_ms, flags, irreversible,
        proof, origin, precision, offset,
    ) in plies:  # fmt: skip
        values += (
            ply, move, san, white_ms, black_ms, elapsed_ms, lag_ms, None if at_ms is None else at_ms - base_ms,
            flags, irreversible,
            1 if proof == precision == 1 and not origin else proof | origin << 3 | codes[precision] << 6,
            offset - base_offset,
        )  # fmt: skip


def add_untimed(values: list[Any], plies: list[Ply] | list[PlyRow], base_offset: int) -> bool:
    """As ``add_values``, without the column of arrivals.

    Returns:
        False where one of them is known; then nothing is appended.
    """
    codes = _PRECISION_CODES
    before = len(values)
    for (
        ply, move, san, white_ms, black_ms, elapsed_ms, lag_ms, at_ms, flags, irreversible,
        proof, origin, precision, offset,
    ) in plies:  # fmt: skip
        if at_ms is not None:
            del values[before:]
            return False
        values += (
            ply, move, san, white_ms, black_ms, elapsed_ms, lag_ms, flags, irreversible,
            1 if proof == precision == 1 and not origin else proof | origin << 3 | codes[precision] << 6,
            offset - base_offset,
        )  # fmt: skip
    return True


def insert_plies(driver: sqlite3.Connection, values: list[Any], end: int, *, timed: bool = True) -> None:
    """Insert what was gathered; SQLite numbers the rows from the largest ``id`` on, in this order.

    Args:
        values: of the plies. end: the number behind the last of them. timed: by ``add_values``, not ``add_untimed``.
    """
    names = _TIMED if timed else _UNTIMED
    width = len(names)
    if values and end - len(values) // width == 1:  # the largest may be below 0: see ``storage.write.in_progress``
        insert_numbered(driver, values[:width], 1, timed=timed)
        values = values[width:]
    insert_values(driver, _INTO[names], width, values)


def insert_numbered(driver: sqlite3.Connection, values: list[Any], first: int, *, timed: bool = True) -> None:
    """As ``insert_plies``, numbered from ``first`` on."""
    names = _TIMED if timed else _UNTIMED
    width = len(names)
    if len(values) == width:
        driver.execute(_NUMBERED[names], (first, *values))
        return
    rows = [(first + at // width, *values[at : at + width]) for at in range(0, len(values), width)]
    driver.executemany(_NUMBERED[names], rows)


def load_plies(driver: sqlite3.Connection, first: int, count: int, base_ms: int, base_offset: int) -> list[PlyRow]:
    """The plies of the rows ``first … first + count - 1``; the bases as for ``add_values``."""
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
