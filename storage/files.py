"""Opening SQLite: where the file is, its mode, and the pragmas of every connection."""

from __future__ import annotations

import hashlib
import os
import shutil
import sqlite3
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Final
from urllib.parse import quote

from recorder.errors import RecorderError, StorageError
from recorder.model import Player
from storage.sound import UnsoundError

BUSY_TIMEOUT_MS = 30_000
"""After this a connection that waits for another writer gives up."""

_URL: Final = "sqlite:///"


def file_of(where: str) -> Path:
    """Of a path, or a URL (``sqlite:///games.db``, ``sqlite:////home/me/games.db``)."""
    if "://" not in where:
        if where in ("", ":memory:"):
            raise StorageError("An archive must be a file: give its path.")
        return Path(where).expanduser()
    path = where.removeprefix(_URL)
    if path == where or path in ("", ":memory:") or "?" in path:
        raise StorageError(f"{where} is not the URL of an archive: give a path, or {_URL} and a path.")
    return Path(path)


def create_file(path: Path) -> None:
    """Only its owner can read it; SQLite gives its WAL the same mode."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    except OSError as error:
        raise StorageError(f"Cannot create {path}: {error.strerror}.") from error


def open_sqlite(path: Path, *, read_only: bool = False) -> sqlite3.Connection:
    """A driver connection in autocommit mode: every transaction is begun by a statement of ours.

    Where a process was killed while it made a new archive, SQLite must undo that before the first read, which it does
    not do for a connection that may only read: then the connection may write, but takes no statement that does.
    """
    undo = read_only and _beside(path, "-journal").exists() and os.access(path, os.W_OK)
    uri = uri_to_read(path) if read_only and not undo else f"{_uri_of(path)}?mode=rw"
    connection = sqlite3.connect(
        uri, uri=True, isolation_level=None, timeout=BUSY_TIMEOUT_MS / 1000, check_same_thread=False
    )
    if undo:
        connection.execute("PRAGMA query_only=ON")
    return connection


def uri_to_read(path: Path) -> str:
    """SQLite's URI of an archive that is only read.

    In a read-only folder SQLite cannot create the files that readers share: it reads without them there, and then it
    does not notice when the file changes, which ``unchanged_while_read`` does.
    """
    return f"{_uri_of(path)}?mode=ro{'&immutable=1' if _is_read_alone(path) else ''}"


def _is_read_alone(path: Path) -> bool:
    """Whether a file is in a folder that cannot be written, and has all changes: no log beside it has others."""
    return not (os.access(path.resolve().parent, os.W_OK | os.X_OK) or unwritten(path))


def _beside(path: Path, end: str) -> Path:
    """A file of SQLite: of a link it is beside the file that the link leads to."""
    real = path.resolve()
    return real.with_name(f"{real.name}{end}")


def unwritten(path: Path) -> list[Path]:
    """Files beside an archive that have changes which it lacks."""
    logs = [_beside(path, end) for end in ("-wal", "-journal")]
    return [log for log in logs if log.exists() and log.stat().st_size]


@contextmanager
def unchanged_while_read(path: Path) -> Iterator[None]:
    """Refuse what was read in a read-only folder if the file changed meanwhile, whatever error that caused.

    Others may write it: its owner, or a machine that shares the folder over a network.
    """
    before = _stamp(path) if _is_read_alone(path) else None

    def compare(error: Exception | None = None) -> None:
        if before is not None and _stamp(path) != before:
            raise StorageError(
                f"{path} changed while it was read: copy it to a folder where you may write, and use the copy."
            ) from error

    try:
        yield
    except Exception as error:  # raised again, unless the file has changed meanwhile
        compare(error)
        raise
    compare()


def _stamp(path: Path) -> tuple[bytes, int, int, int] | None:
    """What changes when a database is written: the counter in its header, its size and time, the size of its WAL."""
    wal = _beside(path, "-wal")
    try:
        with path.open("rb") as file:  # opening also makes a network file system ask for news
            file.seek(24)
            counter, about = file.read(4), os.fstat(file.fileno())
        written_bytes = wal.stat().st_size if wal.exists() else 0  # one that only reads elsewhere makes an empty one
    except OSError:
        return None
    return counter, about.st_size, about.st_mtime_ns, written_bytes


def _uri_of(path: Path) -> str:
    return f"file:{quote(str(path.absolute()))}"


def identity_of(path: Path | str) -> tuple[int, int] | None:
    try:
        about = os.stat(path)  # noqa: PTH116 - asked for each ply of a game in progress; Path.stat is four calls more
    except OSError:
        return None
    return about.st_dev, about.st_ino


def _prepare(connection: sqlite3.Connection, *, read_only: bool) -> None:
    """The pragmas and functions of every connection.

    Writing ones use WAL with ``synchronous=NORMAL``: a power cut may lose the last committed import, never leave half
    of one. They have no foreign key checks, which would slow down inserts by a third: the writers number rows so that
    they hold, and ``db check`` checks the whole file.
    """
    if not read_only:
        _use_wal(connection)
        connection.execute("PRAGMA synchronous=NORMAL")
        connection.execute("PRAGMA foreign_keys=OFF")
    for name, count, function in (
        ("is_guest", 4, _is_guest),
        ("is_computer", 1, lambda titles: Player("", titles=titles).is_computer),
        ("small_letters", 1, lambda text: text.lower() if isinstance(text, str) else text),
    ):
        connection.create_function(name, count, function, deterministic=True)


def _use_wal(connection: sqlite3.Connection) -> None:
    """Change to WAL; SQLite does not wait while others have just opened the file, too."""
    until = time.monotonic() + BUSY_TIMEOUT_MS / 1000
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                raise
            time.sleep(0.01)


def open_to_write(path: Path) -> sqlite3.Connection:
    """A connection for transactions; one that is not committed is undone when the connection is closed."""
    with ExitStack() as opened:
        connection = opened.enter_context(closing(open_sqlite(path)))
        _prepare(connection, read_only=False)
        opened.pop_all()
    return connection


@contextmanager
def reading(path: Path, *, read_only: bool) -> Iterator[sqlite3.Connection]:
    """A connection in a transaction of its own: all that is read is of the moment of the first read."""
    with unchanged_while_read(path), closing(open_sqlite(path, read_only=read_only)) as connection:
        _prepare(connection, read_only=read_only)
        connection.execute("BEGIN")
        yield connection


def _is_guest(handle: str, rating_text: str | None, titles: str | None, registered: int | None) -> bool:
    return Player(handle, rating_text, None, titles, None if registered is None else bool(registered)).is_guest


@contextmanager
def unfinished_file(target: Path) -> Iterator[Path]:
    """A name beside a new database's while it is written: only a whole file gets the final name."""
    if os.path.lexists(target):
        raise StorageError(f"Cannot create {target}: the file exists already; give another name.")
    unfinished = target.with_name(f"{target.name}.{os.getpid()}.part")
    unfinished.unlink(missing_ok=True)
    try:
        yield unfinished
        with unfinished.open("r+b") as file:  # Windows syncs no file that is open for reading only
            os.fsync(file.fileno())
        unfinished.rename(target)
    except OSError as error:
        raise StorageError(f"Cannot create {target}: {error.strerror}.") from error
    finally:
        unfinished.unlink(missing_ok=True)


