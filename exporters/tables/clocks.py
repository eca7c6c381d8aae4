"""Clock before, interval, thinking, residual and cause: the ledger's columns.

``recorder.ledger`` defines them. Nearly every move adds up at once: for those arrays give the ledger's rows, for many
games in one step, by its units and limits. A game with any other move goes through the ledger itself: a name that needs
evidence is always the ledger's.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from exporters.tables.block import PlyBlock
from recorder.ledger import Cause, ledger
from recorder.ledger.proofs import FELT_LAG_MS, MILLISECONDS, PRINTED, SECOND_MS, are_judged, unit_ms_of
from recorder.model import GameKind, control_of
from storage.read.columns import NULL, ColumnReader, Ints

CAUSES = tuple(cause.value for cause in Cause)
_CODES = {cause: code for code, cause in enumerate(Cause)}
_EXACT, _ROUNDING, _FIRST, _SNAPSHOT = (
    _CODES[cause] for cause in (Cause.EXACT, Cause.ROUNDING, Cause.FIRST_MOVE, Cause.SNAPSHOT)
)


class Clocks(NamedTuple):
    """Of each row; ``NULL`` where nothing is known, of ``cause`` -1, else an index in ``CAUSES``."""

    before_ms: Ints
    interval_ms: Ints
    thinking_ms: Ints
    residual_ms: Ints
    cause: Ints


def clocks_of(block: PlyBlock, reader: ColumnReader) -> Clocks:
    """The columns of a block."""
    found, sure = _at_once(block)
    doubtful = np.flatnonzero(~sure)
    ids = [block.games[number].id for number in doubtful]
    for number, game in zip(doubtful.tolist(), reader.games(ids), strict=True):
        first, last = block.starts[number : number + 2]
        entries = ledger(game)
        found.before_ms[first:last] = _whole(entry.before_ms for entry in entries)
        found.interval_ms[first:last] = _whole(entry.interval_ms for entry in entries)
        found.thinking_ms[first:last] = _whole(entry.thinking_ms for entry in entries)
        found.residual_ms[first:last] = _whole(entry.residual_ms for entry in entries)
        found.cause[first:last] = [-1 if entry.cause is None else _CODES[entry.cause] for entry in entries]
    return found


def _whole(times_ms: Iterable[int | None]) -> list[int]:
    """Times in milliseconds, ``NULL`` for None."""
    return [NULL if ms is None else ms for ms in times_ms]


class _Starts(NamedTuple):
    """What each game's clocks begin with: pairs are Black's and White's, as ``ply & 1`` is the mover."""

    ply: Ints
    at_ms: Ints
    shown: NDArray[np.bool_]
    stood_ms: Ints
    running_ms: Ints
    unit_ms: Ints
    increment_ms: Ints
    judged: NDArray[np.bool_]
    sealed: Ints
    own: NDArray[np.bool_]
    simple: NDArray[np.bool_]


def _at_once(block: PlyBlock) -> tuple[Clocks, NDArray[np.bool_]]:
    """The columns, and of each game whether they are sure to be the ledger's."""
    starts = _starts(block)
    plies, game = block.plies, block.game
    place = np.arange(len(game)) - block.starts[game]
    side = plies.ply & 1
    white = side == 1
    after = np.where(white, plies.white_clock_ms, plies.black_clock_ms)
    unit = np.where(block.precision == MILLISECONDS, 1, SECOND_MS)
    own_before = np.maximum(np.arange(len(game)) - 2, 0)
    later = place >= 2
    before = np.where(later, after[own_before], starts.stood_ms[game, side])
    unit_of_both = np.maximum(unit, np.where(later, unit[own_before], starts.unit_ms[game, side]))
    increment = starts.increment_ms[game, side]
    elapsed, lag, at_ms = plies.elapsed_ms, plies.lag_ms, plies.at_ms
    judged = starts.judged[game] & (elapsed != NULL) & (after != NULL) & (increment != NULL)
    unusual = judged & (before == NULL) & (place > 0)
    judged &= np.isin(block.precision, PRINTED)

    def left(since: Ints, where: NDArray[np.bool_]) -> Ints:
        return np.where(where, after - since + elapsed - increment, NULL)

    counted = judged & (before != NULL)
    residual = left(before, counted)
    cause = np.full(len(game), -1, dtype=np.int64)
    small = abs(residual) <= unit_of_both
    free = (plies.ply <= 2) & (abs(after - before) <= unit_of_both)
    cause[counted] = np.where(small, _ROUNDING, np.where(free, _FIRST, -1))[counted]
    cause[counted & (residual == 0)] = _EXACT
    unusual |= counted & (cause < 0)
    # The first move behind a board that was joined: its clock may have been running.
    shown = starts.running_ms[game, side]
    joined = judged & (before == NULL) & (place == 0) & starts.shown[game] & (shown != NULL)
    if joined.any():
        rest = left(shown, joined)
        most = elapsed + np.where(lag == NULL, 0, lag) + unit_of_both
        names = np.where(rest == 0, _EXACT, np.where(rest < 0, _ROUNDING, _SNAPSHOT))
        fits = (rest <= 0) & (rest >= -unit_of_both) | (rest > 0) & (rest <= most)
        unusual |= joined & ~fits
        residual, cause = np.where(joined, rest, residual), np.where(joined & fits, names, cause)
        before = np.where(joined & (rest <= 0), shown, before)
    earlier = np.where(place > 0, at_ms[np.maximum(np.arange(len(game)) - 1, 0)], starts.at_ms[game])
    interval = np.where((at_ms != NULL) & (earlier != NULL), at_ms - earlier, NULL)
    thinking = _thinking(block, starts, place, interval)
    sure = starts.simple.copy()
    sure[game[unusual | (plies.ply != starts.ply[game] + 1 + place)]] = False
    return Clocks(before, interval, thinking, residual, cause), sure


