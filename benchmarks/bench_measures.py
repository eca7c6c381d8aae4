"""How long measures take over a data set: in pandas, in DuckDB and in Dask.

Run: ``python -m benchmarks.bench_measures DIR [--rounds N]`` with a folder of ``convert --dataset`` or ``export plies
--dataset``, or ``--small``. In each round the engines take turns. pandas has the table in memory already. DuckDB reads
the files with 200 MB of memory, as ``recorder.Dataset`` does. Dask has two threads. Printed are the medians of wall and
processor seconds, and of the rounds' ratios of DuckDB's wall seconds to those of pandas.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dask
import dask.dataframe
import pandas as pd

from benchmarks.bench_frames import SMALL, make_archive
from exporters import measures
from recorder import Dataset

_MEASURES = ("time_usage", "profile", "clock_curve", "time_left_by_phase", "autocorrelation", "game_sides")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--small", action="store_true", help="200 games, one round: only shows that it runs")
    given = parser.parse_args()
    if not given.small:
        if given.folder is None:
            parser.error("name the folder of a data set, or --small")
        _measure(given.folder, given.rounds)
        return
    with tempfile.TemporaryDirectory() as folder:
        archive, plies = Path(folder) / "archive.sqlite", Path(folder) / "plies"
        make_archive(archive, SMALL)
        words = ["export", "plies", "--db", archive, "--dataset", "-o", plies]
        subprocess.run([sys.executable, "-m", "recorder", *words], check=True)
        _measure(plies, 1)


def _measure(folder: Path, rounds: int) -> None:
    files = folder / "plies" if (folder / "plies").is_dir() else folder
    with Dataset(folder) as dataset, dask.config.set(scheduler="threads", num_workers=2):
        plies = dataset.plies()
        on_dask = dask.dataframe.read_parquet(str(files / "**" / "*.parquet"))
        engines: dict[str, Any] = {
            "pandas": plies,
            "DuckDB": dataset.relation(),
            "Dask": on_dask[on_dask["kind"] == "played"],
        }
        print(f"{len(plies):,} plies; wall and processor seconds, median of {rounds}")
        print(f"{'':<20}{''.join(f'{name:>15}' for name in engines)}{'DuckDB / pandas':>18}")
        for name in _MEASURES:
            measure: Callable[[Any], pd.DataFrame] = getattr(measures, name)
            taken = [[_seconds(measure, table) for table in engines.values()] for _ in range(rounds)]
            texts = [
                "{:>8.2f}{:>7.2f}".format(*(statistics.median(one) for one in zip(*engine, strict=True)))
                for engine in zip(*taken, strict=True)
            ]
            ratio = statistics.median(on_duckdb[0] / on_pandas[0] for on_pandas, on_duckdb, _ in taken)
            print(f"{name:<20}{''.join(texts)}{ratio:>18.2f}")


def _seconds(measure: Callable[[Any], pd.DataFrame], table: Any) -> tuple[float, float]:
    """Wall and processor seconds."""
    begun, used = time.perf_counter(), time.process_time()
    measure(table)
    return time.perf_counter() - begun, time.process_time() - used


if __name__ == "__main__":
    main()
