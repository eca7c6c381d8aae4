"""Games back out of the archive, many per query, by the driver."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import chain, groupby
from typing import Any, Final, NamedTuple, Unpack, get_args

from recorder.corrections import move_times
from recorder.model import (
    AnalysedPosition,
    Analysis,
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
    Thinking,
)
from recorder.model.observations import EngineProtocol
from recorder.model.plies import USUAL, ShownLine, ShownPlies, whole_row
from recorder.movetext import integers
from storage.mapping import (
    ANALYSIS_LINES,
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
from storage.read.store import GameParts, SqlDriver
from storage.sound import SOURCE_KINDS, RowCheck, UnsoundError, require_sound_game, require_sound_plies, types_of


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
    by_id: dict[int, Game] = {}
    counts: dict[int, int] = {}
    merged: list[int] = []
    shown: list[Game] = []
    for row in checked_rows(driver, GAMES, f"WHERE id {of_games}"):
        by_id[row[0]] = game_from_row(row)
        counts[row[0]] = row[_PLY_COUNT]
        if row[_MERGED_INTO] is None:
            shown.append(by_id[row[0]])
        if row[_SOURCE_ID] is None:
            merged.append(row[0])
    members = _members(driver, merged, by_id) if merged else {}
    of_seen = f"IN ({','.join(map(str, [*ids, *members]))})"
    observations: dict[int, Observation] = {}
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
        observations[row[0]] = observation = observation_from_row(row)
        if (source := names.get(row[1])) is None:
            raise UnsoundError("an observation has no source")
        observation.source = source
        siblings = by_id[game_id].observations
        places[row[0]] = len(siblings)
        siblings.append(observation)
        runs[row[0]] = []
        runs_of_game[game_id].append(runs[row[0]])
        if row[2] in members and members[row[2]].time_basis != by_id[game_id].time_basis.value:
            untimed.setdefault(game_id, []).append(observation)
    for row in checked_rows(driver, SEGMENTS, f"WHERE game_id {of_games} ORDER BY game_id, seq"):
        by_id[row[0]].segments.append(Segment(**SEGMENTS.facts(row), observation=places[row[2]]))
    if observations:
        _load_children(driver, observations, runs, wanted)
    _load_links(driver, by_id, of_seen, members)
    if wanted.with_thinking:
        load_analyses(driver, shown)  # not of members: their positions are those of the merged game
    for row_id in ids:
        for run in chain.from_iterable(runs_of_game.pop(row_id)):
            _load_run(driver, run)
        require_sound_game(by_id[row_id], counts[row_id])
        for observation in untimed.pop(row_id, ()):
            move_times(observation, None)  # its time basis is not that of its game
        yield by_id.pop(row_id)


class _Member(NamedTuple):
    game_id: int
    place: int
    time_basis: str


def _members(driver: SqlDriver, merged: list[int], by_id: dict[int, Game]) -> dict[int, _Member]:
    """By row number; sets the games' keys of sources and evidence."""
    of_merged = f"IN ({','.join(map(str, merged))})"
    members: dict[int, _Member] = {}
    query = f"SELECT id, merged_into, time_basis, key FROM games WHERE merged_into {of_merged} ORDER BY key"
    for index, (row_id, game_id, basis, key) in enumerate(driver.execute(query)):
        members[row_id] = _Member(game_id, index, basis)
        by_id[game_id].merged_from.append(key)
    for row in checked_rows(driver, EVIDENCE, f"WHERE game_id {of_merged} ORDER BY game_id, seq"):
        by_id[row[0]].evidence.append(EVIDENCE.value(row))
    return members


def _observation_rows(driver: SqlDriver, of_seen: str, members: dict[int, _Member]) -> Iterator[tuple[int, Row]]:
    rows = checked_rows(driver, OBSERVATIONS, f"WHERE game_id {of_seen} ORDER BY game_id, seq")
    if not members:
        yield from ((row[2], row) for row in rows)
        return
    ordered = sorted(rows, key=lambda row: members[row[2]].place if row[2] in members else -1)
    yield from ((members[row[2]].game_id if row[2] in members else row[2], row) for row in ordered)


