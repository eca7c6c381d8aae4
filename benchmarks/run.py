"""Compares the product with its peers: whole processes, in interleaved rounds, as ratios.

``python -m benchmarks.run [--games N] [--rounds R] [--small] [--only NAME…] [-o FILE]``

Machines drift, so only the ratio of two processes of the same round is kept; the printed figure is the median of the
rounds. Absolute seconds are there for orientation. ``--small`` only shows that everything runs.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks import generate

GOALS = {
    "import / read_game": (1.6, "≥"),
    "import of the PGN / read_game": (2.5, "≥"),
    "import / executemany": (0.15, "≥"),
    "export / StringExporter": (8.0, "≥"),
    "memory at 10x the log": (1.10, "≤"),
    "bytes per ply, no sources": (60.0, "≤"),
    "bytes per ply, with sources": (100.0, "≤"),
    "games that differ from the truth": (0.0, "≤"),
}


ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
"""That of a user: modules are compiled once, not in every process."""


class Run(NamedTuple):
    """One finished process: wall seconds, peak resident KiB, what it printed."""

    seconds: float
    peak_kib: int
    output: str

    @property
    def printed(self) -> dict[str, Any]:
        """The JSON object that a peer printed."""
        answer: dict[str, Any] = json.loads(self.output)
        return answer


def process(*command: str | Path) -> Run:
    """Run a command to its end; a failure ends the benchmark."""
    with tempfile.TemporaryFile() as out:
        started = time.perf_counter()
        child = subprocess.Popen([sys.executable, "-m", *map(str, command)], stdout=out, env=ENVIRONMENT)
        _, status, usage = os.wait4(child.pid, 0)
        seconds = time.perf_counter() - started
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode:
            raise SystemExit(f"{' '.join(map(str, command))} failed with status {child.returncode}")
        out.seek(0)
        return Run(seconds, usage.ru_maxrss, out.read().decode())


def import_log(log: Path, archive: Path, *options: str) -> Run:
    """Import a log into a fresh archive."""
    for leftover in archive.parent.glob(f"{archive.name}*"):
        leftover.unlink()
    return process("recorder", "import", "--db", archive, *options, log)


def join_moves(source: Path, target: Path) -> None:
    """Write a PGN file with the moves of a game in one line, as the dumps of lichess and FICS have them."""
    with source.open(encoding="ascii") as games, target.open("w", encoding="ascii") as out:
        for line in games:
            is_last = line.rstrip() in ("1-0", "0-1", "1/2-1/2", "*")
            out.write(line if line[:1] in "[\n" or is_last else f"{line.rstrip()} ")


class Bench:
    """All measurements of one size."""

    def __init__(self, games: int, rounds: int, folder: Path) -> None:
        self.games = games
        self.rounds = rounds
        self.folder = folder
        self.archive = folder / "import.sqlite"
        self.made = generate.cached(games)
        self.dump = folder / "dump.pgn"
        join_moves(self.made.truth, self.dump)
        self.figures: dict[str, list[float]] = {}
        self.seconds: dict[str, list[float]] = {}

    def note(self, name: str, ratio: float) -> None:
        """Keep one round's figure."""
        self.figures.setdefault(name, []).append(ratio)

    def took(self, name: str, seconds: float) -> float:
        """Keep seconds for orientation."""
        self.seconds.setdefault(name, []).append(seconds)
        return seconds

    def speed(self) -> None:
        """Import of log and PGN against ``read_game`` and ``executemany``, export against ``StringExporter``."""
        for _ in range(self.rounds):
            ours = self.took("import", import_log(self.made.log, self.archive).seconds)
            read = self.took("read_game", process("benchmarks.peers", "read-games", self.made.truth).seconds)
            saved = import_log(self.dump, self.folder / "pgn.sqlite", "--jobs", "1")
            self.note("import of the PGN / read_game", read / self.took("import of the PGN", saved.seconds))
            raw = process("benchmarks.peers", "executemany", self.archive).printed
            self.took("executemany", raw["seconds"])
            self.took("executemany, plies alone", raw["plies_seconds"])
            pgn = self.folder / "games.pgn"
            export = process("recorder", "export", "pgn", "--db", self.archive, "-o", pgn, "--force").seconds
            exporter = process("benchmarks.peers", "string-exporter", self.made.truth).printed
            self.took("export pgn", export)
            self.took("StringExporter", exporter["seconds"])
            self.note("import / read_game", read / ours)
            self.note("import / executemany", raw["seconds"] / ours)
            self.note("import / executemany, plies alone", raw["plies_seconds"] / ours)
            self.note("export / StringExporter", exporter["seconds"] / export)

    def memory(self) -> None:
        """Peak resident memory of an import of this log against one of a tenth."""
        small = generate.cached(max(1, self.games // 10))
        for _ in range(min(self.rounds, 3)):
            tenth = import_log(small.log, self.archive).peak_kib
            whole = import_log(self.made.log, self.archive).peak_kib
            self.note("peak MiB", whole / 1024)
            self.note("memory at 10x the log", whole / tenth)

    def size(self) -> None:
        """Bytes of the archive per ply, arrival times stored."""
        timed = generate.cached(self.games, timing=True)
        for name, options in (("no sources", ("--no-keep-source",)), ("with sources", ())):
            import_log(timed.log, self.archive, *options)
            connection = sqlite3.connect(self.archive)
            (plies, arrivals) = connection.execute("SELECT count(*), count(at_ms) FROM plies").fetchone()
            connection.close()
            self.note(f"bytes per ply, {name}", self.archive.stat().st_size / plies)
            self.note("plies with arrival", arrivals / plies)

    def truth(self) -> None:
        """Compare every imported game with what was generated."""
        import_log(self.made.log, self.archive)
        out = self.folder / "games.jsonl"
        process("recorder", "export", "games", "--format", "jsonl", "--db", self.archive, "-o", out, "--force")
        found = {}
        with out.open(encoding="utf-8") as lines:
            for line in lines:
                game = json.loads(line)
                name = (game["server_game_no"], game["white"]["handle"], game["black"]["handle"])
                found[name] = ({ply["ply"]: _facts(ply) for ply in game["plies"]}, game["result"])
        wrong = 0
        for name, played, seen, result in truth_games(self.made.truth):
            ours, our_result = found.pop(name, ({}, ""))
            if not any(ply in seen for ply in played):
                continue
            agree = all(
                ply in played and facts[0] == played[ply][0] and facts[1:] in (played[ply][1:], (None, None))
                for ply, facts in ours.items()
            )
            whole = len(seen) == len(played)
            wrong += not (agree and seen <= set(ours) and (our_result == result or (our_result == "*" and not whole)))
        self.note("games that differ from the truth", wrong + len(found))


Facts = tuple[str, int | None, int | None]
"""SAN, the mover's clock and the time taken, in milliseconds."""


def _facts(ply: dict[str, Any]) -> Facts:
    clock = ply["white_clock_ms" if ply["ply"] % 2 else "black_clock_ms"]
    return ply["san"].removeprefix("P"), clock, ply["elapsed_ms"]


def truth_games(path: Path) -> list[tuple[tuple[int, str, str], dict[int, Facts], set[int], str]]:
    """Name, moves with times, shown plies and result of each game of a generated PGN."""
    games = []
    for block in path.read_text(encoding="ascii").split("\n\n[Event "):
        tags = dict(re.findall(r'^\[(\w+) "(.*)"\]$', block, re.MULTILINE))
        moves = re.findall(r"^\d+\.+ (\S+) \{\[%clk (\S+)\] \[%emt (\S+)\]\}$", block, re.MULTILINE)
        played: dict[int, Facts] = {
            ply: (san.removeprefix("P"), _milliseconds(clock), _milliseconds(elapsed))
            for ply, (san, clock, elapsed) in enumerate(moves, 1)
        }
        ends = [span.split("-") for span in tags.get("Seen", f"1-{len(moves)}").split(",") if span]
        seen = {ply for low, high in ends for ply in range(int(low), int(high) + 1)}
        games.append(((int(tags["ServerGameNo"]), tags["White"], tags["Black"]), played, seen, tags["Result"]))
    return games


def _milliseconds(text: str) -> int:
    hours, minutes, seconds = text.split(":")
    return (int(hours) * 60 + int(minutes)) * 60_000 + round(float(seconds) * 1000)


def main() -> None:
    """Command line."""
    measures: dict[str, Callable[[Bench], None]] = {
        "speed": Bench.speed,
        "memory": Bench.memory,
        "size": Bench.size,
        "truth": Bench.truth,
    }
    parser = argparse.ArgumentParser(prog="python -m benchmarks.run", description="Measure ratios to peers.")
    parser.add_argument("--games", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--small", action="store_true", help="20 games, one round: only shows that it runs")
    parser.add_argument("--only", nargs="+", choices=list(measures), default=list(measures))
    parser.add_argument("-o", "--output", type=Path, help="also write the figures as JSON")
    options = parser.parse_args()
    games, rounds = (20, 1) if options.small else (options.games, options.rounds)
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(games, rounds, Path(folder))
        for name in options.only:
            measures[name](bench)
    size, version = bench.made.log.stat().st_size, process("recorder", "--version").output.strip()
    print(f"{games:,} games, {size:,} bytes, {rounds} rounds, Python {platform.python_version()}, {version}")
    for name, rounds_found in bench.figures.items():
        goal = f"  (goal {GOALS[name][1]} {GOALS[name][0]:g})" if name in GOALS else ""
        print(f"{name:38} {statistics.median(rounds_found):12.3f}{goal}")
    for name, rounds_found in bench.seconds.items():
        print(f"{name + ' seconds':38} {statistics.median(rounds_found):12.3f}")
    if options.output is not None:
        figures = {"games": games, "rounds": rounds, "ratios": bench.figures, "seconds": bench.seconds}
        options.output.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
