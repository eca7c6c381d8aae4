"""The position at the end of a game, for the eye."""

from __future__ import annotations

from exporters.boards import Board, carry_out, first_board
from exporters.parts import cut_into_parts
from recorder.model import Game

__all__ = ["draw", "final_board"]


def final_board(game: Game) -> Board | None:
    """The board after the last proved ply.

    Returns:
        Square → letter (upper case is White's), or None if no position of the game is known.
    """
    part = cut_into_parts(game)[-1]
    board = first_board(part)
    if board is None:
        return None
    for ply in part.plies:
        if ply.move is None:
            return None
        carry_out(board, ply, game.variant)
    return board


def draw(board: Board) -> str:
    """Eight lines, White below."""
    rows = (f"{rank}  " + " ".join(board.get(file + rank, ".") for file in "abcdefgh") for rank in "87654321")
    return "\n".join([*rows, "   a b c d e f g h"])
