"""Do the clocks add up? One entry for each move: what the mover's clock was, what the move cost, what was left.

The problem. A server prints, with each move, what the move took and what both clocks show. The mover's clock should be
*before - elapsed + increment*; the difference from what is printed is the *residual*. Here White moves after 0.550 s
with an increment of 2 s::

    <12> … 180000 180000 2 P/e7-e5 (0:00.000) e5 …      White's clock before: 180.000
    <12> … 181450 180000 2 N/g1-f3 (0:00.550) Nf3 …     after: 180.000 - 0.550 + 2 = 181.450, the residual is 0

A residual that is not 0 shows one of three things: something happened to the clock that we saw (time was added, a
takeback, a pause), something that we did not see (a lost line), or an error in our reading. Only the first is
harmless, so it must be proved, by a line or a board, whose offset is the evidence. A guess that explains everything
would hide the errors for which the ledger is made.

What is tried in which order (``Proofs.cause``), each only if the sum is right with it, to one printed unit:

1. a side's first move, which most servers neither charge nor credit: the clock has not changed;
2. lines that add time to this player between the own move before and this one;
3. the clock on the last board between the two moves, if that is another one than before. What happened in between
   gives the cause its name: a takeback, a line that sets the clocks, a pause, an outage; none: ``ADJUSTED``. If that
   board shows a running clock, up to the whole elapsed time may be missing;
4. a takeback whose own board was not seen: a clock that the game had in that position before;
5. a pause: the clock stood for a part of the elapsed time;
6. a clock higher than if the move had taken no time, and the next board confirms it: one number alone may be wrong;
7. a fallen flag, printed as 0 by servers that print no negative clocks;
8. FICS charges at least a tenth of a second, and moves of this game have taken exactly that;
9. ``UNEXPLAINED``. A residual of one unit is ``ROUNDING`` and does not come here.

What must never happen: a cause without evidence; a clock from before missing moves that is used as the one before this
move (then the clock before is unknown, and nothing is judged).

Clocks are judged only if they were printed. Those that were computed from elapsed times would prove themselves.

Facts that boards show are read from them: the clocks at the start are those of the first board (the time control only
where none was seen), the unit is that of each ply, whether first moves are free is read off them, and a clock of a
board that was joined in mid-game is one that was running. An untimed game and an examination are not judged either.

How much of the time was thinking: docs/explanation/clocks-and-lag.md.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable
from enum import Enum
from functools import cached_property
from typing import NamedTuple

from recorder.model import (
    EventKind,
    Game,
    GameEvent,
    GameKind,
    LineKind,
    Observation,
    ObservationKind,
    Ply,
    PlyRow,
    Precision,
    StartFacts,
    control_of,
    taken_rows,
)

SECOND_MS = 1000
MILLISECONDS = int(Precision.MILLISECONDS)
PRINTED = (int(Precision.SECONDS), MILLISECONDS)
"""Precisions of clocks that are no sums of ours: only those are judged."""
FELT_LAG_MS = 50
"""Less lag is lost in the jitter of what arrives."""


class Cause(Enum):
    """Why a clock is not what the rule gives."""

    EXACT = "exact"
    ROUNDING = "rounding"  # at most one of the unit that was printed
    FIRST_MOVE = "first-move"  # was free, and gave no increment
    MINIMUM_CHARGE = "minimum-charge"  # the server took a tenth of a second for less
    SNAPSHOT = "snapshot"  # the clock before was seen only while it ran
    MORETIME = "moretime"  # a line says that the opponent added this time
    TIME_ADDED = "time-added"  # a line says how much, not who added it
    CLOCK_SET = "clock-set"  # a line sets the clocks
    ADJUSTED = "adjusted"  # two boards show a changed clock, no line says why
    TAKEBACK = "takeback"  # the board after it shows the clock
    PAUSE = "pause"
    RESUMED = "resumed"  # the board after a time that was not seen shows the clock
    FLAG = "flag"  # overstepped, and no clock of the game was printed below 0
    UNEXPLAINED = "unexplained"


class ClockReading(NamedTuple):
    """A side's clock on one board. ``running``: it may have run since the move before."""

    ms: int
    unit_ms: int
    offset: int
    running: bool = False


