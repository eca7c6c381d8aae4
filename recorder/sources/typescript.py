"""Typescripts of script(1), with or without their timing file.

Source: script(1) and scriptreplay(1) of util-linux: the classic timing form is ``delay count``, the advanced one has a
letter before it (``I`` typed, ``O`` printed, ``S`` signal, ``H`` header); delays are seconds since the entry before.
"""

from __future__ import annotations

import re
from collections import deque
from datetime import tzinfo
from typing import Final

from recorder.events import Chunk
from recorder.model import TimeBasis
from recorder.patterns import later
from recorder.sources.stamps import Stamps, parse_header_date

__all__ = ["TypescriptDecoder", "looks_like_timing"]

_WORD: Final = b"Script "
_OWN_LINE: Final = later(rb"^Script (?:started|done)(?: on |, |\r?$| \[)[^\n]{0,400}(?:\n|\Z)", re.MULTILINE)
_CLASSIC: Final = later(rb"(\d+\.\d+) (\d+)\s*$")
_ADVANCED: Final = later(rb"([IO]) (\d+\.\d+) (\d+)\s*$")
_OTHER: Final = later(rb"([SH]) (\d+\.\d+) (.*)$", re.DOTALL)
_MAX_LINE: Final = 512


def looks_like_timing(head: bytes) -> bool:
    """Whether a file is the timing file of a typescript."""
    lines = head[:4096].split(b"\n")[:-1][:20] or [head[:80]]
    return all(_CLASSIC().match(line) or _ADVANCED().match(line) or _OTHER().match(line) for line in lines)


class TypescriptDecoder:
    """Leaves out the lines that script(1) wrote itself, and gives every byte its arrival time if it is known.

    Args:
        timing: the whole timing file, or None.
        tz: the zone of the header's date, where it prints none.
    """

    def __init__(self, timing: bytes | None = None, tz: tzinfo | None = None) -> None:
        self._stamps = Stamps(None, tz)
        self._steps: deque[tuple[int, int]] = deque()
        self._started: bytes | None = None
        if timing is not None:
            self._read_timing(timing)
        self._timed = bool(self._steps)
        self._start_ms: int | None = None
        self._rest = b""
        self._offset = 0
        self._at_line_start = True

    @property
    def time_basis(self) -> TimeBasis:
        if not self._timed:
            return TimeBasis.NONE
        return TimeBasis.CLOCK if self._start_ms is None else self._stamps.basis

    def receive(self, block: bytes) -> list[Chunk]:
        return self._read(block, last=False)

    def finish(self) -> list[Chunk]:
        return self._read(b"", last=True)

    def _read_timing(self, timing: bytes) -> None:
        at_us = 0
        for line in timing.split(b"\n"):
            if match := _CLASSIC().match(line):
                at_us += _microseconds(match[1])
                self._steps.append((at_us, int(match[2])))
            elif match := _ADVANCED().match(line):
                at_us += _microseconds(match[2])
                if match[1] == b"O":
                    self._steps.append((at_us, int(match[3])))
            elif match := _OTHER().match(line):
                at_us += _microseconds(match[2])
                if match[3].startswith(b"START_TIME "):
                    self._started = match[3]

    def _read(self, block: bytes, *, last: bool) -> list[Chunk]:
        data = self._rest + block
        begin = data.rfind(b"\n") + 1
        tail = data[begin : begin + _MAX_LINE]
        own = (begin > 0 or self._at_line_start) and (tail.startswith(_WORD) or _WORD.startswith(tail))
        hold = begin if own and len(tail) < _MAX_LINE and not last else len(data)
        ready, self._rest = data[:hold], data[hold:]
        out: list[Chunk] = []
        sent = 0
        if _WORD in ready:
            for match in _OWN_LINE().finditer(ready):
                if match.start() or self._at_line_start:
                    self._emit(ready[sent : match.start()], self._offset + sent, out)
                    self._note_header(match[0])
                    sent = match.end()
        self._emit(ready[sent:], self._offset + sent, out)
        if ready:
            self._at_line_start = ready.endswith(b"\n")
            self._offset += len(ready)
        return out

    def _note_header(self, line: bytes) -> None:
        if self._start_ms is None and self._timed and line.startswith(b"Script started"):
            found = parse_header_date(line.decode("latin-1"))
            if found is None and self._started is not None:
                found = parse_header_date(self._started.decode("latin-1"))
            if found is not None:
                self._start_ms = self._stamps.from_wall(*found)

    def _emit(self, data: bytes, offset: int, out: list[Chunk]) -> None:
        if not data:
            return
        if not self._timed:
            out.append(Chunk(data, offset))
            return
        position = 0
        while position < len(data):
            if not self._steps:
                out.append(Chunk(data[position:], offset + position))
                return
            at_us, count = self._steps[0]
            piece = data[position : position + count]
            at_ms = at_us // 1000 + (self._start_ms or 0)
            if piece:
                out.append(Chunk(piece, offset + position, at_ms))
            position += len(piece)
            if len(piece) == count:
                self._steps.popleft()
            else:
                self._steps[0] = (at_us, count - len(piece))


def _microseconds(text: bytes) -> int:
    whole, _, fraction = text.partition(b".")
    return int(whole) * 1_000_000 + int(fraction[:6].ljust(6, b"0"))
