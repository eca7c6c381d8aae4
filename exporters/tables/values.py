"""What is known of each ply, as arrays of many games. No pandas."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from exporters.tables.block import PlyBlock, holdings_of, moves_of, read_block
from exporters.tables.boards import fens, material, replay
from exporters.tables.columns import EVALUATIONS, PHASES
from exporters.tables.evaluations import Judged, judge_block
from recorder.ledger import FELT_LAG_MS, MILLISECONDS, PRINTED, SECOND_MS, Cause, are_judged, ledger, unit_ms_of
from recorder.model import (
    ELAPSED_DERIVED,
    ELAPSED_ORIGINS,
    SAVED_ORIGINS,
    GameKind,
    Origin,
    Precision,
    Proof,
    control_of,
)
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


class Spread(NamedTuple):
    """A column that repeats few values.

    Attributes:
        facts: the values; None: not known.
        rows: for each row the index of its value in ``facts``; -1: the last. Columns that share this array vary
            together.
    """

    facts: Sequence[Any]
    rows: NDArray[np.signedinteger[Any]]


PlyValues = dict[str, "Spread | Ints | NDArray[np.object_]"]
"""Columns by name: few values at many rows, integers (``NULL`` where unknown), or texts (None where unknown)."""


def values_of(reader: ColumnReader, ids: list[int], names: Collection[str]) -> PlyValues | None:
    """Columns of the plies of some games.

    Names are ``game``, the row number; columns of ``PLY_TYPES``; ``material`` and ``fen``. What only others need is
    skipped. None: the games have no plies.
    """
    block = read_block(reader, ids) if ids else None
    if block is None:
        return None
    values = _values(block, reader, frozenset(names))
    return {name: values[name] for name in names}


def _values(block: PlyBlock, reader: ColumnReader, names: frozenset[str]) -> PlyValues:
    plies, white = block.plies, block.plies.ply & 1 == 1
    after = np.where(white, plies.white_clock_ms, plies.black_clock_ms)
    printed = np.where(white, plies.black_clock_ms, plies.white_clock_ms)
    values: PlyValues = {
        "game": np.array([game.id for game in block.games], dtype=np.int64)[block.game],
        "ply": plies.ply,
        "move": plies.move,
        "san": plies.san,
        "clock_after_ms": after,
        "both_clocks": (printed != NULL).astype(np.int8),
        "elapsed_ms": plies.elapsed_ms,
        "elapsed_origin": Spread((*ELAPSED_ORIGINS, None), _elapsed_origin(block)),
        "lag_ms": plies.lag_ms,
        "arrival_ms": plies.at_ms,
        **_quality(block),
    }
    if "opponent_clock_ms" in names:
        values["opponent_clock_ms"] = _waiting(block, after, printed)
    if not _OF_CLOCKS.isdisjoint(names):
        clocks = clocks_of(block, reader)
        values |= {
            "clock_before_ms": clocks.before_ms,
            "interval_ms": clocks.interval_ms,
            "thinking_ms": clocks.thinking_ms,
            "residual_ms": clocks.residual_ms,
            "cause": Spread((*CAUSES, None), clocks.cause),
        }
    if not _OF_EVALUATIONS.isdisjoint(names):
        values |= _evaluations(judge_block(block, reader), len(plies.ply))
    if not _OF_BOARDS.isdisjoint(names):
        values |= _boards(block, reader, names)
    return values


_OF_CLOCKS = frozenset({"clock_before_ms", "interval_ms", "thinking_ms", "residual_ms", "cause"})
_OF_EVALUATIONS = frozenset(EVALUATIONS)
_OF_HANDS = frozenset({"white_holdings", "black_holdings", "fen"})
_OF_BOARDS = frozenset({"phase", "material", "fen"}) | _OF_HANDS


def _boards(block: PlyBlock, reader: ColumnReader, names: frozenset[str]) -> PlyValues:
    """The phase and pieces in hand, and what positions show."""
    values: PlyValues = {}
    if not _OF_HANDS.isdisjoint(names):
        values["white_holdings"], values["black_holdings"] = hands = holdings_of(block, reader)
    if not {"phase", "material", "fen"}.isdisjoint(names):
        played = replay(moves_of(block, reader), keep="fen" in names or "material" in names)
        values["phase"] = Spread((*PHASES, None), played.phase)
        if played.boards is not None and "material" in names:
            values["material"] = np.where(played.known, material(played.boards), NULL)
        if played.boards is not None and "fen" in names:
            values["fen"] = np.array(fens(played, block.plies, *hands), dtype=object)
    return values


_QUALITIES = [(precision, origin, proof) for precision in (None, *Precision) for origin in Origin for proof in Proof]
"""Precision, origin and proof of a ply: all that may occur together."""


def _quality(block: PlyBlock) -> PlyValues:
    rows = ((block.precision + 1) * len(Origin) + block.origin) * len(Proof) + block.proof
    columns = zip(*([None if one is None else one.name.lower() for one in row] for row in _QUALITIES), strict=True)
    return {name: Spread(facts, rows) for name, facts in zip(("precision", "origin", "proof"), columns, strict=True)}


def _evaluations(judged: Judged | None, rows: int) -> PlyValues:
    """The columns of evaluations of some rows; ``judged`` None: no ply has one."""
    if judged is None:
        return dict.fromkeys(EVALUATIONS, Spread((None,), np.zeros(rows, dtype=np.int64)))
    columns: PlyValues = dict(zip(EVALUATIONS, judged[:-1], strict=True))
    columns["eval_engine"] = Spread((*judged.engines, None), judged.engine)
    return columns


def _elapsed_origin(block: PlyBlock) -> Ints:
    """As ``Ply.elapsed_origin``: a place in ``ELAPSED_ORIGINS``, or -1."""
    imported = np.where(np.isin(block.origin, SAVED_ORIGINS), 1, 0)
    origin = np.where(np.isin(block.precision, list(ELAPSED_DERIVED)), 2, imported)
    return np.where(block.plies.elapsed_ms == NULL, -1, origin)


def _waiting(block: PlyBlock, after: Ints, printed: Ints) -> Ints:
    """The opponent's clock after each ply: as printed with it, else that after the opponent's move just before.

    Saved games and deltas print the mover's clock only; ``after`` has these. It does not change while the mover thinks.
    """
    plies, game = block.plies, block.game
    found = printed.copy()
    follows = (game[1:] == game[:-1]) & (plies.ply[1:] == plies.ply[:-1] + 1)
    found[1:] = np.where((printed[1:] == NULL) & follows, after[:-1], printed[1:])
    return found
