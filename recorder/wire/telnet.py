"""Telnet commands in the incoming bytes.

Source: RFC 854. Old servers do not double an ``FF`` in text, so an ``FF`` before a plain character is text.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

__all__ = ["TelnetFilter"]

_IAC: Final = 0xFF
_WILL: Final = 0xFB  # from here to 0xFE a command has an option byte, which may be any byte
_SE: Final = 0xF0  # the lowest command


class TelnetFilter:
    """Takes telnet commands out, also those that are split over chunks.

    Attributes:
        rest: the beginning of a command whose end has not come yet.
        rest_offset: its place in the source.
    """

    def __init__(self) -> None:
        self.rest = b""
        self.rest_offset = 0

    def receive(self, data: bytes, offset: int) -> Iterator[tuple[bytes, int]]:
        """Give the pieces between commands with their offsets; ``FF FF`` is one ``FF``."""
        if self.rest:
            data, offset = self.rest + data, offset - len(self.rest)
            self.rest = b""
        position = 0
        while (found := data.find(b"\xff", position)) >= 0:
            if found > position:
                yield data[position:found], offset + position
            command = data[found + 1] if found + 1 < len(data) else None
            if command is None or (_WILL <= command < _IAC and found + 2 >= len(data)):
                self.rest, self.rest_offset = data[found:], offset + found
                return
            if command == _IAC:
                yield b"\xff", offset + found + 1
                position = found + 2
            elif command >= _SE:
                position = found + (3 if command >= _WILL else 2)
            else:
                yield b"\xff", offset + found
                position = found + 1
        if position < len(data):
            yield data[position:], offset + position
