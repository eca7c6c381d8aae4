"""The passwords of this connection, known again when they are typed where no password is asked for. Pure.

They are kept in memory alone, as a salted digest and a length each: enough to find them, not to read them. A few bits
of a checksum save most of the digests.
"""

from __future__ import annotations

import hashlib
import secrets
import zlib
from collections import deque
from typing import Final

__all__ = ["SHORTEST", "KnownSecrets"]

SHORTEST: Final = 3
"""Anything shorter is found in every second command."""
_MOST: Final = 8


class KnownSecrets:
    """Remembers secrets and finds them in what is typed later."""

    def __init__(self) -> None:
        self._salt = secrets.token_bytes(16)
        self._known: deque[tuple[int, int, bytes]] = deque(maxlen=_MOST)

    def learn(self, secret: bytes) -> None:
        """Remember a secret, if it is long enough to be told from other words."""
        if len(secret) >= SHORTEST:
            known = (len(secret), _check(secret), self._digest(secret))
            if known not in self._known:
                self._known.append(known)

    def find(self, text: bytes) -> list[tuple[int, int]]:
        """Where secrets stand in a text: begins and ends, in order; they may overlap."""
        places = []
        for length, check, digest in self._known:
            for begin in range(len(text) - length + 1):
                word = text[begin : begin + length]
                if _check(word) == check and self._digest(word) == digest:
                    places.append((begin, begin + length))
        return sorted(places)

    def _digest(self, text: bytes) -> bytes:
        return hashlib.blake2b(text, digest_size=16, key=self._salt).digest()


def _check(text: bytes) -> int:
    return zlib.crc32(text) & 0xFFF
