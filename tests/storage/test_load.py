"""Backups, readers and writers at one time, and an archive that another program keeps locked."""

import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

import storage.files
from storage import ArchiveStore, backup
from storage.files import open_sqlite
from storage.maintenance.check import check
from tests.support.cli import WATCHER, Cli

from .conftest import EVERYTHING, import_bytes, make_game

GAMES = 6  # of each source
BACKUPS = 25


def hammer(path: Path) -> None:
    """Write sources, let them grow and forget some, one transaction after the other, for ever."""
    number = 0
    with ArchiveStore.open(str(path)) as archive:
        while True:
            data = b"%d " % number * 5_000
            games = [make_game(number * GAMES + game) for game in range(GAMES)]
            row = import_bytes(archive, data, games)
            row = import_bytes(archive, data + b"more", games, continues=row)
            if number % 4 == 3:
                archive.erasures.forget_source(row.id)
            number += 1
            if number == 1:
                print("begun", flush=True)


@contextmanager
def hammering(path: Path) -> Iterator[subprocess.Popen[str]]:
    code = (
        "import sys; sys.path.insert(0, sys.argv[2]); from pathlib import Path;"
        "from storage_tests.test_load import hammer; hammer(Path(sys.argv[1]))"
    )
    package = path.parent / "import" / "storage_tests"
    package.parent.mkdir()
    package.symlink_to(Path(__file__).parent)
    root = str(Path(__file__).parent.parent.parent)
    with subprocess.Popen(
        [sys.executable, "-c", code, str(path), str(package.parent)], stdout=subprocess.PIPE, text=True, cwd=root
    ) as process:
        try:
            assert process.stdout.readline() == "begun\n"
            yield process
            assert process.poll() is None, "it could not go on writing"
        finally:
            process.kill()


@pytest.mark.long
def test_every_backup_under_load_is_whole(path: Path, tmp_path: Path) -> None:
    """A backup is the archive of one moment: each source with all its games, and nothing that ``check`` finds."""
    ArchiveStore.open(str(path), create=True).close()
    moments = set()
    with hammering(path):
        for number in range(BACKUPS):
            copy = tmp_path / f"{number}.db"
            backup(path, copy)
            assert check(copy) == []
            with ArchiveStore.open(str(copy), read_only=True) as archive:
                rows = archive.sources()
                assert {row.games for row in rows} <= {GAMES}
                assert sum(row.games for row in rows) == archive.count(EVERYTHING)
                for row in rows[-3:]:
                    assert sum(map(len, archive.read_source(row.id))) == row.size_bytes
                moments.add(tuple(row.sha256 for row in rows))
            copy.unlink()
    assert len(moments) > 2, "no process was writing"
    assert check(path) == []


def test_readers_need_not_wait_and_see_one_moment(path: Path) -> None:
    ArchiveStore.open(str(path), create=True).close()
    with hammering(path), ArchiveStore.open(str(path), read_only=True) as archive:
        for _ in range(BACKUPS):
            with archive.snapshot():
                rows = archive.sources()
                found = sum(1 for _ in archive.games(EVERYTHING))
                assert sum(row.games for row in rows) == found == archive.count(EVERYTHING)
                assert archive.sources() == rows


@pytest.fixture
def locked(path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[sqlite3.Connection]:
    """Another program that is writing and does not come to an end."""
    monkeypatch.setattr(storage.files, "BUSY_TIMEOUT_MS", 200)
    with ArchiveStore.open(str(path), create=True) as archive:
        import_bytes(archive, b"one", [make_game()])
    with closing(open_sqlite(path)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield other


def test_a_locked_archive_is_reported_in_one_sentence_with_the_time(
    path: Path, tmp_path: Path, locked: sqlite3.Connection
) -> None:
    cli = Cli(path)
    message = cli("import", WATCHER, code=4).stderr
    assert message == (
        f"Error: The archive {path} is locked: another program has been writing to it for more than 0.2 "
        "seconds; try again later.\n"
    )
    source = cli.json("sources", "--json")[0]["id"]
    for words in (("sources", "forget", source), ("forget", "--yes", "Ann"), ("db", "rebuild")):
        assert "is locked: another program" in cli(*words, code=4).stderr
    assert len(cli.json("games", "--json")) == 1  # reading goes on
    cli("db", "backup", tmp_path / "saved.db")
    cli("db", "check")
    locked.execute("ROLLBACK")
    assert "5 games" in cli("import", WATCHER).stdout
