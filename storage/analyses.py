"""The analyses of an archive: which there are, storing them, and taking over those of another archive.

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

__all__ = ["ArchiveAnalyses", "keys_here"]


class ArchiveAnalyses:
    """What engines found in the games of an archive.

    Args:
        database: of the archive.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def analysed_plies(self, game: Game, analysis: Analysis) -> set[int]:
        """After which plies an engine has looked at the game's positions with the same settings.

        Args:
            analysis: its engine, protocol and settings count.
        """
        with self._database.reading() as driver:
            return current_plies(driver, (game.key, *game.merged_from), analysis)

    def engines(self) -> list[str]:
        """The names of all engines that have analysed a game, by alphabet."""
        with self._database.reading() as driver:
            return analysts(driver)

    def add(
        self, key: str, analysis: Analysis, positions: Collection[AnalysedPosition], *, again: bool = False
    ) -> None:
        """Store an engine's analysis of positions of a game.

        Args:
            key: the game's. analysis: by which engine, with which settings; the lines are those of ``positions``.
            again: replace what is stored of the same positions.
        """
        with self._database.writing() as connection:
            store_positions(driver_of(connection), key, analysis, positions, replace=again)
            settle_analyses(driver_of(connection), shown_games(driver_of(connection), key))

    def take_over(self, other: ArchiveAnalyses, *, homeless: bool = False) -> tuple[int, int]:
        """Take over the analyses of another archive for the games that are here.

        Args:
            homeless: take those of other games, too.
        Returns:
            How many were taken, and how many are of games that are not here.
        """
        with other._database.reading() as theirs, self._database.writing() as connection:
            return _take_over(theirs, driver_of(connection), homeless=homeless)

    def count(self) -> AnalysisCounts:
        """How many analyses there are, and whether what is known of their positions is right."""
        with self._database.reading() as driver:
            return count_analyses(driver)


def _take_over(theirs: sqlite3.Connection, driver: sqlite3.Connection, *, homeless: bool) -> tuple[int, int]:
    """Take over analyses. Of a position that is analysed in both archives, what is here stays.

    A game is looked for by its source and key, by its source and place in it (a newer parser may read
    its start differently), and by its key alone, unless others there have it, too (a longer log may have the place of
    its source).

    Args:
        theirs: the other archive. driver: of this one, in a transaction.
        homeless: take those of games that are not here, too.
    Returns:
        How many were taken, and how many are of games that are not here.
    """
    if not has_analyses(theirs):
        return 0, 0
    home = keys_here(theirs, driver)
    taken = lost = 0
    shown: set[int] = set()
    for one in stored_analyses(theirs):
        key = home(one.key)
        lost += key is None
        if key is None and not homeless:
            continue
        taken += 1
        store_positions(driver, key or one.key, one.analysis, one.positions)
        shown.update(shown_games(driver, key or one.key))
    settle_analyses(driver, shown)
    return taken, lost


def keys_here(theirs: sqlite3.Connection, driver: sqlite3.Connection) -> Callable[[str], str | None]:
    """Gives the key that a game of the other archive has here; None: it is not here."""
    shared = {key: wanted for wanted, chain in find_successors(theirs).items() for key in chain}
    here = find_successors(driver)
    place = (
        "SELECT s.sha256, g.first_offset FROM games g JOIN sources s ON s.id = g.source_id"
        " WHERE g.key = ? AND g.source_id IS NOT NULL"
    )

    def home(key: str) -> str | None:
        wanted = shared.get(key, key)
        sha256, offset = theirs.execute(place, (key,)).fetchone() or (None, None)
        return _home(driver, sha256, offset, here.get(wanted, [wanted]), alone=key not in shared)

    return home


def _home(
    driver: sqlite3.Connection, sha256: str | None, offset: int | None, keys: list[str], *, alone: bool
) -> str | None:
    """The key that a game has here, of those that games with equal facts have; None: it is not here.

    Args:
        sha256, offset: of the source that gives it in the other archive, and where; None: none does.
        alone: it is the only one of those in its own archive.
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
