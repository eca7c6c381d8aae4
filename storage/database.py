"""The SQLite file of an archive: connections, snapshots for reading and transactions for writing."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from threading import Lock
from typing import Self

from recorder.errors import StorageError
from storage.files import (
    file_of,
    identity_of,
    open_sqlite,
    open_to_write,
    reading,
    storage_errors,
    unsound_values,
)
from storage.schema import upgrade as schema
from storage.settings import mark_changed
from storage.write.merged import relate


class Database:
    """No connection stays open between reads and transactions, so a ``Database`` need not be closed."""

    def __init__(self, path: Path, *, read_only: bool) -> None:
        self.path = path
        self.read_only = read_only
        self._snapshot: sqlite3.Connection | None = None
        self._transaction: sqlite3.Connection | None = None

    @classmethod
    def open(cls, where: str, *, create: bool = False, read_only: bool = False) -> Self:
        """``create`` makes it (mode 0600) if it is not there."""
        path = file_of(where)
        if create and (not path.exists() or schema.current(path) is None):
            schema.create(path)
        schema.require_current(path)
        return cls(path, read_only=read_only)

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """That of the current snapshot or transaction, else a new one."""
        with self._connected() as driver, unsound_values(self.path):
            yield driver

    @contextmanager
    def _connected(self) -> Iterator[sqlite3.Connection]:
        if (driver := self._transaction or self._snapshot) is not None:
            yield driver
        else:
            with storage_errors(self.path), reading(self.path, read_only=self.read_only) as driver:
                yield driver

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """What is read in the block is of one moment, even while another program writes."""
        with self._connected() as driver, self.reading_from(driver):
            yield

    @contextmanager
    def reading_from(self, driver: sqlite3.Connection) -> Iterator[None]:
        """In the block reading uses this connection, which is in a transaction."""
        before, self._snapshot = self._snapshot, driver
        try:
            yield
        finally:
            self._snapshot = before

    @contextmanager
    def watch_changes(self) -> Iterator[Callable[[], bool]]:
        """Whether another connection has committed since the block began; any thread may ask."""
        lock = Lock()
        with storage_errors(self.path), closing(open_sqlite(self.path, read_only=self.read_only)) as driver:

            def version() -> int:
                with lock:
                    return int(driver.execute("PRAGMA data_version").fetchone()[0])

            before = version()
            yield lambda: version() != before

    @contextmanager
    def transaction(self, *, undo: bool = False) -> Iterator[None]:
        """What is read and written in the block is one transaction: undone when it raises, or as in a dry run."""
        with self.writing(undo=undo) as driver:
            before, self._transaction = self._transaction, driver
            try:
                yield
            finally:
                self._transaction = before

    @contextmanager
    def writing(self, *, undo: bool = False) -> Iterator[sqlite3.Connection]:
        """A connection in a transaction, or in a part of the current one; ``undo``: nothing of it is stored."""
        if self.read_only:
            raise StorageError(f"{self.path} was opened read-only.")
        if self._transaction is not None:
            with _part(self._transaction, undo=undo):
                yield self._transaction
            return
        while True:
            file = identity_of(self.path)
            with storage_errors(self.path), closing(open_to_write(self.path)) as driver:
                driver.execute("BEGIN IMMEDIATE")
                if identity_of(self.path) != file:  # another archive has taken its place while this waited for the lock
                    continue
                before = driver.total_changes
                yield driver
                if undo:
                    return
                relate(driver)
                if driver.total_changes != before:
                    mark_changed(driver)
                driver.execute("COMMIT")
                return


@contextmanager
def _part(driver: sqlite3.Connection, *, undo: bool) -> Iterator[None]:
    """Undone alone when it raises."""
    driver.execute("SAVEPOINT part")
    try:
        yield
    except BaseException:
        undo = True
        raise
    finally:
        if driver.in_transaction:  # not after a full disk, for example
            if undo:
                driver.execute("ROLLBACK TO part")
            driver.execute("RELEASE part")
