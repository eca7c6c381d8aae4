"""After a crash any recorder appends the games of a journal to the PGN named in the journal."""

import asyncio
import json
from pathlib import Path

import pytest

from recorder.archive.recording.archiving import ArchiveChild, Archiving, Orders, import_left_open, outlets_of
from recorder.journal import close_left_open
from recorder.journal.writer import JournalWriter, Sync
from tests.archive.test_following import MIDDLE, STREAM, games_of, pgn_keys
from tests.support.cli import Cli


def left_open(cli: Cli, folder: Path, pgn: Path | None) -> Path:
    """A journal that names this PGN, of a recorder that was killed before the import."""
    child = ArchiveChild(str(cli.archive), print, pgn=None if pgn is None else str(pgn))
    writer = JournalWriter(folder / "elsewhere", host="h", port=1, role="record", sync=Sync.OS)
    child.sign(writer)
    writer.received(STREAM)
    left = folder / writer.path.name
    left.write_bytes(writer.path.read_bytes())
    writer.close()
    return left


def start(cli: Cli, folder: Path, pgn: Path | None) -> tuple[list[str], int]:
    """Run a recorder that records nothing; return its messages and the number of appended games."""
    messages: list[str] = []
    child = ArchiveChild(str(cli.archive), messages.append, pgn=None if pgn is None else str(pgn))

    async def run() -> None:
        child.start()
        await import_left_open(folder, child.import_journals, messages.append, "do it later")
        await child.finish()

    asyncio.run(run())
    return messages, child.appended


@pytest.mark.long
def test_another_recorder_appends_the_games_to_the_pgn_of_their_journal(cli: Cli, tmp_path: Path) -> None:
    ours, others = tmp_path / "a.pgn", tmp_path / "b.pgn"
    left = left_open(cli, tmp_path / "j", ours)
    assert outlets_of(left) == (str(ours), False)
    messages, appended = start(cli, tmp_path / "j", others)
    assert messages == ["1 journal was left open by a crash; the archive has all of it now."]
    assert (len(pgn_keys(ours)), others.exists(), appended) == (5, False, 0)
    assert len(games_of(cli)) == 5
    start(cli, tmp_path / "j", ours)
    assert len(pgn_keys(ours)) == 5


def test_games_of_a_recorder_without_a_pgn_are_appended_to_none(cli: Cli, tmp_path: Path) -> None:
    pgn = tmp_path / "x.pgn"
    left = left_open(cli, tmp_path / "j", None)
    assert outlets_of(left) == (None, False)
    start(cli, tmp_path / "j", pgn)
    assert not pgn.exists()
    assert len(games_of(cli)) == 5


@pytest.mark.long
def test_games_of_a_journal_imported_while_open_are_appended_to_no_pgn(cli: Cli, tmp_path: Path) -> None:
    writer = JournalWriter(tmp_path / "j", host="h", port=1, role="record", sync=Sync.OS)
    writer.received(STREAM)
    cli("import", writer.path)
    writer.close()
    start(cli, tmp_path / "nowhere", tmp_path / "x.pgn")
    assert not (tmp_path / "x.pgn").exists()


@pytest.mark.long
def test_games_for_an_unwritable_pgn_wait_for_their_recorder(cli: Cli, tmp_path: Path) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    ours = folder / "a.pgn"
    left_open(cli, tmp_path / "j", ours)
    folder.rmdir()
    folder.write_text("a file where the folder was")
    messages, _ = start(cli, tmp_path / "j", None)
    assert any("a.pgn" in sentence for sentence in messages)
    assert messages[-1] == "1 journal was left open by a crash; the archive has all of it now."
    folder.unlink()
    folder.mkdir()
    start(cli, tmp_path / "j", None)
    assert len(pgn_keys(ours)) == 5


def test_an_erased_journal_is_not_imported(cli: Cli, tmp_path: Path) -> None:
    left = left_open(cli, tmp_path / "j", None)
    cli("import", left)
    cli("sources", "forget", cli.json("sources", "--json")[0]["id"])
    messages, _ = start(cli, tmp_path / "j", None)
    assert messages == ["1 journal was left open by a crash; the archive has all of it now."]
    assert cli.json("sources", "--json") == []
    cli("import", left)
    assert len(games_of(cli)) == 5


def test_events_of_a_journal_left_open_are_printed_once(
    cli: Cli, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """It is taken as the crash left it, then once more with its end."""
    writer = JournalWriter(tmp_path / "elsewhere", host="h", port=1, role="record", sync=Sync.OS)
    ArchiveChild(str(cli.archive), print, events=True).sign(writer)
    writer.received(STREAM[:MIDDLE])
    left = tmp_path / writer.path.name
    left.write_bytes(writer.path.read_bytes())
    writer.close()
    archiving = Archiving(Orders(str(cli.archive), None, True, None, 30.0))
    for _ in range(2):
        archiving.take(left, left=True)
        archiving.look()
        assert not archiving.taken, "it is done"
        close_left_open(left)
    assert archiving.finish()
    events = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
    started = [event["key"] for event in events if event["event"] == "game_started"]
    assert len(started) == len(set(started)) == 2
    assert [event["end"] for event in events if event["event"] == "game_ended"] == ["result", "log-ends"]
