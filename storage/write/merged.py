"""Games of several sources, and links between games: kept up to date in every transaction that changes games.

The strategy: games of sources stay as they are, row by row; a merged game is one more row, without a source, whose
segments point to its members' observations, and they name it in ``merged_into``. Code that adds or deletes games notes
which (``touch``, ``dissolve``); before the commit ``relate`` looks for others of the same players that may be the same
game, and rebuilds the groups of all of them. So the merged games are a function of the games that are there::

    row 1  a.log  Ann - Bob, 10:00, plies 1 to 40            merged_into 3
    row 2  b.log  Ann - Bob, 10:04, joined at ply 12, to 60  merged_into 3
    row 3  (no source)  segments: plies of row 1's observation, then of row 2's

To compare each game with each would take the square of the archive. So what is cheap comes first: the same two handles,
of one server or of an unknown one (``_pairs``); then times that overlap (``_near``) or, where a time is not known,
first moves that go on from each other (``_untimed``). What is connected by such pairs is a group: only its games are
loaded, and ``recorder.relating.merge`` decides which of them are one, by all that they show.

What must never happen: that the result depends on the order of imports (a group is taken apart and rebuilt as a whole,
and no game is added to a merged one); that a game is lost with its merged game (members stay rows, and forgetting a
source leaves those of the others); that a reader sees half of it (all is in the transaction that changes the games).
Links between games, of bughouse partners and of examinations to the games that they show, follow the same way.
"""

from __future__ import annotations

import json
import sqlite3
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from itertools import accumulate, chain, combinations, groupby, takewhile
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from recorder.model import EventKind, Game, LinkKind
from recorder.relating import connected
from storage.mapping import EVIDENCE, SEGMENTS, game_row
from storage.read.games import load_games
from storage.settings import decide, load_decided
from storage.write.analyses import settle_analyses, touched_analyses
from storage.write.corrections import Change, store_changes, wanted_changes
from storage.write.rows import insert_into, insert_rows

if TYPE_CHECKING:
    from recorder.relating.board_order import BoardOrders
    from recorder.relating.grouping import Decided, Pair

_MOST_PAIRS: Final = 8  # those that overlap longest; more add no evidence
_CACHED_GAMES: Final = 256
COMPARABLE: Final = """(g.ending IN ('result', 'adjourned', 'aborted') OR NOT EXISTS (
  SELECT 1 FROM observations n JOIN ply_lines l ON l.observation_id = n.id
  WHERE n.game_id = g.id AND l.first_ply_id < 0))"""
"""For comparison: it has ended, or is not in progress (its plies have row numbers below 0)."""
_NEIGHBOURS: Final = f"""
SELECT g.id, g.first_offset, g.last_offset, w.handle_folded, b.handle_folded, g.server_game_no
FROM games g JOIN players w ON w.id = g.white_id JOIN players b ON b.id = g.black_id
WHERE g.source_id = ? AND g.kind = 'played' AND g.ply_count > 0 AND EXISTS (
  SELECT 1 FROM observations o
  WHERE o.game_id = g.id AND o.kind IN ('live', 'engine') AND o.started_at_ms IS NULL)
  AND {COMPARABLE}
ORDER BY g.first_offset, g.id
"""
_PLACES: Final = "SELECT id, source_id FROM games WHERE key = ? AND source_id IS NOT NULL"
_TOUCHED_SPANS: Final = """
SELECT DISTINCT g.source_id
FROM temp.touched t CROSS JOIN games g ON g.id = t.id CROSS JOIN observations o ON o.game_id = g.id
WHERE g.kind = 'played' AND o.kind IN ('live', 'engine') AND o.started_at_ms IS NULL
"""


class _Row(NamedTuple):
    row_id: int
    first_offset: int
    last_offset: int
    white: str
    black: str
    server_game_no: int | None


