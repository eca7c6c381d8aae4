"""The openings of games, computed from the moves that are stored."""

from __future__ import annotations

import sqlite3

from recorder.openings import DEEPEST, find_opening

_STANDARD = "SELECT id FROM games WHERE variant = 'chess' AND start_fen IS NULL AND start_ply = 0"


# CROSS JOIN keeps the order of the tables: a game has few plies, the table has millions. Numbers rise in a line.
_PLIES = (
    "SELECT p.ply, p.move FROM segments s CROSS JOIN ply_lines l CROSS JOIN plies p "
    "WHERE s.game_id = ? AND l.observation_id = s.observation_id AND l.line_no = 0 "
    f"AND p.id BETWEEN l.first_ply_id AND l.first_ply_id + min(l.ply_count, {DEEPEST}) - 1 "
    "AND p.ply BETWEEN s.from_ply AND s.to_ply"
)


_UPDATE = "UPDATE games SET eco = ?, opening = ?, opening_ply = ? WHERE id = ?"


def name_openings(driver: sqlite3.Connection, wanted: int | None = None) -> None:
    found = []
    for (number,) in driver.execute(f"{_STANDARD} AND id = coalesce(?, id)", (wanted,)).fetchall():
        opening = find_opening(sorted(driver.execute(_PLIES, (number,))))
        found.append((*(opening or (None, None, None)), number))
    driver.executemany(_UPDATE, found)
