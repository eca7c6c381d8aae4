"""A client's bytes → its lines, each with what can be read of it, plain and sealed. Pure."""

from __future__ import annotations

import re
from collections import deque
from typing import Final, NamedTuple

from recorder.wire.controls import TelnetFilter
from recorder.wire.timeseal import PING_ANSWER, is_own_talk, unseal

_LONGEST_LINE: Final = 1 << 16
"""A line that is longer is no command."""

# zipseal's stamp is not sealed.
_STAMP: Final = re.compile(rb"\x18[0-9a-fA-F]{1,16}\Z")
_CONTROLS: Final = re.compile(rb"[\x00-\x07\x0b\x0c\x0e-\x1a\x1c-\x1f]")
_ERASES_LINE: Final = 0x15
_END: Final = re.compile(rb"[\r\n]")
_BLANK: Final = b"\r\x00 \t"
_ERASER: Final = re.compile(rb"[\x00-\x08\x0b-\x1f\x7f]")
_SEAL_BYTES: Final = re.compile(rb"[\x60-\xdf]{12,}[\x80-\xb1]")


class TimedBytes(NamedTuple):
    """Bytes that may be recorded, and when they arrived, in nanoseconds."""

    at_ns: int
    data: bytes


class Typed(NamedTuple):
    """A line of the client: its bytes as they arrived, and its text without telnet commands, seal and line end."""

    pieces: list[TimedBytes]
    text: bytes = b""
    lead: int | None = None  # where the text begins in the bytes; None: not contiguous, sealed, or unreadable
    own: bool = False  # of the seal's own protocol, and not typed
    sealed: bool = False
    odd: bool = False  # no command: it has control characters or may be sealed

    @property
    def raw(self) -> bytes:
        return b"".join([data for _, data in self.pieces])


class ClientLines:
    """Cuts the client's bytes into lines and keeps when each byte came.

    Lines end at ``\\n``, at telnet's CR NUL, and at a CR that something else follows and something to be seen precedes:
    some clients know no other end, and the line after it must not hide behind it.
    """

    def __init__(self) -> None:
        self._telnet = TelnetFilter()
        self._offset = 0
        self._pieces: deque[TimedBytes] = deque()
        self._begin = 0  # where they begin
        self._text = bytearray()
        self._first: int | None = None  # where the text begins
        self._long = False
        self._return: int | None = None  # where the CR ends that was the last of the text
        self._rest = False  # the line was cut behind a CR whose other half may still come

    @property
    def begun(self) -> bytes:
        return bytes(self._text[:_LONGEST_LINE].strip(_BLANK))

    def receive(self, data: bytes, at_ns: int) -> list[Typed]:
        lines: list[Typed] = []
        if not data:
            return lines
        self._pieces.append(TimedBytes(at_ns, data))
        for piece, offset in self._telnet.receive(data, self._offset):
            done = 0
            while done < len(piece):
                done = self._read(piece, done, offset, lines)
        self._offset += len(data)
        if self._offset - self._begin > _LONGEST_LINE:
            # A command has no such length. Its rest may be anything, too.
            lines.append(self._line(self._offset))
            self._long = True
        return lines

    def cut(self) -> Typed | None:
        """The line that a CR has ended, if nothing came since: the server has answered and does not wait for more."""
        if self._return is None or not self.begun:
            return None
        line = self._line(self._return)
        self._rest = True
        return line

    def finish(self) -> Typed | None:
        return self._line(self._offset) if self._offset > self._begin else None

    def _read(self, piece: bytes, begin: int, offset: int, lines: list[Typed]) -> int:
        """Take text up to the next place where a line may end; return where that is."""
        first = piece[begin : begin + 1]
        rest, self._rest = self._rest, False
        if first in ((b"\n", b"\x00") if rest else (b"\x00",) if self._return is not None else ()):
            self._add(first, offset + begin)
            lines.append(self._line(offset + begin + 1))
            return begin + 1
        if self._return is not None and first not in b"\r\n" and self.begun:
            lines.append(self._line(self._return))
        self._return = None
        match = _END.search(piece, begin)
        end = len(piece) if match is None else match.end()
        self._add(piece[begin:end], offset + begin)
        if match is not None and match[0] == b"\n":
            lines.append(self._line(offset + end))
        elif match is not None:
            self._return = offset + end
        return end

    def _add(self, text: bytes, offset: int) -> None:
        if text and self._first is None:
            self._first = offset
        self._text += text

    def _line(self, end: int) -> Typed:
        pieces: list[TimedBytes] = []
        begin, text, first = self._begin, bytes(self._text), self._first
        while self._begin < end:
            at_ns, piece = self._pieces.popleft()
            if len(piece) > end - self._begin:
                self._pieces.appendleft(TimedBytes(at_ns, piece[end - self._begin :]))
                piece = piece[: end - self._begin]
            pieces.append(TimedBytes(at_ns, piece))
            self._begin += len(piece)
        self._text.clear()
        self._first = self._return = None
        long, self._long = self._long, False
        if long or len(text) > _LONGEST_LINE:
            return Typed(pieces)
        return _typed(pieces, text, 0 if first is None else first - begin)


def _typed(pieces: list[TimedBytes], text: bytes, lead: int) -> Typed:
    """The text begins at ``lead`` of the bytes."""
    body = text.rstrip(b"\r\n\x00")
    if (unsealed := unseal(body)) is not None:
        return Typed(pieces, unsealed[0], None, is_own_talk(unsealed[0]), True)
    whole = b"".join([data for _, data in pieces])[lead : lead + len(body)] == body
    if stamp := _STAMP.search(body):
        body = body[: stamp.start()]
    if body == PING_ANSWER:
        return Typed(pieces, body, lead, own=True)
    if _CONTROLS.search(body) or _SEAL_BYTES.fullmatch(body):
        return Typed(pieces, body, None, sealed=True, odd=True)
    return Typed(pieces, body, lead if whole else None)


def corrected(text: bytes) -> bytes:
    """A line after applying a terminal's erasing characters, without other control characters."""
    if _ERASER.search(text) is None:
        return text
    kept = bytearray()
    for byte in text:
        if byte in b"\x08\x7f":
            del kept[-1:]
        elif byte == _ERASES_LINE:
            kept.clear()
        elif byte >= 0x20 or byte == 0x09:
            kept.append(byte)
    return bytes(kept)
