"""Find games that ran at the same time, to compare the order of lines in logs without times of day.

Whether two games are one may depend on games of any players that overlap them in their logs. A change of one game
therefore marks these too.
"""

from __future__ import annotations

import sqlite3
from bisect import bisect_left
from collections.abc import Iterator
from functools import cached_property, lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING, Final, NamedTuple

from recorder.model import EventKind, Game
from storage.read.games import load_games

if TYPE_CHECKING:
    from recorder.relating.board_order import BoardOrders

_MOST_PAIRS: Final = 8  # those that overlap longest; more add no evidence
_CACHED_GAMES: Final = 256
COMPARABLE: Final = """(g.ending IN ('result', 'adjourned', 'aborted') OR NOT EXISTS (
  SELECT 1 FROM observations n JOIN ply_lines l ON l.observation_id = n.id
  WHERE n.game_id = g.id AND l.first_ply_id < 0))"""
"""Condition that game ``g`` can be compared with games of other sources: it has ended, or is not in progress.

The plies of games in progress have row numbers below 0: see ``storage.write.in_progress``.
"""
_GAMES: Final = f"""
SELECT g.id, g.first_offset, g.last_offset, w.handle_folded, b.handle_folded, g.server_game_no
FROM games g JOIN players w ON w.id = g.white_id JOIN players b ON b.id = g.black_id
WHERE g.source_id = ? AND g.kind = 'played' AND g.ply_count > 0 AND EXISTS (
  SELECT 1 FROM observations o
  WHERE o.game_id = g.id AND o.kind IN ('live', 'engine') AND o.started_at_ms IS NULL)
  AND {COMPARABLE}
ORDER BY g.first_offset, g.id
"""
_PLACES: Final = "SELECT id, source_id FROM games WHERE key = ? AND source_id IS NOT NULL"
_TOUCHED: Final = """
SELECT DISTINCT g.source_id
FROM temp.touched t CROSS JOIN games g ON g.id = t.id CROSS JOIN observations o ON o.game_id = g.id
WHERE g.kind = 'played' AND o.kind IN ('live', 'engine') AND o.started_at_ms IS NULL
"""


class _Row(NamedTuple):
    """A game's place in its source."""

    row_id: int
    first_offset: int
    last_offset: int
    white: str
    black: str
    server_game_no: int | None


class _Source:
    """The games of a source, by their places in it."""

    def __init__(self, driver: sqlite3.Connection, source_id: int) -> None:
        self._rows = [_Row(*row) for row in driver.execute(_GAMES, (source_id,))]
        self._by_id = {row.row_id: row for row in self._rows}
        self._ends = list(accumulate((row.last_offset for row in self._rows), max))

    def row(self, row_id: int) -> _Row | None:
        """The place of a game; None: it was not seen live, or has an arrival time."""
        return self._by_id.get(row_id)

    def untouched(self, touched: set[int]) -> Iterator[int]:
        """Row numbers of the games that are not among ``touched`` and overlap one that is."""
        spans: list[tuple[int, int]] = []  # covered by touched games; ascending, without overlaps
        for row in self._rows:
            if row.row_id in touched:
                begin, end = row.first_offset, row.last_offset
                if spans and begin <= spans[-1][1]:
                    begin, end = spans[-1][0], max(spans.pop()[1], end)
                spans.append((begin, end))
        ends = [end for _, end in spans]
        for row in self._rows:
            at = bisect_left(ends, row.first_offset)
            if row.row_id not in touched and at < len(spans) and spans[at][0] <= row.last_offset:
                yield row.row_id

    def around(self, row: _Row) -> Iterator[_Row]:
        """The other games that overlap one."""
        for at in range(bisect_left(self._ends, row.first_offset), len(self._rows)):
            other = self._rows[at]
            if other.first_offset > row.last_offset:
                return
            if other.last_offset >= row.first_offset and other.row_id != row.row_id:
                yield other


class NeighbourGames:
    """Finds games that overlap two games of two sources, in one transaction while this object is used."""

    def __init__(self, driver: sqlite3.Connection) -> None:
        self._driver = driver
        self._sources: dict[int, _Source] = {}
        self._game = lru_cache(_CACHED_GAMES)(self._load)

    @cached_property
    def orders(self) -> BoardOrders:
        """Compares the order of their lines; made on first use."""
        from recorder.relating.board_order import BoardOrders

        return BoardOrders(self)

    def __call__(self, one: Game, other: Game) -> list[tuple[Game, Game]]:
        """Pairs of games with equal players and number: the first overlaps ``one``, the second ``other``.

        Those that overlap longest come first; none for games whose times of day are known.
        """
        (first, mine), (second, its) = self._place(one), self._place(other)
        if mine is None or its is None or first is second:
            return []
        seats: dict[tuple[str, str, int | None], list[_Row]] = {}
        for row in second.around(its):
            seats.setdefault(row[3:], []).append(row)
        pairs = [(near, far) for near in first.around(mine) for far in seats.get(near[3:], ())]
        pairs.sort(key=lambda pair: (-min(_shared(mine, pair[0]), _shared(its, pair[1])), pair[0][1], pair[1][1]))
        return [(self._game(near.row_id), self._game(far.row_id)) for near, far in pairs[:_MOST_PAIRS]]

    def _place(self, game: Game) -> tuple[_Source, _Row | None]:
        """The source of a game and its row there; None: it was not seen live, or has an arrival time."""
        row_id, source_id = self._driver.execute(_PLACES, (game.key,)).fetchone()
        if source_id not in self._sources:
            self._sources[source_id] = _Source(self._driver, source_id)
        return self._sources[source_id], self._sources[source_id].row(row_id)

    def _load(self, row_id: int) -> Game:
        (game,) = load_games(
            self._driver,
            [row_id],
            with_events=EventKind.FEED,  # until when a game was in sight
            with_holdings=False,
            with_thinking=False,
            with_lines=False,
        )
        return game


def overlapping(driver: sqlite3.Connection) -> list[int]:
    """Row numbers of games that overlap those in ``temp.touched``, in logs without times of day."""
    touched = {number for (number,) in driver.execute("SELECT id FROM temp.touched")}
    found: set[int] = set()
    for (source_id,) in driver.execute(_TOUCHED).fetchall():
        found.update(_Source(driver, source_id).untouched(touched))
    return sorted(found)


def _shared(one: _Row, other: _Row) -> int:
    """Bytes of a source in which two games overlap."""
    return min(one.last_offset, other.last_offset) - max(one.first_offset, other.first_offset)
