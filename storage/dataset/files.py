"""A data set: its folder, the records of its sources, and the DuckDB connection that reads its files.

The folder is on this computer, or objects below a name in a bucket of S3; docs/reference/formats.md has the layout. A
source is there if its record is: the record is written last, and names all files of the source. So a data set may be
written by several processes on several machines, and ended at any moment.
"""

from __future__ import annotations

import errno
import json
import os
import secrets
import shlex
import shutil
import tempfile
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final, NamedTuple, TypeAlias, cast

from recorder.errors import ExportError, StorageError
from recorder.text import plural, reason_of
from recorder.urls import DATASET_SCHEMES, check_url, file_system, is_url, reason
from storage.read.store import new_database

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_COPY_BYTES: Final = 1 << 20
_NO_ROOM: Final = (errno.ENOSPC, errno.EDQUOT)


class Part(NamedTuple):
    """Its name has slashes, from the folder on; ``size_bytes`` is None if an older program wrote it."""

    name: str
    rows: int
    size_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class LocalFolder:
    """Names are relative to it and have slashes; ``name`` is as the user gave it."""

    name: str

    @contextmanager
    def create(self, name: str) -> Iterator[BinaryIO]:
        """The file has its name, in place of an older one, when the block ends without an exception."""
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
            raise _unwritable(self.name, str(path), error) from error

    def read_all(self, names: Sequence[str]) -> dict[str, bytes]:
        return {name: Path(self.name, name).read_bytes() for name in names}

    def open(self, name: str) -> BinaryIO:
        """FileNotFoundError: there is none."""
        return Path(self.name, name).open("rb")

    def files(self, under: str = "") -> dict[str, int]:
        """Also in the folders in it, by name, with their bytes; none if it is not there."""
        sizes: dict[str, int] = {}
        for folder, _, names in os.walk(Path(self.name, under)):
            inner = Path(folder).relative_to(self.name).as_posix()
            for name in names:
                with suppress(FileNotFoundError):  # another process has finished it
                    size = os.stat(f"{folder}/{name}").st_size  # noqa: PTH116 -- there may be many
                    sizes[name if inner == "." else f"{inner}/{name}"] = size
        return dict(sorted(sizes.items()))

    def remove(self, name: str) -> None:
        """If it is there."""
        Path(self.name, name).unlink(missing_ok=True)

    def remove_all(self) -> None:
        shutil.rmtree(self.name)


@dataclass(frozen=True, slots=True)
class UrlFolder:
    """At a URL that ``check_url`` accepts."""

    name: str

    @classmethod
    def of(cls, url: str) -> UrlFolder:
        check_url(url, DATASET_SCHEMES)
        return cls(url.rstrip("/"))

    def _system(self) -> Any:
        return file_system(self.name)

    def _url(self, name: str) -> str:
        return f"{self.name}/{name}"

    @contextmanager
    def create(self, name: str) -> Iterator[BinaryIO]:
        """As ``LocalFolder.create``: a file of this computer, which is sent when it is complete."""
        try:
            with tempfile.NamedTemporaryFile(prefix="ics-recorder-") as out:
                yield cast(BinaryIO, out)
                out.flush()
                self._send(out.name, name)
        except OSError as error:
            raise _unwritable(tempfile.gettempdir(), self._url(name), error) from error

    def _send(self, path: str, name: str) -> None:
        try:
            self._system().put_file(path, self._url(name))
        except StorageError:
            raise
        except Exception as error:  # the libraries below fsspec have errors of their own
            raise ExportError(f"{self._url(name)} cannot be written: {reason(error)}.") from None

    def read_all(self, names: Sequence[str]) -> dict[str, bytes]:
        """The server is asked for several at once."""
        if not names:
            return {}
        with self._errors(""):
            contents = self._system().cat([self._url(name) for name in names])
        begin = self.name.partition("://")[2] + "/"
        return {path.removeprefix(begin): data for path, data in contents.items()}

    def open(self, name: str) -> BinaryIO:
        """The file is copied to this computer first."""
        copy = tempfile.TemporaryFile(prefix="ics-recorder-")  # noqa: SIM115  # the caller closes it
        try:
            with self._errors(name), self._system().open(self._url(name), "rb") as file:
                shutil.copyfileobj(file, copy, _COPY_BYTES)
            copy.seek(0)
        except BaseException:
            copy.close()
            raise
        return cast(BinaryIO, copy)

    def files(self, under: str = "") -> dict[str, int]:
        top = self._url(under).rstrip("/")
        try:
            with self._errors(under):
                index = self._system().find(top, detail=True)
        except FileNotFoundError:
            raise StorageError(f"{self.name}: there is no such bucket.") from None
        begin = self.name.partition("://")[2] + "/"
        return {
            path.removeprefix(begin): about["size"] for path, about in sorted(index.items()) if path.startswith(begin)
        }

    def remove(self, name: str) -> None:
        with self._errors(name):
            self._system().rm_file(self._url(name))

    def remove_all(self) -> None:
        with self._errors(""):
            self._system().rm(self.name, recursive=True)

    @contextmanager
    def _errors(self, name: str) -> Iterator[None]:
        """Raise errors of the libraries as one sentence, FileNotFoundError if there is no such file."""
        try:
            yield
        except (FileNotFoundError, StorageError):
            raise
        except Exception as error:  # the libraries below fsspec have errors of their own
            raise StorageError(f"{self._url(name).rstrip('/')} cannot be read: {reason(error)}.") from None


