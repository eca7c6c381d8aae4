"""The boards of many games, replayed in arrays, against those of one game at a time."""

from __future__ import annotations

import random

import numpy as np
import pytest

from exporters.tables.boards import LETTERS, Moves, board_of_fen, replay
from recorder.model import Origin, Ply, Proof
from recorder.model.boards import board_after
from recorder.rules.fen import board_from_fen
from recorder.rules.position import encode_move
from tests.exporters.games import make_game

WHITES, BLACKS = make_game().plies[:2]
SQUARES = [f"{file}{rank}" for rank in range(1, 9) for file in "abcdefgh"]


def board_of_arrays(placement: str, uci: str, white: bool) -> str | None:
    """The board after one move, as the tables replay it; None: not known."""
    seen = board_of_fen(placement)
    assert seen is not None
    one, no = np.array([1]), np.array([False])
    played = replay(
        Moves(
            starts=np.array([0, 1]),
            ply=one if white else one + 1,
            move=np.array([encode_move(uci)]),
            proof=np.array([Proof.FULL.value]),
            origin=np.array([Origin.FRAME.value]),
            atomic=no,
            phased=no,
            before=one - 1,
            after=one - 2,
            boards=[seen],
        ),
        keep=True,
    )
    assert played.boards is not None
    if not played.known[0]:
        return None
    ranks = played.boards[0].reshape(8, 8)[::-1].tolist()
    return " ".join("".join(LETTERS[code] for code in rank) for rank in ranks).replace(".", "-")


def board_of_game(placement: str, uci: str, white: bool) -> str | None:
    ply: Ply = (WHITES if white else BLACKS)._replace(move=encode_move(uci))
    return board_after(board_from_fen(placement), ply, None)


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
    assert board_of_arrays(f"8/8/8/8/8/8/8/{before}", uci, True) == board_from_fen(f"8/8/8/8/8/8/8/{after}")


@pytest.mark.parametrize("seed", range(4))
def test_any_move_on_any_board_is_played_as_in_one_game(seed: int) -> None:
    """Pieces but pawns, also in moves that no rule allows: both boards are unknown, or have the same pieces."""
    choose = random.Random(seed)
    known = kings = 0
    for _ in range(1500):
        letters = choose.choices("1QRKqrkN", weights=(8, 1, 2, 2, 1, 2, 2, 1), k=64)
        placement = "/".join("".join(letters[row : row + 8]) for row in range(0, 64, 8))
        origin = choose.choice(SQUARES)
        target = choose.choice([f"{file}{origin[1]}" for file in "abcdefgh" if file != origin[0]] + SQUARES)
        if target == origin:
            continue
        white = choose.random() < 0.5
        found = board_of_arrays(placement, origin + target, white)
        assert found == board_of_game(placement, origin + target, white), (placement, origin, target)
        known += found is not None
        piece = letters[(8 - int(origin[1])) * 8 + "abcdefgh".index(origin[0])]
        kings += found is not None and piece in "Kk" and origin[1] == target[1]
    assert known > 300
    assert kings > 15
