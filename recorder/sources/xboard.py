"""Debug files of xboard and WinBoard (``-debug``).

``<ICS: `` stands before the bytes of one read, control and high bytes as ``\\ooo``; a backslash itself is not escaped,
so only the triples that the program writes (000-037, 177-377) are undone. Reads cut lines anywhere: their bytes are
joined before lines are cut. ``1235 <first : `` stands before a line that an engine said, ``>first : `` before what it
was told, with milliseconds since the program's start. Everything else in the file is the program's own or goes to the
server. Source: xboard backend.c (show_bytes, read_from_ics, SendToProgram, ReceiveFromProgram).
"""

from __future__ import annotations

import re
from typing import Final

from recorder.events import Chunk, EngineLine
from recorder.model import TimeBasis
from recorder.patterns import later
from recorder.sources.base import LineSplitter

__all__ = ["ENGINE_ENTRY", "ENTRY", "XboardDecoder"]

# The program does not end its lines about telnet options, so an entry may follow them directly.
_TELNET: Final = rb"(?:<(?:WILL|WONT|DO|DONT) \S+ (?:>(?:WILL|WONT|DO|DONT) \S+ )?)*"
ENTRY: Final = re.compile(_TELNET + rb"<ICS: ")
ENGINE_ENTRY: Final = re.compile(_TELNET + rb"([0-9]{1,12}) ([<>])(first|second) ?: ")
# The word and its move are sent one after the other, and each is logged.
_GLUED: Final = later(rb"^(usermove )[0-9]{1,12} >(?:first|second) ?: ")
# What the program sends in one go, line ends within: only the first line has a mark before it.
_SECOND_LINE: Final = {
    b"xboard": re.compile(rb"protover [0-9]+"),
    b"new": re.compile(rb"random"),
    b"depth": re.compile(rb"[0-9]+"),
}
_ESCAPE: Final = later(rb"\\(0[0-3][0-7]|177|[23][0-7]{2})")
_LINE: Final = later(rb"(?:(?!\\012).)*(?:\\012(?:\\015)*)?", re.DOTALL)


class XboardDecoder:
    """Gives the bytes of the ``<ICS: `` entries, cut so that every server line begins at a chunk's first byte.

    Between them stand the engines' lines, in the order of the file.
    """

    time_basis = TimeBasis.NONE  # of the server's bytes; engines' lines have milliseconds since the program's start

    def __init__(self) -> None:
        self._lines = LineSplitter()
        self._told: EngineLine | None = None

    def receive(self, block: bytes) -> list[Chunk | EngineLine]:
        return [part for line, offset in self._lines.receive(block) for part in self._read(line, offset)]

    def finish(self) -> list[Chunk | EngineLine]:
        return [part for line, offset in self._lines.finish() for part in self._read(line, offset)]

    def _read(self, line: bytes, offset: int) -> list[Chunk] | list[EngineLine]:
        told, self._told = self._told, None
        if (entry := ENTRY.match(line)) is not None:
            text = line.removesuffix(b"\r")
            pieces = _LINE().finditer(text, entry.end())
            return [Chunk(_ESCAPE().sub(_byte, piece[0]), offset + piece.start()) for piece in pieces if piece[0]]
        if (engine := ENGINE_ENTRY.match(line)) is not None:
            text = _GLUED().sub(rb"\1", line[engine.end() :].rstrip(b"\r"))
            found = EngineLine(text.decode("latin-1"), engine[3].decode(), engine[2] == b">", offset, int(engine[1]))
            self._told = found if found.told else None
            return [found]
        if told is not None:
            more = _SECOND_LINE.get(told.text.encode("latin-1"))
            if more is not None and more.fullmatch(line.rstrip(b"\r")):
                return [told._replace(text=line.rstrip(b"\r").decode("latin-1"), offset=offset)]
        return []


def _byte(match: re.Match[bytes]) -> bytes:
    return bytes((int(match[1], 8),))
