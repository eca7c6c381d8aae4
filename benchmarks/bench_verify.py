"""How fast a move is proved, against python-chess's ``push_uci``, and whether both always agree.

    python -m benchmarks.bench_verify --candidates 250000

Half of the candidates are illegal: a king left in check, a piece that does not move so, a board that the move does not
give. Two ratios are printed, each the median of interleaved rounds: over chess candidates (python-chess raises an
exception for an illegal one and composes its text, which costs it much) and over the legal plies of random games only.
Exit status 1 if any answer differs.
"""

from __future__ import annotations

import argparse
import contextlib
import random
import statistics
import sys
import time
from typing import NamedTuple

import chess

from recorder.rules.fen import position_from_fen
from recorder.rules.position import Rules, decode_move
from recorder.rules.prove import advance
from tests.rules import rules_oracle

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


class Figures(NamedTuple):
    """Medians of the rounds."""

    ratio: float
    ours_us: float
    theirs_us: float


def _median(rounds: list[tuple[float, float]], asked: int) -> Figures:
    ratios = [theirs / ours for ours, theirs in rounds]
    ours, theirs = (statistics.median(times) / asked * 1e6 for times in zip(*rounds, strict=True))
    return Figures(statistics.median(ratios), ours, theirs)


def measure_games(of_rounds: int) -> Figures:
    """Whole games: legal moves only, each from the position that the move before gave."""
    games = random_plies(60)
    start = position_from_fen(chess.STARTING_FEN, Rules.CHESS)
    rounds = []
    for _ in range(of_rounds):
        begun = time.perf_counter()
        for game in games:
            position = start
            for lan, san, after, _uci in game:
                step = advance(position, lan, san, after)
                assert not isinstance(step, str), step
                position = step[2]
        half = time.perf_counter()
        for game in games:
            board = chess.Board()
            for _lan, _san, _after, uci in game:
                board.push_uci(uci)
        rounds.append((half - begun, time.perf_counter() - half))
    return _median(rounds, sum(map(len, games)))


def measure_candidates(of_rounds: int) -> Figures:
    """Chess candidates, half of them illegal; python-chess says so by an exception whose text it composes."""
    asked = [
        candidate
        for number in range(6)
        for candidate in rules_oracle.candidates(Rules.CHESS, random.Random(number), 80)
    ]
    questions = [(position_from_fen(c.fen, Rules.CHESS), c.lan, c.pretty, c.after) for c in asked]
    rounds = []
    for _ in range(of_rounds):
        boards = [(chess.Board(candidate.fen), candidate.uci) for candidate in asked]
        begun = time.perf_counter()
        for position, lan, pretty, after in questions:
            advance(position, lan, pretty, after)
        half = time.perf_counter()
        for board, uci in boards:
            with contextlib.suppress(chess.IllegalMoveError):
                board.push_uci(uci)
        rounds.append((half - begun, time.perf_counter() - half))
    return _median(rounds, len(asked))


def main() -> int:
    """Print the ratios and the disagreements."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--candidates", type=int, default=250_000, metavar="N")
    parser.add_argument("--rounds", type=int, default=15)
    given = parser.parse_args()
    candidates, games = measure_candidates(given.rounds), measure_games(given.rounds)
    for name, figures in (("candidates", candidates), ("legal moves of games", games)):
        print(
            f"{name}: advance (legality, boards, SAN) {figures.ours_us:.2f} µs, push_uci {figures.theirs_us:.2f} µs, "
            f"ratio {figures.ratio:.2f}"
        )
    asked, illegal, wrong = count_disagreements(given.candidates)
    print(f"candidates {asked:,}, illegal {illegal:,}, disagreements {wrong}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
