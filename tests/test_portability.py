"""Commands that read, store and export need nothing that Windows lacks."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.test_journal import recorded
from tests.support.cli import ADJOURNED, GUESTS, WATCHER
from tests.support.compiled import ROOT

BUGHOUSE = ROOT / "tests" / "corpus" / "server" / "a12_bughouse" / "observer_GuestBga.raw.gz"
LECTURE = ROOT / "tests" / "corpus" / "server" / "a10_examine" / "observer_GuestExb.raw"
ENGINES = ROOT / "tests" / "corpus" / "server" / "x03_zippy_engines" / "xboard_sjeng.debug.gz"
MASKED_MODULES = ("fcntl", "grp", "pwd", "resource", "termios", "tty")


def run_masked(folder: Path, *commands: tuple[object, ...]) -> subprocess.CompletedProcess[str]:
    """Run commands on one archive in a process that has only what Windows has."""
    lines = "".join(json.dumps(["--db", str(folder / "a.sqlite"), *map(str, words)]) + "\n" for words in commands)
    return subprocess.run(
        [sys.executable, "-X", "warn_default_encoding", "-m", "tests.support.windows"],
        cwd=ROOT,
        input=lines,
        capture_output=True,
        text=True,
        encoding="utf-8",
        errors="replace",  # a journal's bytes are any
    )


def succeed(folder: Path, *commands: tuple[object, ...]) -> str:
    done = run_masked(folder, *commands)
    assert done.returncode == 0, f"{done.stdout[-2000:]}\n{done.stderr}"
    ours = tuple(str(ROOT / package) for package in ("recorder", "storage", "exporters", "migrations"))
    assert not [line for line in done.stderr.splitlines() if "EncodingWarning" in line and line.startswith(ours)]
    return done.stdout


def test_an_archive_is_made_read_and_maintained(tmp_path: Path) -> None:
    journal = recorded(tmp_path / "journals")
    journal = journal if journal.exists() else journal.with_name(f"{journal.name}.zst")
    output = succeed(
        tmp_path,
        ("import", WATCHER, ADJOURNED),
        ("import", BUGHOUSE, ENGINES, journal, LECTURE.parent),
        ("import", "--dry-run", WATCHER.parent),
        ("games",),
        ("games", "--json"),
        ("show", "last"),
        ("show", "last", "--raw"),
        ("sources",),
        ("anomalies",),
        ("duplicates",),
        ("explain", GUESTS, "--observe", "rated"),
        ("status",),
        ("verify",),
        ("db", "check"),
        ("db", "current"),
        ("db", "upgrade"),
        ("db", "backup", tmp_path / "backup.sqlite"),
        ("db", "share", "-o", tmp_path / "shared.sqlite"),
        ("import", tmp_path / "backup.sqlite"),
        ("db", "rebuild"),
        ("journal", "info", journal),
        ("journal", "check", journal),
        ("journal", "cat", journal),
        ("journal", "scrub", journal, "-o", tmp_path / "clean.journal"),
        ("journal", "scrub", WATCHER, "-o", tmp_path / "clean.raw"),
        ("forget", "Watcher", "--yes"),
        ("completion", "bash"),
    )
    assert "Spassky" in output
    assert (tmp_path / "clean.raw").stat().st_mode & 0o77 == 0
    assert (tmp_path / "clean.journal").stat().st_mode & 0o77 == 0


@pytest.mark.long
def test_games_are_exported_converted_and_measured(tmp_path: Path) -> None:
    out = tmp_path
    succeed(
        tmp_path,
        ("import", GUESTS, BUGHOUSE),
        ("export", "pgn", "-o", out / "a.pgn"),
        ("export", "pgn", "-o", out / "a.pgn", "--append"),
        ("export", "pgn", "-o", out / "a.pgn", "--force"),
        ("export", "bpgn", "-o", out / "a.bpgn"),
        ("export", "plies", "-o", out / "a.csv"),
        ("export", "plies", "-o", out / "a.parquet"),
        ("export", "plies", "--dataset", "-o", out / "dataset"),
        ("export", "games", "-o", out / "games.jsonl"),
        ("convert", GUESTS, "-o", out / "b.pgn"),
        ("convert", out / "b.pgn", "-o", out / "c.pgn", "--style", "lichess"),
        ("convert", LECTURE, "--include", "examined", "-o", out / "lecture.pgn"),
        ("clocks",),
        ("clocks", "--table", "profile", "-o", out / "profile.csv"),
        ("plot", "race", "last", "-o", out / "race.svg"),
        ("report", "last", "-o", out / "last.html"),
        ("report", "--index", "-o", out / "index.html"),
    )
    assert (out / "a.pgn").read_bytes().replace(b"\r\n", b"\n").count(b"[Event ") >= 15
    assert (out / "last.html").read_bytes().startswith(b"<!DOCTYPE html>")


@pytest.mark.parametrize("module", MASKED_MODULES)
def test_the_mask_holds(module: str) -> None:
    """Else the tests above would prove nothing."""
    result = subprocess.run(
        [sys.executable, "-c", f"from tests.support.windows import remove; remove(); import {module}"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert "ModuleNotFoundError" in result.stderr


@pytest.mark.long
def test_python_programs_load_every_public_name() -> None:
    code = (
        "from tests.support.windows import remove; remove()\n"
        "import sys, recorder, storage, exporters\n"
        "for name in recorder.__all__:\n"
        "    getattr(recorder, name)\n"
        f"print(len(list(recorder.read_games({str(WATCHER)!r}))))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.stdout == "5\n", done.stderr
