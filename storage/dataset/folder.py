"""The folder of a data set: on this computer, or objects below a name in a bucket of S3."""

from __future__ import annotations

import errno
import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final, NamedTuple, TypeAlias, cast

from recorder.errors import ExportError, StorageError
from recorder.urls import DATASET_SCHEMES, check_url, file_system, is_url, reason

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
        found: dict[str, int] = {}
        for folder, _, names in os.walk(Path(self.name, under)):
            place = Path(folder).relative_to(self.name).as_posix()
            for name in names:
                with suppress(FileNotFoundError):  # another process has finished it
                    size = os.stat(f"{folder}/{name}").st_size  # noqa: PTH116 -- there may be many
                    found[name if place == "." else f"{place}/{name}"] = size
        return dict(sorted(found.items()))

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
            found = self._system().cat([self._url(name) for name in names])
        begin = self.name.partition("://")[2] + "/"
        return {path.removeprefix(begin): data for path, data in found.items()}

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
