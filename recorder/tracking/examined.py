"""Boards of examined games (relation 2 and -2).

Such a board never extends a played game. It may go anywhere: forward, back, into a variation, or to a position that
somebody sets up; so a board that does not follow is no conflict here, the game simply stands on it.
"""

from __future__ import annotations

from recorder.frames import Style12
from recorder.model import Disposition, EventKind, Proof
from recorder.tracking.facts import Facts
from recorder.tracking.held import Held
from recorder.tracking.lists import frame_position
from recorder.tracking.plies import ply_from_frame, start_facts
from recorder.tracking.position import Rules, advance, fen
from recorder.tracking.run import Run
from recorder.tracking.session import Session
from recorder.tracking.variants import STANDARD_BOARD, variant_of

__all__ = ["follow_examined"]


def follow_examined(held: Held, frame: Style12) -> Disposition:
    """Place a board of an examined game.

    Returns:
        SETUP for boards of the set-up mode, EXAMINED for all others.
    """
    number = frame.tail[7]
    setting_up = held.setup_mode
    disposition = Disposition.SETUP if setting_up else Disposition.EXAMINED
    if len(frame.board) != len(STANDARD_BOARD):
        return disposition
    run = held.examined.get(number)
    if run is None:
        held.examined[number] = _begin(frame, held.facts.pop(frame.game_no, None), held.session)
        return disposition
    if (run.white_token, run.black_token) != (frame.tail[8], frame.tail[9]):
        run.event(EventKind.NAMES, "names", frame, text=f"{frame.white} {frame.black}")
        run.white, run.black = frame.white, frame.black
        run.white_token, run.black_token = frame.tail[8], frame.tail[9]
    assert run.position is not None
    ply = frame.ply
    played = None
    if ply == run.ply + 1 and frame.has_move and not frame.partial:
        played = advance(run.position, frame.verbose, frame.pretty, frame.board)
    if isinstance(played, tuple):
        move, san, after = played
        run.rows.append(ply_from_frame(frame, ply, move, san, after, Proof.FULL, held.lag_meaningless))
        run.place, run.ply = after, ply
        run.history.append(after)
    elif ply < run.ply and (known := run.position_at(ply)) is not None and known.board == frame.board:
        run.take_back(ply, frame)
    elif ply != run.ply or frame.board != run.position.board:
        run.setup = run.setup or setting_up or not frame.has_move
        if ply <= run.ply:
            run.take_back(min(ply, run.ply), frame)
        run.gapped = True
        position = frame_position(frame, run.position.rules)
        run.reset_to(position, ply, "examined", fen(position, frame.irreversible, frame.move_no), frame.offset)
    run.last = frame
    return disposition


def _begin(frame: Style12, told: Facts | None, session: Session) -> Run:
    facts = told if told is not None and told.matches(frame.white, frame.black) else Facts(frame.offset)
    run = Run(frame.game_no, frame.white, frame.black, facts, frame.offset)
    run.examined = True
    run.session = session
    variant, rules = variant_of(facts.category)
    run.variant, run.rules_told = variant, rules is not None
    position = frame_position(frame, rules or Rules.CHESS, None)
    normal = frame.ply == 0 and frame.board == STANDARD_BOARD
    text = None if normal else fen(position, frame.irreversible, frame.move_no)
    run.white_token, run.black_token = frame.tail[8], frame.tail[9]
    run.observe(frame, position, frame.ply, start_facts(frame), text)
    return run
