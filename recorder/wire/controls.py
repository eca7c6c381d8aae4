"""Control sequences in the incoming bytes: telnet commands, reply blocks, and ICC's units and datagrams.

Sources: RFC 854 (old servers do not double an ``FF`` in text, so an ``FF`` before a plain character is text); FICS help
page ``iv_block``; ICC's formats2.txt, as restated in the protocol reference: a datagram is ``\\x19(`` number arguments
``\\x19)``, and in a string ``\\x19{ … \\x19}`` only its end is a mark.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from recorder.events import Line
from recorder.events.frames import ReplyBlock
from recorder.events.lines import LineRow

_IAC: Final = 0xFF
_WILL: Final = 0xFB  # from here to 0xFE a command has an option byte, which may be any byte
_SE: Final = 0xF0  # the lowest command
_SB: Final = 0xFA  # begins a subnegotiation, which IAC SE ends
_LONGEST_SUBNEGOTIATION: Final = 256
_DEEPEST_UNIT: Final = 3


class TelnetFilter:
    """Removes telnet commands, also those that are split over chunks, and subnegotiations that are in one line.

    ``rest`` is the beginning of a command whose end has not arrived yet, at ``rest_offset`` in the source.
    """

    def __init__(self) -> None:
        self.rest = b""
        self.rest_offset = 0

    def receive(self, data: bytes, offset: int) -> Iterator[tuple[bytes, int]]:
        """Remove telnet commands (``FF FF`` is one ``FF``), and yield the pieces between them, each with its offset."""
        if self.rest:
            data, offset = self.rest + data, offset - len(self.rest)
            self.rest = b""
        position = 0
        while (index := data.find(b"\xff", position)) >= 0:
            if index > position:
                yield data[position:index], offset + position
            command = data[index + 1] if index + 1 < len(data) else None
            if command is None or (_WILL <= command < _IAC and index + 2 >= len(data)):
                self.rest, self.rest_offset = data[index:], offset + index
                return
            if command == _SB:
                limit = index + _LONGEST_SUBNEGOTIATION
                line_end = data.find(b"\n", index, limit)
                end = data.find(b"\xff\xf0", index + 2, limit if line_end < 0 else line_end)
                if end < 0 and line_end < 0 and len(data) < limit:
                    self.rest, self.rest_offset = data[index:], offset + index
                    return
                position = index + 2 if end < 0 else end + 2
            elif command == _IAC:
                yield b"\xff", offset + index + 1
                position = index + 2
            elif command >= _SE:
                position = index + (3 if command >= _WILL else 2)
            else:
                yield b"\xff", offset + index
                position = index + 1
        if position < len(data):
            yield data[position:], offset + position


class OpenDatagram:
    """What was received of a datagram, if one is open; ``start`` is the offset of its ``\\x19(``."""

    def __init__(self) -> None:
        self.open = False
        self.start = 0
        self.size = 0
        self._string = False
        self._parts: list[str] = []

    def begin(self, start: int) -> None:
        self.open = True
        self.start = start
        self.size = 0
        self._string = False
        self._parts.clear()

    def add(self, text: str) -> None:
        self._parts.append(text)
        self.size += len(text)

    def obey(self, mark: str) -> bool | None:
        """Process ``\\x19`` and the character after it. True: it goes on; False: it is whole; None: it is cut."""
        if not self._string:
            if mark in ("\x19(", "\x19["):
                return None
            if mark == "\x19)":
                self.add(mark)
                return False
        if mark in ("\x19{", "\x19}"):
            self._string = mark == "\x19{"
        self.add(mark)
        return True

    def close(self) -> str:
        self.open = False
        return ("\x19(" + "".join(self._parts)).rstrip("\n")


class Controls:
    """The reply blocks, units and datagram that are open.

    ``block`` is the reply block that lines are in. ``header``: the next text is the header of a unit.
    """

    def __init__(self) -> None:
        self.block: ReplyBlock | None = None
        self.header = False
        self.datagram = OpenDatagram()
        self._outer: list[ReplyBlock | None] = []  # blocks around posed output
        self._units = 0  # open ICC level-1 units

    def reset(self) -> None:
        self.block = None
        self.header = False
        self._outer.clear()
        self._units = 0

    def obey(self, token: re.Match[bytes], start: int, at_ms: int | None, out: list[LineRow]) -> None:
        """Open or close what a control sequence says; ``start`` is the offset of the line."""
        mark = token[0]
        if self.datagram.open and mark != b"\x1a" and self._in_datagram(mark.decode("latin-1"), at_ms, out):
            return
        if mark == b"\x1a":
            self.end_datagram(at_ms, out)
            self._units = 0
            out.append(Line("\x1a", start + token.start(), at_ms, self.block))
        elif token["code"] is not None:
            self.block = ReplyBlock(int(token["id"] or 0), int(token["code"] or 0))
        elif mark == b"\x17":
            self.block = None
        elif mark == b"\x18":
            self._outer = [*self._outer[-_DEEPEST_UNIT:], self.block]
            self.block = None
        elif mark == b"\x19":
            self.block = self._outer.pop() if self._outer else None
        elif mark == b"\x19[":
            self._units = min(self._units + 1, _DEEPEST_UNIT)
            self.header = True
        elif mark == b"\x19]" and self._units:
            self._units -= 1
            out.append(Line("\x19]", start + token.start(), at_ms, self.block))
        elif mark == b"\x19(":
            self.datagram.begin(start + token.start())

    def _in_datagram(self, mark: str, at_ms: int | None, out: list[LineRow]) -> bool:
        """Obey a control sequence inside a datagram; False if it shows that the datagram was cut off before it."""
        continues = self.datagram.obey(mark)
        if not continues:
            self.end_datagram(at_ms, out)
        return continues is not None

    def end_datagram(self, at_ms: int | None, out: list[LineRow]) -> None:
        if self.datagram.open:
            start = self.datagram.start
            out.append(Line(self.datagram.close(), start, at_ms, self.block))
