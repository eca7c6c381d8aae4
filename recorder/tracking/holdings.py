"""Pieces in hand from ``<b1>`` lines, and promoted pieces of crazyhouse games joined late.

A frame does not show that a queen was once a pawn. When such a piece is taken and the next holdings show a pawn more
instead of the piece, it was one; and it was one on every board since the first that we saw, wherever it stood.
"""

from __future__ import annotations

from collections import Counter
from functools import lru_cache

from recorder.events import HoldingsLine
from recorder.model import Anchor, Disposition, Observation, Ply, Proof
from recorder.rules.boards import captured_piece
from recorder.rules.fen import fen
from recorder.rules.position import Position, Rules, decode_move
from recorder.rules.prove import with_holdings
from recorder.rules.tables import index_of
from recorder.tracking.tracked_game import TrackedGame

_ORDER = "PNBRQK"
_FEN_ORDER = "QRBNP"
_CUT_PIECES = 16  # the fewest pieces in a full line: ``<b1> game 999 white [] black []`` has 29 of 50 bytes


def take_holdings(run: TrackedGame | None, event: HoldingsLine) -> tuple[Disposition, str | None]:
    """A sentence if the printed holdings contradict the captures and drops seen."""
    if run is None or run.position is None:
        return Disposition.FOREIGN, None
    white, black = _sorted(event.white), _sorted(event.black)
    passed = event.passed is not None
    first = [] if run.current is None else run.current.holdings[:1]
    if set(white + black).union(*(holdings.white + holdings.black for holdings in first)) <= set(_ORDER):
        _infer_variant(run)
    elif run.variant is None:
        run.variant, run.variant_inferred = "unknown", True
    _settle_doubt(run)
    rules, reckoned = run.position.rules, run.position.holdings
    problem = None
    # A pass line is provisional in crazyhouse: the capture that earned the piece has not been shown yet.
    provisional = passed and rules is Rules.CRAZYHOUSE
    if run.following and not provisional and (rules is Rules.CRAZYHOUSE or rules is Rules.BUGHOUSE):
        printed = _whole(event, reckoned, white, black)
        if reckoned != printed:
            if rules is Rules.CRAZYHOUSE and reckoned is not None and not find_promoted(run, printed):
                problem = _contradiction(run, reckoned, printed)
            if reckoned is not None:
                white_hand, black_hand = map(_either, reckoned, printed)
                run.hands = run.ply, white_hand, black_hand
            run.set_position(with_holdings(run.position, *printed))
        if reckoned is None:
            _complete_anchor(run, white, black)
    run.note_holdings(event, white, black)
    return (Disposition.PASS if passed else Disposition.HOLDINGS), problem


def _whole(event: HoldingsLine, reckoned: tuple[str, str] | None, white: str, black: str) -> tuple[str, str]:
    """Completed from the known ones (``reckoned``) if the line was cut: the 1.6.2 family builds it in 50 bytes."""
    if reckoned is None or len(white) + len(black) < _CUT_PIECES:
        return white, black
    also = event.passed or ""
    expected = (
        _sorted(reckoned[0] + (also if event.passed_to_white else "")),
        _sorted(reckoned[1] + ("" if event.passed_to_white else also)),
    )
    return expected if expected[0] == white and expected[1].startswith(black) else (white, black)


def _contradiction(run: TrackedGame, reckoned: tuple[str, str], printed: tuple[str, str]) -> str | None:
    if run.variant_inferred:
        # A capture that was inferred from the next board may have been counted by the hand that came before it, too.
        if sum(map(len, printed)) < sum(map(len, reckoned)):
            run.doubted_ply = None  # a capture whose board is missing was taken back
        elif run.doubted_ply is None and all(row.proof_code == Proof.FULL for row in run.rows[-2:]):
            run.doubted_ply = run.ply
        return None
    return f"hands are [{printed[0]}] [{printed[1]}], the captures and drops seen give [{reckoned[0]}] [{reckoned[1]}]"


def _settle_doubt(run: TrackedGame) -> None:
    """Holdings that grow without a capture show that it is bughouse, unless the board of the capture is missing."""
    doubted = run.doubted_ply
    if doubted is None or run.ply <= doubted:
        return
    run.doubted_ply = None
    last = next((row for row in reversed(run.rows) if row.ply <= doubted + 1), None)
    if last is not None and last.ply == doubted + 1 and last.proof_code == Proof.FULL:
        run.variant = "bughouse"
        run.set_rules(Rules.BUGHOUSE)


def _infer_variant(run: TrackedGame) -> None:
    """A hand in a game believed to be chess: crazyhouse until a hand contradicts the captures, then bughouse.

    Other variants have pieces in hand too: in seirawan those that wait for their first move.
    """
    stated = run.rules_stated and run.variant != "chess"
    if stated or run.rules is Rules.CRAZYHOUSE or run.rules is Rules.BUGHOUSE:
        return
    run.variant, run.variant_inferred = "crazyhouse", True
    run.set_rules(Rules.CRAZYHOUSE)
    if run.start_frame is not None and not run.rows and run.position is not None:
        run.set_position(with_holdings(run.position, "", ""))


