"""Tests that need a program which is not installed: deselected, and named in the last line; refused in CI."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.compiled import ROOT

TESTS = """
import pytest

@pytest.mark.needs("xboard")
def test_a():
    raise AssertionError("it was run")

@pytest.mark.needs("stockfish", "xboard")
def test_b():
    raise AssertionError("it was run")

def test_c():
    pass
"""


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    (folder / "test_some.py").write_text(TESTS)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tests.conftest", "-p", "no:cacheprovider", *words, "."]
    env = os.environ | {"PATH": str(folder), "PYTHONPATH": str(ROOT)}
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=300, check=False)


@pytest.mark.long_except("alone")
@pytest.mark.parametrize("words", [[], ["-n", "2"]], ids=["alone", "xdist"])
def test_what_is_missing_is_deselected_and_named_in_the_last_line(tmp_path: Path, words: list[str]) -> None:
    done = run(tmp_path, *words)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1] == (
        "2 tests deselected, programs missing: stockfish, xboard. Install them: "
        "apt-get install stockfish xboard (games are in /usr/games, which PATH must name)"
    )


def test_ci_refuses_to_run_without_a_program(tmp_path: Path) -> None:
    done = run(tmp_path, "--all-programs")
    assert done.returncode == 4
    assert "not installed: Xvfb, chromium, fairymax" in done.stderr
    assert "it was run" not in done.stdout
