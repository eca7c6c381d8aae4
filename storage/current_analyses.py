"""Which analysed positions their games still have: a newer parser, or a log that grew, may tell a game otherwise.

A position stands where the game has the same men on the same squares after as many half-moves. What does not stand is
kept and not shown; it stands again when the game is as it was.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection
from typing import Final, NamedTuple

from storage.analyses import has_analyses
from storage.read.games import load_games

__all__ = ["AnalysisCounts", "count_analyses", "find_standing", "settle_analyses", "shown_games", "touched_analyses"]

# games as they are shown: those that several sources tell in place of their witnesses
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
    """What an archive has of analyses.

    Attributes:
        analyses, positions: how many there are.
        fallen: positions that their game has no more. homeless: analyses of games that are not there.
        wrong: keys of games of which it is not known rightly which positions stand.
    """

    analyses: int
    positions: int
    fallen: int
    homeless: int
    wrong: list[str]


def shown_games(driver: sqlite3.Connection, key: str) -> list[int]:
    """The row number of the game as it is shown of which some source tells under this key; none: it is not there."""
    query = "SELECT coalesce(merged_into, id) FROM games WHERE key = ? AND source_id IS NOT NULL"
    return [number for (number,) in driver.execute(query, (key,))]


def touched_analyses(driver: sqlite3.Connection, members: Collection[int]) -> list[int]:
    """Row numbers of the games to be looked at after those in ``temp.touched`` and their fellow witnesses changed.

    Args:
        driver: in a transaction. members: row numbers of witnesses.
    """
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
    """Find out again which positions stand.

    Args:
        driver: in a transaction. games: row numbers of games as they are shown.
    """
    for _, changed in find_standing(driver, games):
        driver.executemany("UPDATE analysed_positions SET stands = ? WHERE id = ?", changed)


def find_standing(driver: sqlite3.Connection, games: Collection[int]) -> list[tuple[str, list[tuple[bool, int]]]]:
    """By key of a game: whether each position stands of which something else is stored, and its row number."""
    if not games:
        return []
    from recorder.relating.examined import board_of, boards_after

    found = []
    loaded = load_games(
        driver,
        list(games),
        with_events=False,
        with_holdings=False,
        with_lines=False,
        with_thinking=False,
        whole_plies=True,
    )
    for number, game in zip(games, loaded, strict=True):
        positions = driver.execute(_POSITIONS, {"game": number}).fetchall()
        boards = boards_after(game, {ply for _, ply, _, _ in positions})
        changed = []
        for row_id, ply, fen, stands in positions:
            board = board_of(fen)
            if (now := board is not None and boards.get(ply) == board) != bool(stands):
                changed.append((now, row_id))
        if changed:
            found.append((game.key, changed))
    return found


def count_analyses(driver: sqlite3.Connection) -> AnalysisCounts:
    """Count, and find out again which positions stand; nothing is changed."""
    shown = [number for (number,) in driver.execute(_SHOWN)]
    (analyses, homeless), (positions, fallen) = (
        driver.execute(query).fetchone()
        for query in (
            "SELECT count(*), count(*) FILTER (WHERE game_key NOT IN (SELECT key FROM games)) FROM analyses",
            "SELECT count(*), count(*) FILTER (WHERE NOT stands) FROM analysed_positions",
        )
    )
    return AnalysisCounts(analyses, positions, fallen, homeless, sorted(key for key, _ in find_standing(driver, shown)))
