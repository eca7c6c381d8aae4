"""``db check``: corrupt pages, invalid values, and what constraints cannot promise.

What a column holds follows from its definition in ``storage.schema.tables``: type, null, the words or numbers of a
closed set (``info={"values": …}``), the shape of JSON (``info={"json": …}``), zstd in every BLOB. Of a whole row its
table's constraints hold, and conditions that no constraint states (``info={"rules": …}``). Nothing is looked at when
rows are read, which would cost every reader; who fails on a value asks here which one it was.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from recorder.errors import StorageError
from storage.files import driver_of, make_engine, open_sqlite, told
from storage.read.sources import unpacked
from storage.schema.upgrade import differences, require_current
from storage.schema.views import VIEWS
from storage.write.merged import unmerged

if TYPE_CHECKING:
    from sqlalchemy import Column, Connection, Table

__all__ = ["check", "first_malformed", "foreign_statements", "malformed_pages", "malformed_values", "missing_rows"]

_MOST: Final = (1 << 62) - 1
"""No source holds a larger number; sums of two such are still SQLite's integers."""
_NAMED: Final = 20
"""So many rows of one table are named; of more their number is."""
_SHOWN: Final = 40
"""Bytes of a malformed value."""
_TREE: Final = re.compile(r"Tree (\d+) ")
_TEXT: Final = re.compile(r"CAST\(X'([0-9A-F]*)' AS TEXT\)")
_STORED_TYPE: Final = re.compile(r"(?:TEXT|NUMERIC|NULL) value in |CHECK constraint failed in ")
"""What ``integrity_check`` says of values; ``malformed_values`` names their rows, too."""


def malformed_pages(driver: sqlite3.Connection) -> Iterator[str]:
    """What SQLite finds in the structure of the file, with the table or index that it is in."""
    try:
        names = {
            root: (kind, name, table)
            for kind, name, table, root in driver.execute("SELECT type, name, tbl_name, rootpage FROM sqlite_master")
        }
        for (line,) in driver.execute("PRAGMA integrity_check"):
            if line == "ok" or _STORED_TYPE.match(line):
                continue
            tree = _TREE.search(line)
            kind, name, table = names.get(int(tree[1]) if tree else 0, ("", "", ""))
            where = f"{kind} {name} of {table}: " if kind == "index" else f"table {name}: " if kind else ""
            yield f"Corrupt page: {where}{_one_line(line)}."
    except (sqlite3.Error, UnicodeDecodeError) as error:
        yield f"Corrupt file: {error}."


def malformed_values(driver: sqlite3.Connection) -> Iterator[str]:
    """Values that their columns cannot hold, one sentence a row: table, row, column and value.

    Constraints are checked here, too: ``integrity_check`` leaves them out on a connection that may only read.
    """
    from storage.schema.tables import metadata

    for table in metadata.tables.values():
        try:
            yield from _of_table(driver, table)
        except sqlite3.Error as error:
            yield f"Table {table.name} cannot be read: {_one_line(str(error))}."


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


def missing_rows(driver: sqlite3.Connection) -> Iterator[str]:
    """Rows that name a row of another table that is not there."""
    for table, row_id, parent, _ in driver.execute("PRAGMA foreign_key_check"):
        row = "A row" if row_id is None else f"Row {row_id}"
        yield f"{row} of {table} names a row of {parent} that is not there."


def _of_table(driver: sqlite3.Connection, table: Table) -> Iterator[str]:
    from sqlalchemy import CheckConstraint

    columns = list(table.columns)
    keys = [column.name for column in table.primary_key.columns]
    rules = [str(one.sqltext) for one in table.constraints if isinstance(one, CheckConstraint)]
    rules += table.info.get("rules", ())
    valid = [f"({_is_valid(column)}) IS 1" for column in columns] + [f"({rule}) IS NOT 0" for rule in rules]
    tests = " ".join(f"WHEN NOT ({test}) THEN {number}" for number, test in enumerate(valid))
    key = ", ".join(map(_literal, keys))
    query = f"SELECT {key}, CASE {tests} END AS wrong FROM {table.name} WHERE wrong IS NOT NULL"
    wrong = driver.execute(query).fetchall()
    for *values, number in wrong[:_NAMED]:
        if number >= len(columns):
            yield f"{_row(table, keys, values)}: it is not true that {rules[number - len(columns)]}."
            continue
        column = columns[number]
        place = " AND ".join(f'"{name}" IS {value}' for name, value in zip(keys, values, strict=True))
        parts = f'typeof("{column.name}"), quote(substr(CAST("{column.name}" AS BLOB), 1, {_SHOWN}))'
        kind, shown = driver.execute(f"SELECT {parts} FROM {table.name} WHERE {place}").fetchone() or ("missing", "")
        value = bytes.fromhex(shown[2:-1]).decode("utf-8", "replace") if shown.startswith("X'") else shown
        yield f"{_row(table, keys, values)}: {column.name} is {_value(kind, value)}, not {_wanted(column)}."
    if len(wrong) > _NAMED:
        yield f"{len(wrong) - _NAMED} more rows of {table.name} are malformed."
    yield from _undecodable(driver, table, keys)
    for column in columns:
        if column.type.__visit_name__ == "large_binary":
            yield from _uncompressed(driver, table, column, keys)


