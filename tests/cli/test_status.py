"""``status``: what is being recorded, what a crash left open, and how far the archive is."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from recorder.journal import JournalWriter, Sync, close_left_open
from tests.support.cli import WATCHER, Cli

STREAM = WATCHER.read_bytes()


def _begun(folder: Path, *, max_bytes: int = 1 << 26) -> JournalWriter:
    journal = JournalWriter(folder, host="chess.example", port=5000, role="proxy", sync=Sync.OS, max_bytes=max_bytes)
    for begin in range(0, len(STREAM), 5000):
        journal.received(STREAM[begin : begin + 5000])
    return journal


def test_a_folder_that_is_not_there_is_no_peace(cli: Cli, tmp_path: Path) -> None:
    nowhere = tmp_path / "nowhere"
    told = cli("status", "--journal-dir", nowhere, code=3).output
    assert told == f"Error: There is no folder {nowhere}: name one with journals in it by --journal-dir.\n"
    env = {"XDG_DATA_HOME": str(tmp_path)}
    told = cli("status", env=env).stderr
    assert told == f"There is no folder {tmp_path / 'ics-recorder' / 'journals'}: nothing was recorded yet.\n"
    assert cli("status", "--json", env=env).stdout == "[]\n"


def test_tells_how_far_the_archive_is(cli: Cli, tmp_path: Path) -> None:
    folder = tmp_path / "journals"
    where = ("status", "--journal-dir", folder)
    over = _begun(folder, max_bytes=20_000)
    over.close()
    living = _begun(folder)
    assert f"There is no archive {cli.archive} yet.\n" in cli(*where).stderr
    (told,) = cli.json(*where, "--json")
    assert (told["written"], told["unarchived_bytes"]) == (True, None)
    cli("import", living.path)
    living.received(b"x" * 1000)
    size = living.path.stat().st_size
    result = cli(*where)
    state, *_, behind, _, name = result.stdout.splitlines()[1].split("\t")
    assert (state, name) == ("recording", living.path.name)
    assert 1000 < int(behind.replace(",", "")) < 1100
    later = f"ics-recorder import --db {cli.archive} {folder}"
    assert re.search(rf"lacks [\d,]+ bytes of 1 journal whose recording has ended: {later}\n", result.stderr)
    (told,) = cli.json(*where, "--json")
    assert told["size_bytes"] == size
    cli("import", folder)
    (told,) = cli.json(*where, "--json")
    assert told["unarchived_bytes"] == 0
    assert f"{cli.archive} has every journal whose recording has ended.\n" in cli(*where).stderr
    living.close()
    assert re.search(r"lacks \d+ bytes of 1 journal whose recording has ended", cli(*where).stderr), "its end is new"
    assert "Nothing is being recorded" in cli(*where).stderr


def test_what_was_forgotten_is_not_missed(cli: Cli, tmp_path: Path) -> None:
    folder = tmp_path / "journals"
    journal = _begun(folder)
    journal.close()
    cli("import", folder)
    (source,) = cli.json("sources", "--json")
    cli("sources", "forget", source["id"])
    assert "has every journal whose recording has ended" in cli("status", "--journal-dir", folder).stderr


def test_what_a_crash_left_is_told_until_it_is_ended(cli: Cli, tmp_path: Path) -> None:
    living = _begun(tmp_path / "living")
    folder = tmp_path / "journals"
    folder.mkdir()
    left = Path(shutil.copy(living.path, folder))
    living.close()
    where = ("status", "--journal-dir", folder)
    assert cli(*where).stdout.splitlines()[1].startswith("left open\tproxy\tchess.example:5000\t")
    assert close_left_open(left)
    assert cli(*where).stdout == ""


def test_an_archive_that_is_none_is_told(cli: Cli, tmp_path: Path) -> None:
    journal = _begun(tmp_path / "journals")
    cli.archive.write_bytes(b"no archive" * 100)
    result = cli("status", "--journal-dir", tmp_path / "journals")
    assert "recording" in result.stdout
    assert "How far the archive is cannot be told: " in result.stderr
    journal.close()
