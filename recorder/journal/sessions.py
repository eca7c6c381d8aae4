"""Sessions in a folder: which are open, and whether their parts belong together."""

from __future__ import annotations

import os
from collections import Counter
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final, NamedTuple

from recorder.errors import JournalError
from recorder.files import lock
from recorder.journal.format import (
    JournalHeader,
    Record,
    RecordKind,
    format_note,
    format_record,
    parse_header,
    parse_note,
    parse_record,
)
from recorder.journal.parts import SUFFIX, is_being_written, is_closed, part_blocks
from recorder.journal.reader import Damage, JournalEntry, JournalReader

_DIRECTIONS: Final = {RecordKind.RECEIVED: "received bytes", RecordKind.SENT: "sent bytes"}


class JournalFinding(NamedTuple):
    """What is wrong: in which file, at which byte (None: with the file as a whole), in one clause."""

    file: str
    offset: int | None
    what: str


class Outage(NamedTuple):
    """A time of which nothing is known: from the note ``outage`` to the next ``connected`` (None: there is none).

    It began before this journal, with a negative ``from_ns``, where a connection before was lost.
    """

    from_ns: int
    until_ns: int | None
    facts: dict[str, Any]


class Survey:
    """Takes the parts of one session in their order; ``header`` is of the first part that has one.

    ``last_ns`` is the latest time of a record. ``findings`` are all that is wrong, by file and place, complete after
    ``finish``; ``disorder`` are those that are no damage: lines and parts that are missing, or are where they should
    not be. ``closed``: the last part ends with the note that says so; ``crashed``: this note was written by another
    than its recorder, after a crash.
    """

    def __init__(self) -> None:
        self.header: JournalHeader | None = None
        self.parts: list[int] = []
        self.records: Counter[RecordKind] = Counter()
        self.received_bytes = self.sent_bytes = 0
        self.last_ns: int | None = None
        self.outages: list[Outage] = []
        self.findings: list[JournalFinding] = []
        self.disorder: list[JournalFinding] = []
        self.damage: list[tuple[str, Damage]] = []
        self.torn: list[tuple[str, Damage]] = []
        self.closed = self.crashed = False
        self._file = ""
        self._files: list[str] = []
        self._more: bool | None = None  # what the last line of the part before promised; None: it was not closed
        self._in_part = 0  # records since the header
        self._latest: dict[str, int] = {}  # direction → time of its last record

    def begin(self, file: str) -> None:
        """Begin the next part, named for findings."""
        self._file = file
        self._files.append(file)
        self.closed = False

    def feed(self, entry: JournalEntry) -> None:
        """Process the next header or record of the part that ``begin`` has named."""
        if isinstance(entry.value, JournalHeader):
            self._begin_part(entry.offset, entry.value)
            return
        if self.closed:
            self._find(entry.offset, "a record stands after the part's end")
        self._read(entry.offset, entry.value)

    def end(self, reader: JournalReader) -> None:
        """Note what a finished reader has found besides headers and records, after its last entry."""
        for damage in reader.damage:
            self.damage.append((self._file, damage))
            what = f"{damage.size_bytes:,} bytes are damaged: {damage.why}" if damage.size_bytes else damage.why
            self.findings.append(JournalFinding(self._file, damage.offset, what))
        if reader.torn is not None:
            self.torn.append((self._file, reader.torn))
            what = f"{reader.torn.why}: {reader.torn.size_bytes:,} bytes"
            self.findings.append(JournalFinding(self._file, reader.torn.offset, what))

    def finish(self) -> None:
        """Say that there are no more parts."""
        if self.parts and self.closed and self._more:
            self._find(None, f"part {self.parts[-1] + 1} is missing")
        self.findings += self.disorder
        places = {file: place for place, file in enumerate(self._files)}
        self.findings.sort(key=lambda one: (places[one.file], one.offset is None, one.offset or 0))

    def _find(self, offset: int | None, what: str) -> None:
        self.disorder.append(JournalFinding(self._file, offset, what))

    def _begin_part(self, offset: int, header: JournalHeader) -> None:
        before = self.parts[-1] if self.parts else 0
        same = (self.header or header)._replace(part=header.part, version=header.version, program=header.program)
        if same != header:
            self._find(offset, "the header is that of another session")
        elif header.part <= before:
            self._find(offset, f"part {header.part} stands after part {before}")
        elif header.part > before + 1:
            first, last = before + 1, header.part - 1
            self._find(offset, f"part {first} is missing" if first == last else f"parts {first} to {last} are missing")
        elif before and self._more is not True:
            self._find(offset, f"part {before} has no end, although part {header.part} follows")
        self.header = self.header or header
        self.parts.append(header.part)
        self._more, self.closed, self._in_part = None, False, 0

    def _read(self, offset: int, record: Record) -> None:
        self.records[record.kind] += 1
        self.last_ns = max(record.at_ns, self.last_ns or 0)
        direction = _DIRECTIONS.get(record.kind, "notes")
        if record.kind is RecordKind.RECEIVED:
            self.received_bytes += len(record.data)
        elif record.kind is RecordKind.SENT:
            self.sent_bytes += len(record.data)
        else:
            self._read_note(offset, record)
        if record.at_ns < self._latest.get(direction, 0):
            self._find(offset, f"the time of the {direction} goes back")
        self._latest[direction] = record.at_ns
        self._in_part += 1

    def _since_ns(self, at_ns: int, facts: dict[str, Any]) -> int:
        since_ns = facts.get("since_utc_ns")
        if self.header is None or not isinstance(since_ns, int):
            return at_ns
        return min(at_ns, since_ns - self.header.anchor_utc_ns)

    def _read_note(self, offset: int, record: Record) -> None:
        try:
            note = parse_note(record.data)
        except JournalError:
            self._find(offset, "the note is malformed")
            return
        if note["kind"] == "outage":
            facts = {key: note[key] for key in note if key != "kind"}
            self.outages.append(Outage(self._since_ns(record.at_ns, facts), None, facts))
        elif note["kind"] == "connected" and self.outages and self.outages[-1].until_ns is None:
            self.outages[-1] = self.outages[-1]._replace(until_ns=record.at_ns)
        elif note["kind"] == "end":
            if note.get("records") != self._in_part:
                self._find(offset, f"{note.get('records')} records expected before the end, not {self._in_part}")
            self.closed, self._more = True, note.get("more") is True
            self.crashed = note.get("crashed") is True


