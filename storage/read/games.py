"""Games back out of the archive, many per query, by the driver."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any, Final, NamedTuple, Unpack

from recorder.corrections import move_times
from recorder.model import (
    EventKind,
    Game,
    Link,
    LinkKind,
    Observation,
    Ply,
    PlyLine,
    PlyRow,
    Proof,
    Segment,
    SourceName,
)
from recorder.model.plies import USUAL, ShownLine, ShownPlies, whole_row
from recorder.movetext import integers
from storage.mapping import (
    ANCHORS,
    COLUMNS,
    EVENTS,
    EVIDENCE,
    GAMES,
    HOLDINGS,
    OBSERVATIONS,
    PLY_LINES,
    PRECISIONS,
    SEGMENTS,
    STORED_PLY,
    THINKING,
    Mapping,
    Row,
    game_from_row,
    observation_from_row,
    ply_line_from_row,
)
from storage.read.analyses import load_analyses
from storage.read.store import GameParts, SqlDriver
from storage.sound import SOURCE_KINDS, RowCheck, UnsoundError, require_sound_game, require_sound_plies


def select_sql(table: str) -> str:
    """In the order of ``COLUMNS``."""
    names = ", ".join(f'"{name}"' for name in COLUMNS[table])
    return f"SELECT {names} FROM {table}"


def checked_rows(driver: SqlDriver, of: Mapping[Any], rest: str) -> list[Row]:
    """``rest`` is what follows the table in the statement."""
    return of.check(driver.execute(f"{select_sql(of.table)} {rest}"))


_RUN: Final = "FROM plies WHERE id BETWEEN ? AND ? ORDER BY id"
_SELECT: Final = f"SELECT {', '.join(STORED_PLY.get(name, name) for name in Ply._fields)} {_RUN}"
_MOVERS_CLOCK: Final = "CASE ply & 1 WHEN 1 THEN white_clock_ms ELSE black_clock_ms END"

#: ``quality`` of a proved ply → proof, origin, precision.
_PROVED: Final = {
    quality: (quality & 7, quality >> 3 & 7, PRECISIONS[quality >> 6])
    for quality in range(64 * len(PRECISIONS))
    if quality & 7 != Proof.UNPROVED.value
}
_USUAL: Final = next(quality for quality, parts in _PROVED.items() if parts == USUAL)
_SELECT_SHOWN: Final = f"SELECT ply, san, {_MOVERS_CLOCK}, elapsed_ms, quality {_RUN}"
_SELECT_USUAL: Final = (  # in the order of ``id``, as a run of them is read
    "SELECT (SELECT ply FROM plies WHERE id = :first), json_group_array(san), "
    f"json_group_array({_MOVERS_CLOCK}), json_group_array(elapsed_ms), (SELECT ply FROM plies WHERE id = :last), "
    f"sum(ply) FROM plies WHERE id BETWEEN :first AND :last AND quality = {_USUAL}"
    f" AND (SELECT quality FROM plies WHERE id = :first) = {_USUAL}"  # else there is nothing to look for
)


def load_plies(driver: SqlDriver, first: int, count: int, base_ms: int, base_offset: int) -> list[PlyRow]:
    """The bases are as for ``storage.write.rows.add_plies``."""
    return driver.execute(_SELECT, (base_ms, base_offset, first, first + count - 1)).fetchall()


def load_shown(driver: SqlDriver, line: ShownLine, first: int, count: int) -> bool:
    """Only what PGN shows. False: a ply is not proved, and what can be shown of it depends on its move."""
    run = (first, first + count - 1)
    line.shown = _usual_plies(driver, run)
    if line.shown is None:
        rows = driver.execute(_SELECT_SHOWN, run).fetchall()
        try:
            line.rows = [
                whole_row(ply, san, clock_ms, elapsed_ms, _PROVED[quality])
                for ply, san, clock_ms, elapsed_ms, quality in rows
            ]
        except KeyError:
            return False
        require_sound_plies(rows, count, shown=True)
    return True


def _usual_plies(driver: SqlDriver, run: tuple[int, int]) -> ShownPlies | None:
    """As text, which costs SQLite less than rows; first, last, sum and number show that none is missing."""
    number, sans, clocks, elapsed, last, numbers = driver.execute(
        _SELECT_USUAL, {"first": run[0], "last": run[1]}
    ).fetchone()
    if "\\" in sans or not sans.startswith('["'):
        return None  # no SAN of any server, or no ply
    moves = sans[2:-2].split('","')
    if not len(moves) == run[1] - run[0] + 1 == last - number + 1 or 2 * numbers != (number + last) * len(moves):
        return None  # not all of them are, or plies are missing between them
    clocks_ms, elapsed_ms = integers(clocks), integers(elapsed)
    if clocks_ms is None or elapsed_ms is None:
        return None
    return ShownPlies(number, moves, clocks_ms, elapsed_ms)


_SOURCE_ID, _MERGED_INTO, _PLY_COUNT = map(COLUMNS["games"].index, ("source_id", "merged_into", "ply_count"))

_CHECK_SOURCE: Final = RowCheck.of(SourceName, {"kind": SOURCE_KINDS})

BATCH_GAMES = 200
"""By one set of queries; plies, which are most of a game, are apart."""


class _Wanted(NamedTuple):
    with_events: bool | EventKind = True
    with_holdings: bool = True
    with_lines: bool = True
    with_thinking: bool = True
    whole_plies: bool = True


class _Run(NamedTuple):
    seen: Observation
    line: PlyLine
    first: int
    plies: int


def load_games(driver: SqlDriver, ids: list[int], **parts: Unpack[GameParts]) -> Iterator[Game]:
    """In this order; memory is bounded by one batch without its plies. The driver must stay in one transaction."""
    wanted = _Wanted(**parts)
    for start in range(0, len(ids), BATCH_GAMES):
        yield from _load(driver, ids[start : start + BATCH_GAMES], wanted)


def _load(driver: SqlDriver, ids: list[int], wanted: _Wanted) -> Iterator[Game]:
    """Each gets its plies just before it is returned, while they are still in cache."""
    of_games = f"IN ({','.join(map(str, ids))})"  # integers of ours
    found: dict[int, Game] = {}
    counts: dict[int, int] = {}
    merged: list[int] = []
    shown: list[Game] = []
    for row in checked_rows(driver, GAMES, f"WHERE id {of_games}"):
        found[row[0]] = game_from_row(row)
        counts[row[0]] = row[_PLY_COUNT]
        if row[_MERGED_INTO] is None:
            shown.append(found[row[0]])
        if row[_SOURCE_ID] is None:
            merged.append(row[0])
    members = _members(driver, merged, found) if merged else {}
    of_seen = f"IN ({','.join(map(str, [*ids, *members]))})"
    seen: dict[int, Observation] = {}
    places: dict[int, int] = {}
    runs: dict[int, list[_Run]] = {}
    runs_of_game: dict[int, list[list[_Run]]] = {row_id: [] for row_id in ids}
    names: dict[int, SourceName] = {}
    for *name, row_id in _CHECK_SOURCE(
        driver.execute(
            "SELECT name, sha256, kind, id FROM sources"
            f" WHERE id IN (SELECT source_id FROM observations WHERE game_id {of_seen})"
        )
    ):
        names[row_id] = SourceName._make(name)
    untimed: dict[int, list[Observation]] = {}
    for game_id, row in _observation_rows(driver, of_seen, members):
        seen[row[0]] = observation = observation_from_row(row)
        if (source := names.get(row[1])) is None:
            raise UnsoundError("an observation has no source")
        observation.source = source
        siblings = found[game_id].observations
        places[row[0]] = len(siblings)
        siblings.append(observation)
        runs[row[0]] = []
        runs_of_game[game_id].append(runs[row[0]])
        if row[2] in members and members[row[2]].time_basis != found[game_id].time_basis.value:
            untimed.setdefault(game_id, []).append(observation)
    for row in checked_rows(driver, SEGMENTS, f"WHERE game_id {of_games} ORDER BY game_id, seq"):
        found[row[0]].segments.append(Segment(**SEGMENTS.facts(row), observation=places[row[2]]))
    if seen:
        _load_children(driver, seen, runs, wanted)
    _load_links(driver, found, of_seen, members)
    if wanted.with_thinking:
        load_analyses(driver, shown)  # not of members: their positions are those of the merged game
    for row_id in ids:
        for run in chain.from_iterable(runs_of_game.pop(row_id)):
            _load_run(driver, run)
        require_sound_game(found[row_id], counts[row_id])
        for observation in untimed.pop(row_id, ()):
            move_times(observation, None)  # its time basis is not that of its game
        yield found.pop(row_id)


class _Member(NamedTuple):
    game_id: int
    place: int
    time_basis: str


def _members(driver: SqlDriver, merged: list[int], found: dict[int, Game]) -> dict[int, _Member]:
    """By row number; sets the games' keys of sources and evidence."""
    of_merged = f"IN ({','.join(map(str, merged))})"
    members: dict[int, _Member] = {}
    query = f"SELECT id, merged_into, time_basis, key FROM games WHERE merged_into {of_merged} ORDER BY key"
    for index, (row_id, game_id, basis, key) in enumerate(driver.execute(query)):
        members[row_id] = _Member(game_id, index, basis)
        found[game_id].merged_from.append(key)
    for row in checked_rows(driver, EVIDENCE, f"WHERE game_id {of_merged} ORDER BY game_id, seq"):
        found[row[0]].evidence.append(EVIDENCE.value(row))
    return members