def _load_links(driver: SqlDriver, by_id: dict[int, Game], of_seen: str, members: dict[int, _Member]) -> None:
    """In both directions, each to the merged game if there is one."""
    links: dict[int, set[Link]] = {}
    for mine, other in (("game_id", "other_game_id"), ("other_game_id", "game_id")):
        query = (
            f"SELECT l.{mine}, l.kind, coalesce(m.key, g.key), l.evidence FROM game_links l"
            f" JOIN games g ON g.id = l.{other} LEFT JOIN games m ON m.id = g.merged_into WHERE l.{mine} {of_seen}"
        )
        for row_id, kind, key, evidence in driver.execute(query):
            game_id = members[row_id].game_id if row_id in members else row_id
            links.setdefault(game_id, set()).add(Link(LinkKind(kind), key, evidence))
    for row_id, linked in links.items():
        first: dict[tuple[LinkKind, str], Link] = {}
        for link in sorted(linked, key=lambda link: (link.kind.value, link.key, link.evidence)):
            first.setdefault((link.kind, link.key), link)
        by_id[row_id].links += first.values()


def _load_run(driver: SqlDriver, run: _Run) -> None:
    if not (isinstance(run.line, ShownLine) and load_shown(driver, run.line, run.first, run.plies)):
        run.line.rows = load_plies(driver, run.first, run.plies, run.seen.started_at_ms or 0, run.seen.offset)
        require_sound_plies(run.line.rows, run.plies)


def _load_children(
    driver: SqlDriver, observations: dict[int, Observation], runs: dict[int, list[_Run]], wanted: _Wanted
) -> None:
    """Of the lines' plies only where they are, appended to ``runs``."""
    ids = ",".join(map(str, observations))
    mine, order = f"WHERE observation_id IN ({ids})", "ORDER BY observation_id, seq"
    main = "" if wanted.with_lines else " AND line_no = 0"
    lines_only = "" if wanted.with_lines else " AND (line_no = 0 OR kind = 'variation')"
    for row in checked_rows(driver, PLY_LINES, f"{mine}{lines_only} ORDER BY observation_id, line_no"):
        line = ply_line_from_row(row, whole=wanted.whole_plies)
        observations[row[0]].lines.append(line)
        runs[row[0]].append(_Run(observations[row[0]], line, *row[1:3]))
    for row in checked_rows(driver, ANCHORS, f"{mine}{main} {order}"):
        observations[row[0]].anchors.append(ANCHORS.value(row))
    if wanted.with_holdings:
        for row in checked_rows(driver, HOLDINGS, f"{mine} {order}"):
            observations[row[0]].holdings.append(HOLDINGS.value(row, observations[row[0]].started_at_ms or 0))
    if wanted.with_events:
        of_kind = f" AND kind = '{wanted.with_events.value}'" if isinstance(wanted.with_events, EventKind) else ""
        for row in checked_rows(driver, EVENTS, f"{mine}{of_kind} {order}"):
            observations[row[0]].events.append(EVENTS.value(row, observations[row[0]].started_at_ms or 0))
    if wanted.with_thinking:
        for row in checked_rows(driver, THINKING, f"{mine} {order}"):
            observations[row[0]].thinking.append(THINKING.value(row, observations[row[0]].started_at_ms or 0))


_OF_ANALYSIS: Final = types_of(Analysis)
_CHECK: Final = RowCheck(
    {"game_key": _OF_ANALYSIS["engine"]}
    | {name: _OF_ANALYSIS[name] for name in ("begun_ms", "engine", "protocol", "settings")}
    | {"ply": _OF_ANALYSIS["begun_ms"]}
    | {name: ANALYSIS_LINES.types[name] for name in ANALYSIS_LINES.columns[2:]},
    {"protocol": get_args(EngineProtocol)},
)
_COLUMNS: Final = ", ".join(f"l.{name}" for name in ANALYSIS_LINES.columns[2:])


class StoredAnalysis(NamedTuple):
    """Also positions that the game no longer has; source and offset are None if it is not in this archive."""

    key: str
    sha256: str | None
    first_offset: int | None
    analysis: Analysis
    positions: list[AnalysedPosition]


