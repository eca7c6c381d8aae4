"""How fast the ply table is a DataFrame, against ``pandas.read_sql`` over SQLAlchemy.

Run: ``python -m benchmarks.bench_frames [--archive FILE] [--rounds N] [--small]``. Without an archive one is made from
generated logs (``benchmarks.generate``), about a million plies. Each load is a process of its own, so that none finds
the memory of another; rounds are interleaved and ratios are medians.

The query gives what SQL can say of the table's columns. Identities, phase, the ledger's columns and holdings are not
among them, and its words are texts, no categories: it does less.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.generate import cached

_LOGS = ((10_000, 1), (5_500, 2))  # games, seed
SMALL = ((20, 1),)
_LOADS = ("read_sql", "arrow", "plain", "pieces")
_PIECE = 100_000
QUERY = """\
SELECT g.key, g.server, g.server_game_no, g.kind, g.variant, g.category, g.rated,
  iif(p.ply % 2 OR g.black_base_s IS NULL, g.base_s, g.black_base_s) AS base_s,
  iif(p.ply % 2 OR g.black_increment_s IS NULL, g.increment_s, g.black_increment_s) AS increment_s,
  p.ply, (p.ply + 1) / 2 AS move_no, iif(p.ply % 2, 'white', 'black') AS side,
  iif(p.ply % 2, g.white, g.black) AS mover, iif(p.ply % 2, g.black, g.white) AS opponent,
  iif(p.ply % 2, g.white_rating, g.black_rating) AS mover_rating,
  iif(p.ply % 2, g.black_rating, g.white_rating) AS opponent_rating,
  g.result, g.ending, g.termination, g.complete, p.san,
  CASE
    WHEN p.move IS NULL THEN NULL
    WHEN p.move >= 32768 THEN substr('?NBRQKP', (p.move >> 12) - 7, 1) || '@'
      || substr('abcdefgh', ((p.move >> 6) & 7) + 1, 1) || (((p.move >> 9) & 7) + 1)
    ELSE substr('abcdefgh', (p.move & 7) + 1, 1) || (((p.move >> 3) & 7) + 1)
      || substr('abcdefgh', ((p.move >> 6) & 7) + 1, 1) || (((p.move >> 9) & 7) + 1)
      || trim(substr(' nbrqk', (p.move >> 12) + 1, 1))
  END AS uci,
  iif(p.ply % 2, p.white_clock_ms, p.black_clock_ms) AS clock_after_ms,
  iif(p.ply % 2, p.black_clock_ms, p.white_clock_ms) AS opponent_clock_ms,
  p.white_clock_ms, p.black_clock_ms, p.elapsed_ms, p.lag_ms, coalesce(o.started_at_ms, 0) + p.at_ms AS arrival_ms,
  g.time_basis, iif(p.ply % 2, g.white_sealed, g.black_sealed) AS mover_sealed,
  CASE p.quality >> 6 WHEN 0 THEN 'milliseconds' WHEN 1 THEN 'seconds' END AS precision,
  CASE p.quality & 7 WHEN 0 THEN 'unproved' WHEN 1 THEN 'full' WHEN 2 THEN 'list' WHEN 3 THEN 'inferred' END AS proof,
  CASE p.quality >> 3 & 7 WHEN 0 THEN 'frame' WHEN 1 THEN 'movelist' WHEN 2 THEN 'inferred' END AS origin
FROM games g
JOIN segments s ON s.game_id = g.id
JOIN observations o ON o.id = s.observation_id
JOIN ply_lines l ON l.observation_id = o.id AND l.line_no = 0
JOIN plies p ON p.id BETWEEN l.first_ply_id AND l.first_ply_id + l.ply_count - 1
  AND p.ply BETWEEN s.from_ply AND s.to_ply
WHERE g.merged_into IS NULL AND g.kind = 'played' AND g.ply_count > 0"""


def load(how: str, archive: str) -> int:
    """Load the whole table in one way; the number of its rows."""
    if how == "read_sql":
        import pandas as pd
        from sqlalchemy import create_engine

        engine = create_engine(f"sqlite:///{archive}")
        with engine.connect() as connection:
            return len(pd.read_sql(QUERY, connection))
    from recorder import Archive

    tables = Archive(archive, arrow=how != "plain")
    if how == "pieces":
        return sum(len(piece) for piece in tables.batches(_PIECE))
    return len(tables.plies())


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.bench_frames", description=__doc__)
    parser.add_argument("--archive", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--small", action="store_true", help="20 games, one round: only shows that it runs")
    parser.add_argument("--load", choices=_LOADS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.load is not None:
        _print_load(options.load, str(options.archive))
        return
    with tempfile.TemporaryDirectory() as folder:
        archive = options.archive or make_archive(Path(folder) / "archive.sqlite", SMALL if options.small else _LOGS)
        _measure(archive, 1 if options.small else options.rounds)


def make_archive(archive: Path, logs: tuple[tuple[int, int], ...]) -> Path:
    """Import generated logs (games, seed), without their bytes."""
    paths = [cached(games, seed).log for games, seed in logs]
    command = [sys.executable, "-m", "recorder", "import", "--no-keep-source", "--db", archive, *paths]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return archive


def _print_load(how: str, archive: str) -> None:
    for module in ("pandas", "sqlalchemy", "pyarrow", "recorder.archive.archive"):
        __import__(module)
    began, used = time.perf_counter(), time.process_time()
    rows = load(how, archive)
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(rows, time.perf_counter() - began, time.process_time() - used, most)


def _measure(archive: Path, rounds: int) -> None:
    found: dict[str, list[tuple[float, float, int]]] = {how: [] for how in _LOADS}
    rows = set()
    for _ in range(rounds):
        for how in _LOADS:
            command = [sys.executable, "-m", "benchmarks.bench_frames", "--load", how, "--archive", archive]
            words = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
            rows.add(int(words[0]))
            found[how].append((float(words[1]), float(words[2]), int(words[3])))
    if len(rows) != 1:
        raise SystemExit(f"The loads differ: {sorted(rows)} rows.")
    print(f"{rows.pop():,} plies, {rounds} rounds; of processor time: seconds, times faster than read_sql; peak memory")
    for how, measured in found.items():
        seconds = statistics.median(cpu for _, cpu, _ in measured)
        wall = statistics.median(wall for wall, _, _ in measured)
        ratio = statistics.median(base[1] / one[1] for base, one in zip(found["read_sql"], measured, strict=True))
        by_wall = statistics.median(base[0] / one[0] for base, one in zip(found["read_sql"], measured, strict=True))
        most = max(peak for _, _, peak in measured)
        print(f"  {how:9} {seconds:6.2f} s {ratio:5.1f}x   (wall {wall:6.2f} s {by_wall:5.1f}x)  {most:5} MiB")


if __name__ == "__main__":
    main()