def _literal(name: str) -> str:
    """SQL: a column's value as a literal of SQL, also that of a text that is no UTF-8."""
    quoted = f'"{name}"'
    as_text = f"'CAST(X''' || hex({quoted}) || ''' AS TEXT)'"
    return f"CASE typeof({quoted}) WHEN 'text' THEN {as_text} ELSE quote({quoted}) END"


def _row(table: Table, keys: list[str], values: list[Any]) -> str:
    shown = [_TEXT.sub(lambda text: ascii(bytes.fromhex(text[1]).decode("utf-8", "replace")), one) for one in values]
    place = ", ".join(f"{name} {value}" for name, value in zip(keys, shown, strict=True))
    return f"Row of {table.name} with {place}"


def _value(kind: str, value: str) -> str:
    return "null" if kind == "null" else f"the {kind} {value!a}"


def _wanted(column: Column[Any]) -> str:
    if "values" in column.info:
        return "one of its words or numbers"
    kind = column.type.__visit_name__
    if kind == "JSON" or "json" in column.info:
        return f"a JSON {column.info['json']}"
    if kind == "big_integer" or kind == "integer":
        return "an integer of its range"
    return {"boolean": "0 or 1", "large_binary": "a BLOB"}.get(kind, "a text")


def _is_valid(column: Column[Any]) -> str:
    """SQL: 1 where the column holds what it may."""
    name = f'"{column.name}"'
    if "values" in column.info:
        words = ", ".join(str(word) if isinstance(word, int) else f"'{word}'" for word in column.info["values"])
        valid = f"{name} IN ({words})"
        kind = "text" if isinstance(next(iter(column.info["values"])), str) else "integer"
        valid = f"typeof({name}) = '{kind}' AND {valid}"
    elif "json" in column.info:
        of_text = f"typeof({name}) = 'text' AND json_valid({name})"
        valid = f"CASE WHEN {of_text} THEN json_type({name}) = '{column.info['json']}' END"
    else:
        valid = _of_type(column, name)
    return f"({valid}) OR {name} IS NULL" if column.nullable else valid


def _of_type(column: Column[Any], name: str) -> str:
    kind = column.type.__visit_name__
    if kind == "boolean":
        return f"typeof({name}) = 'integer' AND {name} IN (0, 1)"
    if kind == "large_binary":
        return f"typeof({name}) = 'blob'"
    if kind in ("integer", "big_integer"):
        least, most = column.info.get("range", (-_MOST, _MOST))
        return f"typeof({name}) = 'integer' AND {name} BETWEEN {least} AND {most}"
    return f"typeof({name}) = 'text'"


def _undecodable(driver: sqlite3.Connection, table: Table, keys: list[str]) -> Iterator[str]:
    """Texts that are no UTF-8: found by reading all; only then row by row."""
    texts = [column.name for column in table.columns if column.type.__visit_name__ in ("text", "JSON")]
    if not texts:
        return
    wanted = ", ".join(f'"{name}"' for name in texts)
    try:
        for _ in driver.execute(f"SELECT {wanted} FROM {table.name}"):
            pass
        return
    except sqlite3.OperationalError:
        pass
    key = ", ".join(map(_literal, keys))
    bytes_of = ", ".join(f'CAST("{name}" AS BLOB)' for name in texts)
    kinds = ", ".join(f'typeof("{name}")' for name in texts)
    for row in driver.execute(f"SELECT {key}, {bytes_of}, {kinds} FROM {table.name}"):
        for name, value, kind in zip(texts, row[len(keys) :], row[len(keys) + len(texts) :], strict=False):
            if kind == "text" and not _is_utf8(value):
                yield f"{_row(table, keys, list(row[: len(keys)]))}: {name} is no UTF-8."


def _is_utf8(value: bytes) -> bool:
    try:
        value.decode()
    except UnicodeDecodeError:
        return False
    return True


def _uncompressed(driver: sqlite3.Connection, table: Table, column: Column[Any], keys: list[str]) -> Iterator[str]:
    """BLOBs that are no zstd, or of another size than ``size_bytes`` beside them, where there is one."""
    sized = column.info.get("size")
    key = ", ".join(map(_literal, keys))
    query = f'SELECT {key}, "{column.name}", {sized or "NULL"} FROM {table.name}'
    for *values, data, size in driver.execute(f"{query} WHERE typeof(\"{column.name}\") = 'blob'"):
        place = f"{_row(table, keys, values)}: {column.name}"
        try:
            found = len(unpacked(data, place))
        except StorageError as error:
            yield str(error)
        else:
            if sized and found != size:
                yield f"{place} holds {found} bytes, not {size}."


def _one_line(text: str) -> str:
    return " ".join(text.split()).rstrip(".")


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
        with told(path), engine.connect() as connection:
            return _findings(connection)
    finally:
        engine.dispose()


def first_malformed(path: Path) -> str | None:
    """The first part of a file that is not what an archive holds there: why reading it failed. None: all values are.

    It reads the whole file, so it is for callers that have failed already.
    """
    try:
        with closing(open_sqlite(path, read_only=True)) as driver:
            return next(chain(malformed_pages(driver), malformed_values(driver), missing_rows(driver)), None)
    except sqlite3.Error:
        return None


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
