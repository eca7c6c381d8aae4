"""Storing analyses, and which of their positions the games still have.

A newer parser, or a log that has grown, may give a game other moves. A stored position is valid if the game has the
same pieces on the same squares after as many half-moves (column ``stands``). Other positions are kept but not shown;
they become valid again if the game changes back.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Mapping
from typing import Final, NamedTuple

from recorder.model import AnalysedPosition, Analysis
from storage.mapping import ANALYSIS_LINES
from storage.read.games import has_analyses, load_games
from storage.read.store import MOVES_ALONE
from storage.write.rows import insert_into, insert_rows

_LINES: Final = insert_into("analysis_lines")
_FIND: Final = (
    "SELECT id FROM analyses WHERE game_key = ? AND engine = ? AND protocol = ? AND settings = ? ORDER BY id LIMIT 1"
)
_MOVING: Final = "~"  # no key begins with it


def store_positions(
    driver: sqlite3.Connection,
    key: str,
    analysis: Analysis,
    positions: Collection[AnalysedPosition],
    *,
    replace: bool = False,
) -> None:
    """Not yet marked as valid; positions that are stored already are skipped unless ``replace``."""
    named = (key, analysis.engine, analysis.protocol, analysis.settings)
    row = driver.execute(_FIND, named).fetchone()
    if row is None:
        into = (
            "INSERT INTO analyses (game_key, engine, protocol, settings, begun_ms) VALUES (?, ?, ?, ?, ?) RETURNING id"
        )
        row = driver.execute(into, (*named, analysis.begun_ms)).fetchone()
    elif replace:
        driver.execute("UPDATE analyses SET begun_ms = ? WHERE id = ?", (analysis.begun_ms, row[0]))
    for position in positions:
        values = (row[0], position.ply, position.fen)
        there = driver.execute(
            "SELECT id FROM analysed_positions WHERE analysis_id = ? AND ply = ? AND fen = ?", values
        ).fetchone()
        if there is not None and not replace:
            continue
        if there is None:
            into = "INSERT INTO analysed_positions (analysis_id, ply, fen, stands) VALUES (?, ?, ?, 0) RETURNING id"
            there = driver.execute(into, values).fetchone()
        driver.execute("DELETE FROM analysis_lines WHERE position_id = ?", there)
        lines = [ANALYSIS_LINES.row(line, there[0], seq) for seq, line in enumerate(position.lines)]
        insert_rows(driver, _LINES, lines)


def move_analyses(driver: sqlite3.Connection, keys: Mapping[str, str]) -> None:
    """These may be keys that others of them had."""
    if has_analyses(driver):
        moving = [(f"{_MOVING}{now}", was) for was, now in keys.items()]
        driver.executemany("UPDATE analyses SET game_key = ? WHERE game_key = ?", moving)
        driver.executemany(
            "UPDATE analyses SET game_key = substr(game_key, 2) WHERE game_key = ?", [(to,) for to, _ in moving]
        )


# games as they are shown: merged games in place of their members
_SHOWN: Final = (
    "SELECT DISTINCT coalesce(g.merged_into, g.id) FROM games g"
    " JOIN analyses a ON a.game_key = g.key WHERE g.source_id IS NOT NULL"
)
_POSITIONS: Final = (
    "SELECT p.id, p.ply, p.fen, p.stands FROM games g JOIN analyses a ON a.game_key = g.key"
    " JOIN analysed_positions p ON p.analysis_id = a.id"
    " WHERE g.source_id IS NOT NULL AND (g.id = :game OR g.merged_into = :game)"
)


class AnalysisCounts(NamedTuple):
    """``fallen``: positions that their game no longer has; ``wrong``: keys of games with a wrong mark of a position."""

    analyses: int
    positions: int
    fallen: int
    homeless: int
    wrong: list[str]


def shown_games(driver: sqlite3.Connection, key: str) -> list[int]:
    query = "SELECT coalesce(merged_into, id) FROM games WHERE key = ? AND source_id IS NOT NULL"
    return [number for (number,) in driver.execute(query, (key,))]


def touched_analyses(driver: sqlite3.Connection, members: Collection[int]) -> list[int]:
    """After games in ``temp.touched`` changed; ``members`` are rows of other members of their merged games."""
    if not has_analyses(driver):
        return []
    driver.executemany("INSERT OR IGNORE INTO temp.touched VALUES (?)", [(number,) for number in members])
    query = (
        "SELECT DISTINCT coalesce(g.merged_into, g.id) FROM temp.touched t CROSS JOIN games g ON g.id = t.id"
        " WHERE g.source_id IS NOT NULL AND EXISTS (SELECT 1 FROM games w JOIN analyses a ON a.game_key = w.key"
        " WHERE w.source_id IS NOT NULL AND (w.id = g.id OR w.merged_into = g.merged_into))"
    )
    return [number for (number,) in driver.execute(query)]


def settle_analyses(driver: sqlite3.Connection, games: Collection[int]) -> None:
    for _, changed in find_changed_validity(driver, games):
        driver.executemany("UPDATE analysed_positions SET stands = ? WHERE id = ?", changed)


def find_changed_validity(
    driver: sqlite3.Connection, games: Collection[int]
) -> list[tuple[str, list[tuple[bool, int]]]]:
    """Whether each position is valid whose stored mark differs, and its row number, by the game's key."""
    if not games:
        return []
    from recorder.model.boards import boards_by_ply, shown_board

    changes = []
    loaded = load_games(driver, list(games), **MOVES_ALONE)
    for number, game in zip(games, loaded, strict=True):
        positions = driver.execute(_POSITIONS, {"game": number}).fetchall()
        boards = boards_by_ply(game)
        changed = []
        for row_id, ply, fen, stands in positions:
            board = shown_board(fen)
            if (now := board is not None and boards.get(ply) == board) != bool(stands):
                changed.append((now, row_id))
        if changed:
            changes.append((game.key, changed))
    return changes


def count_analyses(driver: sqlite3.Connection) -> AnalysisCounts:
    """Nothing is changed."""
    shown = [number for (number,) in driver.execute(_SHOWN)]
    (analyses, homeless), (positions, fallen) = (
        driver.execute(query).fetchone()
        for query in (
            "SELECT count(*), count(*) FILTER (WHERE game_key NOT IN (SELECT key FROM games)) FROM analyses",
            "SELECT count(*), count(*) FILTER (WHERE NOT stands) FROM analysed_positions",
        )
    )
    return AnalysisCounts(
        analyses, positions, fallen, homeless, sorted(key for key, _ in find_changed_validity(driver, shown))
    )
