"""Moves proved by the two boards alone, and what a move captured.

Captures, en passant, promotion to any piece, drops and castling are applied literally. A capture may also have exploded
(atomic): origin, target and every piece but pawns next to the target are gone. Nothing else is accepted.
"""

from __future__ import annotations

from recorder.rules.legality import castled, castling_squares, moved, pseudo_legal, rights_left
from recorder.rules.notation import Pretty, castle_side, read_pretty, split_verbose
from recorder.rules.position import Position, encode_move
from recorder.rules.tables import ADJACENT, NAMES, square_of

_Step = tuple[int, str, Position]
_OWN = ("pnbrqk", "PNBRQK")
_MISMATCH = "pretty move names another move"


def prove_by_boards(position: Position, lan: str, pretty: str | None, after: str | None) -> _Step | str:
    """As ``advance``, for ``Rules.BOARDS``; the SAN is the pretty move, else the verbose one."""
    named = None
    if pretty is not None:
        named = read_pretty(pretty)
        if named is None:
            return "unreadable pretty move"
    side = castle_side(lan)
    if side is not None:
        if named is not None and named.castle != 1 + side:
            return _MISMATCH
        return _castle(position, side, pretty or lan.upper(), after)
    parts = split_verbose(lan)
    if parts is None:
        return "unreadable verbose move"
    letter, origin, target, promotion = parts
    if named is not None and (
        named.castle or named.drop != (origin < 0) or (named.letter, named.to) != (letter, target)
    ):
        return _MISMATCH
    san = pretty or lan
    if origin < 0:
        return _drop(position, letter, target, san, after)
    if named is not None:
        if named.file not in (None, origin % 9) or named.row not in (None, origin // 9):
            return _MISMATCH
        if None not in (promotion, named.promotion) and promotion != named.promotion:
            return _MISMATCH
        promotion = promotion or named.promotion
    return _shift(position, letter, origin, target, promotion, san, after)


def _shift(
    position: Position, letter: str, origin: int, target: int, promotion: str | None, san: str, after: str | None
) -> _Step | str:
    board, white = position.board, position.white_to_move
    piece = letter if white else letter.lower()
    if board[origin] != piece:
        return "no such piece on that square"
    if board[target] in _OWN[white] or origin == target:
        return "own piece on the target square"
    if letter != "P" and promotion is not None:
        return "only pawns promote"
    if letter == "P" and target // 9 in (0, 7) and promotion is None and after is not None and len(after) == 71:
        arrived = after[target]
        if arrived != piece and arrived in _OWN[white]:
            promotion = arrived.upper()
    placed = piece if promotion is None else promotion if white else promotion.lower()
    plain = moved(board, origin, target, placed)
    results, capture = [plain], board[target] != "-"
    if letter == "P" and not capture and origin % 9 != target % 9:
        victim = origin // 9 * 9 + target % 9
        if board[victim] == ("p" if white else "P"):
            plain, capture = f"{plain[:victim]}-{plain[victim + 1 :]}", True
            results.insert(0, plain)
    if capture:
        results.append(exploded(plain, target))
    if after is None:
        after = results[0]
    elif after not in results:
        return "boards differ"
    castling = position.castling & ((12 if white else 3) if letter == "K" else 15)
    double = letter == "P" and abs(origin - target) == 18
    reached = position._replace(
        board=after,
        white_to_move=not white,
        castling=rights_left(after, castling, position.rook_cols),
        push_col=origin % 9 if double else -1,
        white_king=after.find("K"),
        black_king=after.find("k"),
    )
    return encode_move(NAMES[origin] + NAMES[target] + (promotion or "").lower()), san, reached


def exploded(board: str, target: int) -> str:
    """The board after an explosion on a square: the piece there, and all but pawns next to it, is gone."""
    squares = list(board)
    for at in ADJACENT[target]:
        if squares[at] not in "Pp":
            squares[at] = "-"
    squares[target] = "-"
    return "".join(squares)


def _drop(position: Position, letter: str, target: int, san: str, after: str | None) -> _Step | str:
    board, white = position.board, position.white_to_move
    if board[target] != "-":
        return "drop on an occupied square"
    result = f"{board[:target]}{letter if white else letter.lower()}{board[target + 1 :]}"
    if after is not None and after != result:
        return "boards differ"
    reached = position._replace(board=result, white_to_move=not white, push_col=-1)
    return encode_move(f"{letter}@{NAMES[target]}"), san, reached


def _castle(position: Position, long: bool, san: str, after: str | None) -> _Step | str:
    """Castling seen in the boards: on the mover's first rank king and rook have shifted and nothing else has changed.

    The move is king takes rook unless it is the standard king's step from the e file with a corner rook; a "castling"
    that moved no rook (some servers call any king's step from e to g so) is the king's step.
    """
    board, white = position.board, position.white_to_move
    home = 63 if white else 0
    if after is None:
        squares = castling_squares(position, long)
        if squares is None or not _is_free(board, squares):
            return "castling is not possible"
        after = castled(board, *squares[1:])
    if len(after) != 71 or board[:home] != after[:home] or board[home + 8 :] != after[home + 8 :]:
        return "boards differ"
    king_letter, rook_letter = ("K", "R") if white else ("k", "r")
    king, king_to = (text.find(king_letter, home, home + 8) for text in (board, after))
    if king < 0 or king_to < 0:
        return "boards differ"
    was, now = ({at for at in range(home, home + 8) if text[at] == rook_letter} for text in (board, after))
    left, come = was - now, now - was
    touched = {king, king_to} | left | come
    same = all(board[at] == after[at] for at in range(home, home + 8) if at not in touched)
    gone = all(board[at] in ("-", king_letter, rook_letter) for at in touched)
    empty = all(after[at] in ("-", king_letter, rook_letter) for at in touched)
    if not (same and gone and empty) or len(left) != len(come) or len(left) > 1 or board == after:
        return "boards differ"
    to = king_to
    if left and (king - home != 4 or not left <= {home, home + 7} or king_to - home not in (2, 6)):
        to = min(left)
    reached = position._replace(
        board=after,
        white_to_move=not white,
        castling=position.castling & (12 if white else 3),
        push_col=-1,
        white_king=after.find("K"),
        black_king=after.find("k"),
    )
    return square_of(king) | square_of(to) << 6, san, reached


def _is_free(board: str, squares: tuple[int, int, int, int, int]) -> bool:
    _, king, rook, king_to, rook_to = squares
    low, high = min(king, rook, king_to, rook_to), max(king, rook, king_to, rook_to)
    return all(board[at] == "-" for at in range(low, high + 1) if at not in (king, rook))


def play_by_boards(position: Position, named: Pretty, san: str) -> _Step | str:
    """As ``play_san``, for ``Rules.BOARDS``: the one move of the pieces that fits, own king's safety aside."""
    if named.castle:
        return _castle(position, named.castle == 2, san, None)
    if named.drop:
        return _drop(position, named.letter, named.to, san, None)
    origins = [
        origin
        for letter, origin, target in pseudo_legal(position)
        if letter == named.letter
        and target == named.to
        and named.file in (None, origin % 9)
        and named.row in (None, origin // 9)
        and named.capture == (position.board[target] != "-" or (letter == "P" and origin % 9 != target % 9))
    ]
    if len(origins) != 1:
        return "ambiguous move" if origins else "no piece can make this move"
    if (named.promotion is not None) != (named.letter == "P" and named.to // 9 in (0, 7)):
        return "the promotion piece is missing or misplaced"
    return _shift(position, named.letter, origins[0], named.to, named.promotion, san, None)


def captured_piece(before: Position, after: Position) -> str | None:
    """``P`` for a promoted pawn."""
    prey = "pnbrq" if before.white_to_move else "PNBRQ"
    for index, (was, now) in enumerate(zip(before.board, after.board, strict=True)):
        if was != now and was in prey:
            return "P" if index in before.promoted else was.upper()
    return None
