"""Probable duplicates of an archive, and a person's decisions about which games are one."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import combinations, product
from typing import TYPE_CHECKING

from recorder.errors import StorageError
from recorder.model import EventKind, Game
from storage.analyses import keys_here
from storage.database import Database
from storage.files import driver_of
from storage.read.game_filter import GameFilter
from storage.read.games import load_games
from storage.read.query import game_keys, resolve
from storage.settings import Decision, decide, decisions, load_decided, take_over_decisions
from storage.write.merged import candidate_groups, relate, touch_keys

if TYPE_CHECKING:
    from recorder.relating.duplicates import DuplicateGroup

_SHOWN = "SELECT coalesce(merged_into, id) FROM games WHERE id = ?"
_KEYS = "SELECT key FROM games WHERE source_id IS NOT NULL AND (id = :row OR merged_into = :row) ORDER BY key"


class _DryRunError(Exception):
    """Nothing is to be stored: undoes the transaction."""


class DuplicateGames:
    """What an archive knows of duplicates."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def probable_duplicates(self) -> list[DuplicateGroup]:
        """Probable duplicates, by groups of games that may have to do with each other."""
        with self._database.reading() as driver:
            return list(_duplicate_groups(driver))

    def folded(self, where: GameFilter) -> frozenset[str]:
        """Keys of the games among those that match which are probable duplicates of another one, which stays.

        ``last`` does not count.
        """
        with self._database.reading() as driver:
            found = list(_duplicate_groups(driver))
            if not found:
                return frozenset()
            from recorder.relating.duplicates import fold

            return frozenset(fold(found, game_keys(driver, replace(where, last=None))))

    def decisions(self) -> list[Decision]:
        """What a person decided about games, by their keys."""
        with self._database.reading() as driver:
            return decisions(driver)

    def merge(self, one: str, other: str, *, dry_run: bool = False) -> list[Game]:
        """Record that two games are one, whatever was decided or found before; return the games in place of these."""
        return self._decide(partial(_to_merge, one=one, other=other), same=True, dry_run=dry_run)

    def merge_all(self, *, dry_run: bool = False) -> list[Game]:
        """Record that all probable duplicates are one game each, as ``folded`` counts them.

        Return the games in place of them.
        """
        return self._decide(_to_merge_all, same=True, dry_run=dry_run)

    def split(self, spec: str, *, dry_run: bool = False) -> list[Game]:
        """Record that a game is not one with those that it was merged with, or that are listed as probable duplicates.

        What was merged by hand falls apart as it was before. Else the key of one observation's game separates that one
        from the others, and the key of the merged game separates all. Return the games that there are then in place of
        this one and its probable duplicates.
        """
        return self._decide(partial(_to_split, spec=spec), same=False, dry_run=dry_run)

    def _decide(
        self, find: Callable[[sqlite3.Connection], list[tuple[str, str]]], *, same: bool, dry_run: bool
    ) -> list[Game]:
        """Record decisions about the pairs of keys that ``find`` gives."""
        found: list[Game] = []
        try:
            with self._database.writing() as connection:
                driver = driver_of(connection)
                pairs = find(driver)
                decide(driver, pairs, same=same, now_ms=time.time_ns() // 1_000_000)
                keys = sorted({key for pair in pairs for key in pair})
                touch_keys(driver, keys)
                relate(driver)
                found = _load(driver, sorted({resolve(driver, key) for key in keys}))
                if dry_run:
                    raise _DryRunError
        except _DryRunError:
            pass
        return sorted(found, key=lambda game: game.key)

    def take_over_decisions(self, other: DuplicateGames) -> int:
        """Take over the decisions of another archive; of two about the same games the later one counts.

        Return how many were taken.
        """
        with other._database.reading() as theirs, self._database.writing() as connection:
            driver = driver_of(connection)
            taken = take_over_decisions(theirs, driver, keys_here(theirs, driver))
            touch_keys(driver, {key for one in taken for key in (one.key, one.other)})
            return len(taken)


def _load(driver: sqlite3.Connection, ids: list[int]) -> list[Game]:
    return list(load_games(driver, ids, with_events=EventKind.FEED, with_holdings=False, with_thinking=False))


def _duplicate_groups(driver: sqlite3.Connection) -> Iterator[DuplicateGroup]:
    decided = load_decided(driver)
    for group in list(candidate_groups(driver, decided)):
        shown = {number: driver.execute(_SHOWN, (number,)).fetchone()[0] for number in group}
        listed = sorted(set(shown.values()))
        if len(listed) < 2:
            continue
        from recorder.relating.duplicates import find_duplicates

        games = dict(zip(listed, _load(driver, listed), strict=True))
        members = dict(zip(group, _load(driver, group), strict=True))
        found = find_duplicates(list(members.values()), {members[row].key: games[shown[row]] for row in group}, decided)
        if found.pairs:
            yield found


def _keys(driver: sqlite3.Connection, row: int) -> list[str]:
    """The keys of a game as its sources give it."""
    return [key for (key,) in driver.execute(_KEYS, {"row": row})]


def _to_merge(driver: sqlite3.Connection, one: str, other: str) -> list[tuple[str, str]]:
    """Pairs of keys that make two games one."""
    from recorder.relating.duplicates import why_never_one
    from recorder.relating.grouping import pair_of

    rows = [resolve(driver, one), resolve(driver, other)]
    if rows[0] == rows[1]:
        raise StorageError(f"{one} and {other} are already one game.")
    games = _load(driver, sorted(rows))
    why = why_never_one(*games)
    if why is not None:
        raise StorageError(f"{one} and {other} cannot be one game: {why}.")
    return [pair_of(*pair) for pair in product(_keys(driver, rows[0]), _keys(driver, rows[1]))]


def _to_merge_all(driver: sqlite3.Connection) -> list[tuple[str, str]]:
    """Pairs of keys that make one game of each group of probable duplicates."""
    from recorder.relating.duplicates import fold
    from recorder.relating.grouping import pair_of

    groups = list(_duplicate_groups(driver))
    chosen = {key for group in groups for pair in group.pairs for key in (pair.key, pair.other)}
    rows = {key: resolve(driver, key) for key in chosen}
    return [
        pair_of(*pair)
        for one, other in fold(groups, chosen).items()
        for pair in product(_keys(driver, rows[one]), _keys(driver, rows[other]))
    ]


def _to_split(driver: sqlite3.Connection, spec: str) -> list[tuple[str, str]]:
    """Pairs of keys that separate a game."""
    from recorder.relating.grouping import pair_of

    row = resolve(driver, spec)
    keys = _keys(driver, row)
    named = [key for key in keys if key.startswith(spec.lower())]
    key = named[0] if len(named) == 1 else keys[0]
    same = load_decided(driver).same
    by_hand = [other for other in keys if pair_of(key, other) in same]
    if by_hand:
        return [pair_of(*pair) for pair in product((one for one in keys if one not in by_hand), by_hand)]
    if len(keys) > 1 and key != keys[0]:
        return [pair_of(key, other) for other in keys if other != key]
    if len(keys) > 1:
        return list(combinations(keys, 2))
    (shown,) = driver.execute("SELECT key FROM games WHERE id = ?", (row,)).fetchone()
    others = {
        other
        for found in _duplicate_groups(driver)
        for pair in found.pairs
        if shown in (pair.key, pair.other)
        for other in _keys(driver, resolve(driver, pair.other if pair.key == shown else pair.key))
    }
    if not others:
        raise StorageError(f"{spec} is a game of one source without probable duplicates: there is nothing to split.")
    return [pair_of(key, other) for other in sorted(others)]
