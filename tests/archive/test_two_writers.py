"""Two programs that write one archive: what one stores, the other finds, and each game is there once."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import recorder
from recorder.archive.reading import importing
from recorder.archive.reading.importing import Fingerprint, fingerprint
from storage import database
from storage.files import identity_of
from tests.support.cli import ADJOURNED, SERVER, WATCHER, Cli
from tests.support.effort import long_after


def _everything(cli: Cli) -> Any:
    """Games and sources, without the places of files."""
    sources = cli.json("sources", "--json")
    games = cli.json("games", "--include", "examined,setup,empty", "--json")
    return games, [{**row, "path": None, "name": None} for row in sources]


@pytest.mark.parametrize(
    ("other", "status"),
    long_after(2, [("same", "known"), ("earlier", "grown"), ("longer", "known"), ("unrelated", "new")]),
)
def test_what_another_program_stores_meanwhile_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, other: str, status: str
) -> None:
    """The other program stores its log when this one has looked at the archive, and before it writes."""
    data = WATCHER.read_bytes()
    texts = {"same": data, "earlier": data[:9_000], "longer": data + data[-3_000:], "unrelated": ADJOURNED.read_bytes()}
    mine, its, first = (tmp_path / f"{name}.raw" for name in ("mine", "its", "first"))
    mine.write_bytes(data)
    its.write_bytes(texts[other])
    first.write_bytes(data[-3_000:])
    raced, in_turn = Cli(tmp_path / "raced.sqlite"), Cli(tmp_path / "in-turn.sqlite")
    for cli in (raced, in_turn):
        cli("import", first)
    races: list[Path] = []

    def raced_fingerprint(*of: Any) -> Fingerprint:
        found = fingerprint(*of)
        if not races:
            races.append(its)
            with recorder.Archive(raced.archive) as archive:
                archive.import_logs(its, jobs=1)
        return found

    monkeypatch.setattr(importing, "fingerprint", raced_fingerprint)
    assert [row["status"] for row in raced.json("import", "--json", mine)] == [status]
    assert races == [its]
    for log in (its, mine):
        in_turn("import", log)
    assert _everything(raced) == _everything(in_turn)
    raced("db", "check")


def test_an_archive_that_takes_the_place_of_another_gets_the_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As when `db rebuild` ends while an import waits for it."""
    cli, rebuilt = Cli(tmp_path / "archive.sqlite"), Cli(tmp_path / "rebuilt.sqlite")
    for archive in (cli, rebuilt):
        archive("import", ADJOURNED)

    def replaced_behind(path: Path) -> tuple[int, int] | None:
        found = identity_of(path)
        if rebuilt.archive.exists() and path == cli.archive:
            rebuilt.archive.replace(path)
        return found

    monkeypatch.setattr(database, "identity_of", replaced_behind)
    assert [row["status"] for row in cli.json("import", "--json", WATCHER)] == ["new"]
    assert not rebuilt.archive.exists()
    assert len(cli.json("sources", "--json")) == 2


@pytest.mark.long
def test_two_imports_of_one_folder_at_a_time(tmp_path: Path) -> None:
    folder = SERVER / "b06_bughouse"
    in_turn = Cli(tmp_path / "in-turn.sqlite")
    in_turn("import", "-j", "1", folder)
    for number in range(4):
        cli = Cli(tmp_path / f"{number}.sqlite")
        words = [sys.executable, "-m", "recorder", "import", "-j", str(1 + number % 2), str(folder)]
        env = {**os.environ, "ICS_RECORDER_DB": str(cli.archive)}
        both = [subprocess.Popen(words, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) for _ in range(2)]
        printed = [program.communicate()[0].decode() for program in both]
        assert [program.returncode for program in both] == [0, 0], printed
        assert _everything(cli) == _everything(in_turn)
        cli("db", "check")
