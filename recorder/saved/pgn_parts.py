"""A game that was written as several: our own PGN cuts a game where moves are missing, and here it is put together.

Movetext must be legal from its first position on, so each part has a FEN. All have one key, and a comment at the end of
a part says that the game goes on. What of an examined game stands beside its main line has no such comment
before it, and is read as a game of its own.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from typing import Final, NamedTuple

from recorder.model import Anchor, EventKind, Game, GameEvent, Observation, PlyLine, Segment

__all__ = ["MOVES_MISSING", "PartOf", "joined"]

MOVES_MISSING: Final = "Moves are missing here"
"""The comment at the end of a part of the main line, if it is not the last one; see ``docs/formats.md``."""


class PartOf(NamedTuple):
    """Part ``number`` of ``of`` of the game with a key. ``goes_on``: its last words say that the next part follows."""

    key: str
    number: int
    of: int
    goes_on: bool

    def continues(self, before: PartOf) -> bool:
        """Whether this part follows the one before."""
        return before.goes_on and self[:3] == (before.key, before.number + 1, before.of)


def joined(first: Game, second: Game) -> Game | None:
    """A game of which the second part goes on with the first.

    Returns:
        A game with one observation, as a log with a gap gives it; None: where the second part begins is not told.
    """
    one, other = first.observations[0], second.observations[0]
    before = one.lines[0].rows
    if second.start_fen is None or (before and second.start_ply < before[-1][0]):
        return None
    rows = [*before, *other.lines[0].rows]
    shift = len(one.lines) - 1
    lines = [PlyLine(0, one.lines[0].kind, None, None, rows), *one.lines[1:]]
    lines += [
        replace(line, number=line.number + shift, parent=line.parent + shift if line.parent else line.parent)
        for line in other.lines[1:]
    ]
    anchors = [*one.anchors, Anchor(0, second.start_ply, second.start_fen, "gap", other.offset)]
    anchors += [
        anchor._replace(line=anchor.line + shift if anchor.line else 0)
        for anchor in other.anchors
        if anchor.reason != "start"
    ]
    thinking = [*one.thinking, *other.thinking]
    seen = replace(
        one,
        end_offset=other.end_offset,
        lines=lines,
        anchors=anchors,
        events=_events(one, other, shift),
        thinking=[thought._replace(seq=seq) for seq, thought in enumerate(thinking)],
    )
    return replace(
        first,
        key=hashlib.blake2b(json.dumps([first.key, second.key]).encode(), digest_size=10).hexdigest(),
        result=second.result,
        reason=second.reason,
        reason_key=second.reason_key,
        termination=second.termination,
        end=second.end,
        complete=False,
        observations=[seen],
        segments=[Segment(rows[0][0], rows[-1][0], 0)] if rows else [],
        last_offset=other.end_offset,
    )


def _events(one: Observation, other: Observation, shift: int) -> list[GameEvent]:
    """Those of both parts, without the tags that stand in both and the words that were ours."""
    events = one.events
    if events and events[-1].text == MOVES_MISSING:
        events = events[:-1]
    more = [event for event in other.events if event.kind is not EventKind.TAG]
    more = [event._replace(value=event.value + shift if event.value else event.value) for event in more]
    return [event._replace(seq=seq) for seq, event in enumerate([*events, *more])]
