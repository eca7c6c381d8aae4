"""Both ways to a schema: new archives are as the migrations make them, which keep every row; wholly or not at all."""

import re
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from recorder.errors import StorageError
from storage import ArchiveStore, current, reading_other, upgrade
from storage.files import open_sqlite
from storage.maintenance.check import check
from storage.schema import upgrade as schema_module
from storage.schema.tables import metadata
from storage.schema.upgrade import HEAD, SCRIPTS, revisions

from .conftest import import_bytes, make_game

REVISION = """
import sqlalchemy as sa
from alembic import op

revision = "{revision}"
down_revision = "{before}"


def upgrade() -> None:
    {body}
"""


def later_scripts(folder: Path, *bodies: str) -> Path:
    """The real migrations and further ones after them."""
    shutil.copytree(SCRIPTS, folder, ignore=shutil.ignore_patterns("__pycache__"))
    before = HEAD
    for number, body in enumerate(bodies):
        text = REVISION.format(revision=f"later{number}", before=before, body=body)
        (folder / "versions" / f"later{number}.py").write_text(text)
        before = f"later{number}"
    return folder


def dump(path: Path) -> list[str]:
    connection = open_sqlite(path, read_only=True)
    try:
        return list(connection.iterdump())
    finally:
        connection.close()


def counts(path: Path) -> dict[str, int]:
    connection = open_sqlite(path, read_only=True)
    try:
        names = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return {name: connection.execute(f"SELECT count(*) FROM {name}").fetchone()[0] for name in names}
    finally:
        connection.close()


_FEN = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"


def fill(path: Path) -> None:
    """A row in every table of a file of any revision: values by column type, children of row 1."""
    connection = open_sqlite(path)
    try:
        connection.execute("BEGIN")
        tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name <> 'alembic_version'")
        for (table,) in tables.fetchall():
            columns = connection.execute(f"PRAGMA table_info({table})").fetchall()
            row = {name: _value(table, name, kind) for _, name, kind, *_ in columns}
            names = ", ".join(f'"{name}"' for name in row)
            marks = ", ".join("?" * len(row))
            connection.execute(f"INSERT OR REPLACE INTO {table} ({names}) VALUES ({marks})", list(row.values()))
        connection.execute("COMMIT")
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
    finally:
        connection.close()


def _value(table: str, column: str, kind: str) -> object:
    special: dict[str, object] = {
        "sha256": "0" * 64,
        "result": "1-0",
        "protocol": "uci",
        "time_basis": "none",
        "parent_line_no": None if table == "ply_lines" else 0,
        "line_no": 0,
        "key": "a",
        "fen": _FEN,
        "start_fen": _FEN,
        "corrected": None,
    }
    if (table, column) == ("games", "kind"):
        return "setup"  # nothing is merged with it
    if column in special:
        return special[column]
    if table in metadata.tables and column in metadata.tables[table].columns:
        words = metadata.tables[table].columns[column].info.get("values")
        if words:
            return next(iter(words))
    return {"TEXT": "x", "BLOB": b"x", "JSON": "{}"}.get(kind, 1)


def make_oldest(path: Path) -> None:
    """Make an archive of the oldest schema that is upgraded."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.executescript((Path(__file__).parent / "schema_0012.sql").read_text(encoding="utf-8"))
        connection.execute("INSERT INTO settings VALUES ('pseudonym-secret', hex(randomblob(16)))")
        connection.commit()


@pytest.fixture
def migrated(tmp_path: Path) -> Path:
    """An empty archive of the oldest schema, upgraded by all migrations."""
    path = tmp_path / "migrated.db"
    make_oldest(path)
    saved = upgrade(path)
    assert saved is not None
    assert current(saved) == "0012" == revisions()[0]
    return path


def statements(path: Path) -> set[tuple[str, str, str | None]]:
    """Type, name and statement of everything in a schema; see ``normalised``."""
    connection = open_sqlite(path, read_only=True)
    try:
        found = connection.execute("SELECT type, name, sql FROM sqlite_master").fetchall()
        return {(kind, name, sql and normalised(sql)) for kind, name, sql in found}
    finally:
        connection.close()


def normalised(sql: str) -> str:
    """A statement with single blanks; a table's named constraints, whose order means nothing, are sorted."""
    sql = re.sub(r"\s+", " ", sql).strip()
    sql = re.sub(r'^CREATE TABLE "(\w+)"', r"CREATE TABLE \1", sql)  # SQLite quotes a table that was renamed
    if not sql.startswith("CREATE TABLE"):
        return sql
    front, _, rest = sql.partition("(")
    inner, _, end = rest.rpartition(")")
    parts = re.split(r" ?, (?![^(]*\))", inner.strip())
    columns = [part for part in parts if not part.startswith("CONSTRAINT")]
    return f"{front}({', '.join(columns + sorted(set(parts) - set(columns)))}){end}"


