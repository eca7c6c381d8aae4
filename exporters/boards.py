"""Boards of a game for the eye: proved moves are carried out, nothing is judged."""

from __future__ import annotations

from exporters.pgn.parts import PgnPart, cut_into_parts, is_chess_fen
from recorder.model import Game, Ply
from recorder.rules.moves import decode_move

__all__ = [
    "START",
    "Board",
    "board_text",
    "boards_by_ply",
    "carry_out",
    "final_board",
    "first_board",
    "play",
    "read_placement",
    "write_placement",
]

START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR"

#: Square → letter; upper case is White's.
Board = dict[str, str]


def read_placement(placement: str) -> Board:
    """The board of a FEN's first field; hands and promotion marks are left out."""
    board: Board = {}
    for rank, row in zip("87654321", placement.split("[")[0].split("/"), strict=True):
        column = 0
        for char in row:
            if char.isdigit():
                column += int(char)
            elif char != "~":
                board["abcdefgh"[column] + rank] = char
                column += 1
    return board


def write_placement(board: Board) -> str:
    """The first field of a FEN, without hands."""
    rows = []
    for rank in "87654321":
        row, empty = "", 0
        for file in "abcdefgh":
            piece = board.get(file + rank)
            if piece is None:
                empty += 1
                continue
            row += (str(empty) if empty else "") + piece
            empty = 0
        rows.append(row + (str(empty) if empty else ""))
    return "/".join(rows)


def play(board: Board, uci: str, white: bool) -> None:
    """Carry out a move on a board; castling may be king takes rook or king moves two files."""
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


def _explode(board: Board, at: str) -> None:
    """An atomic capture: what stands on the square, and all but pawns next to it, is gone."""
    for file in range(ord(at[0]) - 1, ord(at[0]) + 2):
        for rank in range(int(at[1]) - 1, int(at[1]) + 2):
            square = f"{chr(file)}{rank}"
            if square == at or board.get(square, "P") not in "Pp":
                board.pop(square, None)


def carry_out(board: Board, ply: Ply, variant: str | None) -> None:
    """Play a ply whose squares are known; a capture in atomic explodes."""
    assert ply.move is not None
    play(board, decode_move(ply.move), ply.white_moved)
    if variant == "atomic" and "x" in ply.san:
        _explode(board, decode_move(ply.move)[2:4])


def first_board(part: PgnPart) -> Board | None:
    """The board at the beginning of a part; None: it is not known, or none of chess."""
    if part.fen is None and part.start_ply:
        return None
    if part.fen is not None and not is_chess_fen(part.fen):
        return None
    return read_placement((part.fen or START).split()[0])


def boards_by_ply(game: Game) -> dict[int, Board]:
    """The boards of the main line that are known, by ply; the one before the first move too."""
    found: dict[int, Board] = {}
    for part in cut_into_parts(game):
        board = first_board(part)
        if board is None:
            continue
        found.setdefault(part.start_ply, dict(board))
        for ply in part.plies:
            if ply.move is None:
                break
            carry_out(board, ply, game.variant)
            found[ply.ply] = dict(board)
    return found


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


def board_text(board: Board) -> str:
    """Eight lines, White below."""
    rows = (f"{rank}  " + " ".join(board.get(file + rank, ".") for file in "abcdefgh") for rank in "87654321")
    return "\n".join([*rows, "   a b c d e f g h"])
