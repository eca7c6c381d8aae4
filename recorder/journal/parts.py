"""Sessions: how their files are named, made, appended to, compressed and read, and which are open or incomplete."""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
import time
from collections import Counter
from collections.abc import Generator
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final, NamedTuple

import zstandard

from recorder.errors import JournalError
from recorder.files import is_locked, lock, sync_folder
from recorder.journal.format import (
    JournalHeader,
    NoteKind,
    Record,
    RecordKind,
    format_note,
    format_record,
    parse_header,
    parse_note,
    parse_record,
)
from recorder.journal.reader import Damage, JournalEntry, JournalReader
from recorder.text import later

_sync = getattr(os, "fdatasync", os.fsync)  # the size is synced, too, as far as it takes to read the bytes again


class AppendedFile:
    """This object closes the file; every method raises ``OSError``."""

    def __init__(self, name: str, fd: int) -> None:
        self._name = name
        self._fd = fd

    def write(self, data: bytes, /) -> int:
        """Return how many bytes the system has taken, perhaps fewer than all."""
        return os.write(self._fd, data)

    def sync(self) -> None:
        _sync(self._fd)

    def check(self) -> None:
        """Fail if the file has been removed: what is written to it would be lost unseen."""
        if os.fstat(self._fd).st_nlink == 0:
            raise FileNotFoundError(None, "it was removed while it was being written", self._name)

    def close(self) -> None:
        os.close(self._fd)


SUFFIX: Final = ".journal"
COMPRESSED: Final = ".journal.zst"

_MODE: Final = 0o600
_UNSAFE: Final = later(r"[^a-z0-9.-]")
_LONGEST_HOST: Final = 80
_NAME: Final = later(r"(?P<session>.+)_(?P<part>\d{5,})\.journal(?:\.zst)?")
_LAST_LINE_BYTES: Final = 4096
_LOCK_TRIES: Final = 200
_LOCK_PAUSE_S: Final = 0.001
_LEVEL: Final = 6
_WINDOW_LOG: Final = 17  # lines repeat those shortly before; more takes memory and gains nothing
_BLOCK: Final = 1 << 16
_PACKED_BLOCK: Final = 1 << 13
_FRAME_HEADER_BYTES: Final = 18
_ZSTD: Final = b"\x28\xb5\x2f\xfd"


def _lock(fd: int) -> None:
    """Does nothing where the file system has no locks."""
    for _ in range(_LOCK_TRIES):
        try:
            lock(fd)
        except BlockingIOError:
            time.sleep(_LOCK_PAUSE_S)  # another process checks the new file, which takes microseconds
        except OSError:
            return
        else:
            return


def _create(path: Path, flags: int = 0) -> int:
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | flags, _MODE)


def new_part(path: Path) -> AppendedFile:
    """Only its owner may read it; OSError: it exists."""
    fd = _create(path, os.O_APPEND)
    _lock(fd)
    return AppendedFile(str(path), fd)


def is_being_written(path: Path) -> bool:
    """False also where the file is missing or the file system has no locks."""
    try:
        with path.open("rb") as file:
            return is_locked(file)
    except OSError:
        return False


