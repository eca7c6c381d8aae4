"""Where the columnar copy of an archive is, which ``exporters.tables.tables`` makes."""

from __future__ import annotations

import hashlib
import os
import shutil
from pathlib import Path


def copy_folder(path: Path) -> Path:
    """Where the copy of an archive is, or will be."""
    beside = path.with_name(f"{path.name}-columns")
    if beside.is_dir() or os.access(path.parent, os.W_OK):
        return beside
    import platformdirs

    name = hashlib.sha256(os.fsencode(path.resolve())).hexdigest()[:16]
    return Path(platformdirs.user_cache_dir("ics-recorder", appauthor=False)) / "columns" / name


def drop_copy(path: Path) -> bool:
    """Delete the copy of an archive; whether there was one."""
    folder = copy_folder(path)
    there = folder.is_dir()
    shutil.rmtree(folder, ignore_errors=True)
    return there
