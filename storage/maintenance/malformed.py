"""Corrupt pages and malformed values, and the errors that they cause.

What a column holds follows from its definition in ``storage.schema.tables``: type, null, the words or numbers of a
closed set (``info={"values": …}``), the shape of JSON (``info={"json": …}``), a condition (``info={"holds": …}``), zstd
in every BLOB; and from its name (``storage.sound``): the range of a number, the form of a text. Of a whole row its
table's constraints hold, and conditions that no constraint states (``info={"rules": …}``). A reader that fails, or
finds that what it reads is not sound, asks here what is wrong.
"""

from __future__ import annotations

import re
import sqlite3
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from recorder.errors import RecorderError, StorageError
from storage import files
from storage.files import open_sqlite, unchanged_while_read
from storage.maintenance.rules import broken_rules
from storage.read.sources import unpacked
from storage.sound import FORMS, allowed, form_of

if TYPE_CHECKING:
    from sqlalchemy import Column, Table

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

    driver.create_function("has_form", 3, _has_form)
    for table in metadata.tables.values():
        try:
            yield from _of_table(driver, table)
        except sqlite3.Error as error:
            yield f"Table {table.name} cannot be read: {_one_line(str(error))}."


def missing_rows(driver: sqlite3.Connection) -> Iterator[str]:
    """Rows that name a row of another table that is not there."""
    from storage.schema.tables import metadata

    for table in metadata.tables.values():
        keys = [column.name for column in table.primary_key.columns]
        for key in sorted(table.foreign_keys, key=lambda key: key.parent.name):
            name, parent = key.parent.name, key.column.table.name
            for values in driver.execute(
                f"SELECT {', '.join(map(_literal, keys))} FROM {table.name} t WHERE {name} IS NOT NULL"
                f" AND NOT EXISTS (SELECT 1 FROM {parent} p WHERE p.{key.column.name} = t.{name}) LIMIT {_NAMED}"
            ).fetchall():
                yield f"{_row(driver, table, keys, values)}: {name} names a row of {parent} that is not there."


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
            yield f"{_row(driver, table, keys, values)}: it is not true that {rules[number - len(columns)]}."
            continue
        column = columns[number]
        place = _place(keys, values)
        parts = f'typeof("{column.name}"), quote(substr(CAST("{column.name}" AS BLOB), 1, {_SHOWN}))'
        kind, shown = driver.execute(f"SELECT {parts} FROM {table.name} t WHERE {place}").fetchone() or ("missing", "")
        value = bytes.fromhex(shown[2:-1]).decode("utf-8", "replace") if shown.startswith("X'") else shown
        yield f"{_row(driver, table, keys, values)}: {column.name} is {_value(kind, value)}, not {_wanted(column)}."
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
    infinite = f"iif({quoted} > 0, '9e999', '-9e999')"
    return (
        f"CASE WHEN typeof({quoted}) = 'text' THEN {as_text} WHEN {quoted} IN (9e999, -9e999) THEN {infinite}"
        f" ELSE quote({quoted}) END"
    )


def _place(keys: list[str], values: Sequence[str]) -> str:
    """SQL: the condition that a row has this key."""
    return " AND ".join(f't."{name}" IS {value}' for name, value in zip(keys, values, strict=True))


def _row(driver: sqlite3.Connection, table: Table, keys: list[str], values: Sequence[str]) -> str:
    shown = [_TEXT.sub(lambda text: ascii(bytes.fromhex(text[1]).decode("utf-8", "replace")), one) for one in values]
    place = ", ".join(f"{name} {value}" for name, value in zip(keys, shown, strict=True))
    return f"Row of {table.name} with {place}{_game(driver, table, _place(keys, values))}"


