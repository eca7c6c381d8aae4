"""Legality, SAN, FEN and movelist moves against python-chess, on random games and random wrong moves."""

import random

import chess
import chess.variant
import pytest

from recorder.rules.fen import fen, position_from_fen
from recorder.rules.position import Rules, decode_move
from recorder.rules.prove import advance, has_legal_move, is_checkmate, play_san
from tests.rules import rules_oracle

VARIANTS = (Rules.CHESS, Rules.CHESS960, Rules.CRAZYHOUSE)


@pytest.mark.parametrize("rules", VARIANTS)
def test_every_ply_of_random_games_has_the_move_san_and_fen_of_python_chess(rules: Rules) -> None:
    plies = 0
    for number in range(30):
        seed = random.Random(1000 + number)
        position = None
        for board, move in rules_oracle.random_game(rules, seed, 160):
            if position is None:
                position = position_from_fen(board.fen(), rules)
            san, lan = rules_oracle.printed(board, move), rules_oracle.verbose(board, move)
            after = board.copy(stack=False)
            after.push(move)
            step = advance(position, lan, san, rules_oracle.frame_board(after))
            assert not isinstance(step, str), (board.fen(), lan, step)
            assert (decode_move(step[0]).lower(), step[1]) == (move.uci().lower(), san)
            assert play_san(position, san) == step
            position = step[2]
            assert fen(position, after.halfmove_clock, after.fullmove_number) == after.fen(en_passant="legal")
            assert position.in_check == after.is_check()
            assert has_legal_move(position) == any(after.legal_moves)
            assert is_checkmate(position) == after.is_checkmate()
            plies += 1
    assert plies > 4000


@pytest.mark.parametrize("rules", VARIANTS)
def test_legal_and_illegal_candidates_are_distinguished(rules: Rules) -> None:
    asked = {True: 0, False: 0}
    for number in range(10):
        for candidate in rules_oracle.candidates(rules, random.Random(2000 + number), 60, legal_each=4):
            position = position_from_fen(candidate.fen, rules)
            step = advance(position, candidate.lan, candidate.pretty, candidate.after)
            asked[candidate.legal] += 1
            if candidate.legal:
                assert not isinstance(step, str), (candidate, step)
                assert (decode_move(step[0]).lower(), step[1]) == (candidate.uci.lower(), candidate.san)
            else:
                assert isinstance(step, str), candidate
    assert asked[True] == asked[False] > 1500


@pytest.mark.parametrize(
    ("board", "rules"),
    [
        ("8/8/8/8/k2Pp2Q/8/8/3K4 b - d3 0 1", Rules.CHESS),  # en passant bares the rank
        ("4k3/8/8/2pP4/8/8/8/4K3 w - c6 0 1", Rules.CHESS),
        ("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", Rules.CHESS),
        ("r3k2r/8/8/8/4r3/8/8/R3K2R w KQkq - 0 1", Rules.CHESS),  # in check: no castling
        ("r3k2r/8/8/8/5r2/8/8/R3K2R w KQkq - 0 1", Rules.CHESS),  # f1 is attacked
        ("r3k2r/8/8/8/1r6/8/8/R3K2R w KQkq - 0 1", Rules.CHESS),  # b1 may be attacked
        ("k7/3P4/8/8/8/8/4p3/K2R4 w - - 0 1", Rules.CHESS),
        ("k7/8/8/3q4/8/1N3N2/8/K6N w - - 0 1", Rules.CHESS),
        ("1rk2b1r/8/8/8/8/8/8/1RK2B1R w HBhb - 0 1", Rules.CHESS960),
        ("rk5r/1p6/8/8/8/8/8/qRK4R w HBh - 0 1", Rules.CHESS960),
        ("6k1/5ppp/8/8/8/8/8/4R1K1[N] w - - 0 1", Rules.CRAZYHOUSE),
        ("4r1k1/5ppp/8/8/8/8/5PPP/6K1[Pb] b - - 0 1", Rules.CRAZYHOUSE),
    ],
)
def test_exactly_the_legal_moves_are_accepted(board: str, rules: Rules) -> None:
    oracle = (
        chess.variant.CrazyhouseBoard(board)
        if rules is Rules.CRAZYHOUSE
        else chess.Board(board, chess960=rules is Rules.CHESS960)
    )
    position = position_from_fen(board, rules)
    names = [f"{file}{rank}" for file in "abcdefgh" for rank in "12345678"]
    texts = [f"{piece}/{a}-{b}" for piece in "PNBRQK" for a in names for b in names]
    texts += [f"P/{a}-{b}={piece}" for piece in "NBRQK" for a in names for b in names]
    texts += [f"{piece}/@@-{b}" for piece in "PNBRQ" for b in names] + ["o-o", "o-o-o"]
    accepted = {}
    for text in texts:
        step = advance(position, text, None, None)
        if not isinstance(step, str):
            accepted[decode_move(step[0]).lower()] = step[1]
    assert accepted == {move.uci().lower(): rules_oracle.printed(oracle, move) for move in oracle.legal_moves}
