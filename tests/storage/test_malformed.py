"""Values and pages that no archive holds: ``db check`` names them, and no command ends with a traceback."""

import itertools
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from sqlalchemy import Column, Table

from recorder.cli import main
from recorder.errors import ExitCode, StorageError
from storage.files import open_sqlite, storage_error
from storage.maintenance.check import check, malformed_values
from storage.schema.tables import metadata
from tests.support.cli import ADJOURNED, SERVER, WATCHER, Cli

HUGE = (1 << 63) - 1
BAD: dict[str, tuple[object, ...]] = {
    "integer": ("many", b"\xff\x00", HUGE, -HUGE, 1.5),
    "boolean": ("yes", b"\x01", 7, 0.5),
    "text": (b"\xff\xfe", "\udcff"),
    "JSON": ("{", "[" * 3, "7", b"{}"),
    "large_binary": ("text", b"no zstd", b"\x28\xb5\x2f\xfd\x00"),
}
"""By the kind of column, what it cannot hold; null where it must not be is added. ``\\udcff`` is the byte FF."""

COMMANDS: tuple[tuple[str, ...], ...] = (
    ("games",),
    ("games", "--json", "--include", "examined"),
    ("show", "last"),
    ("show", "last", "--raw"),
    ("export", "pgn"),
    ("export", "plies"),
    ("export", "plies", "--format", "jsonl"),
    ("export", "games", "--include", "examined"),
    ("export", "bpgn"),
    ("clocks",),
    ("clocks", "--table", "longest", "--csv"),
    ("plot", "lag", "-o", "{out}.svg"),
    ("report", "last", "-o", "{out}.html"),
    ("report", "--index", "-o", "{out}.html"),
    ("verify",),
    ("anomalies",),
    ("sources",),
    ("db", "current"),
    ("db", "rebuild", "--dry-run"),
    ("db", "share", "--pseudonyms", "-o", "{out}.db"),
    ("db", "backup", "{out}.db"),
    ("db", "upgrade"),
    ("replay", "as-engine", "{key}"),
)


SLOW = ("plot", "report")
"""Commands that load libraries and draw: they get fewer of the cases."""


