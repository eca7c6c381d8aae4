"""``check`` finds each kind of damage it knows."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from storage import ArchiveStore
from storage.files import open_sqlite
from storage.maintenance.check import check

from .conftest import import_bytes, make_game

DAMAGE = [
    ("DELETE FROM plies WHERE id = 2", "segments whose first or last ply"),
    ("UPDATE plies SET ply = 2", "missing or out of order"),
    ("INSERT INTO plies SELECT 99, ply, move, san, 0, 0, 0, 0, 0, 0, 0, 1, 0 FROM plies LIMIT 1", "no line: 1"),
    ("UPDATE ply_lines SET first_ply_id = 2 WHERE line_no = 1", "lines that share their plies"),
    ("UPDATE ply_lines SET parent_line_no = 7 WHERE line_no = 1", "without the line they leave"),
    ("INSERT INTO segments VALUES (1, 1, 2, 2, 1)", "overlap"),
    ("UPDATE segments SET observation_id = 2 WHERE game_id = 1", "another game's observation"),
    ("UPDATE games SET ply_count = 9", "whose number of plies"),
    ("DELETE FROM source_chunks", "hole"),
    ("UPDATE games SET white = 'An' || char(0) || 'n' WHERE id = 2", "NUL character in a player's name"),
    ("UPDATE observations SET black = char(0) || black WHERE id = 2", "NUL character in a player's name"),
    ("DELETE FROM players", "names a row of players"),
    ("CREATE TABLE mine (a)", "differs"),
]


@pytest.mark.parametrize(("sql", "finding"), DAMAGE, ids=[finding for _, finding in DAMAGE])
def test_damage_is_found(archive: ArchiveStore, path: Path, sql: str, finding: str) -> None:
    import_bytes(archive, b"one", [make_game(0), make_game(1)])
    assert check(archive.path) == []
    connection = open_sqlite(path)
    connection.execute(sql)
    connection.close()
    assert any(finding in found for found in check(archive.path))


def test_an_upgraded_archive_is_checked_as_it_was_at_one_moment(
    archive: ArchiveStore, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import_bytes(archive, b"one", [make_game(0)])
    with closing(open_sqlite(path)) as connection:  # as batch migrations leave a table
        connection.execute("PRAGMA writable_schema=ON")
        connection.execute("""UPDATE sqlite_master SET sql = replace(sql, 'TABLE players', 'TABLE "players"')""")

    def another_writes(_driver: sqlite3.Connection) -> list[str]:
        with closing(open_sqlite(path)) as connection:
            connection.execute("DELETE FROM plies WHERE id = 2")
        return []

    monkeypatch.setattr("storage.maintenance.check.foreign_statements", another_writes)
    assert check(path) == []
    assert check(path) != []


def test_a_corrupt_page_is_found(path: Path) -> None:
    with ArchiveStore.open(str(path), create=True) as archive:
        import_bytes(archive, b"one", [make_game(number) for number in range(100)])
    connection = open_sqlite(path)
    (root,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'ix_games_black_id'").fetchone()
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    data = bytearray(path.read_bytes())
    data[root * 4096 - 200 : root * 4096] = b"\x55" * 200
    path.write_bytes(data)
    with ArchiveStore.open(str(path)) as archive:
        assert check(archive.path) != []
