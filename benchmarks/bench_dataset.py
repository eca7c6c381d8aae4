"""What a data set without an archive saves: ``convert --dataset`` against ``import`` and ``export plies --dataset``.

Run: ``python -m benchmarks.bench_dataset [--games 5000] [--jobs 2] [--rounds 3] [--small]``. Each round runs all
commands in turn, on one generated log and on a PGN file of its games. Printed are, as medians of the rounds: processor
and wall seconds of both ways with one process, their ratios (wanted: 1.5), the wall seconds of ``convert --dataset``
with several processes, the peak memory of the largest process, and the size of the files.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from benchmarks.bench_jobs import Figures, run
from benchmarks.generate import cached


def import_and_export(folder: Path, source: Path) -> Figures:
    """The way through an archive, with one process."""
    archive, target = folder / "new.sqlite", folder / "exported"
    found = [
        run(folder, "import", "--db", archive, "--jobs", 1, source),
        run(folder, "export", "plies", "--db", archive, "--dataset", "-o", target),
    ]
    for beside in ("", "-wal", "-shm"):
        with suppress(FileNotFoundError):
            archive.with_name(f"{archive.name}{beside}").unlink()
    shutil.rmtree(target)
    return Figures(
        sum(one.wall_s for one in found),
        sum(one.processor_s for one in found),
        max(one.own_mib for one in found),
        max(one.other_mib for one in found),
    )


def convert(folder: Path, source: Path, jobs: int) -> Figures:
    """The way without an archive; the data set stays until the next one."""
    return run(folder, "convert", "--dataset", folder / "made", "--force", "--jobs", jobs, source)


def measure(name: str, source: Path, folder: Path, rounds: int, jobs: int) -> None:
    """Run both ways in turn, and print the medians."""
    shutil.rmtree(folder / "made", ignore_errors=True)
    all_rounds = [
        (import_and_export(folder, source), convert(folder, source, 1), convert(folder, source, jobs))
        for _ in range(rounds)
    ]
    before, after, several = (
        Figures(*map(statistics.median, zip(*side, strict=True))) for side in zip(*all_rounds, strict=True)
    )

    def ratio(of: Callable[[Figures], float]) -> float:
        return statistics.median(of(one) / of(other) for one, other, _ in all_rounds)

    size = sum(path.stat().st_size for path in (folder / "made").rglob("*.parquet"))
    print(
        f"{name}: import and export {before.processor_s:.2f} s of processor, {before.wall_s:.2f} s; data set"
        f" {after.processor_s:.2f} s, {after.wall_s:.2f} s: ratios {ratio(lambda one: one.processor_s):.2f} and"
        f" {ratio(lambda one: one.wall_s):.2f}; with {jobs} processes {several.wall_s:.2f} s; peak"
        f" {after.own_mib:.0f} MiB with 1, {several.other_mib:.0f} MiB a process with {jobs};"
        f" files of {size / 1e6:.1f} MB"
    )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=int, default=5000)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--small", action="store_true", help="20 games, one round: only shows that it runs")
    given = parser.parse_args()
    if given.small:
        given.games, given.rounds = 20, 1
    made = cached(given.games, 1)
    with tempfile.TemporaryDirectory() as name:
        print(f"load {os.getloadavg()[0]:.1f} on {len(os.sched_getaffinity(0))} cores")
        for what, source in (("log", made.log), ("PGN", made.truth)):
            measure(f"{what} of {source.stat().st_size / 1e6:.1f} MB", source, Path(name), given.rounds, given.jobs)
        print(f"load {os.getloadavg()[0]:.1f} at the end")


if __name__ == "__main__":
    main()
