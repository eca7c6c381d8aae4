"""Legality in suicide, giveaway, losers, atomic and the shuffled wild games.

Proved here, apart from ``prove``, so that plain chess pays nothing for it. Three-check and king of
the hill have the moves of chess.

- ``SUICIDE`` (giveaway and antichess too, which differ in who wins a stalemate): a capture must be made where there is
  one; the king is a piece like others, pawns become kings too, there is no check.
- ``LOSERS``: a legal capture must be made where there is one; the king is a king.
- ``ATOMIC``: a capture takes the capturer and all pieces but pawns next to it; kings do not take; no one may blow up
  his own king; blowing up the other one is always allowed; kings that touch are not in check.
- ``HORDE``: White has no king, and his pawns may take two steps from the first rank too; such a step cannot be answered
  en passant.
- ``RACING``: a move may not give check.
- ``WILD``: chess from any start position. A king on d castles two steps to either side, as wild 0 and 1 do: ``O-O``
  is to the nearer corner. Other castlings are those that the boards show.

Source: FICS help on suicide, losers, atomic and wild; ICC help on wild 1, 17, 26 and 27; the games database's games of
each of them replay by these rules; lichess's pages on horde and racing kings.
"""

from __future__ import annotations

from collections.abc import Iterator

from recorder.rules.boards import exploded, prove_by_boards
from recorder.rules.legality import attacked, castled, castling_squares, moved, pseudo_legal, rights_left
from recorder.rules.notation import Pretty, castle_side, read_pretty, split_verbose
from recorder.rules.position import Position, Rules, encode_move
from recorder.rules.tables import ADJACENT, ATTACKS, NAMES, PAWN_ATTACKERS, square_of

_Step = tuple[int, str, Position]
#: From, to.
_Shift = tuple[int, int]
#: King's and rook's squares before, then after.
_Castling = tuple[int, int, int, int]

_MISMATCH = "pretty move names another move"
_OWN = ("pnbrqk", "PNBRQK")
_SUICIDE, _LOSERS, _ATOMIC, _WILD = Rules.SUICIDE, Rules.LOSERS, Rules.ATOMIC, Rules.WILD
_HORDE, _RACING = Rules.HORDE, Rules.RACING


def prove_by_rules(position: Position, lan: str, pretty: str | None, after: str | None) -> _Step | str:
    named = None
    if pretty is not None:
        named = read_pretty(pretty)
        if named is None:
            return "unreadable pretty move"
    side = castle_side(lan)
    if side is not None:
        if named is not None and named.castle != 1 + side:
            return _MISMATCH
        return _castle(position, side, pretty, after)
    parts = split_verbose(lan)
    if parts is None:
        return "unreadable verbose move"
    letter, origin, target, promotion = parts
    if origin < 0:
        return "illegal: no drops in this variant"
    piece = letter if position.white_to_move else letter.lower()
    if position.board[origin] != piece:
        return "illegal: no such piece on that square"
    if promotion is None and named is not None:
        promotion = named.promotion
    if promotion is None and letter == "P" and target // 9 in (0, 7) and after is not None and len(after) == 71:
        promotion = after[target].upper()  # the frame was cut: the board shows the piece
    played = _shift(position, letter, (origin, target), promotion, after)
    if isinstance(played, str):
        unnamed = letter == "K" and position.rules is _WILD and after is not None
        return _unnamed_castling(position, (origin, target), pretty, after, played) if unnamed else played
    if named is not None and not _names(named, letter, (origin, target), promotion, "x" in played[1]):
        return _MISMATCH
    return played


