"""Where files are that are made of an archive: the columnar copy and the index of positions."""

from __future__ import annotations

import hashlib
import os
import shutil
from pathlib import Path


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
