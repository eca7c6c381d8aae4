"""A long log is followed in pieces at first; games that cannot be appended are retried with pauses."""

import io
from pathlib import Path
from typing import Any

import pytest

import recorder.archive.following.follower
from exporters.pgn.exporter import PgnOptions
from recorder.archive.following.events import EventLineWriter
from recorder.archive.following.follower import Follower
from recorder.archive.following.pgn import FinishedGames
from recorder.archive.reading.importing import Import, ReadOptions
from recorder.archive.recording.archiving import Archiving, Orders
from recorder.journal.writer import JournalWriter, Sync
from tests.archive.test_following import LOGS, STREAM, everything, pgn_keys
from tests.support.cli import WATCHER, Cli


@pytest.mark.long_except("False-observer_GuestObsA.raw.gz")
@pytest.mark.parametrize("log", [WATCHER, *LOGS[::7]], ids=lambda log: log.name)
@pytest.mark.parametrize("keep", [True, False])
def test_pieces_of_a_log_give_the_same_archive_as_one_import(
    log: Path, keep: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recorder.archive.following.follower, "_AT_ONCE", 3_000)
    monkeypatch.setattr(recorder.archive.following.follower, "_SETTLE_S", 0.0)
    pieces, whole = Cli(tmp_path / "pieces.sqlite"), Cli(tmp_path / "whole.sqlite")
    pgn, events = tmp_path / "games.pgn", io.StringIO()
    whole("import", *([] if keep else ["--no-keep-source"]), log)
    outlets = (FinishedGames(str(pgn), PgnOptions()), EventLineWriter(events.write))
    updater = Follower(str(pieces.archive), log, ReadOptions(), keep=keep, outlets=outlets)
    assert updater.finish(), updater.problem
    assert everything(pieces) == everything(whole)
    pieces("db", "check")
    before = pgn_keys(pgn) if pgn.exists() else []
    second = Cli(tmp_path / "again.sqlite")
    other = Follower(
        str(second.archive), log, ReadOptions(), keep=keep, outlets=(FinishedGames(str(pgn), PgnOptions()),)
    )
    assert other.finish(), other.problem
    assert (pgn_keys(pgn) if pgn.exists() else []) == before, "an archive that is new finds them in the file"


def test_an_unwritable_pgn_is_retried_with_pauses(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    journal = JournalWriter(tmp_path / "j", host="h", port=1, role="record", sync=Sync.OS)
    journal.received(STREAM)
    journal.close()
    imports: list[int] = []
    real = Import.take

    def counting(*words: Any, **how: Any) -> object:
        imports.append(1)
        return real(*words, **how)

    monkeypatch.setattr(Import, "take", counting)
    folder = tmp_path / "pgn"
    folder.write_text("a file where the folder was")
    archiving = Archiving(Orders(str(cli.archive), str(folder / "x.pgn"), False, None, 30.0))
    archiving.take(journal.path, left=False)
    for _ in range(10):
        archiving.look()
    assert len(imports) <= 2
    folder.unlink()
    folder.mkdir()
    assert archiving.finish()
    assert len(pgn_keys(folder / "x.pgn")) == 5
