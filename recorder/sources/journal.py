"""Read a journal of ``recorder.journal`` as a saved log.

Only the server's bytes are returned; the recorder's own bytes and most notes contain nothing about games. The end of a
connection is returned as a chunk without data. So is a place with missing records: their content is unknown, and two
halves of different lines must not be joined.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from operator import sub
from typing import Any, Final

from recorder.errors import JournalError
from recorder.events import LONGEST_CUT, Chunk, CutLines
from recorder.journal.format import JournalHeader, NoteKind, Record, RecordKind, escape, parse_note, unescape
from recorder.journal.reader import JournalEntry, JournalReader, Reads
from recorder.model import Anomaly, AnomalyKind, TimeBasis

_NS_PER_MS: Final = 1_000_000
_NS_PER_S: Final = 1_000_000_000
_ENDS: Final = (NoteKind.CLOSED, NoteKind.OUTAGE)
_BEFORE_DATA: Final = len(".123456789 < ")  # and the seconds
# Line ends go with the line before them, so that every line begins a piece.
_PIECE: Final = re.compile(rb"[\r\n]+|[^\n]+(?:\n[\r\n]*)?")
_LF: Final = "\\n"
_BELL: Final = "\\x07"


class JournalDecoder:
    """Returns the received bytes as chunks; every server line begins at a chunk's first byte.

    Several parts of one session may follow each other. Of corrupt bytes only their own records are lost. ``at_ms`` is
    UTC: the wall clock at the session's beginning plus the monotonic time since. ``decoded`` is the offset of the first
    line that was not read yet. ``hosts`` (as the headers name the server) and ``policies`` have their offsets;
    ``opening`` are the notes before the first bytes, which say how the session was recorded.
    """

    def __init__(self) -> None:
        self.decoded = 0
        self._reader = JournalReader()
        self._missing: list[Anomaly] = []
        self._reported = 0  # how many of the damaged places were reported
        self._part_place = 0  # where this part begins
        self._session: str | None = None
        self._part = 0
        self._records: int | None = None  # in this part; None: it has its end, or there was none
        self._more = False  # the last part's end announces another part
        self._anchor_ns: int | None = None
        self._at_ms: int | None = None
        self.hosts: list[tuple[int, str]] = []
        self.opening: list[dict[str, Any]] = []
        self.policies: list[tuple[int, dict[str, Any]]] = []
        self._opens = True  # no bytes were recorded yet

    @property
    def time_basis(self) -> TimeBasis:
        return TimeBasis.NONE if self._anchor_ns is None else TimeBasis.UTC

    @property
    def anomalies(self) -> list[Anomaly]:
        found = [
            Anomaly.of(AnomalyKind.DAMAGED, place, None, f"{size:,} bytes are not a record and were skipped: {why}", "")
            for place, size, why in self._reader.damage
        ]
        return [*found, *self._missing]

    @property
    def warnings(self) -> list[str]:
        """Complete after ``finish``."""
        found = []
        if (torn := self._reader.torn) is not None:
            found += [
                f"The last record is torn: its {torn.size_bytes:,} bytes were skipped, everything before was read."
            ]
        if self._more:
            found += [f"Part {self._part + 1} of the session is missing: part {self._part} says that it follows."]
        return found

    def receive(self, block: bytes) -> list[Chunk | CutLines]:
        before = self._reader.size_bytes
        out = self._take(self._reader.receive_lines(block))
        if (end := block.rfind(b"\n")) >= 0:
            self.decoded = before + end + 1
            if (damage := self._reader.damage) and damage[-1].offset + damage[-1].size_bytes == self.decoded:
                self.decoded = damage[-1].offset  # more of it may follow
        return out

    def finish(self) -> list[Chunk | CutLines]:
        return self._take(self._reader.finish())

    def _take(self, found: Sequence[JournalEntry | Reads]) -> list[Chunk | CutLines]:
        out: list[Chunk | CutLines] = []
        damage = self._reader.damage
        for one in found:
            places = one.offsets if isinstance(one, Reads) else (one.offset,)
            while self._reported < len(damage) and damage[self._reported].offset < places[0]:
                self._cut(damage[self._reported].offset, out)
                self._reported += 1
            if isinstance(one, Reads):
                self._reads(one, out)
            elif isinstance(one.value, JournalHeader):
                self._header(one.offset, one.value, out)
            else:
                self._record(one.offset, one.value, out)
        return out

    def _reads(self, reads: Reads, out: list[Chunk | CutLines]) -> None:
        self._opens = False
        if self._records is not None:
            self._records += len(reads.offsets)
        self._at_ms = self._time(reads.last_ns)
        anchor_ns = self._anchor_ns
        _cut_reads(reads, [None if anchor_ns is None else (anchor_ns + at) // _NS_PER_MS for at in reads.at_ns], out)

    def _time(self, at_ns: int) -> int | None:
        return None if self._anchor_ns is None else (self._anchor_ns + at_ns) // _NS_PER_MS

    def _header(self, place: int, header: JournalHeader, out: list[Chunk | CutLines]) -> None:
        if self._session is not None and header.session != self._session:
            self._cut(place, out)
        elif header.part != self._part + 1:
            before = f"follows part {self._part}" if self._part else "is the first that is there"
            self._miss(place, f"part {header.part} of the session {before}")
            self._cut(place, out)
        elif self._records is not None:
            self._miss(place, f"part {self._part} of the session has no end, although part {header.part} follows")
            self._cut(place, out)
        self._records, self._more, self._part_place = 0, False, place
        self._session, self._part, self._anchor_ns = header.session, header.part, header.anchor_utc_ns
        if not self.hosts or self.hosts[-1][1] != header.host:
            self.hosts.append((place, header.host))

    def _record(self, place: int, record: Record, out: list[Chunk | CutLines]) -> None:
        at_ns, kind, data = record
        self._at_ms = self._time(at_ns)
        if kind is RecordKind.RECEIVED:
            _cut_pieces(data, place + len(str(at_ns // _NS_PER_S)) + _BEFORE_DATA, self._at_ms, out)
        elif kind is RecordKind.NOTE:
            self._note(place, _note(data), out)
        self._opens = self._opens and kind is RecordKind.NOTE
        if self._records is not None:
            self._records += 1

    def _note(self, place: int, note: dict[str, Any], out: list[Chunk | CutLines]) -> None:
        if self._opens:
            self.opening.append(note)
        elif note["kind"] == NoteKind.POLICY:
            self.policies.append((place, note))
        if note["kind"] in _ENDS:
            self._cut(place, out)
        elif note["kind"] == NoteKind.END:
            written, here = note.get("records"), self._records
            whole = not any(self._part_place < lost[0] < place for lost in self._reader.damage)  # else it is reported
            if whole and here is not None and isinstance(written, int) and written != here:
                self._miss(place, f"{written} records expected in part {self._part}, not {here}")
                self._cut(place, out)
            self._records, self._more = None, note.get("more") is True

    def _miss(self, place: int, message: str) -> None:
        self._missing.append(Anomaly.of(AnomalyKind.DAMAGED, place, None, message, ""))

    def _cut(self, place: int, out: list[Chunk | CutLines]) -> None:
        """What follows continues nothing of what was before."""
        out.append(Chunk(b"", place, self._at_ms))


def _note(data: bytes) -> dict[str, Any]:
    try:
        return parse_note(data)
    except JournalError:
        return {"kind": ""}


def _cut_pieces(data: bytes, place: int, at_ms: int | None, out: list[Chunk | CutLines]) -> None:
    for piece in _PIECE.findall(data):
        out.append(Chunk(piece, place, at_ms))
        place += len(escape(piece))


def _cut_reads(reads: Reads, times: Sequence[int | None], out: list[Chunk | CutLines]) -> None:
    """Lines that are text alone go in bulk, all others piece by piece."""
    texts, lines, width = reads.texts, reads.lines, len(reads.end)
    ends = list(accumulate(map(len, texts)))
    shifts = list(map(sub, reads.places, [0, *ends]))
    starts = list(accumulate([len(line) + width for line in lines[:-1]], initial=0))
    starts.append(ends[-1] if ends else 0)

    def cut_between(begin: int, stop: int) -> None:
        index = bisect_right(ends, begin)
        while begin < stop:
            before = ends[index] - len(texts[index])
            data = unescape(texts[index][begin - before : stop - before])
            _cut_pieces(data, begin + shifts[index], times[index], out)
            begin, index = ends[index], index + 1

    care = {0, len(lines) - 1}  # the rest of a line, the beginning of one
    for index in reads.escaped:
        lines[index] = lines[index].replace(_BELL, "")  # counts nowhere
        if "\\" in lines[index]:
            care.add(index)
    if len(max(lines, key=len)) > LONGEST_CUT:
        care.update(index for index, line in enumerate(lines) if len(line) > LONGEST_CUT)
    back = width if reads.end.startswith(_LF) else len(_LF)
    done = 0
    for index in sorted(care):
        if done < index:
            out.append(CutLines(lines[done:index], starts[done : index + 1], back, ends, shifts, times))
        cut_between(starts[index], starts[index + 1])
        done = index + 1