def contents(path: Path) -> dict[str, object]:
    """The rows of every table, but for secret and version, and the pragmas that are kept in the file."""
    names = ("application_id", "user_version", "page_size", "encoding", "auto_vacuum", "journal_mode")
    connection = open_sqlite(path, read_only=True)
    try:
        pragmas = {name: connection.execute(f"PRAGMA {name}").fetchone() for name in names}
        tables = {name: sorted(connection.execute(f"SELECT * FROM {name}")) for name in counts(path)}
        ((name, secret),) = (row for row in tables["settings"] if row[0] != "content-version")
        assert re.fullmatch("[0-9A-F]{32}", secret)
        return pragmas | tables | {"settings": name}
    finally:
        connection.close()


def test_a_new_archive_is_as_all_migrations_make_it(archive: ArchiveStore, path: Path, migrated: Path) -> None:
    made = statements(path)
    assert made == statements(migrated)
    assert {"table", "index", "view"} == {kind for kind, _, _ in made}
    assert contents(path) == contents(migrated)


def test_a_creation_that_fails_leaves_an_empty_file(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(schema_module, "_BESIDE_TABLES", (*schema_module._BESIDE_TABLES, "no sql"))
        with pytest.raises(StorageError, match='could not be created: near "no": syntax error'):
            ArchiveStore.open(str(path), create=True)
    assert current(path) is None
    assert statements(path) == set()
    with ArchiveStore.open(str(path), create=True) as archive:
        assert check(archive.path) == []


def test_an_archive_that_another_process_made_meanwhile_is_kept(archive: ArchiveStore, path: Path) -> None:
    import_bytes(archive, b"one", [make_game()])
    before = dump(path)
    schema_module.create(path)
    assert dump(path) == before


def test_a_new_archive_is_made_and_checked_without_the_migrations(tmp_path: Path) -> None:
    """In a process of its own: here they are loaded by then."""
    code = f"""if True:
        import sys
        from storage import ArchiveStore
        from storage.maintenance.check import check
        with ArchiveStore.open({str(tmp_path / "new.db")!r}, create=True) as archive:
            assert check(archive.path) == []
        print([name for name in sys.modules if name.partition(".")[0] in ("alembic", "mako")])
    """
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == "[]\n"


def test_an_old_archive_with_rows_is_upgraded(tmp_path: Path) -> None:
    """From the oldest schema to the newest, and to two made-up later ones that rebuild tables with children."""
    path = tmp_path / "old.db"
    make_oldest(path)
    fill(path)
    before = counts(path)
    assert 0 not in before.values()
    upgrade(path)
    after = counts(path)
    assert after == before | {"settings": before["settings"] + 1}  # the archive's version is known from then on
    drop_views = "".join(
        f"op.execute('DROP VIEW {view}')\n    " for view in ("v_analyses", "v_clocks", "v_plies", "v_games")
    )
    rebuild = """with op.batch_alter_table('{table}', recreate='always') as batch:
        batch.add_column(sa.Column('later', sa.Text()))
    """
    scripts = later_scripts(
        tmp_path / "scripts",
        drop_views + "".join(rebuild.format(table=table) for table in ("sources", "games", "observations")),
        "op.create_table('later', sa.Column('id', sa.Integer(), primary_key=True))",
    )
    saved = upgrade(path, scripts)
    assert counts(path) == after | {"later": 0}
    assert saved is not None
    assert counts(saved) == after
    assert saved.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("op.execute('CREATE TABLE half (a)'); op.execute('DELETE FROM plies'); raise RuntimeError('boom')", "boom"),
        ("op.execute('DELETE FROM holdings')", "holdings from 1 to 0 rows"),
        ("op.execute('UPDATE segments SET observation_id = 99')", "without their parent"),
        ("op.execute('no sql')", "syntax error"),
    ],
)
def test_a_migration_that_fails_leaves_the_file_as_before(
    archive: ArchiveStore, path: Path, tmp_path: Path, body: str, message: str
) -> None:
    import_bytes(archive, b"one", [make_game()])
    before = dump(path)
    scripts = later_scripts(tmp_path / "scripts", "op.execute('CREATE TABLE fine (a)')", body)
    with pytest.raises(StorageError, match=message):
        upgrade(path, scripts)
    assert dump(path) == before
    assert check(path) == []


