"""The time seal: what a client sends stamped and disguised, the server's pings, and a client's sealed lines.

A sealed line is its text, ``\x18``, a stamp in milliseconds, ``\x19`` and filling up to a multiple of 12 bytes; then
some bytes of each 12 change places, every byte is mixed with a key, and a last byte is the start in the key.
The disguise takes each byte's top bit, so only 7 bits of a character travel.

Source: the clients openseal and zseal and the server FatICS agree on it; FICS publishes no description.

Pings stay in the server's bytes: their reader skips them.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

PING_ANSWER: Final = b"\x029"

_KEY: Final = b"Timestamp (FICS) v1.0 - programmed by Henrik Gram."
_GROUP: Final = 12
_SWAPS: Final = ((0, 11), (2, 9), (4, 7))
_TOP: Final = 0x80
_SHIFT: Final = 32
_PADDING: Final = b"1"
# Clients choose the padding, but none uses the marks in it; so the last stamp is the line's.
_SEALED: Final = re.compile(rb"(?P<text>.*)\x18(?P<stamp>[0-9]{1,20})\x19[^\x18\x19]*", re.S)
_GREETINGS: Final = (b"TIMESTAMP|", b"TIMESEAL2|", b"ZIPSEAL|")
_HELLOS: Final = {1: "TIMESTAMP", 2: "TIMESEAL2"}
_PING_LINE: Final = b"[G]"
_PING: Final = b"[G]\x00"
_BLANK: Final = b"\r\x07\x00"
_LONGEST_PING_LINE: Final = 64


def seal(line: bytes, stamp_ms: int, offset: int = 0) -> bytes:
    """Seal a line without its end. ``offset`` is where in the key to begin; ``stamp_ms`` counts from any moment."""
    if not line.isascii():
        raise ValueError("a sealed line has only 7-bit characters")
    if stamp_ms < 0 or not 0 <= offset < len(_KEY):
        raise ValueError(f"a seal's stamp is not negative and its offset 0 to {len(_KEY) - 1}")
    plain = bytearray(b"%b\x18%d\x19" % (line, stamp_ms))
    plain += _PADDING * (-len(plain) % _GROUP)
    _swap(plain)
    mixed = bytes(((byte | _TOP) ^ _key(index + offset)) - _SHIFT for index, byte in enumerate(plain))
    return mixed + bytes((_TOP | offset, 0x0A))


def unseal(line: bytes) -> tuple[bytes, int] | None:
    """Return the text of a sealed line, with or without its line end, and its stamp; None: it is no sealed line."""
    line = line.rstrip(b"\r\n")
    if len(line) % _GROUP != 1 or not _TOP <= line[-1] < _TOP + len(_KEY):
        return None
    offset = line[-1] - _TOP
    plain = bytearray()
    for index, byte in enumerate(line[:-1]):
        mixed = (byte + _SHIFT) & 0xFF
        if not mixed & _TOP:
            return None
        plain.append((mixed ^ _key(index + offset)) & ~_TOP)
    _swap(plain)
    match = _SEALED.fullmatch(plain)
    return None if match is None else (bytes(match["text"]), int(match["stamp"]))


def is_own_talk(text: bytes) -> bool:
    """Return whether an unsealed line is part of the seal's own protocol: its greeting, the answer to a ping."""
    return text == PING_ANSWER or text.startswith(_GREETINGS)


def as_typed(line: bytes) -> bytes | None:
    """Read a line of a client, sealed or not; None: it is part of the seal's own protocol."""
    opened = unseal(line)
    text = line if opened is None else opened[0]
    return None if is_own_talk(text) and (opened is not None or text == PING_ANSWER) else text


def format_hello(version: int, user: str, system: str) -> bytes:
    """The user's name is reported to the server."""
    return f"{_HELLOS[version]}|{user}|{system}|".encode("ascii", "replace")


class Pings(NamedTuple):
    number: int
    answer: bytes  # one sealed line a ping; send it at once


class PingReader:
    """Finds the server's pings, however reads cut them.

    Version 1 writes a line ``[G]``; version 2 writes ``[G]`` and a zero byte anywhere, inside a line too.
    """

    def __init__(self, version: int) -> None:
        if version not in _HELLOS:
            raise ValueError("a time seal has version 1 or 2")
        self._find = self._find_lines if version == 1 else self._find_anywhere
        self._rest = b""  # what has come of a line, or the last bytes, in which a ping may begin

    def receive(self, data: bytes, stamp_ms: int) -> Pings:
        count = self._find(data)
        return Pings(count, seal(PING_ANSWER, stamp_ms) * count if count else b"")

    def _find_anywhere(self, data: bytes) -> int:
        data = self._rest + data
        self._rest = data[-len(_PING) + 1 :]
        return data.count(_PING)

    def _find_lines(self, data: bytes) -> int:
        *lines, last = (self._rest + data).split(b"\n")
        self._rest = last[:_LONGEST_PING_LINE]  # longer ones are no pings, and their rest does not matter
        return sum(len(line) < _LONGEST_PING_LINE and line.translate(None, _BLANK) == _PING_LINE for line in lines)


def _key(index: int) -> int:
    return _KEY[index % len(_KEY)]


def _swap(plain: bytearray) -> None:
    """Change places inside each group; doing it twice undoes it."""
    for group in range(0, len(plain) - _GROUP + 1, _GROUP):
        for one, other in _SWAPS:
            a, b = group + one, group + other
            plain[a], plain[b] = plain[b], plain[a]


_WHO: Final = "ics-recorder"
_WHERE: Final = "python"  # the machine's name stays private
_LARGEST_STAMP_MS: Final = 10_000_000  # the seal's own clients begin again there


class Sealing:
    """Seals the lines that are sent on one connection; all its times are of one clock."""

    def __init__(self, version: int) -> None:
        self.version = version
        self._pings = PingReader(version)

    def hello(self, now_ms: int) -> bytes:
        return seal(format_hello(self.version, _WHO, _WHERE), now_ms % _LARGEST_STAMP_MS)

    def seal_lines(self, lines: bytes, now_ms: int) -> bytes:
        return b"".join(seal(line, now_ms % _LARGEST_STAMP_MS) for line in lines.split(b"\n")[:-1])

    def answers(self, data: bytes, now_ms: int) -> bytes:
        return self._pings.receive(data, now_ms % _LARGEST_STAMP_MS).answer