def play_by_rules(position: Position, named: Pretty, san: str) -> _Step | str:
    if named.castle:
        return _castle(position, named.castle == 2, san, None)
    if named.drop:
        return "illegal: no drops in this variant"
    letter, to = named.letter, named.to
    origins = [
        (origin, to)
        for origin in _origins(position, letter, to)
        if _names(named, letter, (origin, to), named.promotion, _is_capture(position, letter, (origin, to)))
        and _is_safe(position, _result(position, letter, (origin, to), None))
    ]
    if len(origins) != 1:
        return "ambiguous move" if origins else "illegal: no piece can make this move"
    return _shift(position, letter, origins[0], named.promotion, None)


def has_legal_move(position: Position) -> bool:
    """Also False if the game is over by a rule of the variant; not for ``Rules.BOARDS`` and ``Rules.FRAMES``."""
    if _is_over(position):
        return False
    if next(_legal_shifts(position), None) is not None:
        return True
    return any(not isinstance(_castle(position, long, None, None), str) for long in (False, True))


def in_check(board: str, white: bool, rules: Rules) -> bool:
    """In suicide no king is in check; in atomic none that touches the other."""
    if rules is _SUICIDE:
        return False
    king, other = (board.find(letter) for letter in ("Kk" if white else "kK"))
    return attacked(board, king, not white) and not (rules is _ATOMIC and other in ADJACENT[king])


def is_safe(position: Position, letter: str, origin: int, target: int) -> bool:
    return _is_safe(position, _result(position, letter, (origin, target), None))


def _is_over(position: Position) -> bool:
    return position.rules is _ATOMIC and not ("K" in position.board and "k" in position.board)


