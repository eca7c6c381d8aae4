"""Where an archive is, opening it, and the journals that it lacks because a crash left them."""

from __future__ import annotations

import errno
import os
import shlex
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from recorder.errors import JournalError, StorageError
from recorder.text import plural

if TYPE_CHECKING:
    from storage import ArchiveStore

__all__ = [
    "archive_file",
    "archived_sessions",
    "default_archive",
    "import_command",
    "open_archive",
    "take_left_over",
    "why_unusable",
]


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


async def take_left_over(
    journals: Path,
    import_them: Callable[[list[Path]], Awaitable[bool]] | None,
    tell: Callable[[str], object],
    later: str,
) -> None:
    """Import the journals of a folder that nobody has closed and nobody writes, then end them, so that they are found
    only once. What could not be imported is left for the next start.

    Args:
        journals: the folder; it need not exist.
        import_them: brings the archive up to date with journals, and says what keeps it from that; None: nothing is
            imported. Whether it could.
        tell: gets one sentence if there were any.
        later: the command that imports them.
    """
    from recorder.journal import open_sessions
    from recorder.live.net.sockets import in_thread

    def look() -> list[Path]:
        return [found.path for found in open_sessions(journals) if not found.written]

    # A long journal takes seconds, a disk that hangs longer: nobody who plays or is recorded waits for it.
    left = await in_thread(look)
    if not left or (import_them is not None and not await import_them(left)):
        return
    ended = await in_thread(lambda: [path for path in left if _end(path)])
    if not ended:
        return
    what = plural(len(ended), "journal was", "journals were")
    if import_them is None:
        tell(f"{what} left open by a crash and ended now, and not imported: {later}")
    elif await import_them(ended):
        tell(f"{what} left open by a crash; the archive has all of it now.")


def _end(path: Path) -> bool:
    from recorder.journal import close_left_open

    with suppress(OSError, JournalError):  # it stays as it was: the next start finds it
        return close_left_open(path)
    return False


def archived_sessions(where: str) -> tuple[dict[str, int | None] | None, str | None]:
    """How much of each session an archive has.

    Returns:
        Bytes by the session's name, None for a session that was forgotten; or None, and why it is not known.
    """
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
            for gone in archive.forgotten_sources():
                if (session := session_name(gone.name)) is not None:
                    sizes.setdefault(session, None)
    except StorageError as error:
        return None, f"How much the archive lacks is unknown: {error}"
    return sizes, None
