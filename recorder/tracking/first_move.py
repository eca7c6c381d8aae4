"""The move that the first board of an observation shows: a ply, where the position before it is known.

Such a board prints the last move with its time, its lag and the mover's clock. The other clock is running, and the
board's arrival is that of our joining: neither belongs to the move. The position before comes from a movelist;
that of a game's first move is the start of its variant, where the move leads from there to the board.
"""

from __future__ import annotations

from recorder.events.frames import Style12
from recorder.model import Observation, Ply, Precision, Proof, StartFacts
from recorder.rules.prove import Position, Rules, Step, advance, board_from_fen, start_position
from recorder.tracking.tracked_game import ListSeen, TrackedGame

__all__ = ["first_move", "time_listed"]

_ROUNDED_MS = 1_000


def first_move(frame: Style12, rules: Rules, board: str, castling: int) -> tuple[Position, Step] | None:
    """The first move of a game that was joined when only that had been made.

    In bughouse a hand may have pieces before it. What datagrams tell has no boards of its own.

    Args:
        frame: the first board of the game, after one ply. rules: in force. board, castling: of the known start.
    Returns:
        The start position and the move from there; None if it does not lead to the board and the rights shown.
    """
    if type(frame) is not Style12 or not frame.has_move or frame.partial or rules is Rules.BUGHOUSE:
        return None
    before = start_position(board, True, castling, -1, rules, ("", "") if rules is Rules.CRAZYHOUSE else None)
    played = advance(before, frame.verbose, frame.pretty, frame.board)
    if isinstance(played, str):
        return None
    return (before, played) if rules is Rules.SUICIDE or played[2].castling == frame.castling else None


def time_listed(run: TrackedGame) -> None:
    """Give the plies of lists the times that the first boards of the run's observations print with them."""
    lag_meaningless = run.session is not None and run.session.lag_meaningless
    for observation in run.observations:
        start = observation.start
        board = None if start is None or start.ply == 0 else _board_of(observation, start.ply)
        if start is None or board is None:
            continue
        for seen in run.lists:
            _time(seen, start, board, lag_meaningless)


def _time(seen: ListSeen, start: StartFacts, board: str, lag_meaningless: bool) -> None:
    after = seen.position_at(start.ply)
    place = start.ply - seen.first_ply
    plies = seen.observation.lines[0].plies
    if place < 0 or place >= len(plies) or after is None or after.board != board:
        return
    listed = plies[place]
    if listed.ply != start.ply or listed.san.rstrip("+#") != start.pretty.rstrip("+#"):
        return
    if listed.elapsed_ms and start.elapsed_ms is not None:
        exact = listed.precision_code == start.precision_code
        if abs(listed.elapsed_ms - start.elapsed_ms) > (0 if exact else _ROUNDED_MS):
            return  # the same move, played again after a takeback
    plies[place] = _timed(listed, start, lag_meaningless)._replace(proof_code=int(Proof.FULL))


def _board_of(observation: Observation, ply: int) -> str | None:
    """The board that an observation began with; None: it did not begin there."""
    for anchor in observation.anchors:
        if anchor.line == 0 and anchor.ply == ply and anchor.reason == "start":
            try:
                return board_from_fen(anchor.fen)
            except ValueError:
                return None
    return None


def _timed(ply: Ply, start: StartFacts, lag_meaningless: bool) -> Ply:
    white = ply.ply % 2 == 1
    elapsed_ms = ply.elapsed_ms if start.elapsed_ms is None else start.elapsed_ms
    precision = start.precision_code if start.precision_code is not None else ply.precision_code
    return ply._replace(
        white_clock_ms=start.white_clock_ms if white else None,
        black_clock_ms=None if white else start.black_clock_ms,
        elapsed_ms=elapsed_ms,
        lag_ms=None if lag_meaningless else start.lag_ms,
        precision_code=None if precision is None else int(Precision(precision)),
    )