def unit_ms_of(ms: int, precision: int | None) -> int:
    """The unit of a clock on a board; of unknown precision, whole seconds count as seconds."""
    if precision is None:
        return 1 if ms % SECOND_MS else SECOND_MS
    return 1 if precision == MILLISECONDS else SECOND_MS


def are_judged(kind: GameKind, base_s: int | None, increment_s: int | None) -> bool:
    """Not in an examination, and not in an untimed game."""
    return kind is GameKind.PLAYED and not (base_s == 0 and not increment_s)


_LEAST_CHARGE_MS = 100
_WE_ADD = re.compile(r"You have added |[0-9]{1,9} seconds were added to your opponents? clock", re.ASCII)
_PAUSES = ("paused", "resumed")
_JUDGED = ("adjusted", "opponent-adjusted")  # what the tracker found on the same boards: no line of its own
_FEEDS = ("observed again", "lost feed", "unobserved", "server lost data")

_CHANGES: tuple[tuple[Cause, Callable[[GameEvent], bool]], ...] = (
    (Cause.TAKEBACK, lambda event: event.kind is EventKind.TAKEBACK),
    (Cause.CLOCK_SET, lambda event: event.kind is EventKind.CLOCK and event.detail == "set"),
    (Cause.PAUSE, lambda event: event.kind is EventKind.NOTICE and event.detail in _PAUSES),
    (Cause.RESUMED, lambda event: event.kind is EventKind.FEED),
)


