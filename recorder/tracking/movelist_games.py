"""Which game a movelist belongs to: one that is followed, waits or is examined, else one of its own."""

from __future__ import annotations

from dataclasses import replace

from recorder.dialects.session import STORED_BLOCKS, answers
from recorder.events import MovelistRead
from recorder.model import Anomaly, AnomalyKind
from recorder.tracking.assemble import end_word
from recorder.tracking.deltas import find_by_list
from recorder.tracking.examined.boards import agrees, take_moves
from recorder.tracking.facts import HeaderFacts
from recorder.tracking.game_table import GameTable
from recorder.tracking.movelists import fits, learn_variant, read_list
from recorder.tracking.tracked_game import TrackedGame

__all__ = ["take_list"]

_LISTED_KEPT = 64


def take_list(held: GameTable, event: MovelistRead) -> None:
    """Join a movelist to the likeliest game that it fits; a game begins with it if it fits none."""
    if not event.headed:
        if event.rows and event.rows[0].ply > 2:
            _note(held, event, "a move table without its first moves: it is not read")
            return
        named = _named(held, event)
        if named is None:
            _note(held, event, "a move table without its header, and no line tells whose game it is: it is not read")
            return
        event = named
    for run in _candidates(held, event):
        seen, problem = read_list(event, run)
        if agrees(run, seen) if run.examined else fits(seen, run):
            run.add_list(seen)
            run.facts.add_list(event)
            learn_variant(run, seen)
            if run.examined:
                take_moves(run, seen, event)
            else:
                find_by_list(run, seen)
            break
    else:
        run = _list_run(held, event)
        seen, problem = read_list(event, None)
        run.add_list(seen)
        run.facts.add_list(event)
        learn_variant(run, seen)
        if event.complete and not event.still_running:
            run.end = end_word(event.reason_key)
            run.result, run.reason = event.result or "*", event.reason
            run.reason_key, run.termination = event.reason_key, event.termination
        if not event.headed:
            _note(held, event, "a move table without its header: only the names above its columns are known")
    if problem is not None:
        _note(held, event, problem)
    if not event.complete:
        held.anomalies.append(
            Anomaly.of(
                AnomalyKind.CUT,
                event.line.offset,
                event.game_no,
                "the movelist ends without its last line",
                event.line.text,
            )
        )


def _note(held: GameTable, event: MovelistRead, problem: str) -> None:
    held.anomalies.append(Anomaly.of(AnomalyKind.MOVELIST, event.line.offset, event.game_no, problem, event.line.text))


def _named(held: GameTable, event: MovelistRead) -> MovelistRead | None:
    """A list without a header with the names of its game, which its number or its moves tell.

    Returns:
        None where neither the table nor exactly one known game that it fits tells the names.
    """
    if event.white:
        return event
    found: list[MovelistRead] = []
    for run in held.every():
        if event.game_no is not None and run.game_no != event.game_no:
            continue
        named = replace(event, white=run.white, black=run.black)
        seen, _ = read_list(named, run)
        shown = range(run.base_ply, run.ply + 1)
        if run.examined:
            fit = agrees(run, seen)
        else:
            fit = fits(seen, run) and (event.game_no is not None or any(seen.position_at(ply) for ply in shown))
        if fit:
            found.append(named)
    names = {(named.white.lower(), named.black.lower()) for named in found}
    return found[0] if len(names) == 1 else None


def _candidates(held: GameTable, event: MovelistRead) -> list[TrackedGame]:
    """Games the list may belong to, the likeliest first."""
    running = event.game_no is not None and event.still_running  # then the number is that of the game
    numbered = held.runs.get(str(event.game_no))
    runs = [*([] if numbered is None else [numbered]), *held.listed] if running else held.every()
    runs = [run for run in runs if run.between(event.white, event.black) and not run.examined]
    runs = [run for run in runs if not _began_apart(run, event)]
    if answers(event.line.block, STORED_BLOCKS):
        # The command asked for a stored game; one that goes on is not stored.
        runs = [run for run in runs if not run.following]
    if running:
        runs = [run for run in runs if run.game_no in (event.game_no, None)]
    # An examined board may show other names than its list does.
    runs += [
        run
        for run in held.examined.values()
        if not run.suspended
        and (run.between(event.white, event.black) if event.game_no is None else run.game_no == event.game_no)
    ]
    # While a game is examined, its players' list is that of the examined game.
    return sorted(runs, key=lambda run: (not run.examined, run.game_no != event.game_no, -run.end_offset))


def _began_apart(run: TrackedGame, event: MovelistRead) -> bool:
    """Whether a game that only lists show began at another time than a game that is over: equal moves prove nothing."""
    if run.observations or not event.complete or event.still_running:
        return False
    return None not in (event.started, run.facts.date_text) and event.started != run.facts.date_text


def _list_run(held: GameTable, event: MovelistRead) -> TrackedGame:
    run = TrackedGame(event.game_no, event.white, event.black, HeaderFacts(event.line.offset), event.line.offset)
    run.session = held.session
    number = str(event.game_no)
    if event.game_no is not None and event.still_running and number not in held.runs:
        held.runs[number] = run
    else:
        held.listed.append(run)
        if len(held.listed) > _LISTED_KEPT:
            held.close(held.listed.pop(0), "log-ends")
    return run
