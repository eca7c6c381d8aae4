"""Which schema a file has, how it gets the newest one, and how an archive is created.

There are two ways to the newest schema: a new archive is made straight from ``storage.schema.tables`` and the views,
because loading Alembic takes longer than reading a small log; an older one is upgraded by the migrations. Code that
only asks which schema a file has loads neither Alembic nor SQLAlchemy.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import migrations
from recorder.errors import StorageError
from recorder.text import clean
from storage.files import (
    backup,
    create_file,
    open_to_write,
    reading,
    unwritten,
)
from storage.schema.views import VIEWS
from storage.settings import mark_changed
from storage.write.corrections import name_openings

if TYPE_CHECKING:
    from alembic.config import Config
    from sqlalchemy import Connection
    from sqlalchemy.schema import ExecutableDDLElement

HEAD = "0013"
"""The newest revision. Known without the scripts, so that opening an archive does not load Alembic."""

_DEVELOPMENT = frozenset(f"{number:04}" for number in range(1, 12))
"""Revisions of development versions, whose migrations are not part of this program."""

LAST_UPGRADER = "git commit 16b3ba7"
"""The last version that can upgrade those."""

SCRIPTS = Path(migrations.__path__[0])

_LONGEST_REVISION = 32
"""Characters of a revision, as its column is defined; a file that claims another one is not ours."""

APPLICATION_ID = 0x49435352
"""The letters ICSR."""

_BESIDE_TABLES = (
    f"PRAGMA application_id = {APPLICATION_ID}",
    # as Alembic makes it
    "CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL, "
    "CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num))",
    f"INSERT INTO alembic_version (version_num) VALUES ('{HEAD}')",
    # the secret that makes pseudonyms: the same in every share of this archive, unknown outside
    "INSERT INTO settings (name, value) VALUES ('pseudonym-secret', hex(randomblob(16)))",
    *VIEWS,
)


def _config(scripts: Path) -> Config:
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(scripts).replace("%", "%%"))
    return config


def revisions(scripts: Path = SCRIPTS) -> list[str]:
    """Oldest first."""
    from alembic.script import ScriptDirectory

    walk = ScriptDirectory.from_config(_config(scripts)).walk_revisions()
    return [script.revision for script in walk][::-1]


def current(path: Path) -> str | None:
    """None: an empty database."""
    if path.is_dir():
        raise StorageError(f"{path} is a folder, not an archive: give the archive's file with --db.")
    if not path.is_file():
        raise StorageError(f"There is no archive at {path}: import a log to make one, or give --db.")
    try:
        with reading(path, read_only=True) as connection:
            names = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
            if not names:
                return None
            (application,) = connection.execute("PRAGMA application_id").fetchone()
            if application != APPLICATION_ID or "alembic_version" not in names:
                raise StorageError(f"{path} is a database, but not an archive of ics-recorder.")
            row = connection.execute("SELECT version_num FROM alembic_version").fetchone()
            return None if row is None else clean(str(row[0]))[:_LONGEST_REVISION]
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:  # a damaged page can have names that are no UTF-8
        kind = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if kind in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY) and (reason := _why_unreadable(path)):
            raise StorageError(f"{path} cannot be read: {reason}.") from error
        raise StorageError(f"{path} cannot be read as an archive: {error}.") from error


def _why_unreadable(path: Path) -> str | None:
    """None: nothing that reading needs."""
    if not os.access(path, os.R_OK):
        return "you may not read this file"
    for log in () if os.access(path.resolve().parent, os.W_OK | os.X_OK) else unwritten(path):
        return f"{log.name} beside it has the last changes, and you may not write in their folder; copy both elsewhere"
    return None


def require_current(path: Path) -> None:
    """The text names the command or version that upgrades it."""
    revision = current(path)
    if revision is None:
        raise StorageError(f"{path} is an empty database, not an archive: import a log into it first.")
    if revision == HEAD:
        return
    if revision in revisions():
        raise StorageError(
            f"{path} has the schema {revision}, this program needs {HEAD}: run `ics-recorder db upgrade`."
        )
    raise _unknown(path, revision, HEAD)


def _unknown(path: Path, revision: str, newest: str) -> StorageError:
    if revision in _DEVELOPMENT:
        return StorageError(
            f"{path} has the schema {revision} of a development version, and {LAST_UPGRADER} of ics-recorder is the "
            "last version that can upgrade it: run its `ics-recorder db upgrade`, or import its logs again."
        )
    return StorageError(
        f"{path} has the schema {revision}, which is newer than this program's {newest}: install a newer ics-recorder."
    )


def create(path: Path) -> None:
    """Make a new archive, or finish one whose making was interrupted. All or nothing."""
    try:
        create_file(path)
    except StorageError:
        if not path.exists():
            raise
    try:
        with closing(open_to_write(path)) as driver:
            driver.execute("BEGIN IMMEDIATE")
            if driver.execute("SELECT 1 FROM sqlite_master").fetchone() is not None:
                return  # another process was quicker
            for statement in (*_statements().values(), *_BESIDE_TABLES):
                driver.execute(statement)
            driver.execute("COMMIT")
    except sqlite3.Error as error:
        raise StorageError(f"The archive {path} could not be created: {error}.") from error


def upgrade(path: Path, scripts: Path = SCRIPTS) -> Path | None:
    """In one transaction, after a backup beside it, which is returned; after an error the archive is as it was."""
    revision, known = current(path), revisions(scripts)
    if revision is None:
        create(path)
        return None
    if revision == known[-1]:
        return None
    if revision not in known:
        raise _unknown(path, revision, known[-1])
    copy = _backup_name(path, revision)
    backup(path, copy)
    _migrate(path, scripts)
    return copy


def _backup_name(path: Path, revision: str) -> Path:
    number = 1
    while (copy := path.with_name(f"{path.name}.before-upgrade-of-{revision}.{number}")).exists():
        number += 1
    return copy


def _migrate(path: Path, scripts: Path) -> None:
    """Run migrations with foreign keys off, then prove that no row was lost or orphaned."""
    from alembic import command

    config = _config(scripts)
    # off before BEGIN: within a transaction the pragma does nothing, and a batch rebuild (copy, drop, rename) would
    # then delete the children of the dropped table
    try:
        with closing(open_to_write(path)) as driver, _for_alembic(driver) as connection:
            driver.execute("BEGIN IMMEDIATE")
            before = _row_counts(driver)
            config.attributes["connection"] = connection
            command.upgrade(config, "head")
            _prove(driver, before)
            from storage.write.merged import relate_all

            for view in VIEWS:
                driver.execute(f"DROP VIEW IF EXISTS {view.split()[2]}")
                driver.execute(view)
            name_openings(driver)
            relate_all(driver)
            mark_changed(driver)
    except StorageError:
        raise
    except Exception as error:  # whatever a migration raises, the message says that nothing changed
        raise StorageError(f"The schema of {path} could not be upgraded and is unchanged: {error}") from error


@contextmanager
def _for_alembic(driver: sqlite3.Connection) -> Iterator[Connection]:
    """It ends the driver's transaction before the block; one that is begun in the block is committed at its end."""
    from sqlalchemy import create_engine
    from sqlalchemy.pool import StaticPool

    engine = create_engine("sqlite://", creator=lambda: driver, poolclass=StaticPool)
    with engine.connect() as connection, connection.begin():
        yield connection


