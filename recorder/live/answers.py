"""What a server says → what of it may be kept: it repeats passwords in some of its answers."""

from __future__ import annotations

import re
from typing import Final

from recorder.sources.scrub import FILLER, fill, fill_key, find_repeated

__all__ = ["AnswerGuard"]

_REPEATS: Final = (b"password", b"added: >")  # in lower case
_ANSWER_BYTES: Final = 4096
_MOST: Final = 32
"""So many passwords are looked for at a time."""
_LONGEST_WORDS: Final = 1024  # before such a password: name and address of a new player among them
# ICC's datagrams that carry a password or the key of a session.
_KEY: Final = re.compile(rb"\x19\((?:93|114|134) ")
_KEY_END: Final = b"\x19)"
_LONGEST_KEY_MARK: Final = 7
_PIECE: Final = re.compile(rb"[^\n]*\n|[^\n]+")


class AnswerGuard:
    """Replaces the passwords that a server repeats: in its answers to commands that change or make them, and soon after
    one was typed.

    The server's words come before the password, so nothing has to be held back. Where a read ends within a repeated
    password, its first two letters may stay.
    """

    def __init__(self) -> None:
        self._line = b""  # what has come of a line, up to the longest beginning that could matter
        self._repeated: dict[bytes, int] = {}  # secret → how many of the server's bytes are looked at for it
        self._last = b""  # the end of what came
        self._in_key = False  # inside a datagram that carries a secret
        self._before = b""  # the end of what came, in which such a datagram's mark or end may begin

    def expect(self, secret: bytes) -> None:
        """A secret was typed: the server may echo it, or "hunter2: Command not found." may follow."""
        self._repeated.pop(secret, None)
        self._repeated[secret] = _ANSWER_BYTES
        if len(self._repeated) > _MOST:
            del self._repeated[next(iter(self._repeated))]

    def receive(self, data: bytes) -> bytes:
        """Return the server's bytes as they may be journalled: as many, at once."""
        clean = self._clean_change(data)
        if self._in_key or b"\x19" in data or b"\x19" in self._before:
            clean = self._clean_keys(data, clean)
        self._before = (self._before + data)[1 - _LONGEST_KEY_MARK :]
        return self._clean_answer(data, clean) if self._repeated else clean

    def _clean_keys(self, data: bytes, clean: bytes) -> bytes:
        """Replace what datagrams with secrets carry."""
        out = bytearray(clean)
        seen, ahead = self._before + data, len(self._before)
        at = begin = ahead
        if self._in_key:
            at = max(ahead - 1, 0)  # the first byte of its end may have come
        while True:
            if not self._in_key:
                marks = _KEY.finditer(seen, at if at > ahead else 0)
                mark = next((mark for mark in marks if mark.end() > ahead), None)
                if mark is None:
                    return bytes(out)
                self._in_key, at, begin = True, mark.end(), mark.end()
            end = seen.find(_KEY_END, at)
            first, last = begin - ahead, (len(seen) if end < 0 else max(end, begin)) - ahead
            out[first:last] = fill_key(bytes(out[first:last]))
            if end < 0:
                return bytes(out)
            self._in_key, at = False, end + len(_KEY_END)

    def _clean_answer(self, data: bytes, clean: bytes) -> bytes:
        out = bytearray(self._last + clean)
        seen = self._last + data
        for secret, left in list(self._repeated.items()):
            begin = seen.find(secret)
            while begin >= 0:
                out[begin : begin + len(secret)] = FILLER * len(secret)
                begin = seen.find(secret, begin + len(secret))
            for size in range(len(secret) - 1, 2, -1):
                if seen.endswith(secret[:size]):
                    out[len(out) - size :] = FILLER * size
                    break
            if left > len(data):
                self._repeated[secret] = left - len(data)
            else:
                del self._repeated[secret]
        done = len(self._last)
        longest = max(map(len, self._repeated), default=1)
        self._last = seen[max(len(seen) - longest + 1, 0) :]
        return bytes(out[done:])

    def _clean_change(self, data: bytes) -> bytes:
        lower = (self._line + data).lower()
        if not any(word in lower for word in _REPEATS):
            self._line = (self._line + data).rpartition(b"\n")[2][:_LONGEST_WORDS]
            return data
        out = bytearray()
        for piece in _PIECE.findall(data):
            line = self._line + piece
            begin = find_repeated(line)
            kept = len(piece) if begin is None else max(0, begin - len(self._line))
            out += piece[:kept] + fill(piece[kept:])
            known = _LONGEST_WORDS if begin is None else begin + 1
            self._line = b"" if piece.endswith(b"\n") else line[:known]
        return bytes(out)
