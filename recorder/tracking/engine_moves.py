"""Moves of the engine protocol on a position."""

from __future__ import annotations

from typing import Final

from recorder.cecp.moves import MoveKind, MoveText
from recorder.tracking.position import Position, Rules, Step, advance, play_san

__all__ = ["play_move"]

_FILES: Final = "abcdefgh"


def play_move(position: Position, move: MoveText) -> Step | str:
    """Play a move as an engine or its interface writes it.

    Args:
        position: before the move.
    Returns:
        As ``advance``, or the reason why it is no legal move. Where no rules are known (``Rules.BOARDS``) the SAN
        names the square a piece comes from whenever there is another one like it.
    """
    if move.kind in (MoveKind.SAN, MoveKind.CASTLING):
        return play_san(position, move.text.replace("0-0", "O-O").replace("o-o", "O-O"))
    if move.kind is MoveKind.DROP and move.letter is not None:
        letter = move.letter.upper()
        pretty = f"{letter}@{move.target}" if position.rules is Rules.BOARDS else None
        return advance(position, f"{letter}/@@-{move.target}", pretty, None)
    if move.kind is not MoveKind.COORDINATES or move.origin is None or move.target is None:
        return "not a move that can be played here"
    if not _on_board(move.origin) or not _on_board(move.target):
        return "a square outside of the board"
    board, at, to = position.board, _index(move.origin), _index(move.target)
    letter = board[at].upper()
    if letter == "-":
        return "illegal: no such piece on that square"
    if letter == "K" and (castling := _castling(position, at, to)) is not None:
        return advance(position, "o-o-o" if castling else "o-o", "O-O-O" if castling else "O-O", None)
    promotion = f"={move.letter.upper()}" if move.letter is not None and move.letter.isalpha() else ""
    pretty = _san(position, letter, at, to, promotion) if position.rules is Rules.BOARDS else None
    return advance(position, f"{letter}/{move.origin}-{move.target}{promotion}", pretty, None)


def _on_board(square: str) -> bool:
    return len(square) == 2 and square[0] in _FILES and square[1] in "12345678"


def _index(square: str) -> int:
    return (8 - int(square[1])) * 9 + _FILES.index(square[0])


def _castling(position: Position, at: int, to: int) -> bool | None:
    """Whether a king's move is castling to the queen's side (True) or the king's; None: it is a plain move."""
    own_rook = "R" if position.white_to_move else "r"
    if position.board[to] == own_rook:
        return to < at
    to_its_place = position.rules is not Rules.CHESS960 or to % 9 in (_FILES.index("c"), _FILES.index("g"))
    if at // 9 == to // 9 and abs(at - to) == 2 and to_its_place:
        return to < at
    return None


def _san(position: Position, letter: str, at: int, to: int, promotion: str) -> str:
    board = position.board
    target = f"{_FILES[to % 9]}{8 - to // 9}"
    capture = "x" if board[to] != "-" or (letter == "P" and at % 9 != to % 9) else ""
    if letter == "P":
        return f"{_FILES[at % 9] if capture else ''}{capture}{target}{promotion}"
    origin = f"{_FILES[at % 9]}{8 - at // 9}" if board.count(board[at]) > 1 else ""
    return f"{letter}{origin}{capture}{target}"