def _prove(driver: sqlite3.Connection, before: dict[str, int]) -> None:
    broken = driver.execute("PRAGMA foreign_key_check").fetchall()
    if broken:
        raise StorageError(f"The upgrade would leave {len(broken)} rows of {broken[0][0]} without their parent.")
    after = _row_counts(driver)
    for name in sorted(before.keys() & after.keys()):
        if before[name] != after[name]:
            raise StorageError(f"The upgrade would change {name} from {before[name]} to {after[name]} rows.")


def _row_counts(driver: sqlite3.Connection) -> dict[str, int]:
    names = driver.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT GLOB 'sqlite_*' AND name <> 'alembic_version'"
    )
    return {name: driver.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0] for (name,) in names.fetchall()}


def differences(path: Path) -> list[object]:
    """What ``alembic check`` would report; Alembic is not asked where equal statements made all."""
    with reading(path, read_only=True) as driver:
        there = driver.execute(
            "SELECT name, sql FROM sqlite_master WHERE type IN ('table', 'index') AND sql IS NOT NULL "
            "AND name NOT IN ('alembic_version', 'sqlite_sequence')"
        )
        if {name: sql.strip() for name, sql in there} == _statements():
            return []
        from alembic.autogenerate import compare_metadata
        from alembic.runtime.migration import MigrationContext

        from storage.schema.tables import metadata

        with _for_alembic(driver) as connection:
            return list(compare_metadata(MigrationContext.configure(connection), metadata))


@cache
def _statements() -> dict[str, str]:
    """By name, as SQLite keeps it."""
    from sqlalchemy.dialects import sqlite
    from sqlalchemy.schema import CreateIndex, CreateTable

    from storage.schema.tables import metadata

    dialect = sqlite.dialect()
    makers: dict[str, ExecutableDDLElement] = {}
    for table in metadata.tables.values():
        makers[table.name] = CreateTable(table)
        # A set: in its order SQLite would choose now one index, now another one that is as good.
        makers |= {name: CreateIndex(index) for name, index in sorted((str(one.name), one) for one in table.indexes)}
    return {name: str(maker.compile(dialect=dialect)).strip() for name, maker in makers.items()}
