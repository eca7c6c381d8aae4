"""PGN export against python-chess's StringExporter: the same games, the same comments, rounds interleaved.

Run: ``python benchmarks/bench_pgn.py [--games 300] [--rounds 5]``. Prints two ratios a round and their medians.
In the first (goal ≥ 8) both sides start from games in memory: ours from plies, python-chess's from its own game trees,
comments already set. In the second ours start from an archive on disk, python-chess's still from memory.
"""

from __future__ import annotations

import argparse
import io
import statistics
import sys
import tempfile
import time
from pathlib import Path

import chess.pgn

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from exporters.pgn.exporter import PgnExporter
from recorder.model import Game, SourceReport
from storage import ArchiveStore
from tests.exporters.games import random_game

GOAL = 8.0


def main() -> int:
    """Measure and print."""
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
    with tempfile.TemporaryDirectory() as folder, ArchiveStore.open(f"{folder}/games.db", create=True) as archive:
        with archive.write_source(
            sha256="0" * 64, size_bytes=0, name="x", path=None, kind="raw", keep=False, parser_version="1", options={}
        ) as writer:
            writer.add_games(games)
            writer.finish(SourceReport())
        return _measure(arguments.rounds, games, trees, archive)


def _measure(rounds: int, games: list[Game], trees: list[chess.pgn.Game], archive: ArchiveStore) -> int:
    ratios: list[float] = []
    archive_ratios: list[float] = []
    for number in range(1, rounds + 1):
        started = time.perf_counter()
        report = PgnExporter().write(games, io.BytesIO())
        ours_s = time.perf_counter() - started
        started = time.perf_counter()
        stored = archive.games(with_events=False, with_holdings=False, with_lines=False)
        assert PgnExporter().write(stored, io.BytesIO()).games == report.games
        archive_s = time.perf_counter() - started
        started = time.perf_counter()
        for tree in trees:
            tree.accept(chess.pgn.StringExporter())
        theirs_s = time.perf_counter() - started
        ratios.append(theirs_s / ours_s)
        archive_ratios.append(theirs_s / archive_s)
        print(
            f"round {number}: {report.games / ours_s:,.0f} games/s, python-chess {len(trees) / theirs_s:,.0f} games/s, "
            f"ratio {ratios[-1]:.1f}, from the archive {archive_ratios[-1]:.1f}"
        )
    median = statistics.median(ratios)
    print(
        f"median ratio {median:.1f} on {report.games} games, {report.plies} plies (goal {GOAL:.0f}), "
        f"from the archive {statistics.median(archive_ratios):.1f}"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
