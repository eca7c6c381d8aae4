"""The Parquet files of a data set: writing the files of a table, and changing and counting what is in them.

Rows are collected until they are worth a row group, and files are closed when they are large or when too many are open,
so that memory does not grow with the source.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable
from contextlib import ExitStack, suppress
from typing import Any, BinaryIO, Final

from exporters.table_files import arrow_schema, import_pyarrow
from exporters.tables.columns import Column
from storage.dataset.folder import DataFolder, Part

__all__ = ["TableFiles", "count_shared_games", "rename_keys"]

_GROUP_ROWS: Final = 25_000
_WAITING_ROWS: Final = 50_000
"""Rows of all files that wait for their row groups to be full."""
_FILE_ROWS: Final = 1_000_000
_OPEN_FILES: Final = 48
_FINGERPRINTS_AT_ONCE: Final = 5_000_000


def _parquet_writer(out: BinaryIO, given: Any, schema: Any) -> Any:
    """A Parquet writer for tables whose words are dictionaries, but which readers get as texts.

    Dictionaries are converted and written in a quarter of the time. Numbers have no dictionaries in the file, which
    makes it smaller, and only they have statistics.

    Args:
        out: takes the bytes. given: the schema of the tables that are written. schema: the one that readers get.
    """
    pa, pq = import_pyarrow()
    texts = [field.name for field in schema if field.type == pa.string()]
    numbers = [name for name in schema.names if name not in texts]
    writer = pq.ParquetWriter(
        out, given, compression="zstd", use_dictionary=texts, write_statistics=numbers, store_schema=False
    )
    of_readers = {"ARROW:schema": b64encode(schema.serialize().to_pybytes()), **schema.metadata}
    writer.add_key_value_metadata(of_readers)
    return writer


class _OpenFile:
    """A Parquet file that is being written."""

    def __init__(self, folder: DataFolder, name: str, schema: Any) -> None:
        self.name = name
        self.rows = self.size_bytes = 0
        self._files = ExitStack()
        self._schema = schema
        self._out = self._files.enter_context(folder.create(name))
        self._writer: Any = None

    def write(self, table: Any) -> None:
        if self._writer is None:
            self._writer = _parquet_writer(self._out, table.schema, self._schema)
        try:
            self._writer.write_table(table)
        except OSError as error:
            self.drop(error)
            raise
        self.rows += table.num_rows

    def close(self) -> None:
        """End the file.

        Raises:
            ExportError: it cannot be written.
        """
        self._files.callback(self._measure)
        self._files.enter_context(self._writer)
        self._files.close()

    def _measure(self) -> None:
        self.size_bytes = self._out.tell()

    def drop(self, error: BaseException) -> None:
        """Give the file up: it does not get its name.

        Args:
            error: why.
        Raises:
            ExportError: for an ``OSError``, as ``DataFolder.create`` raises it.
        """
        if self._writer is not None:
            self._writer.is_open = False  # else it writes its end, which may fail again
        self._files.__exit__(type(error), error, error.__traceback__)


class TableFiles:
    """The files of one of the tables.

    Args:
        folder: of the data set. stem: what the names of its files begin with. columns: of the table.
    """

    def __init__(self, folder: DataFolder, stem: str, columns: tuple[Column, ...]) -> None:
        self.schema = arrow_schema(columns)
        self.parts: list[Part] = []
        self._folder = folder
        self._stem = stem
        self._waiting: dict[str, list[Any]] = {}
        self._rows: dict[str, int] = {}
        self._open: dict[str, _OpenFile] = {}  # the one that was written to last comes last
        self._numbers: dict[str, int] = {}

    def add(self, place: str, table: Any) -> None:
        """Take rows for a folder."""
        self._waiting.setdefault(place, []).append(table)
        self._rows[place] = self._rows.get(place, 0) + table.num_rows
        if self._rows[place] >= _GROUP_ROWS:
            self._flush(place)
        elif sum(self._rows.values()) >= _WAITING_ROWS:
            self.flush()

    def flush(self) -> None:
        """Write all that waits."""
        for place in sorted(self._waiting):
            self._flush(place)

    def close(self) -> None:
        """Write all that waits and end all files."""
        self.flush()
        for place in list(self._open):
            self._close(place)

    def drop(self, error: BaseException) -> None:
        """Give up the files that are open."""
        for file in self._open.values():
            with suppress(Exception):  # what is raised is ``error``
                file.drop(error)

    def _flush(self, place: str) -> None:
        pa, _ = import_pyarrow()
        table = pa.concat_tables(self._waiting.pop(place)).combine_chunks()
        del self._rows[place]
        file = self._open.pop(place, None)
        if file is None:
            if len(self._open) >= _OPEN_FILES:
                self._close(next(iter(self._open)))
            number = self._numbers[place] = self._numbers.get(place, -1) + 1
            file = _OpenFile(self._folder, f"{place}/{self._stem}-{number}.parquet", self.schema)
        self._open[place] = file
        file.write(table)
        if file.rows >= _FILE_ROWS:
            self._close(place)

    def _close(self, place: str) -> None:
        file = self._open.pop(place)
        file.close()
        self.parts.append(Part(file.name, file.rows, file.size_bytes))


def rename_keys(folder: DataFolder, parts: Iterable[Part], renamed: dict[str, str]) -> list[Part]:
    """Give games other keys: files with these games are written again. They are no boards of matches.

    Args:
        folder: of the data set.
        parts: files in which the games may be.
        renamed: key → the new key.
    Returns:
        The files, with the sizes that they have now.
    """
    pa, pq = import_pyarrow()
    found = []
    for part in parts:
        with folder.open(part.name) as read:
            file = pq.ParquetFile(read)
            if renamed.keys().isdisjoint(file.read(["key"]).column(0).to_pylist()):
                found.append(part)
                continue
            schema = file.schema_arrow
            place = schema.get_field_index("key")
            with folder.create(part.name) as out:
                with _parquet_writer(out, schema, schema) as writer:
                    for group in range(file.num_row_groups):
                        rows = file.read_row_group(group)
                        keys = [renamed.get(key, key) for key in rows.column(place).to_pylist()]
                        writer.write_table(rows.set_column(place, schema.field(place), pa.array(keys, pa.string())))
                found.append(part._replace(size_bytes=out.tell()))
    return found


def count_shared_games(folder: DataFolder, parts: Iterable[Part]) -> int:
    """How many games several sources have, by their fingerprints; each game counts once.

    Games with equal fingerprints are of one year. Where a year has very many, only some are in memory at a time.

    Args:
        folder: of the data set. parts: its files of games.
    """
    by_year: dict[str, list[Part]] = {}
    for part in parts:
        by_year.setdefault(part.name.rpartition("/")[0], []).append(part)
    found = 0
    for of_year in by_year.values():
        steps = sum(part.rows for part in of_year) // _FINGERPRINTS_AT_ONCE + 1
        if len({_stem(part) for part in of_year}) > 1:
            found += sum(_count_shared(folder, of_year, step, steps) for step in range(steps))
    return found


def _stem(part: Part) -> str:
    """What names a file's source."""
    return part.name.rpartition("/")[2].partition("-")[0]


def _count_shared(folder: DataFolder, parts: list[Part], step: int, steps: int) -> int:
    """As ``count_shared_games``, of one year and only of the fingerprints whose rest by ``steps`` is ``step``."""
    import numpy as np

    _, pq = import_pyarrow()
    by_source: dict[str, list[Any]] = {}
    for part in parts:
        with folder.open(part.name) as read:
            column = pq.read_table(read, columns=["fingerprint"]).column(0).drop_null().to_numpy()
        by_source.setdefault(_stem(part), []).append(column[column % steps == step])
    of_sources = np.concatenate([np.unique(np.concatenate(some)) for some in by_source.values()])
    _, counts = np.unique(of_sources, return_counts=True)
    return int((counts > 1).sum())
