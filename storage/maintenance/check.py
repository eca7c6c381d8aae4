"""``db check``: look at the whole file, its pages, its values, its schema, and rules between rows.

What a column holds follows from its definition in ``storage.schema.tables``: type, null, the words or numbers of a
closed set (``info={"values": …}``), the shape of JSON (``info={"json": …}``), a condition (``info={"holds": …}``), zstd
in every BLOB; and from its name (``storage.sound``): the range of a number, the form of a text. Of a whole row its
table's constraints hold, and conditions that no constraint states (``info={"rules": …}``). Rules between rows are
queries that count the rows which break them.
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
from recorder.model import ObservationKind
from storage.files import open_sqlite, reading, storage_errors, unchanged_while_read
from storage.read.query import fold
from storage.read.sources import unpacked
from storage.schema.upgrade import differences, require_current
from storage.schema.views import VIEWS
from storage.sound import allowed, form_of
from storage.write.merged import unmerged

if TYPE_CHECKING:
    from sqlalchemy import Column, Table

_NAMED_ROWS: Final = 20
"""So many rows of one table are named; of more their number is."""
_SHOWN: Final = 40
_TREE: Final = re.compile(r"Tree (\d+) ")
_STORED_TYPE: Final = re.compile(r"(?:TEXT|NUMERIC|NULL) value in |CHECK constraint failed in ")
"""What ``integrity_check`` says of values; ``malformed_values`` names their rows, too."""


def malformed_pages(driver: sqlite3.Connection) -> Iterator[str]:
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
    """One sentence a row. Constraints, too: ``integrity_check`` omits them on a connection that may only read."""
    from storage.schema.tables import metadata

    _prepare(driver)
    for table in metadata.tables.values():
        try:
            yield from _of_table(driver, table)
        except sqlite3.Error as error:
            yield f"Table {table.name} cannot be read: {_one_line(str(error))}."


def missing_rows(driver: sqlite3.Connection) -> Iterator[str]:
    """Rows that name a row of another table that is not there."""
    from storage.schema.tables import metadata

    _prepare(driver)
    for table in metadata.tables.values():
        for key in sorted(table.foreign_keys, key=lambda key: key.parent.name):
            name, parent = key.parent.name, key.column.table.name
            for (row,) in driver.execute(
                f"SELECT {_row_of(table)} FROM {table.name} t WHERE {name} IS NOT NULL"
                f" AND NOT EXISTS (SELECT 1 FROM {parent} p WHERE p.{key.column.name} = t.{name}) LIMIT {_NAMED_ROWS}"
            ):
                yield f"{row}: {name} names a row of {parent} that is not there."


def _prepare(driver: sqlite3.Connection) -> None:
    for function in (_has_form, _is_utf8, _described):
        driver.create_function(function.__name__[1:], -1, function)


def _of_table(driver: sqlite3.Connection, table: Table) -> Iterator[str]:
    from sqlalchemy import CheckConstraint

    columns = list(table.columns)
    rules = [str(constraint.sqltext) for constraint in table.constraints if isinstance(constraint, CheckConstraint)]
    rules += table.info.get("rules", ())
    valid = [f"({_is_valid(column)}) IS 1" for column in columns] + [f"({rule}) IS NOT 0" for rule in rules]
    tests = " ".join(f"WHEN NOT ({test}) THEN {number}" for number, test in enumerate(valid))
    values = " ".join(
        f"""WHEN {number} THEN 'the ' || typeof("{column.name}") || ' ' || described('text', {_bytes_of(column)})"""
        for number, column in enumerate(columns)
    )
    checked = f"(SELECT *, CASE {tests} END AS wrong FROM {table.name}) t WHERE wrong IS NOT NULL"
    rows = driver.execute(f"SELECT {_row_of(table)}, wrong, CASE wrong {values} END FROM {checked}").fetchall()
    for row, number, value in rows[:_NAMED_ROWS]:
        if number < len(columns):
            column = columns[number]
            yield f"{row}: {column.name} is {value or 'null'}, not {_wanted(column)}."
        else:
            yield f"{row}: it is not true that {rules[number - len(columns)]}."
    if len(rows) > _NAMED_ROWS:
        yield f"{len(rows) - _NAMED_ROWS} more rows of {table.name} are malformed."
    for column in columns:
        if column.type.__visit_name__ == "large_binary":
            yield from _uncompressed(driver, table, column)


def _bytes_of(column: Column[Any]) -> str:
    return f'substr(CAST("{column.name}" AS BLOB), 1, {_SHOWN})'


def _described(kind: str, value: bytes | None) -> str | None:
    text = None if value is None else value.decode("utf-8", "replace")
    return ascii(text) if text is not None and kind in ("text", "blob") else text


_OF_PLY: Final = (
    "(SELECT o.game_id FROM ply_lines l JOIN observations o ON o.id = l.observation_id"
    " WHERE t.id BETWEEN l.first_ply_id AND l.first_ply_id + l.ply_count - 1)"
)
_OF_OBSERVATION: Final = "(SELECT game_id FROM observations WHERE id = t.observation_id)"


def _row_of(table: Table) -> str:
    """SQL: a text that names a row ``t`` by its key, and by the game that it belongs to, as lists show it."""
    keys = " || ', ' || ".join(
        f"'{key.name} ' || coalesce(described(typeof(t.\"{key.name}\"), CAST(t.\"{key.name}\" AS BLOB)), 'null')"
        for key in table.primary_key.columns
    )
    of_column = {"game_id": "t.game_id", "observation_id": _OF_OBSERVATION}
    game = {"plies": _OF_PLY, "games": "t.id"}.get(table.name) or next(
        (sql for name, sql in of_column.items() if name in table.columns), "NULL"
    )
    listed = "SELECT coalesce(m.key, g.key) AS key FROM games g LEFT JOIN games m ON m.id = g.merged_into"
    named = f"SELECT ' (game ' || substr(key, 1, 8) || ')' FROM ({listed} WHERE g.id = {game})"
    sound = "typeof(key) = 'text' AND has_form('games', 'key', CAST(key AS BLOB))"
    return f"'Row of {table.name} with ' || {keys} || coalesce(({named} WHERE {sound}), '')"


def _wanted(column: Column[Any]) -> str:
    if "values" in column.info:
        return "one of its words or numbers"
    if "holds" in column.info:
        return str(column.info["holds"][1])
    if (form := form_of(column.table.name, column.name)) is not None:
        return form.name
    kind = column.type.__visit_name__
    if kind == "JSON" or "json" in column.info:
        return f"a JSON {column.info['json']}"
    if kind == "big_integer" or kind == "integer":
        return "an integer of its range"
    return {"boolean": "0 or 1", "large_binary": "a BLOB"}.get(kind, "a text in UTF-8")


def _is_valid(column: Column[Any]) -> str:
    name = f'"{column.name}"'
    if "values" in column.info:
        words = ", ".join(str(word) if isinstance(word, int) else f"'{word}'" for word in column.info["values"])
        valid = f"{name} IN ({words})"
        kind = "text" if isinstance(next(iter(column.info["values"])), str) else "integer"
        valid = f"typeof({name}) = '{kind}' AND {valid}"
    elif "json" in column.info:
        of_text = f"typeof({name}) = 'text' AND json_valid({name})"
        valid = f"CASE WHEN {of_text} THEN json_type({name}) = '{column.info['json']}' END"
    elif form_of(column.table.name, column.name) is not None:
        valid = f"typeof({name}) = 'text' AND has_form('{column.table.name}', '{column.name}', CAST({name} AS BLOB))"
    else:
        valid = _of_type(column, name)
    if "holds" in column.info:
        valid = f"{valid} AND ({column.info['holds'][0]})"
    if column.type.__visit_name__ in ("text", "JSON"):
        valid = f"({valid}) AND is_utf8(CAST({name} AS BLOB))"
    return f"({valid}) OR {name} IS NULL" if column.nullable else valid


def _has_form(table: str, column: str, text: bytes | None) -> bool:
    form = form_of(table, column)
    return form is not None and (text or b"").decode(errors="replace") in form


def _of_type(column: Column[Any], name: str) -> str:
    kind = column.type.__visit_name__
    if kind == "boolean":
        return f"typeof({name}) = 'integer' AND {name} IN (0, 1)"
    if kind == "large_binary":
        return f"typeof({name}) = 'blob'"
    if kind in ("integer", "big_integer"):
        held = allowed(column.name)
        return f"typeof({name}) = 'integer' AND {name} BETWEEN {held.start} AND {held.stop - 1}"
    return f"typeof({name}) = 'text'"


def _is_utf8(text: bytes | None) -> bool:
    try:
        (text or b"").decode()
    except UnicodeDecodeError:
        return False
    return True


def _uncompressed(driver: sqlite3.Connection, table: Table, column: Column[Any]) -> Iterator[str]:
    """BLOBs that are no zstd, or of another size than ``size_bytes`` beside them, where there is one."""
    sized = column.info.get("size")
    query = f'SELECT {_row_of(table)}, "{column.name}", {sized or "NULL"} FROM {table.name} t'
    for row, data, size in driver.execute(f"{query} WHERE typeof(\"{column.name}\") = 'blob'"):
        place = f"{row}: {column.name}"
        try:
            length = len(unpacked(data, place))
        except StorageError as error:
            yield str(error)
        else:
            if sized and length != size:
                yield f"{place} holds {length} bytes, not {size}."


def _one_line(text: str) -> str:
    return " ".join(text.split()).rstrip(".")


_NAMED: Final = 5  # so many games that break a rule
_RUN: Final = "p.id BETWEEN l.first_ply_id AND l.first_ply_id + l.ply_count - 1"
_MAIN_LINE: Final = "JOIN ply_lines l ON l.observation_id = s.observation_id AND l.line_no = 0"
_FROM_LOGS: Final = ", ".join(
    repr(k.value) for k in (ObservationKind.LIVE, ObservationKind.EXAMINED, ObservationKind.MOVELIST)
)
_NUL: Final = " OR ".join(
    f"instr(CAST({name} AS BLOB), x'00') > 0" for name in ("o.white", "o.black", "g.white", "g.black")
)
_OF_SOURCE: Final = "(SELECT coalesce({}, 0) FROM source_chunks c WHERE c.source_id = s.id)"

RULES: Final = (
    (
        "plies that belong to no line",
        "SELECT count(*) - (SELECT coalesce(sum(ply_count), 0) FROM ply_lines), NULL FROM plies",
    ),
    (
        "lines that share their plies with another",
        "SELECT 1, o.game_id FROM (SELECT observation_id, first_ply_id, lag(first_ply_id + ply_count)"
        " OVER (ORDER BY first_ply_id) AS free FROM ply_lines WHERE ply_count > 0) l"
        " JOIN observations o ON o.id = l.observation_id WHERE l.first_ply_id < l.free",
    ),
    (
        "lines whose plies are missing or out of order",
        "SELECT 1, o.game_id FROM ply_lines l JOIN observations o ON o.id = l.observation_id WHERE l.ply_count <>"
        f" (SELECT coalesce(sum(p.ply > before), 0) FROM (SELECT ply, lag(ply, 1, 0) OVER (ORDER BY id) AS before"
        f" FROM plies p WHERE {_RUN}) p)",
    ),
    (
        "lines without the line they leave",
        "SELECT 1, o.game_id FROM ply_lines l JOIN observations o ON o.id = l.observation_id"
        " WHERE l.parent_line_no IS NOT NULL AND NOT EXISTS (SELECT 1 FROM ply_lines m"
        " WHERE m.observation_id = l.observation_id AND m.line_no = l.parent_line_no)",
    ),
    (
        "segments whose first or last ply is not there",
        f"SELECT 1, s.game_id FROM segments s {_MAIN_LINE} WHERE (SELECT count(*) FROM plies p WHERE {_RUN}"
        " AND p.ply IN (s.from_ply, s.to_ply)) < 1 + (s.from_ply < s.to_ply)",
    ),
    (
        "segments that overlap the one before",
        "SELECT 1, s.game_id FROM segments s JOIN segments t ON t.game_id = s.game_id AND t.seq = s.seq + 1"
        " WHERE t.from_ply <= s.to_ply",
    ),
    (
        "segments of another game's observation",
        "SELECT 1, s.game_id FROM segments s JOIN observations o ON o.id = s.observation_id"
        " JOIN games g ON g.id = o.game_id WHERE o.game_id <> s.game_id AND g.merged_into IS NOT s.game_id",
    ),
    (
        "merged games whose key is none of their sources' keys",
        "SELECT 1, g.id FROM games g WHERE g.source_id IS NULL"
        " AND NOT EXISTS (SELECT 1 FROM games m WHERE m.merged_into = g.id AND m.key = g.key)",
    ),
    (
        "games merged into a game that has a source of its own",
        "SELECT 1, m.id FROM games m JOIN games g ON g.id = m.merged_into WHERE g.source_id IS NOT NULL",
    ),
    (
        "observations of logs with a NUL character in a player's name, which the reader of logs deletes",
        "SELECT 1, g.id FROM observations o JOIN games g ON g.id = o.game_id"
        f" WHERE o.kind IN ({_FROM_LOGS}) AND ({_NUL})",
    ),
    (
        "games whose number of plies is not that of their segments",
        "SELECT 1, g.id FROM games g WHERE g.ply_count <>"
        f" (SELECT count(*) FROM segments s {_MAIN_LINE} JOIN plies p ON {_RUN}"
        " AND p.ply BETWEEN s.from_ply AND s.to_ply WHERE s.game_id = g.id)",
    ),
    (
        "games with the key of another",
        "SELECT count(*) - 1, min(id) FROM games GROUP BY key, source_id IS NULL HAVING count(*) > 1",
    ),
    (
        "players whose name in small letters is that of another",
        "SELECT 1, (SELECT id FROM games g WHERE p.id IN (g.white_id, g.black_id)) FROM players p"
        " WHERE handle_folded <> fold(handle)",
    ),
    (
        "sources whose kept bytes have a hole",
        f"SELECT 1, NULL FROM sources s WHERE s.kept_bytes <> {_OF_SOURCE.format('sum(c.size_bytes)')}"
        f" OR s.kept_bytes <> {_OF_SOURCE.format('max(c.offset + c.size_bytes)')}",
    ),
)
"""Each has a query of what breaks it: how many, and the game's row if there is one."""


