"""Replacing an archive by a rebuilt one, and reading another archive as it is at one moment.

The old archive is locked for writing while the new one is made: others wait, fail and come again. At the end the old
file leaves WAL mode, which needs that no other process has it open: a WAL next to the new file would be the old one's.
"""

from __future__ import annotations

import os
import sqlite3
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from recorder.errors import StorageError
from recorder.files import sync_folder
from storage.archive import ArchiveStore
from storage.files import backup, drop_copy, open_sqlite, storage_errors
from storage.schema import upgrade as schema
from storage.settings import CONTENT_VERSION, DECISIONS

_BESIDE = ("-wal", "-shm", "-journal")
_READER_S = 1.0  # so long a command that only looks may take
_GLANCE_S = 0.1


class Replacement:
    """At first empty, with the settings of the old one."""

    def __init__(self, old: Path, lock: sqlite3.Connection) -> None:
        self.path = old.with_name(f"{old.name}.rebuilt")
        self._old = old
        self._lock = lock
        (self._version,) = lock.execute("PRAGMA data_version").fetchone()

    def begin(self) -> None:
        self.remove()
        schema.create(self.path)
        self.path.chmod(self._old.stat().st_mode & 0o777)
        with closing(open_sqlite(self.path)) as connection:
            connection.execute("DELETE FROM settings")
            # Decisions follow their games' keys, so they are taken over when the games are there.
            rows = self._lock.execute(
                "SELECT name, value FROM settings WHERE name NOT GLOB ? AND name <> ?",
                (f"{DECISIONS}*", CONTENT_VERSION),
            ).fetchall()
            connection.executemany("INSERT INTO settings (name, value) VALUES (?, ?)", rows)

    def remove(self) -> None:
        for suffix in ("", *_BESIDE):
            self.path.with_name(self.path.name + suffix).unlink(missing_ok=True)

    def swap(self, *, keep_old: bool) -> Path | None:
        """No process may have the new file open; after an error the old archive is unchanged."""
        _finish(self.path)
        lock = self._lock
        lock.execute("ROLLBACK")
        try:
            lock.execute("PRAGMA journal_mode=DELETE")
            lock.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError as error:
            raise StorageError(
                f"{self._old} is in use by another program and was not replaced: end that program and try "
                f"again ({error})."
            ) from error
        if lock.execute("PRAGMA data_version").fetchone() != (self._version,):
            raise StorageError(f"{self._old} was changed during the replacement and was not replaced: try again.")
        saved = None
        if keep_old:
            saved = _free_name(self._old)
            try:
                os.link(self._old, saved)
            except OSError:  # a file system without links
                backup(self._old, saved)
        try:
            self.path.replace(self._old)
        except (
            PermissionError
        ):  # Windows cannot replace an open file; another program may open the archive before the second attempt
            lock.close()
            self.path.replace(self._old)
        self._old.with_name(f"{self._old.name}-positions").unlink(missing_ok=True)  # moves may differ now
        drop_copy(self._old)
        sync_folder(self._old.parent)
        return saved


def _lock(path: Path, lock: sqlite3.Connection) -> None:
    with storage_errors(path):
        lock.execute("PRAGMA journal_mode=WAL")  # others may read meanwhile
        lock.execute("BEGIN IMMEDIATE")


def _require_unopened(path: Path) -> None:
    """``swap`` could not replace it; nothing in the file changes by this."""
    with closing(open_sqlite(path)) as writer:
        _lock(path, writer)  # else the message would name a writing process as a reading one
        writer.execute("ROLLBACK")
    ends_s = time.monotonic() + _READER_S
    while True:
        with closing(open_sqlite(path)) as alone:
            try:
                alone.execute("PRAGMA busy_timeout=0")
                alone.execute("PRAGMA locking_mode=EXCLUSIVE")
                alone.execute("SELECT count(*) FROM sqlite_master").fetchone()
            except sqlite3.OperationalError as error:
                if time.monotonic() > ends_s:
                    raise StorageError(
                        f"{path} is in use by another program and cannot be replaced: end that program and try again "
                        f"({error})."
                    ) from error
            else:
                return
        time.sleep(_GLANCE_S)


@contextmanager
def replacing(path: Path, *, to_swap: bool = True) -> Iterator[Replacement]:
    """Refused at once if another process has the archive open; without ``to_swap`` the new one is removed."""
    path = path.resolve()
    schema.require_current(path)
    if to_swap:
        _require_unopened(path)
    with closing(open_sqlite(path)) as lock:  # closing it ends its transaction
        _lock(path, lock)
        new = Replacement(path, lock)
        try:
            new.begin()
            yield new
        finally:
            new.remove()


def _finish(path: Path) -> None:
    with closing(open_sqlite(path)) as connection:
        connection.execute("PRAGMA journal_mode=DELETE")
    with path.open("r+b") as file:  # Windows syncs no file that is open for reading only
        os.fsync(file.fileno())


def _free_name(path: Path) -> Path:
    number = 1
    while (name := path.with_name(f"{path.name}.before-rebuild.{number}")).exists():
        number += 1
    return name


_MAGIC = b"SQLite format 3\x00"


def is_database(path: Path) -> bool:
    """False if it cannot be read."""
    try:
        with path.open("rb") as file:
            return file.read(len(_MAGIC)) == _MAGIC
    except OSError:
        return False


@contextmanager
def reading_other(path: Path) -> Iterator[ArchiveStore]:
    """One with an older schema is copied, and the copy upgraded."""
    revision = schema.current(path)
    if revision is None or revision == schema.HEAD or revision not in schema.revisions():
        with ArchiveStore.open(str(path), read_only=True) as archive, archive.snapshot():
            yield archive
        return
    with tempfile.TemporaryDirectory(prefix="ics-recorder-") as folder:
        copy = Path(folder) / path.name
        backup(path, copy)
        schema.upgrade(copy)
        with ArchiveStore.open(str(copy), read_only=True) as archive, archive.snapshot():
            yield archive
