"""The SQLite file of an archive: connections, snapshots for reading and transactions for writing."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Self

from recorder.errors import StorageError
from storage.files import (
    driver_of,
    file_of,
    identity_of,
    make_engine,
    open_sqlite,
    reading,
    storage_errors,
    unsound_values,
)
from storage.schema import upgrade as schema
from storage.settings import mark_changed
from storage.write.merged import relate

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine


class Database:
    """An archive's file: connections to read from, and transactions.

    No connection stays open between reads and transactions, so a ``Database`` need not be closed.
    """

    def __init__(self, path: Path, *, read_only: bool) -> None:
        self.path = path
        self.read_only = read_only
        self._snapshot: sqlite3.Connection | None = None
        self._transaction: Connection | None = None

    @classmethod
    def open(cls, where: str, *, create: bool = False, read_only: bool = False) -> Self:
        """Open an archive. ``create`` makes it (mode 0600) if it is not there."""
        path = file_of(where)
        if create and (not path.exists() or schema.current(path) is None):
            schema.create(path)
        schema.require_current(path)
        return cls(path, read_only=read_only)

    @cached_property
    def _writer(self) -> Engine:
        """The engine of all transactions: it caches compiled statements and keeps no connection open."""
        return make_engine(self.path, foreign_keys=False)

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A connection for code that reads rows: that of the current snapshot or transaction, else a new one."""
        with self._connected() as driver, unsound_values(self.path):
            yield driver

    @contextmanager
    def _connected(self) -> Iterator[sqlite3.Connection]:
        if self._transaction is not None:
            yield driver_of(self._transaction)
        elif self._snapshot is not None:
            yield self._snapshot
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
        """What is read in the block is read from a connection that is in a transaction."""
        before, self._snapshot = self._snapshot, driver
        try:
            yield
        finally:
            self._snapshot = before

    @contextmanager
    def watch_changes(self) -> Iterator[Callable[[], bool]]:
        """Watch for transactions of other connections.

        The function says whether one was committed since the block began. Any thread may call it. It also counts those
        before a snapshot that begins later.
        """
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
        with self.writing(undo=undo) as connection:
            before, self._transaction = self._transaction, connection
            try:
                yield
            finally:
                self._transaction = before

    @contextmanager
    def writing(self, *, undo: bool = False) -> Iterator[Connection]:
        """One transaction, without SQLite's foreign key checks; ``undo``: at its end nothing of it is stored.

        The checks would slow down inserts by a third, and the writer numbers rows so that they hold;
        ``db check`` checks the whole file.
        """
        if self.read_only:
            raise StorageError(f"{self.path} was opened read-only.")
        if self._transaction is not None:
            with self._transaction.begin_nested() as part:
                yield self._transaction
                if undo:
                    part.rollback()
            return
        while True:
            file = identity_of(self.path)
            with (
                storage_errors(self.path),
                self._writer.connect().execution_options(immediate=True) as connection,
                connection.begin() as whole,
            ):
                if identity_of(self.path) != file:  # another archive has taken its place while this waited for the lock
                    continue
                driver = driver_of(connection)
                before = driver.total_changes
                yield connection
                if undo:
                    whole.rollback()
                    return
                relate(driver)
                if driver.total_changes != before:
                    mark_changed(driver)
                return