def _complete_anchor(run: TrackedGame, white: str, black: str) -> None:
    """The holdings at the first known board: those printed now, with the captures and drops since undone."""
    assert run.current is not None
    assert run.position is not None
    anchors = run.current.anchors
    anchor_no = next((at for at, anchor in enumerate(anchors) if (anchor.line, anchor.ply) == (0, run.base_ply)), None)
    if anchor_no is None or "[" in anchors[anchor_no].fen:
        return
    holdings = (Counter(white), Counter(black))
    positions = [run.position]
    for ply in [played for played in reversed(run.rows) if played.ply > run.base_ply]:
        index = ply.ply - run.base_ply
        before, after = run.history[index - 1], run.history[index]
        if run.position.rules is not Rules.CRAZYHOUSE or not _undo(ply, before, after, holdings, run.current):
            return
        position = before._replace(rules=run.position.rules)
        positions.append(with_holdings(position, *("".join(hand.elements()) for hand in holdings)))
    run.history[:] = reversed(positions)
    anchors[anchor_no] = _anchor_with_holdings(anchors[anchor_no], run.history[0])


def _undo(
    ply: Ply, before: Position, after: Position, holdings: tuple[Counter[str], Counter[str]], seen: Observation
) -> bool:
    """False if its effect is unknown or impossible."""
    if ply.move is None:
        return False
    hand, colour = (holdings[0], "W") if ply.white_moved else (holdings[1], "B")
    uci = decode_move(ply.move)
    if uci[1] == "@":
        hand[uci[0]] += 1
        return True
    prey = "pnbrq" if ply.white_moved else "PNBRQ"
    taken = next((letter.upper() for letter in prey if before.board.count(letter) > after.board.count(letter)), None)
    if taken is None:
        return True
    passes = [change.passed for change in seen.holdings if change.passed is not None and change.ply == ply.ply - 1]
    passed_pieces = [passed[1] for passed in passes if passed[0] == colour]
    # A piece that was a promoted pawn is received as a pawn: only the line of the pass shows it.
    ways = [letter for letter in passed_pieces or {taken, "P"} if hand[letter] > 0]
    if len(ways) != 1:
        return False
    hand[ways[0]] -= 1
    return True


def _anchor_with_holdings(anchor: Anchor, position: Position) -> Anchor:
    assert position.holdings is not None
    board, _, rest = anchor.fen.partition(" ")
    white, black = ("".join(sorted(hand, key=_FEN_ORDER.find)) for hand in position.holdings)
    return anchor._replace(fen=f"{board}[{white}{black.lower()}] {rest}")


def _either(one: str, other: str) -> str:
    return "".join((Counter(one) | Counter(other)).elements())


@lru_cache(maxsize=4096)
def _sorted(letters: str) -> str:
    return "".join(sorted(letters.upper(), key=_ORDER.find))


def find_promoted(run: TrackedGame, printed: tuple[str, str]) -> bool:
    """Whether the last ply took a promoted pawn, by the holdings printed now; earlier boards get the mark."""
    seen_whole = run.start_frame is not None and not run.gapped
    if seen_whole or not run.rows or len(run.history) < 2 or run.rules is not Rules.CRAZYHOUSE:
        return False  # a game seen from its start has no promotion that we have not seen
    before, after = run.history[-2:]
    taken = captured_piece(before, after)
    if taken in (None, "P") or after.holdings is None:
        return False
    mine, other = (0, 1) if before.white_to_move else (1, 0)
    expected = after.holdings[mine].replace(str(taken), "", 1) + "P"
    if sorted(expected) != sorted(printed[mine]) or after.holdings[other] != printed[other]:
        return False
    squares = _trace(run)
    if squares is None:
        return False
    for index, square in enumerate(squares):
        position = run.history[index]
        run.history[index] = position._replace(promoted=position.promoted | {square})
    _mark_anchor(run)
    return True


def _trace(run: TrackedGame) -> list[int] | None:
    """The square on each earlier board of the piece that the last ply took; None: it is not on the first one."""
    last = run.rows[-1].uci
    if last is None:
        return None
    square = index_of(last[2:4])
    squares = [square]
    count = len(run.history) - 2  # plies from the first board to the one before the capture
    for ply in reversed(run.rows[-1 - count : -1]):
        if ply.move is None:
            return None
        uci = decode_move(ply.move)
        if index_of(uci[2:4]) == square:
            if uci[1] == "@" or len(uci) > 4:
                return None  # it was dropped, or seen to be promoted
            square = index_of(uci[:2])
        squares.append(square)
    board = run.history[0].board
    return squares[::-1] if board[square] in "NBRQnbrq" else None


def _mark_anchor(run: TrackedGame) -> None:
    assert run.current is not None
    first = run.history[0]
    for index, anchor in enumerate(run.current.anchors):
        if (anchor.line, anchor.ply) == (0, run.base_ply):
            board = fen(first, 0, 1).partition(" ")[0]
            run.current.anchors[index] = anchor._replace(fen=f"{board} {anchor.fen.partition(' ')[2]}")
