"""Copies of a whole archive: a backup, and one to give away."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from exporters.base import refuse_protected
from recorder.archive.exporting import archive_files
from recorder.archive.locate import archive_file
from recorder.errors import ExportError, StorageError
from recorder.text import reason_of
from storage import backup, current, share

__all__ = ["backup_archive", "share_archive"]


def backup_archive(where: str, target: str) -> None:
    """Copy an archive to a file that must not exist; it may be written meanwhile.

    Raises:
        StorageError: there is no usable archive. ExportError: the copy's name is taken or cannot be written.
    """
    with _copying(where, target) as path:
        backup(path, Path(target))


def share_archive(where: str, target: str, *, pseudonyms: bool, redact: Sequence[str]) -> None:
    """Write a copy to give away; see ``storage.share``.

    Args:
        pseudonyms, redact: as ``storage.share`` takes them.
    Raises:
        StorageError: there is no usable archive. ExportError: the copy's name is taken or cannot be written.
    """
    with _copying(where, target) as path:
        share(path, Path(target), pseudonyms=pseudonyms, redact=redact)


@contextmanager
def _copying(where: str, target: str) -> Iterator[Path]:
    """Check both ends of a copy, so that it is known which of them fails.

    Raises:
        StorageError: there is no usable archive. ExportError: the copy's name is taken or cannot be written.
    """
    path = archive_file(where)
    current(path)
    refuse_protected(Path(target), archive_files(path))
    if os.path.lexists(target):
        raise ExportError(f"{target} is already there; give another name.")
    if not Path(target).absolute().parent.is_dir():
        raise ExportError(f"{target} cannot be written: its folder is not there.")
    try:
        yield path
    except (StorageError, sqlite3.Error, OSError) as error:
        raise ExportError(f"{target} cannot be written: {reason_of(error).removesuffix('.')}.") from error
