"""Commands never overwrite their input, and report an output that cannot be written."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from recorder.errors import ExitCode
from tests.support.cli import WATCHER, Cli
from tests.support.effort import long_after

WRITERS = (
    ["export", "pgn", "--force"],
    ["export", "pgn", "--append"],
    ["export", "plies", "--force"],
    ["export", "games", "--force"],
    ["export", "games", "--append"],
    ["clocks", "--format", "csv", "--force"],
    ["db", "share"],
)


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("words", WRITERS, ids=" ".join)
@pytest.mark.parametrize("target", ["archive", "archive-wal", "archive-shm", "link", "hard"])
def test_nothing_is_written_over_the_archive(filled: Cli, tmp_path: Path, words: list[str], target: str) -> None:
    cli = Cli(filled.archive.rename(tmp_path / "archive"))
    (tmp_path / "link").symlink_to(cli.archive)
    (tmp_path / "hard").hardlink_to(cli.archive)
    before = contents(tmp_path)
    result = cli(*words, "-o", tmp_path / target, code=ExitCode.OUTPUT)
    assert "is the archive or a log" in result.stderr
    assert contents(tmp_path) == before


@pytest.mark.parametrize(
    "words",
    [
        ("plot", "race", "--format", "svg"),
        ("report", "last"),
        ("report", "--index"),
        ("clocks", "--format", "csv"),
        ("clocks", "--by", "phase", "--format", "json"),
        ("replay", "engine", WATCHER, "--uci", "no-engine"),
    ],
    ids=lambda words: " ".join(map(str, words[:2])),
)
def test_a_file_that_is_there_is_refused_before_games_are_read(
    cli: Cli, tmp_path: Path, words: tuple[str, ...]
) -> None:
    there = tmp_path / "there"
    there.touch()
    result = cli(*words, "-o", there, code=ExitCode.OUTPUT)
    assert f"{there} already exists; use --force to replace it." in result.stderr
    assert not cli.archive.exists()


@pytest.mark.parametrize("suffix", ["", "-wal", "-shm"])
def test_a_backup_is_not_written_over_the_archive(filled: Cli, tmp_path: Path, suffix: str) -> None:
    before = contents(tmp_path)
    filled("db", "backup", f"{filled.archive}{suffix}", code=ExitCode.OUTPUT)
    assert contents(tmp_path) == before


@pytest.mark.parametrize("words", WRITERS[:-1], ids=" ".join)
def test_nothing_is_written_over_a_log_of_the_archive(cli: Cli, tmp_path: Path, words: list[str]) -> None:
    log = tmp_path / "session"
    log.write_bytes(WATCHER.read_bytes())
    cli("import", "--no-keep-source", log)
    assert "is the archive or a log" in cli(*words, "-o", log, code=ExitCode.OUTPUT).stderr
    assert log.read_bytes() == WATCHER.read_bytes()


def test_a_split_does_not_replace_the_archive(filled: Cli, tmp_path: Path) -> None:
    taken = tmp_path / "undated.pgn"
    filled.archive.rename(taken)
    before = contents(tmp_path)
    filled("export", "pgn", "--db", taken, "--split", "day", "--force", "-o", tmp_path, code=ExitCode.OUTPUT)
    assert contents(tmp_path) == before


def test_convert_does_not_replace_its_log(cli: Cli, tmp_path: Path) -> None:
    log = tmp_path / "session.pgn"
    log.write_bytes(WATCHER.read_bytes())
    cli("convert", log, "--force", "-o", log, code=ExitCode.OUTPUT)
    with log.open("rb") as stdin:
        words = [sys.executable, "-m", "recorder", "convert", "-", "--force", "-o", str(log)]
        found = subprocess.run(words, stdin=stdin, capture_output=True, check=False)
    assert found.returncode == ExitCode.OUTPUT, found.stderr
    assert log.read_bytes() == WATCHER.read_bytes()


@pytest.mark.parametrize("words", [["db", "backup"], ["db", "share", "-o"]], ids=" ".join)
def test_a_copy_does_not_replace_a_file(filled: Cli, tmp_path: Path, words: list[str]) -> None:
    target = tmp_path / "there"
    target.write_text("mine")
    assert "already exists" in filled(*words, target, code=ExitCode.OUTPUT).stderr
    assert target.read_text() == "mine"
    assert "folder does not exist" in filled(*words, tmp_path / "no" / "x", code=ExitCode.OUTPUT).stderr
    filled(*words, tmp_path / "new", "--db", tmp_path / "none", code=ExitCode.ARCHIVE)


def test_append_and_force_exclude_each_other(filled: Cli, tmp_path: Path) -> None:
    for what in ("pgn", "games"):
        filled("export", what, "--append", "--force", "-o", tmp_path / "x", code=ExitCode.USAGE)


def test_the_suffix_chooses_the_format(filled: Cli, tmp_path: Path) -> None:
    filled("export", "plies", "-o", tmp_path / "plies.parquet")
    assert (tmp_path / "plies.parquet").read_bytes()[:4] == b"PAR1"
    filled("export", "plies", "-o", tmp_path / "plies.JSONL")
    assert (tmp_path / "plies.JSONL").read_bytes()[:1] == b"{"
    filled("export", "plies", "--format", "csv", "-o", tmp_path / "odd.parquet")
    assert (tmp_path / "odd.parquet").read_text().startswith(filled("export", "plies").stdout[:40])
    filled("clocks", "-o", tmp_path / "clocks.csv")
    assert "," in (tmp_path / "clocks.csv").read_text()


def test_parquet_is_not_for_a_terminal(filled: Cli) -> None:
    leader, follower = os.openpty()
    words = [sys.executable, "-m", "recorder", "export", "plies", "--format", "parquet", "--db", str(filled.archive)]
    found = subprocess.run(words, stdout=follower, stderr=subprocess.PIPE, check=False)
    os.close(leader)
    os.close(follower)
    assert found.returncode == ExitCode.USAGE
    assert b"cannot be printed on a terminal" in found.stderr


COMMANDS = (
    ["--help"],
    ["games", "--help"],
    ["games"],
    ["games", "--json"],
    ["show", "last"],
    ["export", "pgn"],
    ["export", "plies"],
    ["sources"],
    ["verify"],
    ["import", str(WATCHER)],
    ["convert", str(WATCHER)],
)


@pytest.mark.parametrize("words", long_after(1, COMMANDS), ids=" ".join)
def test_one_line_when_standard_output_cannot_be_written(filled: Cli, words: list[str]) -> None:
    env = {**os.environ, "ICS_RECORDER_DB": str(filled.archive)}
    command = [sys.executable, "-m", "recorder", *words]
    with Path("/dev/full").open("wb") as full:
        found = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, env=env, check=False)
    assert found.returncode == ExitCode.OUTPUT
    assert found.stderr.decode().splitlines()[-1].startswith("Error: Standard output cannot be written: ")
    assert b"Traceback" not in found.stderr
    reader, writer = os.pipe()
    os.close(reader)
    found = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, env=env, check=False)
    os.close(writer)
    assert (found.returncode, b"Error" in found.stderr) == (ExitCode.PIPE, False)
    with Path("/dev/full").open("wb") as full:
        found = subprocess.run(command, stdout=subprocess.PIPE, stderr=full, env=env, check=False)
    assert found.returncode == 0
    assert found.stdout


def test_closed_standard_output_is_reported(filled: Cli) -> None:
    command = [sys.executable, "-m", "recorder", "games", "--db", str(filled.archive)]
    found = subprocess.run(["sh", "-c", 'exec "$@" >&-', "sh", *command], stderr=subprocess.PIPE, check=False)
    assert (found.returncode, found.stderr) == (ExitCode.OUTPUT, b"Error: Standard output is closed.\n")


def test_a_full_device_named_as_output(filled: Cli) -> None:
    result = filled("export", "pgn", "-o", "/dev/full", code=ExitCode.OUTPUT)
    assert result.stderr == "Error: /dev/full cannot be written: No space left on device.\n"
