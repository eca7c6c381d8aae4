"""A repeated import of unchanged files changes nothing, even if older copies are among them."""

import gzip
from collections.abc import Iterator
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from recorder.errors import ExitCode
from storage import ArchiveStore
from tests.support.cli import GUESTS, SERVER, WATCHER, Cli
from tests.support.effort import long_after

WHOLE = gzip.decompress(GUESTS.read_bytes())


def folder_of(tmp_path: Path, whole: bytes, sizes: list[int]) -> Path:
    folder = tmp_path / "m"
    folder.mkdir()
    (folder / "full.log").write_bytes(whole)
    for number, size in enumerate(sizes):
        (folder / f"a{number}_backup.log").write_bytes(whole[:size])
    return folder


@pytest.mark.parametrize("keep", [[], ["--no-keep-source"]])
def test_an_older_copy_that_comes_first_by_name(cli: Cli, tmp_path: Path, keep: list[str]) -> None:
    folder = folder_of(tmp_path, WHOLE, [60_000, 20_000])
    first = cli("import", *keep, folder).stdout
    assert f"{folder / 'a1_backup.log'}: an earlier part of a0_backup.log; nothing new" in first
    games = cli("export", "games").stdout
    for _ in range(2):
        outcomes = cli.json("import", *keep, "--json", folder)
        assert [outcome["status"] for outcome in outcomes] == ["known"] * 3
        assert [outcome["earlier_part_of"] for outcome in outcomes] == ["full.log", "full.log", None]
        assert cli("export", "games").stdout == games
    (source,) = cli.json("sources", "--json")
    assert source["size_bytes"] == len(WHOLE)


@pytest.mark.long
def test_any_order_gives_the_same_games(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, WATCHER.read_bytes(), [5_000, 12_345])
    logs = sorted(folder.iterdir())
    found = set()
    for number, order in enumerate(permutations(logs)):
        cli = Cli(tmp_path / f"{number}.sqlite")
        for _ in range(2):
            for log in order:
                cli("import", log)
        assert len(cli.json("sources", "--json")) == 1
        found.add(cli("export", "games").stdout)
    assert len(found) == 1


