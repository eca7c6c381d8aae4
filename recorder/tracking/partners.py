"""The other board of a bughouse match, as far as the lines of one connection tell of it."""

from __future__ import annotations

from recorder.events import GameEnded, PartnerPlays
from recorder.rules.prove import Rules, is_checkmate
from recorder.tracking.game_table import GameTable
from recorder.tracking.tracked_game import TrackedGame

__all__ = ["told_of_partner", "who_decided"]

_NEAR_BYTES = 1024
_DECIDED = "partner-decided"
_OPPOSITE = {"1-0": "0-1", "0-1": "1-0", "1/2-1/2": "1/2-1/2"}
_ON_BOTH = frozenset(("resign", "time", "disconnect-loss"))


def told_of_partner(held: GameTable, event: PartnerPlays) -> None:
    """``Your partner is playing game 59 (C vs. D).``: it stands between the start of our own game and its board."""
    names = {event.white.lower(), event.black.lower()}
    offset = event.line.offset
    begun = [
        facts
        for facts in held.facts.values()
        if 0 <= offset - facts.offset < _NEAR_BYTES
        and facts.white is not None
        and not names & {facts.white.lower(), (facts.black or "").lower()}
    ]
    if not begun:
        own = [run for run in held.runs.values() if run.following and run.me_plays]
        begun = [run.facts for run in own if not names & {run.white.lower(), run.black.lower()}]
    if begun:
        max(begun, key=lambda facts: facts.offset).partner_game_no = event.partner_game_no


def who_decided(run: TrackedGame, event: GameEnded, ended: GameEnded | None, before: TrackedGame | None) -> str:
    """The reason's key for a game that ends, ``partner-decided`` if it was not decided on its board.

    Servers of the 1.6.2 family print the reason of the board that decided on both boards, each with its own players.
    A mate is one on the board where it stands. For everything else the order tells: whoever plays is told of the
    partner's board first if that one decided; whoever observes both is told of the deciding board last.
    Source: the end lines of two such servers, to all four players and to observers.

    Args:
        run: which ends by ``event``. ended: the end line before it, of whatever game. before: that game, if followed.
    """
    key = event.reason_key
    if run.rules is not Rules.BUGHOUSE:
        return key
    if key == "checkmate":
        mated = run.position is not None and is_checkmate(run.position)
        return key if mated else _DECIDED
    if key not in _ON_BOTH or ended is None or not _same_end(event, ended):
        return key
    if run.me_plays:
        return _DECIDED if run.facts.partner_game_no == ended.game_no else key
    if before is not None and before.rules is Rules.BUGHOUSE and not before.me_plays and before.reason_key == key:
        before.reason_key = _DECIDED
        if before.current is not None and before.current.events:
            before.current.events[-1] = before.current.events[-1]._replace(detail=_DECIDED)
    return key


def _same_end(event: GameEnded, ended: GameEnded) -> bool:
    """Whether the line before ends another game in the same way, for the other colour."""
    return (
        ended.game_no != event.game_no
        and ended.reason_key == event.reason_key
        and _OPPOSITE.get(ended.result) == event.result
        and 0 <= event.line.offset - ended.line.offset < _NEAR_BYTES
        and not {ended.white.lower(), ended.black.lower()} & {event.white.lower(), event.black.lower()}
    )
