"""The boards of a game's lines: moves carried out by the pieces of ``recorder.rules``, judged by nothing.

A board is the text of ``recorder.rules.position.Position.board``: 71 characters, rank 8 first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from recorder.model.games import Game
from recorder.model.plies import Ply, Proof, is_null_move
from recorder.rules.boards import exploded
from recorder.rules.fen import STANDARD_FEN, board_from_fen
from recorder.rules.legality import castled, moved
from recorder.rules.position import decode_move
from recorder.rules.tables import index_of

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


def shown_board(fen: str) -> str | None:
    """The board of a FEN that a server showed; None: it is none of chess."""
    try:
        return board_from_fen(fen)
    except ValueError:
        return None


def follow_line(
    plies: Iterable[Ply], anchors: Mapping[int, str], board: str | None, last: int | None, variant: str | None
) -> Iterator[tuple[Ply, str | None]]:
    """Yield the plies of a line, each with the board after it.

    ``board`` is the one before the line, after ``last`` half-moves (None: not known); ``anchors`` are FENs by ply.
    """
    for ply in plies:
        if last is not None and ply.ply != last + 1:
            board = None
        if (fen := anchors.get(ply.ply - 1)) is not None:
            board = shown_board(fen)
        if board is not None:
            board = None if ply.proof_code == Proof.CONFLICT else board_after(board, ply, variant)
        last = ply.ply
        yield ply, board


def boards_by_ply(game: Game) -> dict[int, str]:
    """The boards of the main line that are known, by ply; the one before the first move has ``game.start_ply``."""
    shown = {anchor.ply: anchor.fen for anchor in game.anchors()}
    usual = not game.start_ply and not game.start_fen and 0 not in shown
    if usual or game.start_fen:
        shown.setdefault(game.start_ply, game.start_fen or STANDARD_FEN)
    found = {ply: board for ply, fen in shown.items() if (board := shown_board(fen)) is not None}
    line = follow_line(game.plies, shown, None, None, game.variant)
    played = {ply.ply: board for ply, board in line if board is not None}
    if usual and 1 not in played and len(found) > 1:
        del found[0]  # of a shuffled game that was joined later
    return found | played


def final_board(game: Game) -> str | None:
    """The last board of the main line that is known."""
    boards = boards_by_ply(game)
    return boards[max(boards)] if boards else None


def board_text(board: str) -> str:
    """Draw a board as nine lines, White below, with ``.`` for empty squares and the names of files and ranks."""
    rows = (f"{8 - row}  {' '.join(rank).replace('-', '.')}" for row, rank in enumerate(board.split(" ")))
    return "\n".join([*rows, "   a b c d e f g h"])