def has_analyses(driver: SqlDriver) -> bool:
    return driver.execute("SELECT 1 FROM analyses LIMIT 1").fetchone() is not None


def analysts(driver: sqlite3.Connection) -> list[str]:
    return [name for (name,) in driver.execute("SELECT DISTINCT engine FROM analyses ORDER BY engine")]


def load_analyses(driver: SqlDriver, games: Collection[Game]) -> None:
    """The earliest first, without positions that a game no longer has; analyses with equal settings are merged."""
    of_key = {key: game for game in games for key in (game.key, *game.merged_from)}
    marks = ", ".join("?" * len(of_key))
    rows = driver.execute(
        f"SELECT a.game_key, a.begun_ms, a.engine, a.protocol, a.settings, p.ply, {_COLUMNS} FROM analyses a"
        " JOIN analysed_positions p ON p.analysis_id = a.id AND p.stands JOIN analysis_lines l ON l.position_id = p.id"
        f" WHERE a.game_key IN ({marks}) ORDER BY a.begun_ms, a.id, p.ply, l.seq",
        list(of_key),
    )
    analyses: dict[tuple[str, str, str, str], tuple[Analysis, dict[int, list[Thinking]]]] = {}
    for (key, begun_ms, engine, protocol, settings), of_engine in groupby(_CHECK(rows), lambda row: row[:5]):
        named = (of_key[key].key, engine, protocol, settings)
        head, by_ply = analyses.setdefault(named, (Analysis(engine, protocol, settings, begun_ms, ()), {}))
        by_ply |= {
            ply: [_thinking(head, row[5:]) for row in lines] for ply, lines in groupby(of_engine, lambda row: row[5])
        }
    for (key, *_), (head, by_ply) in analyses.items():
        of_key[key].analyses.append(replace(head, lines=_numbered(by_ply)))


def _thinking(head: Analysis, row: Sequence[Any]) -> Thinking:
    return Thinking._make((0, row[0], head.engine, row[0] % 2 == 0, *row[1:], None, 0))


def _numbered(by_ply: dict[int, list[Thinking]]) -> tuple[Thinking, ...]:
    lines = (line for ply in sorted(by_ply) for line in by_ply[ply])
    return tuple(line._replace(seq=seq) for seq, line in enumerate(lines))


def current_plies(driver: sqlite3.Connection, keys: Collection[str], analysis: Analysis) -> set[int]:
    """By half-moves played."""
    marks = ", ".join("?" * len(keys))
    rows = driver.execute(
        "SELECT p.ply FROM analyses a JOIN analysed_positions p ON p.analysis_id = a.id AND p.stands"
        f" WHERE a.engine = ? AND a.protocol = ? AND a.settings = ? AND a.game_key IN ({marks})",
        (analysis.engine, analysis.protocol, analysis.settings, *keys),
    )
    return {ply for (ply,) in rows}


def stored_analyses(driver: sqlite3.Connection) -> Iterator[StoredAnalysis]:
    rows = driver.execute(
        "SELECT a.id, a.game_key, s.sha256, g.first_offset, a.engine, a.protocol, a.settings, a.begun_ms"
        " FROM analyses a LEFT JOIN games g ON g.key = a.game_key AND g.source_id IS NOT NULL"
        " LEFT JOIN sources s ON s.id = g.source_id ORDER BY a.id"
    )
    for number, key, sha256, offset, engine, protocol, settings, begun_ms in rows.fetchall():
        head = Analysis(engine, protocol, settings, begun_ms, ())
        lines: dict[int, list[Thinking]] = {}
        for row in driver.execute(
            f"SELECT p.id, p.ply, {_COLUMNS} FROM analysed_positions p JOIN analysis_lines l ON l.position_id = p.id"
            " WHERE p.analysis_id = ? ORDER BY l.seq",
            (number,),
        ):
            lines.setdefault(row[0], []).append(_thinking(head, row[1:]))
        places = driver.execute(
            "SELECT id, ply, fen FROM analysed_positions WHERE analysis_id = ? ORDER BY id", (number,)
        )
        positions = [AnalysedPosition(ply, fen, tuple(lines.get(row_id, ()))) for row_id, ply, fen in places]
        yield StoredAnalysis(key, sha256, offset, head, positions)
