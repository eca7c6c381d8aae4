"""``db share``: a copy that can be given away."""

from __future__ import annotations

import hashlib
import json
import re
import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path

from recorder.errors import StorageError
from recorder.model import EventKind
from storage.files import copy_to, open_sqlite, written_beside
from storage.read.query import fold
from storage.schema.upgrade import require_current
from storage.schema.views import VIEWS
from storage.settings import FORGOTTEN as FORGOTTEN
from storage.settings import rename_decisions

__all__ = [
    "PUBLIC_CHAT",
    "Rewrite",
    "share",
]

PUBLIC_CHAT = ("kibitz", "whisper")
"""Kinds of chat that anybody at the board could read; a share has no other."""

_WORD = re.compile(r"[A-Za-z0-9_-]+")
_HARMLESS = re.compile(r"-?[0-9]{1,19}(?:\.[0-9]{1,9})?|true|false")

# columns with handles alone, and columns with text in which handles may stand
_HANDLES = (
    ("players", "handle"),
    ("games", "white"),
    ("games", "black"),
    ("games", "me"),
    ("observations", "white"),
    ("observations", "black"),
    ("events", "actor"),
    ("thinking", "engine"),
    ("sources", "me"),
)
_TEXTS = (
    ("games", "reason"),
    ("events", "text"),
    ("thinking", "pv"),
    ("analyses", "engine"),
    ("analysis_lines", "pv"),
    ("anomalies", "message"),
    ("game_evidence", "text"),
    ("game_links", "evidence"),
    ("sources", "name"),  # with pseudonyms it is one itself: a file's name often has handles in it
)

Rewrite = Callable[[str], str]


def share(path: Path, target: Path, *, pseudonyms: bool = False, redact: Sequence[str] = ()) -> None:
    """Write a copy without sources' bytes and paths, private chat, and lines that may hold what the user typed.

    Args:
        path: the archive. target: the copy, which must not exist; mode 0600 like every archive.
        pseudonyms: replace each handle by a word that is the same in all shares of this archive, in texts too, and
            each log's name.
        redact: regular expressions (case-insensitive); what they match in texts becomes ``[redacted]``.
    Raises:
        StorageError: the archive cannot be read, the target exists, or one of ``redact`` is no regular expression.
    """
    require_current(path)
    rewrites = [_redaction(expression) for expression in redact]
    with written_beside(target) as unfinished:
        copy_to(path, unfinished)
        connection = open_sqlite(unfinished)
        try:
            _strip(connection, pseudonyms, rewrites)
        finally:
            connection.close()


def _redaction(expression: str) -> Rewrite:
    try:
        pattern = re.compile(expression, re.IGNORECASE)
    except re.error as error:
        raise StorageError(f"--redact {expression!r} is no regular expression: {error}.") from error
    return lambda text: pattern.sub("[redacted]", text)


