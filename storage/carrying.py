"""Analyses from one archive into another: a merger's, or the one that is made anew."""

from __future__ import annotations

import sqlite3

from storage.analyses import StoredAnalysis, has_analyses, store_positions, stored_analyses
from storage.equalkeys import find_successors
from storage.standing import settle_analyses, shown_games

__all__ = ["carry_analyses"]


def carry_analyses(theirs: sqlite3.Connection, driver: sqlite3.Connection, *, homeless: bool) -> tuple[int, int]:
    """Take over analyses. Of a position that is analysed in both archives, what is here stays.

    A game is looked for by its source and key, by its source and place in it (a newer parser may tell otherwise how it
    began), and by its key alone, unless others there have it, too (a longer log may have the place of its source).

    Args:
        theirs: the other archive. driver: of this one, in a transaction.
        homeless: take those of games that are not here, too.
    Returns:
        How many were taken, and how many are of games that are not here.
    """
    if not has_analyses(theirs):
        return 0, 0
    shared = {key: wanted for wanted, chain in find_successors(theirs).items() for key in chain}
    here = find_successors(driver)
    taken = lost = 0
    shown: set[int] = set()
    for one in stored_analyses(theirs):
        wanted = shared.get(one.key, one.key)
        key = _home(driver, one, here.get(wanted, [wanted]), alone=one.key not in shared)
        lost += key is None
        if key is None and not homeless:
            continue
        taken += 1
        store_positions(driver, key or one.key, one.analysis, one.positions)
        shown.update(shown_games(driver, key or one.key))
    settle_analyses(driver, shown)
    return taken, lost


def _home(driver: sqlite3.Connection, one: StoredAnalysis, keys: list[str], *, alone: bool) -> str | None:
    """The key that the game has here, of those that games with equal facts have; None: it is not here.

    ``alone``: it is the only one of those in its own archive.
    """
    query = "SELECT g.key, s.sha256 FROM games g JOIN sources s ON s.id = g.source_id WHERE g.key = ?"
    found = {key: sha256 for wanted in keys for key, sha256 in driver.execute(query, (wanted,))}
    same = [key for key, sha256 in found.items() if sha256 == one.sha256]
    if not same:
        query = (
            "SELECT g.key FROM games g JOIN sources s ON s.id = g.source_id WHERE s.sha256 = ? AND g.first_offset = ?"
        )
        placed = [key for (key,) in driver.execute(query, (one.sha256, one.first_offset))]
        same = placed if len(placed) == 1 else list(found) if alone else []
    return same[0] if same else None
