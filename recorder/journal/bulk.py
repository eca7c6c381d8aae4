"""Many lines of a journal at once: what ``parse_record`` says of each, found out for all of them together."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import accumulate, compress
from operator import not_
from struct import pack
from typing import Final, NamedTuple
from zlib import crc32

from recorder.errors import JournalError
from recorder.journal.format import ESCAPED, MAX_DATA_BYTES, Record, RecordKind, parse_record

__all__ = ["Reads", "parse_lines"]

_CHECKSUM_BYTES: Final = len(" 01234567")
_PRINTABLE: Final = bytes(range(0x20, 0x7F))
_TIMES: Final = re.compile(rb"(?:(?:0|[1-9][0-9]{0,10})\.[0-9]{9}\n)*+")
_ESCAPED: Final = re.compile(ESCAPED)
_LINE_ENDS: Final = re.compile(rb"(?:\A|[^\\])(?:\\[nr])+\Z")
_RECEIVED: Final = RecordKind.RECEIVED.mark
_NOTE: Final = RecordKind.NOTE.mark
_LF: Final = "\\n"
_CR: Final = "\\r"


class Reads(NamedTuple):
    """What the server sent, in records that follow each other.

    Attributes:
        offsets: of the first byte of each record's line; those of records of sent bytes are among them.
        last_ns: time of the last record.
        at_ns: times of what was received. places: offset of the first byte of their data. texts: the data, escaped.
        end: how lines end, escaped; some may end otherwise.
        lines: all data as one text, cut at each ``end``.
        odd: which of them have anything escaped, in order.
    """

    offsets: Sequence[int]
    last_ns: int
    at_ns: Sequence[int]
    places: Sequence[int]
    texts: Sequence[bytes]
    end: str
    lines: list[str]
    odd: list[int]


def parse_lines(lines: list[bytes], offset: int) -> list[tuple[int, Record] | Reads] | None:
    """Read lines of this version.

    Args:
        lines: without their ends. offset: of the first.
    Returns:
        Notes with their places, and what was received between them. None if a line is no record or is hard to read:
        then each must be looked at.
    """
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
    places = [place + len(time) + 3 for place, time in zip(offsets, times, strict=False)]
    out: list[tuple[int, Record] | Reads] = []
    notes = [at for at, mark in enumerate(marks) if mark == _NOTE] if _NOTE in marks else []
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
    """Cut what records hold.

    Raises:
        JournalError: one of them is not what ``escape`` makes of bytes, or of more than a record can have; or it is
            not worth the trouble to find out.
    """
    whole = b"".join(texts)
    if whole.translate(None, _PRINTABLE):
        raise JournalError("Something is not escaped.")
    text = whole.decode("ascii")
    end = _line_end(text)
    lines = text.split(end)
    odd: list[int] = []
    if text.count("\\") != end.count("\\") * (len(lines) - 1):
        odd = [number for number, line in enumerate(lines) if "\\" in line]
        # A backslash that is escaped itself may have made a line end of the letter behind it: then this fails, too.
        if not all(map(_ESCAPED.fullmatch, [lines[number] for number in odd])):
            raise JournalError("Something is not escaped as it should be.")
    for one in texts:
        # What is right when it is put together may not be so alone.
        if (b"\\" in one[-3:] and not _LINE_ENDS.search(one[-5:]) and not _ESCAPED.fullmatch(one.decode("ascii"))) or (
            len(one) > MAX_DATA_BYTES and _size(one) > MAX_DATA_BYTES
        ):
            raise JournalError("A record is not whole, or too long.")
    return Reads(offsets, last_ns, at_ns, places, texts, end, lines, odd)


def _line_end(text: str) -> str:
    """How lines end, most of them."""
    place = text.find(_LF)
    before, behind = text.endswith(_CR, 0, max(place, 0)), text.startswith(_CR, place + len(_LF))
    if before and behind:
        behind = text.count(_LF + _CR) > text.count(_CR + _LF)
    return _LF + _CR if behind else _CR + _LF if before else _LF


def _size(text: bytes) -> int:
    """How many bytes an escaped text stands for."""
    single = text.replace(b"\\\\", b"x")
    return len(single) - single.count(b"\\") - 2 * single.count(b"\\x")