def _strip(connection: sqlite3.Connection, pseudonyms: bool, rewrites: list[Rewrite]) -> None:
    connection.execute("PRAGMA secure_delete=ON")
    connection.execute("BEGIN IMMEDIATE")
    _drop_foreign(connection)
    # the restart state holds lines that were not whole yet; shapes and anomalies quote lines as they came
    connection.execute("DELETE FROM source_chunks")
    connection.execute("DELETE FROM source_shapes")
    connection.execute(
        "UPDATE sources SET path = NULL, kept_bytes = 0, restart_state = '{}', read_up_to = 0, warnings = '[]',"
        " options = '{}', timing = NULL"
    )
    connection.execute("UPDATE anomalies SET text = ''")
    _strip_settings(connection)
    connection.execute(
        f"DELETE FROM events WHERE kind = ? AND detail NOT IN ({', '.join('?' * len(PUBLIC_CHAT))})",
        (EventKind.CHAT.value, *PUBLIC_CHAT),
    )
    if pseudonyms:
        secret = _secret(connection)
        names = _pseudonyms(connection, secret)
        rewrites = [*rewrites, lambda text: _WORD.sub(lambda word: names.get(fold(word[0]), word[0]), text)]
        connection.create_function("pseudonym", 1, lambda handle: handle and names[fold(handle)], deterministic=True)
        for table, column in _HANDLES:
            connection.execute(f"UPDATE {table} SET {column} = pseudonym({column}) WHERE {column} IS NOT NULL")
        connection.execute("UPDATE players SET handle_folded = lower(handle)")
        connection.create_function("renamed", 1, lambda name: f"log-{_keyed(name, secret, 6)}", deterministic=True)
        connection.execute("UPDATE sources SET name = renamed(name)")
        # A key is a hash of the handles and of facts that are in the copy: it would tell whether a guessed pair fits.
        connection.create_function("rekey", 1, lambda key: _keyed(key, secret, len(key) // 2), deterministic=True)
        connection.execute("UPDATE games SET key = rekey(key)")
        connection.execute("UPDATE analyses SET game_key = rekey(game_key)")
        rename_decisions(connection, lambda key: _keyed(key, secret, len(key) // 2))
        least = "SELECT min(key) FROM games AS w WHERE w.merged_into = games.id"
        connection.execute(f"UPDATE games SET key = ({least}) WHERE source_id IS NULL")
    for rewrite in rewrites:
        connection.create_function("rewrite", 1, rewrite, deterministic=True)
        for table, column in _TEXTS:
            connection.execute(f"UPDATE {table} SET {column} = rewrite({column}) WHERE {column} IS NOT NULL")
    connection.execute("DELETE FROM settings WHERE name = 'pseudonym-secret' OR name GLOB ?", (f"{FORGOTTEN}*",))
    connection.execute("COMMIT")
    connection.execute("VACUUM")  # nothing deleted stays in free pages


def _drop_foreign(connection: sqlite3.Connection) -> None:
    """Drop what is not part of an archive: a trigger could copy what is deleted, a table may hold anything."""
    from storage.schema.tables import metadata

    own = {*metadata.tables, "alembic_version", *(sql.split()[2] for sql in VIEWS)}
    found = connection.execute("SELECT type, name FROM sqlite_master WHERE type IN ('table', 'trigger', 'view')")
    for kind, name in sorted(found.fetchall(), key=lambda one: one[0] != "trigger"):
        if kind == "trigger" or (name not in own and not name.startswith("sqlite_")):
            connection.execute(f'DROP {kind} "{name.replace(chr(34), chr(34) * 2)}"')


def _strip_settings(connection: sqlite3.Connection) -> None:
    """Values of engines' options may be files and names; numbers and words that choose are the analysis' conditions.

    Of the others a mark is left, so that settings that differ go on to.
    """
    secret = _secret(connection)
    for number, text in connection.execute("SELECT id, settings FROM analyses").fetchall():
        settings = json.loads(text)
        for name, value in settings.get("options", {}).items():
            if isinstance(value, str) and not _HARMLESS.fullmatch(value):
                settings["options"][name] = f"[{_keyed(value, secret, 4)}]"
        connection.execute(
            "UPDATE analyses SET settings = ? WHERE id = ?", (json.dumps(settings, sort_keys=True), number)
        )


def _secret(connection: sqlite3.Connection) -> bytes:
    (secret,) = connection.execute("SELECT value FROM settings WHERE name = 'pseudonym-secret'").fetchone()
    return bytes.fromhex(secret)


def _keyed(text: str, secret: bytes, size: int) -> str:
    return hashlib.blake2b(text.encode(), key=secret, digest_size=size).hexdigest()


def _pseudonyms(connection: sqlite3.Connection, secret: bytes) -> dict[str, str]:
    """A word for each folded handle. Made with the archive's secret, so that nobody can try handles until one fits."""
    query = " UNION ".join(f"SELECT {column} FROM {table}" for table, column in _HANDLES)
    found = {fold(handle) for (handle,) in connection.execute(query) if handle}
    return {handle: "P" + _keyed(handle, secret, 6) for handle in found}
