"""How fast ``publish`` copies plies into PostgreSQL, against the same rows by ``executemany``; runs without changes.

Run: ``python -m benchmarks.bench_publish URL [--games N] [--rounds N] [--archive FILE] [--small]``. URL is an empty
database of a server on this machine (docs/how-to/postgresql.md); its tables are dropped before each run. Each run is a
process of its own. The runs of a round follow each other, and the median of the rounds' ratios counts. The time of the
server's processes is not part of the processor seconds.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.bench_store import make_games
from recorder.model import SourceReport
from storage import ArchiveStore
from storage.publish import publishing
from storage.publish.publishing import ARCHIVES, PUBLISHED, columns_of

if TYPE_CHECKING:
    from sqlalchemy import Table

_VIEWS = ("v_analyses", "v_clocks", "v_plies", "v_games")
_RUNS = ("copy", "unchanged", "compare", "executemany")
_MAKE = "make"  # in a process of its own: Linux counts the memory of the process that starts another one for both


def make_archive(path: Path, count: int) -> None:
    """Store generated games of about 68 plies, without a log."""
    with (
        ArchiveStore.open(str(path), create=True) as archive,
        archive.write_source(
            sha256="0" * 64, size_bytes=0, name="x", path=None, kind="raw", keep=False, parser_version="1", options={}
        ) as writer,
    ):
        games = make_games(count)
        for start in range(0, count, 500):
            writer.add_games(games[start : start + 500])
        writer.finish(SourceReport())


def _drop(url: str) -> None:
    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"DROP VIEW IF EXISTS {', '.join(_VIEWS)}")
        tables = ", ".join(table.name for table in (ARCHIVES, *PUBLISHED))
        connection.execute(f"DROP TABLE IF EXISTS {tables}")
        connection.execute("CHECKPOINT")


def _insert(publisher: publishing._Publisher, table: Table, rows: list[tuple[Any, ...]]) -> None:
    """What takes the place of COPY."""
    names = columns_of(table)
    columns, marks = ", ".join(f'"{name}"' for name in names), ", ".join(["%s"] * len(names))
    truths = {column.name for column in table.columns if column.type.python_type is bool}
    booleans = [at for at, name in enumerate(names) if name in truths or name.endswith(("_guest", "_computer"))]
    for place, row in enumerate(rows):
        values = list(row)
        for at in booleans:
            values[at] = None if values[at] is None else bool(values[at])
        rows[place] = tuple(values)
    with publisher._connection.cursor() as cursor:
        cursor.executemany(f"INSERT INTO {table.name} ({columns}) VALUES ({marks})", rows)


def _run(how: str, archive: Path, url: str) -> None:
    if how == "executemany":
        publishing._Publisher._copy_rows = _insert  # type: ignore[method-assign]  # the benchmark compares another way
    began, used = time.perf_counter(), time.process_time()
    found = publishing.publish(
        archive, url, dry_run=how == "compare", with_text="none" if how == "compare" else "public", progress=_silent
    )
    figures = {
        "plies": found.plies,
        "unchanged": found.unchanged,
        "wall": time.perf_counter() - began,
        "processor": time.process_time() - used,
        "mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }
    print(json.dumps(figures))


def _silent(name: str, done: int, total: int | None) -> None:
    """No progress."""


def _measure(archive: Path, url: str, rounds: int) -> None:
    ratios: list[tuple[float, float]] = []
    for _ in range(rounds):
        found: dict[str, dict[str, Any]] = {}
        _drop(url)
        for how in _RUNS:
            if how == "executemany":
                _drop(url)
            words = [sys.executable, "-m", "benchmarks.bench_publish", url, "--archive", str(archive), "--run", how]
            found[how] = json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)
        assert found["unchanged"]["unchanged"]
        assert found["copy"]["plies"] == found["executemany"]["plies"]
        copy, insert = found["copy"], found["executemany"]
        ratios.append((insert["wall"] / copy["wall"], insert["processor"] / copy["processor"]))
        for how, one in found.items():
            rate = f"{one['plies'] / one['wall']:9,.0f} plies/s" if one["plies"] else " " * 17
            print(f"{how:12}{rate}  {one['wall']:7.2f} s, processor {one['processor']:7.2f} s, {one['mib']} MiB")
    wall, processor = (statistics.median(one) for one in zip(*ratios, strict=True))
    print(f"COPY is {wall:.1f} times as fast as executemany (wall; processor of the client {processor:.1f})")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.bench_publish", description=__doc__)
    parser.add_argument("url")
    parser.add_argument("--archive", type=Path)
    parser.add_argument("--games", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--small", action="store_true", help="200 games, one round: only shows that it runs")
    parser.add_argument("--run", choices=(*_RUNS, _MAKE), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.run == _MAKE:
        make_archive(options.archive, options.games)
        return
    if options.run is not None:
        _run(options.run, options.archive, options.url)
        return
    with tempfile.TemporaryDirectory() as folder:
        archive = options.archive or Path(folder) / "archive.sqlite"
        if options.archive is None:
            games = str(200 if options.small else options.games)
            words = [sys.executable, "-m", "benchmarks.bench_publish", options.url, "--archive", str(archive)]
            subprocess.run([*words, "--games", games, "--run", _MAKE], check=True)
        _measure(archive, options.url, 1 if options.small else options.rounds)


if __name__ == "__main__":
    main()
