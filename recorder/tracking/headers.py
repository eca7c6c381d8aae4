"""Lines that tell of a game before its first board, and the game that each of them belongs to."""

from __future__ import annotations

from recorder.events import CreatingLine, GameCreated, GameHeader, GameInfo
from recorder.tracking.facts import HeaderFacts
from recorder.tracking.game_table import GameTable

__all__ = ["begins_another", "take_creating", "take_header", "take_info"]

_CREATING_KEPT = 64


def take_info(held: GameTable, event: GameInfo) -> None:
    """Place a ``<g1>``: it tells of the running game at its start, else of one that comes."""
    run = held.runs.get(str(event.game_no))
    if run is not None and run.following and run.ply == 0 and not run.renewed:
        run.facts.add_info(event)
        return
    # Of the game that is followed, or of the number's next one: what comes then tells (Held.settle_facts).
    facts = held.pending_facts(event.game_no, event.line.offset)
    if facts.informed:
        facts = held.facts[event.game_no] = HeaderFacts(event.line.offset)
    facts.add_info(event)


def take_creating(held: GameTable, event: CreatingLine) -> None:
    """Keep a ``Creating: …`` for the game of these two players."""
    facts = HeaderFacts(event.line.offset)
    facts.add_creating(event, event.first)
    facts.white, facts.black = event.first, event.second
    creating = held.creating
    creating[frozenset((event.first.lower(), event.second.lower()))] = facts
    if len(creating) > _CREATING_KEPT:
        del creating[next(iter(creating))]


def take_header(held: GameTable, event: GameHeader) -> None:
    """Place what an observer is told: of the running game with these players, or of the number's next game."""
    held.announced.add(str(event.game_no))
    _facts_for(held, event).add_header(event)


def begins_another(held: GameTable, event: GameCreated) -> bool:
    """Place a ``{Game N (A vs. B) Creating …}``.

    Returns:
        Whether a game begins that no board has shown yet.
    """
    run = held.runs.get(str(event.game_no))
    if run is not None and run.observations:
        if run.following and run.ply == 0 and run.between(event.white, event.black) and not event.continued:
            run.facts.add_created(event)  # the announcement of the game whose start was just shown
            return False
        run.renewed = True
    facts = held.facts[event.game_no] = HeaderFacts(event.line.offset)
    facts.add_created(event)
    return True


def _facts_for(held: GameTable, event: GameHeader) -> HeaderFacts:
    run = held.runs.get(str(event.game_no))
    if run is not None and run.following and not run.renewed and run.between(event.white, event.black):
        return run.facts
    facts = held.pending_facts(event.game_no, event.line.offset)
    if not facts.matches(event.white, event.black):
        facts = held.facts[event.game_no] = HeaderFacts(event.line.offset)
    return facts
