"""The compiled modules: which they are, which run, and that none is older than its source."""

import subprocess
import sys

from tests.support.compiled import ROOT, is_compiled, sources


def test_what_is_compiled_exists_and_make_knows_it() -> None:
    assert all(source.is_file() for source in sources())
    command = ["make", "--silent", "--eval", "modules: ; @echo $(COMPILED)", "modules"]
    output = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert [ROOT / path for path in output.split()] == sources()


def test_version_prints_which_runs() -> None:
    result = subprocess.run([sys.executable, "-m", "recorder", "--version"], capture_output=True, text=True, check=True)
    assert result.stdout.endswith("(compiled)\n" if is_compiled() else "(pure Python)\n")