def _observation_rows(driver: SqlDriver, of_seen: str, members: dict[int, _Member]) -> Iterator[tuple[int, Row]]:
    rows = checked_rows(driver, OBSERVATIONS, f"WHERE game_id {of_seen} ORDER BY game_id, seq")
    if not members:
        yield from ((row[2], row) for row in rows)
        return
    ordered = sorted(rows, key=lambda row: members[row[2]].place if row[2] in members else -1)
    yield from ((members[row[2]].game_id if row[2] in members else row[2], row) for row in ordered)


def _load_links(driver: SqlDriver, found: dict[int, Game], of_seen: str, members: dict[int, _Member]) -> None:
    """In both directions, each to the merged game if there is one."""
    links: dict[int, set[Link]] = {}
    for mine, other in (("game_id", "other_game_id"), ("other_game_id", "game_id")):
        query = (
            f"SELECT l.{mine}, l.kind, coalesce(m.key, g.key), l.evidence FROM game_links l"
            f" JOIN games g ON g.id = l.{other} LEFT JOIN games m ON m.id = g.merged_into WHERE l.{mine} {of_seen}"
        )
        for row_id, kind, key, evidence in driver.execute(query):
            shown = members[row_id].game_id if row_id in members else row_id
            links.setdefault(shown, set()).add(Link(LinkKind(kind), key, evidence))
    for row_id, linked in links.items():
        first: dict[tuple[LinkKind, str], Link] = {}
        for link in sorted(linked, key=lambda link: (link.kind.value, link.key, link.evidence)):
            first.setdefault((link.kind, link.key), link)
        found[row_id].links += first.values()


