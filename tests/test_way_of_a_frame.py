"""docs/explanation/architecture.md lists every function of one frame, from its bytes to its ply in its game."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
LOG = ROOT / "tests" / "corpus" / "server" / "a01_standard" / "observer_GuestObsA.raw.gz"
MOST_FUNCTIONS, MOST_FILES = 25, 15

# In a process of its own, which loads sources even where modules are compiled: no profiler sees compiled calls.
CHILD = """
import gzip, sys
from importlib.machinery import FileFinder, SourceFileLoader

root, package, log = sys.argv[1:]

def sources_only(path):
    if not path.startswith(package):
        raise ImportError
    return FileFinder(path, (SourceFileLoader, [".py"]))

sys.path_hooks.insert(0, sources_only)
sys.path_importer_cache.clear()
sys.path.insert(0, root)

from recorder.pipeline import Pipeline
from recorder.sources import SourceKind

lines = [line + b"\\n" for line in gzip.open(log).read().split(b"\\n")]
frames = [place for place, line in enumerate(lines) if line.lstrip(b"\\r").startswith(b"<12>")]
warm = Pipeline(SourceKind.RAW)
warm.receive(b"".join(lines))
pipeline = Pipeline(SourceKind.RAW)
pipeline.receive(b"".join(lines[: frames[6]]))
called = {}

def note(frame, event, arg):
    if event == "call" and frame.f_code.co_filename.startswith(package):
        called[frame.f_code.co_qualname, frame.f_code.co_filename] = None

before = pipeline.report.frames
sys.setprofile(note)
pipeline.receive(b"".join(lines[frames[6] : frames[6] + 2]))
sys.setprofile(None)
assert sum(pipeline.report.frames.values()) == sum(before.values()) + 1
for name, file in called:
    print(name, file)
"""


def test_the_way_of_a_frame_is_as_long_as_its_list() -> None:
    text = (ROOT / "docs" / "explanation" / "architecture.md").read_text(encoding="utf-8")
    way = text.partition("## The way of one frame")[2].partition("Where `recorder/dialects/style12.py`")[0]
    rows = [row.split("|")[2] for row in way.splitlines() if row.startswith("| ")]
    listed = [name for row in rows for name in re.findall("`([^`]+)`", row)]
    command = [sys.executable, "-c", CHILD, str(ROOT), str(ROOT / "recorder"), str(LOG)]
    run = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    called = [line.split(" ", 1) for line in run.stdout.splitlines()]
    assert sorted(name.rpartition(".")[2] for name in listed) == sorted(name.rpartition(".")[2] for name, _ in called)
    files = {file for _, file in called}
    assert f"these\n{len(called)} functions in {len(files)} files" in way
    assert len(called) <= MOST_FUNCTIONS
    assert len(files) <= MOST_FILES