class Proofs:
    """The lines and boards of one observation that explain a clock that the rule does not give.

    Everything is sorted when it is first asked for: most games never ask.
    """

    def __init__(
        self, names: tuple[str, str], me: int | None, observation: Observation, rows: list[Ply] | list[PlyRow]
    ) -> None:
        self._names = names
        self._me = me
        self._seen = observation
        self._rows = rows
        self._events: list[GameEvent] | None = None
        self._offsets: list[int] = []

    @cached_property
    def _of_ply(self) -> dict[int, list[Ply | PlyRow]]:
        """What was played as each ply, taken back or not."""
        rows: dict[int, list[Ply | PlyRow]] = {}
        for row in self._rows:
            rows.setdefault(row[0], []).append(row)
        return rows

    @cached_property
    def _below_zero(self) -> bool:
        return any((row[3] or 0) < 0 or (row[4] or 0) < 0 for row in self._rows)

    @cached_property
    def _charges_least(self) -> bool:
        return any(row[5] == _LEAST_CHARGE_MS for row in self._rows)

    def _between(self, since: int, until: int) -> list[GameEvent]:
        """The events that can explain a clock, behind the offset ``since`` up to ``until``, which is included."""
        if self._events is None:
            events = [event for event in self._seen.events if _is_about_clocks(event)]
            self._events = sorted(events, key=lambda event: (event.offset, event.seq))
            self._offsets = [event.offset for event in self._events]
        return self._events[bisect_right(self._offsets, since) : bisect_right(self._offsets, until)]

    def board_after_takeback(self, ply: int, offset: int) -> GameEvent | None:
        """The takeback whose board precedes this ply; None if another board is in between or its board was lost."""
        for event in reversed(self._between(-1, offset - 1)):
            if event.kind is EventKind.TAKEBACK:
                has_clock = event.white_clock_ms is not None or event.black_clock_ms is not None
                return event if has_clock and event.detail.endswith(f"-{ply - 1}") else None
        return None

    def joined(self, row: Ply | PlyRow, increment_ms: int) -> tuple[int | None, int | None, Cause | None, int | None]:
        """Whether the first ply behind a board joined in mid-game adds up; the values are as in ``LedgerEntry``."""
        start = self._seen.start
        assert start is not None
        assert row[5] is not None
        side = row[0] & 1
        shown_ms, after_ms = (start.white_clock_ms, row[3]) if side else (start.black_clock_ms, row[4])
        if shown_ms is None or after_ms is None:
            return None, None, None, None
        unit_ms = max(unit_ms_of(shown_ms, start.precision_code), 1 if row[12] == MILLISECONDS else SECOND_MS)
        residual_ms = after_ms - shown_ms + row[5] - increment_ms
        if residual_ms == 0:
            return shown_ms, 0, Cause.EXACT, None
        if -unit_ms <= residual_ms < 0:
            return shown_ms, residual_ms, Cause.ROUNDING, None
        if 0 < residual_ms <= row[5] + (row[6] or 0) + unit_ms:
            return None, residual_ms, Cause.SNAPSHOT, start.offset
        cause, evidence = self.cause(row, ClockReading(shown_ms, unit_ms, start.offset), residual_ms, None)
        return shown_ms, residual_ms, cause, evidence

    def cause(
        self, row: Ply | PlyRow, since: ClockReading, residual_ms: int, before: Ply | PlyRow | None
    ) -> tuple[Cause, int | None]:
        """Why a clock is off by more than a unit, and the offset of the evidence (None: no line explains it)."""
        ply, offset, unit_ms = row[0], row[13], since.unit_ms
        after_ms = row[3] if ply & 1 else row[4]
        elapsed_ms = row[5]
        assert after_ms is not None
        assert elapsed_ms is not None
        if ply <= 2 and abs(after_ms - since.ms) <= unit_ms:
            return Cause.FIRST_MOVE, offset
        # Everything between the own move before and this one that can have changed the clock.
        events = self._between(since.offset, offset)
        added = [event for event in events if _adds(event) and self._receiver(event) in (None, ply & 1)]
        if added and abs(residual_ms - _sum_ms(added)) <= unit_ms:
            one_side = self._receiver(added[0]) is not None
            return Cause.MORETIME if one_side else Cause.TIME_ADDED, added[0].offset
        reading = self._last_shown(row, since, events, before)
        if reading is not None and reading.ms != since.ms:
            unit_ms = max(unit_ms, reading.unit_ms)
            cause, evidence = self._changed(events, since, reading)
            # What the last board shows explains a part; lines behind that board may explain the rest.
            rest_ms = residual_ms - (reading.ms - since.ms)
            rest_ms -= _sum_ms([event for event in added if event.offset > reading.offset])
            most_ms = elapsed_ms + (row[6] or 0) + unit_ms if reading.running else unit_ms
            # A difference of one unit is that of a clock only where something happened to it.
            changed = abs(reading.ms - since.ms) > unit_ms or cause is not Cause.ADJUSTED
            if changed and -unit_ms <= rest_ms <= most_ms:
                return cause, evidence
        for event in events:
            if event.kind is EventKind.TAKEBACK and event.white_clock_ms is None and event.black_clock_ms is None:
                # Its own board was not seen: the clock is one that the game had when the position was there before.
                for restored in (*self._of_ply.get(ply - 2, ()), *self._of_ply.get(ply - 1, ())):
                    if restored[13] < event.offset:
                        clock_ms = restored[3] if ply & 1 else restored[4]
                        if clock_ms is not None and abs(residual_ms - (clock_ms - since.ms)) <= unit_ms:
                            return Cause.TAKEBACK, event.offset
        paused = next((event for event in events if event.detail in _PAUSES), None)
        if paused is not None and 0 < residual_ms <= elapsed_ms + unit_ms:
            return Cause.PAUSE, paused.offset
        if residual_ms - elapsed_ms > unit_ms:  # more than if no time had passed
            again = self._shown_again(row, after_ms)
            if again is not None:
                return Cause.ADJUSTED, again
        if after_ms == 0 and residual_ms > 0 and not self._below_zero:
            return Cause.FLAG, offset
        if (
            unit_ms == 1 and elapsed_ms < _LEAST_CHARGE_MS and abs(elapsed_ms - residual_ms - _LEAST_CHARGE_MS) <= 1
            and self._charges_least
        ):  # fmt: skip
            return Cause.MINIMUM_CHARGE, offset
        return Cause.UNEXPLAINED, None

    def _shown_again(self, row: Ply | PlyRow, after_ms: int) -> int | None:
        """Where the next move's board shows the mover's clock as this one does: else one number may just be wrong."""
        index = bisect_right(self._rows, row[13], key=lambda other: other[13])
        if index == len(self._rows) or self._rows[index][0] != row[0] + 1:
            return None
        following = self._rows[index]
        clock_ms = following[3] if row[0] & 1 else following[4]
        unit_ms = 1 if row[12] == following[12] == MILLISECONDS else SECOND_MS
        return following[13] if clock_ms is not None and abs(clock_ms - after_ms) < unit_ms else None

    def _receiver(self, event: GameEvent) -> int | None:
        """To whose clock a line adds time (0: Black's): a player adds to the opponent's clock. None if unknown."""
        if event.actor is not None:
            giver = event.actor.lower()
            return 1 - self._names.index(giver) if giver in self._names else None
        if self._me is None:
            return None
        if event.text.startswith("Your opponent has added "):
            return self._me
        return 1 - self._me if _WE_ADD.match(event.text) else None

    def _changed(self, events: list[GameEvent], since: ClockReading, reading: ClockReading) -> tuple[Cause, int]:
        """The name of a change that a board shows: what in between can have made it."""
        until = [event for event in events if event.offset <= reading.offset]
        for cause, makes in _CHANGES:
            for event in until:
                if makes(event):
                    return cause, event.offset
        start = self._seen.start
        if start is not None and since.offset < start.offset <= reading.offset:
            return Cause.RESUMED, start.offset
        return Cause.ADJUSTED, reading.offset

    def _last_shown(
        self, row: Ply | PlyRow, since: ClockReading, events: list[GameEvent], before: Ply | PlyRow | None
    ) -> ClockReading | None:
        """The mover's clock on the last board between the own move before and this one; None: no board shows it."""
        white, start = bool(row[0] & 1), self._seen.start
        reading: ClockReading | None = None
        if start is not None and since.offset < start.offset:
            # What was seen last is of an earlier observation.
            ms = start.white_clock_ms if white else start.black_clock_ms
            if ms is not None:
                reading = ClockReading(ms, unit_ms_of(ms, start.precision_code), start.offset, start.ply == row[0] - 1)
        if before is not None and before[13] > since.offset:
            ms = before[3] if white else before[4]
            if ms is not None:
                reading = ClockReading(ms, 1 if before[12] == MILLISECONDS else SECOND_MS, before[13])
        for event in events:
            ms = event.white_clock_ms if white else event.black_clock_ms
            if (
                ms is not None and event.offset < row[13] and event.detail not in _JUDGED
                and (reading is None or event.offset > reading.offset)
            ):  # fmt: skip
                running = event.kind is EventKind.CLOCK and event.detail == "same-ply" and event.ply == row[0] - 1
                # A whole number of seconds is no proof that the board was printed in seconds.
                reading = ClockReading(ms, 1 if ms % SECOND_MS else since.unit_ms, event.offset, running)
        return reading