class _Source:
    def __init__(self, driver: sqlite3.Connection, source_id: int) -> None:
        self._rows = [_Row(*row) for row in driver.execute(_NEIGHBOURS, (source_id,))]
        self._by_id = {row.row_id: row for row in self._rows}
        self._ends = list(accumulate((row.last_offset for row in self._rows), max))

    def row(self, row_id: int) -> _Row | None:
        """None: it was not seen live, or has an arrival time."""
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
            index = bisect_left(ends, row.first_offset)
            if row.row_id not in touched and index < len(spans) and spans[index][0] <= row.last_offset:
                yield row.row_id

    def around(self, row: _Row) -> Iterator[_Row]:
        for index in range(bisect_left(self._ends, row.first_offset), len(self._rows)):
            other = self._rows[index]
            if other.first_offset > row.last_offset:
                return
            if other.last_offset >= row.first_offset and other.row_id != row.row_id:
                yield other


class NeighbourGames:
    """In one transaction while this object is used."""

    def __init__(self, driver: sqlite3.Connection) -> None:
        self._driver = driver
        self._sources: dict[int, _Source] = {}
        self._game = lru_cache(_CACHED_GAMES)(lambda row_id: load_feeds(driver, [row_id], with_lines=False)[0])

    @cached_property
    def orders(self) -> BoardOrders:
        from recorder.relating.board_order import BoardOrders

        return BoardOrders(self)

    def __call__(self, game: Game, other: Game) -> list[tuple[Game, Game]]:
        """The first overlaps ``game``, the second ``other``, longest first; none if times of day are known."""
        (first, mine), (second, its) = self._place(game), self._place(other)
        if mine is None or its is None or first is second:
            return []
        seats: dict[tuple[str, str, int | None], list[_Row]] = {}
        for row in second.around(its):
            seats.setdefault(row[3:], []).append(row)
        pairs = [(near, far) for near in first.around(mine) for far in seats.get(near[3:], ())]
        pairs.sort(key=lambda pair: (-min(_shared(mine, pair[0]), _shared(its, pair[1])), pair[0][1], pair[1][1]))
        return [(self._game(near.row_id), self._game(far.row_id)) for near, far in pairs[:_MOST_PAIRS]]

    def _place(self, game: Game) -> tuple[_Source, _Row | None]:
        """None: it was not seen live, or has an arrival time."""
        row_id, source_id = self._driver.execute(_PLACES, (game.key,)).fetchone()
        if source_id not in self._sources:
            self._sources[source_id] = _Source(self._driver, source_id)
        return self._sources[source_id], self._sources[source_id].row(row_id)


def overlapping(driver: sqlite3.Connection) -> list[int]:
    """In logs without times of day."""
    touched = {number for (number,) in driver.execute("SELECT id FROM temp.touched")}
    numbers: set[int] = set()
    for (source_id,) in driver.execute(_TOUCHED_SPANS).fetchall():
        numbers.update(_Source(driver, source_id).untouched(touched))
    return sorted(numbers)


def _shared(one: _Row, other: _Row) -> int:
    """In bytes of the source."""
    return min(one.last_offset, other.last_offset) - max(one.first_offset, other.first_offset)


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
    """``row_id``: the merged game's, if there is one; ``latest``: when it may have begun at last."""

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
            span[0] <= also[1] + _TOGETHER_MS and also[0] <= span[1] + _TOGETHER_MS
            for span in self.spans
            for also in other.spans
        )


def boards_of_several(driver: sqlite3.Connection, again: Collection[int]) -> Iterator[list[int]]:
    """Some may be partners though no source shows both; links between them are deleted."""
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
    pairs = ((one.row_id, other.row_id) for one, other in _partner_pairs(free) if one.may_be(other))
    return connected((board.row_id for board in free), pairs)


def _partner_pairs(free: list[_Board]) -> Iterator[tuple[_Board, _Board]]:
    """Boards of which one names the other's number, or that began together."""
    numbered: dict[int, list[_Board]] = {}
    for board in free:
        for number in board.numbers:
            numbered.setdefault(number, []).append(board)
    for board in free:
        for number in board.named:
            yield from ((board, other) for other in numbered.get(number, ()) if other is not board)
    begun = sorted((min(board.spans)[0], board.row_id, board) for board in free if board.spans)
    for index, (_, _, board) in enumerate(begun):
        for later in range(index + 1, len(begun)):
            if begun[later][0] > (board.latest or 0) + _TOGETHER_MS:
                break
            yield board, begun[later][2]


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
_LINKED: Final = """
SELECT DISTINCT coalesce(merged_into, id) FROM games
WHERE white_id = ? AND black_id = ? AND kind = 'played' AND source_id IS NOT NULL
"""
_PLAYED_BY: Final = """
SELECT DISTINCT coalesce(merged_into, id) FROM games
WHERE source_id = ? AND (white_id = ? OR black_id = ?) AND kind = 'played'
"""
_NUMBER: Final = "SELECT id FROM games WHERE key = ? AND source_id IS NOT NULL"


