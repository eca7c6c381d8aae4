"""PGN export against python-chess's StringExporter: the same games, the same comments, rounds interleaved.

Run: ``python benchmarks/bench_pgn.py [--games 300] [--rounds 5]``. Prints one ratio a round and their median; goal ≥ 8.
Both sides start from games in memory: ours from plies, python-chess's from its own game trees, comments already set.
"""

from __future__ import annotations

import argparse
import io
import statistics
import sys
import time
from pathlib import Path

import chess.pgn

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from exporters.pgn import PgnExporter
from tests.exporters.games import random_game

GOAL = 8.0


def main() -> int:
    """Measure and print; status 1 if the median ratio misses the goal."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--games", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    games = [random_game(seed, 70) for seed in range(arguments.games)]
    trees = []
    for game in games:
        tree = chess.pgn.read_game(io.StringIO(PgnExporter().game_text(game)))
        assert tree is not None
        trees.append(tree)
    ratios = []
    for number in range(1, arguments.rounds + 1):
        started = time.perf_counter()
        report = PgnExporter().write(games, io.BytesIO())
        ours_s = time.perf_counter() - started
        started = time.perf_counter()
        for tree in trees:
            tree.accept(chess.pgn.StringExporter())
        theirs_s = time.perf_counter() - started
        ratios.append(theirs_s / ours_s)
        print(
            f"round {number}: {report.games / ours_s:,.0f} games/s, python-chess {len(trees) / theirs_s:,.0f} games/s, "
            f"ratio {ratios[-1]:.1f}"
        )
    median = statistics.median(ratios)
    print(f"median ratio {median:.1f} on {report.games} games, {report.plies} plies (goal {GOAL:.0f})")
    return 0 if median >= GOAL else 1


if __name__ == "__main__":
    sys.exit(main())