def _load_run(driver: SqlDriver, run: _Run) -> None:
    if not (isinstance(run.line, ShownLine) and load_shown(driver, run.line, run.first, run.plies)):
        run.line.rows = load_plies(driver, run.first, run.plies, run.seen.started_at_ms or 0, run.seen.offset)
        require_sound_plies(run.line.rows, run.plies)


def _load_children(
    driver: SqlDriver, seen: dict[int, Observation], runs: dict[int, list[_Run]], wanted: _Wanted
) -> None:
    """Of the lines' plies only where they are, appended to ``runs``."""
    ids = ",".join(map(str, seen))
    mine, order = f"WHERE observation_id IN ({ids})", "ORDER BY observation_id, seq"
    main = "" if wanted.with_lines else " AND line_no = 0"
    lines_only = "" if wanted.with_lines else " AND (line_no = 0 OR kind = 'variation')"
    for row in checked_rows(driver, PLY_LINES, f"{mine}{lines_only} ORDER BY observation_id, line_no"):
        line = ply_line_from_row(row, whole=wanted.whole_plies)
        seen[row[0]].lines.append(line)
        runs[row[0]].append(_Run(seen[row[0]], line, *row[1:3]))
    for row in checked_rows(driver, ANCHORS, f"{mine}{main} {order}"):
        seen[row[0]].anchors.append(ANCHORS.value(row))
    if wanted.with_holdings:
        for row in checked_rows(driver, HOLDINGS, f"{mine} {order}"):
            seen[row[0]].holdings.append(HOLDINGS.value(row, seen[row[0]].started_at_ms or 0))
    if wanted.with_events:
        of_kind = f" AND kind = '{wanted.with_events.value}'" if isinstance(wanted.with_events, EventKind) else ""
        for row in checked_rows(driver, EVENTS, f"{mine}{of_kind} {order}"):
            seen[row[0]].events.append(EVENTS.value(row, seen[row[0]].started_at_ms or 0))
    if wanted.with_thinking:
        for row in checked_rows(driver, THINKING, f"{mine} {order}"):
            seen[row[0]].thinking.append(THINKING.value(row, seen[row[0]].started_at_ms or 0))
