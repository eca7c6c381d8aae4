"""Migrations: they give the tables of ``storage.models``, keep every row, and happen wholly or not at all."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

import pytest

from recorder.errors import StorageError
from storage import Archive, check, current, head, upgrade
from storage import schema as schema_module
from storage.engine import make_engine, open_sqlite
from storage.schema import SCRIPTS, differences, revisions

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
    before = head()
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
        "parent_line_no": None if table == "ply_lines" else 0,
        "line_no": 0,
    }
    if column in special:
        return special[column]
    return {"TEXT": "x", "BLOB": b"x", "JSON": "{}"}.get(kind, 1)


def test_the_migrations_give_the_tables_of_the_models(archive: Archive, path: Path) -> None:
    engine = make_engine(path, read_only=True)
    with engine.connect() as connection:
        assert differences(connection) == []
    assert current(path) == head()


def test_the_head_is_the_last_migration() -> None:
    assert head() == revisions()[-1]


def test_every_constraint_has_a_name(archive: Archive, path: Path) -> None:
    connection = open_sqlite(path, read_only=True)
    for name, sql in connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'"):
        words = sql.replace("\n", " ").replace("\t", " ")
        unnamed = words.count("PRIMARY KEY") + words.count("FOREIGN KEY") + words.count("UNIQUE") + words.count("CHECK")
        assert words.count("CONSTRAINT") == unnamed, name
    connection.close()


@pytest.mark.parametrize("old", revisions())
def test_every_old_revision_with_rows_is_upgraded(old: str, tmp_path: Path) -> None:
    """From each revision to the newest, and to two made-up later ones that rebuild tables with children."""
    path = tmp_path / "old.db"
    path.touch()
    upgrade(path, target=old)
    fill(path)
    before = counts(path)
    assert 0 not in before.values()
    upgrade(path)
    assert counts(path) == before
    drop_views = "".join(f"op.execute('DROP VIEW {view}')\n    " for view in ("v_clocks", "v_plies", "v_games"))
    rebuild = """with op.batch_alter_table('{table}', recreate='always') as batch:
        batch.add_column(sa.Column('later', sa.Text()))
    """
    scripts = later_scripts(
        tmp_path / "scripts",
        drop_views + "".join(rebuild.format(table=table) for table in ("sources", "games", "observations")),
        "op.create_table('later', sa.Column('id', sa.Integer(), primary_key=True))",
    )
    saved = upgrade(path, scripts)
    assert counts(path) == before | {"later": 0}
    assert saved is not None
    assert counts(saved) == before
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
    archive: Archive, path: Path, tmp_path: Path, body: str, message: str
) -> None:
    import_bytes(archive, b"one", [make_game()])
    before = dump(path)
    scripts = later_scripts(tmp_path / "scripts", "op.execute('CREATE TABLE fine (a)')", body)
    with pytest.raises(StorageError, match=message):
        upgrade(path, scripts)
    assert dump(path) == before
    assert check(path) == []


def test_nothing_to_upgrade_makes_no_backup(archive: Archive, path: Path) -> None:
    before = {file.name for file in path.parent.iterdir()}
    assert upgrade(path) is None
    assert {file.name for file in path.parent.iterdir()} == before


def test_a_newer_schema_is_refused(archive: Archive, path: Path, tmp_path: Path) -> None:
    upgrade(path, later_scripts(tmp_path / "scripts", "op.execute('CREATE TABLE fine (a)')"))
    for action in (lambda: Archive.open(str(path)), lambda: upgrade(path)):
        with pytest.raises(StorageError, match="newer than this program's"):
            action()


def test_an_older_schema_is_told_how_to_upgrade(
    archive: Archive, path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scripts = later_scripts(tmp_path / "scripts", "op.execute('CREATE TABLE fine (a)')")
    monkeypatch.setattr(schema_module, "revisions", lambda _=SCRIPTS: revisions(scripts))
    monkeypatch.setattr(schema_module, "HEAD", "later0")
    with pytest.raises(StorageError, match="needs later0: run `ics-recorder db upgrade`"):
        Archive.open(str(path))


def test_somebody_elses_database_is_refused(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE games (id)")
    connection.commit()
    connection.close()
    for create in (False, True):
        with pytest.raises(StorageError, match="not an archive of ics-recorder"):
            Archive.open(str(path), create=create)


def test_an_interrupted_creation_is_finished(path: Path) -> None:
    path.touch(0o600)
    with pytest.raises(StorageError, match="empty database"):
        Archive.open(str(path))
    with Archive.open(str(path), create=True) as archive:
        assert archive.check() == []