def link(driver: sqlite3.Connection) -> None:
    _link_partners(driver)
    _link_examined(driver)


def _linked_games(driver: sqlite3.Connection, ids: Iterable[int]) -> list[Game]:
    return list(load_games(driver, sorted(ids), with_thinking=False))


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
            _store_links(driver, pair_bughouse(_linked_games(driver, group)), LinkKind.PARTNER)
            again.update(group)
    if rows:
        for boards in boards_of_several(driver, again):
            from recorder.relating.bughouse import pair_bughouse

            _store_links(driver, pair_bughouse(_linked_games(driver, boards)), LinkKind.PARTNER)


def _link_examined(driver: sqlite3.Connection) -> None:
    for number, white, black, source in driver.execute(_EXAMINED).fetchall():
        from recorder.relating.examined import link_examined

        query, values = (_PLAYED_BY, (source, white, white)) if white == black else (_LINKED, (white, black))
        played = [row for (row,) in driver.execute(query, values)]
        _forget(driver, [number], LinkKind.EXAMINED)
        _store_links(driver, link_examined(_linked_games(driver, [number, *played])), LinkKind.EXAMINED)


def _forget(driver: sqlite3.Connection, games: list[int], kind: LinkKind) -> None:
    for number in games:
        driver.execute("DELETE FROM game_links WHERE game_id = ? AND kind = ?", (number, kind.value))


def _store_links(driver: sqlite3.Connection, links: list[tuple[str, str, str]], kind: LinkKind) -> None:
    rows = [
        (*(driver.execute(_NUMBER, (key,)).fetchone()[0] for key in (one, other)), kind.value, evidence)
        for one, other, evidence in links
    ]
    insert_rows(driver, _LINKS, rows)


_SKEW_MS: Final = 3_000
"""As ``recorder.relating.game_view.SKEW_MS``, which need not be loaded for archives whose players never meet."""

