"""The files of a data set, and the DuckDB connection that reads them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from recorder.errors import StorageError

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

__all__ = ["DatasetFiles", "DatasetSource", "connect", "dataset_errors", "find_files"]

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
        where: the folder.
    Returns:
        Their paths, as DuckDB reads them.
    Raises:
        StorageError: there is no data set, or a record cannot be read.
    """
    folder = Path(where).expanduser()
    if not folder.is_dir():
        raise StorageError(f"{where}: there is no such data set; `ics-recorder convert --dataset` writes one.")
    records = sorted((folder / "sources").glob("*.json"))
    if records:
        found = DatasetFiles([], {}, {})
        for path in records:
            record = _record(path)
            found.sources.append(DatasetSource(*(record[name] for name in _OF_RECORD)))
            for name, files in (("plies/", found.plies), ("games/", found.games)):
                files[record["source"]] = tuple(str(folder / part) for part in record["parts"] if part.startswith(name))
        return found
    plies = tuple(str(path) for path in sorted(folder.rglob("*.parquet")))
    if not plies or not _is_ours(plies[0]):
        raise StorageError(f"{where} is no data set of this program: `ics-recorder convert --dataset` writes one.")
    return DatasetFiles([], {"": plies}, {})


def _record(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise StorageError(f"{path} is no record of a source: write the data set again.") from error
    if not isinstance(found, dict) or not {*_OF_RECORD, "parts"} <= found.keys():
        raise StorageError(f"{path} is no record of a source: write the data set again.")
    return found


def _is_ours(path: str) -> bool:
    import pyarrow.parquet as pq

    try:
        return _OURS in (pq.read_schema(path).metadata or {})
    except (OSError, ValueError):  # pyarrow's errors of files that are no Parquet are ValueErrors
        return False


def connect() -> DuckDBPyConnection:
    """A database in memory: sorting and joining use no more than 200 MB, and files in the folder for temporary ones.

    Raises:
        StorageError: DuckDB or pyarrow is not installed.
    """
    import tempfile

    try:
        import duckdb
        import pyarrow  # noqa: F401 -- DuckDB gives its results to pandas through it
    except ImportError as error:
        raise StorageError("A data set needs DuckDB: pip install 'ics-recorder[duckdb]'.") from error
    return duckdb.connect(
        config={
            "memory_limit": _MEMORY,
            "temp_directory": str(Path(tempfile.gettempdir()) / "ics-recorder-duckdb"),
            "autoinstall_known_extensions": False,
        }
    )


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
