"""The sessions in a folder that nobody has closed: those being written, and those that a crash or a power cut left."""

from __future__ import annotations

import fcntl
import os
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final, NamedTuple

from recorder.errors import JournalError
from recorder.journal.format import (
    Header,
    Record,
    RecordKind,
    format_note,
    format_record,
    parse_header,
    parse_note,
    parse_record,
)
from recorder.journal.parts import SUFFIX, is_being_written, is_closed, part_blocks
from recorder.journal.reader import JournalReader

__all__ = ["OpenSession", "close_left_open", "open_sessions"]

_FIRST_LINE_BYTES: Final = 4096
_LAST_BYTES: Final = 1 << 20  # more than two of the longest records, and than what comes between two notes


class OpenSession(NamedTuple):
    """A session whose last part has no end.

    Attributes:
        path, size_bytes: of that part. header: its own.
        last_ns: when its last whole record was made, since the header's anchor; None: there is none.
        games: its last note ``games``, if one stands near its end.
        written: whether a living process goes on with it.
    """

    path: Path
    size_bytes: int
    header: Header
    last_ns: int | None
    games: dict[str, Any] | None
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
                found.append(OpenSession(path, size, header, *_near_end(path, size), is_being_written(path)))
        except (OSError, JournalError):
            continue
    return found


def _near_end(path: Path, size: int) -> tuple[int | None, dict[str, Any] | None]:
    """When the last whole record was made, and the last note ``games``."""
    with path.open("rb") as file:
        file.seek(max(0, size - _LAST_BYTES))
        lines = file.read().split(b"\n")
    last_ns = None
    for line in reversed(lines[1:]):  # the first is the header, or may be cut
        try:
            record = parse_record(line)
            last_ns = record.at_ns if last_ns is None else last_ns
            if record.kind is RecordKind.NOTE and (note := parse_note(record.data))["kind"] == "games":
                return last_ns, note
        except JournalError:
            continue  # a torn one
    return last_ns, None


def close_left_open(path: Path) -> bool:
    """End a part that a crash has left open by the note ``end`` that its recorder could not write.

    What its recorder wrote stays as it is. It is made sure that nobody writes it: where the file system has no locks,
    nothing is done.

    Args:
        path: of the part, as ``open_sessions`` gives it.
    Returns:
        Whether it was done; not if another process writes or has just ended it.
    Raises:
        OSError: the file cannot be read or written. NewerJournalError: only a newer program may end it.
    """
    with path.open("r+b", buffering=0) as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        if os.fstat(file.fileno()).st_nlink == 0 or is_closed(path):
            return False
        reader, records, last_ns = JournalReader(), 0, 0
        for entry in reader.read(part_blocks(path)):
            if isinstance(entry.value, Record):
                records += 1
                last_ns = max(last_ns, entry.value.at_ns)
        facts = {"records": records, "more": False, "crashed": True, "by": f"ics-recorder {version('ics-recorder')}"}
        if reader.torn is not None:
            facts["torn"] = reader.torn.size_bytes
        line = format_record(Record(last_ns, RecordKind.NOTE, format_note("end", facts))) + b"\n"
        file.seek(-1, os.SEEK_END)
        _append(file.fileno(), line if file.read(1) == b"\n" else b"\n" + line)
    return True


def _append(fd: int, data: bytes) -> None:
    """Write all at the end, durably, or nothing."""
    size = os.lseek(fd, 0, os.SEEK_END)
    try:
        done = 0
        while done < len(data):
            done += os.write(fd, data[done:])
        os.fsync(fd)
    except OSError:
        os.ftruncate(fd, size)
        raise
