"""The passwords of this connection, known again when they are typed, or said by the server, where no password is asked
for. Pure.

They are kept in memory alone, as a salted digest and a length each: enough to find them, not to read them. A few bits
of a checksum save most of the digests.
"""

from __future__ import annotations

import hashlib
import re
import secrets
import string
import zlib
from collections import deque
from collections.abc import Iterator
from typing import Final

from recorder.patterns import later

__all__ = ["SHORTEST", "SHORTEST_WORD", "KnownSecrets", "plain_text"]

SHORTEST: Final = 3
"""Anything shorter is found in every second command."""
SHORTEST_WORD: Final = 6
"""Anything shorter may be an ordinary word of what the server says."""
_MOST: Final = 8
_MARKS: Final = string.punctuation.encode()
_BLANKS: Final = bytes.maketrans(bytes((*range(32), 127)), b" " * 33)
# Colours and telnet commands: no text, though the next word follows at once.
_NO_TEXT: Final = later(rb"\x1b\[[0-9;?]*+[A-Za-z]|\xff(?:[\xfb-\xfe].|[\xf0-\xfa])", re.S)
_WORD: Final = later(rb"[^ ]++")


class KnownSecrets:
    """Remembers secrets and finds them in other text.

    Attributes:
        longest: the length of the longest one; 0: there is none.
    """

    def __init__(self) -> None:
        self._salt = secrets.token_bytes(16)
        self._known: deque[tuple[int, int, bytes]] = deque(maxlen=_MOST)
        self._shortest = 0
        self.longest = 0

    def learn(self, secret: bytes) -> None:
        """Remember a secret, if it is long enough to be told from other words."""
        if len(secret) >= SHORTEST:
            known = (len(secret), _check(secret), self._digest(secret))
            if known not in self._known:
                self._known.append(known)
                self._shortest = min(length for length, _, _ in self._known)
                self.longest = max(length for length, _, _ in self._known)

    def find(self, text: bytes) -> list[tuple[int, int]]:
        """Where secrets stand in a text: begins and ends, in order; they may overlap."""
        places = []
        for length, check, digest in self._known:
            for begin in range(len(text) - length + 1):
                word = text[begin : begin + length]
                if _check(word) == check and self._digest(word) == digest:
                    places.append((begin, begin + length))
        return sorted(places)

    def has_word(self, text: bytes) -> bool:
        """Whether ``find_words`` finds any."""
        shortest = self._shortest
        long = [word for word in plain_text(text).split() if len(word) >= shortest]
        return any(True for word in long for _ in self._places(word))

    def find_words(self, text: bytes) -> list[tuple[int, int]]:
        """Where secrets stand in a text as whole words: between blanks, control characters and the ends, and without
        punctuation on either side; begins and ends, in order.
        """
        places = []
        for word in _WORD().finditer(plain_text(text)):
            start = word.start()
            places += [(start + begin, start + end) for begin, end in self._places(word[0])]
        return places

    def _places(self, word: bytes) -> Iterator[tuple[int, int]]:
        """Where a secret stands between a word's punctuation."""
        size = len(word)
        for length, check, digest in self._known:
            more = size - length
            if more < 0:
                continue
            first = last = 0  # where it may begin
            if more:
                lead, trail = size - len(word.lstrip(_MARKS)), size - len(word.rstrip(_MARKS))
                first, last = max(more - trail, 0), min(lead, more)
            for begin in range(first, last + 1):
                part = word[begin : begin + length]
                if _check(part) == check and self._digest(part) == digest:
                    yield begin, begin + length

    def _digest(self, text: bytes) -> bytes:
        return hashlib.blake2b(text, digest_size=16, key=self._salt).digest()


def plain_text(text: bytes) -> bytes:
    """A text with blanks for all that belongs to no word."""
    if b"\x1b" in text or b"\xff" in text:
        text = _NO_TEXT().sub(lambda match: b" " * len(match[0]), text)
    return text.translate(_BLANKS)


def _check(text: bytes) -> int:
    return zlib.crc32(text) & 0xFFF
