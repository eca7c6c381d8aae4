"""An archive as tables: what notebooks, measures and pictures start from."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from importlib import import_module
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self, Unpack

from exporters.tables.columns import ON_REQUEST
from exporters.tables.filters import Filters, make_filter
from recorder.errors import ExportError
from storage import ArchiveStore as Storage

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Archive"]


class Archive:
    """Reads an archive, also while a recorder writes to it; never writes.

    The file is opened for each table and closed again; what is read for one table is of one moment. As a context
    manager nothing differs but that it reads nicely.

    Args:
        where: a path, or a URL of it (``sqlite:////home/me/games.db``).
        arrow: use ADBC and Arrow if the extra ``arrow`` is installed; tables are the same without, and take longer.
    Raises:
        StorageError: there is none, it is no archive, or its schema is not this program's.
    """

    def __init__(self, where: str | Path, *, arrow: bool = True) -> None:
        self._where = str(where)
        self._arrow = arrow
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

    def plies(self, *, extra: Collection[str] = (), **filters: Unpack[Filters]) -> pd.DataFrame:
        """One row a half-move of the main lines, games in the archive's order; ``docs/tables.md`` lists the columns.

        Args:
            extra: columns that are only there on request: ``material``, ``fen``. filters: see ``Filters``.
        Raises:
            ExportError: a word of a filter or of ``extra`` is not understood. StorageError: the archive cannot be read.
        """
        _give_measures()
        from exporters.tables.plies import ply_frame

        _check(extra)
        with self._open() as storage:
            return ply_frame(storage, make_filter(filters), extra, arrow=self._arrow)

    def batches(
        self, rows: int = 200_000, *, extra: Collection[str] = (), **filters: Unpack[Filters]
    ) -> Iterator[pd.DataFrame]:
        """The same rows as ``plies`` in pieces, for archives that are larger than memory; all are of one moment.

        Games are never cut. The categories of handles and other words without a fixed list are each piece's own.

        Args:
            rows: about how many in a piece. extra, filters: as for ``plies``.
        Raises:
            ExportError, StorageError: as for ``plies``, before the first piece; also for pieces of no rows.
        """
        _give_measures()
        from exporters.tables.plies import pieces, plies_of

        _check(extra)
        if rows < 1:
            raise ExportError(f"Pieces of {rows} rows are none: give 1 or more.")
        where = make_filter(filters)
        with self._open() as storage, storage.columns(arrow=self._arrow) as reader:
            for ids in pieces(reader.games_of(where), rows):
                yield plies_of(reader, ids, extra)

    def sides(self, **filters: Unpack[Filters]) -> pd.DataFrame:
        """Two rows a game, White's first; arguments and errors as for ``plies``."""
        from exporters.tables.games import side_frame

        where = make_filter(filters)
        with self._open() as storage, storage.columns(arrow=False) as reader:
            return side_frame(reader, reader.games_of(where))

    def games(self, **filters: Unpack[Filters]) -> pd.DataFrame:
        """One row a game; arguments and errors as for ``plies``."""
        from exporters.tables.games import game_frame

        where = make_filter(filters)
        with self._open() as storage, storage.columns(arrow=False) as reader:
            return game_frame(reader, reader.games_of(where))

    def events(self, **filters: Unpack[Filters]) -> pd.DataFrame:
        """One row for everything that is no ply: offers, takebacks, chat, results …; arguments as for ``plies``."""
        from exporters.tables.games import event_frame

        where = make_filter(filters)
        with self._open() as storage, storage.snapshot():
            return event_frame(
                storage.games(where, with_holdings=False, with_lines=False, with_thinking=False, whole_plies=False)
            )

    def matches(self, **filters: Unpack[Filters]) -> pd.DataFrame:
        """The plies of both boards of bughouse matches, in the order in which they were played.

        Args:
            filters: see ``Filters``; a match is there if one of its boards is.
        Returns:
            The columns of ``plies``, and in front of them ``frames.matches.MATCH_COLUMNS``; docs/measures.md has them.
        Raises:
            ExportError, StorageError: as ``plies``.
        """
        _give_measures()
        from exporters.tables.matches import boards_of, match_frame, read_matches
        from exporters.tables.plies import ply_frame

        where = make_filter(filters)
        with self._open() as storage:
            with storage.snapshot():
                matches = read_matches(storage, where)
            return match_frame(ply_frame(storage, boards_of(matches, where), arrow=self._arrow), matches)


def _give_measures() -> None:
    """Frames have their ``ics`` from now on. Not at the top: an archive alone is open long before pandas is there."""
    import_module("exporters.accessor")


def _check(extra: Collection[str]) -> None:
    names = [column.name for column in ON_REQUEST]
    wrong = [extra] if isinstance(extra, str) else sorted(set(extra) - set(names))
    if wrong:
        raise ExportError(f"There is no list of extra columns {wrong[0]!r}; ask for any of {names}.")
