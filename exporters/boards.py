"""The boards of a game's main line: proved moves carried out by the pieces of ``recorder.rules``, judged by nothing.

A board is the text of ``recorder.rules.position.Position.board``: 71 characters, rank 8 first.
"""

from __future__ import annotations

from exporters.pgn.parts import PgnPart, cut_into_parts, is_chess_fen, is_null_move
from recorder.model import Game, Ply
from recorder.rules.boards import exploded
from recorder.rules.fen import board_from_fen
from recorder.rules.legality import castled, moved
from recorder.rules.position import decode_move
from recorder.rules.tables import index_of
from recorder.rules.variants import STANDARD_BOARD

# The king's step from the d or e file by its two files → the files of the rook before and after it.
_ROOKS = {"ec": "ad", "eg": "hf", "db": "ac", "df": "he"}


def board_after(board: str, ply: Ply, variant: str | None) -> str | None:
    """Play a ply on a board; None: the move is not known, or no piece of the mover is on its first square.

    Castling is a king that takes its own rook, or that goes two files. A capture in atomic explodes.
    """
    if ply.move is None:
        return board if is_null_move(ply) else None
    uci, white = decode_move(ply.move), ply.white_moved
    target = index_of(uci[2:4])
    if uci[1] == "@":
        return f"{board[:target]}{uci[0] if white else uci[0].lower()}{board[target + 1 :]}"
    origin = index_of(uci[:2])
    piece = board[origin]
    if piece == "-" or piece.isupper() is not white:
        return None
    castling = _castling(board, uci, white) if piece in "Kk" else None
    if castling is not None:
        return castled(board, origin, *castling)
    placed = piece if len(uci) == 4 else uci[4].upper() if white else uci[4]
    after = moved(board, origin, target, placed)
    if piece in "Pp" and board[target] == "-" and origin % 9 != target % 9:  # en passant
        victim = origin // 9 * 9 + target % 9
        after = f"{after[:victim]}-{after[victim + 1 :]}"
    return exploded(after, target) if variant == "atomic" and "x" in ply.san else after


def _castling(board: str, uci: str, white: bool) -> tuple[int, int, int] | None:
    """The square of the rook, and of king and rook afterwards; None: the king's move is no castling."""
    rook, target = "R" if white else "r", index_of(uci[2:4])
    rank = uci[1]
    if board[target] == rook:
        king_to, rook_to = "gf" if uci[2] > uci[0] else "cd"
        return target, index_of(king_to + rank), index_of(rook_to + rank)
    files = _ROOKS.get(uci[0] + uci[2]) if uci[3] == rank else None
    if files is None or board[index_of(files[0] + rank)] != rook:
        return None
    return index_of(files[0] + rank), target, index_of(files[1] + rank)


def shown_board(fen: str | None) -> str | None:
    """The board of a FEN that a server showed; None for None, and for a FEN that is none of chess."""
    return board_from_fen(fen) if fen is not None and is_chess_fen(fen) else None


def _first_board(part: PgnPart) -> str | None:
    """The board at the beginning of a part; None: it is not known, or none of chess."""
    return STANDARD_BOARD if part.fen is None and part.start_ply == 0 else shown_board(part.fen)


def boards_by_ply(game: Game) -> dict[int, str]:
    """The boards of the main line that are known, by ply; the one before the first move too.

    Boards are text of 71 characters, rank 8 first; the board before the first move has ``game.start_ply``.
    """
    found: dict[int, str] = {}
    for part in cut_into_parts(game):
        board = _first_board(part)
        if board is None:
            continue
        found.setdefault(part.start_ply, board)
        for ply in part.plies:
            board = board_after(board, ply, game.variant)
            if board is None:
                break
            found[ply.ply] = board
    return found


def final_board(game: Game) -> str | None:
    """The board after the last proved ply; None: no position of the game is known."""
    part = cut_into_parts(game)[-1]
    board = _first_board(part)
    for ply in part.plies:
        if board is None:
            break
        board = board_after(board, ply, game.variant)
    return board


def board_text(board: str) -> str:
    """Draw a board as nine lines, White below, with ``.`` for empty squares and the names of files and ranks."""
    rows = (f"{8 - row}  {' '.join(rank).replace('-', '.')}" for row, rank in enumerate(board.split(" ")))
    return "\n".join([*rows, "   a b c d e f g h"])
