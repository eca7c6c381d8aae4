"""What several processes bring: ``import``, ``verify``, ``db rebuild`` and ``convert`` with one and with several.

Run: ``python -m benchmarks.bench_jobs [--games 2500] [--logs 4] [--jobs 2] [--rounds 3] [--only NAME…] [--small]``. The
logs have equal sizes; ``import-pgn`` imports the games of all from one PGN file, which is read in pieces if it has
8 MB. Each round runs whole commands in turn. Printed are, as medians of the rounds: wall and processor seconds with
one process and with several, the ratio of the wall seconds (wanted: 1.7 with two processes on two cores on which
nothing else runs), that of the processor seconds (what dividing costs), and the peak memory of the command's process
and of the largest of the others. The load of the machine is beside them.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from benchmarks.generate import cached

_COMMAND = """
import json, resource, sys
from recorder.cli import main
target = sys.argv.pop(1)
try:
    main()
finally:
    self, others = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = sum(used.ru_utime + used.ru_stime for used in (self, others))
    with open(target, "w") as file:
        json.dump([seconds, self.ru_maxrss / 1024, others.ru_maxrss / 1024], file)
"""


class Figures(NamedTuple):
    """Of one command: wall and processor seconds, peak MiB of its process and of the largest of those it started."""

    wall_s: float
    processor_s: float
    own_mib: float
    other_mib: float


def run(folder: Path, *words: object) -> Figures:
    """Run a command of the recorder in a process of its own."""
    target = folder / "usage.json"
    begun = time.perf_counter()
    subprocess.run(
        [sys.executable, "-c", _COMMAND, str(target), *map(str, words)],
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    return Figures(time.perf_counter() - begun, *json.loads(target.read_text()))


def make_inputs(folder: Path, logs: int, games: int) -> tuple[list[Path], Path]:
    """Logs of equal size, and one PGN file with all of their games."""
    made = []
    pgn = folder / "games.pgn"
    with pgn.open("wb") as out:
        for seed in range(1, logs + 1):
            one = cached(games, seed)
            out.write(one.truth.read_bytes())
            made.append(one.log)
    return made, pgn


def commands(folder: Path, logs: list[Path], pgn: Path) -> dict[str, Callable[[int], Figures]]:
    """What is measured, by name; each is called with the number of processes."""
    full = folder / "full.sqlite"
    run(folder, "import", "--db", full, "--jobs", 1, *logs)

    def new(jobs: int, paths: list[Path]) -> Figures:
        target = folder / "new.sqlite"
        found = run(folder, "import", "--db", target, "--jobs", jobs, *paths)
        for beside in ("", "-wal", "-shm"):
            with suppress(FileNotFoundError):
                target.with_name(f"{target.name}{beside}").unlink()
        return found

    return {
        "import": lambda jobs: new(jobs, logs),
        "import-pgn": lambda jobs: new(jobs, [pgn]),
        "verify": lambda jobs: run(folder, "verify", "--db", full, "--jobs", jobs),
        "rebuild": lambda jobs: run(folder, "db", "rebuild", "--db", full, "--dry-run", "--jobs", jobs),
        "convert": lambda jobs: run(
            folder, "convert", *logs, "--force", "-o", folder / "converted.pgn", "--jobs", jobs
        ),
    }


def measure(name: str, command: Callable[[int], Figures], rounds: int, jobs: int) -> None:
    """Run a command with one process and with several in turn, and print the medians."""
    pairs = [(command(1), command(jobs)) for _ in range(rounds)]
    one, several = (Figures(*map(statistics.median, zip(*side, strict=True))) for side in zip(*pairs, strict=True))
    wall = statistics.median(before.wall_s / after.wall_s for before, after in pairs)
    processor = statistics.median(after.processor_s / before.processor_s for before, after in pairs)
    print(
        f"{name}: wall {one.wall_s:.2f} s with 1 process, {several.wall_s:.2f} s with {jobs}, {wall:.2f} times as fast;"
        f" processor {one.processor_s:.2f} s and {several.processor_s:.2f} s, ratio {processor:.2f}; peak "
        f"{one.own_mib:.0f} MiB with 1, {several.own_mib:.0f} MiB and {several.other_mib:.0f} MiB a process with {jobs}"
    )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=int, default=2500, help="in each log")
    parser.add_argument("--logs", type=int, default=4)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", nargs="+", metavar="NAME")
    parser.add_argument("--small", action="store_true", help="20 games a log, one round: only shows that it runs")
    given = parser.parse_args()
    if given.small:
        given.games, given.logs, given.rounds = 20, 2, 1
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        logs, pgn = make_inputs(folder, given.logs, given.games)
        sizes = [path.stat().st_size / 1e6 for path in logs]
        print(
            f"{len(logs)} logs of {min(sizes):.1f} to {max(sizes):.1f} MB, PGN of {pgn.stat().st_size / 1e6:.1f} MB; "
            f"load {os.getloadavg()[0]:.1f} on {len(os.sched_getaffinity(0))} cores"
        )
        for what, command in commands(folder, logs, pgn).items():
            if given.only is None or what in given.only:
                measure(what, command, given.rounds, given.jobs)
        print(f"load {os.getloadavg()[0]:.1f} at the end")


if __name__ == "__main__":
    main()
