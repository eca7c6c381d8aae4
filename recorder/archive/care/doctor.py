"""What the command doctor checks: the program, its extras, the archive, disks and a server, each with a remedy."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from enum import Enum
from importlib.util import find_spec
from pathlib import Path
from typing import Final, NamedTuple

from recorder.archive.locate import open_archive, refuse_unusable
from recorder.errors import RecorderError
from recorder.text import plural

EXTRAS: Final = {
    "report": ("jinja2", "matplotlib"),
    "web": ("starlette", "uvicorn"),
    "plot": ("matplotlib",),
    "parquet": ("pyarrow",),
    "arrow": ("adbc_driver_sqlite",),
    "postgres": ("psycopg",),
    "dask": ("dask", "distributed"),
    "https": ("aiohttp", "fsspec"),
    "s3": ("s3fs",),
    "keyring": ("keyring",),
}
"""Modules that show that an extra is installed."""
_LITTLE_BYTES: Final = 1 << 30
_CONNECT_S: Final = 10.0


class State(Enum):
    """What a check says: only ``FAIL`` keeps something from working; ``OFF`` is not installed or not there yet."""

    OK = "ok"
    OFF = "off"
    WARN = "warn"
    FAIL = "fail"


class Finding(NamedTuple):
    """One line. ``remedy`` is what to do; None: nothing is needed."""

    state: State
    what: str
    found: str
    remedy: str | None = None


def examine(where: str, journal_dir: Path) -> Iterator[Finding]:
    """Check all that needs no network. ``where``: the archive, as ``--db`` names it."""
    version = ".".join(map(str, sys.version_info[:3]))
    yield Finding(State.OK, "Python", f"{version}, {sys.executable}")
    for extra, modules in EXTRAS.items():
        missing = [module for module in modules if find_spec(module) is None]
        if missing:
            yield Finding(State.OFF, extra, f"no {', '.join(missing)}", f"pip install 'ics-recorder[{extra}]'")
        else:
            yield Finding(State.OK, extra, "installed")
    yield _archive(where)
    places = [("disk of the archive", Path(where).expanduser())] if "://" not in where else []
    for what, path in (*places, ("disk of journals", journal_dir)):
        yield _disk(what, path)


def _archive(where: str) -> Finding:
    path = Path(where).expanduser()
    try:
        refuse_unusable(where)
        if "://" not in where and not path.exists():
            return Finding(State.OFF, "archive", f"{path} is not there yet", "ics-recorder import LOG makes it")
        with open_archive(where) as archive:
            return Finding(State.OK, "archive", f"{path}: {plural(archive.count(), 'game')}; it can be written")
    except RecorderError as error:
        return Finding(State.FAIL, "archive", str(error), "ics-recorder db check examines it")


def _disk(what: str, path: Path) -> Finding:
    folder = next(each for each in (path.absolute(), *path.absolute().parents) if each.is_dir())
    free = shutil.disk_usage(folder).free
    found = f"{free / 1e9:,.1f} GB free in {folder}"
    if free < _LITTLE_BYTES:
        return Finding(State.WARN, what, found, "an evening on a busy server takes up to 0.1 GB: make room")
    return Finding(State.OK, what, found)


def reach(server: str, port: int) -> Finding:
    """Connect to a server, read what it prints first, and leave without a login."""
    import socket

    what = f"server {server}:{port}"
    try:
        with socket.create_connection((server, port), _CONNECT_S) as connection:
            said = connection.recv(4096)
    except OSError as error:
        reason = error.strerror or str(error) or "no answer"
        return Finding(State.FAIL, what, reason, "check the name, the port and your network; 23 often works, too")
    if not said:
        return Finding(State.FAIL, what, "it closed the connection at once", "try later, or another port")
    return Finding(State.OK, what, f"it answers ({len(said)} bytes)")
