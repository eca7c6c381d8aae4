"""Reads the bytes of a journal: valid records are returned, corrupt bytes are reported with their place."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, compress
from operator import not_
from struct import pack
from typing import Any, Final, NamedTuple
from zlib import crc32

from recorder.errors import JournalError
from recorder.journal.format import (
    ESCAPED,
    MAGIC,
    MAX_DATA_BYTES,
    MAX_LINE_BYTES,
    JournalHeader,
    NewerJournalError,
    NoteKind,
    Record,
    RecordKind,
    parse_header,
    parse_note,
    parse_record,
)

_CHECKSUM_BYTES: Final = len(" 01234567")
_PRINTABLE: Final = bytes(range(0x20, 0x7F))
_TIMES: Final = re.compile(rb"(?>(?:(?:0|[1-9][0-9]{0,10})\.[0-9]{9}\n)*)")
_ESCAPED: Final = re.compile(ESCAPED)
_LINE_ENDS: Final = re.compile(rb"(?:\A|[^\\])(?:\\[nr])+\Z")
_RECEIVED: Final = RecordKind.RECEIVED.mark
_NOTE: Final = RecordKind.NOTE.mark
_LF: Final = "\\n"
_CR: Final = "\\r"


class Reads(NamedTuple):
    """What the server sent, in records that follow each other.

    ``offsets`` are of the first byte of each record's line, records of sent bytes included. ``at_ns``, ``places``
    (offset of the first byte of the data) and ``texts`` (escaped) are of what was received. ``lines`` is all data as
    one text, cut at each ``end`` (how lines end, escaped; some may end otherwise); ``escaped`` are the lines that
    contain an escape.
    """

    offsets: Sequence[int]
    last_ns: int
    at_ns: Sequence[int]
    places: Sequence[int]
    texts: Sequence[bytes]
    end: str
    lines: list[str]
    escaped: list[int]


def parse_lines(lines: list[bytes], offset: int) -> list[tuple[int, Record] | Reads] | None:
    """Notes with offsets, and what was received between; None: a line is hard to read, so each must be looked at."""
    # A journal is read millions of lines at a time, so all lines are checked together: one comparison of all checksums,
    # one pattern for all times. A single line that fails sends the whole block the slow way, line by line.
    contents = [line[:-_CHECKSUM_BYTES] for line in lines]
    sums = pack(f">{len(lines)}I", *map(crc32, contents)).hex(" ", 4)
    if b"".join([line[-_CHECKSUM_BYTES:] for line in lines]) != b" " + sums.encode("ascii"):
        return None
    words = [content.split(b" ", 2) for content in contents]
    if min(map(len, words)) < 3:
        return None
    times, marks, texts = zip(*words, strict=True)
    head = b"\n".join([*times, b""])
    if not _TIMES.fullmatch(head):
        return None
    at_ns = list(map(int, head.replace(b".", b"").split()))
    offsets = list(accumulate([len(line) + 1 for line in lines], initial=offset))
    places = [offset + len(time) + 3 for offset, time in zip(offsets, times, strict=False)]
    out: list[tuple[int, Record] | Reads] = []
    notes = [index for index, mark in enumerate(marks) if mark == _NOTE] if _NOTE in marks else []
    begin = 0
    try:
        for stop in (*notes, len(lines)):
            if begin < stop:
                which = slice(begin, stop)
                here = offsets[which], at_ns[stop - 1]
                if marks[which].count(_RECEIVED) == stop - begin:
                    out.append(_cut(*here, at_ns[which], places[which], texts[which]))
                else:
                    received = [mark == _RECEIVED for mark in marks[which]]
                    for line in compress(lines[which], map(not_, received)):
                        parse_record(line)
                    kept = (list(compress(values[which], received)) for values in (at_ns, places, texts))
                    out.append(_cut(*here, *kept))
            if stop < len(lines):
                out.append((offsets[stop], parse_record(lines[stop])))
            begin = stop + 1
    except JournalError:
        return None
    return out


def _cut(
    offsets: Sequence[int], last_ns: int, at_ns: Sequence[int], places: Sequence[int], texts: Sequence[bytes]
) -> Reads:
    """JournalError: it is not what ``escape`` makes of bytes, or not worth the trouble to find out."""
    whole = b"".join(texts)
    if whole.translate(None, _PRINTABLE):
        raise JournalError("Something is not escaped.")
    text = whole.decode("ascii")
    end = _line_end(text)
    lines = text.split(end)
    escaped: list[int] = []
    if text.count("\\") != end.count("\\") * (len(lines) - 1):
        escaped = [number for number, line in enumerate(lines) if "\\" in line]
        # A backslash that is escaped itself may have made a line end of the letter behind it: then this fails, too.
        if not all(map(_ESCAPED.fullmatch, [lines[number] for number in escaped])):
            raise JournalError("Something is not escaped as it should be.")
    for row in texts:
        # What is right when it is put together may not be so alone.
        if (b"\\" in row[-3:] and not _LINE_ENDS.search(row[-5:]) and not _ESCAPED.fullmatch(row.decode("ascii"))) or (
            len(row) > MAX_DATA_BYTES and _size(row) > MAX_DATA_BYTES
        ):
            raise JournalError("A record is not whole, or too long.")
    return Reads(offsets, last_ns, at_ns, places, texts, end, lines, escaped)


def _line_end(text: str) -> str:
    index = text.find(_LF)
    before, behind = text.endswith(_CR, 0, max(index, 0)), text.startswith(_CR, index + len(_LF))
    if before and behind:
        behind = text.count(_LF + _CR) > text.count(_CR + _LF)
    return _LF + _CR if behind else _CR + _LF if before else _LF


def _size(text: bytes) -> int:
    single = text.replace(b"\\\\", b"x")
    return len(single) - single.count(b"\\") - 2 * single.count(b"\\x")


_MANY_BYTES = 2048

_TORN: Final = "the last line is torn"


class JournalEntry(NamedTuple):
    offset: int
    value: JournalHeader | Record


class Damage(NamedTuple):
    """Bytes that are no line of a journal: where they begin, how many, and what is wrong with the first of them."""

    offset: int
    size_bytes: int
    why: str


class JournalReader:
    """Turns bytes into headers and records. Pure: how the journal is cut into blocks never matters.

    Parts may follow each other: each begins with a header. Damage costs the lines that it is in, no others. ``damage``
    is in the order of the file; neighbours are one. ``torn`` is the last line, if it is not whole: what was written
    when the recorder was killed or the disk was full, also where the note ``end`` behind it says so. It is complete
    after ``finish``.
    """

    def __init__(self) -> None:
        self.damage: list[Damage] = []
        self.torn: Damage | None = None
        self.size_bytes = 0
        self._rest = b""
        self._offset = 0  # of the first byte of ``_rest``, or of the line that is too long
        self._in_long = False

    def read(self, blocks: Iterable[bytes]) -> Iterator[JournalEntry]:
        for block in blocks:
            yield from self.receive(block)
        yield from self.finish()

    def receive(self, block: bytes) -> list[JournalEntry]:
        """Cut anywhere; the headers and records of the lines that are complete now."""
        out: list[JournalEntry] = []
        lines, begin = self._split(block)
        self._read_each(lines, begin, out)
        self._bound()
        return out

    def receive_lines(self, block: bytes) -> list[JournalEntry | Reads]:
        """As ``receive``; many records may come as one value."""
        out: list[JournalEntry | Reads] = []
        lines, begin = self._split(block)
        done = 0
        if len(block) >= _MANY_BYTES and not self._in_long:
            headers = [number for number, line in enumerate(lines) if line.startswith(MAGIC)] if MAGIC in block else []
            if lines and lines[0].startswith(MAGIC) and headers[:1] != [0]:
                headers.insert(0, 0)  # its beginning came before
            for number in headers:
                self._read_many(lines[done:number], out)
                self._read_each(lines[number : number + 1], self._offset, out)
                done = number + 1
            self._read_many(lines[done:], out)
        else:
            self._read_each(lines, begin, out)
        self._bound()
        return out

    def _split(self, block: bytes) -> tuple[list[bytes], int]:
        """The lines that are whole now, and where the first one of them begins, as far as it was kept."""
        begin = self.size_bytes - len(self._rest)
        self.size_bytes += len(block)
        lines = (self._rest + block).split(b"\n")
        self._rest = lines.pop()
        return lines, begin

    def _bound(self) -> None:
        if len(self._rest) > MAX_LINE_BYTES:
            self._in_long = True
            self._rest = b""

    def _read_many(self, lines: list[bytes], out: list[JournalEntry | Reads]) -> None:
        parsed = None
        if lines and len(max(lines, key=len)) <= MAX_LINE_BYTES:
            parsed = parse_lines(lines, self._offset)
        if parsed is None:
            self._read_each(lines, self._offset, out)
        else:
            for entry in parsed:
                if not isinstance(entry, Reads):
                    self._note(*entry)
                out.append(entry if isinstance(entry, Reads) else JournalEntry(*entry))
            self._offset += sum(map(len, lines)) + len(lines)

    def _read_each(self, lines: list[bytes], begin: int, out: list[JournalEntry] | list[JournalEntry | Reads]) -> None:
        end = begin
        for line in lines:
            end += len(line) + 1
            if self._in_long or len(line) > MAX_LINE_BYTES:
                self._in_long = False
                self._damaged(end, "no line is so long")
            else:
                self._read(line, end, out)
            self._offset = end

    def finish(self) -> list[JournalEntry]:
        """Read the end: a line that only lacks its line end is whole."""
        out: list[JournalEntry] = []
        if self._rest and not self._in_long:
            try:
                out.append(JournalEntry(self._offset, self._parse(self._rest)))
            except NewerJournalError:
                raise
            except JournalError:
                self._tear()
        elif self._in_long:
            self._tear()
        return out

    def _tear(self) -> None:
        self.torn = Damage(self._offset, self.size_bytes - self._offset, _TORN)

    def _read(self, line: bytes, end: int, out: list[JournalEntry] | list[JournalEntry | Reads]) -> None:
        try:
            value = self._parse(line)
        except NewerJournalError:
            raise
        except JournalError as error:
            self._damaged(end, str(error).rstrip("."))
            return
        if isinstance(value, Record) and value.kind is RecordKind.NOTE:
            self._note(self._offset, value)
        out.append(JournalEntry(self._offset, value))

    def _note(self, offset: int, note: Record) -> None:
        """Do not count a line torn by a crash as damage if the note that ended the part later reports it."""
        damage = self.damage[-1] if self.damage else None
        # A crash leaves a torn line without a line end. The process that closes the part later appends a line end and
        # the note ``end`` with the length of the torn line: so the bytes before the note are no damage of the disk.
        if damage is None or damage.offset + damage.size_bytes != offset or b'"torn"' not in note.data:
            return
        facts = _facts(note)
        torn = facts.get("torn")
        if facts.get("kind") != NoteKind.END or not isinstance(torn, int) or not 0 < torn < damage.size_bytes:
            return
        self.damage.pop()
        if damage.size_bytes > torn + 1:
            self.damage.append(damage._replace(size_bytes=damage.size_bytes - torn - 1))
        self.torn = Damage(offset - torn - 1, torn, _TORN)

    def _parse(self, line: bytes) -> JournalHeader | Record:
        return parse_header(line) if line.startswith(MAGIC) else parse_record(line)

    def _damaged(self, end: int, why: str) -> None:
        offset = self._offset
        if self.damage and self.damage[-1].offset + self.damage[-1].size_bytes == offset:
            offset, _, why = self.damage.pop()
        self.damage.append(Damage(offset, end - offset, why))


def _facts(note: Record) -> dict[str, Any]:
    try:
        return parse_note(note.data)
    except JournalError:
        return {}
