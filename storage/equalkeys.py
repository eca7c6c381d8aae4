"""Games with equal keys: copies of a log that go on differently have games of which all facts of the key are equal.

What two sources tell of one game is two rows, whether they are one game or not. One of them has the key, the others
have its successors. Of a successor nobody can tell whose it is but by trying: what follows looks at all keys, so it is
for what is done once in a while.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from storage.analyses import move_analyses
from storage.decisions import rename_decisions
from storage.relating import touch

__all__ = ["closing_up", "find_successors", "order_of_sources", "restore_order", "successor"]

_GAME = "SELECT id FROM games WHERE key = ? AND source_id IS NOT NULL"
_MOVING = "~"  # no key begins with it


def successor(wanted: str, number: int) -> str:
    """The key of the game that is number 2, 3 … among those with the key ``wanted``."""
    return hashlib.sha256(f"{wanted}:{number}".encode()).hexdigest()[: len(wanted)]


def find_successors(driver: sqlite3.Connection) -> dict[str, list[str]]:
    """Keys that several games want, each with itself and all its successors that are in use, in their order."""
    keys = {key for (key,) in driver.execute("SELECT key FROM games WHERE source_id IS NOT NULL")}
    found: dict[str, list[str]] = {}
    for wanted in keys:
        if successor(wanted, 2) in keys:
            chain = found[wanted] = [wanted]
            while (key := successor(wanted, len(chain) + 1)) in keys:
                chain.append(key)
    return found


@contextmanager
def closing_up(driver: sqlite3.Connection) -> Iterator[None]:
    """Games may be deleted in the block: afterwards those with equal keys have the key and its first successors.

    Args:
        driver: in a transaction.
    """
    before = find_successors(driver)
    yield
    for chain in before.values():
        _close_up(driver, chain)


def _close_up(driver: sqlite3.Connection, chain: list[str]) -> None:
    left = [(chain.index(key), number) for key in chain for number in _game(driver, key)]
    _move(driver, [(chain[place], number) for place, (was, number) in enumerate(left) if place != was])


def _move(driver: sqlite3.Connection, moving: list[tuple[str, int]]) -> None:
    """Give games other keys; those may be keys that others of them have."""
    keys: dict[str, str] = {}
    for key, number in moving:
        touch(driver, "VALUES (?)", (number,))
        keys[driver.execute("SELECT key FROM games WHERE id = ?", (number,)).fetchone()[0]] = key
    move_analyses(driver, keys)
    rename_decisions(driver, lambda key: keys.get(key, key))
    driver.executemany("UPDATE games SET key = ? || key WHERE id = ?", [(_MOVING, number) for _, number in moving])
    driver.executemany("UPDATE games SET key = ? WHERE id = ?", moving)


def _game(driver: sqlite3.Connection, key: str) -> list[int]:
    return [number for (number,) in driver.execute(_GAME, (key,))]


def order_of_sources(driver: sqlite3.Connection) -> dict[str, list[str]]:
    """For each key that several games want the sha256 of their sources, in the order of the keys they have."""
    query = "SELECT sha256 FROM games JOIN sources ON sources.id = source_id WHERE key = ? AND source_id IS NOT NULL"
    return {
        wanted: [sha256 for key in chain for (sha256,) in driver.execute(query, (key,))]
        for wanted, chain in find_successors(driver).items()
    }


def restore_order(driver: sqlite3.Connection, wanted: dict[str, list[str]]) -> None:
    """Give games with equal keys the order that they had in another archive, as far as they are of the same sources.

    Args:
        driver: in a transaction. wanted: as ``order_of_sources`` gave it there.
    """
    for key, order in order_of_sources(driver).items():
        before = wanted.get(key, order)
        if before == order or sorted(before) != sorted(order) or len(set(order)) < len(order):
            continue
        chain = [key, *(successor(key, number) for number in range(2, len(order) + 1))]
        games = [number for one in chain for number in _game(driver, one)]
        _move(driver, [(chain[before.index(sha256)], number) for sha256, number in zip(order, games, strict=True)])
