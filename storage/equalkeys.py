"""Games with equal keys: copies of a log that go on differently have games of which all facts of the key are equal.

Until witnesses are merged, two sources of one game are two games. One of them has the key, the others have its
successors. Of a successor nobody can tell whose it is but by trying: what follows looks at all keys, so it is for
what is done once in a while.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["closing_up", "find_successors", "successor"]

_MOVING = "~"  # no key begins with it


def successor(wanted: str, number: int) -> str:
    """The key of the game that is number 2, 3 … among those with the key ``wanted``."""
    return hashlib.sha256(f"{wanted}:{number}".encode()).hexdigest()[: len(wanted)]


def find_successors(driver: sqlite3.Connection) -> dict[str, list[str]]:
    """Keys that several games want, each with itself and all its successors that are in use, in their order."""
    keys = {key for (key,) in driver.execute("SELECT key FROM games")}
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
    moving = [(chain[place], number) for place, (was, number) in enumerate(left) if place != was]
    driver.executemany("UPDATE games SET key = ? || key WHERE id = ?", [(_MOVING, number) for _, number in moving])
    driver.executemany("UPDATE games SET key = ? WHERE id = ?", moving)


def _game(driver: sqlite3.Connection, key: str) -> list[int]:
    return [number for (number,) in driver.execute("SELECT id FROM games WHERE key = ?", (key,))]