@pytest.fixture(scope="session")
def sound(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """An archive with a row in every table that reading uses."""
    cli = Cli(tmp_path_factory.mktemp("sound") / "archive.sqlite")
    logs = [next((SERVER / name).glob(pattern)) for name, pattern in LOGS]
    cli("import", WATCHER, ADJOURNED, *logs, *sorted((SERVER / "c08_adjourn").glob("*.raw*"))[:3])
    cli("edit", "last", "--tag", "Round=3", "--date", "2020-01-31")
    with closing(sqlite3.connect(cli.archive)) as connection:
        (key,) = connection.execute("SELECT key FROM games WHERE kind = 'played' LIMIT 1").fetchone()
        connection.execute("INSERT INTO analyses VALUES (1, ?, 'Fairy', 'uci', '{\"options\": {}}', 0)", (key,))
        connection.execute("INSERT INTO analysed_positions VALUES (1, 1, 1, ?, 1)", (START,))
        connection.execute(
            "INSERT INTO thinking SELECT id, 0, 1, 'Fairy', 1, 9, 20, NULL, 50, 1000, 12, 20000, 0, 'e5', 1, 1"
            " FROM observations ORDER BY id LIMIT 1"
        )
        connection.execute("INSERT INTO anomalies SELECT id, 100, 'malformed', 5, 1, 'cut', '<12> x' FROM sources")
        connection.execute("INSERT INTO game_evidence SELECT id, 0, 'same', 'said' FROM games LIMIT 1")
        connection.execute("INSERT INTO analysis_lines VALUES (1, 0, 9, 20, NULL, 50, 1000, 12, 20000, 0, 'e5')")
        connection.commit()
        connection.execute("PRAGMA journal_mode=DELETE")
    assert check(cli.archive) == []
    return cli.archive.read_bytes()


LOGS = (("b09_crazyhouse", "*.raw*"), ("b05_examine_bsetup", "*.raw*"), ("b06_bughouse", "*.raw*"))
START = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1"


def _kind(column: Column[Any]) -> str:
    kind = column.type.__visit_name__
    return "JSON" if "json" in column.info else "integer" if kind == "big_integer" else kind


def _cases() -> Iterator[tuple[str, str, object]]:
    for table in metadata.tables.values():
        for column in table.columns:
            values = BAD[_kind(column)]
            if _is_rowid(table, column):
                continue  # SQLite itself lets nothing but integers in
            yield from ((table.name, column.name, value) for value in values)
            if not column.nullable and not column.primary_key:
                yield table.name, column.name, None
            if "values" in column.info:
                yield table.name, column.name, "unheard-of" if _kind(column) == "text" else 77


def _is_rowid(table: Table, column: Column[Any]) -> bool:
    return column.primary_key and len(table.primary_key.columns) == 1 and _kind(column) == "integer"


def _damage(path: Path, table: str, column: str, value: object) -> bool:
    """Put a value in all rows, in one where it must be unique, past all constraints. False: there is no row."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA ignore_check_constraints=ON")
        if value is None:
            connection.execute("PRAGMA writable_schema=ON")
            (sql,) = connection.execute("SELECT sql FROM sqlite_master WHERE name = ?", (table,)).fetchone()
            _write_schema(connection, table, sql.replace(" NOT NULL", ""))
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA ignore_check_constraints=ON")
        mark = "CAST(X'ff' AS TEXT)" if value == "\udcff" else "?"
        values = () if mark != "?" else (value,)
        keys = ", ".join(f'"{name.name}"' for name in metadata.tables[table].primary_key.columns)
        try:
            done = connection.execute(f'UPDATE {table} SET "{column}" = {mark}', values).rowcount
        except sqlite3.IntegrityError:  # it must be unique
            where = f"({keys}) = (SELECT {keys} FROM {table} LIMIT 1)"
            done = connection.execute(f'UPDATE {table} SET "{column}" = {mark} WHERE {where}', values).rowcount
        if value is None:
            connection.execute("PRAGMA writable_schema=ON")
            _write_schema(connection, table, sql)
        return done > 0


def _write_schema(connection: sqlite3.Connection, table: str, sql: str) -> None:
    connection.execute("UPDATE sqlite_master SET sql = ? WHERE name = ? AND type = 'table'", (sql, table))
    (version,) = connection.execute("PRAGMA schema_version").fetchone()
    connection.execute(f"PRAGMA schema_version = {version + 1}")


CASES = tuple(_cases())
OUT = itertools.count()


def _runs(path: Path, words: tuple[str, ...]) -> str:
    """Run a command; it may succeed or fail, but only in words."""
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
        try:
            (key,) = connection.execute("SELECT CAST(key AS TEXT) FROM games LIMIT 1").fetchone()
        except (sqlite3.Error, TypeError, UnicodeDecodeError):
            key = None
    out = path.parent / f"out{next(OUT)}"
    filled = [word.format(out=out, key=key or "0") for word in words]
    result = CliRunner().invoke(main, filled, env={"ICS_RECORDER_DB": str(path)})
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise AssertionError(f"{' '.join(filled)}: {result.exception!r}") from result.exception
    assert "Traceback" not in result.output
    assert result.exit_code != 2, result.output
    return result.output


@pytest.mark.long
@pytest.mark.parametrize("turn", range(max(len(values) for values in BAD.values()) + 2))
def test_every_column_is_checked(tmp_path: Path, sound: bytes, turn: int) -> None:
    """One column of each table at a time, each with one of the values that it cannot hold."""
    path = tmp_path / "archive.sqlite"
    cases: dict[str, list[tuple[str, object]]] = {}
    for (table, column), group in itertools.groupby(CASES, lambda case: case[:2]):
        values = [value for _, _, value in group]
        if turn < len(values):
            cases.setdefault(table, []).append((column, values[turn]))
    for number in range(max(map(len, cases.values()))):
        path.write_bytes(sound)
        wanted = {(table, *columns[number]) for table, columns in cases.items() if number < len(columns)}
        for table, column, value in wanted:
            assert _damage(path, table, column, value), f"no row in {table}"
        with closing(open_sqlite(path, read_only=True)) as driver:
            found = list(malformed_values(driver))
        for table, column, value in wanted:
            named = f"Row of {table} with "
            assert any(one.startswith(named) and f": {column} " in one for one in found), (table, column, value)


@pytest.mark.long
@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_no_malformed_value_ends_a_command_with_a_traceback(
    tmp_path: Path, sound: bytes, words: tuple[str, ...]
) -> None:
    every = 796 if words[0] in SLOW else 199
    for number, case in enumerate(CASES[COMMANDS.index(words) % every :: every]):
        path = tmp_path / f"{number}.sqlite"  # what a failure keeps open locks no other one
        path.write_bytes(sound)
        assert _damage(path, *case)
        _runs(path, words)


@pytest.mark.parametrize(
    ("change", "sentence", "words"),
    [
        ("UPDATE sources SET id = 99 WHERE id = 1", "names a row of sources that is not there.", ("games",)),
        (
            "UPDATE observations SET start_offset = NULL WHERE start_offset IS NOT NULL",
            "it is not true that (start_offset IS NULL) = (start_ply IS NULL).",
            None,
        ),
        (
            "UPDATE observations SET start_ply = NULL, start_offset = NULL, start_verbose = NULL, start_pretty = NULL",
            "it is not true that start_ply IS NOT NULL OR coalesce(start_elapsed_ms, ",
            None,
        ),
        (
            "UPDATE ply_lines SET parent_ply = 3",
            "it is not true that (parent_ply IS NULL) = (parent_line_no IS NULL).",
            None,
        ),
        (
            "UPDATE source_counts SET disposition = 'unheard-of' WHERE source_id = 1 AND disposition = 'ply'",
            "Row of source_counts with source_id 1, tag '<12>', disposition 'unheard-of': it is not true that tag = ",
            ("verify",),
        ),
    ],
)
def test_rows_that_break_a_rule_or_name_a_missing_row_are_found(
    tmp_path: Path, sound: bytes, change: str, sentence: str, words: tuple[str, ...] | None
) -> None:
    path = tmp_path / "archive.sqlite"
    path.write_bytes(sound)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA ignore_check_constraints=ON")
        connection.execute(change)
    cli = Cli(path)
    assert sentence in cli("db", "check", code=ExitCode.FINDINGS).stdout
    if words is not None:
        message = cli(*words, code=ExitCode.ARCHIVE).stderr
        assert f"Error: {path}: " in message
        assert "The archive is corrupt: `ics-recorder db check` lists all findings." in message


@pytest.mark.long
def test_corrupt_pages_are_reported_by_every_command(tmp_path: Path, sound: bytes) -> None:
    whole = tmp_path / "whole.sqlite"
    whole.write_bytes(sound)
    wanted = _content(whole)
    for number, words in enumerate(COMMANDS):
        if words[0] in SLOW:
            continue
        for at in range(100 + 997 * number, len(sound), len(sound) // 4):
            path = tmp_path / f"{number}-{at}.sqlite"
            data = bytearray(sound)
            data[at : at + 600] = b"\xff\x00\x55" * 200
            path.write_bytes(data[: len(sound)])
            found = problems_of(path)
            assert found or _content(path) == wanted, f"600 bytes at {at}"
            _runs(path, words)


def _content(path: Path) -> list[str]:
    with closing(open_sqlite(path, read_only=True)) as connection:
        return list(connection.iterdump())


def problems_of(path: Path) -> list[str]:
    """What ``db check`` finds, which may be that the file is no archive."""
    try:
        return check(path)
    except StorageError as error:
        return [str(error)]


@pytest.mark.parametrize("size", [0, 50, 100, 4096, 5000, 100_000])
def test_a_truncated_file_is_reported(tmp_path: Path, sound: bytes, size: int) -> None:
    for number, words in enumerate(COMMANDS):
        if words[0] not in SLOW:
            path = tmp_path / f"{number}.sqlite"
            path.write_bytes(sound[:size])
            assert problems_of(path)
            _runs(path, words)


def test_a_full_disk_is_said_with_what_to_do() -> None:
    with closing(sqlite3.connect(":memory:")) as driver:
        driver.execute("PRAGMA max_page_count = 1")
        with pytest.raises(sqlite3.OperationalError) as full:
            driver.execute("CREATE TABLE t (a)")
    elsewhere, temporary = Path("elsewhere", "a.sqlite"), Path(tempfile.gettempdir(), "shards", "0.db")
    for path, what in ((elsewhere, "make room"), (temporary, "make room, or set TMPDIR to a folder with more space")):
        assert str(storage_error(path, full.value)) == f"No space is left for {path}: {what}, and try again."


@pytest.mark.long
def test_foreign_triggers_and_views_are_found(tmp_path: Path, sound: bytes) -> None:
    cases = (
        ("CREATE TRIGGER mine BEFORE UPDATE ON games BEGIN SELECT RAISE(ABORT, 'no'); END", "trigger mine on games"),
        ("CREATE TRIGGER mine AFTER DELETE ON sources BEGIN DELETE FROM games; END", "trigger mine on sources"),
        ("CREATE VIEW mine AS SELECT * FROM nowhere", "view mine"),
        ("DROP VIEW v_clocks", "view v_clocks"),
    )
    for number, (sql, finding) in enumerate(cases):
        path = tmp_path / f"{number}.sqlite"
        path.write_bytes(sound)
        with closing(sqlite3.connect(path)) as connection:
            connection.execute(sql)
        assert any(finding in found for found in check(path))
        for words in COMMANDS:
            if words[0] not in SLOW:
                _runs(path, words)
