"""Analyses and decisions from one archive into another: a merger's, or the one that is made anew."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

from storage.analyses import has_analyses, store_positions, stored_analyses
from storage.current_analyses import settle_analyses, shown_games
from storage.settings import carry_decisions
from storage.write.games import find_successors
from storage.write.merged import touch_keys

__all__ = ["carry_analyses", "carry_verdicts"]


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
    home = _homes(theirs, driver)
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


def carry_verdicts(theirs: sqlite3.Connection, driver: sqlite3.Connection) -> int:
    """Take over what a person decided about duplicates, also about games that are not here.

    Args:
        theirs: the other archive. driver: of this one, in a transaction.
    Returns:
        How many decisions were taken.
    """
    taken = carry_decisions(theirs, driver, _homes(theirs, driver))
    touch_keys(driver, {key for one in taken for key in (one.key, one.other)})
    return len(taken)


def _homes(theirs: sqlite3.Connection, driver: sqlite3.Connection) -> Callable[[str], str | None]:
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
