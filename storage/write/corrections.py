"""What people corrected: kept by the keys of games in their sources, and put into the rows of these games.

A row of ``games`` has the values that count; its column ``corrected`` has what was recorded. So an import or a rebuild,
which write rows as they were read, need know nothing of this: ``storage.write.merged.relate`` corrects them.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Mapping
from typing import Final, NamedTuple

from recorder.corrections import checked, corrected, recorded, shift_of
from recorder.errors import StorageError
from recorder.model import Game, Player
from recorder.openings import DEEPEST, find_opening
from storage.mapping import CLOCKS, COLUMNS, GAMES, game_from_row, game_row
from storage.read.games import checked_rows, select_sql
from storage.read.query import fold

_STANDARD = "SELECT id FROM games WHERE variant = 'chess' AND start_fen IS NULL AND start_ply = 0"


# CROSS JOIN keeps the order of the tables: a game has few plies, the table has millions. Numbers rise in a line.
_PLIES = (
    "SELECT p.ply, p.move FROM segments s CROSS JOIN ply_lines l CROSS JOIN plies p "
    "WHERE s.game_id = ? AND l.observation_id = s.observation_id AND l.line_no = 0 "
    f"AND p.id BETWEEN l.first_ply_id AND l.first_ply_id + min(l.ply_count, {DEEPEST}) - 1 "
    "AND p.ply BETWEEN s.from_ply AND s.to_ply"
)


_NAME = "UPDATE games SET eco = ?, opening = ?, opening_ply = ? WHERE id = ?"


def name_openings(driver: sqlite3.Connection, wanted: int | None = None) -> None:
    named = []
    for (number,) in driver.execute(f"{_STANDARD} AND id = coalesce(?, id)", (wanted,)).fetchall():
        opening = find_opening(sorted(driver.execute(_PLIES, (number,))))
        named.append((*(opening or (None, None, None)), number))
    driver.executemany(_NAME, named)


_TOUCHED: Final = """
SELECT g.id FROM temp.touched t JOIN games g ON g.id = t.id
WHERE g.source_id IS NOT NULL AND (g.corrected IS NOT NULL OR g.key IN (SELECT game_key FROM corrections))
"""
_TAGS: Final = """
SELECT e.detail, e.text FROM observations o JOIN events e ON e.observation_id = o.id
WHERE o.game_id = ? AND o.kind = 'pgn' AND e.kind = 'tag' ORDER BY o.seq DESC, e.seq DESC
"""
_STORE: Final = "INSERT OR REPLACE INTO corrections (game_key, field, value, decided_ms) VALUES (?, ?, ?, ?)"
_KEPT: Final = frozenset(("id", "source_id", "merged_into", "ply_count", "eco", "opening", "opening_ply", *CLOCKS))
_UPDATE: Final = f"UPDATE games SET {', '.join(f'{name} = ?' for name in COLUMNS['games'] if name not in _KEPT)}"
_SHIFT: Final = (
    "UPDATE observations SET started_at_ms = started_at_ms + :by, ended_at_ms = ended_at_ms + :by WHERE game_id = :game"
)


class Decided(NamedTuple):
    key: str
    field: str
    value: str
    decided_ms: int


class Change(NamedTuple):
    row_id: int
    before: Game
    after: Game


def corrections_of(driver: sqlite3.Connection) -> list[Decided]:
    return [Decided(*row) for row in driver.execute(f"{select_sql('corrections')} ORDER BY game_key, field")]


def decide_corrections(driver: sqlite3.Connection, key: str, values: Mapping[str, str] | None, now_ms: int) -> None:
    """None: nothing is corrected any more."""
    if values is None:
        driver.execute("DELETE FROM corrections WHERE game_key = ?", (key,))
    else:
        driver.executemany(_STORE, [(key, field, value, now_ms) for field, value in values.items()])


def rename_corrections(driver: sqlite3.Connection, renamed: Callable[[str], str]) -> None:
    changed = [correction for correction in corrections_of(driver) if renamed(correction.key) != correction.key]
    driver.executemany("DELETE FROM corrections WHERE game_key = ?", [(correction.key,) for correction in changed])
    driver.executemany(_STORE, [correction._replace(key=renamed(correction.key)) for correction in changed])


def take_over_corrections(
    theirs: sqlite3.Connection, driver: sqlite3.Connection, home: Callable[[str], str | None]
) -> set[str]:
    """The keys here of the games that are concerned."""
    decided = {(entry.key, entry.field): entry.decided_ms for entry in corrections_of(driver)}
    moved = [entry._replace(key=home(entry.key) or entry.key) for entry in corrections_of(theirs)]
    taken = [entry for entry in moved if entry.decided_ms > decided.get((entry.key, entry.field), -1)]
    driver.executemany(_STORE, taken)
    return {entry.key for entry in taken}


def wanted_changes(driver: sqlite3.Connection) -> list[Change]:
    changes = []
    for (number,) in driver.execute(_TOUCHED).fetchall():
        before = game_from_row(*checked_rows(driver, GAMES, f"WHERE id = {number}"))
        query = "SELECT field, value, decided_ms FROM corrections WHERE game_key = ?"
        decided = driver.execute(query, (before.key,)).fetchall()
        _require_sound(before.key, decided)
        after = corrected(recorded(before), decided, dict(driver.execute(_TAGS, (number,))))
        if after != before:
            changes.append(Change(number, before, after))
    return changes


def _require_sound(key: str, decided: Iterable[tuple[str, str, int]]) -> None:
    for field, value, _ in decided:
        try:
            checked(field, value)
        except ValueError as error:
            raise StorageError(f"The correction of {field} of game {key[:8]} is malformed: {error}") from error


def store_changes(driver: sqlite3.Connection, changes: Iterable[Change]) -> None:
    """And move what was seen of these games to their times."""
    for number, before, after in changes:
        players = [_player(driver, after.server, player) for player in (after.white, after.black)]
        row = zip(COLUMNS["games"], game_row(after, number, players[0], players[1], None), strict=True)
        driver.execute(f"{_UPDATE} WHERE id = ?", (*(value for name, value in row if name not in _KEPT), number))
        driver.execute(_SHIFT, {"by": shift_of(before, after), "game": number})
        if after.variant != before.variant:
            driver.execute("UPDATE games SET eco = NULL, opening = NULL, opening_ply = NULL WHERE id = ?", (number,))
            name_openings(driver, number)


def _player(driver: sqlite3.Connection, server: str | None, player: Player) -> int:
    key = (server or "", fold(player.handle))
    row = driver.execute("SELECT id FROM players WHERE server = ? AND handle_folded = ?", key).fetchone()
    if row is None:
        insert = "INSERT INTO players (server, handle_folded, handle) VALUES (?, ?, ?) RETURNING id"
        row = driver.execute(insert, (*key, player.handle)).fetchone()
    return int(row[0])