def _thinking(block: PlyBlock, starts: _Starts, place: Ints, interval: Ints) -> Ints:
    """Elapsed times without the network, where that is known; see docs/explanation/clocks-and-lag.md."""
    elapsed, lag = block.plies.elapsed_ms, block.plies.lag_ms
    ply, own = block.plies.ply, block.game * 2 + (block.plies.ply & 1)
    lagged = np.bincount(own, weights=(lag != NULL) & (lag != 0), minlength=2 * len(block.games)) > 0
    felt = (place > 0) & (block.precision == MILLISECONDS) & (lag > FELT_LAG_MS)
    felt &= (interval != NULL) & (elapsed != NULL)
    rest = interval - elapsed
    given = np.bincount(own, weights=np.where(felt, abs(rest - lag), 0), minlength=2 * len(block.games))
    kept = np.bincount(own, weights=np.where(felt, abs(rest), 0), minlength=2 * len(block.games))
    sealed = starts.sealed.reshape(-1)
    free = np.where(sealed >= 0, sealed, np.where(lagged, given <= kept, -1))[own]  # 1: without the network, 0: with
    known = (free >= 0) & (elapsed != NULL) & ((elapsed != 0) | (ply > 2))
    some_lag = (lag != NULL) & (lag != 0)
    thinking = np.where(known & (free == 1), elapsed, NULL)
    thinking = np.where(known & (free == 0) & some_lag, np.maximum(elapsed - lag, 0), thinking)
    mine = starts.own.reshape(-1)[own] & (interval != NULL) & (thinking != NULL)
    return np.where(mine & (thinking > interval), interval, thinking)


def _starts(block: PlyBlock) -> _Starts:
    count = len(block.games)
    found = _Starts(
        ply=np.zeros(count, dtype=np.int64),
        at_ms=np.full(count, NULL),
        shown=np.zeros(count, dtype=bool),
        stood_ms=np.full((count, 2), NULL),
        running_ms=np.full((count, 2), NULL),
        unit_ms=np.ones((count, 2), dtype=np.int64),
        increment_ms=np.full((count, 2), NULL),
        judged=np.zeros(count, dtype=bool),
        sealed=np.full((count, 2), -1),
        own=np.zeros((count, 2), dtype=bool),
        simple=block.whole.copy(),
    )
    views = {view.game_id: view for view in block.views}
    for number, game in enumerate(block.games):
        view = views[game.id]
        me = None if game.me is None else game.me.lower()
        judged = are_judged(GameKind(game.kind), game.base_s, game.increment_s)
        clocks = (view.start_black_clock_ms, view.start_white_clock_ms)
        if view.start_ply is not None:
            found.ply[number], found.shown[number] = view.start_ply, True
            if view.start_ply == 0:
                if view.start_at_ms is not None and view.time_basis == game.time_basis:
                    found.at_ms[number] = view.start_at_ms
                judged = judged and bool(clocks[0] or clocks[1])
        found.judged[number] = judged
        for side, clock_ms in enumerate(clocks):
            base_s, increment_s = control_of(game, side == 1)
            if increment_s is not None:
                found.increment_ms[number, side] = increment_s * SECOND_MS
            sealed, handle = (game.white_sealed, game.white) if side else (game.black_sealed, game.black)
            found.sealed[number, side] = -1 if sealed is None else sealed
            found.own[number, side] = me == handle.lower()
            if view.start_ply is None:
                if base_s is not None:
                    found.stood_ms[number, side] = base_s * SECOND_MS
            elif clock_ms is not None:
                found.unit_ms[number, side] = unit_ms_of(clock_ms, view.start_precision)
                found.running_ms[number, side] = clock_ms
                if view.start_ply == 0 or view.start_ply & 1 == side:
                    found.stood_ms[number, side] = clock_ms
                if view.start_ply == 0 and base_s is not None and clock_ms < base_s * SECOND_MS:
                    found.simple[number] = False  # bughouse: it may have been running
    return found
