"""Edit mode: the interface sets up a position square by square, between ``edit`` and ``.``.

Source: section 9 of the protocol document, ``edit``; the side to move does not change.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, NamedTuple

from recorder.cecp.commands import Unknown

_EDIT_PIECE: Final = re.compile(r"(\+?[A-Za-z])(?:([a-l](?:1[0-2]|[0-9])))", re.ASCII)
_EMPTY: Final = re.compile("-+")
_FILES: Final = "abcdefgh"
_RANKS: Final = "12345678"


class EditColour(NamedTuple):
    """``c``: the pieces that follow are of the other colour; White's come first."""


class EditPiece(NamedTuple):
    """``Pa4``: a piece of the current colour; ``letter`` ``x`` empties the square."""

    letter: str
    square: str


class EditOther(NamedTuple):
    """``#`` clears the board; ``castle`` and ``ep`` with what follows are ChessBase's."""

    text: str


class EditEnd(NamedTuple):
    """``.``: edit mode ends."""


EditLine = EditColour | EditPiece | EditOther | EditEnd | Unknown
"""A line in edit mode; ``Unknown``: not one of them."""


def parse_edit(text: str) -> EditLine:
    """Read one line that the interface sends in ``edit`` mode; never raises."""
    text = text.rstrip()
    if text == "c":
        return EditColour()
    if text == ".":
        return EditEnd()
    if text == "#" or text.partition(" ")[0] in ("castle", "ep"):
        return EditOther(text)
    match = _EDIT_PIECE.fullmatch(text)
    return Unknown(text) if match is None else EditPiece(match[1], match[2])


def format_edit(line: EditLine) -> str:
    """Write the line that ``parse_edit`` reads, without its line end."""
    match line:
        case EditColour():
            return "c"
        case EditEnd():
            return "."
        case EditPiece(letter, square):
            return f"{letter}{square}"
        case EditOther(text) | Unknown(text):
            return text


class EditBoard:
    """A board while it is edited.

    The squares are those of ``Position.board``: eight ranks of eight letters from a8 on, ``-`` for an empty square, a
    blank between ranks. ``is_done`` once ``.`` has ended edit mode.
    """

    def __init__(self, board: Iterable[str]) -> None:
        self.is_done = False
        self._board = list(board)
        self._white = True

    def apply(self, line: EditLine) -> bool:
        """Change the board as a line demands; False: the line demands nothing that a board of 64 squares can show."""
        match line:
            case EditColour():
                self._white = not self._white
            case EditOther("#"):
                self._board = [square if square == " " else "-" for square in self._board]
            case EditPiece(letter, square) if square[0] in _FILES and square[1:] in _RANKS:
                piece = letter.upper() if self._white else letter.lower()
                self._board[(8 - int(square[1])) * 9 + _FILES.index(square[0])] = "-" if letter == "x" else piece
            case EditEnd():
                self.is_done = True
            case _:
                return False
        return True

    def fen(self, white_to_move: bool) -> str:
        """The position as FEN, with all castling rights: edit mode has no line for them."""
        ranks = _EMPTY.sub(lambda empty: str(len(empty[0])), "".join(self._board)).replace(" ", "/")
        return f"{ranks} {'w' if white_to_move else 'b'} KQkq - 0 1"


def edit_lines(board: str) -> list[str]:
    """Return the lines between ``edit`` and the end of edit mode that set up a ``Position.board``."""
    lines: list[EditLine] = [EditOther("#")]
    for white in (True, False):
        lines += [] if white else [EditColour()]
        for at, letter in enumerate(board):
            if letter not in "- " and letter.isupper() == white:
                lines.append(EditPiece(letter.upper(), f"{_FILES[at % 9]}{8 - at // 9}"))
    return [format_edit(line) for line in (*lines, EditEnd())]