def _is_about_clocks(event: GameEvent) -> bool:
    if event.kind is EventKind.NOTICE:
        return event.detail == "time-added" or event.detail in _PAUSES
    if event.kind is EventKind.FEED:
        return event.detail in _FEEDS
    return event.kind is EventKind.TAKEBACK or event.kind is EventKind.CLOCK


def _adds(event: GameEvent) -> bool:
    return event.kind is EventKind.NOTICE and event.detail == "time-added" and event.value is not None


def _sum_ms(events: list[GameEvent]) -> int:
    return sum(event.value or 0 for event in events) * SECOND_MS


_PLAYED = (LineKind.MAIN, LineKind.TAKEBACK)


class LedgerEntry(NamedTuple):
    """One move of the main line.

    Attributes:
        before_ms: the mover's clock after the own move before, or at the start; None where it was not seen stopped.
        elapsed_ms: as printed. increment_ms: the mover's.
        after_ms: the mover's clock after this move. opponent_ms: the other clock then.
        lag_ms: as printed.
        interval_ms: from the arrival of the board before to that of this one, on the same connection.
        thinking_ms: our estimate of what the mover thought, None where thinking and network cannot be separated.
        residual_ms: ``after - (before - elapsed + increment)``; for ``SNAPSHOT``, from the clock that was seen running.
            None where one of them is not known, and where clocks are not judged.
        cause: of the residual; None with it.
        evidence: offset of the line that proves the cause; None for ``EXACT``, ``ROUNDING`` and ``UNEXPLAINED``.
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
    thinking_ms: int | None
    residual_ms: int | None
    cause: Cause | None
    evidence: int | None


#: An entry's fields in their order, without its name.
EntryRow = tuple[
    int, bool, int | None, int | None, int | None, int | None, int | None, int | None, int | None, int | None,
    int | None, Cause | None, int | None,
]  # fmt: skip


def ledger(game: Game) -> list[LedgerEntry]:
    return [LedgerEntry._make(row) for row in ledger_rows(game)]


def ledger_rows(game: Game) -> list[EntryRow]:
    """As ``ledger``, not named: for those who handle very many."""
    book = _Book(game)
    if len(game.segments) == 1 and len(game.observations) == 1 and len(game.observations[0].lines) == 1:
        rows = book.entries(game.observations[0], game.observations[0].lines[0].rows)
        first, last, _ = game.segments[0]
        return rows if rows and rows[0][0] == first and rows[-1][0] == last else [
            row for row in rows if first <= row[0] <= last
        ]  # fmt: skip
    by_move: list[dict[tuple[int, int], EntryRow]] = []
    for observation in game.observations:
        played = [row for line in observation.lines if line.kind in _PLAYED for row in line.rows]
        if len(observation.lines) > 1:
            played.sort(key=lambda row: (row[13], row[0]))
        entries = book.entries(observation, played)
        by_move.append({(row[0], row[13]): entry for row, entry in zip(played, entries, strict=True)})
    return [
        by_move[segment.observation][row[0], row[13]]
        for segment in game.segments
        for row in taken_rows(segment, game.observations)
    ]


class _Book:
    """What one game's entries need to know, and where its clocks stood when the last observation ended."""

    def __init__(self, game: Game) -> None:
        self._game = game
        base_s, increment_s = zip(control_of(game, False), control_of(game, True), strict=True)
        # Pairs are Black's and White's, so that ``ply % 2`` is the mover's index.
        self._base_ms = [None if value_s is None else value_s * SECOND_MS for value_s in base_s]
        self._increment_ms = [None if value_s is None else value_s * SECOND_MS for value_s in increment_s]
        printed = {fix.field: fix.recorded for fix in game.corrections}  # its lines have the names before a correction
        self._names = (
            (printed.get("Black") or game.black.handle).lower(),
            (printed.get("White") or game.white.handle).lower(),
        )
        me = None if game.me is None else game.me.lower()
        self._own = (me == self._names[0], me == self._names[1])
        self._judged = are_judged(game.kind, game.base_s, game.increment_s)
        self._left: tuple[int, list[ClockReading | None]] | None = None

    def entries(self, observation: Observation, rows: list[Ply] | list[PlyRow]) -> list[EntryRow]:
        """All plies of one observation, taken back or not, in the order of arrival."""
        start = observation.start
        before_ply = 0 if start is None else start.ply - _shown_at_start(start, rows)
        before_at, before = None if start is None or start.ply else start.at_ms, None
        judged = self._judged and (start is None or _are_used(start))
        proofs = Proofs(self._names, self._own.index(True) if any(self._own) else None, observation, rows)
        thinks = self._thinks(rows)
        increments_ms, own_move = self._increment_ms, self._own
        entries: list[EntryRow] = []
        add = entries.append
        clocks_ms, units_ms, offsets = _split_readings(self._at_start(observation, rows), observation.offset)
        for row in rows:
            ply, _, _, white_ms, black_ms, elapsed_ms, lag_ms, at_ms, _, _, _, _, precision, offset = row
            side = ply & 1
            after_ms, other_ms = (white_ms, black_ms) if side else (black_ms, white_ms)
            interval_ms: int | None = None
            if ply == before_ply + 1:
                if before_at is not None and at_ms is not None:
                    interval_ms = at_ms - before_at
            elif ply > before_ply:
                _clear_unseen(clocks_ms, before_ply, ply)
                before = None
            else:
                before = None
                interval_ms = _since_takeback(proofs, row)
            before_ms, increment_ms = clocks_ms[side], increments_ms[side]
            unit_ms = 1 if precision == MILLISECONDS else SECOND_MS
            residual_ms: int | None = None
            cause: Cause | None = None
            evidence: int | None = None
            if judged and elapsed_ms is not None and after_ms is not None and increment_ms is not None:
                if before_ms is None and before is not None:
                    # The other side's board shows it as well, though the own move was not seen.
                    before_ms = before[3] if side else before[4]
                    units_ms[side], offsets[side] = (1 if before[12] == MILLISECONDS else SECOND_MS), before[13]
                if before_ms is not None and precision in PRINTED:
                    residual_ms = after_ms - before_ms + elapsed_ms - increment_ms
                    if residual_ms == 0:
                        cause = Cause.EXACT
                    else:
                        clock = ClockReading(before_ms, max(unit_ms, units_ms[side]), offsets[side])
                        cause, evidence = _explain(proofs, row, clock, residual_ms, before)
                elif precision in PRINTED and start is not None and ply == start.ply + 1 and not entries:
                    before_ms, residual_ms, cause, evidence = proofs.joined(row, increment_ms)
            thought = thinks[side]
            thinking_ms: int | None = None
            if thought is not None and elapsed_ms is not None and (elapsed_ms or ply > 2) and cause is not Cause.PAUSE:
                thinking_ms = elapsed_ms if thought else _without_lag(elapsed_ms, lag_ms)
                if own_move[side] and interval_ms is not None and thinking_ms is not None and thinking_ms > interval_ms:
                    thinking_ms = interval_ms
            add((
                ply, side == 1, before_ms, elapsed_ms, increment_ms, after_ms, other_ms, lag_ms, interval_ms,
                thinking_ms, residual_ms, cause, evidence,
            ))  # fmt: skip
            clocks_ms[side], units_ms[side], offsets[side] = after_ms, unit_ms, offset
            before_ply, before_at, before = ply, at_ms, row
        if observation.kind is ObservationKind.LIVE:
            self._left = before_ply, _join_readings(clocks_ms, units_ms, offsets)
        return entries

    def _at_start(self, observation: Observation, rows: list[Ply] | list[PlyRow]) -> list[ClockReading | None]:
        """Black's and White's clock as they stood when an observation began, where that is known."""
        start = observation.start
        if start is None:
            return [None if ms is None else ClockReading(ms, 1, observation.offset) for ms in self._base_ms]
        readings = [
            None if ms is None else ClockReading(ms, unit_ms_of(ms, start.precision_code), start.offset)
            for ms in (start.black_clock_ms, start.white_clock_ms)
        ]
        if start.ply == 0:
            return [self._began(side, clock, rows) for side, clock in enumerate(readings)]
        shown_plies = _shown_at_start(start, rows)
        if shown_plies and start.ply == 1 and self._left is None:
            return [None if ms is None else ClockReading(ms, 1, observation.offset) for ms in self._base_ms]
        begun: list[ClockReading | None] = [None, None]
        if self._left is not None and not self._game.merged_from:
            last_ply, clocks = self._left
            if start.ply - shown_plies <= last_ply:
                return clocks
            if start.ply == last_ply + 1:
                begun[last_ply & 1] = clocks[last_ply & 1]
        if not shown_plies:
            begun[start.ply & 1] = readings[start.ply & 1]  # of the side that has just moved: stopped
        return begun

    def _began(self, side: int, reading: ClockReading | None, rows: list[Ply] | list[PlyRow]) -> ClockReading | None:
        """The clock at the start of a game: as the first board shows it, or as the time control has it.

        In bughouse clocks run before anybody has moved, so that the first board may show less. Then the first move
        shows from which of the two it was counted. ``side`` is 1 for White, 0 for Black.
        """
        base_ms, increment_ms = self._base_ms[side], self._increment_ms[side]
        first = next((row for row in rows if row[0] & 1 == side), None)
        if reading is None or base_ms is None or reading.ms >= base_ms or first is None or increment_ms is None:
            return reading
        after_ms = first[3] if side else first[4]
        if after_ms is None or first[5] is None or first[0] > 2:
            return reading
        counted_ms = after_ms + first[5] - increment_ms
        return reading._replace(ms=base_ms) if abs(counted_ms - base_ms) < abs(counted_ms - reading.ms) else reading

    def _thinks(self, rows: list[Ply] | list[PlyRow]) -> tuple[bool | None, bool | None]:
        """Of Black's and White's elapsed times: True if they are without the network, False if with it."""
        lagged = {row[0] & 1 for row in rows if row[6]}
        return (
            _without_network(rows, 0, self._game.black.sealed, 0 in lagged),
            _without_network(rows, 1, self._game.white.sealed, 1 in lagged),
        )