_FIRST_LINE_BYTES: Final = 4096
_LAST_BYTES: Final = 1 << 20  # more than two of the longest records, and than what comes between two notes


class OpenSession(NamedTuple):
    """A session whose last part has no end; ``written``: a running process appends to it."""

    path: Path
    size_bytes: int
    header: JournalHeader
    written: bool

    def end(self) -> tuple[int | None, dict[str, Any] | None]:
        """Return the time of the last complete record, since the header's anchor, and the last note ``games``."""
        with self.path.open("rb") as file:
            file.seek(max(0, self.size_bytes - _LAST_BYTES))
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


def open_sessions(folder: Path) -> list[OpenSession]:
    """Return the open sessions of a folder, the oldest first, also those that a running process is writing.

    The folder need not exist, and what is no journal is skipped.
    """
    if not folder.is_dir():
        return []
    found = []
    for path in sorted(folder.glob(f"*{SUFFIX}")):
        try:
            with path.open("rb") as file:
                header = parse_header(file.readline(_FIRST_LINE_BYTES).removesuffix(b"\n"))
            if not is_closed(path):
                found.append(OpenSession(path, path.stat().st_size, header, is_being_written(path)))
        except (OSError, JournalError):
            continue
    return found


def close_left_open(path: Path) -> bool:
    """Close a part that a crash has left open with the note ``end`` that its recorder could not write.

    The recorder's bytes stay unchanged. A part that a process may still write is not closed: where the file system has
    no locks, nothing is done. False: another process writes or has just ended it.
    """
    with path.open("r+b", buffering=0) as file:
        try:
            lock(file.fileno())
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
