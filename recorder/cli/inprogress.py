"""Which games of an archive are in progress: their logs are still being written."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from storage import Archive, SourceRow

__all__ = ["games_in_progress"]


def games_in_progress(archive: Archive) -> frozenset[str]:
    """Keys of the games that a log leaves without an end while it is still being written.

    A journal is being written as long as its recorder runs; another log as long as it is there and was not read to an
    end that is final.
    """
    growing = [row.sha256 for row in archive.sources() if row.unfinished and _is_growing(row)]
    return archive.unended(growing) if growing else frozenset()


def _is_growing(row: SourceRow) -> bool:
    if row.path is None:
        return False
    from recorder.journal.parts import find_part, is_being_written  # a listing seldom needs them
    from recorder.sources import is_journal, log_files

    path = Path(row.path)
    if not is_journal(path):
        return path.exists()
    path = find_part(path)
    return path.exists() and is_being_written(log_files(path)[-1])
