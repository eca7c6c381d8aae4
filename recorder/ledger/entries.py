"""The entries of a game's moves: clock before, cost, what was left over, and how much of the time was thinking."""

from __future__ import annotations

from typing import NamedTuple

from recorder.ledger.proofs import (
    FELT_LAG_MS,
    MILLISECONDS,
    PRINTED,
    SECOND_MS,
    Cause,
    ClockReading,
    Proofs,
    are_judged,
    unit_ms_of,
)
from recorder.model import (
    Game,
    LineKind,
    Observation,
    ObservationKind,
    Ply,
    PlyRow,
    StartFacts,
    control_of,
    taken_rows,
)

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
    """The entries of a game's main line, in its order."""
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
    found: list[dict[tuple[int, int], EntryRow]] = []
    for seen in game.observations:
        played = [row for line in seen.lines if line.kind in _PLAYED for row in line.rows]
        if len(seen.lines) > 1:
            played.sort(key=lambda row: (row[13], row[0]))
        entries = book.entries(seen, played)
        found.append({(row[0], row[13]): entry for row, entry in zip(played, entries, strict=True)})
    return [
        found[segment.observation][row[0], row[13]]
        for segment in game.segments
        for row in taken_rows(segment, game.observations)
    ]


class _Book:
    """What one game's entries need to know, and where its clocks stood when the last observation ended."""

    def __init__(self, game: Game) -> None:
        self._game = game
        base_s, increment_s = zip(control_of(game, False), control_of(game, True), strict=True)
        # Pairs are Black's and White's, so that ``ply % 2`` is the mover's index.
        self._base_ms = [None if one is None else one * SECOND_MS for one in base_s]
        self._increment_ms = [None if one is None else one * SECOND_MS for one in increment_s]
        self._names = (game.black.handle.lower(), game.white.handle.lower())
        me = None if game.me is None else game.me.lower()
        self._own = (me == self._names[0], me == self._names[1])
        self._judged = are_judged(game.kind, game.base_s, game.increment_s)
        self._left: tuple[int, list[ClockReading | None]] | None = None

    def entries(self, seen: Observation, rows: list[Ply] | list[PlyRow]) -> list[EntryRow]:
        """The entries of all plies of one observation, taken back or not, in the order of arrival."""
        start = seen.start
        before_ply = 0 if start is None else start.ply - _shown_at_start(start, rows)
        before_at, before = None if start is None or start.ply else start.at_ms, None
        judged = self._judged and (start is None or _are_used(start))
        proofs = Proofs(self._names, self._own.index(True) if any(self._own) else None, seen, rows)
        thinks = self._thinks(rows)
        increments_ms, own_move = self._increment_ms, self._own
        entries: list[EntryRow] = []
        add = entries.append
        clocks_ms, units_ms, offsets = _split_readings(self._at_start(seen, rows), seen.offset)
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
        if seen.kind is ObservationKind.LIVE:
            self._left = before_ply, _join_readings(clocks_ms, units_ms, offsets)
        return entries

    def _at_start(self, seen: Observation, rows: list[Ply] | list[PlyRow]) -> list[ClockReading | None]:
        """Black's and White's clock as they stood when an observation began, where that is known."""
        start = seen.start
        if start is None:
            return [None if ms is None else ClockReading(ms, 1, seen.offset) for ms in self._base_ms]
        shown = [
            None if ms is None else ClockReading(ms, unit_ms_of(ms, start.precision_code), start.offset)
            for ms in (start.black_clock_ms, start.white_clock_ms)
        ]
        if start.ply == 0:
            return [self._began(side, clock, rows) for side, clock in enumerate(shown)]
        given = _shown_at_start(start, rows)
        if given and start.ply == 1 and self._left is None:
            return [None if ms is None else ClockReading(ms, 1, seen.offset) for ms in self._base_ms]
        found: list[ClockReading | None] = [None, None]
        if self._left is not None and not self._game.merged_from:
            last_ply, clocks = self._left
            if start.ply - given <= last_ply:
                return clocks
            if start.ply == last_ply + 1:
                found[last_ply & 1] = clocks[last_ply & 1]
        if not given:
            found[start.ply & 1] = shown[start.ply & 1]  # of the side that has just moved: stopped
        return found

    def _began(self, side: int, shown: ClockReading | None, rows: list[Ply] | list[PlyRow]) -> ClockReading | None:
        """The clock at the start of a game: as the first board shows it, or as the time control has it.

        In bughouse clocks run before anybody has moved, so that the first board may show less. Then the first move
        shows from which of the two it was counted. ``side`` is 1 for White, 0 for Black.
        """
        base_ms, increment_ms = self._base_ms[side], self._increment_ms[side]
        first = next((row for row in rows if row[0] & 1 == side), None)
        if shown is None or base_ms is None or shown.ms >= base_ms or first is None or increment_ms is None:
            return shown
        after_ms = first[3] if side else first[4]
        if after_ms is None or first[5] is None or first[0] > 2:
            return shown
        counted_ms = after_ms + first[5] - increment_ms
        return shown._replace(ms=base_ms) if abs(counted_ms - base_ms) < abs(counted_ms - shown.ms) else shown

    def _thinks(self, rows: list[Ply] | list[PlyRow]) -> tuple[bool | None, bool | None]:
        """Of Black's and White's elapsed times: True if they are without the network, False if with it."""
        lagged = {row[0] & 1 for row in rows if row[6]}
        return (
            _without_network(rows, 0, self._game.black.sealed, 0 in lagged),
            _without_network(rows, 1, self._game.white.sealed, 1 in lagged),
        )