_PAIRS: Final = """
SELECT p.white_id, p.black_id
FROM (SELECT DISTINCT g.white_id, g.black_id FROM temp.touched t CROSS JOIN games g ON g.id = t.id
      WHERE g.kind = 'played' AND g.source_id IS NOT NULL) p
CROSS JOIN games g ON g.white_id = p.white_id AND g.black_id = p.black_id
WHERE g.kind = 'played' AND g.source_id IS NOT NULL
GROUP BY p.white_id, p.black_id
HAVING min(g.source_id) < max(g.source_id) OR (count(*) > 1 AND max(g.ending = 'adjourned' OR g.continued))
ORDER BY p.white_id, p.black_id
"""
_CANDIDATES: Final = f"""
SELECT g.id, g.source_id, g.merged_into, g.ending IN ('adjourned', 'log-ends', 'lost-feed', 'unobserved'),
  max(o.kind IN ('live', 'engine') AND coalesce(o.start_ply, 0) > 0),
  min(iif(g.time_basis = 'utc' AND o.kind IN ('live', 'engine'), o.started_at_ms, NULL)),
  max(iif(g.time_basis = 'utc' AND o.kind IN ('live', 'engine'),
    max(coalesce(o.ended_at_ms, o.started_at_ms), coalesce(g.ended_at_ms, o.started_at_ms)), NULL)),
  g.ply_count > 0, g.key
FROM games g JOIN observations o ON o.game_id = g.id
WHERE g.white_id = ? AND g.black_id = ? AND g.kind = 'played' AND g.source_id IS NOT NULL
  AND {COMPARABLE}
GROUP BY g.id ORDER BY g.id
"""
_OPENINGS: Final = """
SELECT g.id, p.move
FROM games g
CROSS JOIN segments s ON s.game_id = g.id AND s.seq = 0 AND s.from_ply = 1
CROSS JOIN ply_lines l ON l.observation_id = s.observation_id AND l.line_no = 0
CROSS JOIN plies p ON p.id BETWEEN l.first_ply_id AND l.first_ply_id + min(l.ply_count, s.to_ply, ?) - 1
WHERE g.white_id = ? AND g.black_id = ? AND g.kind = 'played' AND g.source_id IS NOT NULL
ORDER BY g.id, p.id
"""
_OPENING_PLIES: Final = 16
_TOUCHED: Final = "SELECT 1 FROM sqlite_temp_master WHERE name = 'touched'"
_GAMES: Final = insert_into("games")
_SEGMENTS: Final = insert_into("segments")
_EVIDENCE: Final = insert_into("game_evidence")
_MAY_BE_PARTNERS: Final = """
SELECT o.id FROM games g CROSS JOIN games o
WHERE g.id = ? AND g.variant = 'bughouse' AND o.variant = 'bughouse' AND o.source_id IS NOT NULL AND (
  o.started_at_ms BETWEEN g.started_at_ms - 5000 - iif(o.start_precision = 'minute', 59999, 0)
    AND g.started_at_ms + 5000 + iif(g.start_precision = 'minute', 59999, 0)
  OR o.server_game_no = g.partner_server_game_no OR o.partner_server_game_no = g.server_game_no)
"""
_DECIDED_PAIRS: Final = """
SELECT DISTINCT g.white_id, g.black_id
FROM json_each(?) wanted JOIN games g ON g.key = wanted.value AND g.source_id IS NOT NULL AND g.kind = 'played'
JOIN games o ON o.white_id = g.white_id AND o.black_id = g.black_id JOIN temp.touched t ON t.id = o.id
ORDER BY g.white_id, g.black_id
"""
_SAME_PLAYERS: Final = """
SELECT o.id
FROM games g JOIN players w ON w.id = g.white_id JOIN players b ON b.id = g.black_id
JOIN (SELECT DISTINCT server FROM players) s ON s.server = w.server OR '' IN (s.server, w.server)
JOIN players v ON v.server = s.server AND v.handle_folded = w.handle_folded
JOIN players c ON c.server = s.server AND c.handle_folded = b.handle_folded
JOIN games o ON o.white_id = v.id AND o.black_id = c.id
WHERE g.id = ? AND o.source_id IS NOT NULL
"""
_MEMBERS: Final = "SELECT id, white_id, black_id, server IS NOT NULL FROM games WHERE key = ? AND source_id IS NOT NULL"


_Pair = tuple[int, int]
"""White's first."""

_TOUCHED_HANDLES: Final = """
SELECT DISTINCT w.handle_folded, b.handle_folded
FROM temp.touched t CROSS JOIN games g ON g.id = t.id
JOIN players w ON w.id = g.white_id JOIN players b ON b.id = g.black_id
WHERE g.kind = 'played' AND g.source_id IS NOT NULL
  AND EXISTS (SELECT 1 FROM players u WHERE u.server = '' AND u.handle_folded = w.handle_folded)
  AND EXISTS (SELECT 1 FROM players u WHERE u.server = '' AND u.handle_folded = b.handle_folded)
ORDER BY w.handle_folded, b.handle_folded
"""
_SERVERS: Final = "SELECT DISTINCT server FROM players ORDER BY server"
_HANDLE: Final = "SELECT id FROM players WHERE server = ? AND handle_folded = ?"
_PLAYED: Final = "SELECT 1 FROM games WHERE white_id = ? AND black_id = ? AND kind = 'played' AND source_id IS NOT NULL"


class _Candidate(NamedTuple):
    row_id: int
    source_id: int
    merged_into: int | None
    may_end: bool
    resumes: bool
    begun_ms: int | None
    ended_ms: int | None
    moved: bool
    key: str


def touch(driver: sqlite3.Connection, games: str, values: Sequence[Any] = ()) -> None:
    driver.execute("CREATE TEMP TABLE IF NOT EXISTS touched (id INTEGER PRIMARY KEY)")
    driver.execute(f"INSERT OR IGNORE INTO temp.touched {games}", values)


def touch_keys(driver: sqlite3.Connection, keys: Iterable[str]) -> None:
    query = "SELECT g.id FROM json_each(?) wanted JOIN games g ON g.key = wanted.value AND g.source_id IS NOT NULL"
    touch(driver, query, (json.dumps(sorted(keys)),))


