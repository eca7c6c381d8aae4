"""``python -m recorder.archive.usable ARCHIVE``: whether an archive can be written, told in one sentence.

A process of its own, since whoever records asks: what reads archives takes as much memory as all that records.
"""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Final

from recorder.errors import ExitCode, RecorderError, StorageError

__all__ = ["main", "refuse_unusable"]

_PATIENCE_S: Final = 60.0


def refuse_unusable(where: str) -> None:
    """Make sure, before anything is recorded, that an archive can take it. One that is only locked now can.

    Args:
        where: as ``--db`` names it.
    Raises:
        StorageError: it cannot.
    """
    if "://" not in where and where and not os.path.lexists(Path(where).expanduser()):
        _refuse_folder(where)
        return
    try:
        asked = subprocess.run(
            [sys.executable, "-P", "-m", "recorder.archive.usable", where],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, timeout=_PATIENCE_S, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return  # its own process tells, later, what is wrong
    if asked.returncode == ExitCode.ARCHIVE:
        raise StorageError(asked.stdout.decode(errors="replace").strip())


def _refuse_folder(where: str) -> None:
    from recorder.archive.locate import default_archive

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
    from storage.files import open_sqlite

    if not os.access(path, os.W_OK):
        raise StorageError(f"The archive {path} cannot be written: it is read-only.")
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


def _is_locked(reason: BaseException | None) -> bool:
    """Whether somebody else holds it just now; the lower byte tells, the others how."""
    code = reason.sqlite_errorcode & 0xFF if isinstance(reason, sqlite3.Error) else None
    return code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def main() -> int:
    """Look at the archive that the only argument names; returns the exit status."""
    from recorder.archive.locate import archive_file
    from storage.schema.upgrade import current, require_current

    try:
        path = archive_file(sys.argv[1])
        if not path.exists():
            _refuse_folder(str(path))
        elif current(path) is not None:  # an empty one becomes one
            require_current(path)
        if path.exists():
            _refuse_read_only(path)
    except RecorderError as error:
        if _is_locked(error.__cause__):
            return ExitCode.OK  # which passes
        print(error)
        return ExitCode.ARCHIVE
    return ExitCode.OK


if __name__ == "__main__":
    sys.exit(main())