def _split_readings(readings: list[ClockReading | None], offset: int) -> tuple[list[int | None], list[int], list[int]]:
    """Separate the fields of Black's and White's clock: a named tuple for each ply would cost as much as all the rest.

    ``offset`` is used for a clock that is unknown.
    """
    return (
        [None if clock is None else clock.ms for clock in readings],
        [SECOND_MS if clock is None else clock.unit_ms for clock in readings],
        [offset if clock is None else clock.offset for clock in readings],
    )


def _join_readings(clocks_ms: list[int | None], units_ms: list[int], offsets: list[int]) -> list[ClockReading | None]:
    """The inverse of ``_split_readings``; a clock that is None has no reading."""
    readings = zip(clocks_ms, units_ms, offsets, strict=True)
    return [None if ms is None else ClockReading(ms, unit_ms, offset) for ms, unit_ms, offset in readings]


def _clear_unseen(clocks_ms: list[int | None], before_ply: int, ply: int) -> None:
    """Make the clocks (Black's, White's) unknown that changed with moves missing between two plies.

    ``ply`` is the next one that was seen, at least two after ``before_ply``.
    """
    clocks_ms[(ply - 1) & 1] = None
    if ply > before_ply + 2:
        clocks_ms[ply & 1] = None


def _are_used(start: StartFacts) -> bool:
    """Whether the clocks of an observation are used: on a first board both are 0 if the game has no clocks."""
    return start.ply != 0 or bool(start.white_clock_ms or start.black_clock_ms)


def _since_takeback(proofs: Proofs, row: Ply | PlyRow) -> int | None:
    """Return the milliseconds from the board after a takeback to that of the move played next.

    None: no takeback, or unknown.
    """
    board = proofs.board_after_takeback(row[0], row[13])
    at_ms = row[7]
    return None if board is None or board.at_ms is None or at_ms is None else at_ms - board.at_ms


def _explain(
    proofs: Proofs, row: Ply | PlyRow, clock: ClockReading, residual_ms: int, before: Ply | PlyRow | None
) -> tuple[Cause, int | None]:
    """The cause of a residual that is not 0, and the offset of the line that contains it.

    ``clock`` is the mover's before. The offset is None if no line but only the unit explains the residual.
    """
    if -clock.unit_ms <= residual_ms <= clock.unit_ms:
        return Cause.ROUNDING, None
    return proofs.cause(row, clock, residual_ms, before)


def _without_lag(elapsed_ms: int, lag_ms: int | None) -> int | None:
    """The elapsed time less the lag, at least 0, in milliseconds; None: no lag was printed, or 0."""
    if not lag_ms:
        return None
    return elapsed_ms - lag_ms if elapsed_ms > lag_ms else 0


def _shown_at_start(start: StartFacts, rows: list[Ply] | list[PlyRow]) -> int:
    """How many plies the first board of an observation gave.

    These are its own move, and those inferred between it and the board of an earlier observation.
    """
    if not rows or not (rows[0][0] == start.ply or (rows[0][0] < start.ply and rows[0][13] <= start.offset)):
        return 0
    return start.ply - rows[0][0] + 1


def _without_network(rows: list[Ply] | list[PlyRow], side: int, sealed: bool | None, lagged: bool) -> bool | None:
    """Return whether a side's (1 White, 0 Black) elapsed times exclude network time.

    ``sealed`` is what a line states of the side. None: no line states it, and the server prints no lag.
    """
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
