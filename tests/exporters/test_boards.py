"""Boards of stored moves against python-chess."""

import random

import chess
import chess.variant
import pytest

from recorder.model import Ply
from recorder.model.boards import board_after, board_text, final_board
from recorder.rules.fen import board_fen, board_from_fen
from recorder.rules.position import encode_move
from tests.exporters.games import make_game

WHITES, BLACKS = make_game().plies[:2]


def ply_of(uci: str, white: bool) -> Ply:
    return (WHITES if white else BLACKS)._replace(move=encode_move(uci))


def placement(board: chess.Board) -> str:
    return board.board_fen(promoted=False)


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("variant", [chess.Board, chess.variant.CrazyhouseBoard, chess.variant.SuicideBoard])
def test_carries_out_moves_as_python_chess(seed: int, variant: type[chess.Board]) -> None:
    choose = random.Random(seed)
    oracle = variant()
    board: str | None = board_from_fen(placement(oracle))
    for _ in range(200):
        moves = list(oracle.legal_moves)
        if not moves:
            break
        special = [move for move in moves if oracle.is_castling(move) or oracle.is_en_passant(move) or move.promotion]
        move = choose.choice(special or moves)
        assert board is not None
        board = board_after(board, ply_of(move.uci(), oracle.turn == chess.WHITE), None)
        oracle.push(move)
        assert board is not None
        assert board_fen(board) == placement(oracle)


@pytest.mark.parametrize("number", range(0, 960, 53))
def test_castling_of_chess960(number: int) -> None:
    choose = random.Random(number)
    oracle = chess.Board.from_chess960_pos(number)
    board: str | None = board_from_fen(placement(oracle))
    for _ in range(120):
        moves = list(oracle.legal_moves)
        if not moves:
            break
        castlings = [move for move in moves if oracle.is_castling(move)]
        move = choose.choice(castlings or moves)
        assert board is not None
        board = board_after(board, ply_of(move.uci(), oracle.turn == chess.WHITE), None)
        oracle.push(move)
        assert board is not None
        assert board_fen(board) == placement(oracle)


def test_board_text() -> None:
    board = board_from_fen("r7/8/8/8/8/8/8/4K3")
    assert board_text(board).splitlines()[0] == "8  r . . . . . . ."
    assert board_text(board).splitlines()[7:] == ["1  . . . . K . . .", "   a b c d e f g h"]


@pytest.mark.parametrize(
    ("before", "uci", "after"),
    [
        ("4K2R", "e1g1", "5RK1"),
        ("R3K3", "e1c1", "2KR4"),
        ("R2K3R", "d1b1", "1KR4R"),
        ("R2K3R", "d1f1", "R3RK2"),
        ("1R3K1R", "f1b1", "2KR3R"),  # chess960: king takes rook
        ("4K2N", "e1g1", "6KN"),
        ("4K3", "e1c1", "2K5"),
        ("4K2r", "e1g1", "6Kr"),
        ("R4K1R", "f1d1", "R2K3R"),
        ("R3K2R", "e1b1", "RK5R"),
    ],
)
def test_a_rook_castles_only_where_there_is_one(before: str, uci: str, after: str) -> None:
    """Some servers call any step of a king from e to g castling."""
    board = board_after(board_from_fen(f"8/8/8/8/8/8/8/{before}"), ply_of(uci, True), None)
    assert board == board_from_fen(f"8/8/8/8/8/8/8/{after}")


@pytest.mark.parametrize(("uci", "white"), [("e4e5", True), ("e2e4", False)])
def test_a_board_is_unknown_after_a_move_without_an_own_piece(uci: str, white: bool) -> None:
    assert board_after(board_from_fen("4k3/8/8/8/8/8/4P3/4K3"), ply_of(uci, white), None) is None


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
        assert found is not None
        assert board_fen(found) == placement(board)
    assert exploded > 20
