"""Reference cycles are looked for rarely while a command runs, and as before when it has ended."""

from __future__ import annotations

import gc
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from recorder.cli import importing, main
from recorder.cli.garbage import rare_collections


def test_few_collections_while_values_are_made() -> None:
    def collections() -> int:
        before = gc.get_stats()[0]["collections"]
        _kept = [[number] for number in range(50_000)]
        return gc.get_stats()[0]["collections"] - before

    assert collections() > 10
    with rare_collections():
        assert collections() <= 1


def test_cycles_are_still_found() -> None:
    """A folder of many logs makes some for each."""

    def make(number: int) -> None:
        ring: list[object] = [number]
        ring.append(ring)

    with rare_collections():
        gc.collect()
        before = len(gc.get_objects())
        for number in range(500_000):
            make(number)
        assert len(gc.get_objects()) - before < 250_000


def test_a_command_runs_so_and_leaves_things_as_they_were(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    before = gc.get_threshold()
    seen: list[tuple[int, int, int]] = []
    monkeypatch.setattr(importing.command, "callback", lambda **_: seen.append(gc.get_threshold()))
    result = CliRunner().invoke(main, ["import", "--db", str(tmp_path / "a.db"), "no-log"])
    assert result.exit_code == 0, result.output
    assert [found[0] for found in seen] == [200_000]
    assert gc.get_threshold() == before


def test_a_process_that_ends_looks_for_no_cycles() -> None:
    # What was registered first is called last.
    script = "import atexit, gc; atexit.register(lambda: print(gc.get_freeze_count() > 0)); import recorder.cli"
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60)
    assert ended.stdout == "True\n"