def _game(driver: sqlite3.Connection, table: Table, place: str) -> str:
    """The game that a row belongs to, as lists show it."""
    known = {
        "plies": "(SELECT o.game_id FROM ply_lines l JOIN observations o ON o.id = l.observation_id"
        " WHERE t.id BETWEEN l.first_ply_id AND l.first_ply_id + l.ply_count - 1)",
        "games": "t.id",
    }
    of_column = {
        "game_id": "t.game_id",
        "observation_id": "(SELECT game_id FROM observations WHERE id = t.observation_id)",
    }
    number = known.get(table.name) or next((sql for name, sql in of_column.items() if name in table.columns), "NULL")
    key = driver.execute(
        f"SELECT CAST(coalesce(m.key, g.key) AS BLOB) FROM {table.name} t JOIN games g ON g.id = {number}"
        f" LEFT JOIN games m ON m.id = g.merged_into WHERE {place}"
    ).fetchone()
    found = "" if key is None else (key[0] or b"").decode(errors="replace")
    return f" (game {found[:8]})" if found in FORMS["key"] else ""


def _value(kind: str, value: str) -> str:
    return "null" if kind == "null" else f"the {kind} {value!a}"


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
    elif form_of(column.table.name, column.name) is not None:
        valid = f"typeof({name}) = 'text' AND has_form('{column.table.name}', '{column.name}', CAST({name} AS BLOB))"
    else:
        valid = _of_type(column, name)
    if "holds" in column.info:
        valid = f"{valid} AND ({column.info['holds'][0]})"
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
                yield f"{_row(driver, table, keys, row[: len(keys)])}: {name} is no UTF-8."


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
        place = f"{_row(driver, table, keys, values)}: {column.name}"
        try:
            found = len(unpacked(data, place))
        except StorageError as error:
            yield str(error)
        else:
            if sized and found != size:
                yield f"{place} holds {found} bytes, not {size}."


def _one_line(text: str) -> str:
    return " ".join(text.split()).rstrip(".")


def first_malformed(path: Path) -> str | None:
    """The first part of a file that is not what an archive holds there: why reading it failed. None: all is well.

    It reads the whole file, so it is for callers that have failed already.
    """
    try:
        with unchanged_while_read(path), closing(open_sqlite(path, read_only=True)) as driver:
            looks = malformed_pages(driver), malformed_values(driver), missing_rows(driver), broken_rules(driver)
            return next(chain.from_iterable(looks), None)
    except sqlite3.Error:
        return None


@contextmanager
def storage_errors(path: Path) -> Iterator[None]:
    """Raise errors of the database, and of what is malformed in it, as a ``StorageError`` of one sentence."""
    try:
        yield
    except Exception as error:
        if (explained := storage_error(path, error)) is not None:
            raise explained from error
        raise


_OF_VALUES: Final = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    MemoryError,
    RecursionError,
    TypeError,
    ValueError,
)
"""What a value of the wrong type or size causes where it is used."""


def storage_error(path: Path, error: BaseException) -> StorageError | None:
    """The sentence for an error of the database, or for one that a malformed value in it caused; else None."""
    reason = getattr(error, "orig", error)  # of an error of SQLAlchemy, which only writers have loaded
    if isinstance(reason, sqlite3.Error):
        if getattr(reason, "sqlite_errorcode", None) == sqlite3.SQLITE_BUSY:
            return StorageError(
                f"The archive {path} is locked: another program has been writing to it for more than "
                f"{files.BUSY_TIMEOUT_MS / 1000:g} seconds; try again later."
            )
        if getattr(reason, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL:
            temporary = Path(tempfile.gettempdir()) in path.parents
            instead = ", or set TMPDIR to a folder with more space" if temporary else ""
            return StorageError(f"No space is left for {path}: make room{instead}, and try again.")
        return corrupt(path) or StorageError(f"The archive {path} cannot be read or written: {reason}.")
    if isinstance(error, _OF_VALUES) and not isinstance(error, RecorderError):
        return corrupt(path)
    if (duckdb := sys.modules.get("duckdb")) is not None and isinstance(error, duckdb.Error):
        said = str(error).partition("\n")[0]
        return corrupt(path) or StorageError(f"DuckDB cannot compute the tables of {path}: {said}.")
    return None


def corrupt(path: Path) -> StorageError | None:
    """Why an archive could not be used, if anything in it is malformed: asked only when it could not."""
    found = first_malformed(path)
    if found is None:
        return None
    return StorageError(f"{path}: {found} The archive is corrupt: `ics-recorder db check` lists all findings.")


def require_sound(path: Path) -> None:
    """Read a whole archive before it is copied for others."""
    if (found := corrupt(path)) is not None:
        raise found
