"""The analyses of an archive: list and store them, and copy those of another archive.

The rows of an analysis belong to a game's key, because a game's own rows are deleted and written again. Reading a log
again deletes no analyses, and an operation that changes a game's key changes theirs.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection

from recorder.model import AnalysedPosition, Analysis, Game
from storage.database import Database
from storage.files import driver_of
from storage.read.analyses import analysts, current_plies, has_analyses, stored_analyses
from storage.write.analyses import AnalysisCounts, count_analyses, settle_analyses, shown_games, store_positions
from storage.write.games import find_successors


class ArchiveAnalyses:
    """What engines found in the games of an archive."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def analysed_plies(self, game: Game, analysis: Analysis) -> set[int]:
        """The plies of a game whose positions an engine has analysed with the same settings."""
        with self._database.reading() as driver:
            return current_plies(driver, (game.key, *game.merged_from), analysis)

    def engines(self) -> list[str]:
        """The names of all engines that have analysed a game, in alphabetical order."""
        with self._database.reading() as driver:
            return analysts(driver)

    def add(
        self, key: str, analysis: Analysis, positions: Collection[AnalysedPosition], *, again: bool = False
    ) -> None:
        """Store an engine's analysis of positions of a game.

        The analysis's own lines are ignored: ``positions`` has them. ``again``: replace stored analyses of the same
        positions.
        """
        with self._database.writing() as connection:
            store_positions(driver_of(connection), key, analysis, positions, replace=again)
            settle_analyses(driver_of(connection), shown_games(driver_of(connection), key))

    def take_over(self, other: ArchiveAnalyses, *, homeless: bool = False) -> tuple[int, int]:
        """Copy the analyses of another archive for the games of this one; ``homeless``: also those of other games.

        Return how many were copied, and how many are of games that are not here.
        """
        with other._database.reading() as theirs, self._database.writing() as connection:
            return _take_over(theirs, driver_of(connection), homeless=homeless)

    def count(self) -> AnalysisCounts:
        """Count the analyses, and check their positions against the games."""
        with self._database.reading() as driver:
            return count_analyses(driver)


def _take_over(theirs: sqlite3.Connection, driver: sqlite3.Connection, *, homeless: bool) -> tuple[int, int]:
    """Copy analyses from another archive. If both have analysed a position, the analysis here stays.

    A game is found by its source and key. If that fails, by its source and offset, because a newer parser may read its
    start differently; or by its key alone, unless several games of the other archive share that key, because a longer
    log may have replaced its source.
    """
    if not has_analyses(theirs):
        return 0, 0
    find_key = keys_here(theirs, driver)
    taken = missing = 0
    shown: set[int] = set()
    for stored in stored_analyses(theirs):
        key = find_key(stored.key)
        missing += key is None
        if key is None and not homeless:
            continue
        taken += 1
        store_positions(driver, key or stored.key, stored.analysis, stored.positions)
        shown.update(shown_games(driver, key or stored.key))
    settle_analyses(driver, shown)
    return taken, missing


def keys_here(theirs: sqlite3.Connection, driver: sqlite3.Connection) -> Callable[[str], str | None]:
    """A function from a game's key in the other archive to its key here, or None."""
    shared = {key: wanted for wanted, chain in find_successors(theirs).items() for key in chain}
    here = find_successors(driver)
    query = (
        "SELECT s.sha256, g.first_offset FROM games g JOIN sources s ON s.id = g.source_id"
        " WHERE g.key = ? AND g.source_id IS NOT NULL"
    )

    def find_key(key: str) -> str | None:
        wanted = shared.get(key, key)
        sha256, offset = theirs.execute(query, (key,)).fetchone() or (None, None)
        return _find_key(driver, sha256, offset, here.get(wanted, [wanted]), alone=key not in shared)

    return find_key


def _find_key(
    driver: sqlite3.Connection, sha256: str | None, offset: int | None, keys: list[str], *, alone: bool
) -> str | None:
    """Return the key of another archive's game here: by source and offset, else by the equal ``keys``.

    ``alone``: no other game of the other archive has equal facts.
    """
    query = "SELECT g.key, s.sha256 FROM games g JOIN sources s ON s.id = g.source_id WHERE g.key = ?"
    found = {key: its for wanted in keys for key, its in driver.execute(query, (wanted,))}
    same = [key for key, its in found.items() if its == sha256]
    if not same:
        query = (
            "SELECT g.key FROM games g JOIN sources s ON s.id = g.source_id WHERE s.sha256 = ? AND g.first_offset = ?"
        )
        placed = [key for (key,) in driver.execute(query, (sha256, offset))]
        same = placed if len(placed) == 1 else list(found) if alone else []
    return same[0] if same else None