def part_name(header: JournalHeader) -> str:
    """The file name of a part; names sort by the time of the session and by part.

    Characters of the host that are not safe in file names become ``_``:
    ``20260101T120000000Z_freechess.org_5000_0123456789abcdef_00001.journal``.
    """
    begun = datetime.fromtimestamp(header.anchor_utc_ns // 1_000_000_000, UTC)
    ms = header.anchor_utc_ns // 1_000_000 % 1000
    server = header.host if header.port is None else f"{header.host}_{header.port}"
    safe = _UNSAFE().sub("_", server.lower())[:_LONGEST_HOST]
    return f"{begun:%Y%m%dT%H%M%S}{ms:03}Z_{safe}_{header.session}_{header.part:05}{SUFFIX}"


def find_part(path: Path) -> Path:
    """Its name changes when it is compressed or decompressed; if neither form exists, ``path`` is returned."""
    other = path.with_suffix("") if path.name.endswith(COMPRESSED) else path.with_name(f"{path.name}.zst")
    return other if not path.exists() and other.exists() else path


def session_parts(path: Path) -> dict[int, Path]:
    """By number; a file whose name does not have the form of ``part_name`` is part 0, alone."""
    name = _NAME().fullmatch(path.name)
    if name is None:
        return {0: path}
    parts: dict[int, Path] = {}
    for entry in sorted(path.parent.iterdir()):  # x.journal before x.journal.zst
        match = _NAME().fullmatch(entry.name)
        if match is not None and match["session"] == name["session"]:
            parts[int(match["part"])] = entry
    return dict(sorted(parts.items()))


def is_unfinished(path: Path) -> bool:
    """By its name; also one whose process is still writing it."""
    return path.name.startswith(".") and f"{SUFFIX}." in path.name and path.suffix == ".part"


def session_name(name: str) -> str | None:
    """What the names of all parts begin with; None: it is not the name of a part."""
    match = _NAME().fullmatch(name)
    return None if match is None else match["session"]


def session_sizes(folder: Path) -> dict[str, int]:
    """By ``session_name``, the oldest first; a file that cannot be read counts nothing."""
    parts: dict[tuple[str, str], Path] = {}
    for entry in sorted(folder.iterdir()):  # x.journal before x.journal.zst
        if match := _NAME().fullmatch(entry.name):
            parts[match["session"], match["part"]] = entry
    sizes: dict[str, int] = {}
    for (session, _), path in parts.items():
        with contextlib.suppress(OSError, zstandard.ZstdError):
            sizes[session] = sizes.get(session, 0) + _part_size(path)
    return sizes


def _part_size(path: Path) -> int:
    with path.open("rb") as file:
        head = file.read(_FRAME_HEADER_BYTES)
        if head.startswith(_ZSTD):
            return max(zstandard.frame_content_size(head), 0)  # a closed part is one frame, whose header has its size
        return os.fstat(file.fileno()).st_size


def compress_part(path: Path) -> Path:
    """Replace a closed part by its compressed form.

    The compressed file gets its name only when it is on the disk and was read again, and only then the plain one is
    removed: after a crash at any point one of them is whole, and where both are there they hold the same. After an
    error the plain file is as it was.
    """
    target = path.with_name(f"{path.name}.zst")
    unfinished = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")  # several may do this at once
    try:
        with path.open("rb") as plain, os.fdopen(_create(unfinished), "wb") as out:
            size = os.fstat(plain.fileno()).st_size
            how = zstandard.ZstdCompressionParameters.from_level(
                _LEVEL, source_size=size, window_log=_WINDOW_LOG, hash_log=_WINDOW_LOG - 1, chain_log=_WINDOW_LOG - 1,
                write_checksum=True,
            )  # fmt: skip
            zstandard.ZstdCompressor(compression_params=how).copy_stream(plain, out, size=size)
            out.flush()
            os.fsync(out.fileno())
        # Read back what the disk has, and only then give it its name and remove the plain file.
        if _digest(path) != _digest(unfinished):
            raise JournalError(f"{target} would not hold the same bytes")
        unfinished.replace(target)
        sync_folder(path.parent)
        path.unlink(missing_ok=True)
        sync_folder(path.parent)
    except FileNotFoundError:
        if path.exists() or not target.exists():  # else another has done it
            raise
    finally:
        with contextlib.suppress(OSError):
            unfinished.unlink(missing_ok=True)
    return target


def _digest(path: Path) -> bytes:
    running = hashlib.sha256()
    for block in part_blocks(path):
        running.update(block)
    return running.digest()


def part_blocks(path: Path) -> Generator[bytes, None, None]:
    """Decompressed, no block empty; JournalError: it is damaged, and all bytes before were yielded."""
    with path.open("rb") as file:
        if not file.peek(len(_ZSTD)).startswith(_ZSTD):
            while block := file.read(_BLOCK):
                yield block
            return
        done = 0
        decoder = zstandard.ZstdDecompressor().decompressobj()
        try:
            while not decoder.eof and (packed := file.read(_PACKED_BLOCK)):
                if block := decoder.decompress(packed):  # else it needs more
                    yield block
                    done += len(block)
        except zstandard.ZstdError as error:
            raise JournalError(f"{path} can be decompressed only up to byte {done}: {error}") from error
        if not decoder.eof or decoder.unused_data or file.read(1):
            what = "more follows the compressed data" if decoder.eof else "it is cut short"
            raise JournalError(f"{path} can be decompressed only up to byte {done}: {what}")


def is_closed(path: Path) -> bool:
    """By its note ``end``; False also if it cannot be read. Another process may still write a part without it."""
    try:
        # The note ``end`` is the last line, so the last bytes are enough, however long the part is.
        with path.open("rb") as file:
            file.seek(-min(_LAST_LINE_BYTES, path.stat().st_size), os.SEEK_END)
            tail = file.read()
        if not tail.endswith(b"\n"):
            return False
        record = parse_record(tail[:-1].rpartition(b"\n")[2])
        return record.kind is RecordKind.NOTE and parse_note(record.data)["kind"] == NoteKind.END
    except (OSError, JournalError):
        return False


_DIRECTIONS: Final = {RecordKind.RECEIVED: "received bytes", RecordKind.SENT: "sent bytes"}


class JournalFinding(NamedTuple):
    """What is wrong: in which file, at which byte (None: with the file as a whole), in one clause."""

    file: str
    offset: int | None
    what: str


class Outage(NamedTuple):
    """From the note ``outage`` to the next ``connected``; ``from_ns`` is negative if it began before this journal."""

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
        self._file = file
        self._files.append(file)
        self.closed = False

    def feed(self, entry: JournalEntry) -> None:
        if isinstance(entry.value, JournalHeader):
            self._begin_part(entry.offset, entry.value)
            return
        if self.closed:
            self._find(entry.offset, "a record stands after the part's end")
        self._read(entry.offset, entry.value)

    def end(self, reader: JournalReader) -> None:
        for damage in reader.damage:
            self.damage.append((self._file, damage))
            what = f"{damage.size_bytes:,} bytes are damaged: {damage.why}" if damage.size_bytes else damage.why
            self.findings.append(JournalFinding(self._file, damage.offset, what))
        if reader.torn is not None:
            self.torn.append((self._file, reader.torn))
            what = f"{reader.torn.why}: {reader.torn.size_bytes:,} bytes"
            self.findings.append(JournalFinding(self._file, reader.torn.offset, what))

    def finish(self) -> None:
        if self.parts and self.closed and self._more:
            self._find(None, f"part {self.parts[-1] + 1} is missing")
        self.findings += self.disorder
        places = {file: index for index, file in enumerate(self._files)}
        self.findings.sort(key=lambda finding: (places[finding.file], finding.offset is None, finding.offset or 0))

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
        elif before and self._more is not True:  # the part before was left by a crash, or says that it is the last
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
        if note["kind"] == NoteKind.OUTAGE:
            facts = {key: note[key] for key in note if key != "kind"}
            self.outages.append(Outage(self._since_ns(record.at_ns, facts), None, facts))
        elif note["kind"] == NoteKind.CONNECTED and self.outages and self.outages[-1].until_ns is None:
            self.outages[-1] = self.outages[-1]._replace(until_ns=record.at_ns)
        elif note["kind"] == NoteKind.END:
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
        """The time of the last complete record, since the header's anchor, and the last note ``games``."""
        with self.path.open("rb") as file:
            file.seek(max(0, self.size_bytes - _LAST_BYTES))
            lines = file.read().split(b"\n")
        last_ns = None
        for line in reversed(lines[1:]):  # the first is the header, or may be cut
            try:
                record = parse_record(line)
                last_ns = record.at_ns if last_ns is None else last_ns
                if record.kind is RecordKind.NOTE and (note := parse_note(record.data))["kind"] == NoteKind.GAMES:
                    return last_ns, note
            except JournalError:
                continue  # a torn one
        return last_ns, None


def open_sessions(folder: Path) -> list[OpenSession]:
    """The oldest first, also those being written; the folder need not exist, and what is no journal is skipped."""
    if not folder.is_dir():
        return []
    sessions = []
    for path in sorted(folder.glob(f"*{SUFFIX}")):
        try:
            with path.open("rb") as file:
                header = parse_header(file.readline(_FIRST_LINE_BYTES).removesuffix(b"\n"))
            if not is_closed(path):
                sessions.append(OpenSession(path, path.stat().st_size, header, is_being_written(path)))
        except (OSError, JournalError):
            continue
    return sessions


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
        line = format_record(Record(last_ns, RecordKind.NOTE, format_note(NoteKind.END, facts))) + b"\n"
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
