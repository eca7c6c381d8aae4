"""The final board against python-chess."""

from __future__ import annotations

import random

import chess
import chess.variant
import pytest

from exporters.boards import board_text, final_board, play
from tests.exporters.games import make_game


def pieces(board: chess.Board) -> dict[str, str]:
    return {chess.square_name(square): piece.symbol() for square, piece in board.piece_map().items()}


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("variant", [chess.Board, chess.variant.CrazyhouseBoard, chess.variant.SuicideBoard])
def test_carries_out_moves_as_python_chess(seed: int, variant: type[chess.Board]) -> None:
    choose = random.Random(seed)
    oracle = variant()
    board = pieces(oracle)
    for _ in range(200):
        moves = list(oracle.legal_moves)
        if not moves:
            break
        special = [move for move in moves if oracle.is_castling(move) or oracle.is_en_passant(move) or move.promotion]
        move = choose.choice(special or moves)
        play(board, move.uci(), oracle.turn == chess.WHITE)
        oracle.push(move)
        assert board == pieces(oracle)


@pytest.mark.parametrize("number", range(0, 960, 53))
def test_castling_of_chess960(number: int) -> None:
    choose = random.Random(number)
    oracle = chess.Board.from_chess960_pos(number)
    board = pieces(oracle)
    for _ in range(120):
        moves = list(oracle.legal_moves)
        if not moves:
            break
        castlings = [move for move in moves if oracle.is_castling(move)]
        move = choose.choice(castlings or moves)
        play(board, move.uci(), oracle.turn == chess.WHITE)
        oracle.push(move)
        assert board == pieces(oracle)


def test_board_text() -> None:
    assert board_text({"e1": "K", "a8": "r"}).splitlines()[0] == "8  r . . . . . . ."
    assert board_text({"e1": "K", "a8": "r"}).splitlines()[7:] == ["1  . . . . K . . .", "   a b c d e f g h"]


def test_the_castling_of_a_king_on_d() -> None:
    for uci, king, rook in (("d1b1", "b1", "c1"), ("d1f1", "f1", "e1")):
        board = {"d1": "K", "a1": "R", "h1": "R"}
        play(board, uci, True)
        assert (board[king], board[rook], len(board)) == ("K", "R", 3)


def test_the_final_board_of_an_atomic_game() -> None:
    """Random games, most of them with explosions, against python-chess."""
    exploded = 0
    for seed in range(8):
        board = chess.variant.AtomicBoard()
        choice = random.Random(seed)
        moves = []
        while len(moves) < 40 and (legal := list(board.legal_moves)):
            move = choice.choice([move for move in legal if board.is_capture(move)] or legal)
            exploded += board.is_capture(move)
            moves.append(board.uci(move))
            board.push(move)
        found = final_board(make_game(moves, variant="atomic"))
        assert found == {chess.square_name(at): piece.symbol() for at, piece in board.piece_map().items()}
    assert exploded > 20