def touch_others(driver: sqlite3.Connection, games: Iterable[int]) -> None:
    numbers = list(games)
    if not numbers:
        return
    for number in numbers:
        touch(driver, "SELECT id FROM games WHERE id = ?", (number,))
    _touch_overlapping(driver)
    for number in numbers:
        touch(driver, _SAME_PLAYERS, (number,))
        boards = "SELECT o.id FROM games g JOIN games o ON o.source_id = g.source_id AND o.variant = g.variant"
        touch(driver, f"{boards} WHERE g.id = ? AND g.variant = 'bughouse'", (number,))
        touch(driver, _MAY_BE_PARTNERS, (number,))


def _touch_overlapping(driver: sqlite3.Connection) -> None:
    for number in overlapping(driver):
        driver.execute("INSERT OR IGNORE INTO temp.touched VALUES (?)", (number,))


def dissolve(driver: sqlite3.Connection, merged: Iterable[int]) -> None:
    """Take merged games (without a source) apart: their members are shown by themselves until ``relate``."""
    for number in merged:
        touch(driver, "SELECT id FROM games WHERE merged_into = ?", (number,))
        driver.execute("UPDATE games SET merged_into = NULL WHERE merged_into = ?", (number,))
        for table in ("segments", "game_evidence"):
            driver.execute(f"DELETE FROM {table} WHERE game_id = ?", (number,))
        driver.execute("DELETE FROM games WHERE id = ?", (number,))


def relate(driver: sqlite3.Connection) -> None:
    """Called before each commit; also finds which analysed positions those games still have."""
    if driver.execute(_TOUCHED).fetchone() is None:
        return
    # What people corrected comes first: another player or server makes another pair.
    if changes := wanted_changes(driver):
        _correct(driver, changes)
    # In logs without times games prove each other's times, so neighbours of a touched game may be judged otherwise now.
    _touch_overlapping(driver)
    touched = {number for (number,) in driver.execute("SELECT id FROM temp.touched")}
    decided = load_decided(driver)
    groups = [
        group
        for pair in _pairs(driver, decided)
        for group in _groups(driver, pair, decided)
        if touched.intersection(group)
    ]
    if groups:
        _relate(driver, groups)
    link(driver)
    settle_analyses(driver, touched_analyses(driver, [number for group in groups for number in group]))
    driver.execute("DELETE FROM temp.touched")


def _correct(driver: sqlite3.Connection, changes: list[Change]) -> None:
    """Write what people decided of touched games; who played them before may be left without a game."""
    numbers = [change.row_id for change in changes]
    dissolve(driver, _merged(driver, numbers))
    touch_others(driver, numbers)
    store_changes(driver, changes)
    driver.execute("DELETE FROM players WHERE id NOT IN (SELECT white_id FROM games UNION SELECT black_id FROM games)")


def relate_all(driver: sqlite3.Connection) -> None:
    """As after an upgrade from a schema without them."""
    touch(driver, "SELECT id FROM games WHERE source_id IS NOT NULL")
    relate(driver)


def stale(driver: sqlite3.Connection) -> list[str]:
    """Keys of merged games that differ from what their members give, or that are missing."""
    wanted = _wanted(driver)
    numbers = [number for (number,) in driver.execute("SELECT id FROM games WHERE source_id IS NULL ORDER BY id")]
    stored = {game.key: game for game in load_feeds(driver, numbers)}
    return sorted(
        key
        for key in wanted.keys() | stored.keys()
        if key not in wanted or key not in stored or _bare(wanted[key]) != _bare(stored[key])
    )


def candidate_groups(driver: sqlite3.Connection, decided: Decided) -> Iterator[list[int]]:
    """Each as one source gives it: what merging compares."""
    touch(driver, "SELECT id FROM games WHERE kind = 'played' AND source_id IS NOT NULL")
    pairs = _pairs(driver, decided)
    driver.execute("DELETE FROM temp.touched")
    for pair in pairs:
        yield from _groups(driver, pair, decided)


def unmerged(driver: sqlite3.Connection) -> list[str]:
    stored = {key for (key,) in driver.execute("SELECT key FROM games WHERE source_id IS NULL")}
    return sorted(_wanted(driver).keys() - stored)