def _split_readings(readings: list[ClockReading | None], offset: int) -> tuple[list[int | None], list[int], list[int]]:
    """A named tuple for each ply would cost as much as all the rest; ``offset`` is used for a clock that is unknown."""
    return (
        [None if clock is None else clock.ms for clock in readings],
        [SECOND_MS if clock is None else clock.unit_ms for clock in readings],
        [offset if clock is None else clock.offset for clock in readings],
    )


def _join_readings(clocks_ms: list[int | None], units_ms: list[int], offsets: list[int]) -> list[ClockReading | None]:
    readings = zip(clocks_ms, units_ms, offsets, strict=True)
    return [None if ms is None else ClockReading(ms, unit_ms, offset) for ms, unit_ms, offset in readings]


def _clear_unseen(clocks_ms: list[int | None], before_ply: int, ply: int) -> None:
    """Make the clocks (Black's, White's) unknown that changed with the moves missing between two plies."""
    clocks_ms[(ply - 1) & 1] = None
    if ply > before_ply + 2:
        clocks_ms[ply & 1] = None


def _are_used(start: StartFacts) -> bool:
    """Whether the clocks of an observation are used: on a first board both are 0 if the game has no clocks."""
    return start.ply != 0 or bool(start.white_clock_ms or start.black_clock_ms)