DataFolder: TypeAlias = LocalFolder | UrlFolder


def _unwritable(folder: str, name: str, error: OSError) -> ExportError:
    """The folder may have too little room."""
    if error.errno in _NO_ROOM:
        return ExportError(f"{folder}: no space left to write the data set; make room and repeat with --update.")
    return ExportError(f"{name} cannot be written: {error.strerror or error}.")


def open_folder(where: str, *, absolute: bool = False) -> DataFolder:
    """It need not be there yet; ``absolute``: other computers are to find the path, too."""
    if is_url(where):
        return UrlFolder.of(where)
    return LocalFolder(str(Path(where).absolute()) if absolute else where)


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


def rows_of(parts: Iterable[Part], folder: str) -> int:
    """How many rows the files have whose names begin so."""
    return sum(part.rows for part in parts if part.name.startswith(folder))


def stem_of(sha256: str) -> str:
    return sha256[:_STEM_LETTERS]


def _record_name(sha256: str) -> str:
    return f"{_SOURCES}/{sha256}.json"


def _write_json(folder: DataFolder, name: str, values: dict[str, Any]) -> None:
    with folder.create(name) as out:
        out.write((json.dumps(values, indent=2, ensure_ascii=False) + "\n").encode("utf-8", "surrogateescape"))


def _from_json(data: bytes) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(data.decode("utf-8", "surrogateescape"))
    return value


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
    path = where if is_url(where) else str(Path(where).expanduser())
    if not is_url(where) and not Path(path).is_dir():
        raise StorageError(f"{where}: there is no such data set; `ics-recorder convert --dataset` writes one.")
    folder = open_folder(path)
    records, manifest = read_records(folder), read_manifest(folder)
    if records:
        there = folder.files()
        dataset = DatasetFiles([], {}, {}, {}, {}, manifest is None or manifest.complete)
        if older := [record.name for record in records if record.schema < DATASET_SCHEMA]:
            others = f" and {plural(len(older) - 1, 'other log')}" if older[1:] else ""
            raise StorageError(
                f"{where}: an older version of this program wrote {older[0]}{others} to it; write it again with "
                f"`{update_command(where, older[0])}`{', naming all logs' if others else ''}."
            )
        for record in records:
            if (problem := why_broken(where, record, there)) is not None:
                raise StorageError(problem)
            dataset.sources.append(
                DatasetSource(record.source, record.name, record.kind, record.size_bytes, record.games)
            )
            dataset.rows.update({f"{folder.name}/{part.name}": part.rows for part in record.parts})
            for name, files in (("plies/", dataset.plies), ("games/", dataset.games), ("events/", dataset.events)):
                files[record.source] = tuple(
                    f"{folder.name}/{part.name}" for part in record.parts if part.name.startswith(name)
                )
        return dataset
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