def broken_rules(driver: sqlite3.Connection) -> Iterator[str]:
    """One sentence each with the games that they are in."""
    driver.create_function("fold", 1, fold, deterministic=True)
    for what, query in RULES:
        broken = driver.execute(
            "SELECT f.number, coalesce(m.key, g.key) FROM (SELECT NULL AS number, NULL AS id WHERE FALSE UNION ALL"
            f" {query}) f LEFT JOIN games g ON g.id = f.id LEFT JOIN games m ON m.id = g.merged_into"
            " WHERE f.number <> 0"
        ).fetchall()
        if broken:
            keys = list(dict.fromkeys(key[:8] for _, key in broken if key is not None))
            more = f" and {len(keys) - _NAMED} more" if len(keys) > _NAMED else ""
            games = f" (game {', '.join(keys[:_NAMED])}{more})" if keys else ""
            yield f"There are {what}: {sum(number for number, _ in broken)}{games}."


def foreign_statements(driver: sqlite3.Connection) -> list[str]:
    """Triggers, and views that are not those of ``storage.schema.upgrade``; and which of those are missing."""
    own = {sql.split()[2]: sql for sql in VIEWS}
    statements = driver.execute("SELECT type, name, tbl_name, sql FROM sqlite_master WHERE type IN ('trigger', 'view')")
    foreign = []
    for kind, name, table, sql in statements.fetchall():
        if own.pop(name, None) != sql:
            on = f" on {table}" if kind == "trigger" else ""
            foreign.append(f"The {kind} {name}{on} is not part of an archive: drop it.")
    return [*foreign, *(f"The view {name} is missing." for name in own)]


def check(path: Path) -> list[str]:
    require_current(path)
    with storage_errors(path), reading(path, read_only=True) as driver:
        if findings := list(malformed_pages(driver)):
            return findings  # the other questions would only repeat it
        findings = [*malformed_values(driver), *missing_rows(driver)]
        findings += [f"The schema differs from the migrations': {difference}." for difference in differences(path)]
        if findings := [*findings, *foreign_statements(driver)]:
            return findings  # the rules between tables are about values of the right types
        return list(broken_rules(driver)) or [
            f"Game {key} is not merged from its sources: run `ics-recorder db rebuild`." for key in unmerged(driver)
        ]


def require_sound(path: Path) -> None:
    with storage_errors(path), unchanged_while_read(path), closing(open_sqlite(path, read_only=True)) as driver:
        looks = malformed_pages(driver), malformed_values(driver), missing_rows(driver), broken_rules(driver)
        for finding in chain.from_iterable(looks):
            raise StorageError(f"{path}: {finding} The archive is corrupt: `ics-recorder db check` lists all findings.")
