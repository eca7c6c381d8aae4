"""The columnar copy of an archive: made of what is missing, and rebuilt where it cannot be used."""

import json
import os
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from recorder import Archive
from tests.support.cli import Cli
from tests.support.effort import long_after

CORPUS = Path(__file__).parents[1] / "corpus"
CHAT, WATCHER = (CORPUS / "server" / name for name in ("a06_chatter_takebacks", "a13_timeseal_lag"))


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """An archive whose tables are read from the copy, however few games there are; three of them in a file."""
    monkeypatch.setattr("exporters.tables.tables._FEW_PLIES", 0)
    monkeypatch.setattr("exporters.tables.tables._PART_PLIES", 100)
    made = Cli(tmp_path / "archive.sqlite")
    made("import", CHAT)
    return made


def copy_of(cli: Cli) -> Path:
    """Its folder."""
    return cli.archive.with_name("archive.sqlite-columns")


def files(cli: Cli) -> dict[str, int]:
    """Its files, with the time when they were written."""
    return {path.name: path.stat().st_mtime_ns for path in copy_of(cli).glob("plies-*")}


def is_right(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """The copy gives the tables that the archive gives without one."""
    with_copy = Archive(cli.archive, read_only=True).plies()
    assert json.loads((copy_of(cli) / "manifest.json").read_text())["content"] is not None
    with monkeypatch.context() as patch:
        patch.setattr("exporters.tables.tables.ColumnarCopy.read", lambda *_, **__: False)
        pd.testing.assert_frame_equal(with_copy, Archive(cli.archive, read_only=True).plies())
    assert len(with_copy) > 0


def test_new_games_are_added_and_others_stay(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    is_right(cli, monkeypatch)
    before = files(cli)
    is_right(cli, monkeypatch)
    assert files(cli) == before
    cli("import", WATCHER)
    is_right(cli, monkeypatch)
    assert before.items() < files(cli).items()


@pytest.mark.long
def test_games_that_are_gone_or_changed_are_not_found(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    cli("import", WATCHER)
    is_right(cli, monkeypatch)
    before = files(cli)
    with monkeypatch.context() as patch:  # it would delete the copy, and that is tested elsewhere
        patch.setattr("storage.archive.drop_copy", lambda _: True)
        source = json.loads(cli("sources", "--json").stdout)[0]["id"]
        cli("sources", "forget", source)
    is_right(cli, monkeypatch)
    assert files(cli).keys() != before.keys()


@pytest.mark.parametrize("harm", long_after(1, ["damaged", "another version", "missing", "no manifest"]))
def test_a_copy_that_cannot_be_used_is_rebuilt(cli: Cli, monkeypatch: pytest.MonkeyPatch, harm: str) -> None:
    is_right(cli, monkeypatch)
    manifest = copy_of(cli) / "manifest.json"
    stored: dict[str, Any] = json.loads(manifest.read_text())
    games = copy_of(cli) / stored["games"]
    if harm == "missing":
        next(copy_of(cli).glob("plies-*")).unlink()
    elif harm == "damaged":
        games.write_bytes(games.read_bytes()[:100])
        manifest.write_text(json.dumps({**stored, "content": "older"}))
    elif harm == "no manifest":
        manifest.write_text("[")
    else:
        manifest.write_text(json.dumps({**stored, "made_by": [0, "0.0", "0007"]}))
    is_right(cli, monkeypatch)


@pytest.mark.long
def test_small_files_and_those_with_few_rows_in_use_are_joined(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    is_right(cli, monkeypatch)
    count = len(files(cli))
    assert count > 2
    monkeypatch.setattr("exporters.tables.tables._PART_PLIES", 100_000)
    monkeypatch.setattr("exporters.tables.tables._MOST_SMALL", 2)
    cli("import", WATCHER)
    is_right(cli, monkeypatch)
    cli("import", CORPUS / "public" / "pychess-play-gbtami.txt")
    is_right(cli, monkeypatch)
    manifest = json.loads((copy_of(cli) / "manifest.json").read_text())
    assert len(manifest["parts"]) == 1
    assert len(files(cli)) == 2, "and that of a reader who began before"


def test_where_nothing_can_be_written_it_is_in_the_folder_for_caches(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    caches = tmp_path / "caches"
    monkeypatch.setenv("XDG_CACHE_HOME", str(caches))
    access = os.access
    monkeypatch.setattr(os, "access", lambda path, mode, **how: mode != os.W_OK and access(path, mode, **how))
    found = Archive(cli.archive, read_only=True).plies()
    assert not copy_of(cli).exists()
    assert [path.parent.name for path in caches.rglob("manifest.json")]
    assert len(found) == len(Archive(cli.archive, read_only=True).plies())


def test_the_copy_of_a_share_stays(cli: Cli, tmp_path: Path) -> None:
    """Where an archive's version is unknown each command compares all games."""
    cli("db", "share", "-o", tmp_path / "shared.sqlite")
    shared = Archive(tmp_path / "shared.sqlite", read_only=True)
    shared.plies()
    before = (tmp_path / "shared.sqlite-columns" / "manifest.json").stat().st_mtime_ns
    shared.plies()
    assert (tmp_path / "shared.sqlite-columns" / "manifest.json").stat().st_mtime_ns == before


@pytest.mark.long_except("forget")
@pytest.mark.parametrize(
    "words", [("db", "rebuild", "--no-backup"), ("forget", "--yes", "Morphy")], ids=["rebuild", "forget"]
)
def test_it_goes_with_what_is_taken_out(cli: Cli, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]) -> None:
    is_right(cli, monkeypatch)
    cli(*words)
    assert not copy_of(cli).exists()
