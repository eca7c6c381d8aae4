"""Boards of a game that was followed before: after its end, or after it was left without a result."""

from __future__ import annotations

from recorder.events.frames import Style12
from recorder.model import Disposition, EventKind, GameEnd
from recorder.rules.fen import fen
from recorder.rules.position import Position
from recorder.rules.prove import advance
from recorder.rules.variants import has_pockets
from recorder.tracking.examined.nodes import could_follow
from recorder.tracking.game_table import GameTable
from recorder.tracking.plies import bridged, frame_position, start_facts, try_rules
from recorder.tracking.tracked_game import TrackedGame


def after_end(table: GameTable, run: TrackedGame, frame: Style12, announced: bool) -> None:
    """A board of a game that is over: the last one again, a late one, or the number's next game."""
    ply = frame.ply
    if (
        ply == run.ply
        and (run.position is None or frame.board == run.position.board)
        and not run.renewed
        and frame.has_move
        and not (announced and run.end is GameEnd.ADJOURNED)
    ):
        table.count(Disposition.SAME)
        run.join_deltas()
        run.last = frame
        return
    # A late board of the last move; a resumed game is another part.
    if ply == run.ply + 1 and frame.has_move and run.end is GameEnd.RESULT and not announced and not run.renewed:
        played = try_rules(run, frame)
        if played is not None:
            table.append(run, frame, ply, played, Disposition.PLY)
            return
    table.replace(run, frame)


def observed_again(table: GameTable, run: TrackedGame, frame: Style12) -> None:
    """A board of a game that was left without a result: the same game, if the board allows it."""
    ply = frame.ply
    # The number may belong to another game by now. A start position, or a board that cannot be a later one of this
    # game, begins one; if that is wrong, the two observations are merged later by their times.
    if run.renewed or (not frame.has_move and run.ply > 0) or not _plausible(run, frame):
        table.replace(run, frame)
        return
    if run.position is None:
        table.start(run, frame)
        return
    if ply < run.ply:
        shown = run.position_at(ply)
        if shown is not None and shown.board == frame.board:
            run.take_back(ply, frame)
        elif shown is None and ply < run.base_ply:
            # Taken back while unobserved to before the first board seen.
            run.take_back(ply, frame)
            run.gapped = True
            _observe_board(table, run, frame, ply)
            return
    if ply <= run.ply and (ply < run.ply or frame.board != run.position.board):
        # Taken back out of sight and played on: the last move must join a position that we have seen.
        before = run.position_at(ply - 1)
        changed = advance(before, frame.verbose, frame.pretty, frame.board) if before and frame.has_move else ""
        if before is None or isinstance(changed, str):
            table.replace(run, frame)
            return
        run.take_back(ply - 1, frame)
        _observe_from(table, run, frame, before, ply - 1)
        table.append(run, frame, ply, changed, Disposition.PLY)
        return
    if ply == run.ply:
        _observe_from(table, run, frame, run.position, ply)
        table.count(Disposition.JOINED)
        return
    # The game went on: by one ply, by two or three of which the others follow, or by an unknown way.
    last_position, last_ply = run.position, run.ply
    played = try_rules(run, frame) if ply == last_ply + 1 and frame.has_move else None
    if played is not None:
        _observe_from(table, run, frame, last_position, last_ply)
        table.append(run, frame, ply, played, Disposition.PLY)
        return
    filled = bridged(last_position, frame, ply - last_ply - 1)
    if filled is not None:
        _observe_from(table, run, frame, last_position, last_ply)
        table.fill(run, frame, filled)
        return
    run.gapped = True
    _observe_board(table, run, frame, last_ply)


def _observe_board(table: GameTable, run: TrackedGame, frame: Style12, last_ply: int) -> None:
    """Begin another observation on a board that no ply leads to; the game was seen up to ``last_ply``."""
    assert run.position is not None
    ply = frame.ply
    position = frame_position(frame, run.position.rules)
    text = fen(position, frame.irreversible, frame.move_no)
    run.observe(frame, position, ply, start_facts(frame), text)
    if ply > last_ply:
        run.event(EventKind.GAP, "not observed", frame, value=ply - last_ply)
    table.clock_start(run, frame)
    table.count(Disposition.JOINED)


def _observe_from(table: GameTable, run: TrackedGame, frame: Style12, position: Position, ply: int) -> None:
    """Begin another observation on a position that is known."""
    run.join_deltas()
    previous = run.plies[-1].irreversible if run.plies else None
    text = fen(position, previous or 0, ply // 2 + 1)
    run.observe(frame, position, ply, start_facts(frame), text)
    run.event(EventKind.FEED, "observed again", frame)
    table.clock_start(run, frame)


def _plausible(run: TrackedGame, frame: Style12) -> bool:
    """Whether a board can be a later one of the run.

    The times are the same, and in games without drops no piece comes, no pawn returns to its first rank, no castling
    right comes back, and no more squares change than that many plies can.
    """
    first = run.observations[0]
    last = run.last
    if last is None or first.start is None:
        return True
    if (frame.base_min, frame.increment_s) != (last.base_min, last.increment_s):
        return False
    if run.position is None or has_pockets(run.position.rules) or frame.ply < run.ply:
        return True
    return not frame.castling & ~last.castling and could_follow(run.position, frame.board, frame.ply - run.ply)
