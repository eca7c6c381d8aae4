"""Reads a journal's bytes, whatever became of them: what is whole is given, what is not is reported with its place."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple

from recorder.errors import JournalError
from recorder.journal.bulk import Reads, parse_lines
from recorder.journal.format import (
    MAGIC,
    MAX_LINE_BYTES,
    VERSION,
    Header,
    NewerJournalError,
    Record,
    RecordKind,
    parse_header,
    parse_note,
    parse_record,
)
from recorder.journal.line import checked

__all__ = ["Damage", "Entry", "JournalReader"]

_MANY_BYTES = 2048
"""Less is read line by line."""

_PRINTABLE: Final = bytes(range(0x20, 0x7F))
_MOST_DIGITS: Final = 11  # of the seconds
_NS_PER_S: Final = 1_000_000_000
_TORN: Final = "the last line is torn"


class Entry(NamedTuple):
    """A line of a journal: ``offset`` of its first byte, and what it says."""

    offset: int
    value: Header | Record


class Damage(NamedTuple):
    """Bytes that are no line of a journal: where they begin, how many, and what is wrong with the first of them."""

    offset: int
    size_bytes: int
    why: str


class JournalReader:
    """Turns bytes into headers and records. Pure: how the journal is cut into blocks never matters.

    Parts may follow each other: each begins with a header. Damage costs the lines that it is in, no others.

    Attributes:
        damage: what could not be read, in the order of the file; neighbours are one.
        torn: the last line, if it is not whole: what was written when the recorder was killed or the disk was full.
            Complete after ``finish``. So is a line of which the note ``end`` behind it says so.
        size_bytes: read so far.
    """

    def __init__(self) -> None:
        self.damage: list[Damage] = []
        self.torn: Damage | None = None
        self.size_bytes = 0
        self._rest = b""
        self._offset = 0  # of the first byte of ``_rest``, or of the line that is too long
        self._in_long = False
        self._version = VERSION

    def read(self, blocks: Iterable[bytes]) -> Iterator[Entry]:
        """Read a whole journal.

        Raises:
            NewerJournalError: a header's version is newer than this program.
        """
        for block in blocks:
            yield from self.receive(block)
        yield from self.finish()

    def receive(self, block: bytes) -> list[Entry]:
        """Read the next bytes; raises what ``read`` does."""
        out: list[Entry] = []
        lines, begin = self._split(block)
        self._read_each(lines, begin, out)
        self._bound()
        return out

    def receive_one(self, block: bytes) -> tuple[int, bytes] | None:
        """Read the next bytes if they are one whole line of what was received, as a journal that is written grows.

        A way round ``receive_lines`` for text with no other escapes than those of line ends: few steps, because what
        they touch has left the processor's caches since the last one.

        Returns:
            Its time and data; None: nothing was read, and ``receive_lines`` takes it.
        """
        end = len(block) - 1
        if self._rest or self._in_long or self._version != VERSION or end >= _MANY_BYTES or block.find(b"\n") != end:
            return None
        content = block[:-10]
        time, mark, text = content.partition(b" < ")
        seconds, _, fraction = time.partition(b".")
        if not (mark and seconds.isdigit() and len(fraction) == 9 and fraction.isdigit()):
            return None
        data = text.replace(b"\\n", b"\n").replace(b"\\r", b"\r")
        if (
            b"\\" in data
            or text.translate(None, _PRINTABLE)
            or checked(content) != block[:-1]
            or (seconds[:1] == b"0" and len(seconds) > 1)
            or len(seconds) > _MOST_DIGITS
        ):
            return None
        self._offset = self.size_bytes = self.size_bytes + end + 1
        return int(seconds) * _NS_PER_S + int(fraction), data

    def receive_lines(self, block: bytes) -> list[Entry | Reads]:
        """Read the next bytes as ``receive`` does; many records may come as one value."""
        out: list[Entry | Reads] = []
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
        """Keep no more of the unfinished line than a line can have."""
        if len(self._rest) > MAX_LINE_BYTES:
            self._in_long = True
            self._rest = b""

    def _read_many(self, lines: list[bytes], out: list[Entry | Reads]) -> None:
        found = None
        if lines and self._version == VERSION and len(max(lines, key=len)) <= MAX_LINE_BYTES:
            found = parse_lines(lines, self._offset)
        if found is None:
            self._read_each(lines, self._offset, out)
        else:
            for one in found:
                if not isinstance(one, Reads):
                    self._note(*one)
                out.append(one if isinstance(one, Reads) else Entry(*one))
            self._offset += sum(map(len, lines)) + len(lines)

    def _read_each(self, lines: list[bytes], begin: int, out: list[Entry] | list[Entry | Reads]) -> None:
        end = begin
        for line in lines:
            end += len(line) + 1
            if self._in_long or len(line) > MAX_LINE_BYTES:
                self._in_long = False
                self._damaged(end, "no line is so long")
            else:
                self._read(line, end, out)
            self._offset = end

    def finish(self) -> list[Entry]:
        """Read what stands at the end. A line that only lacks its end is whole."""
        out: list[Entry] = []
        if self._rest and not self._in_long:
            try:
                out.append(Entry(self._offset, self._parse(self._rest)))
            except NewerJournalError:
                raise
            except JournalError:
                self._tear()
        elif self._in_long:
            self._tear()
        return out

    def _tear(self) -> None:
        self.torn = Damage(self._offset, self.size_bytes - self._offset, _TORN)

    def _read(self, line: bytes, end: int, out: list[Entry] | list[Entry | Reads]) -> None:
        try:
            value = self._parse(line)
        except NewerJournalError:
            raise
        except JournalError as error:
            self._damaged(end, str(error).rstrip("."))
            return
        if isinstance(value, Record) and value.kind is RecordKind.NOTE:
            self._note(self._offset, value)
        out.append(Entry(self._offset, value))

    def _note(self, offset: int, note: Record) -> None:
        """What was left torn by a crash stands before the note that somebody ended the part with later."""
        damage = self.damage[-1] if self.damage else None
        if damage is None or damage.offset + damage.size_bytes != offset or b'"torn"' not in note.data:
            return
        facts = _facts(note)
        torn = facts.get("torn")
        if facts.get("kind") != "end" or not isinstance(torn, int) or not 0 < torn < damage.size_bytes:
            return
        self.damage.pop()
        if damage.size_bytes > torn + 1:
            self.damage.append(damage._replace(size_bytes=damage.size_bytes - torn - 1))
        self.torn = Damage(offset - torn - 1, torn, _TORN)

    def _parse(self, line: bytes) -> Header | Record:
        if not line.startswith(MAGIC):
            return parse_record(line, self._version)
        header = parse_header(line)
        self._version = header.version
        return header

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
