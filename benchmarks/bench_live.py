"""What a recorder costs while it records: how late a move is safe and in the archive, how much it takes, its memory.

Run: ``python -m benchmarks.bench_live [--small] [--only NAME…] [-o FILE]``. A server in a process of its own sends
generated traffic on loopback to ``ics-recorder record``, which keeps its archive as it always does.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sqlite3
import statistics
import tempfile
import time
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from contextlib import closing, nullcontext
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks import generate
from benchmarks.live_session import Session, messages, read_only, session
from benchmarks.run import import_log
from recorder.events import Chunk
from recorder.journal import JournalReader
from recorder.sources.journal import JournalDecoder
from recorder.wire import LineReader

_RATES = (50, 1000)
GOALS = {
    **{
        f"at {rate}/s, {what} ms": (bound, "≤")
        for rate in _RATES
        for what, bound in (
            ("journal durable, p50", 5.0),
            ("journal durable, p99", 20.0),
            ("row committed, max", 1000.0),
        )
    },
    "throughput / import": (0.8, "≥"),
    "memory at 10x the traffic": (1.10, "≤"),
}


# -- what is measured -----------------------------------------------------------------------------------------------


class Delay(NamedTuple):
    """Milliseconds from the byte sent until the journal's disk has it, the row is committed, and both are so."""

    safe: float
    committed: float
    both: float