def _since_takeback(proofs: Proofs, row: Ply | PlyRow) -> int | None:
    """Milliseconds from the board after a takeback to that of the move played next; None: no takeback, or unknown."""
    board = proofs.board_after_takeback(row[0], row[13])
    at_ms = row[7]
    return None if board is None or board.at_ms is None or at_ms is None else at_ms - board.at_ms


def _explain(
    proofs: Proofs, row: Ply | PlyRow, clock: ClockReading, residual_ms: int, before: Ply | PlyRow | None
) -> tuple[Cause, int | None]:
    """The cause of a residual that is not 0, and the offset of the line that proves it."""
    if -clock.unit_ms <= residual_ms <= clock.unit_ms:
        return Cause.ROUNDING, None
    return proofs.cause(row, clock, residual_ms, before)


def _without_lag(elapsed_ms: int, lag_ms: int | None) -> int | None:
    """The elapsed time less the lag, at least 0, in milliseconds; None: no lag was printed, or 0."""
    if not lag_ms:
        return None
    return elapsed_ms - lag_ms if elapsed_ms > lag_ms else 0


def _shown_at_start(start: StartFacts, rows: list[Ply] | list[PlyRow]) -> int:
    """How many plies the first board gave: its move, and those inferred since the board of an earlier observation."""
    if not rows or not (rows[0][0] == start.ply or (rows[0][0] < start.ply and rows[0][13] <= start.offset)):
        return 0
    return start.ply - rows[0][0] + 1


def _without_network(rows: list[Ply] | list[PlyRow], side: int, sealed: bool | None, lagged: bool) -> bool | None:
    """Whether a side's (1 White, 0 Black) elapsed times exclude network time; ``sealed``: what a line states."""
    if sealed is not None or not lagged:
        return sealed
    # A lag that the server prints is one that it gave back, unless the boards arrive as if it had not.
    given_ms = kept_ms = 0
    before_ply, before_at = -1, None
    for row in rows:
        ply, at_ms, elapsed_ms, lag_ms = row[0], row[7], row[5], row[6]
        if (
            ply & 1 == side and ply == before_ply + 1 and row[12] == MILLISECONDS and lag_ms and lag_ms > FELT_LAG_MS
            and at_ms is not None and before_at is not None and elapsed_ms is not None
        ):  # fmt: skip
            given_ms += abs(at_ms - before_at - elapsed_ms - lag_ms)
            kept_ms += abs(at_ms - before_at - elapsed_ms)
        before_ply, before_at = ply, at_ms
    return given_ms <= kept_ms
