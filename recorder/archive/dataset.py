"""``recorder.Dataset``: a data set of Parquet files for Python programs and notebooks."""

from __future__ import annotations

from os import PathLike, fspath
from typing import TYPE_CHECKING, Unpack

from exporters.selection import Filters
from recorder.archive.game_tables import GameTables
from recorder.archive.locate import open_archive
from recorder.text import plural

if TYPE_CHECKING:
    from duckdb import DuckDBPyRelation

    from recorder.archive.exporting import AnyStore

__all__ = ["Dataset", "open_games"]


def open_games(where: str, dataset: str | None) -> AnyStore:
    """Open the archive that ``--db`` names, or the data set that ``--dataset`` names.

    Raises:
        StorageError: it cannot be used.
    """
    from storage.dataset.reading import DatasetStore

    return open_archive(where) if dataset is None else DatasetStore(dataset)


class Dataset(GameTables):
    """The games of a folder that ``ics-recorder convert --dataset`` wrote. Needs the extra ``duckdb``.

    It has the filters, tables and measures of an archive, except events and matches of bughouse, which need the lines
    of logs that it does not have: these methods raise ``StorageError``. A game that several sources contain is included
    once for each of them. DuckDB computes with 200 MB of memory, and with temporary files for the rest. Use a data set
    as a context manager, or call ``close``. A folder of ``export plies --dataset`` has plies only: no table of games,
    no dates.

    Args:
        path: the folder (``~`` is the home folder) or its ``s3://`` URL. The data set is read as it is when the object
            is created.
    Raises:
        StorageError: DuckDB is not installed, or the folder has no readable data set. Every method can raise it, too.
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        from storage.dataset.reading import DatasetStore

        self._dataset = DatasetStore(fspath(path))
        super().__init__(self._dataset, arrow=False)

    def __repr__(self) -> str:
        return f"Dataset {self._dataset.where} · {plural(self._dataset.count(), 'game')}"

    def close(self) -> None:
        """Release the files; relations cannot be read afterwards."""
        self._dataset.close()

    def relation(self, **filters: Unpack[Filters]) -> DuckDBPyRelation:
        """The half-moves of games as a relation of DuckDB, for SQL and for the functions of ``recorder.measures``.

        Args:
            filters: see ``Filters``.
        Returns:
            A row for each half-move with the columns of ``plies`` and ``source``, the SHA-256 of the source, in no
            order.
        Raises:
            ExportError, StorageError: as for ``plies``.
        """
        return self._dataset.relation(self._filter(filters))
