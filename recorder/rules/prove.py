"""Proofs of moves: from one board to the next, by the rules.

The problem. A frame has the board after a move, and the move in two notations::

    <12> rnbqkbnr pppp-ppp -------- ----p--- ----P--- -----N-- PPPP-PPP RNBQKB-R B … N/g1-f3 (0:00.550) Nf3 …
         └────────────────────────── after ──────────────────────────────────┘   └─lan─┘            └pretty

A line may be cut or garbled, a server may have a bug, a frame may have been lost, and the variant may not be what we
think. If we believed any one of the three, one bad byte would become a wrong move, and every later position would be
wrong as well. Together they check each other, and the board before, which the last proof gave, checks all three.

``advance(position, lan, pretty, after)`` proves a move if

1. the piece is on the square, its way is free, and it moves like that (``read_shift`` decodes the verbose text; what
   depends on the text alone is decoded once in the process, and what depends on the geometry is in tables);
2. playing it on the board before gives the board of the frame, all 64 squares;
3. the mover's king is not in check afterwards;
4. the pretty text names the same move: equal to our SAN, or read leniently and about the same piece and squares, since
   servers disambiguate more or less than the standard.

The answer is a ``Step``: the move as an integer, the canonical SAN, the next position; or a text with the reason.
After the first board, castling rights and the en passant file come from the moves, not from the frame, whose flags
some servers leave set after the rook is gone.

What is cheap is asked first: comparing two texts of 71 letters costs less than any question about chess. Only a king's
move, an answer to a check and an en passant capture (which opens two squares) need a search for attackers. All other
moves can only uncover a check along the one line from the king through the square that the piece left: ``pins`` has,
for each square of the king, this line and the pieces that would give check on it. ``discoveries`` is the same for the
other king, for the ``+`` in SAN.

What must never happen: an exception, whatever the texts are; and a move that is accepted because a text says so.
``after=None`` (a move list, a datagram) skips check 2: such plies are worth less (``Proof.LIST``). Without ``pretty``
(a cut line) check 4 is missing, and the caller marks the ply as unproved.

In crazyhouse and bughouse a position includes the pieces in hand and which pieces were pawns. In bughouse the pieces
come from the other board, so ``#`` cannot be proved by this board alone.

Rules that are ``apart`` have modules of their own: variants with other kings or captures (``variant_moves.py``),
unknown variants, in which only the boards count (``boards.py``), and boards of other sizes, on which nothing can be
proved.
"""

from __future__ import annotations

from typing import Final, cast

from recorder.rules.boards import play_by_boards, prove_by_boards
from recorder.rules.legality import (
    attacked,
    can_castle,
    castled,
    castling_squares,
    moved,
    rights_left,
)
from recorder.rules.legality import has_legal_move as _has_legal_move
from recorder.rules.notation import (
    DOUBLE,
    KING,
    OFFICER,
    PUSH,
    Castle,
    Drop,
    NeedsPromotion,
    Pretty,
    Shift,
    known_shifts,
    read_pretty,
    read_shift,
    split_verbose,
)
from recorder.rules.position import Position, PositionRow, Rules, encode_move, make_position
from recorder.rules.tables import ATTACKS, NAMES, PAWN_ATTACKERS, square_of
from recorder.rules.variant_moves import has_legal_move as _has_legal_move_apart
from recorder.rules.variant_moves import play_by_rules, prove_by_rules

#: A proved move: ``encode_move``'s integer, the canonical SAN, the position after it.
Step = tuple[int, str, Position]

_CHESS: Final = Rules.CHESS
_CHESS960: Final = Rules.CHESS960
_FRAMES: Final = Rules.FRAMES
_CRAZYHOUSE: Final = Rules.CRAZYHOUSE
_BUGHOUSE: Final = Rules.BUGHOUSE
_BOARDS: Final = Rules.BOARDS
_WHITE_SHIFTS: Final = known_shifts(True)
_BLACK_SHIFTS: Final = known_shifts(False)
_ORDER: Final = "PNBRQ"
NO_RULES: Final = "the rules for this board are not known"
_MISMATCH: Final = "pretty move names another move"


