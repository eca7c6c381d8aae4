"""Debug files of xboard and WinBoard (``-debug``).

``<ICS: `` stands before the bytes of one read, control and high bytes as ``\\ooo``; a backslash itself is not escaped,
so only the triples that the program writes (000-037, 177-377) are undone. Reads cut lines anywhere: their bytes are
joined before lines are cut. Everything else in the file is the program's own or goes to the server.
Source: xboard backend.c (show_bytes, read_from_ics).
"""

from __future__ import annotations

import re
from typing import Final

from recorder.events import Chunk
from recorder.model import TimeBasis
from recorder.sources.base import LineSplitter

__all__ = ["ENTRY", "XboardDecoder"]

# The program does not end its lines about telnet options, so an entry may follow them directly.
ENTRY: Final = re.compile(rb"(?:<(?:WILL|WONT|DO|DONT) \S+ (?:>(?:WILL|WONT|DO|DONT) \S+ )?)*<ICS: ")
_ESCAPE: Final = re.compile(rb"\\(0[0-3][0-7]|177|[23][0-7]{2})")
_LINE: Final = re.compile(rb"(?:(?!\\012).)*(?:\\012(?:\\015)*)?", re.DOTALL)


class XboardDecoder:
    """Gives the bytes of the ``<ICS: `` entries, cut so that every server line begins at a chunk's first byte."""

    time_basis = TimeBasis.NONE

    def __init__(self) -> None:
        self._lines = LineSplitter()

    def receive(self, block: bytes) -> list[Chunk]:
        return [chunk for line, offset in self._lines.receive(block) for chunk in _read_entry(line, offset)]

    def finish(self) -> list[Chunk]:
        return [chunk for line, offset in self._lines.finish() for chunk in _read_entry(line, offset)]


def _read_entry(line: bytes, offset: int) -> list[Chunk]:
    entry = ENTRY.match(line)
    if entry is None:
        return []
    text = line.removesuffix(b"\r")
    pieces = _LINE.finditer(text, entry.end())
    return [Chunk(_ESCAPE.sub(_byte, piece[0]), offset + piece.start()) for piece in pieces if piece[0]]


def _byte(match: re.Match[bytes]) -> bytes:
    return bytes((int(match[1], 8),))
