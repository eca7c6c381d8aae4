"""What a move captured, as it comes into a hand."""

from __future__ import annotations

from recorder.tracking.rules_state import Position

__all__ = ["captured_piece"]


def captured_piece(before: Position, after: Position) -> str | None:
    """The piece that the side to move in ``before`` took by the move that leads to ``after``.

    Returns:
        Its upper-case letter, ``P`` for a piece that was known to be a promoted pawn; None: nothing was taken.
    """
    prey = "pnbrq" if before.white_to_move else "PNBRQ"
    for at, (was, now) in enumerate(zip(before.board, after.board, strict=True)):
        if was != now and was in prey:
            return "P" if at in before.promoted else was.upper()
    return None