# Not divided further: it runs for every board of a log, and a move takes 2 % more time when it is divided.
def advance(position: Position, lan: str, pretty: str | None, after: str | None) -> Step | str:  # noqa: C901
    """Prove one move, or say why it is no such move; no text raises an error.

    ``lan`` is the verbose field (``P/e2-e4``, ``o-o``, ``P/@@-e4``, ``P/e7-e8=Q`` or ``P/e7-e8``), ``pretty`` the
    pretty one, None if there is none to compare, and ``after`` the next frame's board, None to accept what the move
    gives.

    A step is the move as ``encode_move``'s integer (standard castling ``e1g1``; chess960: king takes rook; a king on d:
    ``d1b1``, ``d1f1``), the canonical SAN with ``+`` or ``#``, and the next position. With ``Rules.BOARDS`` the SAN is
    the pretty move as printed. In bughouse, and while holdings are unknown, ``#`` is kept only if it was printed and no
    known move answers the check, since a piece could still be passed.
    """
    board, white, castling, push_col, in_check, rules, holdings, promoted, rook_cols, white_king, black_king = cast(
        PositionRow, position
    )
    if rules is not _CHESS and rules.apart:
        if rules is _FRAMES:
            return NO_RULES
        apart = prove_by_boards if rules is _BOARDS else prove_by_rules
        return apart(position, lan, pretty, after)
    shift = (_WHITE_SHIFTS if white else _BLACK_SHIFTS).get(lan)
    if shift is None:
        decoded = read_shift(lan, white)
        if isinstance(decoded, str):
            return decoded
        if isinstance(decoded, Castle):
            return _castle(position, decoded.long, pretty, after)
        if isinstance(decoded, Drop):
            return _drop(position, decoded.letter, decoded.to, pretty, after)
        if isinstance(decoded, NeedsPromotion):
            letter = _promotion_letter(lan, pretty, after)
            if letter is None:
                return "the promotion piece is not named"
            return advance(position, f"{lan}={letter}", pretty, after)
        shift = decoded
    (
        piece, origin, target, path, kind, low, first, high, second,
        move, san, capture_san, keep, attacks, pins, discoveries,
    ) = shift  # fmt: skip
    # From here on the move is a piece that goes from ``origin`` to ``target``; ``result`` is the board after it.
    if board[origin] != piece:
        return "illegal: no such piece on that square"
    if path is not None and board[path].strip("-"):
        return "illegal: the path is not empty"
    taken = board[target]
    result = f"{board[:low]}{first}{board[low + 1 : high]}{second}{board[high + 1 :]}"
    push, en_passant = -1, False
    if taken != "-":
        if taken not in ("pnbrq" if white else "PNBRQ"):
            return "illegal: the target square cannot be taken"
        if PUSH <= kind <= DOUBLE:
            return "illegal: a pawn does not take straight ahead"
        san = capture_san
    elif kind > PUSH:
        if kind == DOUBLE:
            push = origin % 9
        else:
            if push_col != target % 9 or target // 9 != (2 if white else 5):
                return "illegal: nothing to take there"
            en_passant, san = True, capture_san
            victim = target + 9 if white else target - 9
            result = f"{result[:victim]}-{result[victim + 1 :]}"
    # The proof by the frame: 64 squares and 7 blanks must be equal.
    if after is None:
        after = result
    elif result != after:
        return "boards differ"

    # The own king must not be in check now. A piece that was not in check and is no king can only uncover one.
    if white:
        own_king, other_king = white_king, black_king
    else:
        own_king, other_king = black_king, white_king
    if kind == KING:
        own_king = target
        if white:
            white_king = target
        else:
            black_king = target
        if attacked(after, own_king, not white):
            return "illegal: king left in check"
    elif in_check or en_passant:
        if attacked(after, own_king, not white):
            return "illegal: king left in check"
    else:
        pin = pins[own_king]
        if pin is not None:
            seen = after[pin[0]].lstrip("-")
            if seen and seen[0] in pin[1]:
                return "illegal: king left in check"

    # SAN needs a mark if another such piece could have come here; most pieces have no rival at all.
    if kind == OFFICER:
        rival = board.find(piece)
        if rival == origin:
            rival = board.rfind(piece)
        if rival != origin and (attacks[rival] is not None or board.count(piece) > 2):
            mark = _disambiguation(board, piece, origin, target, own_king, attacks)
            if mark:
                san = f"{san[0]}{mark}{san[1:]}"
    # Check by the piece itself, else uncovered by it, else (en passant) through one of the two squares left empty.
    line = attacks[other_king]
    check = line is not None and not after[line].strip("-")
    if not check:
        pin = discoveries[other_king]
        if pin is not None:
            seen = after[pin[0]].lstrip("-")
            check = bool(seen) and seen[0] in pin[1]
        if en_passant and not check:
            check = attacked(after, other_king, white)
    if rules is _CHESS:
        castling &= keep
    else:
        castling = castling and _rights_960(after, castling, rook_cols, kind, white)
    # A captured piece goes into the hand (in bughouse the partner's); one that was promoted goes as a pawn.
    if rules is _CRAZYHOUSE or rules is _BUGHOUSE:
        prey = "P" if en_passant or target in promoted else taken.upper()
        if promoted or move >> 12:
            stays = move >> 12 or origin in promoted
            promoted = (promoted - {origin, target}) | ({target} if stays else set())
        if holdings is not None and prey != "-" and rules is _CRAZYHOUSE:
            holdings = _with_hand(holdings, white, holdings[not white] + prey)
    reached = make_position(
        (after, not white, castling, push, check, rules, holdings, promoted, rook_cols, white_king, black_king)
    )
    if check:
        san += _check_mark(reached, pretty)
    if pretty is not None and pretty != san and not _same_move(pretty, san, shift, taken != "-" or en_passant):
        return _MISMATCH
    return move, san, reached


