"""Where an archive is, and opening it."""

from __future__ import annotations

import errno
import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from recorder.errors import StorageError

if TYPE_CHECKING:
    from storage import ArchiveStore

__all__ = ["archive_file", "default_archive", "import_command", "open_archive", "why_unusable"]


def default_archive() -> str:
    """Where the archive is if nobody says: the platform's place for a user's data."""
    import platformdirs

    return str(Path(platformdirs.user_data_dir("ics-recorder", appauthor=False)) / "archive.sqlite")


def open_archive(where: str, *, create: bool = False, read_only: bool = True) -> ArchiveStore:
    """Open the archive that ``--db`` names.

    Raises:
        StorageError: it cannot be used, or is to be made in a folder that is not there.
    """
    from storage import ArchiveStore

    path = archive_file(where)
    if create and not path.parent.is_dir() and where != default_archive():
        raise StorageError(f"Cannot create {path}: there is no folder {path.parent}.")
    return ArchiveStore.open(where, create=create, read_only=read_only)


def import_command(path: Path, where: str, *words: str) -> str:
    """What to type to import a journal, or a folder of them, into the archive that ``--db`` names.

    Args:
        words: more options of import.
    """
    archive = [] if where == default_archive() else ["--db", where]
    return shlex.join(["ics-recorder", "import", *archive, *words, str(path)])


def archive_file(where: str) -> Path:
    """The file of the archive that ``--db`` names, there or not.

    Raises:
        StorageError: it is there and cannot be read, or is no archive's name.
    """
    from storage import file_of

    path = file_of(where)
    # Never by opening it: closing a file lets go of all locks that this process has on it, SQLite's too, and then
    # another program could replace the archive while this one writes it.
    try:
        path.stat()
        readable = os.access(path, os.R_OK)
    except (FileNotFoundError, NotADirectoryError):
        readable = True  # who opens it says what that means
    except OSError as error:
        raise StorageError(f"The archive {path} cannot be read: {error.strerror}.") from error
    if not readable:
        raise StorageError(f"The archive {path} cannot be read: {os.strerror(errno.EACCES)}.")
    return path


def why_unusable(where: str | None, error: Exception) -> str | None:
    """What is wrong with an archive, if that is why something failed; None: it failed for another reason.

    Args:
        where: the archive; None: it is not known.
    """
    import sqlite3

    from storage import corrupt, file_of

    found = None if where is None else corrupt(file_of(where))
    if found is None:
        return f"The archive cannot be used: {error}." if isinstance(error, sqlite3.Error) else None
    return str(found)
