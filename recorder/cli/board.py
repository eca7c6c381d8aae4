"""The position at the end of a game, for the eye: proved moves are carried out, nothing is judged."""

from __future__ import annotations

from exporters.parts import cut_into_parts, is_chess_fen
from recorder.model import Game
from recorder.moves import decode_move

__all__ = ["draw", "final_board", "play"]

_START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR"

_Board = dict[str, str]


def _squares(placement: str) -> _Board:
    board: _Board = {}
    for rank, row in zip("87654321", placement.split("/"), strict=True):
        column = 0
        for char in row:
            if char.isdigit():
                column += int(char)
            elif char != "~":
                board["abcdefgh"[column] + rank] = char
                column += 1
    return board


def play(board: _Board, uci: str, white: bool) -> None:
    """Carry out a move on a board (square → letter); castling may be king takes rook or king moves two files."""
    to = uci[2:4]
    if uci[1] == "@":
        board[to] = uci[0].upper() if white else uci[0].lower()
        return
    origin = uci[:2]
    piece = board.pop(origin, "?")
    if piece in "Kk":
        rook = "R" if white else "r"
        takes_rook = board.get(to) == rook
        if not takes_rook and origin[0] == "d" and to[0] in "bf" and origin[1] == to[1]:  # the castling of wild 0 and 1
            board.pop(("a" if to[0] == "b" else "h") + origin[1], None)
            board[("c" if to[0] == "b" else "e") + origin[1]] = rook
        if takes_rook or (origin[0] == "e" and to[0] in "cg" and origin[1] == to[1]):
            short = to[0] > origin[0]
            corner = to if takes_rook else ("h" if short else "a") + origin[1]
            board.pop(corner, None)
            board[("g" if short else "c") + origin[1]] = piece
            board[("f" if short else "d") + origin[1]] = rook
            return
    if piece in "Pp" and origin[0] != to[0] and to not in board:
        board.pop(to[0] + origin[1], None)  # en passant
    if len(uci) > 4:
        piece = uci[4].upper() if white else uci[4].lower()
    board[to] = piece


def _explode(board: _Board, at: str) -> None:
    """An atomic capture: what stands on the square, and all but pawns next to it, is gone."""
    for file in range(ord(at[0]) - 1, ord(at[0]) + 2):
        for rank in range(int(at[1]) - 1, int(at[1]) + 2):
            square = f"{chr(file)}{rank}"
            if square == at or board.get(square, "P") not in "Pp":
                board.pop(square, None)


def final_board(game: Game) -> _Board | None:
    """The board after the last proved ply.

    Returns:
        Square → letter (upper case is White's), or None if no position of the game is known.
    """
    part = cut_into_parts(game)[-1]
    if part.fen is None and part.start_ply:
        return None
    if part.fen is not None and not is_chess_fen(part.fen):
        return None
    board = _squares((part.fen or _START).split()[0].split("[")[0])
    for ply in part.plies:
        if ply.move is None:
            return None
        play(board, decode_move(ply.move), ply.white_moved)
        if game.variant == "atomic" and "x" in ply.san:
            _explode(board, decode_move(ply.move)[2:4])
    return board


def draw(board: _Board) -> str:
    """Eight lines, White below."""
    rows = (f"{rank}  " + " ".join(board.get(file + rank, ".") for file in "abcdefgh") for rank in "87654321")
    return "\n".join([*rows, "   a b c d e f g h"])