def backup(path: Path, target: Path) -> None:
    """Consistent even while another process writes; the new file has mode 0600, and its name when it is complete."""
    with unfinished_file(target) as unfinished:
        copy_to(path, unfinished)


def copy_to(path: Path, target: Path) -> None:
    """As ``backup``, straight into a file that is not finished by this."""
    create_file(target)
    with (
        unchanged_while_read(path),
        closing(open_sqlite(path, read_only=True)) as source,
        closing(open_sqlite(target)) as copy,
    ):
        try:
            source.backup(copy)
            copy.execute("PRAGMA journal_mode=DELETE")  # one file, no -wal beside it
        except sqlite3.Error as error:
            raise StorageError(f"Cannot copy {path} to {target}: {error}.") from error


_CORRUPT: Final = "The archive is corrupt: `ics-recorder db check` lists all findings."
_NOT_OF_VALUES: Final = frozenset(
    {
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_CONSTRAINT,
        sqlite3.SQLITE_INTERRUPT,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_LOCKED,
        sqlite3.SQLITE_NOMEM,
        sqlite3.SQLITE_PERM,
        sqlite3.SQLITE_READONLY,
    }
)
_OF_VALUES: Final = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    RecursionError,
    TypeError,
    ValueError,
)


@contextmanager
def storage_errors(path: Path) -> Iterator[None]:
    """Raise errors of the database, and of what is unsound in it, as a ``StorageError`` of one sentence."""
    try:
        yield
    except Exception as error:  # raised again if it is none of the database
        if (explained := storage_error(path, error)) is not None:
            raise explained from error
        raise


@contextmanager
def unsound_values(path: Path) -> Iterator[None]:
    """As ``storage_errors``, around code that does nothing but read rows: whatever fails there, they are unsound."""
    try:
        with storage_errors(path):
            yield
    except _OF_VALUES as error:
        if isinstance(error, RecorderError):
            raise
        raise StorageError(f"{path}: {type(error).__name__}: {error}. {_CORRUPT}") from error


def storage_error(path: Path, error: BaseException) -> StorageError | None:
    """The sentence for an error of the database, or for something unsound in it; else None."""
    if isinstance(error, sqlite3.Error):
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code == sqlite3.SQLITE_BUSY:
            return StorageError(
                f"The archive {path} is locked: another program has been writing to it for more than "
                f"{BUSY_TIMEOUT_MS / 1000:g} seconds; try again later."
            )
        if code == sqlite3.SQLITE_FULL:
            temporary = Path(tempfile.gettempdir()) in path.parents
            instead = ", or set TMPDIR to a folder with more space" if temporary else ""
            return StorageError(f"No space is left for {path}: make room{instead}, and try again.")
        if code in _NOT_OF_VALUES:
            return StorageError(f"The archive {path} cannot be read or written: {error}.")
        return StorageError(f"{path}: {' '.join(str(error).split())}. {_CORRUPT}")
    if isinstance(error, UnsoundError):
        return StorageError(f"{path}: {error}. {_CORRUPT}")
    if (duckdb := sys.modules.get("duckdb")) is not None and isinstance(error, duckdb.Error):
        said = str(error).partition("\n")[0]
        corrupt = f" {_CORRUPT}" if isinstance(error, duckdb.DataError) else ""
        return StorageError(f"DuckDB cannot compute the tables of {path}: {said}.{corrupt}")
    return None


def place_beside(path: Path, kind: str) -> Path:
    """In the folder for caches if nothing can be written beside it."""
    beside = path.with_name(f"{path.name}-{kind}")
    if beside.is_dir() or os.access(path.parent, os.W_OK):  # a copy is only read, but an index is locked, too
        return beside
    import platformdirs

    name = hashlib.sha256(os.fsencode(path.resolve())).hexdigest()[:16]
    return Path(platformdirs.user_cache_dir("ics-recorder", appauthor=False)) / kind / name


def drop_copy(path: Path) -> bool:
    folder = place_beside(path, "columns")
    there = folder.is_dir()
    shutil.rmtree(folder, ignore_errors=True)
    return there
