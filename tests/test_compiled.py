"""The compiled modules: which they are, which run, and that none is older than its source."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

import pytest

from tests.support.compiled import ROOT, is_compiled, sources, stale_binaries


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A tree with one module that is compiled: its root."""
    (tmp_path / "recorder").mkdir()
    (tmp_path / "pyproject.toml").write_text('[tool.ics-recorder]\ncompiled = ["recorder/a.py"]\n')
    for name in ("a.py", f"a{EXTENSION_SUFFIXES[0]}", f"compiled__mypyc{EXTENSION_SUFFIXES[0]}"):
        (tmp_path / "recorder" / name).touch()
        os.utime(tmp_path / "recorder" / name, (1000, 1000))
    return tmp_path


def test_binaries_as_old_as_their_sources_are_good(tree: Path) -> None:
    assert stale_binaries(tree) == []


def test_a_source_that_changed_is_reported(tree: Path) -> None:
    os.utime(tree / "recorder" / "a.py", (1001, 1001))
    assert stale_binaries(tree) == [tree / "recorder" / f"a{EXTENSION_SUFFIXES[0]}"]


def test_an_unused_binary_is_reported(tree: Path) -> None:
    left = tree / "recorder" / f"b{EXTENSION_SUFFIXES[0]}"
    left.touch()
    assert stale_binaries(tree) == [left]


def test_what_is_compiled_exists_and_make_knows_it() -> None:
    assert all(source.is_file() for source in sources())
    command = ["make", "--silent", "--eval", "modules: ; @echo $(COMPILED)", "modules"]
    output = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert [ROOT / path for path in output.split()] == sources()


def test_version_prints_which_runs() -> None:
    result = subprocess.run([sys.executable, "-m", "recorder", "--version"], capture_output=True, text=True, check=True)
    assert result.stdout.endswith("(compiled)\n" if is_compiled() else "(pure Python)\n")
