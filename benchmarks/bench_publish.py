"""How fast ``publish`` copies games into PostgreSQL, and how fast it finds that nothing changed.

Run: ``python -m benchmarks.bench_publish URL [--games N] [--rounds N] [--archive FILE] [--small]``. URL is an empty
database of a server on this machine (docs/how-to/postgresql.md); its tables are dropped before each run. Each run is a
process of its own. The time of the server's processes is not part of the processor seconds.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.bench_store import make_games
from recorder.archive.sharing.publishing import publish_archive, table_columns
from recorder.model import SourceReport
from recorder.progress import no_progress
from storage import ArchiveStore

_RUNS = ("copy", "unchanged", "compare")
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
        connection.execute("DROP VIEW IF EXISTS v_plies, v_games")
        connection.execute(f"DROP TABLE IF EXISTS archives, {', '.join(table_columns())}")
        connection.execute("CHECKPOINT")


def _run(how: str, archive: Path, url: str) -> None:
    began, used = time.perf_counter(), time.process_time()
    chat = "none" if how == "compare" else "public"
    found = publish_archive(str(archive), url, dry_run=how == "compare", with_text=chat, progress=no_progress)
    figures = {
        "plies": found.plies,
        "unchanged": found.unchanged,
        "wall": time.perf_counter() - began,
        "processor": time.process_time() - used,
        "mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }
    print(json.dumps(figures))


def _measure(archive: Path, url: str, rounds: int) -> None:
    for _ in range(rounds):
        _drop(url)
        for how in _RUNS:
            words = [sys.executable, "-m", "benchmarks.bench_publish", url, "--archive", str(archive), "--run", how]
            one = json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)
            assert one["unchanged"] is (how == "unchanged")
            rate = f"{one['plies'] / one['wall']:9,.0f} plies/s" if one["plies"] else " " * 17
            print(f"{how:12}{rate}  {one['wall']:7.2f} s, processor {one['processor']:7.2f} s, {one['mib']} MiB")


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
