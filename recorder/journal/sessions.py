"""The sessions in a folder that nobody has closed: those being written, and those that a crash or a power cut left."""

from __future__ import annotations

from pathlib import Path
from typing import Final, NamedTuple

from recorder.errors import JournalError
from recorder.journal.format import Header, parse_header, parse_record
from recorder.journal.parts import SUFFIX, is_being_written, is_closed

__all__ = ["OpenSession", "open_sessions"]

_FIRST_LINE_BYTES: Final = 4096
_LAST_BYTES: Final = 1 << 17  # more than two of the longest records


class OpenSession(NamedTuple):
    """A session whose last part has no end.

    Attributes:
        path, size_bytes: of that part. header: its own.
        last_ns: when its last whole record was made, since the header's anchor; None: there is none.
        written: whether a living process goes on with it.
    """

    path: Path
    size_bytes: int
    header: Header
    last_ns: int | None
    written: bool


def open_sessions(folder: Path) -> list[OpenSession]:
    """The open sessions of a folder, the oldest first.

    Args:
        folder: where journals are; it need not exist. What is in it and is no journal is passed over.
    """
    if not folder.is_dir():
        return []
    found = []
    for path in sorted(folder.glob(f"*{SUFFIX}")):
        try:
            with path.open("rb") as file:
                header = parse_header(file.readline(_FIRST_LINE_BYTES).removesuffix(b"\n"))
            if not is_closed(path):
                size = path.stat().st_size
                found.append(OpenSession(path, size, header, _last_ns(path, size), is_being_written(path)))
        except (OSError, JournalError):
            continue
    return found


def _last_ns(path: Path, size: int) -> int | None:
    with path.open("rb") as file:
        file.seek(max(0, size - _LAST_BYTES))
        lines = file.read().split(b"\n")
    for line in reversed(lines[1:]):  # the first is the header, or may be cut
        try:
            return parse_record(line).at_ns
        except JournalError:
            continue  # a torn one
    return None
