"""How fast a move is proved, against python-chess's ``push_uci``, and whether both always agree.

    python -m benchmarks.bench_verify --candidates 250000

Half of the candidates are illegal: a king left in check, a piece that does not move so, a board that the move does not
give. The ratio is the median of interleaved rounds over the plies of random games; both sides get legal moves only,
since python-chess raises an exception with a message for others. Exit status 1 if any answer differs.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import time

import chess

from recorder.model import decode_move
from recorder.tracking.position import Rules, advance, position_from_fen
from tests.tracking import rules_oracle

_ROUNDS = 15
_VARIANTS = (Rules.CHESS, Rules.CHESS, Rules.CRAZYHOUSE, Rules.CHESS960)  # every second candidate is chess


def count_disagreements(wanted: int) -> tuple[int, int, int]:
    """Ask ``wanted`` candidates; returns how many were asked, how many of them were illegal, and how many differ."""
    asked = illegal = wrong = game = 0
    while asked < wanted:
        rules = _VARIANTS[game % len(_VARIANTS)]
        fen, position = "", None
        for candidate in rules_oracle.candidates(rules, random.Random(game), 80):
            if candidate.fen != fen:
                fen = candidate.fen
                position = position_from_fen(fen, rules)
            assert position is not None
            step = advance(position, candidate.lan, candidate.pretty, candidate.after)
            asked += 1
            illegal += not candidate.legal
            if isinstance(step, str):
                agree = not candidate.legal
            else:
                same = decode_move(step[0]).lower() == candidate.uci.lower() and step[1] == candidate.san
                agree = candidate.legal and same
            if not agree:
                wrong += 1
                print(f"{rules.value}: {candidate} → {step}", file=sys.stderr)
        game += 1
    return asked, illegal, wrong


def random_plies(games: int) -> list[list[tuple[str, str, str, str]]]:
    """Chess games as (verbose, pretty, board after, UCI)."""
    found = []
    for number in range(games):
        game = []
        for board, move in rules_oracle.random_game(Rules.CHESS, random.Random(number), 80):
            lan, san = rules_oracle.verbose(board, move), board.san(move)
            after = board.copy(stack=False)
            after.push(move)
            game.append((lan, san, rules_oracle.frame_board(after), move.uci()))
        found.append(game)
    return found


def measure() -> tuple[float, float, float]:
    """Median ratio, and the median microseconds a ply of both."""
    games = random_plies(60)
    plies = sum(map(len, games))
    start = position_from_fen(chess.STARTING_FEN, Rules.CHESS)
    ours: list[float] = []
    theirs: list[float] = []
    for _ in range(_ROUNDS):
        begun = time.perf_counter()
        for game in games:
            position = start
            for lan, san, after, _uci in game:
                step = advance(position, lan, san, after)
                assert not isinstance(step, str), step
                position = step[2]
        ours.append((time.perf_counter() - begun) / plies * 1e6)
        begun = time.perf_counter()
        for game in games:
            board = chess.Board()
            for _lan, _san, _after, uci in game:
                board.push_uci(uci)
        theirs.append((time.perf_counter() - begun) / plies * 1e6)
    ratios = [slow / fast for slow, fast in zip(theirs, ours, strict=True)]
    return statistics.median(ratios), statistics.median(ours), statistics.median(theirs)


def main() -> int:
    """Print the two results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--candidates", type=int, default=250_000, metavar="N")
    wanted = parser.parse_args().candidates
    ratio, ours, theirs = measure()
    print(f"advance (legality, boards, SAN): {ours:.2f} µs a ply; push_uci: {theirs:.2f} µs; ratio {ratio:.2f}")
    asked, illegal, wrong = count_disagreements(wanted)
    print(f"candidates {asked:,}, illegal {illegal:,}, disagreements {wrong}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
