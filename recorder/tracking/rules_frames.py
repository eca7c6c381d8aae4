"""Games whose boards no rules of ours read: larger than 8×8, with pieces of other games, or with hidden squares.

Nothing is proved here. A frame is taken for the next ply if it can be: where the verbose move names squares, that piece
stood on the first and is gone from it, and something of its colour stands on the second. Squares are counted from the
board's own corner; with ten ranks or more the first rank is 0. A ``?`` says nothing and agrees with everything.

Source: the board printers of the large-board server family; ICC's kriegspiel hides squares and moves as ``?``.
"""

from __future__ import annotations

import re

from recorder.tracking.rules_state import NO_PROMOTED, STANDARD_ROOKS, Position, Rules

__all__ = ["can_follow", "frames_fen", "frames_position", "has_plain_board"]

_EMPTY = re.compile("-+")
_PLAIN = re.compile(r"[-pnbrqkPNBRQK]{8}(?: [-pnbrqkPNBRQK]{8}){7}")
_SHIFT = re.compile(r"([A-Za-z])/([a-z])([0-9]{1,2})-([a-z])([0-9]{1,2})(?:=[A-Za-z])?")


def has_plain_board(board: str) -> bool:
    """Whether it is an 8×8 board of chess pieces."""
    return _PLAIN.fullmatch(board) is not None


def frames_position(board: str, white_to_move: bool, castling: int) -> Position:
    """A position of ``Rules.FRAMES``: what a frame shows, castling flags as printed."""
    return Position(board, white_to_move, castling, -1, False, Rules.FRAMES, None, NO_PROMOTED, STANDARD_ROOKS, -1, -1)


def frames_fen(position: Position, irreversible: int | None, fullmove: int) -> str:
    """The position in the form of a FEN; ranks may have other lengths than eight, and ``?`` stays as it is."""
    text = _EMPTY.sub(lambda run: str(len(run[0])), position.board).replace(" ", "/")
    rights = "".join(letter for bit, letter in enumerate("KQkq") if position.castling >> bit & 1)
    side = "w" if position.white_to_move else "b"
    return f"{text} {side} {rights or '-'} - {max(irreversible or 0, 0)} {max(fullmove, 1)}"


def can_follow(position: Position, lan: str, board: str, white_to_move: bool) -> bool:
    """Whether a board can be the one after this move."""
    if len(board) != len(position.board) or board.find(" ") != position.board.find(" "):
        return False
    if white_to_move == position.white_to_move:
        return False
    match = _SHIFT.fullmatch(lan)
    if match is None:
        return True  # castling, a drop, a hidden move: nothing to compare
    letter, *squares = match.groups()
    origin, target = (_index(board, *squares[at : at + 2]) for at in (0, 2))
    if origin is None or target is None:
        return False
    own = str.isupper if position.white_to_move else str.islower
    stood = position.board[origin] in ("?", letter.upper() if position.white_to_move else letter.lower())
    # The square left may hold another man at once: gating puts one there.
    left = board[origin] == "?" or board[origin] != position.board[origin]
    return stood and left and (own(board[target]) or board[target] == "?")


def _index(board: str, file: str, rank: str) -> int | None:
    """The place of a square in the board's text, or None outside it."""
    ranks = board.split(" ")
    width, height = len(ranks[0]), len(ranks)
    column, row = ord(file) - ord("a"), height - int(rank) - (height > 9)
    return row * (width + 1) + column if 0 <= column < width and 0 <= row < height else None
