"""Reads journals by docs/reference/journal-format.md, with no code of the recorder's: its mistakes are not shared."""

import json
import re
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import zstandard

_RECORD = re.compile(rb"([0-9]+)\.([0-9]{9}) ([<>!]) (.*)", re.DOTALL)
_ESCAPE = re.compile(rb"\\(x[0-9a-f]{2}|[tnr\\])")
_SHORT = {b"t": b"\t", b"n": b"\n", b"r": b"\r", b"\\": b"\\"}


@dataclass
class Session:
    """One connection's journal.

    Attributes:
        header: of its first part. files: its parts in order.
        received, sent: bytes of each direction; notes: objects.
        times: for each record of received bytes how many came before it, and its nanoseconds since the anchor.
        torn: what stands behind the last whole line. closed: the last part has its end.
    """

    header: dict[str, Any]
    files: list[Path] = field(default_factory=list)
    received: bytearray = field(default_factory=bytearray)
    sent: bytearray = field(default_factory=bytearray)
    notes: list[dict[str, Any]] = field(default_factory=list)
    times: list[tuple[int, int]] = field(default_factory=list)
    torn: bytes = b""
    closed: bool = False

    def utc_s(self, offset: int) -> float:
        """When the received byte at an offset came."""
        before = [at_ns for begin, at_ns in self.times if begin <= offset]
        return float(self.header["anchor_utc_ns"] + before[-1]) / 1e9


def read_folder(folder: Path) -> list[Session]:
    """All sessions of a folder in the order of their anchors.

    Raises:
        AssertionError: something is damaged that no crash explains.
    """
    parts: dict[tuple[str, int], Path] = {}
    for path in sorted(folder.glob("*.journal")) + sorted(folder.glob("*.journal.zst")):
        data = _plain(path)
        if not data:
            continue  # killed between the file's making and its header
        if b"\n" not in data:
            assert data.startswith(b"ics-recorder journal "[: len(data)]), f"{path.name} begins with {data[:40]!r}"
            continue
        header = _header(data.partition(b"\n")[0], path)
        parts[header["session"], header["part"]] = path
    sessions: dict[str, Session] = {}
    for (name, number), path in sorted(parts.items()):
        _read_part(path, number, sessions, name)
    return sorted(sessions.values(), key=lambda session: session.header["anchor_utc_ns"])


def _plain(path: Path) -> bytes:
    try:
        data = path.read_bytes()
    except FileNotFoundError:  # compressed just now
        return b""
    return zstandard.ZstdDecompressor().decompressobj().decompress(data) if path.suffix == ".zst" else data


def _read_part(path: Path, number: int, sessions: dict[str, Session], name: str) -> None:
    first, *lines, rest = _plain(path).split(b"\n")
    header = _header(first, path)
    session = sessions.setdefault(name, Session(header))
    assert len(session.files) == number - 1, f"{path.name}: a part is missing before it"
    assert not session.torn, f"{path.name}: the part before it is torn"
    assert number == 1 or session.closed, f"{path.name}: the part before it was not closed"
    session.files.append(path)
    session.closed = False
    if len(lines) > 1 and not rest and b'"torn":' in lines[-1]:  # another program has ended it after a crash
        session.torn = lines.pop(-2)
        assert not _is_whole(session.torn), f"{path.name}: a whole line is said to be torn"
    for count, line in enumerate(lines):
        assert not session.closed, f"{path.name}: a record stands behind the end"
        _take(session, _content(line, path), count, path)
    if session.torn:
        assert session.notes[-1].get("torn") == len(session.torn), f"{path.name}: {session.notes[-1]}"
    elif rest and _is_whole(rest):
        _take(session, rest[:-9], len(lines), path)
    else:
        session.torn = rest


def _take(session: Session, content: bytes, count: int, path: Path) -> None:
    match = _RECORD.fullmatch(content)
    assert match is not None, f"{path.name}: {content[:60]!r} is no record"
    at_ns = int(match[1]) * 1_000_000_000 + int(match[2])
    data = _ESCAPE.sub(lambda found: _byte(found[1]), match[4])
    if match[3] == b"<":
        assert not session.times or session.times[-1][1] <= at_ns, f"{path.name}: time goes back"
        session.times.append((len(session.received), at_ns))
        session.received += data
    elif match[3] == b">":
        session.sent += data
    else:
        note = json.loads(data)
        session.notes.append(note)
        if note["kind"] == "end":
            assert note["records"] == count, f"{path.name}: {note['records']} records should stand before its end"
            session.closed = True


def _byte(escaped: bytes) -> bytes:
    return _SHORT.get(escaped) or bytes.fromhex(escaped[1:].decode())


def _is_whole(line: bytes) -> bool:
    return b"%08x" % zlib.crc32(line[:-9]) == line[-8:] and line[-9:-8] == b" "


def _content(line: bytes, path: Path) -> bytes:
    assert _is_whole(line), f"{path.name}: the checksum of {line[:60]!r} is wrong"
    return line[:-9]


def _header(line: bytes, path: Path) -> dict[str, Any]:
    content = _content(line, path)
    assert content.startswith(b"ics-recorder journal 1 "), f"{path.name} begins with {content[:40]!r}"
    header: dict[str, Any] = json.loads(content[len(b"ics-recorder journal 1 ") :])
    return header
