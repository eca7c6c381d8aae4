"""Which sources are the beginnings of longer ones: a log that has grown takes the place of its earlier part.

A data set keeps no bytes. Of each source it has hashes of its first 16, 32, 64 … bytes, which find the few sources that
may be the beginning of a log; that log is then read again, up to their ends.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from recorder.archive.importing import Outcome
from storage.dataset.records import SourceRecord

__all__ = ["DOUBLINGS", "doublings_of", "find_earlier", "find_wholes"]

DOUBLINGS: Final = tuple(1 << exponent for exponent in range(4, 48))
"""Sizes in bytes."""
_DIGITS: Final = 16


class _Text(NamedTuple):
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


def find_earlier(
    logs: Mapping[str, Outcome],
    records: Mapping[str, SourceRecord],
    look_again: Callable[[dict[str, list[int]]], list[Outcome]],
) -> dict[str, set[str]]:
    """Find which sources are the beginnings of logs of this run.

    Args:
        logs: of this run, by their hashes; ``marks`` has those at ``DOUBLINGS``.
        records: of the sources that are there, by their hashes.
        look_again: reads logs of this run again; takes the hash of each, and sizes at which the hash is wanted, too.
    Returns:
        Hash of a log → hashes of its earlier parts, which are logs of this run or there.
    """
    texts = [_Text(sha256, one.name, one.size_bytes, doublings_of(one.marks)) for sha256, one in logs.items()]
    there = [
        _Text(sha256, record.name, record.size_bytes, record.doublings)
        for sha256, record in records.items()
        if sha256 not in logs
    ]
    possible = _possible_parts([*texts, *there], texts)
    sizes = {sha256: [part.size_bytes for part in parts] for sha256, parts in possible.items()}
    found: dict[str, set[str]] = {}
    for (sha256, parts), outcome in zip(possible.items(), look_again(sizes), strict=True):
        equal = {part.sha256 for part in parts if outcome.marks.get(part.size_bytes) == part.sha256}
        if equal and outcome.sha256 == sha256:  # else it was changed meanwhile
            found[sha256] = equal
    return found


def find_wholes(
    earlier: Mapping[str, set[str]], logs: Mapping[str, Outcome], records: Mapping[str, SourceRecord]
) -> dict[str, Outcome]:
    """Find the longest log of which each earlier part is the beginning.

    Args:
        earlier: as ``find_earlier`` gives it, and of all records. logs, records: as for ``find_earlier``.
    Returns:
        Hash of the part → what becomes of the log.
    """
    wholes = {
        sha256: Outcome(record.name, "known", size_bytes=record.size_bytes) for sha256, record in records.items()
    } | dict(logs)
    found: dict[str, Outcome] = {}
    for sha256 in sorted(earlier, key=lambda sha256: (wholes[sha256].size_bytes, sha256)):
        found |= dict.fromkeys(earlier[sha256], wholes[sha256])
    return found


def _possible_parts(texts: Iterable[_Text], wholes: Iterable[_Text]) -> dict[str, list[_Text]]:
    """Find the texts that may be the beginnings of longer ones: at least half of each is equal.

    Args:
        texts: that are looked for; of one without doublings the name must be equal. wholes: the longer ones.
    Returns:
        SHA-256 of a whole → its possible parts; only of those that have any.
    """
    by_half: dict[tuple[int, str], list[_Text]] = {}
    for text in texts:
        half = (len(text.doublings), text.doublings[-1] if text.doublings else text.name)
        by_half.setdefault(half, []).append(text)
    found: dict[str, list[_Text]] = {}
    for whole in wholes:
        halves = [(0, whole.name), *enumerate(whole.doublings, 1)]
        alike = [text for half in halves for text in by_half.get(half, ()) if text.size_bytes < whole.size_bytes]
        if alike:
            found[whole.sha256] = alike
    return found
