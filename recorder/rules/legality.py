"""Attacks, checks, castling rights, and whether any legal move is left."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from recorder.rules.position import BLACK_LONG, BLACK_SHORT, WHITE_LONG, WHITE_SHORT, Position, Rules
from recorder.rules.tables import (
    ADJACENT,
    ATTACKS,
    BISHOP_STEPS,
    EMPTY_SLICE,
    KNIGHT_TARGETS,
    PAWN_ATTACKERS,
    RAYS,
    ROOK_STEPS,
    SLIDERS,
    SQUARES,
    between,
)

if TYPE_CHECKING:
    from mypy_extensions import i64  # as in ``dialects.style12``

_TABLES: Final = tuple(tuple((letter, ATTACKS[letter]) for letter in letters) for letters in ("qrbnk", "QRBNK"))
_PAWNS: Final = ("p", "P")
_END: Final[i64] = 71
_TO_LOWER: Final[i64] = 32
_EMPTY: Final[i64] = 45  # "-"
_PAWN: Final[i64] = 80  # "P", and so on
_KNIGHT: Final[i64] = 78
_BISHOP: Final[i64] = 66
_ROOK: Final[i64] = 82
_QUEEN: Final[i64] = 81
_KING: Final[i64] = 75
_OWN: Final = ("pnbrqk", "PNBRQK")
_MEN: Final = ".NBRQKP"


def attacked(board: str, square: int, by_white: bool) -> bool:
    """-1 is never attacked; pins do not matter."""
    if square < 0:
        return False
    lower: i64 = 0 if by_white else _TO_LOWER
    start: i64 = square
    step: i64
    for step in ROOK_STEPS:
        at: i64 = start + step
        while 0 <= at < _END:
            letter: i64 = ord(board[at]) - lower
            if letter + lower != _EMPTY:
                if letter in (_ROOK, _QUEEN) or (letter == _KING and at == start + step):
                    return True
                break  # a blank between two ranks, too
            at += step
    for step in BISHOP_STEPS:
        at = start + step
        while 0 <= at < _END:
            letter = ord(board[at]) - lower
            if letter + lower != _EMPTY:
                if letter in (_BISHOP, _QUEEN) or (at == start + step and _steps(letter, step, by_white)):
                    return True
                break
            at += step
    return any(ord(board[place]) - lower == _KNIGHT for place in KNIGHT_TARGETS[square])


def _steps(letter: i64, step: i64, by_white: bool) -> bool:
    return letter == _KING or (letter == _PAWN and (step > 0) == by_white)


def checkers(board: str, square: int, by_white: bool) -> list[int]:
    found = [at for at in PAWN_ATTACKERS[by_white][square] if board[at] == _PAWNS[by_white]]
    for letter, table in _TABLES[by_white]:
        row = table[square]
        at = board.find(letter)
        while at >= 0:
            path = row[at]
            if path is not None and not board[path].strip("-"):
                found.append(at)
            at = board.find(letter, at + 1)
    return found


def moved(board: str, origin: int, target: int, placed: str) -> str:
    if origin < target:
        return f"{board[:origin]}-{board[origin + 1 : target]}{placed}{board[target + 1 :]}"
    return f"{board[:target]}{placed}{board[target + 1 : origin]}-{board[origin + 1 :]}"


def played(board: str, move: int, white: bool) -> str | None:
    """The board after a move that was proved before; None: no piece of the mover is on its first square.

    Castling is a king that takes its own rook, or that goes two files from d or e where a corner has its rook: some
    servers call any step of a king from e to g castling.
    """
    target = 9 * (7 - (move >> 9 & 7)) + (move >> 6 & 7)
    extra = move >> 12
    if extra > 15 or extra & 7 >= len(_MEN):  # no encoded move
        return None
    if extra >= 8:
        man = _MEN[extra - 8]
        return f"{board[:target]}{man if white else man.lower()}{board[target + 1 :]}"
    origin = 9 * (7 - (move >> 3 & 7)) + (move & 7)
    man = board[origin]
    if man not in _OWN[white]:
        return None
    if man in "Kk":
        squares = _castling(board, origin, target, "R" if white else "r")
        if squares is not None:
            return castled(board, origin, *squares)
    elif man in "Pp" and board[target] == "-" and origin % 9 != target % 9:  # en passant
        victim = origin // 9 * 9 + target % 9
        board = f"{board[:victim]}-{board[victim + 1 :]}"
    if extra:
        man = _MEN[extra] if white else _MEN[extra].lower()
    return moved(board, origin, target, man)


def _castling(board: str, king: int, target: int, rook: str) -> tuple[int, int, int] | None:
    home, short = king - king % 9, target % 9 > king % 9
    if board[target] == rook:
        return target, home + (6 if short else 2), home + (5 if short else 3)
    corner = home + (7 if short else 0)
    if king % 9 not in (3, 4) or abs(target - king) != 2 or target // 9 != king // 9 or board[corner] != rook:
        return None
    return corner, target, target + (-1 if short else 1)


def phase_of(board: str) -> int:
    """0: the opening, 1: the middlegame, 2: the endgame, of one position alone.

    It is the middlegame if at most 10 queens, rooks, bishops and knights are left or a side has fewer than four pieces
    on its own first rank, the endgame if at most 6 of those pieces are left. Source: the "Divider" of lichess, without
    its measure of how mixed the armies are.
    """
    officers: i64 = 0
    at: i64 = 0
    while at < _END:
        letter: i64 = ord(board[at])
        if letter > 96:  # a small letter
            letter -= _TO_LOWER
        if letter in (_KNIGHT, _BISHOP, _ROOK, _QUEEN):
            officers += 1
        at += 1
    if officers <= 6:
        return 2
    return 1 if officers <= 10 or _men(board, 63, True) < 4 or _men(board, 0, False) < 4 else 0


def _men(board: str, rank: i64, white: bool) -> i64:
    men: i64 = 0
    at: i64 = rank
    while at < rank + 8:
        letter: i64 = ord(board[at])
        if letter != _EMPTY and (letter > 96) is not white:
            men += 1
        at += 1
    return men


def line_phases(board: str, moves: list[int], white: bool) -> list[int] | None:
    """A phase lasts until the next one begins; None: a move cannot be played."""
    found: list[int] = []
    reached = 0
    for move in moves:
        if reached < 2:
            reached = max(reached, phase_of(board))
        found.append(reached)
        after = played(board, move, white)
        if after is None:
            return None
        board, white = after, not white
    return found


def castling_squares(position: Position, long: bool) -> tuple[int, int, int, int, int] | None:
    """The right (1, 2, 4 or 8) and king and rook before and after castling; None: the right is gone."""
    white = position.white_to_move
    right = ((BLACK_SHORT, BLACK_LONG), (WHITE_SHORT, WHITE_LONG))[white][long]
    home = 63 if white else 0
    king = position.board.find("K" if white else "k", home, home + 8)
    if not position.castling & right or king < 0:
        return None
    rook = home + position.rook_cols[right.bit_length() - 1]
    return right, king, rook, home + (2 if long else 6), home + (3 if long else 5)


def pseudo_legal(position: Position) -> Iterator[tuple[str, int, int]]:
    """Upper-case letter, origin and target of all moves but castling and drops; not for rules that are ``apart``."""
    board, white = position.board, position.white_to_move
    own = _OWN[white]
    for origin in SQUARES:
        piece = board[origin]
        if piece not in own:
            continue
        letter = piece.upper()
        if letter == "P":
            for target in _pawn_targets(position, origin):
                yield letter, origin, target
        elif letter in SLIDERS:
            for step in SLIDERS[letter]:
                ray = board[RAYS[origin][step]]
                rest = ray.lstrip("-")
                target = origin
                for _ in range(len(ray) - len(rest)):
                    target += step
                    yield letter, origin, target
                if rest and rest[0] not in own:
                    yield letter, origin, target + step
        elif letter == "K":
            for target in ADJACENT[origin]:
                if board[target] not in own:
                    yield letter, origin, target
        else:
            for target in KNIGHT_TARGETS[origin]:
                if board[target] not in own:
                    yield letter, origin, target


def _pawn_targets(position: Position, origin: int) -> Iterator[int]:
    board, white = position.board, position.white_to_move
    step = -9 if white else 9
    if not 0 <= origin + step < 71:
        return
    if board[origin + step] == "-":
        yield origin + step
        row = origin // 9
        begins = row == (6 if white else 1) or (row == 7 and white and position.rules is Rules.HORDE)
        if begins and board[origin + 2 * step] == "-":
            yield origin + 2 * step
    en_passant = -1 if position.push_col < 0 else (18 if white else 45) + position.push_col
    for target in PAWN_ATTACKERS[not white][origin]:
        if board[target] in _OWN[not white] or (target == en_passant and board[target] == "-"):
            yield target


def has_legal_move(position: Position, any_drop: bool = False) -> bool:
    """Not for rules that are ``apart``; ``any_drop``: every piece is in hand (a bughouse partner may pass one)."""
    rules = position.rules
    board, white = position.board, position.white_to_move
    own = _OWN[white]
    king = position.white_king if white else position.black_king
    if king >= 0:
        lifted = f"{board[:king]}-{board[king + 1 :]}"  # the king does not shield the square behind it
        for target in ADJACENT[king]:
            if board[target] not in own and not attacked(lifted, target, not white):
                return True
    found = checkers(board, king, not white) if position.in_check else []
    if len(found) > 1:
        return False
    if found:
        return _has_answer(position, king, found[0], any_drop)
    # Castling never is the only move of an unchecked king but in chess960 (its rook always has a step otherwise).
    return (
        _can_drop(position, SQUARES, any_drop)
        or any(
            _is_safe(board, king, origin, target, white)
            for letter, origin, target in pseudo_legal(position)
            if letter != "K"
        )
        or (rules is Rules.CHESS960 and any(can_castle(position, long) for long in (False, True)))
    )


def _has_answer(position: Position, king: int, checker: int, any_drop: bool) -> bool:
    board, white = position.board, position.white_to_move
    line = between(king, checker) if board[checker] in "QRBqrb" else EMPTY_SLICE
    blocks = list(range(71)[line])
    if _can_drop(position, blocks, any_drop):
        return True
    for target in (checker, *blocks):
        for letter, table in _TABLES[white][:4]:
            row = table[target]
            at = board.find(letter)
            while at >= 0:
                path = row[at]
                if path is not None and not board[path].strip("-") and _is_safe(board, king, at, target, white):
                    return True
                at = board.find(letter, at + 1)
    wanted = {checker, *blocks}
    pawn = _PAWNS[white]
    at = board.find(pawn)
    while at >= 0:
        for target in _pawn_targets(position, at):
            en_passant = target % 9 != at % 9 and board[target] == "-"
            if (target in wanted or en_passant) and _is_safe(board, king, at, target, white):
                return True
        at = board.find(pawn, at + 1)
    return False


def _is_safe(board: str, king: int, origin: int, target: int, white: bool) -> bool:
    """Whether the own king (which does not move itself) is not attacked after a pseudo-legal move."""
    after = moved(board, origin, target, board[origin])
    if board[origin] in "Pp" and board[target] == "-" and origin % 9 != target % 9:
        victim = origin // 9 * 9 + target % 9
        after = f"{after[:victim]}-{after[victim + 1 :]}"
    return not attacked(after, king, not white)


def _can_drop(position: Position, squares: tuple[int, ...] | list[int], any_drop: bool) -> bool:
    if position.rules not in (Rules.CRAZYHOUSE, Rules.BUGHOUSE):
        return False
    holdings = position.holdings
    hand = "PNBRQ" if any_drop else "" if holdings is None else holdings[not position.white_to_move]
    if not hand:
        return False
    pawns_only = not hand.strip("P")
    return any(position.board[at] == "-" and not (pawns_only and at // 9 in (0, 7)) for at in squares)


def can_castle(position: Position, long: bool) -> bool:
    """Right, empty path, no attacked square on the king's way; also in chess960."""
    squares = castling_squares(position, long)
    if squares is None or position.in_check:
        return False
    _, king, rook, king_to, rook_to = squares
    board, white = position.board, position.white_to_move
    if board[rook] != ("R" if white else "r"):
        return False
    low, high = min(king, rook, king_to, rook_to), max(king, rook, king_to, rook_to)
    if any(board[at] != "-" for at in range(low, high + 1) if at not in (king, rook)):
        return False
    lifted = f"{board[:king]}-{board[king + 1 :]}"
    return not any(
        attacked(lifted, at, not white) for at in range(min(king, king_to), max(king, king_to) + 1)
    ) and not attacked(castled(board, king, rook, king_to, rook_to), king_to, not white)


def castled(board: str, king: int, rook: int, king_to: int, rook_to: int) -> str:
    squares = list(board)
    king_letter, rook_letter = squares[king], squares[rook]
    squares[king] = squares[rook] = "-"
    squares[king_to], squares[rook_to] = king_letter, rook_letter
    return "".join(squares)


def rights_left(board: str, castling: int, rook_cols: tuple[int, int, int, int]) -> int:
    """The castling rights whose rook is on its square and whose king is on its first rank, on the right side of it.

    ``rook_cols`` are the files of the castling rooks in the order of the rights' bits.
    """
    left = 0
    for bit, (right, rook_col) in enumerate(zip((1, 2, 4, 8), rook_cols, strict=True)):
        if castling & right:
            home = 63 if bit < 2 else 0
            king = board.find("Kk"[bit // 2], home, home + 8) - home
            if king >= 0 and board[home + rook_col] == "Rr"[bit // 2] and (rook_col > king) == (bit % 2 == 0):
                left |= right
    return left
