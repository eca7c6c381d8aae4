"""The files of a data set, and the DuckDB connection that reads them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from recorder.errors import StorageError
from recorder.urls import DATASET_SCHEMES, check_url, file_system, is_url, reason

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

__all__ = ["DatasetFiles", "DatasetSource", "arrow_place", "connect", "dataset_errors", "find_files"]

_MEMORY: Final = "200MB"
_OURS: Final = b"ics-recorder"
_OF_RECORD: Final = ("source", "name", "kind", "size_bytes", "games")
"""What a record has of a source, in the order of ``DatasetSource``."""


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
        plies, games: by the SHA-256 of the source that they were made from. A folder of ``export plies --dataset`` does
            not name sources: its files of plies are under an empty text, and there are none of games.
    """

    sources: list[DatasetSource]
    plies: dict[str, tuple[str, ...]]
    games: dict[str, tuple[str, ...]]


def find_files(where: str) -> DatasetFiles:
    """Find the files of a data set: those that the record of a finished source names.

    Args:
        where: the folder, or its URL.
    Returns:
        Their paths, as DuckDB reads them.
    Raises:
        StorageError: there is no data set, or a record cannot be read.
    """
    place = _Place.of(where)
    records = place.read_all("sources", ".json")
    if records:
        found = DatasetFiles([], {}, {})
        for path, data in sorted(records.items()):
            record = _record(path, data)
            found.sources.append(DatasetSource(*(record[name] for name in _OF_RECORD)))
            parts = record["parts"]
            for name, files in (("plies/", found.plies), ("games/", found.games)):
                files[record["source"]] = tuple(f"{place.top}/{part}" for part in parts if part.startswith(name))
        return found
    if place.paths("", "manifest.json"):
        raise StorageError(
            f"{where} has no finished source: `ics-recorder convert --dataset {where} --update` adds them."
        )
    plies = tuple(sorted(place.paths("", ".parquet")))
    if not plies or not _is_ours(plies[0]):
        raise StorageError(f"{where} is no data set of this program: `ics-recorder convert --dataset` writes one.")
    return DatasetFiles([], {"": plies}, {})


@dataclass(frozen=True, slots=True)
class _Place:
    """A folder with a data set.

    Attributes:
        top: its path or URL, without a slash at the end. system: of fsspec; None: a folder of this computer.
    """

    top: str
    system: Any = None

    @classmethod
    def of(cls, where: str) -> _Place:
        """A place as the user names it.

        Raises:
            StorageError: there is no such folder. SourceError: data sets cannot be at this URL.
        """
        if is_url(where):
            check_url(where, DATASET_SCHEMES)
            system = file_system(where, listed=True)
            system.invalidate_cache()
            return cls(where.rstrip("/"), system)
        folder = Path(where).expanduser()
        if not folder.is_dir():
            raise StorageError(f"{where}: there is no such data set; `ics-recorder convert --dataset` writes one.")
        return cls(str(folder))

    def paths(self, under: str, suffix: str) -> list[str]:
        """The files below a folder whose names end with ``suffix``.

        Raises:
            StorageError: a server does not answer.
        """
        if self.system is None:
            return [str(path) for path in Path(self.top, under).rglob(f"*{suffix}")]
        try:
            found = self.system.find(self.top)
        except Exception as error:
            raise StorageError(f"{self.top} cannot be read: {reason(error)}.") from None
        urls = map(self.system.unstrip_protocol, found)
        return [url for url in urls if url.startswith(f"{self.top}/{under}") and url.endswith(suffix)]

    def read_all(self, under: str, suffix: str) -> dict[str, bytes]:
        """The same files with what is in them.

        Raises:
            StorageError: one cannot be read.
        """
        paths = self.paths(under, suffix)
        try:
            if self.system is None:
                return {path: Path(path).read_bytes() for path in paths}
            found = self.system.cat(paths) if paths else {}
        except Exception as error:
            raise StorageError(f"{self.top} cannot be read: {reason(error)}.") from None
        return {self.system.unstrip_protocol(path): data for path, data in found.items()}


def _record(path: str, data: bytes) -> dict[str, Any]:
    try:
        found = json.loads(data)
    except ValueError as error:
        raise StorageError(f"{path} is no record of a source: write the data set again.") from error
    if not isinstance(found, dict) or not {*_OF_RECORD, "parts"} <= found.keys():
        raise StorageError(f"{path} is no record of a source: write the data set again.")
    return found


def _is_ours(path: str) -> bool:
    import pyarrow.parquet as pq

    name, system = arrow_place(path)
    try:
        return _OURS in (pq.read_schema(name, filesystem=system).metadata or {})
    except (OSError, ValueError):  # pyarrow's errors of files that are no Parquet are ValueErrors
        return False


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
        connection.register_filesystem(file_system(where, listed=True))
    return connection


@contextmanager
def dataset_errors(where: str) -> Iterator[None]:
    """Errors of DuckDB as one sentence.

    Raises:
        StorageError: DuckDB cannot read the data set.
    """
    import duckdb

    try:
        yield
    except duckdb.Error as error:
        reason = str(error).partition("\n")[0]
        raise StorageError(f"{where} cannot be read: {reason}") from error
