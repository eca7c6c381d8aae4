"""A shared archive contains nothing private; a backup contains everything."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from recorder.errors import StorageError
from recorder.model import Anomaly, AnomalyKind, Shape, SourceReport
from storage import ArchiveStore, backup, check, share
from storage.files import open_sqlite
from storage.maintenance.share import _HANDLES, _TEXTS
from storage.schema.tables import metadata

from .conftest import EVERYTHING, import_bytes, make_game

REPORT = SourceReport(
    "raw",
    me="Ann",
    anomalies=[Anomaly(AnomalyKind.MALFORMED, 3, None, "Bob's line is cut", "tell cy psst")],
    shapes=[Shape("fics% tell cy psst", 1, 0)],
    warnings=["psst"],
)
LOG = b"login: Ann\r\npassword: hunter2\r\nfics% tell cy psst\r\n" * 40


def everything(path: Path) -> bytes:
    return path.read_bytes()


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "copy.db"


@pytest.fixture
def full(archive: ArchiveStore) -> ArchiveStore:
    import_bytes(archive, LOG, [make_game(0), make_game(1)], report=REPORT)
    return archive


def test_a_backup_during_a_write_is_the_whole_archive(full: ArchiveStore, path: Path, target: Path) -> None:
    with full.write_source(
        sha256="1" * 64, size_bytes=0, name="x", path=None, kind="raw", keep=False, parser_version="1", options={}
    ) as writer:
        writer.add_games([make_game(3)])
        writer.flush()
        backup(path, target)
        writer.finish(SourceReport())
    with ArchiveStore.open(str(target), read_only=True) as copy:
        assert list(copy.games(EVERYTHING)) == [make_game(0), make_game(1)]
        assert b"".join(copy.read_source(copy.sources()[0].id)) == LOG
    assert target.stat().st_mode & 0o777 == 0o600
    with pytest.raises(StorageError, match="Cannot create"):
        backup(path, target)


def test_a_share_has_no_log_no_tells_and_nothing_typed(full: ArchiveStore, target: Path) -> None:
    share(full.path, target)
    data = everything(target)
    for word in (b"psst", b"hunter2", b"secret", b"/logs/"):
        assert word not in data
    assert target.stat().st_mode & 0o777 == 0o600
    assert {file.name for file in target.parent.iterdir() if "part" in file.name} == set()
    with ArchiveStore.open(str(target), read_only=True) as copy:
        assert check(copy.path) == []
        (row,) = copy.sources()
        assert (row.path, row.kept_bytes, row.read_up_to) == (None, 0, 0)
        found = list(copy.games(EVERYTHING))
        assert [game.plies for game in found] == [make_game(0).plies, make_game(1).plies]
        assert [event.text for event in found[0].events] == ["2-1", "Ann(1500)[7] kibitzes: hi Bob"]
    assert len(next(full.games()).events) == 3


def test_pseudonyms_replace_handles_everywhere_and_stay_the_same(full: ArchiveStore, tmp_path: Path) -> None:
    first, second = tmp_path / "first.db", tmp_path / "second.db"
    share(full.path, first, pseudonyms=True)
    share(full.path, second, pseudonyms=True)
    assert b"Ann" not in everything(first)
    assert b"Bob" not in everything(first)
    with ArchiveStore.open(str(first), read_only=True) as one, ArchiveStore.open(str(second), read_only=True) as two:
        games = list(one.games(EVERYTHING))
        assert games == list(two.games(EVERYTHING))
        assert check(one.path) == []
        white, black = games[0].white.handle, games[0].black.handle
        assert white != black
        assert games[0].me == white
        assert games[0].reason == f"{black} resigns"
        assert [event.text for event in games[0].events] == ["2-1", f"{white}(1500)[7] kibitzes: hi {black}"]
        assert one.count(EVERYTHING) == 2


def test_keys_beside_pseudonyms_prove_no_guess_of_the_handles(full: ArchiveStore, tmp_path: Path) -> None:
    first, second = tmp_path / "first.db", tmp_path / "second.db"
    share(full.path, first, pseudonyms=True)
    share(full.path, second, pseudonyms=True)
    own = {game.key for game in full.games(EVERYTHING)}
    with ArchiveStore.open(str(first), read_only=True) as one, ArchiveStore.open(str(second), read_only=True) as two:
        keys = {game.key for game in one.games(EVERYTHING)}
        assert keys == {game.key for game in two.games(EVERYTHING)}
    assert len(keys) == len(own)
    assert not keys & own
    assert not any(key.encode() in everything(first) for key in own)


def test_another_archive_gives_other_pseudonyms(full: ArchiveStore, tmp_path: Path) -> None:
    with ArchiveStore.open(str(tmp_path / "other.db"), create=True) as other:
        import_bytes(other, LOG, [make_game(0)])
        share(other.path, tmp_path / "one.db", pseudonyms=True)
    share(full.path, tmp_path / "two.db", pseudonyms=True)
    with ArchiveStore.open(str(tmp_path / "one.db")) as one, ArchiveStore.open(str(tmp_path / "two.db")) as two:
        assert next(one.games()).white != next(two.games()).white


def test_redaction_takes_what_matches(full: ArchiveStore, target: Path) -> None:
    share(full.path, target, redact=["KIBITZES: .*", "cut$"])
    with ArchiveStore.open(str(target), read_only=True) as copy:
        assert next(copy.games()).events[1].text == "Ann(1500)[7] [redacted]"
        assert [found.message for _, found in copy.anomalies()] == ["Bob's line is [redacted]"]


def test_an_archive_that_cannot_be_shared_is_reported(full: ArchiveStore, path: Path, target: Path) -> None:
    with pytest.raises(StorageError, match="not a regular expression"):
        share(full.path, target, redact=["("])
    assert not target.exists()
    with pytest.raises(StorageError, match="exists already"):
        share(full.path, path)


@pytest.mark.parametrize("copy", [backup, share])
def test_a_copy_gets_its_name_when_it_is_complete(
    full: ArchiveStore, path: Path, target: Path, copy: Callable[[Path, Path], None]
) -> None:
    """A process that is killed while it copies has left nothing under the final name."""
    code = (
        "import os, sys; from pathlib import Path; from storage import files\n"
        "files.os.fsync = lambda number: os._exit(9)\n"
        f"from {copy.__module__} import {copy.__name__} as copy\n"
        "copy(Path(sys.argv[1]), Path(sys.argv[2]))"
    )
    done = subprocess.run([sys.executable, "-c", code, str(path), str(target)], check=False)
    assert done.returncode == 9
    assert not target.exists()
    copy(path, target)
    assert check(target) == []


def test_names_of_logs_hold_no_handles(archive: ArchiveStore, target: Path) -> None:
    for name in ("Ann-vs-Bob.log", "ann_2020.txt.gz", "GuestAnnX.icsj", "log.bob"):
        import_bytes(archive, name.encode(), [make_game(len(name))], name=name)
    share(archive.path, target, pseudonyms=True)
    with ArchiveStore.open(str(target), read_only=True) as copy:
        names = [row.name for row in copy.sources()]
        assert check(copy.path) == []
    assert len(set(names)) == 4
    assert all(re.fullmatch("log-[0-9a-f]{12}", name) for name in names)


HANDLE_FREE = {
    "settings": "name value",
    "sources": "sha256 path kind server dialect time_basis parser_version options restart_state warnings",
    "source_counts": "tag disposition",
    "source_shapes": "shape",
    "anomalies": "kind text",
    "players": "server handle_folded",
    "games": "key kind server dialect white_rating_text white_titles black_rating_text black_titles variant category"
    " start_fen result reason_key termination ending time_basis date_text start_precision eco opening",
    "game_evidence": "kind",
    "observations": "kind start_verbose start_pretty",
    "ply_lines": "kind",
    "plies": "san",
    "anchors": "fen reason",
    "holdings": "white black passed",
    "events": "kind detail",
    "thinking": "",
    "game_links": "kind",
    "analyses": "game_key protocol settings",
    "analysed_positions": "fen",
}
"""Text columns that hold no handle, or lose it in another way: deleted, emptied, computed from the pseudonym."""


def test_every_text_column_is_known_to_the_pseudonyms() -> None:
    """A new column must be entered in one of the lists."""
    rewritten = {(column.table.name, column.name) for column in (*_HANDLES, *_TEXTS)}
    free = {(table, column) for table, columns in HANDLE_FREE.items() for column in columns.split()}
    texts = {
        (table.name, column.name)
        for table in metadata.tables.values()
        for column in table.columns
        if column.type.__visit_name__ in ("text", "JSON")
    }
    assert texts == rewritten | free
    assert not rewritten & free


def test_a_share_has_only_what_is_part_of_an_archive(full: ArchiveStore, path: Path, target: Path) -> None:
    connection = open_sqlite(path)
    connection.execute("CREATE TABLE mine (a)")
    connection.execute("CREATE VIEW v_mine AS SELECT a FROM mine")
    connection.execute("CREATE TRIGGER spy BEFORE DELETE ON events BEGIN INSERT INTO mine VALUES (old.text); END")
    connection.close()
    share(full.path, target, pseudonyms=True)
    assert check(target) == []
    assert b"psst" not in everything(target)
    assert b"secret" not in everything(target).replace(b"pseudonym-secret", b"")
