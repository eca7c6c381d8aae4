"""How long measures of an archive take, each beside the same SQL written directly over one Parquet file.

Run: ``python -m benchmarks.bench_measures ARCHIVE [--rounds N]``, or ``--small``. First the archive's columnar copy is
deleted, and the command that makes it is measured. Then in each round every measure (``clocks``) and its SQL take
turns, each in a process of its own. The SQL reads the file that ``export plies -o plies.parquet`` writes. Printed are
the medians of processor seconds, Python's start included, their ratio, and the most memory of a measure; then pictures,
the page of a player, ``Archive.plies()`` and the size of the copy.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from benchmarks.bench_frames import SMALL, make_archive

_COUNTED: Final = (
    "WITH p AS (SELECT * FROM '{plies}' WHERE kind = 'played' AND time_control IS DISTINCT FROM '-'"
    " AND origin IS DISTINCT FROM 'inferred' AND elapsed_ms IS NOT NULL AND move_no > 1)"
)
_FIGURES: Final = (
    "count(DISTINCT key), count(*), sum(elapsed_ms), avg(elapsed_ms), quantile_disc(elapsed_ms, [0.5, 0.95]),"
    " max(elapsed_ms)"
)
_BY_HAND: Final = {
    "--by phase": f"{_COUNTED} SELECT phase, {_FIGURES} FROM p GROUP BY ALL ORDER BY ALL",
    "--by player": f"{_COUNTED} SELECT mover_id, any_value(mover), {_FIGURES} FROM p GROUP BY mover_id ORDER BY 1",
    "--table curve": (
        "SELECT move_no, count(*), min(clock_after_ms), quantile_disc(clock_after_ms, [0.25, 0.5, 0.75]),"
        " max(clock_after_ms), avg(clock_after_ms) FROM '{plies}' WHERE kind = 'played' AND clock_after_ms IS NOT NULL"
        " AND time_control IS DISTINCT FROM '-' GROUP BY ALL ORDER BY ALL"
    ),
    "--table profile": (
        f"{_COUNTED} SELECT mover_id, time_control, variant, {_FIGURES}, min(mover_rating), max(mover_rating),"
        " sum(elapsed_ms) FILTER (WHERE phase = 'opening'), sum(elapsed_ms) FILTER (WHERE phase = 'middlegame'),"
        " sum(elapsed_ms) FILTER (WHERE phase = 'endgame'), min(clock_after_ms), quantile_disc(lag_ms, [0.5, 0.95])"
        " FROM p GROUP BY ALL ORDER BY ALL"
    ),
    "--table rhythm": (
        f"{_COUNTED}, q AS (SELECT time_control, elapsed_ms, lag(elapsed_ms) OVER side AS before_ms,"
        " ply - lag(ply) OVER side AS step FROM p WINDOW side AS (PARTITION BY key, ply % 2 ORDER BY ply))"
        " SELECT time_control, count(*), corr(elapsed_ms, before_ms) FROM q WHERE step = 2 GROUP BY ALL ORDER BY ALL"
    ),
}
"""Options of ``clocks``, and the same in SQL; ``{plies}``: the Parquet file."""
_PICTURES: Final = ("thinking", "heatmap", "curve", "leads", "lag")
_HAND: Final = "import sys, duckdb; print(len(duckdb.sql(sys.argv[1]).fetchall()))"
_FRAME: Final = "import sys, recorder; print(len(recorder.Archive(sys.argv[1], read_only=True).plies()))"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("archive", type=Path, nargs="?")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--small", action="store_true", help="20 games: only shows that it runs")
    given = parser.parse_args()
    if not given.small:
        if given.archive is None:
            parser.error("name an archive, or --small")
        _measure(given.archive, given.rounds)
        return
    with tempfile.TemporaryDirectory() as folder:
        archive = Path(folder) / "archive.sqlite"
        make_archive(archive, SMALL)
        _measure(archive, 1)


def _measure(archive: Path, rounds: int) -> None:
    ours = [sys.executable, "-m", "recorder", "--db", str(archive)]
    copy = archive.with_name(f"{archive.name}-columns")
    shutil.rmtree(copy, ignore_errors=True)
    _show("first table, the copy included", *_used([*ours, "clocks", "--by", "phase"]))
    with tempfile.TemporaryDirectory() as folder:
        plies = Path(folder) / "plies.parquet"
        _used([*ours, "export", "plies", "-o", str(plies)])
        taken: dict[str, list[tuple[float, float, int]]] = {name: [] for name in _BY_HAND}
        for _ in range(rounds):
            for options, sql in _BY_HAND.items():
                seconds, most = _used([*ours, "clocks", *options.split(), "--csv"])
                by_hand, _ = _used([sys.executable, "-c", _HAND, sql.format(plies=plies)])
                taken[options].append((seconds, by_hand, most))
        for options, found in taken.items():
            seconds, by_hand = (statistics.median(one[place] for one in found) for place in (0, 1))
            most = max(one[2] for one in found)
            _show(f"clocks {options}", seconds, most, f"SQL {by_hand:.2f} s: {seconds / by_hand:.1f} times")
        for name in _PICTURES:
            _show(f"plot {name}", *_used([*ours, "plot", name, "-o", str(Path(folder) / f"{name}.svg")]))
        player = ["report", "--player", _player(archive), "-o", str(Path(folder) / "player.html")]
        _show("report --player", *_used([*ours, *player]))
        _show("Archive.plies()", *_used([sys.executable, "-c", _FRAME, str(archive)]))
    if copy.is_dir():
        print(f"{'columnar copy':<34}{sum(one.stat().st_size for one in copy.iterdir()) / 1e6:>8.1f} MB")


def _player(archive: Path) -> str:
    """The player with the most games."""
    code = (
        "import sys, recorder; sides = recorder.Archive(sys.argv[1], read_only=True).sides();"
        " print(sides['player'].astype('string').mode()[0])"
    )
    return subprocess.run(
        [sys.executable, "-c", code, str(archive)], check=True, capture_output=True, text=True
    ).stdout.strip()


def _used(command: list[str]) -> tuple[float, int]:
    """Processor seconds and peak memory in MiB of a command."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return used.ru_utime + used.ru_stime, used.ru_maxrss // 1024


def _show(name: str, seconds: float, most: int, more: str = "") -> None:
    print(f"{name:<34}{seconds:>8.2f} s{most:>6} MiB  {more}", flush=True)


if __name__ == "__main__":
    main()
