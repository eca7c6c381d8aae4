"""``db share``: a copy without private data."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

from sqlalchemy import Connection, delete, func, insert, select, text, union, update

from recorder.errors import StorageError
from storage.files import copy_to, driver_of, make_engine, open_sqlite, unfinished_file
from storage.maintenance.private import PRIVATE_COLUMNS, PRIVATE_TABLES, keyed, published_events, published_settings
from storage.read.query import fold
from storage.schema import tables as models
from storage.schema.upgrade import require_current
from storage.schema.views import VIEWS
from storage.settings import ARCHIVE_ID, CONTENT_VERSION, FORGOTTEN, SECRET, archive_id, rename_decisions

__all__ = [
    "Rewrite",
    "share",
]

_WORD = re.compile(r"[A-Za-z0-9_-]+")

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
    settings = models.settings
    for name in PRIVATE_TABLES:
        connection.execute(delete(models.metadata.tables[name]))
    for name, blank in PRIVATE_COLUMNS.items():
        connection.execute(update(models.metadata.tables[name]).values(**blank))
    _strip_settings(connection)
    connection.execute(delete(models.events).where(text(f"NOT {published_events('public')}")))
    if pseudonyms:
        secret = _secret(connection)
        names = _pseudonyms(connection, secret)
        rewrites = [*rewrites, lambda text: _WORD.sub(lambda word: names.get(fold(word[0]), word[0]), text)]
        _use_pseudonyms(connection, secret, names)
    driver = driver_of(connection)
    for rewrite in rewrites:
        driver.create_function("rewrite", 1, rewrite, deterministic=True)
        for column in _TEXTS:
            values = {column: func.rewrite(column)}
            connection.execute(update(column.table).where(column.is_not(None)).values(values))
    archive = archive_id(driver)
    unwanted = settings.c.name.in_((SECRET, CONTENT_VERSION)) | settings.c.name.op("GLOB")(f"{FORGOTTEN}*")
    connection.execute(delete(settings).where(unwanted))
    # One archive with and without pseudonyms would be two archives in a shared database.
    own = keyed(archive, b"pseudonyms", 8) if pseudonyms else archive
    connection.execute(insert(settings).values(name=ARCHIVE_ID, value=own))


def _use_pseudonyms(connection: Connection, secret: bytes, names: dict[str, str]) -> None:
    """Replace handles, names of logs, and keys.

    A key is a hash of the handles and of facts that are in the copy: it would confirm a guessed pair of handles.
    """
    driver = driver_of(connection)
    driver.create_function("pseudonym", 1, lambda handle: handle and names[fold(handle)], deterministic=True)
    driver.create_function("renamed", 1, lambda name: f"log-{keyed(name, secret, 6)}", deterministic=True)
    driver.create_function("rekey", 1, lambda key: keyed(key, secret, len(key) // 2), deterministic=True)
    players, sources, games, analyses = models.players, models.sources, models.games, models.analyses
    for handle in _HANDLES:
        connection.execute(update(handle.table).where(handle.is_not(None)).values({handle: func.pseudonym(handle)}))
    connection.execute(update(players).values(handle_folded=func.lower(players.c.handle)))
    connection.execute(update(sources).values(name=func.renamed(sources.c.name)))
    connection.execute(update(games).values(key=func.rekey(games.c.key)))
    connection.execute(update(analyses).values(game_key=func.rekey(analyses.c.game_key)))
    rename_decisions(driver, lambda key: keyed(key, secret, len(key) // 2))
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
    secret, analyses = _secret(connection), models.analyses
    for number, stored in connection.execute(select(analyses.c.id, analyses.c.settings)).all():
        changed = published_settings(stored, secret)
        connection.execute(update(analyses).where(analyses.c.id == number).values(settings=changed))


def _secret(connection: Connection) -> bytes:
    settings = models.settings.c
    secret = connection.execute(select(settings.value).where(settings.name == SECRET)).scalar_one()
    return bytes.fromhex(secret)


def _pseudonyms(connection: Connection, secret: bytes) -> dict[str, str]:
    """A word for each folded handle. Made with the archive's secret, so that handles cannot be found by trying."""
    found = {fold(handle) for handle in connection.scalars(union(*map(select, _HANDLES))) if handle}
    return {handle: "P" + keyed(handle, secret, 6) for handle in found}
