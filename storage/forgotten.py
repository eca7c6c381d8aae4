"""What an archive was told to forget: rows of ``settings`` that outlive rebuilds, backups and merges, not a share."""

from __future__ import annotations

import json
import sqlite3
from typing import NamedTuple

__all__ = [
    "PREFIX",
    "ForgottenSource",
    "forgotten_handles",
    "forgotten_sources",
    "note_handle",
    "note_source",
    "recall_handle",
    "recall_source",
]

PREFIX = "forgotten-"
"""With which the names of all these settings begin."""

_SOURCE = f"{PREFIX}source:"
_HANDLE = f"{PREFIX}handle:"


class ForgottenSource(NamedTuple):
    """A log that was taken out.

    Attributes:
        sha256, size_bytes: of its decompressed bytes: a log that begins with them is the same one, grown.
        name: as ``sources`` printed it.
    """

    sha256: str
    size_bytes: int
    name: str


def forgotten_sources(driver: sqlite3.Connection) -> list[ForgottenSource]:
    """The logs that were taken out and not asked for again, by sha256."""
    rows = driver.execute(
        "SELECT substr(name, ?), value FROM settings WHERE name GLOB ? ORDER BY name", (len(_SOURCE) + 1, f"{_SOURCE}*")
    )
    return [ForgottenSource(sha256, **json.loads(value)) for sha256, value in rows]


def note_source(driver: sqlite3.Connection, source: ForgottenSource) -> None:
    """Remember a log as forgotten."""
    facts = {"size_bytes": source.size_bytes, "name": source.name}
    driver.execute(
        "INSERT OR REPLACE INTO settings (name, value) VALUES (?, ?)", (_SOURCE + source.sha256, json.dumps(facts))
    )


def recall_source(driver: sqlite3.Connection, sha256: str) -> None:
    """A log is wanted again."""
    driver.execute("DELETE FROM settings WHERE name = ?", (_SOURCE + sha256,))


def forgotten_handles(driver: sqlite3.Connection) -> list[tuple[str, int, str]]:
    """What is remembered of players who are to be forgotten: salt, length and hash of each handle."""
    rows = driver.execute(
        "SELECT substr(name, ?), value FROM settings WHERE name GLOB ? ORDER BY name", (len(_HANDLE) + 1, f"{_HANDLE}*")
    )
    return [(facts["salt"], facts["length"], found) for found, facts in ((row[0], json.loads(row[1])) for row in rows)]


def note_handle(driver: sqlite3.Connection, handle: tuple[str, int, str]) -> None:
    """Remember a handle's hash."""
    salt, length, found = handle
    driver.execute(
        "INSERT OR REPLACE INTO settings (name, value) VALUES (?, ?)",
        (_HANDLE + found, json.dumps({"salt": salt, "length": length})),
    )


def recall_handle(driver: sqlite3.Connection, handle: tuple[str, int, str]) -> None:
    """A player need not be forgotten any more."""
    driver.execute("DELETE FROM settings WHERE name = ?", (_HANDLE + handle[2],))
