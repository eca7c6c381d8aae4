"""Positions from a first board and from FEN, and FEN from positions.

Nothing is proved here. A frame is taken for the next ply if it can be: where the verbose move names squares, that piece
stood on the first and is gone from it, and something of its colour stands on the second. Squares are counted from the
board's own corner; with ten ranks or more the first rank is 0. A ``?`` says nothing and agrees with everything.

Source: the board printers of the large-board server family; ICC's kriegspiel hides squares and moves as ``?``.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from recorder.rules import variant_moves as rules_variants
from recorder.rules.legality import attacked, moved, rights_left
from recorder.rules.position import NO_PROMOTED, STANDARD_ROOKS, Position, Rules
from recorder.rules.tables import PAWN_ATTACKERS

STANDARD_FEN: Final = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
_EMPTY = re.compile("-+")
_PLAIN = re.compile(r"[-pnbrqkPNBRQK]{8}(?: [-pnbrqkPNBRQK]{8}){7}")
_SHIFT = re.compile(r"([A-Za-z])/([a-z])([0-9]{1,2})-([a-z])([0-9]{1,2})(?:=[A-Za-z])?")


def has_plain_board(board: str) -> bool:
    return _PLAIN.fullmatch(board) is not None


def frames_position(board: str, white_to_move: bool, castling: int) -> Position:
    """In which no move can be proved: what a frame shows, flags as printed."""
    return Position(board, white_to_move, castling, -1, False, Rules.FRAMES, None, NO_PROMOTED, STANDARD_ROOKS, -1, -1)


def board_fen(board: str) -> str:
    return _EMPTY.sub(lambda run: str(len(run[0])), board).replace(" ", "/")


def frames_fen(position: Position, irreversible: int | None, fullmove: int) -> str:
    """Ranks may have other lengths than eight, and ``?`` stays as it is; ``fullmove`` is that of the next move."""
    text = board_fen(position.board)
    rights = "".join(letter for bit, letter in enumerate("KQkq") if position.castling >> bit & 1)
    side = "w" if position.white_to_move else "b"
    return f"{text} {side} {rights or '-'} - {max(irreversible or 0, 0)} {max(fullmove, 1)}"


def can_follow(position: Position, lan: str, board: str, white_to_move: bool) -> bool:
    if len(board) != len(position.board) or board.find(" ") != position.board.find(" "):
        return False
    if white_to_move == position.white_to_move:
        return False
    match = _SHIFT.fullmatch(lan)
    if match is None:
        return True  # castling, a drop, a hidden move: nothing to compare
    letter, *squares = match.groups()
    origin, target = (_index(board, *squares[index : index + 2]) for index in (0, 2))
    if origin is None or target is None:
        return False
    own = str.isupper if position.white_to_move else str.islower
    stood = position.board[origin] in ("?", letter.upper() if position.white_to_move else letter.lower())
    # The square left may hold another man at once: gating puts one there.
    left = board[origin] == "?" or board[origin] != position.board[origin]
    return stood and left and (own(board[target]) or board[target] == "?")


def _index(board: str, file: str, rank: str) -> int | None:
    ranks = board.split(" ")
    width, height = len(ranks[0]), len(ranks)
    column, row = ord(file) - ord("a"), height - int(rank) - (height > 9)
    return row * (width + 1) + column if 0 <= column < width and 0 <= row < height else None


_COUNT = re.compile("[1-8]")
_HOLDINGS = re.compile(r"\[([PNBRQpnbrq]*)\]")
_HAND_ORDER = "QRBNP"


@lru_cache(maxsize=256)  # nearly every game begins on the same board
def start_position(
    board: str,
    white_to_move: bool,
    castling: int,
    push_col: int,
    rules: Rules,
    holdings: tuple[str, str] | None = None,
) -> Position:
    """The position of an observation's first board.

    Castling rights without their king and rook are dropped (some servers keep the flag of a captured rook). In chess960
    (and where the boards decide) the castling rook is the outermost one on its side of the king. A push file without
    such a pawn is ignored. Source: style 12 shows neither the rook nor whether a right is stale. Raises ValueError if
    the board is not 8×8 of known letters, unless the rules are ``Rules.FRAMES``.
    """
    if rules is Rules.FRAMES:
        return frames_position(board, white_to_move, castling)
    if not has_plain_board(board):
        raise ValueError(f"not an 8×8 board: {board!r}")
    rook_cols = STANDARD_ROOKS
    if rules is Rules.CHESS960 or rules.apart:
        rook_cols = _outermost_rooks(board)
        castling = rights_left(board, castling, rook_cols)
    else:
        castling = rights_left(board, castling & ((board[67] == "K") * 3 | (board[4] == "k") * 12), rook_cols)
    white_king, black_king = board.find("K"), board.find("k")
    own_king = white_king if white_to_move else black_king
    if rules.apart:
        in_check = rules is not Rules.BOARDS and rules_variants.in_check(board, white_to_move, rules)
    else:
        in_check = attacked(board, own_king, not white_to_move)
    if not _was_pushed(board, white_to_move, push_col):
        push_col = -1
    return Position(
        board,
        white_to_move,
        castling,
        push_col,
        in_check,
        rules,
        holdings,
        NO_PROMOTED,
        rook_cols,
        white_king,
        black_king,
    )


def _outermost_rooks(board: str) -> tuple[int, int, int, int]:
    columns = []
    for rank, king_letter, rook in ((board[63:71], "K", "R"), (board[:8], "k", "r")):
        king = rank.find(king_letter)
        short, long = rank.rfind(rook), rank.find(rook)
        columns += [short if short > king >= 0 else 7, long if 0 <= long < king else 0]
    return columns[0], columns[1], columns[2], columns[3]


def _was_pushed(board: str, white_to_move: bool, push_col: int) -> bool:
    if not 0 <= push_col <= 7:
        return False
    rows, pawn = ((3, 2, 1), "p") if white_to_move else ((4, 5, 6), "P")
    return "".join(board[9 * row + push_col] for row in rows) == f"{pawn}--"


def en_passant_index(position: Position) -> int:
    """The square behind a pawn that can legally be taken (with ``Rules.BOARDS`` need not be legally), or -1."""
    if position.push_col < 0:
        return -1
    board, white = position.board, position.white_to_move
    pawn, king = ("P", "K") if white else ("p", "k")
    target = (18 if white else 45) + position.push_col
    victim = target + 9 if white else target - 9
    for origin in PAWN_ATTACKERS[white][target]:
        if board[origin] == pawn:
            if position.rules.apart:
                if position.rules is Rules.BOARDS or rules_variants.is_safe(position, "P", origin, target):
                    return target
                continue
            after = moved(board, origin, target, pawn)
            after = f"{after[:victim]}-{after[victim + 1 :]}"
            if not attacked(after, after.find(king), not white):
                return target
    return -1


def fen(position: Position, irreversible: int | None, fullmove: int) -> str:
    """Write X-FEN.

    Castling is ``KQkq`` where the rook is the outermost one, else the rook's file. An en passant square is written only
    if such a capture is legal. In drop games known holdings follow the board in brackets, and ``~`` follows promoted
    pieces. Unknown half-moves since the last irreversible one are written as 0; ``fullmove`` is that of the next move.
    """
    if position.rules is Rules.FRAMES:
        return frames_fen(position, irreversible, fullmove)
    board = position.board
    drops = position.rules in (Rules.CRAZYHOUSE, Rules.BUGHOUSE)
    if position.promoted and drops:
        board = "".join(f"{letter}~" if index in position.promoted else letter for index, letter in enumerate(board))
    text = board_fen(board)
    if drops and position.holdings is not None:
        white, black = ("".join(sorted(hand, key=_HAND_ORDER.find)) for hand in position.holdings)
        text += f"[{white}{black.lower()}]"
    target = en_passant_index(position)
    square = f"{'abcdefgh'[target % 9]}{8 - target // 9}" if target >= 0 else "-"
    side = "w" if position.white_to_move else "b"
    return f"{text} {side} {_castling_letters(position)} {square} {max(irreversible or 0, 0)} {max(fullmove, 1)}"


def _castling_letters(position: Position) -> str:
    outermost = _outermost_rooks(position.board)
    letters = ""
    for bit, letter in enumerate("KQkq"):
        if position.castling & 1 << bit:
            column = position.rook_cols[bit]
            file = "abcdefgh"[column]
            letters += letter if column == outermost[bit] else file.upper() if bit < 2 else file
    return letters or "-"


def fen_counters(text: str) -> tuple[int, int]:
    """At most 9999; 0 where it has none."""
    fields = [field if field.isascii() and field.isdecimal() else "0" for field in text.split()[4:6]]
    halfmoves, number = (min(int(field[:9]), 9999) for field in (*fields, "0", "0")[:2])
    return halfmoves, number


def plies_before(text: str, white_to_move: bool) -> int:
    return 2 * (max(fen_counters(text)[1], 1) - 1) + (not white_to_move)


def board_from_fen(text: str) -> str:
    """Of a FEN or its first field, without holdings and promotion marks; ValueError if it is not 8×8."""
    field = text.split(" ", 1)[0].split("[", 1)[0].replace("~", "").replace("/", " ")
    board = _COUNT.sub(lambda digit: "-" * int(digit[0]), field)
    if not has_plain_board(board):
        raise ValueError(f"not the board of a FEN: {text!r}")
    return board


def position_from_fen(text: str, rules: Rules) -> Position:
    """FEN or X-FEN (Shredder letters too), without counters; missing fields count as ``-``. ValueError: no FEN."""
    fields = text.split()
    if len(fields) < 2 or fields[1] not in ("w", "b"):
        raise ValueError(f"not a FEN: {text!r}")
    board = board_from_fen(fields[0])
    letters = fields[2] if len(fields) > 2 else "-"
    square = fields[3] if len(fields) > 3 else "-"
    holdings = None
    if match := _HOLDINGS.search(fields[0]):
        white_hand, black_hand = ("".join(filter(test, match[1])) for test in (str.isupper, str.islower))
        holdings = (_ordered(white_hand), _ordered(black_hand.upper()))
    castling, rook_cols = _read_castling(board, letters)
    position = start_position(
        board,
        fields[1] == "w",
        0,
        "abcdefgh".find(square[0]) if len(square) == 2 else -1,
        rules,
        holdings,
    )
    if rules is not Rules.CHESS:
        castling = rights_left(board, castling, rook_cols)
        position = position._replace(castling=castling, rook_cols=rook_cols)
    else:
        kept = start_position(board, True, castling, -1, rules).castling
        position = position._replace(castling=kept)
    return position._replace(promoted=_promoted(fields[0]))


def _ordered(hand: str) -> str:
    return "".join(sorted(hand, key="PNBRQ".find))


def _read_castling(board: str, letters: str) -> tuple[int, tuple[int, int, int, int]]:
    castling, columns = 0, list(_outermost_rooks(board))
    for letter in letters:
        white = letter.isupper()
        if letter in "KQkq":
            castling |= 1 << "KQkq".index(letter)
        elif letter.lower() in "abcdefgh":
            column = "abcdefgh".index(letter.lower())
            king = board[63:71].find("K") if white else board[:8].find("k")
            bit = (0 if white else 2) + (column < king)
            castling |= 1 << bit
            columns[bit] = column
    return castling, (columns[0], columns[1], columns[2], columns[3])


def _promoted(field: str) -> frozenset[int]:
    squares, square = set(), 0
    for letter in field.split("[", 1)[0]:
        if letter == "~":
            squares.add(square - 1)
        else:
            square += int(letter) if letter.isdigit() else 1
    return frozenset(squares)
