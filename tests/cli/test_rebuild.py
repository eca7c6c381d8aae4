"""``db rebuild``: build the same archive again from its logs, or leave the old one unchanged."""

import gzip
import hashlib
import shutil
import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import pytest

import recorder.archive.care.verifying
import storage.database
import storage.files
from recorder.archive.following.follower import Follower
from recorder.archive.reading.importing import ReadOptions
from recorder.errors import StorageError
from recorder.journal.parts import compress_part
from recorder.journal.writer import JournalWriter, Sync
from storage import ArchiveStore, replacing
from tests.cli.test_merging import exports
from tests.support.cli import ADJOURNED, SERVER, WATCHER, Cli
from tests.support.effort import long_after


@pytest.fixture
def made(cli: Cli, tmp_path: Path) -> Cli:
    """An archive of kept logs, of one that is not kept, and of a journal that grew between imports."""
    logs = tmp_path / "logs"
    logs.mkdir()
    cli("import", WATCHER, SERVER / "b09_crazyhouse")
    shutil.copy(ADJOURNED, logs)
    cli("import", "--no-keep-source", "--chat", "none", "--server", "chess.example", logs / ADJOURNED.name)
    stream = gzip.decompress((SERVER / "b07_eight_boards" / "observer_GuestXs.raw.gz").read_bytes())[:150_000]
    writer = JournalWriter(tmp_path / "journals", host="h", port=1, role="record", sync=Sync.OS, max_bytes=30_000)
    for begin in range(0, len(stream), 600):
        writer.received(stream[begin : begin + 600])
        if begin % 60_000 == 0:
            cli("import", tmp_path / "journals")
    writer.close()
    cli("import", tmp_path / "journals")
    return cli


@pytest.mark.long
def test_exports_are_the_same_byte_for_byte(made: Cli, tmp_path: Path) -> None:
    before, sources = exports(made), made.json("sources", "--json")
    made.archive.chmod(0o640)
    output = made("db", "rebuild")
    assert "0 added, 0 gone, 0 differing" in output.stderr
    assert exports(made) == before
    assert made.json("sources", "--json") == sources
    assert made.archive.stat().st_mode & 0o777 == 0o640
    saved = Path(f"{made.archive}.before-rebuild.1")
    assert str(saved) in output.stderr
    assert exports(Cli(saved)) == before
    made("db", "check")
    assert "0 findings" in made("verify").stderr
    assert [path.name for path in sorted(tmp_path.glob("archive.sqlite*"))] == [made.archive.name, saved.name]


def test_what_is_imported_after_it_goes_on(made: Cli, tmp_path: Path) -> None:
    made("db", "rebuild", "--no-backup")
    assert not list(tmp_path.glob("*.before-rebuild*"))
    assert "nothing new" in made("import", tmp_path / "journals").stdout
    log = tmp_path / "logs" / ADJOURNED.name
    log.write_bytes(log.read_bytes() + b"fics% \n\r")
    assert ", grew\n" in made("import", log).stdout


def test_equal_keys_keep_their_order_though_a_log_has_grown(cli: Cli, tmp_path: Path) -> None:
    """Of copies that continue differently, the one with the least hash gets the key when the games are read."""
    data = WATCHER.read_bytes()
    fork, log = tmp_path / "fork.raw", tmp_path / "log.raw"
    fork.write_bytes(data[:15_000] + b"fics% \n\r")
    rank = hashlib.sha256(fork.read_bytes()).hexdigest()
    below = {hashlib.sha256(data[:size]).hexdigest() < rank: size for size in range(18_000, 18_100)}
    assert len(below) == 2
    sizes = sorted(below.values())
    for size in sizes:
        log.write_bytes(data[:size])
        cli("import", fork, log)
    before = exports(cli)
    assert "0 added, 0 gone, 0 differing" in cli("db", "rebuild").stderr
    assert exports(cli) == before


def change_a_game(cli: Cli) -> tuple[str, str, str]:
    """Change the archive as another parser might have: one game differs, one is missing, one is added."""
    with sqlite3.connect(cli.archive) as connection:
        keys = [key for (key,) in connection.execute("SELECT key FROM games WHERE ply_count > 4 ORDER BY key LIMIT 2")]
        connection.execute("UPDATE games SET result = '*', rated = NOT rated WHERE key = ?", keys[:1])
        connection.execute("UPDATE games SET key = 'ffffffffffffffffffff' WHERE key = ?", keys[1:])
    connection.close()
    return keys[0], keys[1], "ffffffffffffffffffff"


def test_a_dry_run_shows_what_would_change(made: Cli, tmp_path: Path) -> None:
    differing, added, gone = change_a_game(made)
    before = made.archive.read_bytes()
    output = made("db", "rebuild", "--dry-run")
    lines = output.stdout.splitlines()
    assert [line.split(":")[0] for line in lines] == [
        f"{added} added",
        f"{gone} gone",
        f"{differing} differs in its headers",
    ]
    assert made.archive.read_bytes() == before
    assert "The archive is unchanged, because of --dry-run." in output.stderr
    assert [path.name for path in tmp_path.glob("archive.sqlite*")] == [made.archive.name]
    made("db", "rebuild")
    assert made("db", "rebuild", "--dry-run").stdout == ""


def test_what_was_forgotten_stays_forgotten(made: Cli) -> None:
    forgotten = next(source for source in made.json("sources", "--json") if source["name"] == WATCHER.name)
    made("sources", "forget", forgotten["id"])
    left = made.json("sources", "--json")
    made("db", "rebuild")
    assert made.json("sources", "--json") == left


