"""Journals made from the bytes of recorded connections."""

import random
from collections.abc import Iterable

from recorder.journal.format import (
    VERSION,
    JournalHeader,
    Record,
    RecordKind,
    format_header,
    format_note,
    format_record,
)

ANCHOR_NS = 1_763_762_400_000_000_000
HEADER = JournalHeader(VERSION, "0123456789abcdef", 1, "record", "freechess.org", 5000, ANCHOR_NS, "test")
_LONGEST = 900


def lines_of(*entries: JournalHeader | Record) -> bytes:
    """A journal's text."""
    return b"".join(
        (format_header if isinstance(one, JournalHeader) else format_record)(one) + b"\n" for one in entries
    )


def received(data: bytes, at_ns: int = 0) -> Record:
    """What the server sent."""
    return Record(at_ns, RecordKind.RECEIVED, data)


def timed_journal(chunks: Iterable[tuple[int, bytes]]) -> bytes:
    """A journal of chunks with their times in milliseconds, as ``stream_chunks`` has them."""
    return lines_of(HEADER, *(received(data, at_ms * 1_000_000) for at_ms, data in chunks))


def note(kind: str, at_ns: int = 0, **facts: object) -> Record:
    """A fact about the connection."""
    return Record(at_ns, RecordKind.NOTE, format_note(kind, facts))


def journal_of(stream: bytes, seed: int = 0) -> bytes:
    """A journal of a connection that received ``stream`` in pieces, with commands and notes between them."""
    chance = random.Random(seed)
    entries: list[JournalHeader | Record] = [HEADER, note("connected")]
    position = at_ns = 0
    while position < len(stream):
        at_ns += chance.randrange(2_000_000_000)
        piece = stream[position : position + chance.randrange(1, _LONGEST)]
        position += len(piece)
        entries.append(received(piece, at_ns))
        if chance.random() < 0.1:
            entries.append(Record(at_ns, RecordKind.SENT, b"refresh 12\n<12> is not data here\n"))
        if chance.random() < 0.05:
            entries.append(note("timer", at_ns, what="keep-alive"))
        if chance.random() < 0.002:
            entries.append(note("outage", at_ns, why="reset"))
    return lines_of(*entries)
