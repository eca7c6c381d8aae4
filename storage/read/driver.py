"""What reading asks of a database: to run SQL with question marks, and to give rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

__all__ = ["SqlDriver", "Rows"]


class Rows(Protocol):
    """The result of a statement."""

    def __iter__(self) -> Iterator[Any]:
        """The rows, as tuples."""

    def fetchone(self) -> Any:
        """The next row; None: there is none."""

    def fetchall(self) -> list[Any]:
        """All further rows."""


class SqlDriver(Protocol):
    """A connection in a transaction: all that is read is of one moment."""

    def execute(self, sql: str, parameters: Any = ..., /) -> Rows:
        """Run a statement.

        Args:
            sql: the statement, with question marks for values.
            parameters: the values.
        """
