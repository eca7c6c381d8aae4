"""What a data set is on disk: its folder, the records of its sources, and the manifest.

docs/reference/formats.md has the layout. A source is there if its record is: the record is written last, and names all
files of the source. So a data set may be written by several processes on several machines, and ended at any moment.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any, BinaryIO, Final, Protocol

from exporters.dataset_parts import Part, PartFolder
from recorder.archive.url_folder import UrlFolder
from recorder.errors import ExportError, StorageError
from recorder.pipeline import PARSER_VERSION
from recorder.urls import is_url

__all__ = [
    "DATASET_SCHEMA",
    "DataFolder",
    "LocalFolder",
    "Manifest",
    "SourceRecord",
    "open_folder",
    "part_names",
    "read_manifest",
    "read_records",
    "remove_source",
    "remove_unfinished",
    "stem_of",
    "write_manifest",
    "write_record",
]

DATASET_SCHEMA: Final = 1
"""Changes when readers of a data set must know more than before."""
_MANIFEST: Final = "manifest.json"
_SOURCES: Final = "sources"
_TABLES: Final = ("plies", "games")
_STEM_LETTERS: Final = 16


class DataFolder(PartFolder, Protocol):
    """The folder of a data set, here or elsewhere. Names are relative to it and have slashes. Can be pickled."""

    @property
    def name(self) -> str:
        """As the user gave it."""

    def open(self, name: str) -> BinaryIO:
        """Open a file to read it.

        Raises:
            FileNotFoundError: there is none.
        """

    def names(self, under: str = "") -> list[str]:
        """The names of all files in a folder and the folders in it; none if it is not there."""

    def remove(self, name: str) -> None:
        """Remove a file, if it is there."""

    def remove_all(self) -> None:
        """Remove the folder with all that is in it."""


@dataclass(frozen=True, slots=True)
class LocalFolder:
    """A folder of this machine.

    Args:
        name: as the user gave it.
    """

    name: str

    @contextmanager
    def create(self, name: str) -> Iterator[BinaryIO]:
        """As ``PartFolder.create``.

        Raises:
            ExportError: it cannot be written.
        """
        path = Path(self.name, name)
        unfinished = path.with_name(f".{path.name}.{os.getpid()}-{secrets.token_hex(4)}.part")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            try:
                with unfinished.open("wb") as out:
                    yield out
                unfinished.replace(path)
            except BaseException:
                unfinished.unlink(missing_ok=True)
                raise
        except OSError as error:
            raise ExportError(f"{path} cannot be written: {error.strerror or error}.") from error

    def open(self, name: str) -> BinaryIO:
        """As ``DataFolder.open``."""
        return Path(self.name, name).open("rb")

    def names(self, under: str = "") -> list[str]:
        """As ``DataFolder.names``."""
        top = Path(self.name)
        return sorted(path.relative_to(top).as_posix() for path in (top / under).rglob("*") if not path.is_dir())

    def remove(self, name: str) -> None:
        """As ``DataFolder.remove``."""
        Path(self.name, name).unlink(missing_ok=True)

    def remove_all(self) -> None:
        """As ``DataFolder.remove_all``."""
        shutil.rmtree(self.name)


def open_folder(where: str, *, absolute: bool = False) -> DataFolder:
    """The folder of a data set, which need not be there yet.

    Args:
        where: as the user names it: a path, or a URL of S3. absolute: other computers are to find the path, too.
    Raises:
        SourceError: data sets cannot be at this URL.
    """
    if is_url(where):
        return UrlFolder.of(where)
    return LocalFolder(str(Path(where).absolute()) if absolute else where)


@dataclass(slots=True)
class SourceRecord:
    """A source that is in a data set.

    Attributes:
        source: SHA-256 of its decompressed bytes. size_bytes: their number.
        name: as the user gave it. kind: as what it was read.
        games, plies, anomalies: how many it has.
        message: why not all of it was read, one sentence, or None.
        options: how it was read, as ``ReadOptions.to_json`` gives it.
        program, parser_version, schema: what wrote it.
        parts: its files.
    """

    source: str
    name: str
    size_bytes: int
    kind: str
    games: int = 0
    plies: int = 0
    anomalies: int = 0
    message: str | None = None
    options: dict[str, Any] = field(default_factory=dict)
    program: str = field(default_factory=lambda: version("ics-recorder"))
    parser_version: str = PARSER_VERSION
    schema: int = DATASET_SCHEMA
    parts: list[Part] = field(default_factory=list)

    @property
    def current(self) -> bool:
        """Whether this version of the program wrote it."""
        return (self.program, self.parser_version, self.schema) == (
            version("ics-recorder"),
            PARSER_VERSION,
            DATASET_SCHEMA,
        )

    def to_json(self) -> dict[str, Any]:
        """The record as JSON values."""
        return {**asdict(self), "parts": {part.name: part.rows for part in self.parts}}

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> SourceRecord:
        """The inverse of ``to_json``."""
        return cls(**{**values, "parts": [Part(*part) for part in values["parts"].items()]})


@dataclass(slots=True)
class Manifest:
    """The summary of a data set.

    Attributes:
        program, parser_version, schema: of the program that wrote it.
        sources, games, plies, anomalies: how many there are.
        shared_games: games with equal players, day and moves in several sources: probable duplicates, each counted
            once.
        complete: False while a program writes the data set, and after it was interrupted.
    """

    program: str
    parser_version: str
    schema: int
    sources: int = 0
    games: int = 0
    plies: int = 0
    anomalies: int = 0
    shared_games: int = 0
    complete: bool = False


def stem_of(sha256: str) -> str:
    """What the names of a source's files begin with."""
    return sha256[:_STEM_LETTERS]


