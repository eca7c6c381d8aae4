"""Promoted pieces of a crazyhouse game that was joined in its midst, found out when they are taken.

A frame does not show that a queen was once a pawn. When such a piece is taken and the next hands show a pawn more
instead of the piece, it was one; and it was one on every board since the first that we saw, wherever it stood.
"""

from __future__ import annotations

from recorder.moves import decode_move
from recorder.tracking.captures import captured_piece
from recorder.tracking.position import Position, Rules, fen
from recorder.tracking.rules_tables import index_of
from recorder.tracking.run import Run

__all__ = ["find_promoted"]


def find_promoted(run: Run, printed: tuple[str, str]) -> bool:
    """Mark the piece that the last ply took, if the hands printed now prove that it was a promoted pawn.

    Args:
        run: in crazyhouse, its hands known and not those printed.
        printed: the hands after the last ply.
    Returns:
        Whether that explains the hands. The positions since the first board, and that board's FEN, have the mark then.
    """
    if run.start_frame is not None or not run.rows or len(run.history) < 2 or run.rules is not Rules.CRAZYHOUSE:
        return False  # a game seen from its start has no promotion that we have not seen
    before, after = (Position._make(row) for row in run.history[-2:])
    taken = captured_piece(before, after)
    if taken in (None, "P") or after.hands is None:
        return False
    mine, other = (0, 1) if before.white_to_move else (1, 0)
    expected = after.hands[mine].replace(str(taken), "", 1) + "P"
    if sorted(expected) != sorted(printed[mine]) or after.hands[other] != printed[other]:
        return False
    squares = _trace(run)
    if squares is None:
        return False
    for index, at in enumerate(squares):
        position = Position._make(run.history[index])
        run.history[index] = position._replace(promoted=position.promoted | {at})
    _mark_anchor(run)
    return True


def _trace(run: Run) -> list[int] | None:
    """Where the piece that the last ply took stood on each board before; None: it did not stand on the first one."""
    last = run.plies[-1].uci
    if last is None:
        return None
    at = index_of(last[2:4])
    squares = [at]
    count = len(run.history) - 2  # plies from the first board to the one before the capture
    for ply in reversed(run.plies[-1 - count : -1]):
        if ply.move is None:
            return None
        uci = decode_move(ply.move)
        if index_of(uci[2:4]) == at:
            if uci[1] == "@" or len(uci) > 4:
                return None  # it was dropped, or seen to be promoted
            at = index_of(uci[:2])
        squares.append(at)
    board = Position._make(run.history[0]).board
    return squares[::-1] if board[at] in "NBRQnbrq" else None


def _mark_anchor(run: Run) -> None:
    """Write the first board's FEN anew, with the mark."""
    assert run.current is not None
    first = Position._make(run.history[0])
    for place, anchor in enumerate(run.current.anchors):
        if (anchor.line, anchor.ply) == (0, run.base_ply):
            board = fen(first, 0, 1).partition(" ")[0]
            run.current.anchors[place] = anchor._replace(fen=f"{board} {anchor.fen.partition(' ')[2]}")
