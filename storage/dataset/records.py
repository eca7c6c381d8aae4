"""What makes a folder a data set: the records of its sources, and the manifest.

docs/reference/formats.md has the layout. A source is there if its record is: the record is written last, and names all
files of the source. So a data set may be written by several processes on several machines, and ended at any moment.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from typing import Any, Final

from recorder.errors import StorageError
from recorder.text import reason_of
from storage.dataset.folder import DataFolder, Part

DATASET_SCHEMA: Final = 4
_MANIFEST: Final = "manifest.json"
_SOURCES: Final = "sources"
_TABLES: Final = ("plies", "games", "events")
_STEM_LETTERS: Final = 16


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
        doublings: first digits of the hashes of its first 16, 32, 64 … bytes; empty: an older program wrote it.
        earlier: SHA-256 of sources that are its beginning, which were in the data set or were given.
        parts: its files; ``part_bytes`` of a record's file has their sizes.
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
    parser_version: str = field(kw_only=True)
    schema: int = DATASET_SCHEMA
    doublings: list[str] = field(default_factory=list)
    earlier: list[str] = field(default_factory=list)
    parts: list[Part] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        parts = {part.name: part.rows for part in self.parts}
        return {**asdict(self), "parts": parts, "part_bytes": {part.name: part.size_bytes for part in self.parts}}

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> SourceRecord:
        sizes = values.get("part_bytes", {})  # not in records of older programs
        parts = [Part(name, rows, sizes.get(name)) for name, rows in values["parts"].items()]
        return cls(**{name: value for name, value in values.items() if name != "part_bytes"} | {"parts": parts})


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


def rows_of(parts: Iterable[Part], place: str) -> int:
    """How many rows the files have whose names begin so."""
    return sum(part.rows for part in parts if part.name.startswith(place))


def stem_of(sha256: str) -> str:
    return sha256[:_STEM_LETTERS]


def _record_name(sha256: str) -> str:
    return f"{_SOURCES}/{sha256}.json"


def _write_json(folder: DataFolder, name: str, values: dict[str, Any]) -> None:
    with folder.create(name) as out:
        out.write((json.dumps(values, indent=2, ensure_ascii=False) + "\n").encode("utf-8", "surrogateescape"))


def _from_json(data: bytes) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(data.decode("utf-8", "surrogateescape"))
    return found


def write_record(folder: DataFolder, record: SourceRecord) -> None:
    """Write the record of a source whose files are written: from then on the source is there."""
    _write_json(folder, _record_name(record.source), record.to_json())


def read_records(folder: DataFolder) -> list[SourceRecord]:
    records = []
    names = [name for name in folder.files(_SOURCES) if name.endswith(".json")]  # others are being written
    try:
        texts = folder.read_all(names)
    except OSError as error:
        raise StorageError(f"{folder.name}: the records of its sources cannot be read: {reason_of(error)}.") from error
    for name in names:
        try:
            values = _from_json(texts[name])
            if values["schema"] > DATASET_SCHEMA:
                raise StorageError(
                    f"{folder.name}/{name}: a newer version of this program wrote it; use that version or a newer one."
                )
            records.append(SourceRecord.from_json(values))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise StorageError(f"{folder.name}/{name} is no record of a source: write the data set again.") from error
    return records


def remove_source(folder: DataFolder, sha256: str, names: list[str]) -> None:
    """Or what a process that was ended has left of it."""
    folder.remove(_record_name(sha256))
    for name in names:
        folder.remove(name)


def remove_empty(folder: DataFolder) -> None:
    """Remove a data set that has no source: its manifest, and what is left of sources that could not be read."""
    for name in folder.files():
        if name == _MANIFEST or name.partition("/")[0] in _TABLES:
            folder.remove(name)


def remove_unfinished(folder: DataFolder) -> None:
    """Remove files that processes that died did not finish; no process may be writing."""
    for name in folder.files():
        if name.rpartition("/")[2].startswith("."):
            folder.remove(name)


def part_names(files: Iterable[str]) -> dict[str, list[str]]:
    """The files of tables among those of a data set, whether records name them or not, by the source's ``stem_of``."""
    names: dict[str, list[str]] = {}
    for name in files:
        if name.partition("/")[0] in _TABLES:
            stem = name.rpartition("/")[2].removeprefix(".")[:_STEM_LETTERS]
            names.setdefault(stem, []).append(name)
    return names


def why_broken(folder: str, record: SourceRecord, files: Mapping[str, int]) -> str | None:
    """None: they are as they were written."""
    for part in record.parts:
        size = files.get(part.name)
        if size is None or part.size_bytes not in (None, size):
            wrong = "is missing" if size is None else f"has {size:,} bytes, but {part.size_bytes:,} were written"
            return f"{folder}/{part.name} {wrong}: repair the data set with `{update_command(folder, record.name)}`."
    return None


def update_command(folder: str, source: str) -> str:
    return shlex.join(["ics-recorder", "convert", "--dataset", folder, "--update", source])


def read_manifest(folder: DataFolder) -> Manifest | None:
    """None: the folder is no data set."""
    try:
        values = _from_json(folder.read_all([_MANIFEST])[_MANIFEST])
    except FileNotFoundError:
        return None
    except NotADirectoryError as error:
        raise StorageError(f"{folder.name} is a file, and a data set is a folder: name another.") from error
    except OSError as error:
        raise StorageError(f"{folder.name}/{_MANIFEST} cannot be read: {reason_of(error)}.") from error
    except ValueError as error:
        raise StorageError(f"{folder.name}/{_MANIFEST} cannot be read as the manifest of a data set.") from error
    if not isinstance(values.get("schema"), int):
        raise StorageError(f"{folder.name}/{_MANIFEST} is not the manifest of a data set.")
    if values["schema"] > DATASET_SCHEMA:
        raise StorageError(
            f"{folder.name}: a newer version of this program wrote this data set; use that version or a newer one."
        )
    return Manifest(**values)


def write_manifest(
    folder: DataFolder, records: list[SourceRecord], shared_games: int = 0, *, parser_version: str, complete: bool
) -> Manifest:
    manifest = Manifest(
        version("ics-recorder"),
        parser_version,
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
