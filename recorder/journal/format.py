r"""The text of a journal: one header line, then one line a record. The specification: docs/reference/journal-format.md.

::

    ics-recorder journal 1 {"session":"…","part":1, … "anchor_utc_ns":1763762400000000000, …} 1f0c2b3a
    0.000412933 < login: \xff\xfb\x01 5d1e09aa
    2.118002154 > guest\n 0b77c1d2

The problem. A recording runs for weeks, and a game that was not recorded cannot be recorded again. Anything may fail
on the way: our parser, the process, the disk, the power. So the bytes are written before anything reads them, in a
form that survives the death of its writer at any byte, and that a person can read without this program.

- **A record is one line, written by one call.** A process that is killed leaves at most one torn line, the last one.
- **Every line ends with the CRC-32 of the text before it.** So damage in the middle is distinguished from a torn end,
  and costs only its own lines: the reader finds the next line end and goes on.
- **All bytes are kept, escaped to printable ASCII** (``\n``, ``\\``, ``\xff``). A line end in the file is therefore
  always the end of a record, no value is changed by an encoding, and ``less`` shows the file.
- **Times are monotonic**, nanoseconds since the session's anchor, which is the wall clock once, in the header. If the
  computer's clock is set, or summer time ends, intervals between moves stay right.
- **Files are only appended to.** A session is a row of parts (a new one at midnight UTC, and when a part is full),
  each with the header, so that each can be read alone. A closed part ends with the note ``end``, which counts its
  records: a part whose end is missing was left by a crash, or is being written (``parts.is_being_written`` asks for
  its lock).

What must never happen: a journal is written after a failure (``writer.py`` refuses, because a disk that failed once
may have dropped what it acknowledged); a plain part is removed before its compressed form was read back; a secret
reaches a record (``recorder/live/secrets`` stands before the writer).
"""

from __future__ import annotations

import json
import re
from codecs import unicode_escape_encode
from collections.abc import Mapping
from enum import Enum, StrEnum
from typing import Any, Final, NamedTuple
from zlib import crc32

from recorder.errors import JournalError
from recorder.text import later


