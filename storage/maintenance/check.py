"""``db check``: look at the whole file, its pages, its values, its schema, and rules between tables.

Rules that no constraint can state are queries that count the rows which break them.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import ColumnElement, Integer, LargeBinary, Select, cast, exists, func, or_, select

from recorder.model import ObservationKind
from storage.files import driver_of, make_engine, unchanged_while_read
from storage.maintenance.malformed import malformed_pages, malformed_values, missing_rows, storage_errors
from storage.schema import tables
from storage.schema.upgrade import differences, require_current
from storage.schema.views import VIEWS
from storage.write.merged import unmerged

if TYPE_CHECKING:
    from sqlalchemy import Connection


__all__ = [
    "RULES",
    "check",
    "foreign_statements",
]


_sources, _chunks = tables.sources.c, tables.source_chunks.c
_games, _seen, _segments = tables.games.c, tables.observations.c, tables.segments.c
_lines, _plies = tables.ply_lines.c, tables.plies.c
_count: Final = select(func.count())

_next_ply = tables.plies.alias("next_ply")
_parent_line = tables.ply_lines.alias("parent_line")
_next_segment = tables.segments.alias("next_segment")
_members = tables.games.alias("members")
_member = _members.c

_RUN: Final = _plies.id.between(_lines.first_ply_id, _lines.first_ply_id + _lines.ply_count - 1)
_MAIN_LINE: Final = (_lines.observation_id == _segments.observation_id) & (_lines.line_no == 0)
_ENDS: Final = (
    select(func.lag(_lines.first_ply_id + _lines.ply_count).over(order_by=_lines.first_ply_id).label("free"))
    .add_columns(_lines.first_ply_id)
    .where(_lines.ply_count > 0)
    .subquery()
)
_HAS_NUL: Final = [
    func.instr(cast(column, LargeBinary), b"\0") for column in (_seen.white, _seen.black, _games.white, _games.black)
]
_FROM_LOGS: Final = (ObservationKind.LIVE, ObservationKind.EXAMINED, ObservationKind.MOVELIST)


def _of_source(value: ColumnElement[int]) -> ColumnElement[int]:
    """A sum or maximum over the chunks of a source; 0 if it has none."""
    return select(func.coalesce(value, 0)).where(_chunks.source_id == _sources.id).scalar_subquery()


RULES: Final[tuple[tuple[str, Select[Any]], ...]] = (
    (
        "plies that belong to no line",
        select(
            _count.select_from(tables.plies).scalar_subquery()
            - select(func.coalesce(func.sum(_lines.ply_count), 0)).scalar_subquery()
        ),
    ),
    (
        "lines that share their plies with another",
        _count.select_from(_ENDS).where(_ENDS.c.first_ply_id < _ENDS.c.free),
    ),
    (
        "plies out of order in their line",
        _count.select_from(tables.ply_lines)
        .join(tables.plies, _plies.id.between(_lines.first_ply_id, _lines.first_ply_id + _lines.ply_count - 2))
        .join(_next_ply, _next_ply.c.id == _plies.id + 1)
        .where(_next_ply.c.ply <= _plies.ply),
    ),
    (
        "lines without the line they leave",
        _count.select_from(tables.ply_lines).where(
            _lines.parent_line_no.is_not(None),
            ~exists().where(
                _parent_line.c.observation_id == _lines.observation_id,
                _parent_line.c.line_no == _lines.parent_line_no,
            ),
        ),
    ),
    (
        "segments whose first or last ply is not there",
        _count.select_from(tables.segments)
        .join(tables.ply_lines, _MAIN_LINE)
        .where(
            _count.select_from(tables.plies)
            .where(_RUN, _plies.ply.in_((_segments.from_ply, _segments.to_ply)))
            .correlate(tables.segments, tables.ply_lines)
            .scalar_subquery()
            < 1 + cast(_segments.from_ply < _segments.to_ply, Integer)
        ),
    ),
    (
        "segments that overlap the one before",
        _count.select_from(tables.segments)
        .join(
            _next_segment,
            (_next_segment.c.game_id == _segments.game_id) & (_next_segment.c.seq == _segments.seq + 1),
        )
        .where(_next_segment.c.from_ply <= _segments.to_ply),
    ),
    (
        "segments of another game's observation",
        _count.select_from(tables.segments)
        .join(tables.observations, _seen.id == _segments.observation_id)
        .join(tables.games, _games.id == _seen.game_id)
        .where(_seen.game_id != _segments.game_id, _games.merged_into.is_distinct_from(_segments.game_id)),
    ),
    (
        "merged games whose key is none of their sources' keys",
        _count.select_from(tables.games).where(
            _games.source_id.is_(None),
            ~exists().where(_member.merged_into == _games.id, _member.key == _games.key),
        ),
    ),
    (
        "games merged into a game that has a source of its own",
        _count.select_from(_members)
        .join(tables.games, _games.id == _member.merged_into)
        .where(_games.source_id.is_not(None)),
    ),
    (
        "observations of logs with a NUL character in a player's name, which the reader of logs deletes",
        _count.select_from(tables.observations)
        .join(tables.games, _games.id == _seen.game_id)
        .where(_seen.kind.in_([kind.value for kind in _FROM_LOGS]), or_(*(found > 0 for found in _HAS_NUL))),
    ),
    (
        "games whose number of plies is not that of their segments",
        _count.select_from(tables.games).where(
            _games.ply_count
            != _count.select_from(tables.segments)
            .join(tables.ply_lines, _MAIN_LINE)
            .join(tables.plies, _RUN & _plies.ply.between(_segments.from_ply, _segments.to_ply))
            .where(_segments.game_id == _games.id)
            .correlate(tables.games)
            .scalar_subquery()
        ),
    ),
    (
        "sources whose kept bytes have a hole",
        _count.select_from(tables.sources).where(
            or_(
                _sources.kept_bytes != _of_source(func.sum(_chunks.size_bytes)),
                _sources.kept_bytes != _of_source(func.max(_chunks.offset + _chunks.size_bytes)),
            )
        ),
    ),
)


def foreign_statements(driver: sqlite3.Connection) -> list[str]:
    """Triggers, and views that are not those of ``storage.schema.upgrade``; and which of those are missing."""
    own = {sql.split()[2]: sql for sql in VIEWS}
    found = driver.execute("SELECT type, name, tbl_name, sql FROM sqlite_master WHERE type IN ('trigger', 'view')")
    foreign = []
    for kind, name, table, sql in found.fetchall():
        if own.pop(name, None) != sql:
            on = f" on {table}" if kind == "trigger" else ""
            foreign.append(f"The {kind} {name}{on} is not part of an archive: drop it.")
    return [*foreign, *(f"The view {name} is missing." for name in own)]


def check(path: Path) -> list[str]:
    """Look at the whole file: SQLite's own structures, each value, foreign keys, the schema, and rules between tables.

    Args:
        path: an archive with the newest schema.
    Returns:
        One sentence for each finding; empty: all is well.
    Raises:
        StorageError: the file is no archive that this program can read.
    """
    require_current(path)
    engine = make_engine(path, read_only=True)
    try:
        with storage_errors(path), unchanged_while_read(path), engine.connect() as connection:
            return _findings(connection)
    finally:
        engine.dispose()


def _findings(connection: Connection) -> list[str]:
    driver = driver_of(connection)
    found = list(malformed_pages(driver))
    if found:
        return found  # the other questions would only repeat it
    found = list(malformed_values(driver))
    found += missing_rows(driver)
    found += [f"The schema differs from the migrations': {difference}." for difference in differences(connection)]
    found += foreign_statements(driver)
    if found:
        return found  # the rules between tables are about values of the right types
    for what, query in RULES:
        count = connection.scalar(query)
        if count:
            found.append(f"There are {what}: {count}.")
    return found or _unmerged(driver)


def _unmerged(driver: sqlite3.Connection) -> list[str]:
    keys = unmerged(driver)
    return [f"Game {key} is not merged from its sources: run `ics-recorder db upgrade`." for key in keys]
