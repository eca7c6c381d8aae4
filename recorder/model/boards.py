"""The boards of a game's lines: moves carried out by the pieces of ``recorder.rules``, judged by nothing.

A board is the text of ``recorder.rules.position.Position.board``: 71 characters, rank 8 first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from recorder.model.games import Game
from recorder.model.plies import Ply, PlyRow, Proof, is_null_move
from recorder.rules.boards import exploded
from recorder.rules.fen import STANDARD_FEN, board_fen, board_from_fen
from recorder.rules.legality import phase_of, played
from recorder.rules.position import decode_move
from recorder.rules.tables import index_of

_OTHER_ARMIES: Final = frozenset(("crazyhouse", "bughouse", "horde", "racing-kings"))
_OF_CHESS: Final = _OTHER_ARMIES | frozenset(
    (
        "chess", "chess960", "suicide", "giveaway", "antichess", "losers", "atomic", "three-check",
        "king-of-the-hill", "wildcastle", "nocastle", "twokings",
    )
)  # fmt: skip


def board_after(board: str, ply: Ply, variant: str | None) -> str | None:
    """None: the move is not known, or no piece of the mover is on its first square. A capture in atomic explodes."""
    if ply.move is None:
        return board if is_null_move(ply) else None
    after = played(board, ply.move, ply.white_moved)
    if after is None or variant != "atomic" or "x" not in ply.san:
        return after
    return exploded(after, index_of(decode_move(ply.move)[2:4]))


def shown_board(fen: str) -> str | None:
    """None: it is no board of chess."""
    try:
        return board_from_fen(fen)
    except ValueError:
        return None


def follow_line(
    plies: Iterable[Ply], anchors: Mapping[int, str], board: str | None, last: int | None, variant: str | None
) -> Iterator[tuple[Ply, str | None]]:
    """Each ply with the board after it; ``board`` is the one after ``last`` half-moves, ``anchors`` are FENs by ply."""
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
    boards = {ply: board for ply, fen in shown.items() if (board := shown_board(fen)) is not None}
    line = follow_line(game.plies, shown, None, None, game.variant)
    played = {ply.ply: board for ply, board in line if board is not None}
    if usual and 1 not in played and len(boards) > 1:
        del boards[0]  # of a shuffled game that was joined later
    return boards | played


def final_board(game: Game) -> str | None:
    boards = boards_by_ply(game)
    return boards[max(boards)] if boards else None


def board_text(board: str) -> str:
    """Nine lines, White below, with ``.`` for empty squares."""
    rows = (f"{8 - row}  {' '.join(rank).replace('-', '.')}" for row, rank in enumerate(board.split(" ")))
    return "\n".join([*rows, "   a b c d e f g h"])


def is_played_here(variant: str | None) -> bool:
    """None is taken as chess."""
    return variant is None or variant in _OF_CHESS or variant.startswith("wild/")


def has_phases(variant: str | None) -> bool:
    """Whether opening, middlegame and endgame mean something: not where pieces come back, or armies are others."""
    return is_played_here(variant) and variant not in _OTHER_ARMIES


def phases(game: Game) -> list[int]:
    """The phase of the position before each ply of the main line, as ``line_phases``; -1: it is not known."""
    boards = boards_by_ply(game) if has_phases(game.variant) else {}
    found = []
    reached = 0
    for row in game.rows:
        board = boards.get(row[0] - 1)
        reached = reached if board is None else max(reached, phase_of(board))
        found.append(-1 if board is None else reached)
    return found


_POINTS: Final = {"P": 1, "N": 3, "B": 3, "R": 5, "Q": 9, "p": -1, "n": -3, "b": -3, "r": -5, "q": -9}


def material(board: str) -> int:
    return sum(board.count(letter) * points for letter, points in _POINTS.items())


def fen_after(board: str, row: Ply | PlyRow, white_hand: str | None, black_hand: str | None) -> str:
    """An en passant square where a pawn is next to the one pushed; unknown rights and half-moves are ``-`` and 0."""
    ply, flags, irreversible = row[0], row[8] or 0, row[9] or 0
    white = ply & 1 == 1
    hands = "" if white_hand is None else f"[{white_hand}{(black_hand or '').lower()}]"
    rights = "".join(letter for bit, letter in enumerate("KQkq") if flags >> bit & 1) or "-"
    pushed = "-"
    if flags >> 4:
        file, home, taker = (flags >> 4) - 1, 36 if white else 27, "p" if white else "P"
        if taker in board[home + max(file - 1, 0) : home + file + 2]:
            pushed = f"{'abcdefgh'[file]}{3 if white else 6}"
    side = "b" if white else "w"
    return f"{board_fen(board)}{hands} {side} {rights} {pushed} {max(irreversible, 0)} {(ply >> 1) + 1}"
