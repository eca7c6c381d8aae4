"""How long measures take over a data set: in pandas, in DuckDB and in Dask; and what pictures of an archive take.

Run: ``python -m benchmarks.bench_measures DIR [--rounds N] [--only NAME…]`` with a folder of ``convert --dataset`` or
``export plies --dataset``, or ``--small``. In each round the engines take turns, each in a process of its own. pandas
has the table in memory already. DuckDB reads the files with 200 MB of memory, as ``recorder.Dataset`` does. Dask has
two threads. Printed are the medians of wall and processor seconds, and of the rounds' ratios of DuckDB's seconds to
those of pandas, and the peak memory of each engine's process or of the processes that it started, whichever is more.

``--pictures ARCHIVE`` instead draws pictures of all games of an archive, each in a process of its own, and prints
processor seconds and peak memory of that process.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import dask
import dask.dataframe
import pandas as pd

from benchmarks.bench_frames import SMALL, make_archive
from exporters import measures
from recorder import Dataset

_MEASURES = ("time_usage", "profile", "clock_curve", "time_left_by_phase", "autocorrelation", "game_sides")
_PICTURES = ("thinking", "heatmap", "curve", "leads", "lag", "blunders")
_ENGINES = ("pandas", "DuckDB", "Dask")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--small", action="store_true", help="20 games, two measures: only shows that it runs")
    parser.add_argument("--only", nargs="+", choices=_MEASURES, default=_MEASURES)
    parser.add_argument("--engine", choices=_ENGINES, help=argparse.SUPPRESS)
    parser.add_argument("--pictures", type=Path, metavar="ARCHIVE")
    given = parser.parse_args()
    if given.pictures is not None:
        _draw(given.pictures, _PICTURES)
        return
    if given.engine is not None:
        _run(given.folder, given.engine, given.only)
        return
    if not given.small:
        if given.folder is None:
            parser.error("name the folder of a data set, or --small")
        _measure(given.folder, given.rounds, given.only)
        return
    with tempfile.TemporaryDirectory() as folder:
        archive, plies = Path(folder) / "archive.sqlite", Path(folder) / "plies"
        make_archive(archive, SMALL)
        words = ["export", "plies", "--db", str(archive), "--dataset", "-o", str(plies)]
        subprocess.run([sys.executable, "-m", "recorder", *words], check=True)
        _measure(plies, 1, _MEASURES[:2])
        _draw(archive, _PICTURES[:1])


def _draw(archive: Path, names: Sequence[str]) -> None:
    print(f"{'picture':<12}{'processor seconds':>20}{'peak memory':>16}")
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            words = ["plot", name, "--db", str(archive), "-o", str(Path(folder) / f"{name}.svg")]
            process = subprocess.Popen([sys.executable, "-m", "recorder", *words], stderr=subprocess.DEVNULL)
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            if process.returncode:
                print(f"{name:<12}{'no data':>20}")
                continue
            print(f"{name:<12}{used.ru_utime + used.ru_stime:>20.1f}{used.ru_maxrss // 1024:>12} MiB")


def _measure(folder: Path, rounds: int, names: Sequence[str]) -> None:
    taken = [[_process(folder, engine, names) for engine in _ENGINES] for _ in range(rounds)]
    print(f"{taken[0][0]['plies']:,} plies; wall and processor seconds, median of {rounds}")
    print(f"{'':<20}{''.join(f'{name:>15}' for name in _ENGINES)}{'DuckDB / pandas, wall, processor':>34}")
    for name in names:
        texts = [
            "{:>8.2f}{:>7.2f}".format(*(statistics.median(one) for one in zip(*engine, strict=True)))
            for engine in zip(*([one[name] for one in of_round] for of_round in taken), strict=True)
        ]
        ratios = [
            statistics.median(on_duckdb[name][place] / on_pandas[name][place] for on_pandas, on_duckdb, _ in taken)
            for place in (0, 1)
        ]
        print(f"{name:<20}{''.join(texts)}{ratios[0]:>27.2f}{ratios[1]:>7.2f}")
    peaks = [f"{max(one['mib'] for one in engine):>11.0f} MiB" for engine in zip(*taken, strict=True)]
    print(f"{'peak memory':<20}{''.join(peaks)}")


def _process(folder: Path, engine: str, names: Sequence[str]) -> dict[str, Any]:
    """The figures of an engine, in a process of its own."""
    words = [sys.executable, "-m", "benchmarks.bench_measures", str(folder), "--engine", engine, "--only", *names]
    found: dict[str, Any] = json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)
    return found


def _run(folder: Path, engine: str, names: Sequence[str]) -> None:
    """Compute these measures with an engine and print its figures as JSON."""
    with Dataset(folder) as dataset, dask.config.set(scheduler="threads", num_workers=2):
        if engine == "pandas":
            table: Any = dataset.plies()
        elif engine == "DuckDB":
            table = dataset.relation()
        else:
            files = folder / "plies" if (folder / "plies").is_dir() else folder
            table = dask.dataframe.read_parquet(str(files / "**" / "*.parquet"))
            table = table[table["kind"] == "played"]
        figures: dict[str, Any] = {name: _seconds(getattr(measures, name), table) for name in names}
        usage = [resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        counted = measures.time_usage(table, ()).attrs
        figures["plies"] = counted["plies"] + sum(counted["excluded"].values())
    print(json.dumps({**figures, "mib": max(usage) / 1024}))


def _seconds(measure: Callable[[Any], pd.DataFrame], table: Any) -> tuple[float, float]:
    """Wall and processor seconds."""
    begun, used = time.perf_counter(), time.process_time()
    measure(table)
    return time.perf_counter() - begun, time.process_time() - used


if __name__ == "__main__":
    main()
