"""What python-chess says about the moves that the tests and the benchmark ask about."""

import random
from collections.abc import Iterator
from typing import NamedTuple

import chess
import chess.variant

from recorder.rules.fen import board_from_fen
from recorder.rules.position import Rules


class Candidate(NamedTuple):
    """A question: is this the move that leads to this board?"""

    fen: str
    lan: str
    pretty: str | None
    after: str
    legal: bool
    uci: str
    san: str


def printed(board: chess.Board, move: chess.Move) -> str:
    """python-chess's SAN as servers and archives write it: the pawn of a drop keeps its letter."""
    san = board.san(move)
    return f"P{san}" if san.startswith("@") else san


def frame_board(board: chess.Board) -> str:
    """The 71 characters a frame shows."""
    return board_from_fen(board.board_fen(promoted=False))


def verbose(board: chess.Board, move: chess.Move) -> str:
    """The verbose field of a move that is legal or at least stands on the board."""
    to = chess.square_name(move.to_square)
    if move.drop:
        return f"{chess.piece_symbol(move.drop).upper()}/@@-{to}"
    if board.is_castling(move):
        return "o-o-o" if board.is_queenside_castling(move) else "o-o"
    piece = board.piece_type_at(move.from_square) or chess.PAWN
    promotion = f"={chess.piece_symbol(move.promotion).upper()}" if move.promotion else ""
    return f"{chess.piece_symbol(piece).upper()}/{chess.square_name(move.from_square)}-{to}{promotion}"


def new_board(rules: Rules, seed: random.Random) -> chess.Board:
    """A start position of these rules."""
    if rules is Rules.CRAZYHOUSE:
        return chess.variant.CrazyhouseBoard()
    if rules is Rules.CHESS960:
        return chess.Board.from_chess960_pos(seed.randrange(960))
    return chess.Board()


def random_game(rules: Rules, seed: random.Random, plies: int) -> Iterator[tuple[chess.Board, chess.Move]]:
    """The board before each move (live object) and the move; captures, drops and promotions come more often."""
    board = new_board(rules, seed)
    for _ in range(plies):
        moves = list(board.legal_moves)
        if not moves:
            return
        lively = [m for m in moves if m.drop or m.promotion or board.is_capture(m) or board.is_castling(m)]
        move = seed.choice(lively if lively and seed.random() < 0.25 else moves)
        yield board, move
        board.push(move)


def _corrupted(after: str, seed: random.Random) -> str:
    squares = list(after)
    at = seed.choice([index for index in range(71) if index % 9 != 8])
    squares[at] = seed.choice([letter for letter in "-PNBRQKpnbrqk" if letter != squares[at]])
    return "".join(squares)


def _wrong_move(board: chess.Board, seed: random.Random) -> chess.Move:
    origin = seed.choice(list(chess.scan_forward(board.occupied)))
    target = seed.choice([square for square in chess.SQUARES if square != origin])
    pawn = board.piece_type_at(origin) == chess.PAWN
    return chess.Move(origin, target, chess.QUEEN if pawn and chess.square_rank(target) in (0, 7) else None)


def _literal_after(board: chess.Board, move: chess.Move) -> str:
    """The board if the move were simply made, castling and en passant as python-chess makes them."""
    made = board.copy(stack=False)
    made.push(move)
    return frame_board(made)


def candidates(rules: Rules, seed: random.Random, plies: int, legal_each: int = 6) -> Iterator[Candidate]:
    """Questions from one random game: at each position as many legal moves as others.

    The others are pseudo-legal moves that leave the king in check, moves of any piece to anywhere (boards as if they
    had been made), and legal moves with another after-board.
    """
    for board, _ in random_game(rules, seed, plies):
        fen = board.fen(en_passant="fen")
        moves = list(board.legal_moves)
        legal = [
            Candidate(
                fen, verbose(board, m), printed(board, m), _literal_after(board, m), True, m.uci(), printed(board, m)
            )
            for m in seed.sample(moves, min(legal_each, len(moves)))
        ]
        yield from legal
        others = [m for m in board.pseudo_legal_moves if not board.is_legal(m) and not board.is_castling(m)]
        seed.shuffle(others)
        others = others[: len(legal) // 3]
        while len(others) < 2 * len(legal) // 3:
            move = _wrong_move(board, seed)
            if not board.is_legal(move) and not board.is_castling(move):
                others.append(move)
        for move in others:
            yield Candidate(fen, verbose(board, move), None, _literal_after(board, move), False, move.uci(), "")
        for right in legal[: len(legal) - len(others)]:
            yield right._replace(after=_corrupted(right.after, seed), legal=False)