def test_copies_of_other_kinds_and_compressed_ones(cli: Cli, tmp_path: Path) -> None:
    whole = gzip.decompress((SERVER / "x02_xboard_observes_b" / "xboard_observer.debug.gz").read_bytes())
    log, part = tmp_path / "whole.debug", tmp_path / "part.gz"
    log.write_bytes(whole)
    cli("import", log)
    part.write_bytes(gzip.compress(whole[: len(whole) // 2]))
    (outcome,) = cli.json("import", "--json", part)
    assert (outcome["status"], outcome["earlier_part_of"]) == ("known", "whole.debug")


HEAD = b"login: Ann hunterone\r\npassword: huntertwo\r\nfics% pass hunterthree hunterfour\r\n"


@pytest.mark.parametrize("size", [14, 18, 40, 57, 68, 73, len(HEAD) - 5, len(HEAD)])
def test_a_copy_that_is_cut_within_a_secret(cli: Cli, tmp_path: Path, size: int) -> None:
    log, part = tmp_path / "whole.log", tmp_path / "part.log"
    log.write_bytes(HEAD + WATCHER.read_bytes())
    cli("import", log)
    part.write_bytes(log.read_bytes()[:size])
    (outcome,) = cli.json("import", "--kind", "raw", "--json", part)
    assert outcome["earlier_part_of"] == "whole.log"


def test_a_file_that_differs_is_another_log(cli: Cli, tmp_path: Path) -> None:
    whole = WATCHER.read_bytes()
    cli("import", WATCHER)
    log = tmp_path / "other.log"
    for at in (100, 8_000, 12_000 - 1):
        data = bytearray(whole[:12_000])
        data[at] = ord("#")
        log.write_bytes(bytes(data))
        (outcome,) = cli.json("import", "--json", log)
        assert (outcome["status"], outcome["earlier_part_of"]) == ("new", None), at


@pytest.mark.parametrize("common", long_after(1, [9_000, 70_000]))
def test_logs_with_the_same_beginning_are_read_about_once_each(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, common: int
) -> None:
    """Each of them may be the beginning of every longer one."""
    taken = 0
    read = ArchiveStore.read_source

    def counting(archive: ArchiveStore, *which: Any) -> Iterator[bytes]:
        nonlocal taken
        for block in read(archive, *which):
            taken += len(block)
            yield block

    monkeypatch.setattr(ArchiveStore, "read_source", counting)
    needed = []
    for count in (5, 10):
        (folder := tmp_path / str(count)).mkdir()
        for number in range(count):
            end = b"".join(b"line %d of log %d\n" % (line, number) for line in range(600 - 20 * number))
            (folder / f"{number:02}.log").write_bytes(WHOLE[:common] + b"\n" + end)
        taken = 0
        cli = Cli(tmp_path / f"{count}.sqlite")
        assert {outcome["status"] for outcome in cli.json("import", "--kind", "raw", "--json", folder)} == {"new"}
        needed.append(taken)
    assert needed[1] < 2.5 * needed[0]


def test_a_copy_of_a_deleted_log_is_another_log(cli: Cli, tmp_path: Path) -> None:
    log, part = tmp_path / "whole.log", tmp_path / "part.log"
    log.write_bytes(WATCHER.read_bytes())
    cli("import", "--no-keep-source", log)
    log.unlink()
    part.write_bytes(WATCHER.read_bytes()[:9_000])
    assert cli.json("import", "--json", part)[0]["status"] == "new"


def test_verbose_prints_what_is_stored_about_a_known_log(cli: Cli, tmp_path: Path) -> None:
    log = tmp_path / "flawed.log"
    log.write_bytes(WATCHER.read_bytes() + b"<12> rnbqkbnr this is no board\r\nZwitscher 12 tirili\r\n")
    first = cli("import", "-v", log).stdout
    output = cli("import", "-v", "--strict", log, code=ExitCode.FINDINGS).stdout
    assert output.splitlines()[0] == f"{log}: already in the archive, nothing new"
    assert output.splitlines()[1:] == first.splitlines()[first.splitlines().index("  1 anomaly: 1 malformed") :]
    assert "Zwitscher" not in cli("import", log).stdout
    assert cli.json("import", "-v", "--json", log)[0]["report"]["anomaly_count"] == 1


def test_other_files_in_a_folder_are_reported_and_do_not_fail_the_import(cli: Cli, tmp_path: Path) -> None:
    folder = folder_of(tmp_path, WATCHER.read_bytes(), [])
    (folder / "README").write_text("Remember the milk.\n")
    (folder / "board.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(100))
    (folder / "games.csv").write_text("key,server\n")
    (folder / ".hidden").write_text("x")
    result = cli("import", folder)
    assert result.stdout.splitlines()[-1] == "3 files (1 new, 2 not a log): 5 games, 122 moves"
    assert "2 files skipped by name" in result.stderr
    assert "README has no line of a chess server or engine" in result.stderr
    dry = cli("import", "-n", folder)
    assert dry.stdout.splitlines()[-1] == "3 files: 1 log, 2 not a log; nothing was stored"
    cli("import", folder, folder / "README", code=ExitCode.OK)  # given twice: by its folder first
    cli("import", folder / "README", folder, code=ExitCode.INPUT)


def test_a_compressed_folder_is_no_log(cli: Cli, tmp_path: Path) -> None:
    import tarfile

    with tarfile.open(tmp_path / "logs.tar.gz", "w:gz") as out:
        out.add(WATCHER)
    assert "is a tar archive: unpack it first" in cli("import", tmp_path / "logs.tar.gz", code=ExitCode.INPUT).stderr


def test_logs_with_the_same_name_are_distinguished(cli: Cli, tmp_path: Path) -> None:
    for number, log in ((1, WATCHER), (2, GUESTS)):
        (tmp_path / str(number)).mkdir()
        data = gzip.decompress(log.read_bytes()) if log is GUESTS else log.read_bytes()
        (tmp_path / str(number) / "x.log").write_bytes(data + b"\r\n<12> rnbqkbnr this is no board\r\n")
    cli("import", tmp_path / "1", tmp_path / "2")
    assert sorted(row["Name"] for row in cli.table("sources")) == ["1/x.log", "2/x.log"]
    assert {row["Source"] for row in cli.table("anomalies")} == {"1/x.log", "2/x.log"}
    assert {found["path"] for found in cli.json("anomalies", "--json")} == {
        str(tmp_path / number / "x.log") for number in "12"
    }
    assert cli("show", "last", "--raw").stdout.startswith(("1/x.log:", "2/x.log:"))