def latency(log: Path, rate: int, seconds: int, beside: Callable[[Session], Any] = nullcontext) -> list[Delay]:
    """Delays of all plies that came in so many seconds.

    Args:
        beside: makes the context in which they come.
    """
    pieces = messages(log.read_bytes())
    warm = min(2 * rate, 200)
    count = min(rate * seconds, len(pieces) - warm)
    with session(log, "always", noted=True) as running:
        running.order(0, warm, rate)
        running.sent()
        running.wait(_has_plies(warm // 2))
        with beside(running):
            running.order(warm, warm + count, rate)
            sent = running.sent()
            time.sleep(1)
        running.end()
        with closing(read_only(running.archive)) as archive:
            plies = {place for (place,) in archive.execute('SELECT "offset" FROM v_plies')}
        went = dict(zip(range(warm, warm + count), sent, strict=True))
        boards = list(zip(_boards_sent(pieces[: warm + count]), _boards_journalled(running.journal), strict=True))
        sizes, syncs = [size for _, size in running.syncs], [at for at, _ in running.syncs]
        places, commits = [place for _, place in running.commits], [at for at, _ in running.commits]
    delays = []
    for number, (place, end) in boards:
        if number < warm or place not in plies:
            continue
        safe = syncs[bisect_left(sizes, end)]
        index = bisect_left(places, place)
        times = (safe, commits[index], max(safe, commits[index]))
        delays.append(Delay(*((at - went[number]) / 1e6 for at in times)))
    return delays


def _boards_sent(pieces: list[bytes]) -> list[int]:
    """For each board the number of the message that completed it."""
    reader = LineReader()
    lines = [line for number, piece in enumerate(pieces) for line in reader.receive(Chunk(piece, 0, number))]
    return [line.at_ms for line in lines if line.text.startswith("<12> ") and line.at_ms is not None]


def _boards_journalled(journal: bytes) -> list[tuple[int, int]]:
    """For each board its place, and the end of the record that completed it."""
    entries = [entry.offset for entry in JournalReader().read([journal])]
    reader, decoder = LineReader(), JournalDecoder()
    lines = [line for chunk in decoder.receive(journal) if chunk.data for line in reader.receive(chunk)]
    return [
        (line.offset, entries[bisect_right(entries, line.offset + len(line.text) + 1)])
        for line in lines
        if line.text.startswith("<12> ")
    ]


def _has_plies(count: int) -> Callable[[sqlite3.Connection], bool]:
    def has(archive: sqlite3.Connection) -> bool:
        (plies,) = archive.execute("SELECT sum(ply_count) FROM games").fetchone()
        return plies is not None and plies >= count

    return has


_GAMES = "SELECT white, black, server_game_no, result, ply_count FROM games ORDER BY first_offset"


def throughput(log: Path, folder: Path) -> tuple[float, float]:
    """Seconds of an import of the traffic, and from its first byte sent until the archive has all of it."""
    pieces = len(messages(log.read_bytes()))
    archive = folder / "import.sqlite"
    imported = import_log(log, archive, "--kind", "raw").seconds
    with closing(read_only(archive)) as connection:
        expected = connection.execute(_GAMES).fetchall()
    plies = sum(game[-1] for game in expected)
    with session(log, "interval") as running:
        running.wait(lambda connection: connection.execute("SELECT count(*) FROM sources").fetchone()[0])
        running.order(0, pieces, 0)
        (begun,) = running.sent()
        running.wait(_has_plies(plies))
        taken = (time.monotonic_ns() - begun) / 1e9
        running.end()
        with closing(read_only(running.archive)) as connection:
            assert connection.execute(_GAMES).fetchall() == expected, "other games than the import has"
    return imported, taken


def disk(rate: int, count: int) -> list[float]:
    """Milliseconds that the disk takes to append a board and sync: the lower bound of every delay."""
    with tempfile.NamedTemporaryFile() as file:
        taken = []
        begun = time.perf_counter()
        for number in range(count):
            time.sleep(max(0.0, begun + number / rate - time.perf_counter()))
            before = time.perf_counter()
            os.write(file.fileno(), bytes(230))
            os.fdatasync(file.fileno())
            taken.append((time.perf_counter() - before) * 1000)
    return taken


def memory(log: Path) -> tuple[dict[str, int], dict[str, int]]:
    """Resident KiB of each process after a tenth of the traffic, and after all of it."""
    pieces = messages(log.read_bytes())
    with session(log, "interval") as running:
        found = []
        for first, last in ((0, len(pieces) // 10), (len(pieces) // 10, len(pieces))):
            running.order(first, last, 0)
            running.sent()
            plies = sum(piece.count(b"\n\r<12> ") for piece in pieces[:last]) * 9 // 10
            running.wait(_has_plies(plies))
            time.sleep(3)
            found.append(running.memory_kib())
        running.end()
    return found[0], found[1]


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.bench_live", description="Measure a running recorder.")
    parser.add_argument("--only", nargs="+", choices=("latency", "throughput", "memory"))
    parser.add_argument("--seconds", type=int, default=20, help="of each rate (default: 20)")
    parser.add_argument(
        "--games",
        type=int,
        default=1000,
        help="of the traffic (default: 1000); memory is measured with up to ten times as many",
    )
    parser.add_argument("--rounds", type=int, default=3, help="of the throughput (default: 3)")
    parser.add_argument("--small", action="store_true", help="a few seconds: only shows that it runs")
    parser.add_argument("-o", "--output", type=Path, help="also write the figures as JSON")
    options = parser.parse_args()
    seconds, games, rounds = (1, 20, 1) if options.small else (options.seconds, options.games, options.rounds)
    log = generate.cached(games).log
    only = options.only or ("latency", "throughput", "memory")
    print(f"{games:,} games, {log.stat().st_size:,} bytes, Python {platform.python_version()}")
    figures: dict[str, float] = {}

    def tell(name: str, value: float) -> None:
        figures[name] = value
        goal = f"  (goal {GOALS[name][1]} {GOALS[name][0]:g})" if name in GOALS else ""
        print(f"{name:44} {value:12.3f}{goal}", flush=True)

    def tell_spread(name: str, values: list[float]) -> None:
        cuts = statistics.quantiles(values, n=100, method="inclusive")
        for word, value in (("p50", cuts[49]), ("p99", cuts[98]), ("max", max(values))):
            tell(f"{name}{word} ms", value)

    for rate in _RATES if "latency" in only else ():
        tell_spread(f"at {rate}/s, the disk alone, ", disk(rate, min(rate * seconds, 2000)))
        delays = latency(log, rate, seconds)
        tell(f"at {rate}/s, plies", len(delays))
        tell_spread(f"at {rate}/s, journal durable, ", [delay.safe for delay in delays])
        tell_spread(f"at {rate}/s, row committed, ", [delay.committed for delay in delays])
        tell_spread(f"at {rate}/s, ", [delay.both for delay in delays])
    if "throughput" in only:
        with tempfile.TemporaryDirectory() as folder:
            times = [throughput(log, Path(folder)) for _ in range(rounds)]
        tell("import MB/s", statistics.median(log.stat().st_size / imported / 1e6 for imported, _ in times))
        tell("recording MB/s", statistics.median(log.stat().st_size / taken / 1e6 for _, taken in times))
        tell("throughput / import", statistics.median(imported / taken for imported, taken in times))
    if "memory" in only:
        before, after = memory(generate.cached(games * 10).log)
        for name, kib in before.items():
            tell(f"{name}, MiB after the traffic", kib / 1024)
            tell(f"{name}, MiB after 10x", after[name] / 1024)
        tell("memory at 10x the traffic", max(after[name] / kib for name, kib in before.items()))
    if options.output is not None:
        options.output.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