def record_line(at_ns: int, mark: bytes, data: bytes) -> bytes:
    if at_ns < 0:
        raise ValueError(f"no record at {at_ns} ns can be written")
    return checked(b"%d.%09d %b %b" % (at_ns // _SECOND, at_ns % _SECOND, mark, escape(data)))


def checked(content: bytes) -> bytes:
    return b"%b %08x" % (content, crc32(content))


def escape(data: bytes) -> bytes:
    """In printable ASCII; each byte becomes up to four characters."""
    # The codec escapes exactly \t, \n, \r, \\ and as \xHH what is not printable ASCII.
    return unicode_escape_encode(data.decode("latin-1"))[0]


VERSION: Final = 1
MAGIC: Final = b"ics-recorder journal "
MAX_DATA_BYTES: Final = 1 << 16
"""More bytes than these are written as several records of one time."""
MAX_LINE_BYTES: Final = 4 * MAX_DATA_BYTES + 64
"""The longest line, without its end; so a reader's memory is bounded whatever a file contains."""

_ABOUT: Final = (
    "each line: seconds since anchor_utc_ns, < received or > sent or ! note, bytes escaped as in C, CRC-32 of the line"
)
_SECOND: Final = 1_000_000_000
_HEADER: Final = later(re.escape(MAGIC) + rb"([1-9][0-9]{0,5}) (\{.*\})", re.ASCII)
_NEWER: Final = later(re.escape(MAGIC) + rb"([1-9][0-9]{0,5}) ", re.ASCII)
# Each byte has one form only: a line that is read and written again is unchanged.
ESCAPED: Final = r"(?>(?:[ -\[\]-~]++|\\(?:[\\nrt]|x(?:0[0-8bcef]|1[0-9a-f]|7f|[89a-f][0-9a-f])))*)"
_RECORD: Final = later(rf"(0|[1-9][0-9]{{0,10}})\.([0-9]{{9}}) ([<>!]) ({ESCAPED})".encode())


class NewerJournalError(JournalError):
    """A valid header of a newer version: the file is not corrupt, but this program cannot read it."""


class RecordKind(Enum):
    RECEIVED = "<"
    SENT = ">"
    NOTE = "!"

    def __init__(self, mark: str) -> None:
        self.mark = mark.encode("ascii")


_KINDS: Final = {kind.mark: kind for kind in RecordKind}


class JournalHeader(NamedTuple):
    """As written in ``version``; lines that are read become ``VERSION``. All parts have one ``session`` (hex)."""

    version: int
    session: str
    part: int
    role: str
    host: str
    port: int | None
    anchor_utc_ns: int
    program: str


class Record(NamedTuple):
    """``at_ns`` is monotonic, since the session's anchor; ``data`` of a note is one JSON object, see ``parse_note``."""

    at_ns: int
    kind: RecordKind
    data: bytes


def format_header(header: JournalHeader) -> bytes:
    fields = header._asdict()
    del fields["version"]
    text = json.dumps({**fields, "about": _ABOUT}, separators=(",", ":")).encode("ascii")
    return checked(b"%b%d %b" % (MAGIC, header.version, text))


def parse_header(line: bytes) -> JournalHeader:
    """Fields that this version does not know are ignored."""
    content = _content(line)
    match = _NEWER().match(content)
    if match is None:
        raise JournalError("This is no header of a journal.")
    version = int(match[1])
    if version > VERSION:
        raise NewerJournalError(
            f"This journal has version {version}; this program reads versions up to {VERSION}. Use a newer one."
        )
    match = _HEADER().fullmatch(content)
    try:
        fields = json.loads(match[2]) if match else None
    except (ValueError, RecursionError):
        fields = None
    if not isinstance(fields, dict):
        raise JournalError("The journal's header is malformed.")
    header = JournalHeader._make([version, *(fields.get(name) for name in JournalHeader._fields[1:])])
    integers = [header.part, header.anchor_utc_ns] + ([] if header.port is None else [header.port])
    texts = (header.session, header.role, header.host, header.program)
    if any(type(value) is not int for value in integers) or not all(isinstance(value, str) for value in texts):
        raise JournalError("The journal's header lacks a field.")
    return header


def format_record(record: Record) -> bytes:
    at_ns, kind, data = record
    if len(data) > MAX_DATA_BYTES:
        raise ValueError(f"no record with {len(data)} bytes can be written")
    return record_line(at_ns, kind.mark, data)


def unescape(text: bytes) -> bytes:
    """Invert ``escape``; any other text gives undefined bytes or an error."""
    return text.decode("unicode_escape").encode("latin-1")


def parse_record(line: bytes) -> Record:
    match = _RECORD().fullmatch(_content(line))
    if match is None:
        raise JournalError("This is no record of a journal.")
    seconds, fraction, mark, text = match.groups()
    data = unescape(text)
    if len(data) > MAX_DATA_BYTES:
        raise JournalError("The record is too long.")
    return Record(int(seconds) * _SECOND + int(fraction), _KINDS[mark], data)


class NoteKind(StrEnum):
    """The notes that this program writes; a reader skips others."""

    END = "end"  # the last line of a closed part
    UNCOMPRESSED = "uncompressed"
    CONNECTED = "connected"
    OUTLETS = "outlets"  # the outputs of the journal's games besides the archive
    OUTAGE = "outage"  # the connection was lost
    UNRECORDED = "unrecorded"  # the connection goes on, but nothing more is written
    POLICY = "policy"
    GAMES = "games"
    CLOSED = "closed"  # the connection was
    RESET = "reset"  # by the server


def format_note(kind: str, facts: Mapping[str, Any]) -> bytes:
    """ValueError: it is too long for a record, or no JSON."""
    if "kind" in facts:
        raise ValueError("a note has only one kind")
    data = json.dumps({"kind": kind, **facts}, separators=(",", ":"), allow_nan=False).encode("ascii")
    if len(data) > MAX_DATA_BYTES:
        raise ValueError(f"a note of {len(data)} bytes is too long")
    return data


def parse_note(data: bytes) -> dict[str, Any]:
    """``kind`` is a text, the other values are not checked."""
    try:
        note = json.loads(data)
    except (ValueError, RecursionError):
        note = None
    if not isinstance(note, dict) or not isinstance(note.get("kind"), str):
        raise JournalError("The note is malformed.")
    return note


def _content(line: bytes) -> bytes:
    """A line without its checksum, which must be right; a program that makes CR LF of line ends has added a CR."""
    content = line[:-9]
    if checked(content) != line:
        if line.endswith(b"\r"):
            return _content(line[:-1])
        raise JournalError("The line's checksum is wrong.")
    return content
