"""Edit mode: the interface sets up a position square by square, between ``edit`` and ``.``.

``Pa4`` puts a piece of the current colour on a square, ``xa4`` empties it, ``c`` changes the colour (White comes first)
and ``#`` clears the board. Source: section 9 of the protocol document, ``edit``; the side to move does not change.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

_PIECE: Final = re.compile(r"(\+?[A-Za-z])([a-h])([1-8])", re.ASCII)
_EMPTY: Final = re.compile("-+")
_FILES: Final = "abcdefgh"


class EditBoard:
    """A ``Position.board`` while it is edited: eight ranks from a8 on, ``-`` for an empty square, a blank between."""

    def __init__(self, board: Iterable[str]) -> None:
        self.is_done = False  # ``.`` has ended edit mode
        self._board = list(board)
        self._white = True

    def apply(self, line: str) -> bool:
        """False: the line demands nothing that a board of 64 squares can show."""
        text = line.rstrip()
        if text == "c":
            self._white = not self._white
        elif text == "#":
            self._board = [square if square == " " else "-" for square in self._board]
        elif text == ".":
            self.is_done = True
        elif match := _PIECE.fullmatch(text):
            letter, file, rank = match.groups()
            piece = letter.upper() if self._white else letter.lower()
            self._board[(8 - int(rank)) * 9 + _FILES.index(file)] = "-" if letter == "x" else piece
        else:
            return False
        return True

    def fen(self, white_to_move: bool) -> str:
        """With all castling rights: edit mode has no line for them."""
        ranks = _EMPTY.sub(lambda empty: str(len(empty[0])), "".join(self._board)).replace(" ", "/")
        return f"{ranks} {'w' if white_to_move else 'b'} KQkq - 0 1"


def edit_lines(board: str) -> list[str]:
    """The lines between ``edit`` and the end of edit mode."""
    lines = ["#"]
    for white in (True, False):
        lines += [] if white else ["c"]
        for index, letter in enumerate(board):
            if letter not in "- " and letter.isupper() == white:
                lines.append(f"{letter.upper()}{_FILES[index % 9]}{8 - index // 9}")
    return [*lines, "."]
