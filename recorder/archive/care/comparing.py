"""What ``verify`` compares: counts of lines, and the parts of games."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest

from recorder.events import Chunk, CutLines, EngineLine
from recorder.model import SAVED_KINDS, Disposition, Game
from recorder.sources import SourceKind, make_decoder
from recorder.wire.controls import TelnetFilter

_Digest = dict[str, bytes]


_Place = tuple[int, int | None, str, str]


PartsByPlace = dict[_Place, list[_Digest]]  # both boards of a match without names can begin at one offset


class TagCounter:
    """Counts tags in the bytes that the server sent, without the code that reads lines."""

    def __init__(self, kind: SourceKind) -> None:
        self._decoder = None if kind in SAVED_KINDS else make_decoder(kind)
        self._telnet = TelnetFilter()
        self._counts = {"<12>": 0, "<b1>": 0}
        self._rest = b""

    def receive(self, block: bytes) -> None:
        if self._decoder is not None:
            self._count(self._decoder.receive(block))

    def finish(self) -> dict[str, int]:
        if self._decoder is not None:
            self._count(self._decoder.finish())
        return self._counts

    def _count(self, chunks: Sequence[Chunk | CutLines | EngineLine]) -> None:
        for chunk in chunks:
            if isinstance(chunk, EngineLine):
                continue
            if not chunk.data:
                self._rest = b""  # a gap: the bytes before it do not continue after it
                continue
            data = chunk.data
            if isinstance(chunk, Chunk):
                data = b"".join(piece for piece, _ in self._telnet.receive(data, chunk.offset))
            data = self._rest + data
            for tag in self._counts:
                self._counts[tag] += data.count(tag.encode())
            self._rest = data[-3:]  # a tag has four bytes, so none is counted twice


def compare_counts(
    tag: str, stored: Mapping[Disposition, int], reread: Mapping[Disposition, int], counted: int
) -> Iterable[str]:
    """Differences in the dispositions of ``<12>`` or ``<b1>`` lines, one sentence each.

    Args:
        counted: how often the tag occurs in the decoded bytes.
    """
    if sum(stored.values()) != counted:
        yield f"{tag} occurs {counted:,} times in the decoded bytes; {sum(stored.values()):,} dispositions are stored."
    for kind in sorted({*stored, *reread}, key=lambda kind: kind.value):
        before, now = stored.get(kind, 0), reread.get(kind, 0)
        if before != now:
            yield f"{tag} {kind.value}: {before:,} stored, {now:,} read again."


def _place(game: Game) -> _Place:
    return game.first_offset, game.game_no, game.white.handle, game.black.handle


def note_games(found: PartsByPlace, games: Iterable[Game]) -> None:
    for game in games:
        found.setdefault(_place(game), []).append(game_parts(game))


_NO_HEADERS = frozenset(
    ("key", "observations", "segments", "links", "merged_from", "evidence", "analyses", "found_opening")
)
"""Fields of a game that are no facts of its log; its opening follows from the moves and a table that may change."""


def game_parts(game: Game) -> dict[str, bytes]:
    """Hash each part of a game, so that a long log needs a few hundred bytes a game. The key is no part."""
    headers = [(name, getattr(game, name)) for name in game.__dataclass_fields__ if name not in _NO_HEADERS]
    seen = game.observations
    parts: dict[str, object] = {
        "headers": headers,
        "segments": game.segments,
        "plies": [[tuple(ply) for ply in line.plies] for one in seen for line in one.lines],
        "lines": [(line.number, line.kind, line.parent, line.parent_ply) for one in seen for line in one.lines],
        "positions": [[tuple(anchor) for anchor in one.anchors] for one in seen],
        # Without their numbers, because erasing a player's chat leaves gaps between them.
        "holdings": [[tuple(change)[1:] for change in one.holdings] for one in seen],
        "events": [[tuple(event)[1:] for event in one.events] for one in seen],
        "thinking": [[tuple(thought) for thought in one.thinking] for one in seen],
    }
    return {name: hashlib.sha256(json.dumps(part, default=str).encode()).digest() for name, part in parts.items()}


def compare_games(stored: PartsByPlace, found: PartsByPlace) -> Iterable[str]:
    for place in sorted({*stored, *found}, key=lambda place: (place[0], place[2], place[3])):
        offset, number, white, black = place
        name = f"Game {number} {white} vs. {black} at {offset}"
        before = sorted(stored.get(place, ()), key=_sort_key)
        now = sorted(found.get(place, ()), key=_sort_key)
        for one, other in zip_longest(before, now):
            if other is None:
                yield f"{name} is stored, but not in the log."
            elif one is None:
                yield f"{name} is in the log, but not stored."
            elif differing := [part for part, digest in other.items() if one[part] != digest]:
                yield f"{name} differs in its {', '.join(differing)}."


def _sort_key(parts: _Digest) -> list[bytes]:
    return list(parts.values())