def _wanted(driver: sqlite3.Connection) -> dict[str, Game]:
    wanted: dict[str, Game] = {}
    beside = NeighbourGames(driver)
    for group in candidate_groups(driver, load_decided(driver)):
        wanted |= {game.key: game for game in _made_of(driver, group, beside)}
    return wanted


def pin(driver: sqlite3.Connection) -> None:
    """Record as decisions which games are one and which are not, for a copy without the times that show it."""
    from recorder.relating.grouping import pair_of

    stored = (
        "SELECT key, coalesce(merged_into, id) FROM games WHERE source_id IS NOT NULL AND kind = 'played' ORDER BY key"
    )
    groups = dict(driver.execute(stored).fetchall())
    members: dict[int, str] = {}
    pairs = [(members[group], key) for key, group in groups.items() if members.setdefault(group, key) != key]
    decide(driver, pairs, same=True, now_ms=0)
    apart: set[Pair] = set()
    while more := {
        pair_of(one, other)
        for game in _wanted(driver).values()
        for one, other in combinations(game.merged_from, 2)
        if groups[one] != groups[other]
    }.difference(apart):
        apart |= more
        decide(driver, more, same=False, now_ms=0)


def _bare(game: Game) -> Game:
    return replace(game, observations=[], links=[])


def load_feeds(driver: sqlite3.Connection, ids: list[int], *, with_lines: bool = True) -> list[Game]:
    feeds = load_games(
        driver, ids, with_events=EventKind.FEED, with_holdings=False, with_thinking=False, with_lines=with_lines
    )
    return list(feeds)


def _pairs(driver: sqlite3.Connection, decided: Decided) -> list[tuple[_Pair, ...]]:
    """Of touched games of several sources; pairs of the same handles are together if a server is not known."""
    pairs: list[_Pair] = driver.execute(_PAIRS).fetchall()
    if decided.same:
        keys = json.dumps(sorted({key for pair in decided.same for key in pair}))
        pairs += driver.execute(_DECIDED_PAIRS, (keys,)).fetchall()
    several = {pair: same for same in _of_unknown_servers(driver) for pair in same}
    return list(dict.fromkeys([*several.values(), *((pair,) for pair in pairs if pair not in several)]))


def _of_unknown_servers(driver: sqlite3.Connection) -> Iterator[tuple[_Pair, ...]]:
    servers = [server for (server,) in driver.execute(_SERVERS) if server]
    for handles in driver.execute(_TOUCHED_HANDLES).fetchall():
        pairs = [pair for server in ("", *servers) if (pair := _pair_of_server(driver, server, *handles)) is not None]
        if len(pairs) > 1:
            yield tuple(pairs)


def _pair_of_server(driver: sqlite3.Connection, server: str, white: str, black: str) -> _Pair | None:
    """None: they have not played there."""
    rows = [driver.execute(_HANDLE, (server, handle)).fetchone() for handle in (white, black)]
    if None in rows:
        return None
    pair = rows[0][0], rows[1][0]
    return None if driver.execute(_PLAYED, pair).fetchone() is None else pair


def _made_of(driver: sqlite3.Connection, group: list[int], beside: NeighbourGames) -> list[Game]:
    if len(group) < 2:
        return []
    from recorder.corrections import inherit
    from recorder.relating.merge import merge_games

    members = load_feeds(driver, group)
    games = merge_games(members, beside.orders, load_decided(driver))
    for game in games:
        inherit(game, [member for member in members if member.key in game.merged_from])
    return games


def _relate(driver: sqlite3.Connection, groups: list[list[int]]) -> None:
    # All are taken apart before the first is made: a game of one group may have been merged with one of another.
    for group in groups:
        dissolve(driver, _merged(driver, group))
    beside = NeighbourGames(driver)
    for group in groups:
        for game in _made_of(driver, group, beside):
            _store(driver, game)


def _merged(driver: sqlite3.Connection, group: list[int]) -> list[int]:
    ids = {driver.execute("SELECT merged_into FROM games WHERE id = ?", (number,)).fetchone()[0] for number in group}
    return sorted(number for number in ids if number is not None)


