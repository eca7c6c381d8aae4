"""docs/explanation/architecture.md lists all functions of one frame and the main ones of a game, in order."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
LOG = ROOT / "tests" / "corpus" / "server" / "a01_standard" / "observer_GuestObsA.raw.gz"
PAGE = (ROOT / "docs" / "explanation" / "architecture.md").read_text(encoding="utf-8")
WORDS = " ".join(PAGE.split())
MOST_FUNCTIONS, MOST_FILES = 25, 15

# In a process of its own, which loads sources even where modules are compiled: no profiler sees compiled calls.
CHILD = """
import gzip, sys, tempfile
from importlib.machinery import FileFinder, SourceFileLoader
from pathlib import Path

root, log, *wanted = sys.argv[1:]
packages = tuple(f"{root}/{name}" for name in ("recorder", "storage", "exporters"))

def sources_only(path):
    if not path.startswith(packages):
        raise ImportError
    return FileFinder(path, (SourceFileLoader, [".py"]))

sys.path_hooks.insert(0, sources_only)
sys.path_importer_cache.clear()
sys.path.insert(0, root)
called = {}

def note(frame, event, arg):
    code = frame.f_code
    if event == "call" and code.co_filename.startswith(packages) and (not wanted or code.co_qualname in wanted):
        called[code.co_qualname, code.co_filename] = None
"""

FRAME = """
from recorder.pipeline import Pipeline
from recorder.sources import SourceKind

lines = [line + b"\\n" for line in gzip.open(log).read().split(b"\\n")]
frames = [place for place, line in enumerate(lines) if line.lstrip(b"\\r").startswith(b"<12>")]
warm = Pipeline(SourceKind.RAW)
warm.receive(b"".join(lines))
pipeline = Pipeline(SourceKind.RAW)
pipeline.receive(b"".join(lines[: frames[6]]))
before = pipeline.report.frames
sys.setprofile(note)
pipeline.receive(b"".join(lines[frames[6] : frames[6] + 2]))
sys.setprofile(None)
assert sum(pipeline.report.frames.values()) == sum(before.values()) + 1
"""

GAME = """
import recorder

with tempfile.TemporaryDirectory() as folder, recorder.Archive(Path(folder) / "games.db") as archive:
    sys.setprofile(note)
    archive.import_logs(log)
    archive.export_pgn(Path(folder) / "games.pgn")
    sys.setprofile(None)
"""


def calls(code: str, *wanted: str) -> list[tuple[str, str]]:
    """Run code in a child.

    Args:
        code: calls ``sys.setprofile(note)`` before what is to be seen.
        wanted: the functions to note; none: all of ours.

    Returns:
        Function and file, in the order of the first calls.
    """
    script = f'{CHILD}{code}\nfor name, file in called:\n    print(name, file, sep="\\t")'
    command = [sys.executable, "-c", script, str(ROOT), str(LOG), *wanted]
    run = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    pairs = (line.split("\t") for line in run.stdout.splitlines())
    return [(name, Path(file).relative_to(ROOT).as_posix()) for name, file in pairs]


def rows_between(begin: str, end: str) -> list[tuple[list[str], list[str]]]:
    """The names of functions and of files in each row of the page's table between two texts."""
    table = PAGE.partition(begin)[2].partition(end)[0]
    cells = [row.split("|")[2:4] for row in table.splitlines() if row.startswith("| ")][2:]
    return [(re.findall("`([^`]+)`", functions), re.findall("`([^`]+)`", files)) for functions, files in cells]


def counts(rows: list[tuple[list[str], list[str]]]) -> tuple[int, int]:
    """How many functions and different files a table has."""
    return sum(len(functions) for functions, _ in rows), len({file for _, files in rows for file in files})


def without_classes(names: list[str]) -> list[str]:
    return [name.rpartition(".")[2] for name in names]


def test_the_way_of_a_frame_is_as_its_list() -> None:
    rows = rows_between("## The way of one frame", "Where `recorder/dialects/style12.py`")
    called = calls(FRAME)
    for functions, files in rows:
        row, called = called[: len(functions)], called[len(functions) :]
        assert without_classes(functions) == without_classes([name for name, _ in row])
        assert files == list(dict.fromkeys(file for _, file in row))
    assert called == []
    assert "these {} functions in {} files".format(*counts(rows)) in WORDS
    functions_listed, files_listed = counts(rows)
    assert functions_listed <= MOST_FUNCTIONS
    assert files_listed <= MOST_FILES


def functions_of(file: str) -> set[str]:
    """Functions and methods of a file, methods with their class."""
    body = ast.parse((ROOT / file).read_text(encoding="utf-8")).body
    found = {node.name for node in body if isinstance(node, ast.FunctionDef)}
    for holder in body:
        if isinstance(holder, ast.ClassDef):
            found |= {f"{holder.name}.{node.name}" for node in holder.body if isinstance(node, ast.FunctionDef)}
    return found


def test_the_functions_of_a_game_are_called_in_their_order() -> None:
    rows = rows_between("run once a game, not once a frame", "On this way a ply has")
    assert "The following {} functions in {} files run once a game".format(*counts(rows)) in WORDS
    called = calls(GAME, *(name for functions, _ in rows for name in functions))
    assert [name for name, _ in called] == [name for functions, _ in rows for name in functions]
    for functions, files in rows:
        row, called = called[: len(functions)], called[len(functions) :]
        assert files == list(dict.fromkeys(file for _, file in row))
        assert set(functions) <= set().union(*map(functions_of, files))
