"""``db share``: a copy without private data."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

from sqlalchemy import Connection, delete, func, select, union, update

from recorder.errors import StorageError
from recorder.model import EventKind
from storage.files import copy_to, driver_of, make_engine, open_sqlite, unfinished_file
from storage.read.query import fold
from storage.schema import tables as models
from storage.schema.upgrade import require_current
from storage.schema.views import VIEWS
from storage.settings import FORGOTTEN, rename_decisions

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
    models.players.c.handle,
    models.games.c.white,
    models.games.c.black,
    models.games.c.me,
    models.observations.c.white,
    models.observations.c.black,
    models.events.c.actor,
    models.thinking.c.engine,
    models.sources.c.me,
)
_TEXTS = (
    models.games.c.reason,
    models.events.c.text,
    models.thinking.c.pv,
    models.analyses.c.engine,
    models.analysis_lines.c.pv,
    models.anomalies.c.message,
    models.game_evidence.c.text,
    models.game_links.c.evidence,
    models.sources.c.name,  # with pseudonyms it is one itself: a file's name often has handles in it
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
    with unfinished_file(target) as unfinished:
        copy_to(path, unfinished)
        engine = make_engine(unfinished, foreign_keys=False)
        with engine.connect() as connection:
            driver_of(connection).execute("PRAGMA secure_delete=ON")
            with connection.begin():
                _strip(connection, pseudonyms, rewrites)
        with closing(open_sqlite(unfinished)) as driver:
            driver.execute("PRAGMA journal_mode=DELETE")  # one file, no -wal beside it
            driver.execute("VACUUM")  # nothing deleted stays in free pages


def _redaction(expression: str) -> Rewrite:
    try:
        pattern = re.compile(expression, re.IGNORECASE)
    except re.error as error:
        raise StorageError(f"--redact {expression!r} is not a regular expression: {error}.") from error
    return lambda text: pattern.sub("[redacted]", text)


def _strip(connection: Connection, pseudonyms: bool, rewrites: list[Rewrite]) -> None:
    _drop_foreign(connection)
    events, settings = models.events, models.settings
    # the restart state holds lines that were not whole yet; shapes and anomalies quote lines as they came
    connection.execute(delete(models.source_chunks))
    connection.execute(delete(models.source_shapes))
    nothing = {"path": None, "timing": None, "kept_bytes": 0, "read_up_to": 0}
    connection.execute(update(models.sources).values(**nothing, restart_state={}, warnings=[], options={}))
    connection.execute(update(models.anomalies).values(text=""))
    _strip_settings(connection)
    private = (events.c.kind == EventKind.CHAT.value) & events.c.detail.not_in(PUBLIC_CHAT)
    connection.execute(delete(events).where(private))
    if pseudonyms:
        secret = _secret(connection)
        names = _pseudonyms(connection, secret)
        rewrites = [*rewrites, lambda text: _WORD.sub(lambda word: names.get(fold(word[0]), word[0]), text)]
        _use_pseudonyms(connection, secret, names)
    driver = driver_of(connection)
    for rewrite in rewrites:
        driver.create_function("rewrite", 1, rewrite, deterministic=True)
        for text in _TEXTS:
            connection.execute(update(text.table).where(text.is_not(None)).values({text: func.rewrite(text)}))
    unwanted = (settings.c.name == "pseudonym-secret") | settings.c.name.op("GLOB")(f"{FORGOTTEN}*")
    connection.execute(delete(settings).where(unwanted))


def _use_pseudonyms(connection: Connection, secret: bytes, names: dict[str, str]) -> None:
    """Replace handles, names of logs, and keys.

    A key is a hash of the handles and of facts that are in the copy: it would confirm a guessed pair of handles.
    """
    driver = driver_of(connection)
    driver.create_function("pseudonym", 1, lambda handle: handle and names[fold(handle)], deterministic=True)
    driver.create_function("renamed", 1, lambda name: f"log-{_keyed(name, secret, 6)}", deterministic=True)
    driver.create_function("rekey", 1, lambda key: _keyed(key, secret, len(key) // 2), deterministic=True)
    players, sources, games, analyses = models.players, models.sources, models.games, models.analyses
    for handle in _HANDLES:
        connection.execute(update(handle.table).where(handle.is_not(None)).values({handle: func.pseudonym(handle)}))
    connection.execute(update(players).values(handle_folded=func.lower(players.c.handle)))
    connection.execute(update(sources).values(name=func.renamed(sources.c.name)))
    connection.execute(update(games).values(key=func.rekey(games.c.key)))
    connection.execute(update(analyses).values(game_key=func.rekey(analyses.c.game_key)))
    rename_decisions(driver, lambda key: _keyed(key, secret, len(key) // 2))
    members = games.alias().c
    least = select(func.min(members.key)).where(members.merged_into == games.c.id).scalar_subquery()
    connection.execute(update(games).where(games.c.source_id.is_(None)).values(key=least))


def _drop_foreign(connection: Connection) -> None:
    """Drop what is not part of an archive: a trigger could copy what is deleted, a table may hold anything."""
    own = {*models.metadata.tables, "alembic_version", *(sql.split()[2] for sql in VIEWS)}
    found = connection.exec_driver_sql(
        "SELECT type, name FROM sqlite_master WHERE type IN ('table', 'trigger', 'view')"
    )
    for kind, name in sorted(found.all(), key=lambda one: one[0] != "trigger"):
        if kind == "trigger" or (name not in own and not name.startswith("sqlite_")):
            connection.exec_driver_sql(f'DROP {kind} "{name.replace(chr(34), chr(34) * 2)}"')


def _strip_settings(connection: Connection) -> None:
    """Values of engine options may be paths and names; numbers and booleans are kept.

    The others are replaced by a hash, so that different settings stay different.
    """
    secret, analyses = _secret(connection), models.analyses
    for number, text in connection.execute(select(analyses.c.id, analyses.c.settings)).all():
        settings = json.loads(text)
        for name, value in settings.get("options", {}).items():
            if isinstance(value, str) and not _HARMLESS.fullmatch(value):
                settings["options"][name] = f"[{_keyed(value, secret, 4)}]"
        changed = json.dumps(settings, sort_keys=True)
        connection.execute(update(analyses).where(analyses.c.id == number).values(settings=changed))


def _secret(connection: Connection) -> bytes:
    settings = models.settings.c
    secret = connection.execute(select(settings.value).where(settings.name == "pseudonym-secret")).scalar_one()
    return bytes.fromhex(secret)


def _keyed(text: str, secret: bytes, size: int) -> str:
    return hashlib.blake2b(text.encode(), key=secret, digest_size=size).hexdigest()


def _pseudonyms(connection: Connection, secret: bytes) -> dict[str, str]:
    """A word for each folded handle. Made with the archive's secret, so that handles cannot be found by trying."""
    found = {fold(handle) for handle in connection.scalars(union(*map(select, _HANDLES))) if handle}
    return {handle: "P" + _keyed(handle, secret, 6) for handle in found}
