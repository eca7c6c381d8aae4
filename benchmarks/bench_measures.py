"""How long measures take over a table of plies, in pandas, DuckDB and Dask.

Run: ``python -m benchmarks.bench_measures PLIES.parquet [--rounds N]`` with a file of ``export plies``, or ``--small``.
Engines take turns in each round, and medians are printed. Dask has two threads; pandas has the table in memory already.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import dask
import dask.dataframe
import duckdb
import pandas as pd

from benchmarks.bench_frames import SMALL, make_archive
from exporters import measures

_MEASURES = ("time_usage", "profile", "clock_curve", "time_left_by_phase", "autocorrelation", "game_sides")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("plies", type=Path, nargs="?")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--small", action="store_true", help="200 games, one round: only shows that it runs")
    given = parser.parse_args()
    if not given.small:
        if given.plies is None:
            parser.error("name a file of plies, or --small")
        _measure(given.plies, given.rounds)
        return
    with tempfile.TemporaryDirectory() as folder:
        archive, plies = Path(folder) / "archive.sqlite", Path(folder) / "plies.parquet"
        make_archive(archive, SMALL)
        words = ["export", "plies", "--db", archive, "--format", "parquet", "-o", plies]
        subprocess.run([sys.executable, "-m", "recorder", *words], check=True)
        _measure(plies, 1)


def _measure(path: Path, rounds: int) -> None:
    plies = pd.read_parquet(path)
    print(f"{len(plies)} plies; seconds, median of {rounds}")
    print(f"{'':<20}{'pandas':>8}{'DuckDB':>8}{'Dask':>8}")
    with duckdb.connect() as connection, dask.config.set(scheduler="threads", num_workers=2):
        engines: list[Any] = [
            plies,
            connection.read_parquet(str(path)),
            dask.dataframe.read_parquet(path),
        ]
        for name in _MEASURES:
            taken: list[list[float]] = [[] for _ in engines]
            for _ in range(rounds):
                for times, engine in zip(taken, engines, strict=True):
                    begun = time.perf_counter()
                    getattr(measures, name)(engine)
                    times.append(time.perf_counter() - begun)
            print(f"{name:<20}" + "".join(f"{statistics.median(times):>8.2f}" for times in taken))


if __name__ == "__main__":
    main()
