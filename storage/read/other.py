"""Somebody else's archive, to be read as it is at one moment."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from storage.archive import ArchiveStore
from storage.files import backup
from storage.schema import upgrade as schema

__all__ = ["is_database", "reading_other"]

_MAGIC = b"SQLite format 3\x00"


def is_database(path: Path) -> bool:
    """Whether a file begins as SQLite's do; False if it cannot be read."""
    try:
        with path.open("rb") as file:
            return file.read(len(_MAGIC)) == _MAGIC
    except OSError:
        return False


@contextmanager
def reading_other(path: Path) -> Iterator[ArchiveStore]:
    """Open an archive for reading; one with an older schema is copied, and the copy upgraded.

    Raises:
        StorageError: it is another program's database, damaged, or its schema is newer than this program.
    """
    revision = schema.current(path)
    if revision is None or revision == schema.HEAD or revision not in schema.revisions():
        with ArchiveStore.open(str(path), read_only=True) as archive, archive.snapshot():
            yield archive
        return
    with tempfile.TemporaryDirectory(prefix="ics-recorder-") as folder:
        copy = Path(folder) / path.name
        backup(path, copy)
        schema.upgrade(copy)
        with ArchiveStore.open(str(copy), read_only=True) as archive, archive.snapshot():
            yield archive
