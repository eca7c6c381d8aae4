"""The files of a data set, and the DuckDB connection that reads them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from recorder.errors import StorageError
from recorder.text import plural
from recorder.urls import file_system, is_url, reason
from storage.dataset.folder import open_folder
from storage.dataset.records import DATASET_SCHEMA, read_manifest, read_records, update_command, why_broken

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

__all__ = ["DatasetFiles", "DatasetSource", "arrow_place", "connect", "dataset_errors", "find_files"]

_MEMORY: Final = "200MB"
_OURS: Final = b"ics-recorder"


class DatasetSource(NamedTuple):
    """A source of a data set.

    Attributes:
        sha256, name, kind, size_bytes, games: as its record has them.
        server: the site of its games. me: whose connection recorded them.
    """

    sha256: str
    name: str
    kind: str
    size_bytes: int
    games: int
    server: str | None = None
    me: str | None = None

    @property
    def id(self) -> str:
        """The first 12 digits of ``sha256``, as of an archive's source."""
        return self.sha256[:12]


@dataclass(frozen=True, slots=True)
class DatasetFiles:
    """The Parquet files of a data set.

    Attributes:
        sources: whose records name the files.
        plies, games, events: by the SHA-256 of the source that they were made from. A folder of ``export plies
            --dataset`` does not name sources: its files of plies are under an empty text, and there are no others.
        complete: False while a program writes the data set, and after it was interrupted.
    """

    sources: list[DatasetSource]
    plies: dict[str, tuple[str, ...]]
    games: dict[str, tuple[str, ...]]
    events: dict[str, tuple[str, ...]]
    complete: bool = True


def find_files(where: str) -> DatasetFiles:
    """Find the files of a data set: those that the record of a finished source names.

    Args:
        where: the folder, or its URL.
    Returns:
        Their paths, as DuckDB reads them.
    Raises:
        StorageError: there is no data set, or a record cannot be read, or an older program wrote it.
    """
    place = where if is_url(where) else str(Path(where).expanduser())
    if not is_url(where) and not Path(place).is_dir():
        raise StorageError(f"{where}: there is no such data set; `ics-recorder convert --dataset` writes one.")
    folder = open_folder(place)
    records, manifest = read_records(folder), read_manifest(folder)
    if records:
        there = folder.files()
        found = DatasetFiles([], {}, {}, {}, manifest is None or manifest.complete)
        if older := [record.name for record in records if record.schema < DATASET_SCHEMA]:
            others = f" and {plural(len(older) - 1, 'other log')}" if older[1:] else ""
            raise StorageError(
                f"{where}: an older version of this program wrote {older[0]}{others} to it; write it again with "
                f"`{update_command(where, older[0])}`{', naming all logs' if others else ''}."
            )
        for record in records:
            if (problem := why_broken(where, record, there)) is not None:
                raise StorageError(problem)
            found.sources.append(
                DatasetSource(record.source, record.name, record.kind, record.size_bytes, record.games)
            )
            for name, files in (("plies/", found.plies), ("games/", found.games), ("events/", found.events)):
                files[record.source] = tuple(
                    f"{folder.name}/{part.name}" for part in record.parts if part.name.startswith(name)
                )
        return found
    if manifest is not None:
        raise StorageError(
            f"{where} has no finished source: `ics-recorder convert --dataset {where} --update` adds them."
        )
    names = folder.files()
    if (inner := next((name for name in names if name.endswith("/manifest.json")), None)) is not None:
        raise StorageError(
            f"{where} is no data set, but {where.rstrip('/')}/{inner.rpartition('/')[0]} may be one: name that folder."
        )
    plies = tuple(f"{folder.name}/{name}" for name in names if name.endswith(".parquet"))
    if not plies or not _is_ours(plies[0]):
        raise StorageError(f"{where} is no data set of this program: `ics-recorder convert --dataset` writes one.")
    return DatasetFiles([], {"": plies}, {}, {})


def _is_ours(path: str) -> bool:
    """Whether a file has plies that this program wrote."""
    import pyarrow.parquet as pq

    name, system = arrow_place(path)
    try:
        schema = pq.read_schema(name, filesystem=system)
    except (OSError, ValueError):  # pyarrow's errors of files that are no Parquet are ValueErrors
        return False
    return "ply" in schema.names and _OURS in (schema.metadata or {})


def arrow_place(path: str) -> tuple[str, Any]:
    """The name of a data set's file and the file system that has it, as pyarrow takes them."""
    return (path.partition("://")[2], file_system(path)) if is_url(path) else (path, None)


def connect(where: str) -> DuckDBPyConnection:
    """A database in memory: sorting and joining use no more than 200 MB, and files in the folder for temporary ones.

    Args:
        where: the data set that it is to read.
    Raises:
        StorageError: DuckDB or pyarrow is not installed.
    """
    import tempfile

    try:
        import duckdb
        import pyarrow  # noqa: F401 -- DuckDB gives its results to pandas through it
    except ImportError as error:
        raise StorageError("A data set needs DuckDB: pip install 'ics-recorder[duckdb]'.") from error
    connection = duckdb.connect(
        config={
            "memory_limit": _MEMORY,
            "temp_directory": str(Path(tempfile.gettempdir()) / f"ics-recorder-{token_hex(8)}"),
            "autoinstall_known_extensions": False,
        }
    )
    if is_url(where):
        system = file_system(where, listed=True)
        system.invalidate_cache()
        try:
            system.find(where.rstrip("/"))  # one request for the sizes of all files, not one for each
        except Exception as error:  # the libraries below fsspec have errors of their own
            raise StorageError(f"{where} cannot be read: {reason(error)}.") from None
        connection.register_filesystem(system)
    return connection


@contextmanager
def dataset_errors(where: str, files: DatasetFiles) -> Iterator[None]:
    """Errors of DuckDB as one sentence.

    Args:
        where: the data set. files: of it.
    Raises:
        StorageError: DuckDB cannot read the data set.
    """
    import duckdb

    try:
        yield
    except duckdb.ConnectionException as error:
        raise StorageError(f"The data set {where} is closed: open it again.") from error
    except duckdb.Error as error:
        reason = str(error).partition("\n")[0]
        for source in files.sources:
            of_source = (table.get(source.sha256, ()) for table in (files.plies, files.games, files.events))
            path = next((path for paths in of_source for path in paths if f"{path}'" in reason), None)
            if path is not None:
                raise StorageError(
                    f"{path} cannot be read ({reason}): remove this file, and repair the data set with "
                    f"`{update_command(where, source.name)}`."
                ) from error
        raise StorageError(f"{where} cannot be read: {reason}") from error
