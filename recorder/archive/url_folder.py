"""The folder of a data set that a URL names: objects below a name in a bucket of S3."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, BinaryIO, Final, cast

from recorder.errors import ExportError, StorageError
from recorder.urls import DATASET_SCHEMES, check_url, file_system, reason

__all__ = ["UrlFolder"]

_COPY_BYTES: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class UrlFolder:
    """A folder of a data set, as ``DataFolder``.

    Args:
        name: the URL, which ``check_url`` accepts.
    """

    name: str

    @classmethod
    def of(cls, url: str) -> UrlFolder:
        """The folder of a URL as the user gave it.

        Raises:
            SourceError: data sets cannot be there.
        """
        check_url(url, DATASET_SCHEMES)
        return cls(url.rstrip("/"))

    def _system(self) -> Any:
        return file_system(self.name)

    def _url(self, name: str) -> str:
        return f"{self.name}/{name}"

    @contextmanager
    def create(self, name: str) -> Iterator[BinaryIO]:
        """As ``PartFolder.create``: a file of this computer, which is sent when it is complete.

        Raises:
            ExportError: it cannot be written.
        """
        with tempfile.NamedTemporaryFile(prefix="ics-recorder-") as out:
            yield cast(BinaryIO, out)
            out.flush()
            try:
                self._system().put_file(out.name, self._url(name))
            except StorageError:
                raise
            except Exception as error:
                raise ExportError(f"{self._url(name)} cannot be written: {reason(error)}.") from None

    def open(self, name: str) -> BinaryIO:
        """As ``DataFolder.open``; the file is copied to this computer first."""
        copy = tempfile.TemporaryFile(prefix="ics-recorder-")  # noqa: SIM115  # the caller closes it
        try:
            with self._errors(name), self._system().open(self._url(name), "rb") as file:
                shutil.copyfileobj(file, copy, _COPY_BYTES)
            copy.seek(0)
        except BaseException:
            copy.close()
            raise
        return cast(BinaryIO, copy)

    def names(self, under: str = "") -> list[str]:
        """As ``DataFolder.names``."""
        top = self._url(under).rstrip("/")
        try:
            with self._errors(under):
                found = self._system().find(top)
        except FileNotFoundError:
            raise StorageError(f"{self.name}: there is no such bucket.") from None
        begin = self.name.partition("://")[2] + "/"
        return sorted(path.removeprefix(begin) for path in found if path.startswith(begin))

    def remove(self, name: str) -> None:
        """As ``DataFolder.remove``."""
        with self._errors(name):
            self._system().rm_file(self._url(name))

    def remove_all(self) -> None:
        """As ``DataFolder.remove_all``."""
        with self._errors(""):
            self._system().rm(self.name, recursive=True)

    @contextmanager
    def _errors(self, name: str) -> Iterator[None]:
        """Errors of the libraries as one sentence.

        Raises:
            FileNotFoundError: there is no such file. StorageError: anything else.
        """
        try:
            yield
        except (FileNotFoundError, StorageError):
            raise
        except Exception as error:
            raise StorageError(f"{self._url(name).rstrip('/')} cannot be read: {reason(error)}.") from None
