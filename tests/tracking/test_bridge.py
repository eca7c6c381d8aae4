"""Gaps of one or two plies are filled only if there is one legal sequence."""

import random

import chess
import pytest

from recorder.rules.bridge import bridge
from recorder.rules.fen import board_from_fen, position_from_fen
from recorder.rules.position import Position, Rules
from recorder.rules.prove import Step, advance, with_holdings
from tests.rules import rules_oracle


def at(text: str, rules: Rules = Rules.CHESS) -> Position:
    return position_from_fen(text, rules)


def sans(found: list[list[Step]]) -> list[list[str]]:
    return [[step[1] for step in steps] for steps in found]


def test_one_and_two_missing_plies() -> None:
    start = at(chess.STARTING_FEN)
    one = board_from_fen("rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR")
    assert sans(bridge(start, one, "P/e7-e5", "e5", 1)) == [["e4", "e5"]]
    two = board_from_fen("rnbqkbnr/pppp1ppp/8/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R")
    assert sans(bridge(start, two, "N/g1-f3", "Nf3", 2)) == [["e4", "e5", "Nf3"]]


def test_a_gap_without_a_legal_sequence_stays() -> None:
    before = at("4k3/8/8/8/8/8/8/R3K2R w - - 0 1")
    after = board_from_fen("8/4k3/8/8/8/8/8/4K2R")
    assert bridge(before, after, "K/e8-e7", "Ke7", 1) == []  # a rook cannot vanish by White's own move


def test_a_king_that_moves_twice() -> None:
    before = at("7k/8/8/8/8/8/P7/3K4 b - - 0 1")
    after = board_from_fen("8/7k/8/8/8/8/P7/4K3")
    assert sans(bridge(before, after, "K/g7-h7", "Kh7", 2)) == [["Kg7", "Ke1", "Kh7"]]


def test_two_possible_sequences_are_both_returned() -> None:
    # The pawn's promotion before its capture is unknown; four sequences exist, two are returned.
    before = at("1r6/P6k/8/8/8/8/8/K7 w - - 0 1")
    after = board_from_fen("r7/7k/8/8/8/8/8/K7")
    assert len(bridge(before, after, "R/b8-a8", "Rxa8+", 1)) == 2


def test_castling_unseen() -> None:
    before = at("4k3/8/8/8/8/8/8/4K2R w K - 0 1")
    after = board_from_fen("3k4/8/8/8/8/8/8/5RK1")
    assert sans(bridge(before, after, "K/e8-d8", "Kd8", 1)) == [["O-O", "Kd8"]]


def test_a_drop_needs_the_piece_in_hand() -> None:
    empty = at("4k3/8/8/8/8/8/8/4K3 w - - 0 1", Rules.CRAZYHOUSE)
    after = board_from_fen("8/4k3/8/8/4N3/8/8/4K3")
    assert sans(bridge(with_holdings(empty, "N", ""), after, "K/e8-e7", "Ke7", 1)) == [["N@e4", "Ke7"]]
    assert bridge(with_holdings(empty, "B", ""), after, "K/e8-e7", "Ke7", 1) == []
    assert bridge(empty, after, "K/e8-e7", "Ke7", 1) == []  # unknown holdings prove nothing


def test_no_other_gap_is_filled() -> None:
    after = board_from_fen("rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR")
    assert bridge(at(chess.STARTING_FEN, Rules.BOARDS), after, "P/e7-e5", "e5", 1) == []
    assert bridge(at(chess.STARTING_FEN), after, "P/e7-e5", "e5", 3) == []
    assert bridge(at(chess.STARTING_FEN), after, "none", "none", 1) == []
    assert bridge(at(chess.STARTING_FEN), after[:-1], "P/e7-e5", "e5", 1) == []


def _all_ways(board: chess.Board, after: str, last: chess.Move, missing: int) -> set[tuple[str, ...]]:
    """Return every sequence, by trying all legal moves with python-chess."""
    ways = set()
    for first in board.legal_moves:
        san = rules_oracle.printed(board, first)
        board.push(first)
        if missing == 2:
            ways |= {(san, *rest) for rest in _all_ways(board, after, last, 1)}
        elif board.is_legal(last):
            end = rules_oracle.printed(board, last)
            board.push(last)
            if rules_oracle.frame_board(board) == after:
                ways.add((san, end))
            board.pop()
        board.pop()
    return ways


@pytest.mark.parametrize("rules", [Rules.CHESS, Rules.CRAZYHOUSE])
@pytest.mark.parametrize("missing", [1, 2])
def test_the_search_finds_the_same_sequences_as_python_chess(rules: Rules, missing: int) -> None:
    asked = 0
    for number in range(2 if missing == 2 else 12):
        seed = random.Random(3000 + number)
        trail: list[tuple[chess.Board, chess.Move]] = []
        for board, move in rules_oracle.random_game(rules, seed, 70):
            trail.append((board.copy(stack=False), move))
        for first in range(2, len(trail) - missing, 16):
            board, (shown, last) = trail[first][0], trail[first + missing]
            lan, pretty = rules_oracle.verbose(shown, last), rules_oracle.printed(shown, last)
            reached = shown.copy(stack=False)
            reached.push(last)
            after = rules_oracle.frame_board(reached)
            wanted = _all_ways(board.copy(stack=False), after, last, missing)
            found = bridge(position_from_fen(board.fen(), rules), after, lan, pretty, missing)
            same = {way for way in wanted if way[-1].rstrip("+#") == pretty.rstrip("+#")}
            assert len(found) <= 2
            assert {tuple(way) for way in sans(found)} <= wanted
            assert len(found) >= min(2, len(same))
            asked += 1
    assert asked >= 10


def test_an_inferred_position_is_the_one_that_the_seen_moves_give() -> None:
    start = at(chess.STARTING_FEN)
    first = advance(start, "P/d2-d4", "d4", None)
    assert not isinstance(first, str)
    second = advance(first[2], "N/g8-f6", "Nf6", None)
    assert not isinstance(second, str)
    assert bridge(start, second[2].board, "N/g8-f6", "Nf6", 1) == [[first, second]]
