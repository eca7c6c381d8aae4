"""Bughouse games that may be the other boards of some in other sources: each player's own log shows only his."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import Final

from recorder.model import LinkKind
from storage.groups import connected

__all__ = ["boards_of_several"]

_TOGETHER_MS: Final = 5_000
"""As ``recorder.relating.bughouse.TOGETHER_MS``, which need not be loaded for archives without bughouse."""

_BOARDS: Final = """
SELECT id, coalesce(merged_into, id), source_id, server, base_s, increment_s, server_game_no, partner_server_game_no,
  iif(time_basis = 'utc', started_at_ms, NULL), iif(time_basis = 'utc', ended_at_ms, NULL),
  iif(start_precision = 'minute', 59999, 0)
FROM games WHERE variant = 'bughouse' AND kind = 'played' AND source_id IS NOT NULL ORDER BY id
"""
_PARTNERS: Final = """
SELECT l.game_id, l.other_game_id, a.source_id = b.source_id FROM game_links l
JOIN games a ON a.id = l.game_id JOIN games b ON b.id = l.other_game_id WHERE l.kind = ?
"""


@dataclass
class _Board:
    """A game, by whatever sources it is told. ``row_id``: its own, or that of the game made of several.

    ``spans``: from when to when it was played, in UTC. ``latest``: the latest moment at which it may have begun.
    """

    row_id: int
    facts: tuple[object, ...]
    members: list[int] = field(default_factory=list)
    sources: set[int] = field(default_factory=set)
    numbers: set[int] = field(default_factory=set)
    named: set[int] = field(default_factory=set)
    spans: list[tuple[int, int]] = field(default_factory=list)
    latest: int | None = None

    def may_be(self, other: _Board) -> bool:
        """Whether nothing known cheaply contradicts that they are the boards of one match."""
        if not self.sources.isdisjoint(other.sources) or self.facts != other.facts:
            return False
        return not (self.spans and other.spans) or any(
            one[0] <= also[1] + _TOGETHER_MS and also[0] <= one[1] + _TOGETHER_MS
            for one in self.spans
            for also in other.spans
        )


def boards_of_several(driver: sqlite3.Connection, again: Collection[int]) -> Iterator[list[int]]:
    """Groups of games of which some may be partners though no source shows both; links between them are deleted.

    Args:
        driver: in a transaction; the links within each source are there.
        again: row numbers of the games that are new or changed, or whose links were made anew.
    Yields:
        Row numbers of games, those made of several in place of their witnesses.
    """
    boards: dict[int, _Board] = {}
    of: dict[int, int] = {}
    for number, one, source, server, base_s, increment_s, no, partner, begun, ended, within in driver.execute(_BOARDS):
        board = boards.setdefault(one, _Board(one, (server, base_s, increment_s)))
        of[number] = one
        board.members.append(number)
        board.sources.add(source)
        board.numbers.update(() if no is None else (no,))
        board.named.update(() if partner is None else (partner,))
        if begun is not None:
            board.spans.append((begun, begun + within if ended is None else ended))
            board.latest = begun + within if board.latest is None else min(board.latest, begun + within)
    wanted = {of[number] for number in again if number in of}
    partners = driver.execute(_PARTNERS, (LinkKind.PARTNER.value,)).fetchall()
    paired = {of[number] for *pair, within in partners if within for number in pair}
    crossing = [(of[one], of[other], one, other) for one, other, within in partners if not within]
    for one, other, *_ in crossing:
        if {one, other} & wanted:
            wanted |= {one, other}
    free = [board for board in boards.values() if board.row_id not in paired]
    groups = _connected(free)
    concerned = [group for group in groups if wanted.intersection(group)]
    gone = wanted.union(*concerned)
    for one, other, first, second in crossing:
        if one in gone or other in gone:
            key = (first, second, LinkKind.PARTNER.value)
            driver.execute("DELETE FROM game_links WHERE game_id = ? AND other_game_id = ? AND kind = ?", key)
    yield from (group for group in concerned if len(group) > 1)


def _connected(free: list[_Board]) -> list[list[int]]:
    """Row numbers of boards that are connected by what may be partners."""
    pairs = ((one.row_id, other.row_id) for one, other in _pairs(free) if one.may_be(other))
    return connected((board.row_id for board in free), pairs)


def _pairs(free: list[_Board]) -> Iterator[tuple[_Board, _Board]]:
    """Boards of which one names the other's number, or that began together."""
    numbered: dict[int, list[_Board]] = {}
    for board in free:
        for number in board.numbers:
            numbered.setdefault(number, []).append(board)
    for board in free:
        for number in board.named:
            yield from ((board, other) for other in numbered.get(number, ()) if other is not board)
    begun = sorted((min(board.spans)[0], board.row_id, board) for board in free if board.spans)
    for at, (_, _, board) in enumerate(begun):
        for place in range(at + 1, len(begun)):
            if begun[place][0] > (board.latest or 0) + _TOGETHER_MS:
                break
            yield board, begun[place][2]