def _names(named: Pretty, letter: str, shift: _Shift, promotion: str | None, capture: bool) -> bool:
    origin, target = shift
    return (
        not (named.castle or named.drop)
        and (named.letter, named.to, named.promotion, named.capture) == (letter, target, promotion, capture)
        and named.file in (None, origin % 9)
        and named.row in (None, origin // 9)
    )


def _is_capture(position: Position, letter: str, shift: _Shift) -> bool:
    origin, target = shift
    return position.board[target] != "-" or (letter == "P" and origin % 9 != target % 9)


def _result(position: Position, letter: str, shift: _Shift, promotion: str | None) -> str:
    board, (origin, target) = position.board, shift
    placed = board[origin]
    if promotion is not None:
        placed = promotion if position.white_to_move else promotion.lower()
    after = moved(board, origin, target, placed)
    capture = board[target] != "-"
    if not capture and letter == "P" and origin % 9 != target % 9:
        victim, capture = origin // 9 * 9 + target % 9, True
        after = f"{after[:victim]}-{after[victim + 1 :]}"
    return exploded(after, target) if capture and position.rules is _ATOMIC else after


def _is_safe(position: Position, after: str) -> bool:
    white, rules = position.white_to_move, position.rules
    if rules is not _ATOMIC:
        return not (in_check(after, white, rules) or (rules is _RACING and in_check(after, not white, rules)))
    own, other = "Kk" if white else "kK"
    return own in after and (other not in after or not in_check(after, white, rules))


def _able_shifts(position: Position) -> Iterator[tuple[str, _Shift]]:
    """What the pieces can do, own king's safety and the duty to capture aside."""
    for letter, origin, target in pseudo_legal(position):
        if not (position.rules is _ATOMIC and letter == "K" and position.board[target] != "-"):
            yield letter, (origin, target)


def _must_capture(position: Position) -> bool:
    if position.rules not in (_SUICIDE, _LOSERS):
        return False
    return any(
        _is_capture(position, letter, shift) and _is_safe(position, _result(position, letter, shift, None))
        for letter, shift in _able_shifts(position)
    )


def _legal_shifts(position: Position) -> Iterator[tuple[str, _Shift]]:
    """One for all promotions; without castling."""
    if _is_over(position):
        return
    must_capture = _must_capture(position)
    for letter, shift in _able_shifts(position):
        if must_capture and not _is_capture(position, letter, shift):
            continue
        if _is_safe(position, _result(position, letter, shift, None)):
            yield letter, shift


def _origins(position: Position, letter: str, target: int) -> list[int]:
    """Squares of a piece that can go to a square: ``_able_shifts`` for one letter and one square, and quicker."""
    board, white = position.board, position.white_to_move
    taken = board[target]
    if taken in _OWN[white] or _is_over(position):
        return []
    piece = letter if white else letter.lower()
    if letter == "P":
        return _pawn_origins(position, piece, target)
    if letter == "K" and taken != "-" and position.rules is _ATOMIC:
        return []
    attacks = ATTACKS[piece]
    origins = []
    index = board.find(piece)
    while index >= 0:
        path = attacks[index][target]
        if path is not None and not board[path].strip("-"):
            origins.append(index)
        index = board.find(piece, index + 1)
    return origins


def _pawn_origins(position: Position, piece: str, target: int) -> list[int]:
    board, white = position.board, position.white_to_move
    takers = [square for square in PAWN_ATTACKERS[white][target] if board[square] == piece]
    if board[target] != "-":
        return takers
    step = 9 if white else -9
    behind = target + step
    origins = takers if target == (18 if white else 45) + position.push_col and position.push_col >= 0 else []
    if 0 <= behind < 71:
        if board[behind] == piece:
            origins.append(behind)
        elif board[behind] == "-" and _is_double(position, behind + step) and board[behind + step] == piece:
            origins.append(behind + step)
    return origins


def _is_double(position: Position, origin: int) -> bool:
    row, white = origin // 9, position.white_to_move
    return row == (6 if white else 1) or (white and row == 7 and position.rules is _HORDE)


def _shift(position: Position, letter: str, shift: _Shift, promotion: str | None, after: str | None) -> _Step | str:
    origin, target = shift
    white, rules = position.white_to_move, position.rules
    pieces = "QRBNK" if rules is _SUICIDE else "QRBN"
    if (promotion is not None) != (letter == "P" and target // 9 == (0 if white else 7)):
        return "illegal: the promotion piece is missing or misplaced"
    if promotion is not None and promotion not in pieces:
        return "illegal: impossible promotion"
    able = _origins(position, letter, target)
    if origin not in able:
        return "illegal: the piece does not move so"
    if not _is_capture(position, letter, shift) and _must_capture(position):
        return "illegal: a capture must be made"
    rivals = [square for square in able if _is_safe(position, _result(position, letter, (square, target), None))]
    if origin not in rivals:
        return "illegal: king left in check"
    result = _result(position, letter, shift, promotion)
    if after is not None and result != after:
        return "boards differ"
    castling = position.castling & ((12 if white else 3) if letter == "K" else 15)
    double = letter == "P" and abs(origin - target) == 18 and origin // 9 in (1, 6)
    reached = _reached(position, result, castling, origin % 9 if double else -1)
    capture = "x" if _is_capture(position, letter, shift) else ""
    if letter == "P":
        san = f"{NAMES[origin][0]}x{NAMES[target]}" if capture else NAMES[target]
        san += f"={promotion}" if promotion else ""
    else:
        san = f"{letter}{_mark(origin, rivals)}{capture}{NAMES[target]}"
    move = encode_move(NAMES[origin] + NAMES[target] + (promotion or "").lower())
    return move, san + _check_mark(reached), reached


def _mark(origin: int, rivals: list[int]) -> str:
    others = [rival for rival in rivals if rival != origin]
    name = NAMES[origin]
    if not others:
        return ""
    if all(other % 9 != origin % 9 for other in others):
        return name[0]
    return name[1] if all(other // 9 != origin // 9 for other in others) else name


def _reached(position: Position, board: str, castling: int, push_col: int) -> Position:
    white = not position.white_to_move
    return position._replace(
        board=board,
        white_to_move=white,
        castling=rights_left(board, castling, position.rook_cols) if castling else 0,
        push_col=push_col,
        in_check=in_check(board, white, position.rules),
        white_king=board.find("K"),
        black_king=board.find("k"),
    )


def _check_mark(reached: Position) -> str:
    if _is_over(reached):
        return "#"  # as the server prints it
    if not reached.in_check:
        return ""
    return "+" if has_legal_move(reached) else "#"


def _castle(position: Position, long: bool, pretty: str | None, after: str | None) -> _Step | str:
    squares = _wild_castling(position, long, after is not None) if position.rules is _WILD else None
    if squares is None:
        way = castling_squares(position, long)
        squares = None if way is None else way[1:]
    if squares is None or not _may_castle(position, squares):
        return _shown_castling(position, long, pretty, after, "illegal: castling is not allowed")
    king, rook, king_to, rook_to = squares
    result = castled(position.board, king, rook, king_to, rook_to)
    if after is not None and result != after:
        return _shown_castling(position, long, pretty, after, "boards differ")
    reached = _reached(position, result, position.castling & (12 if position.white_to_move else 3), -1)
    # A king's own steps if they identify the castling, else king takes rook.
    steps = abs(king - king_to) == 2 and rook % 9 in (0, 7)
    san = ("O-O-O" if long else "O-O") + _check_mark(reached)
    return square_of(king) | square_of(king_to if steps else rook) << 6, san, reached


def _wild_castling(position: Position, long: bool, shown: bool) -> _Castling | None:
    """Two steps, and the rook from that corner goes beside the king; ``shown``: the flags need not allow it."""
    home = 63 if position.white_to_move else 0
    king = home + 3
    if position.board[king] != ("K" if position.white_to_move else "k"):
        return None
    # Servers print a right for each side, but not which of the two is the short one here.
    if not shown and not position.castling & (3 if position.white_to_move else 12):
        return None
    return (king, home + 7, home + 5, home + 4) if long else (king, home, home + 1, home + 2)


def _may_castle(position: Position, squares: _Castling) -> bool:
    king, rook, king_to, rook_to = squares
    board, white, rules = position.board, position.white_to_move, position.rules
    if board[rook] != ("R" if white else "r") or _is_over(position) or _must_capture(position):
        return False
    low, high = min(squares), max(squares)
    if any(board[at] != "-" for at in range(low, high + 1) if at not in (king, rook)):
        return False
    lifted = f"{board[:king]}-{board[king + 1 :]}"
    letter = "K" if white else "k"
    way = range(min(king, king_to), max(king, king_to) + 1)
    if any(in_check(f"{lifted[:at]}{letter}{lifted[at + 1 :]}", white, rules) for at in way if at != rook):
        return False
    return _is_safe(position, castled(board, king, rook, king_to, rook_to))


def _shown_castling(position: Position, long: bool, pretty: str | None, after: str | None, reason: str) -> _Step | str:
    """A castling of a shuffled king that no rule of ours knows, if the boards show it; else the reason."""
    if position.rules is not _WILD or after is None:
        return reason
    proved = prove_by_boards(position, "o-o-o" if long else "o-o", pretty, after)
    if isinstance(proved, str):
        return reason
    move, _, reached = proved
    reached = _reached(position, reached.board, reached.castling, -1)
    return move, ("O-O-O" if long else "O-O") + _check_mark(reached), reached


def _unnamed_castling(
    position: Position, shift: _Shift, pretty: str | None, after: str | None, reason: str
) -> _Step | str:
    """A castling that the server prints as a king's move of two steps (``K/d1-b1``, ``Kb1``), as the boards show it."""
    origin, target = shift
    for long in (False, True):
        squares = _wild_castling(position, long, True)
        if squares is None or (squares[0], squares[2]) != (origin, target):
            continue
        named = read_pretty(pretty) if pretty is not None else None
        if named is not None and not _names(named, "K", shift, None, False):
            return _MISMATCH
        if castled(position.board, *squares) == after and _may_castle(position, squares):
            return _castle(position, long, None, after)
    return reason
