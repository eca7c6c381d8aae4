"""Which sources are the beginnings of longer ones: a log that has grown takes the place of its earlier part.

A data set keeps no bytes. Of each source it has hashes of its first 16, 32, 64 … bytes, which find the few sources that
may be the beginning of a log; that log is then read again, up to their ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

__all__ = ["DOUBLINGS", "Text", "doublings_of", "possible_parts"]

DOUBLINGS: Final = tuple(1 << exponent for exponent in range(4, 48))
"""Sizes in bytes."""
_DIGITS: Final = 16


class Text(NamedTuple):
    """The bytes of a source.

    Attributes:
        sha256, name, size_bytes: of the source. doublings: as ``doublings_of`` gives them; empty: unknown.
    """

    sha256: str
    name: str
    size_bytes: int
    doublings: Sequence[str]


def doublings_of(marks: Mapping[int, str]) -> list[str]:
    """The first digits of the hashes of a source's first 16, 32, 64 … bytes, as far as it goes.

    Args:
        marks: size → hash of the bytes up to there.
    """
    return [marks[size][:_DIGITS] for size in DOUBLINGS if size in marks]


def possible_parts(texts: Iterable[Text], wholes: Iterable[Text]) -> dict[str, list[Text]]:
    """Find the texts that may be the beginnings of longer ones: at least half of each is equal.

    Args:
        texts: that are looked for; of one without doublings the name must be equal. wholes: the longer ones.
    Returns:
        SHA-256 of a whole → its possible parts; only of those that have any.
    """
    by_half: dict[tuple[int, str], list[Text]] = {}
    for text in texts:
        half = (len(text.doublings), text.doublings[-1] if text.doublings else text.name)
        by_half.setdefault(half, []).append(text)
    found: dict[str, list[Text]] = {}
    for whole in wholes:
        halves = [(0, whole.name), *enumerate(whole.doublings, 1)]
        alike = [text for half in halves for text in by_half.get(half, ()) if text.size_bytes < whole.size_bytes]
        if alike:
            found[whole.sha256] = alike
    return found
