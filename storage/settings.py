"""Settings that outlive imports and rebuilds: forgotten players, and decisions about duplicates; the archive's id.

A row names two games by their keys in their sources, so it applies whatever those games are merged with. Which games
that makes is found by ``storage.write.merged``; here they are stored, moved with their games' keys, and taken over.
"""

from __future__ import annotations

import hashlib
import json
import secrets
import sqlite3
from collections.abc import Callable, Collection, Iterable
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from recorder.errors import StorageError

if TYPE_CHECKING:
    from recorder.relating.grouping import Decided, Pair

SECRET: Final = "pseudonym-secret"
"""The setting from which pseudonyms and the archive's id are made; a share does not have it."""

ARCHIVE_ID: Final = "archive-id"

CONTENT_VERSION: Final = "content-version"
"""The setting with a word that every transaction replaces that changes anything."""

FORGOTTEN = "forgotten-"

_SOURCE = f"{FORGOTTEN}source:"
_HANDLE = f"{FORGOTTEN}handle:"


class ForgottenSource(NamedTuple):
    """A log that was taken out; logs that begin with its decompressed bytes are the same one, grown."""

    sha256: str
    size_bytes: int
    name: str


def _value(driver: sqlite3.Connection, name: str) -> str | None:
    row = driver.execute("SELECT value FROM settings WHERE name = ?", (name,)).fetchone()
    return None if row is None else str(row[0])


def secret_of(driver: sqlite3.Connection) -> bytes | None:
    """None: the archive is a share."""
    digits = _value(driver, SECRET)
    return None if digits is None else bytes.fromhex(digits)


def archive_id(driver: sqlite3.Connection) -> str:
    """In a shared database: 16 hexadecimal digits, the same in its copies."""
    if (stored := _value(driver, ARCHIVE_ID)) is not None:
        return stored
    secret = secret_of(driver)
    if secret is None:
        raise StorageError("The archive has no id: it is a share that an older version of this program made.")
    return hashlib.blake2b(ARCHIVE_ID.encode(), key=secret, digest_size=8).hexdigest()


def content_version(driver: sqlite3.Connection) -> str | None:
    """A word that differs after each change of the archive; None: not known, because it is new."""
    return _value(driver, CONTENT_VERSION)


def _set(driver: sqlite3.Connection, name: str, value: str) -> None:
    driver.execute("INSERT OR REPLACE INTO settings (name, value) VALUES (?, ?)", (name, value))


def mark_changed(driver: sqlite3.Connection) -> None:
    """Replace the word; the last step of a transaction that changed anything."""
    _set(driver, CONTENT_VERSION, secrets.token_hex(8))


def _beginning(driver: sqlite3.Connection, prefix: str) -> list[tuple[str, Any]]:
    """The rest of each name, and the value."""
    query = "SELECT substr(name, ?), value FROM settings WHERE name GLOB ? ORDER BY name"
    return [(rest, json.loads(value)) for rest, value in driver.execute(query, (len(prefix) + 1, f"{prefix}*"))]


def forgotten_sources(driver: sqlite3.Connection) -> list[ForgottenSource]:
    return [ForgottenSource(sha256, **facts) for sha256, facts in _beginning(driver, _SOURCE)]


def note_source(driver: sqlite3.Connection, source: ForgottenSource) -> None:
    _set(driver, _SOURCE + source.sha256, json.dumps({"size_bytes": source.size_bytes, "name": source.name}))


def recall_source(driver: sqlite3.Connection, sha256: str) -> None:
    driver.execute("DELETE FROM settings WHERE name = ?", (_SOURCE + sha256,))


def forgotten_handles(driver: sqlite3.Connection) -> list[tuple[str, int, str]]:
    """Salt, length and hash of each."""
    return [(facts["salt"], facts["length"], digest) for digest, facts in _beginning(driver, _HANDLE)]


def note_handle(driver: sqlite3.Connection, handle: tuple[str, int, str]) -> None:
    salt, length, digest = handle
    _set(driver, _HANDLE + digest, json.dumps({"salt": salt, "length": length}))


def recall_handle(driver: sqlite3.Connection, handle: tuple[str, int, str]) -> None:
    driver.execute("DELETE FROM settings WHERE name = ?", (_HANDLE + handle[2],))


DECISIONS: Final = "duplicate:"
"""With which the names of these settings begin; two keys follow, the lesser first."""


class Decision(NamedTuple):
    key: str
    other: str
    same: bool
    decided_ms: int


def decisions(driver: sqlite3.Connection) -> list[Decision]:
    rows = [(keys.split(":"), facts) for keys, facts in _beginning(driver, DECISIONS)]
    return [Decision(key, other, facts["same"], facts["decided_ms"]) for (key, other), facts in rows]


def load_decided(driver: sqlite3.Connection) -> Decided:
    from recorder.relating.grouping import Decided

    entries = decisions(driver)
    return Decided(
        frozenset((decision.key, decision.other) for decision in entries if decision.same),
        frozenset((decision.key, decision.other) for decision in entries if not decision.same),
    )


def decide(driver: sqlite3.Connection, pairs: Collection[Pair], *, same: bool, now_ms: int) -> None:
    store_decisions(driver, (Decision(*pair, same, now_ms) for pair in pairs))


def store_decisions(driver: sqlite3.Connection, entries: Iterable[Decision]) -> None:
    """Those about the same games are replaced."""
    for decision in entries:
        facts = {"same": decision.same, "decided_ms": decision.decided_ms}
        _set(driver, f"{DECISIONS}{decision.key}:{decision.other}", json.dumps(facts))


def rename_decisions(driver: sqlite3.Connection, renamed: Callable[[str], str]) -> None:
    """These may be keys that others of them had."""
    before = decisions(driver)
    if not before:
        return
    from recorder.relating.grouping import pair_of

    after = [old._replace(key=renamed(old.key), other=renamed(old.other)) for old in before]
    changed = [(old, new) for old, new in zip(before, after, strict=True) if old != new]
    names = [(f"{DECISIONS}{old.key}:{old.other}",) for old, _ in changed]
    driver.executemany("DELETE FROM settings WHERE name = ?", names)
    store_decisions(driver, (Decision(*pair_of(new.key, new.other), new.same, new.decided_ms) for _, new in changed))


def take_over_decisions(
    theirs: sqlite3.Connection, driver: sqlite3.Connection, home: Callable[[str], str | None]
) -> list[Decision]:
    """Of two about the same games the later one counts. ``home``: the key here; None: the game keeps its key."""
    from recorder.relating.grouping import pair_of

    here = {(decision.key, decision.other): decision for decision in decisions(driver)}
    taken = []
    for decision in decisions(theirs):
        pair = pair_of(home(decision.key) or decision.key, home(decision.other) or decision.other)
        ours = here.get(pair)
        # Of two of one moment the one that keeps games apart, so that no order of archives counts.
        if ours is None or (decision.decided_ms, not decision.same) > (ours.decided_ms, not ours.same):
            taken.append(Decision(*pair, decision.same, decision.decided_ms))
    store_decisions(driver, taken)
    return taken
