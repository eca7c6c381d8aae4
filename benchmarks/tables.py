"""Boards as a generated log's server keeps and prints them, and the moves that are made on them."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import chess
from chess.variant import CrazyhouseBoard

__all__ = ["Table", "advance", "choose", "holdings_line"]

_VALUES = {"p": 1, "n": 3, "b": 3, "r": 5, "q": 9, "k": 0}
_START = "rnbqkbnr pppppppp -------- -------- -------- -------- PPPPPPPP RNBQKBNR"


@dataclass
class Table:
    """A board as the server keeps it: the ranks as one mutable line of 71 cells, clocks and the last move."""

    number: int
    white: str
    black: str
    base_min: int
    increment_s: int
    cells: list[str] = field(default_factory=lambda: list(_START))
    strength: list[int] = field(default_factory=lambda: [39, 39])
    clocks: list[int] = field(default_factory=list)
    ply: int = 0
    double: int = -1
    castling: str = "1 1 1 1"
    irreversible: int = 0
    last: str = "none (0:00.000) none"
    lag: int = 0

    def frame(self, relation: int = 0) -> str:
        """The board as a style-12 line of 33 fields."""
        turn = "WB"[self.ply & 1]
        ticking = int(self.ply > 1)
        moves = f"{self.ply // 2 + 1} {self.last}"
        return (
            f"<12> {''.join(self.cells)} {turn} {self.double} {self.castling} {self.irreversible} {self.number} "
            f"{self.white} {self.black} {relation} {self.base_min} {self.increment_s} {self.strength[0]} "
            f"{self.strength[1]} {self.clocks[0]} {self.clocks[1]} {moves} 0 {ticking} {self.lag}"
        )

    def saved(self) -> tuple[list[str], list[int], int, int, str, int, str, int]:
        """All that a takeback brings back (clocks stay)."""
        flags = self.double, self.castling, self.irreversible
        return self.cells[:], self.strength[:], self.ply, *flags, self.last, self.lag

    def restore(self, saved: tuple[list[str], list[int], int, int, str, int, str, int]) -> None:
        """Go back to what ``saved`` gave."""
        (cells, strength, self.ply, self.double, self.castling, self.irreversible, self.last, self.lag) = saved
        self.cells, self.strength = cells[:], strength[:]


def holdings_line(board: chess.Board, number: int) -> str:
    """The holdings line that follows a crazyhouse board, with the line end before it."""
    if not isinstance(board, CrazyhouseBoard):
        return ""
    white, black = (
        "".join(letter.upper() * pocket.count(chess.PIECE_SYMBOLS.index(letter)) for letter in "pnbrq")
        for pocket in (board.pockets[chess.WHITE], board.pockets[chess.BLACK])
    )
    return f"\n\r<b1> game {number} white [{white}] black [{black}]"


def choose(board: chess.Board, chance: random.Random) -> chess.Move | None:
    """A legal move, a capture rather than not; None if there is none."""
    moves = list(board.generate_pseudo_legal_moves())
    if isinstance(board, CrazyhouseBoard):
        moves = list(board.legal_moves)
    chance.shuffle(moves)
    kept = None
    for move in moves:
        if not board.is_legal(move):
            continue
        if kept is None:
            kept = move
            if chance.random() < 0.6:
                return kept
        elif board.piece_type_at(move.to_square) is not None:
            return move
    return kept


def advance(table: Table, board: chess.Board, move: chess.Move, san: str) -> None:
    """Play a move on both boards and note its texts; the elapsed time is left open as ``(?)``."""
    cells, side = table.cells, table.ply & 1
    target = _cell(move.to_square)
    table.double = -1
    if move.drop is not None:
        letter = chess.piece_symbol(move.drop)
        cells[target] = letter if side else letter.upper()
        verbose = f"{letter.upper()}/@@-{chess.square_name(move.to_square)}"
    else:
        source = _cell(move.from_square)
        piece = cells[source]
        taken = cells[target]
        names = f"{chess.square_name(move.from_square)}-{chess.square_name(move.to_square)}"
        verbose = f"{piece.upper()}/{names}"
        cells[source] = "-"
        cells[target] = piece
        if piece in "pP":
            distance = move.to_square - move.from_square
            if abs(distance) == 16:
                table.double = move.to_square & 7
            elif distance % 8 and taken == "-":
                passed = target + (9 if side == 0 else -9)
                taken, cells[passed] = cells[passed], "-"
            if move.promotion:
                letter = chess.piece_symbol(move.promotion)
                cells[target] = letter if side else letter.upper()
                verbose += f"={letter.upper()}"
                table.strength[side] += _VALUES[letter] - 1
        elif piece in "kK" and abs(move.to_square - move.from_square) == 2:
            short = move.to_square > move.from_square
            rook, place = (source + 3, source + 1) if short else (source - 4, source - 1)
            cells[place], cells[rook] = cells[rook], "-"
            verbose = "o-o" if short else "o-o-o"
        if taken != "-":
            table.strength[1 - side] -= _VALUES[taken.lower()]
    board.push(move)
    table.ply += 1
    rights = board.castling_rights
    table.castling = " ".join(
        str(int(bool(rights & corner))) for corner in (chess.BB_H1, chess.BB_A1, chess.BB_H8, chess.BB_A8)
    )
    table.irreversible = board.halfmove_clock
    table.last = f"{verbose} (?) {san}"


def _cell(square: int) -> int:
    """Index of a square in the line of ranks."""
    return (7 - (square >> 3)) * 9 + (square & 7)
