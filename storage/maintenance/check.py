"""``db check``: the whole file is looked at, its pages, its values, its schema and what constraints cannot promise."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING

from storage.files import driver_of, make_engine
from storage.maintenance.malformed import malformed_pages, malformed_values, missing_rows, storage_errors
from storage.schema.upgrade import differences, require_current
from storage.schema.views import VIEWS
from storage.write.merged import unmerged

if TYPE_CHECKING:
    from sqlalchemy import Connection

__all__ = ["check", "foreign_statements"]


def foreign_statements(driver: sqlite3.Connection) -> list[str]:
    """Triggers, and views that are not those of ``storage.schema.views``; and which of those are missing."""
    own = {sql.split()[2]: sql for sql in VIEWS}
    found = driver.execute("SELECT type, name, tbl_name, sql FROM sqlite_master WHERE type IN ('trigger', 'view')")
    foreign = []
    for kind, name, table, sql in found.fetchall():
        if own.pop(name, None) != sql:
            on = f" on {table}" if kind == "trigger" else ""
            foreign.append(f"The {kind} {name}{on} is not part of an archive: drop it.")
    return [*foreign, *(f"The view {name} is missing." for name in own)]


_RULES: tuple[tuple[str, str], ...] = (
    (
        "plies that belong to no line",
        "SELECT (SELECT count(*) FROM plies) - (SELECT coalesce(sum(ply_count), 0) FROM ply_lines)",
    ),
    (
        "lines that share their plies with another",
        """SELECT count(*) FROM (
             SELECT first_ply_id, lag(first_ply_id + ply_count) OVER (ORDER BY first_ply_id) AS free
             FROM ply_lines WHERE ply_count > 0
           ) WHERE first_ply_id < free""",
    ),
    (
        "plies out of order in their line",
        """SELECT count(*) FROM ply_lines l
           JOIN plies p ON p.id BETWEEN l.first_ply_id AND l.first_ply_id + l.ply_count - 2
           JOIN plies n ON n.id = p.id + 1 WHERE n.ply <= p.ply""",
    ),
    (
        "lines without the line they leave",
        """SELECT count(*) FROM ply_lines l WHERE l.parent_line_no IS NOT NULL AND NOT EXISTS (
             SELECT 1 FROM ply_lines m WHERE m.observation_id = l.observation_id AND m.line_no = l.parent_line_no)""",
    ),
    (
        "segments whose first or last ply is not there",
        """SELECT count(*) FROM segments s JOIN ply_lines l ON l.observation_id = s.observation_id AND l.line_no = 0
           WHERE (SELECT count(*) FROM plies p WHERE p.id BETWEEN l.first_ply_id AND l.first_ply_id + l.ply_count - 1
                  AND p.ply IN (s.from_ply, s.to_ply)) < 1 + (s.from_ply < s.to_ply)""",
    ),
    (
        "segments that overlap the one before",
        """SELECT count(*) FROM segments s JOIN segments t ON t.game_id = s.game_id AND t.seq = s.seq + 1
           WHERE t.from_ply <= s.to_ply""",
    ),
    (
        "segments of another game's observation",
        """SELECT count(*) FROM segments s JOIN observations o ON o.id = s.observation_id
           JOIN games g ON g.id = o.game_id WHERE o.game_id <> s.game_id AND g.merged_into IS NOT s.game_id""",
    ),
    (
        "games of several sources whose key is that of none of their witnesses",
        """SELECT count(*) FROM games g WHERE g.source_id IS NULL AND NOT EXISTS (
             SELECT 1 FROM games w WHERE w.merged_into = g.id AND w.key = g.key)""",
    ),
    (
        "witnesses of a game that has a source of its own",
        "SELECT count(*) FROM games w JOIN games g ON g.id = w.merged_into WHERE g.source_id IS NOT NULL",
    ),
    (
        "observations of logs with a NUL character in a player's name, which the reader of logs deletes",
        """SELECT count(*) FROM observations o JOIN games g ON g.id = o.game_id
           WHERE o.kind IN ('live', 'examined', 'movelist') AND (
             instr(CAST(o.white AS BLOB), X'00') OR instr(CAST(o.black AS BLOB), X'00')
             OR instr(CAST(g.white AS BLOB), X'00') OR instr(CAST(g.black AS BLOB), X'00'))""",
    ),
    (
        "games whose number of plies is not that of their segments",
        """SELECT count(*) FROM games g WHERE g.ply_count <> (
             SELECT count(*) FROM segments s
             JOIN ply_lines l ON l.observation_id = s.observation_id AND l.line_no = 0
             JOIN plies p ON p.id BETWEEN l.first_ply_id AND l.first_ply_id + l.ply_count - 1
               AND p.ply BETWEEN s.from_ply AND s.to_ply
             WHERE s.game_id = g.id)""",
    ),
    (
        "sources whose kept bytes have a hole",
        """SELECT count(*) FROM sources s
           WHERE s.kept_bytes <> (SELECT coalesce(sum(size_bytes), 0) FROM source_chunks c WHERE c.source_id = s.id)
              OR s.kept_bytes <> (SELECT coalesce(max("offset" + size_bytes), 0) FROM source_chunks c
                                  WHERE c.source_id = s.id)""",
    ),
)


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
        with storage_errors(path), engine.connect() as connection:
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
    for what, sql in _RULES:
        count = connection.exec_driver_sql(sql).scalar_one()
        if count:
            found.append(f"There are {what}: {count}.")
    return found or _unmerged(driver)


def _unmerged(driver: sqlite3.Connection) -> list[str]:
    keys = unmerged(driver)
    return [f"Game {key} is not merged from its sources: run `ics-recorder db upgrade`." for key in keys]
