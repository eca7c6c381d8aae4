"""Do the clocks add up? One entry for each move: what the mover's clock was, what the move cost, what was left.

The rule is ``before - elapsed + increment = after``. What is left over gets a cause, and every cause but rounding names
the line of the log that tells it. FICS and its descendants give both sides their first move free and without increment;
the 1.6.2 family charges it: which one a server does is read off each game (help "style12" and the servers' sources).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import Enum
from typing import NamedTuple

from recorder.model import EventKind, Game, GameEvent, Observation, Ply, Precision

__all__ = ["Cause", "Entry", "ledger"]

_SECOND_MS = 1000


class Cause(Enum):
    """Why a clock is not what the rule gives."""

    EXACT = "exact"
    ROUNDING = "rounding"  # at most one of the unit that was printed
    FIRST_MOVE = "first-move"  # was free
    TIME_ADDED = "time-added"  # a line tells who gave how much
    ADJUSTED = "adjusted"  # two boards of one position show it; no line tells why
    TAKEBACK = "takeback"
    PAUSE = "pause"
    RESUMED = "resumed"  # adjourned, or not seen, meanwhile
    UNEXPLAINED = "unexplained"


class Entry(NamedTuple):
    """One move of the main line.

    Attributes:
        before_ms: the mover's clock after the own move before, or the base time. after_ms: after this one.
        opponent_ms: the other clock after this move.
        interval_ms: from the arrival of the board before to that of this one.
        residual_ms: ``after - (before - elapsed + increment)``; None where one of them is not known, or the game has
            no clocks.
        cause: of the residual; None with it. evidence: offset of the line that tells the cause.
    """

    ply: int
    white: bool
    before_ms: int | None
    elapsed_ms: int | None
    increment_ms: int | None
    after_ms: int | None
    opponent_ms: int | None
    lag_ms: int | None
    interval_ms: int | None
    residual_ms: int | None
    cause: Cause | None
    evidence: int | None


def ledger(game: Game) -> list[Entry]:
    """The entries of a game's main line, in its order."""
    found: dict[int, dict[tuple[int, int], Entry]] = {}
    entries: list[Entry] = []
    for segment in game.segments:
        if segment.observation not in found:
            found[segment.observation] = dict(_entries(game, game.observations[segment.observation]))
        kept = found[segment.observation]
        for ply in game.observations[segment.observation].lines[0].plies:
            if segment.from_ply <= ply.ply <= segment.to_ply:
                entries.append(kept[ply.ply, ply.offset])
    return entries


def _entries(game: Game, seen: Observation) -> Iterator[tuple[tuple[int, int], Entry]]:
    """Entries of everything that one observation saw played, taken back or not, in the order in which it was."""
    untimed = game.base_s == 0 and not game.increment_s
    last: dict[bool, Ply] = {}
    before: Ply | None = None
    for ply in sorted((ply for line in seen.lines for ply in line.plies), key=lambda ply: (ply.offset, ply.ply)):
        white = ply.white_moved
        increment_s = game.increment_s if white or game.black_increment_s is None else game.black_increment_s
        own = last.get(white)
        follows = own is not None and own.ply >= ply.ply - 2  # higher: it was taken back
        before_ms = _clock(own, white) if follows and own is not None else None
        if own is None and ply.ply <= 2:
            base_s = game.base_s if white or game.black_base_s is None else game.black_base_s
            before_ms = None if base_s is None else base_s * _SECOND_MS
        entry = Entry(
            ply=ply.ply,
            white=white,
            before_ms=before_ms,
            elapsed_ms=ply.elapsed_ms,
            increment_ms=None if increment_s is None else increment_s * _SECOND_MS,
            after_ms=_clock(ply, white),
            opponent_ms=_clock(ply, not white),
            lag_ms=ply.lag_ms,
            interval_ms=_interval_ms(before, ply),
            residual_ms=None,
            cause=None,
            evidence=None,
        )
        if not untimed:
            since = own.offset if own is not None else seen.offset
            between = [event for event in seen.events if since <= event.offset <= ply.offset]
            entry = _judged(entry, ply.precision, between, first=own is None)
        yield (ply.ply, ply.offset), entry
        last[white] = before = ply


def _clock(ply: Ply, white: bool) -> int | None:
    return ply.white_clock_ms if white else ply.black_clock_ms


def _interval_ms(before: Ply | None, ply: Ply) -> int | None:
    if before is None or before.at_ms is None or ply.at_ms is None or before.ply != ply.ply - 1:
        return None
    return ply.at_ms - before.at_ms


def _judged(entry: Entry, precision: int | None, between: list[GameEvent], *, first: bool) -> Entry:
    before, elapsed, increment, after = entry.before_ms, entry.elapsed_ms, entry.increment_ms, entry.after_ms
    if before is None or elapsed is None or increment is None or after is None:
        return entry
    unit_ms = 1 if precision == Precision.MILLISECONDS else _SECOND_MS
    residual = after - (before - elapsed + increment)
    evidence: int | None = None
    if residual == 0:
        cause = Cause.EXACT
    elif abs(residual) <= unit_ms:
        cause = Cause.ROUNDING
    elif first and abs(after - before) <= unit_ms:
        cause = Cause.FIRST_MOVE
    else:
        cause, evidence = _told(residual, unit_ms, between)
    return entry._replace(residual_ms=residual, cause=cause, evidence=evidence)


def _told(residual_ms: int, unit_ms: int, between: list[GameEvent]) -> tuple[Cause, int | None]:
    """The cause that an event between two moves of one side gives: sums that agree before words without a number."""
    added = [event for event in between if (event.kind, event.detail) == (EventKind.NOTICE, "time-added")]
    given_ms = sum(event.value or 0 for event in added) * _SECOND_MS
    if added and abs(residual_ms - given_ms) <= unit_ms:
        return Cause.TIME_ADDED, added[0].offset
    moved = [event for event in between if event.kind is EventKind.CLOCK and event.value is not None]
    if moved and any(abs(residual_ms - sum_ms) <= unit_ms for sum_ms in _sums(event.value or 0 for event in moved)):
        return Cause.ADJUSTED, moved[0].offset
    for event in between:
        if event.kind is EventKind.TAKEBACK:
            return Cause.TAKEBACK, event.offset
        if event.kind is EventKind.NOTICE and event.detail in ("paused", "resumed"):
            return Cause.PAUSE, event.offset
        if event.kind is EventKind.FEED:
            return Cause.RESUMED, event.offset
    return Cause.UNEXPLAINED, None


def _sums(values: Iterable[int]) -> set[int]:
    """Each value alone, and all of them together."""
    each = list(values)
    return {*each, sum(each)}