def test_nothing_to_upgrade_makes_no_backup(archive: ArchiveStore, path: Path) -> None:
    before = {file.name for file in path.parent.iterdir()}
    assert upgrade(path) is None
    assert {file.name for file in path.parent.iterdir()} == before


def test_a_newer_schema_is_refused(archive: ArchiveStore, path: Path, tmp_path: Path) -> None:
    upgrade(path, later_scripts(tmp_path / "scripts", "op.execute('CREATE TABLE fine (a)')"))
    for action in (lambda: ArchiveStore.open(str(path)), lambda: upgrade(path)):
        with pytest.raises(StorageError, match="newer than this program's"):
            action()


def test_the_error_for_an_older_schema_says_how_to_upgrade(
    archive: ArchiveStore, path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scripts = later_scripts(tmp_path / "scripts", "op.execute('CREATE TABLE fine (a)')")
    monkeypatch.setattr(schema_module, "revisions", lambda _=SCRIPTS: revisions(scripts))
    monkeypatch.setattr(schema_module, "HEAD", "later0")
    with pytest.raises(StorageError, match="needs later0: run `ics-recorder db upgrade`"):
        ArchiveStore.open(str(path))


@pytest.mark.parametrize("revision", [f"{number:04}" for number in range(1, 12)])
def test_the_error_for_an_archive_of_a_development_version_names_the_version_that_upgrades_it(
    archive: ArchiveStore, path: Path, tmp_path: Path, revision: str
) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE alembic_version SET version_num = ?", (revision,))
        connection.commit()
    before = dump(path)
    for action in (
        lambda: ArchiveStore.open(str(path)),
        lambda: ArchiveStore.open(str(path), create=True),
        lambda: upgrade(path),
        lambda: reading_other(path).__enter__(),
    ):
        with pytest.raises(StorageError) as raised:
            action()
        assert f"the schema {revision} of a development version" in str(raised.value)
        assert schema_module.LAST_UPGRADER in str(raised.value)
    assert dump(path) == before
    assert not list(tmp_path.glob("*.before-upgrade*"))


def test_upgrading_an_empty_file_makes_an_archive(archive: ArchiveStore, path: Path, tmp_path: Path) -> None:
    empty = tmp_path / "empty.db"
    empty.touch()
    assert upgrade(empty) is None
    assert statements(empty) == statements(path)


def test_a_database_of_another_program_is_refused(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE games (id)")
    connection.commit()
    connection.close()
    for create in (False, True):
        with pytest.raises(StorageError, match="not an archive of ics-recorder"):
            ArchiveStore.open(str(path), create=create)


def test_an_interrupted_creation_is_finished(path: Path) -> None:
    path.touch(0o600)
    with pytest.raises(StorageError, match="empty database"):
        ArchiveStore.open(str(path))
    with ArchiveStore.open(str(path), create=True) as archive:
        assert check(archive.path) == []


def test_what_a_killed_maker_left_is_undone_for_readers(tmp_path: Path, migrated: Path) -> None:
    left = tmp_path / "left.db"
    with closing(sqlite3.connect(migrated, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode=DELETE")
        connection.execute("PRAGMA cache_size=1")
        connection.execute("BEGIN")
        connection.execute("CREATE TABLE half (value BLOB)")
        connection.execute("INSERT INTO half VALUES (zeroblob(100000))")
        shutil.copy(migrated, left)
        shutil.copy(f"{migrated}-journal", f"{left}-journal")  # as a kill at this moment leaves them
        connection.execute("ROLLBACK")
    assert current(left) == HEAD
    with closing(open_sqlite(left, read_only=True)) as connection:
        assert connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'half'").fetchone() is None
        with pytest.raises(sqlite3.OperationalError, match="readonly"):
            connection.execute("CREATE TABLE mine (value)")