def _record_name(sha256: str) -> str:
    return f"{_SOURCES}/{sha256}.json"


def _write_json(folder: DataFolder, name: str, values: dict[str, Any]) -> None:
    with folder.create(name) as out:
        out.write((json.dumps(values, indent=2, ensure_ascii=False) + "\n").encode("utf-8", "surrogateescape"))


def _read_json(folder: DataFolder, name: str) -> dict[str, Any]:
    with folder.open(name) as file:
        found: dict[str, Any] = json.loads(file.read().decode("utf-8", "surrogateescape"))
    return found


def write_record(folder: DataFolder, record: SourceRecord) -> None:
    """Write the record of a source whose files are written: from then on the source is there."""
    _write_json(folder, _record_name(record.source), record.to_json())


def read_records(folder: DataFolder) -> list[SourceRecord]:
    """The sources of a data set, by their hashes.

    Raises:
        StorageError: a record cannot be read, or a newer program wrote it.
    """
    found = []
    for name in folder.names(_SOURCES):
        if not name.endswith(".json"):
            continue  # another process is writing it
        try:
            values = _read_json(folder, name)
            if values["schema"] > DATASET_SCHEMA:
                raise StorageError(
                    f"{folder.name}/{name}: a newer version of this program wrote it; use that version or a newer one."
                )
            found.append(SourceRecord.from_json(values))
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise StorageError(f"{folder.name}/{name} cannot be read as the record of a source.") from error
    return found


def remove_source(folder: DataFolder, sha256: str, names: list[str]) -> None:
    """Remove a source, or what a process that was ended has left of it.

    Args:
        folder: of the data set.
        sha256: of the source.
        names: its files.
    """
    folder.remove(_record_name(sha256))
    for name in names:
        folder.remove(name)


def remove_unfinished(folder: DataFolder) -> None:
    """Remove files that processes that died did not finish; no process may be writing."""
    for name in folder.names():
        if name.rpartition("/")[2].startswith("."):
            folder.remove(name)


def part_names(folder: DataFolder) -> dict[str, list[str]]:
    """The files of tables in a data set, whether records name them or not, by the source's ``stem_of``."""
    found: dict[str, list[str]] = {}
    for table in _TABLES:
        for name in folder.names(table):
            stem = name.rpartition("/")[2].removeprefix(".")[:_STEM_LETTERS]
            found.setdefault(stem, []).append(name)
    return found


def read_manifest(folder: DataFolder) -> Manifest | None:
    """The manifest of a data set; None: the folder is no data set.

    Raises:
        StorageError: it cannot be read, or a newer program wrote it.
    """
    try:
        values = _read_json(folder, _MANIFEST)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise StorageError(f"{folder.name}/{_MANIFEST} cannot be read as the manifest of a data set.") from error
    if not isinstance(values.get("schema"), int):
        raise StorageError(f"{folder.name}/{_MANIFEST} is not the manifest of a data set.")
    if values["schema"] > DATASET_SCHEMA:
        raise StorageError(
            f"{folder.name}: a newer version of this program wrote this data set; use that version or a newer one."
        )
    return Manifest(**values)


def write_manifest(
    folder: DataFolder, records: list[SourceRecord], shared_games: int = 0, *, complete: bool
) -> Manifest:
    """Write the summary of all sources.

    Args:
        folder: of the data set.
        records: of all sources.
        shared_games, complete: as in ``Manifest``.
    Returns:
        The manifest.
    """
    manifest = Manifest(
        version("ics-recorder"),
        PARSER_VERSION,
        DATASET_SCHEMA,
        len(records),
        sum(record.games for record in records),
        sum(record.plies for record in records),
        sum(record.anomalies for record in records),
        shared_games,
        complete,
    )
    _write_json(folder, _MANIFEST, asdict(manifest))
    return manifest
