"""An archive as tables: what notebooks, measures and pictures start from."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self, Unpack

from exporters.frames.filters import Filters, make_filter
from storage import Archive as Storage

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Archive"]


class Archive:
    """Reads an archive, also while a recorder writes to it; never writes.

    The file is opened for each table and closed again; what is read for one table is of one moment. As a context
    manager nothing differs but that it reads nicely.

    Args:
        where: a path, or a SQLAlchemy URL (``sqlite:////home/me/games.db``).
    Raises:
        StorageError: there is none, it is no archive, or its schema is not this program's.
    """

    def __init__(self, where: str | Path) -> None:
        self._where = str(where)
        with self._open() as storage:
            self.path = storage.path

    def __repr__(self) -> str:
        return f"Archive({self._where!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Nothing is open between two tables."""

    def _open(self) -> Storage:
        return Storage.open(self._where, read_only=True)

    def plies(self, **filters: Unpack[Filters]) -> pd.DataFrame:
        """One row a half-move of the main lines, games in the archive's order; ``docs/tables.md`` lists the columns.

        Args:
            filters: see ``Filters``.
        Raises:
            ExportError: a filter's word is not understood. StorageError: the archive cannot be read.
        """
        from exporters import accessor  # noqa: F401  # gives frames their ``ics``
        from exporters.frames.plain import ply_frame

        with self._open() as storage, storage.snapshot():
            return ply_frame(storage, make_filter(filters))