@pytest.mark.parametrize("how", long_after(1, ["changed", "gone"]))
def test_a_log_that_cannot_be_found_is_named_and_nothing_replaced(made: Cli, tmp_path: Path, how: str) -> None:
    log = tmp_path / "logs" / ADJOURNED.name
    log.write_bytes(b"fics% another log\n") if how == "changed" else log.unlink()
    before = made.archive.read_bytes()
    output = made("db", "rebuild", code=3)
    assert str(log) in output.stderr
    assert "put its file back where it was" in output.stderr
    assert made("db", "rebuild", "--dry-run", code=3).stderr == output.stderr
    assert made.archive.read_bytes() == before
    assert [path.name for path in tmp_path.glob("archive.sqlite*")] == [made.archive.name]
    made(*output.stderr.split("ics-recorder ")[1].split())
    made("db", "rebuild")


@pytest.mark.long
def test_games_of_missing_logs_can_be_carried_over(made: Cli, tmp_path: Path) -> None:
    before = exports(made)
    (tmp_path / "logs" / ADJOURNED.name).unlink()
    first = sorted((tmp_path / "journals").iterdir())[0]
    first.unlink()
    output = made("db", "rebuild", code=3).stderr
    assert f"{first.name.removesuffix('.zst').removesuffix('.journal')}" in output
    assert "is a journal of which 1 part (1) is gone." in output
    assert "--carry-over" in output
    output = made("db", "rebuild", "--carry-over").stderr
    assert "0 added, 0 gone, 0 differing.\nThe stored games of 2 logs are kept.\n" in output
    assert exports(made) == before
    made("db", "check")


def test_a_journal_whose_parts_were_compressed_meanwhile_is_found(cli: Cli, tmp_path: Path) -> None:
    writer = JournalWriter(tmp_path / "journals", host="h", port=1, role="record", sync=Sync.OS)
    writer.received(WATCHER.read_bytes()[:50_000])
    cli("import", writer.path)
    shutil.copy(writer.path, tmp_path)
    plain = writer.path
    writer.close()
    plain.with_name(f"{plain.name}.zst").unlink()
    shutil.copy(tmp_path / plain.name, plain)
    compress_part(plain)
    assert "0 differing" in cli("db", "rebuild").stderr


def test_rebuild_refuses_an_archive_that_is_open_elsewhere(made: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storage.files, "BUSY_TIMEOUT_MS", 100)
    before = made("export", "pgn").stdout
    reader = sqlite3.connect(made.archive)
    reader.execute("SELECT count(*) FROM games").fetchone()
    assert "in use by another program" in made("db", "rebuild", code=4).stderr
    reader.close()
    assert made("export", "pgn").stdout == before
    made("db", "rebuild")


def test_a_writer_that_waited_does_not_write_into_the_old_file(filled: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """It waits for the old file, and continues with the new one, which is empty here."""
    waits = threading.Event()
    problems: list[str] = []
    identity = storage.files.identity_of

    def noted(path: Path) -> tuple[int, int] | None:
        found = identity(path)
        waits.set()
        return found

    def write() -> None:
        try:
            with ArchiveStore.open(str(filled.archive)) as archive:
                archive.erasures.forget_source(archive.sources()[0].id)
        except StorageError as error:
            problems.append(str(error))

    with ArchiveStore.open(str(filled.archive)):
        pass
    thread = threading.Thread(target=write)
    with replacing(filled.archive) as replacement:
        monkeypatch.setattr(storage.database, "identity_of", noted)
        thread.start()
        waits.wait(10)
        replacement.path.replace(filled.archive)  # the last step of swap
        replacement.begin()
    thread.join(60)
    assert len(problems) == 1
    assert problems[0].startswith("No source has an id that begins with ")


def test_an_interrupted_rebuild_does_not_block_the_next_one(made: Cli) -> None:
    leftover = Path(f"{made.archive}.rebuilt")
    leftover.write_bytes(b"half a file")
    Path(f"{leftover}-wal").write_bytes(b"and its log")
    made("db", "rebuild")
    made("db", "check")
    assert not leftover.exists()


def test_a_partly_read_journal_stays_unfinished_after_a_rebuild(cli: Cli, tmp_path: Path) -> None:
    stream = WATCHER.read_bytes()
    journal = JournalWriter(tmp_path / "j", host="h", port=1, role="record", sync=Sync.OS)
    journal.received(stream[:10_000])
    updater = Follower(str(cli.archive), journal.path, ReadOptions())
    updater.look(settle=True)
    updater.close()  # as a kill does
    journal.received(stream[10_000:])
    journal.close()
    cli("db", "rebuild", "--no-backup")
    with ArchiveStore.open(str(cli.archive), read_only=True) as archive:
        (row,) = archive.sources()
    assert row.unfinished


def test_an_archive_open_elsewhere_is_refused_before_the_rebuild(made: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("storage.maintenance.replace._READER_S", 0.2)
    read: list[str] = []
    monkeypatch.setattr(recorder.archive.care.verifying, "read_again", lambda *_what, **_how: read.append("it"))
    with closing(sqlite3.connect(made.archive)) as reader:
        reader.execute("SELECT count(*) FROM games").fetchone()
        output = made("db", "rebuild", code=4)
        assert "is in use by another program and cannot be replaced" in output.stderr
        assert read == []
        monkeypatch.undo()
        made("db", "rebuild", "--dry-run")
