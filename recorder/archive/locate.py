"""Where an archive is, opening it, whether it can be written, and how much of each session it has."""

from __future__ import annotations

import errno
import os
import shlex
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Final

from recorder.errors import StorageError

if TYPE_CHECKING:
    from storage import ArchiveStore, GameStore

_READ_ONLY: Final = "The archive {} cannot be written: it or its folder is read-only."


def default_archive() -> str:
    import platformdirs

    return str(Path(platformdirs.user_data_dir("ics-recorder", appauthor=False)) / "archive.sqlite")


def open_archive(where: str, *, create: bool = False, read_only: bool = True) -> ArchiveStore:
    from storage import ArchiveStore

    path = archive_file(where)
    if create and not path.parent.is_dir() and where != default_archive():
        raise StorageError(f"Cannot create {path}: there is no folder {path.parent}.")
    if not (read_only or _can_write(path)):
        raise StorageError(_READ_ONLY.format(path))
    return ArchiveStore.open(where, create=create, read_only=read_only)


def open_games(where: str, dataset: str | None, warn: Callable[[str], None]) -> GameStore:
    """``warn`` gets a sentence if the data set is not complete."""
    from storage.dataset.reading import DatasetStore

    if dataset is None:
        return open_archive(where)
    store = DatasetStore(dataset)
    if store.warning is not None:
        warn(store.warning)
    return store


def import_command(path: Path, where: str, *words: str) -> str:
    """What to type to import a journal, or a folder of them, into the archive that ``--db`` names."""
    archive = [] if where == default_archive() else ["--db", where]
    return shlex.join(["ics-recorder", "import", *archive, *words, str(path)])


def archive_file(where: str) -> Path:
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


def archived_sessions(where: str) -> tuple[dict[str, int | None] | None, str | None]:
    """The bytes that an archive has of each session (None: forgotten), or None and why they are unknown."""
    from recorder.journal import session_name

    file = archive_file(where)
    if not file.exists():
        return None, f"There is no archive {file} yet."
    sizes: dict[str, int | None] = {}
    try:
        with open_archive(where) as archive:
            for row in archive.sources():
                if (session := session_name(row.name)) is not None:
                    sizes[session] = max(sizes.get(session) or 0, row.size_bytes)
            for gone in archive.erasures.forgotten_sources():
                if (session := session_name(gone.name)) is not None:
                    sizes.setdefault(session, None)
    except StorageError as error:
        return None, f"How much the archive lacks is unknown: {error}"
    return sizes, None


_PATIENCE_S: Final = 60.0


def refuse_unusable(where: str) -> None:
    """Make sure, before anything is recorded, that an archive can take it. One that is only locked now can."""
    failed: list[StorageError] = []

    def look() -> None:
        try:
            _refuse(where)
        except StorageError as error:
            failed.append(error)

    looking = Thread(target=look, daemon=True)
    looking.start()
    looking.join(_PATIENCE_S)  # a disk that hangs keeps no one from recording: the archive's process will report it
    for error in failed:
        raise error


def _refuse(where: str) -> None:
    from storage.schema.upgrade import current, require_current

    path = archive_file(where)
    if not path.exists():
        _refuse_folder(str(path))
        return
    try:
        if current(path) is not None:  # an empty one becomes one
            require_current(path)
        _refuse_read_only(path)
    except StorageError as error:
        if not _is_locked(error.__cause__):  # the lock will be released
            raise


def _refuse_folder(where: str) -> None:
    path = Path(where).expanduser()
    folder = path.parent
    if where == default_archive():  # its folder is made
        folder = next(parent for parent in path.absolute().parents if parent.exists())
    if not folder.is_dir():
        raise StorageError(f"Cannot create {path}: there is no folder {folder}.")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise StorageError(f"Cannot create {path}: nothing can be written in the folder {folder}.")


def _refuse_read_only(path: Path) -> None:
    """Try to write, and undo it."""
    import sqlite3

    from storage.files import open_sqlite

    if not _can_write(path):
        raise StorageError(_READ_ONLY.format(path))
    try:
        with closing(open_sqlite(path)) as connection:
            connection.execute("PRAGMA busy_timeout = 0")
            connection.execute("BEGIN IMMEDIATE")  # alone it succeeds where nothing can be written
            connection.execute("CREATE TABLE written (value)")
            connection.execute("ROLLBACK")
    except sqlite3.Error as error:
        raise StorageError(
            f"The archive {path} cannot be written: {error}. Make it and its folder writable, or name another."
        ) from error


def _can_write(path: Path) -> bool:
    """Whether the user may write an archive, which needs files beside it; True if it is not there."""
    return not path.is_file() or (os.access(path, os.W_OK) and os.access(path.resolve().parent, os.W_OK))


def _is_locked(reason: BaseException | None) -> bool:
    """Whether another program has locked the archive; the lower byte of the code is its kind."""
    import sqlite3

    code = reason.sqlite_errorcode & 0xFF if isinstance(reason, sqlite3.Error) else None
    return code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