def _promotion_letter(lan: str, pretty: str | None, after: str | None) -> str | None:
    """Of a verbose text that does not name it; None: nothing names it."""
    named = read_pretty(pretty) if pretty is not None else None
    letter = None if named is None else named.promotion
    parts = split_verbose(lan)
    if pretty is None and after is not None and len(after) == 71 and parts is not None:
        letter = after[parts[2]].upper()  # the frame was cut: the board shows the piece
    return letter if letter is not None and letter in "QRBN" else None


def _rights_960(after: str, castling: int, rook_cols: tuple[int, int, int, int], kind: int, white: bool) -> int:
    if kind == KING:
        castling &= 12 if white else 3
    return rights_left(after, castling, rook_cols)


def _disambiguation(
    board: str, piece: str, origin: int, target: int, king: int, attacks: tuple[slice | None, ...]
) -> str:
    """The shortest mark that distinguishes the move from other legal moves of such a piece to that square."""
    rivals = []
    at = board.find(piece)
    while at >= 0:
        path = attacks[at]
        if path is not None and at != origin and not board[path].strip("-"):
            rivals.append(at)
        at = board.find(piece, at + 1)
    if not rivals:
        return ""
    by_white = piece.islower()
    rivals = [at for at in rivals if not attacked(moved(board, at, target, piece), king, by_white)]
    if not rivals:
        return ""
    name = NAMES[origin]
    if all(at % 9 != origin % 9 for at in rivals):
        return name[0]
    if all(at // 9 != origin // 9 for at in rivals):
        return name[1]
    return name


def _with_hand(holdings: tuple[str, str], white: bool, hand: str) -> tuple[str, str]:
    ordered = "".join(sorted(hand, key=_ORDER.find))
    return (ordered, holdings[1]) if white else (holdings[0], ordered)


def _check_mark(reached: Position, pretty: str | None) -> str:
    if reached.rules is _BUGHOUSE or (reached.rules is _CRAZYHOUSE and reached.holdings is None):
        return "#" if pretty is not None and pretty.endswith("#") and not _has_legal_move(reached) else "+"
    return "+" if _has_legal_move(reached) else "#"


def _same_move(pretty: str, san: str, shift: Shift, capture: bool) -> bool:
    if pretty.rstrip("+#!?") == san.rstrip("+#"):
        return True
    named = read_pretty(pretty)
    if named is None or named.drop or named.castle or named.capture != capture:
        return False
    piece, origin, target, move = shift[0], shift[1], shift[2], shift[9]
    return (
        named.letter == piece.upper()
        and named.to == target
        and named.promotion == (".NBRQ"[move >> 12] if move >> 12 else None)
        and named.file in (None, origin % 9)
        and named.row in (None, origin // 9)
    )


def _castle(position: Position, long: bool, pretty: str | None, after: str | None) -> Step | str:
    if not can_castle(position, long):
        return "illegal: castling is not allowed"
    squares = castling_squares(position, long)
    assert squares is not None
    _, king, rook, king_to, rook_to = squares
    white, rules = position.white_to_move, position.rules
    result = castled(position.board, king, rook, king_to, rook_to)
    if after is not None and result != after:
        return "boards differ"
    kings = (king_to, position.black_king) if white else (position.white_king, king_to)
    check = attacked(result, kings[white], white)
    castling = position.castling & (12 if white else 3)
    reached = position._replace(
        board=result,
        white_to_move=not white,
        castling=castling,
        push_col=-1,
        in_check=check,
        white_king=kings[0],
        black_king=kings[1],
    )
    if position.promoted:
        reached = reached._replace(promoted=frozenset(at for at in position.promoted if at not in (king, rook)))
    steps = rules is not _CHESS960 and abs(king - king_to) == 2 and rook % 9 in (0, 7)
    move = square_of(king) | square_of(king_to if steps else rook) << 6
    named = read_pretty(pretty) if pretty is not None else None
    if pretty is not None and (named is None or named.castle != 1 + long):
        return _MISMATCH
    san = "O-O-O" if long else "O-O"
    return move, san + (_check_mark(reached, pretty) if check else ""), reached


def _drop(position: Position, letter: str, to: int, pretty: str | None, after: str | None) -> Step | str:
    board, white, rules, holdings = position.board, position.white_to_move, position.rules, position.holdings
    if rules is not _CRAZYHOUSE and rules is not _BUGHOUSE:
        return "illegal: no drops in this variant"
    if board[to] != "-":
        return "illegal: drop on an occupied square"
    if letter == "P" and to // 9 in (0, 7):
        return "illegal: pawn dropped on the first or last rank"
    if holdings is not None:
        hand = holdings[not white]
        if letter not in hand:
            return "illegal: piece not in hand"
        holdings = _with_hand(holdings, white, hand.replace(letter, "", 1))
    placed = letter if white else letter.lower()
    result = f"{board[:to]}{placed}{board[to + 1 :]}"
    if after is not None and result != after:
        return "boards differ"
    kings = (position.white_king, position.black_king)
    if position.in_check and attacked(result, kings[not white], not white):
        return "illegal: king left in check"
    line = ATTACKS[placed][to][kings[white]]
    check = line is not None and not result[line].strip("-")
    reached = position._replace(
        board=result,
        white_to_move=not white,
        push_col=-1,
        in_check=check,
        holdings=holdings,
    )
    name = NAMES[to]
    if pretty is not None:
        named = read_pretty(pretty)
        if named is None or not named.drop or named.letter != letter or named.to != to:
            return _MISMATCH
    san = f"{letter}@{name}{_check_mark(reached, pretty) if check else ''}"
    return encode_move(f"{letter}@{name}"), san, reached


def play_san(position: Position, san: str) -> Step | str:
    """Read leniently; exactly one legal move must fit, else the reason is returned."""
    named = read_pretty(san)
    if named is None:
        return "unreadable move"
    if position.rules is _FRAMES:
        return NO_RULES
    if position.rules.apart:
        return (play_by_boards if position.rules is _BOARDS else play_by_rules)(position, named, san)
    if named.castle:
        return advance(position, "o-o-o" if named.castle == 2 else "o-o", san, None)
    if named.drop:
        return advance(position, f"{named.letter}/@@-{NAMES[named.to]}", san, None)
    found: Step | None = None
    reason = "illegal: no piece can make this move"
    letter, _, _, _, to, promotion, _, _ = named
    target = f"{NAMES[to]}={promotion}" if promotion else NAMES[to]
    for origin in _origins(position, named):
        played = advance(position, f"{letter}/{NAMES[origin]}-{target}", san, None)
        if isinstance(played, str):
            reason = played
        elif found is not None:
            return "ambiguous move"
        else:
            found = played
    return reason if found is None else found


def _origins(position: Position, named: Pretty) -> list[int]:
    """Squares from which the named piece may come, ignoring the king's safety, and the blocker of a pawn."""
    board, white = position.board, position.white_to_move
    letter, file, rank, capture, to, _, _, _ = named
    piece = letter if white else letter.lower()
    if letter == "P":
        step = 9 if white else -9
        candidates = PAWN_ATTACKERS[white][to] if capture else (to + step, to + 2 * step)
        origins = [at for at in candidates if 0 <= at < 71 and board[at] == piece]
    else:
        row = ATTACKS[piece][to]
        origins = []
        at = board.find(piece)
        while at >= 0:
            path = row[at]
            if path is not None and not board[path].strip("-"):
                origins.append(at)
            at = board.find(piece, at + 1)
    if file is None and rank is None:
        return origins
    return [at for at in origins if file in (None, at % 9) and rank in (None, at // 9)]


def with_holdings(position: Position, white: str, black: str) -> Position:
    ordered = ("".join(sorted(hand.upper(), key=_ORDER.find)) for hand in (white, black))
    return position._replace(holdings=(next(ordered), next(ordered)))


def has_legal_move(position: Position, any_drop: bool = False) -> bool:
    """False only if it is proved; ``any_drop``: every piece is in hand (a bughouse partner may pass one)."""
    if position.rules.apart:
        return position.rules in (_BOARDS, _FRAMES) or _has_legal_move_apart(position)
    return _has_legal_move(position, any_drop)


def is_checkmate(position: Position) -> bool:
    """Whatever a partner or an unknown hand may hold: no possible drop may prevent it."""
    unknown = position.rules is _BUGHOUSE or (position.rules is _CRAZYHOUSE and position.holdings is None)
    return position.in_check and not has_legal_move(position, any_drop=unknown)