def _store(driver: sqlite3.Connection, game: Game) -> None:
    members = [driver.execute(_MEMBERS, (key,)).fetchone() for key in game.merged_from]
    (last,) = driver.execute("SELECT max(id) FROM games").fetchone()
    row_id, (_, white_id, black_id, _) = last + 1, max(members, key=itemgetter(3))  # of a known server, if one is
    insert_rows(driver, _GAMES, [game_row(game, row_id, white_id, black_id, None)])
    ids: list[int] = []
    for number, *_ in members:
        driver.execute("UPDATE games SET merged_into = ? WHERE id = ?", (row_id, number))
        query = "SELECT id FROM observations WHERE game_id = ? ORDER BY seq"
        ids += [observation for (observation,) in driver.execute(query, (number,))]
    segments = enumerate(game.segments)
    insert_rows(driver, _SEGMENTS, [SEGMENTS.row(part, row_id, seq, ids[part.observation]) for seq, part in segments])
    evidence = enumerate(game.evidence)
    insert_rows(driver, _EVIDENCE, [EVIDENCE.row(fact, row_id, seq) for seq, fact in evidence])


def _groups(driver: sqlite3.Connection, pairs: Sequence[_Pair], decided: Decided) -> Iterator[list[int]]:
    candidates = [_Candidate(*row) for pair in pairs for row in driver.execute(_CANDIDATES, pair)]
    openings: dict[int, tuple[int, ...]] = {}
    if any(candidate.begun_ms is None for candidate in candidates):
        rows = chain.from_iterable(driver.execute(_OPENINGS, (_OPENING_PLIES, *pair)).fetchall() for pair in pairs)
        for number, moves in groupby(rows, itemgetter(0)):
            openings[number] = tuple(takewhile(lambda move: move is not None, map(itemgetter(1), moves)))
    by_number = {candidate.row_id: candidate for candidate in candidates}
    by_key = {candidate.key: candidate for candidate in candidates}
    by_hand = [(by_key[one], by_key[other]) for one, other in decided.same if one in by_key and other in by_key]
    near = chain(_near(candidates), _untimed(candidates, openings), by_hand)
    joined = {row.row_id for pair in by_hand for row in pair}
    for numbers in connected(by_number, ((one.row_id, other.row_id) for one, other in near)):
        group = [by_number[number] for number in numbers]
        several = len({row.source_id for row in group}) > 1 or not joined.isdisjoint(numbers)
        if several or any(row.resumes or row.merged_into for row in group):
            yield numbers


def _near(candidates: list[_Candidate]) -> Iterator[tuple[_Candidate, _Candidate]]:
    """Pairs that may have to do with each other: of games whose times are known those of one time, and halves."""
    timed = sorted((one for one in candidates if one.begun_ms is not None), key=lambda one: (one.begun_ms, one.row_id))
    for index, one in enumerate(timed):
        for later in range(index + 1, len(timed)):
            other = timed[later]
            if (other.begun_ms or 0) > (one.ended_ms or 0) + _SKEW_MS:
                break
            if one.source_id != other.source_id:
                yield one, other
    merged: dict[int, _Candidate] = {}
    for one in candidates:
        if one.merged_into is not None:
            yield merged.setdefault(one.merged_into, one), one
    halves = [candidate for candidate in candidates if candidate.may_end or candidate.resumes]
    if any(half.resumes for half in halves):
        yield from ((halves[0], half) for half in halves)


def _untimed(
    candidates: list[_Candidate], openings: dict[int, tuple[int, ...]]
) -> Iterator[tuple[_Candidate, _Candidate]]:
    """Where a time is not known: in the order of first moves those that go on from a game's known ones follow it."""
    if all(candidate.begun_ms is not None for candidate in candidates):
        return
    ordered = sorted((openings.get(row.row_id, ()), row.row_id, row) for row in candidates if row.moved)
    same = [(opening, [row for *_, row in games]) for opening, games in groupby(ordered, itemgetter(0))]
    for index, (opening, games) in enumerate(same):
        family = list(games)
        for later in range(index + 1, len(same)):
            if same[later][0][: len(opening)] != opening:
                break
            family += same[later][1]
        unknown = [row for row in family if row.begun_ms is None]
        if any(game.begun_ms is None for game in games):
            yield from ((games[0], row) for row in family)
        elif unknown:
            yield from ((games[0], row) for row in (*games, *unknown))
