"""Links between games: partner boards of bughouse, examinations of played games.

Partners are looked for among the games of one source that overlap in it, then among those of several (``boards``);
what an examined game shows, among the games of the same players in the archive, and among those of the examiner in the
same source where only his name was shown.
A link stands between rows of sources, for a game of several at the one whose key it has: readers follow
``merged_into``.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from recorder.model import Game, LinkKind
from storage.read.games import load_games
from storage.write.rows import insert_into, insert_rows


def connected(numbers: Iterable[int], pairs: Iterable[tuple[int, int]]) -> list[list[int]]:
    """Numbers in groups: two are in one if pairs lead from one to the other.

    The groups come by their first numbers; within each the numbers are as they were given.
    """
    parents = {number: number for number in numbers}

    def root(number: int) -> int:
        while parents[number] != number:
            parents[number] = parents[parents[number]]
            number = parents[number]
        return number

    for one, other in pairs:
        parents[root(one)] = root(other)
    groups: dict[int, list[int]] = {}
    for number in parents:
        groups.setdefault(root(number), []).append(number)
    return list(groups.values())


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
    """A game of one or several sources. ``row_id``: its own, or that of the merged game.

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
    """Yield groups of games of which some may be partners though no source shows both; links between them are deleted.

    Merged games are in place of their members. ``again`` are the games that are new or changed, or whose links were
    rebuilt; the links within each source are there.
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


_LINKS: Final = insert_into("game_links")
# saved games stand one after another, partners too
_BUGHOUSE: Final = """
SELECT g.id, g.source_id, g.first_offset, CASE s.kind WHEN 'pgn' THEN s.size_bytes ELSE g.last_offset END
FROM games g JOIN sources s ON s.id = g.source_id
WHERE g.variant = 'bughouse' AND g.kind = 'played' AND g.source_id IN (
  SELECT t.source_id FROM temp.touched n JOIN games t ON t.id = n.id WHERE t.variant = 'bughouse' AND t.kind = 'played')
ORDER BY g.source_id, g.first_offset
"""
_EXAMINED: Final = """
WITH pairs AS MATERIALIZED (
  SELECT DISTINCT t.white_id, t.black_id FROM temp.touched n CROSS JOIN games t ON t.id = n.id),
handles AS MATERIALIZED (SELECT white_id AS id FROM pairs UNION SELECT black_id FROM pairs)
SELECT e.id, e.white_id, e.black_id, e.source_id
FROM pairs p CROSS JOIN games e ON e.white_id = p.white_id AND e.black_id = p.black_id
WHERE e.kind = 'examined' AND e.source_id IS NOT NULL
UNION
SELECT e.id, e.white_id, e.black_id, e.source_id
FROM handles h CROSS JOIN games e ON e.white_id = h.id AND e.black_id = h.id
WHERE e.kind = 'examined' AND e.source_id IS NOT NULL
"""
_PLAYED: Final = """
SELECT DISTINCT coalesce(merged_into, id) FROM games
WHERE white_id = ? AND black_id = ? AND kind = 'played' AND source_id IS NOT NULL
"""
_PLAYED_BY: Final = """
SELECT DISTINCT coalesce(merged_into, id) FROM games
WHERE source_id = ? AND (white_id = ? OR black_id = ?) AND kind = 'played'
"""
_NUMBER: Final = "SELECT id FROM games WHERE key = ? AND source_id IS NOT NULL"


def link(driver: sqlite3.Connection) -> None:
    """Rebuild the links of the games in ``temp.touched``."""
    _link_partners(driver)
    _link_examined(driver)


def _load(driver: sqlite3.Connection, ids: Iterable[int]) -> list[Game]:
    return list(
        load_games(
            driver,
            sorted(ids),
            with_thinking=False,
        )
    )


def _link_partners(driver: sqlite3.Connection) -> None:
    touched = {number for (number,) in driver.execute("SELECT id FROM temp.touched")}
    again = set(touched)
    rows = driver.execute(_BUGHOUSE).fetchall()
    groups: list[list[int]] = []
    last_source, last_end = None, -1
    for number, source, begin, end in rows:
        if source != last_source or begin > last_end:
            groups.append([])
            last_source, last_end = source, end
        last_end = max(last_end, end)
        groups[-1].append(number)
    for group in groups:
        if touched.intersection(group):
            from recorder.relating.bughouse import pair_bughouse

            _forget(driver, group, LinkKind.PARTNER)
            _store(driver, pair_bughouse(_load(driver, group)), LinkKind.PARTNER)
            again.update(group)
    if rows:
        for boards in boards_of_several(driver, again):
            from recorder.relating.bughouse import pair_bughouse

            _store(driver, pair_bughouse(_load(driver, boards)), LinkKind.PARTNER)


def _link_examined(driver: sqlite3.Connection) -> None:
    for number, white, black, source in driver.execute(_EXAMINED).fetchall():
        from recorder.relating.examined import link_examined

        query, values = (_PLAYED_BY, (source, white, white)) if white == black else (_PLAYED, (white, black))
        played = [row for (row,) in driver.execute(query, values)]
        _forget(driver, [number], LinkKind.EXAMINED)
        _store(driver, link_examined(_load(driver, [number, *played])), LinkKind.EXAMINED)


def _forget(driver: sqlite3.Connection, games: list[int], kind: LinkKind) -> None:
    for number in games:
        driver.execute("DELETE FROM game_links WHERE game_id = ? AND kind = ?", (number, kind.value))


def _store(driver: sqlite3.Connection, found: list[tuple[str, str, str]], kind: LinkKind) -> None:
    rows = [
        (*(driver.execute(_NUMBER, (key,)).fetchone()[0] for key in (one, other)), kind.value, evidence)
        for one, other, evidence in found
    ]
    insert_rows(driver, _LINKS, rows)
