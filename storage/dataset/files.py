"""The files of a data set, and the DuckDB connection that reads them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from recorder.errors import StorageError
from recorder.text import plural
from recorder.urls import file_system, is_url, reason
from storage.dataset.folder import DataFolder, open_folder
from storage.dataset.records import DATASET_SCHEMA, read_manifest, read_records, update_command, why_broken
from storage.read.engine import new_database

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


class DatasetSource(NamedTuple):
    """``me`` is whose connection recorded it."""

    sha256: str
    name: str
    kind: str
    size_bytes: int
    games: int
    server: str | None = None
    me: str | None = None

    @property
    def id(self) -> str:
        """As of an archive's source."""
        return self.sha256[:12]


class PlyFile(NamedTuple):
    """The whole path, rows, and keys of the games that are wanted; None: all that were played."""

    path: str
    rows: int
    keys: list[str] | None


@dataclass(frozen=True, slots=True)
class DatasetFiles:
    """By the SHA-256 of their source. ``complete`` is False while a program writes, and after it was interrupted."""

    sources: list[DatasetSource]
    plies: dict[str, tuple[str, ...]]
    games: dict[str, tuple[str, ...]]
    events: dict[str, tuple[str, ...]]
    rows: dict[str, int]
    complete: bool = True

    def tables(self) -> dict[str, list[str]]:
        named = {"game_rows": self.games, "plies": self.plies, "events": self.events}
        return {name: [path for paths in files.values() for path in paths] for name, files in named.items()}


def find_files(where: str) -> DatasetFiles:
    """Find the files of a data set: those that the record of a finished source names."""
    place = where if is_url(where) else str(Path(where).expanduser())
    if not is_url(where) and not Path(place).is_dir():
        raise StorageError(f"{where}: there is no such data set; `ics-recorder convert --dataset` writes one.")
    folder = open_folder(place)
    records, manifest = read_records(folder), read_manifest(folder)
    if records:
        there = folder.files()
        found = DatasetFiles([], {}, {}, {}, {}, manifest is None or manifest.complete)
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
            found.rows.update({f"{folder.name}/{part.name}": part.rows for part in record.parts})
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
    raise StorageError(f"{where} is no data set of this program: `ics-recorder convert --dataset` writes one.")


def connect(where: str = "") -> DuckDBPyConnection:
    """Also where the files are not on this computer."""
    connection = new_database()
    if not is_url(where):
        return connection
    system = file_system(where, listed=True)
    system.invalidate_cache()
    try:
        system.find(where.rstrip("/"))  # one request for the sizes of all files, not one for each
    except Exception as error:  # the libraries below fsspec have errors of their own
        raise StorageError(f"{where} cannot be read: {reason(error)}.") from None
    connection.register_filesystem(system)
    return connection


def listed(paths: Collection[str]) -> str:
    texts = (path.replace("'", "''") for path in paths)
    return "[{}]".format(", ".join(f"'{text}'" for text in texts))


def count_shared_games(folder: DataFolder, names: Sequence[str]) -> int:
    """By their fingerprints; each game counts once."""
    if not names:
        return 0
    files = listed([f"{folder.name}/{name}" for name in names])
    equal = f"SELECT fingerprint FROM read_parquet({files}) GROUP BY fingerprint HAVING count(DISTINCT source) > 1"
    with connect(folder.name) as connection:
        ((count,),) = connection.execute(f"SELECT count(fingerprint) FROM ({equal})").fetchall()
    return int(count)


@contextmanager
def dataset_errors(where: str, files: DatasetFiles) -> Iterator[None]:
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
