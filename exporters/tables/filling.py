"""Games as rows of the tables ``games`` and ``plies``: what is known of a game is computed here.

The plies of plain games are computed many games at once, as arrays: what ``recorder.ledger`` and
``recorder.model.boards`` say of them. A game is plain if it is one line of one observation, without pieces in hand and
evaluations, all its moves are proved and follow from its start, and its clocks need no line to explain them. Nearly all
games are. No pandas.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from exporters.evaluations import judged
from exporters.holdings import plies_with_holdings
from exporters.tables.columns import EVALUATIONS, PLY_COLUMNS
from exporters.tables.facts import game_facts
from exporters.tables.sql import GAME_TYPES, PLY_TYPES
from recorder.ledger import (
    FELT_LAG_MS,
    MILLISECONDS,
    PRINTED,
    SECOND_MS,
    Cause,
    LedgerEntry,
    are_judged,
    ledger_rows,
    unit_ms_of,
)
from recorder.model import Game, GameKind, Ply, Precision, Proof, control_of
from recorder.model.boards import has_phases, phases, shown_board
from recorder.rules.fen import STANDARD_FEN
from recorder.rules.legality import line_phases
from storage.read.columns import NULL, ColumnReader, GameFacts, Ints, PlainLine, PlyArrays

_EXACT, _ROUNDING, _FIRST, _SNAPSHOT = (
    list(Cause).index(cause) for cause in (Cause.EXACT, Cause.ROUNDING, Cause.FIRST_MOVE, Cause.SNAPSHOT)
)
_PROVED: Final = (Proof.FULL.value, Proof.LIST.value, Proof.INFERRED.value)
#: The third part of ``quality`` → ``Precision``; see docs/reference/schema.md.
_PRECISIONS = np.array(
    [
        Precision.MILLISECONDS,
        Precision.SECONDS,
        -1,
        Precision.DERIVED_MILLISECONDS,
        Precision.DERIVED_SECONDS,
        Precision.ELAPSED_DERIVED_MILLISECONDS,
        Precision.ELAPSED_DERIVED_SECONDS,
    ],
    dtype=np.int64,
)


class _Block(NamedTuple):
    """Games of one line.

    Attributes:
        starts: the first row of each game, and at the end the number of rows. game: for each row its game's number.
        plies: the rows; ``at_ms`` is as in ``Ply``. proof, origin, precision: the enums' integers; -1: no time printed.
    """

    games: Sequence[GameFacts]
    lines: Sequence[PlainLine]
    starts: Ints
    game: Ints
    plies: PlyArrays
    proof: Ints
    origin: Ints
    precision: Ints


def plain_plies(reader: ColumnReader, games: Sequence[GameFacts]) -> dict[str, NDArray[Any]]:
    """With ``game``, the row number; an unknown integer is ``NULL``, a word its place in the column's words."""
    lines = reader.plain_lines([game.id for game in games])
    if not lines:
        return {"game": np.empty(0, dtype=np.int64)}
    facts = {game.id: game for game in games}
    block = _read(reader, lines, [facts[line.game_id] for line in lines])
    plies, white = block.plies, block.plies.ply & 1 == 1
    after = np.where(white, plies.white_clock_ms, plies.black_clock_ms)
    printed = np.where(white, plies.black_clock_ms, plies.white_clock_ms)
    clocks, plain = _clocks(block, after)
    phase = _phases(block, plain)
    found = {
        "game": np.array([game.id for game in block.games], dtype=np.int64)[block.game],
        "ply": plies.ply,
        "move": plies.move,
        "san": plies.san,
        "clock_after_ms": after,
        "opponent_clock_ms": printed,
        "elapsed_ms": plies.elapsed_ms,
        "lag_ms": plies.lag_ms,
        "arrival_ms": plies.at_ms,
        "proof": block.proof,
        "origin": block.origin,
        "precision": block.precision,
        "phase": phase,
        **clocks,
    }
    kept = plain[block.game]
    return found if kept.all() else {name: values[kept] for name, values in found.items()}


def _read(reader: ColumnReader, lines: list[PlainLine], games: list[GameFacts]) -> _Block:
    counts = np.array([line.ply_count for line in lines], dtype=np.int64)
    plies = reader.plies([(line.first_ply_id, line.ply_count) for line in lines])
    game = np.repeat(np.arange(len(lines)), counts)
    began = np.array([line.started_at_ms or 0 for line in lines], dtype=np.int64)
    return _Block(
        games,
        lines,
        np.concatenate(([0], np.cumsum(counts))),
        game,
        plies._replace(at_ms=np.where(plies.at_ms == NULL, NULL, plies.at_ms + began[game])),
        plies.quality & 7,
        plies.quality >> 3 & 7,
        _PRECISIONS[plies.quality >> 6],
    )


def _phases(block: _Block, plain: NDArray[np.bool_]) -> Ints:
    """-1: it has none; games whose moves cannot be played are not plain."""
    found = np.full(len(block.game), -1, dtype=np.int64)
    proved = np.logical_and.reduceat(np.isin(block.proof, _PROVED) & (block.plies.move != NULL), block.starts[:-1])
    for number in np.flatnonzero(plain).tolist():
        game = block.games[number]
        if not has_phases(game.variant):
            continue
        first, last = block.starts[number : number + 2].tolist()
        start = game.start_fen or STANDARD_FEN
        begins = (game.start_fen is not None or game.start_ply == 0) and block.plies.ply[first] == game.start_ply + 1
        board = shown_board(start) if begins and proved[number] and game.variant != "atomic" else None
        phases = None
        if board is not None:
            phases = line_phases(board, block.plies.move[first:last].tolist(), game.start_ply % 2 == 0)
        if phases is None:
            plain[number] = False
        else:
            found[first:last] = phases
    return found


class _Starts(NamedTuple):
    """Pairs are Black's and White's, as ``ply & 1`` is the mover."""

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
    plain: NDArray[np.bool_]


def _clocks(block: _Block, after: Ints) -> tuple[dict[str, Ints], NDArray[np.bool_]]:
    """And of each game whether they are sure to be the ledger's."""
    starts = _starts(block)
    plies, game = block.plies, block.game
    place = np.arange(len(game)) - block.starts[game]
    side = plies.ply & 1
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
    starts.plain[game[unusual | (plies.ply != starts.ply[game] + 1 + place)]] = False
    clocks = {
        "clock_before_ms": before,
        "interval_ms": interval,
        "thinking_ms": thinking,
        "residual_ms": residual,
        "cause": cause,
    }
    return clocks, starts.plain


def _thinking(block: _Block, starts: _Starts, place: Ints, interval: Ints) -> Ints:
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


def _starts(block: _Block) -> _Starts:
    count = len(block.games)
    starts = _Starts(
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
        plain=np.ones(count, dtype=bool),
    )
    for number, (game, line) in enumerate(zip(block.games, block.lines, strict=True)):
        me = None if game.me is None else game.me.lower()
        judged = are_judged(GameKind(game.kind), game.base_s, game.increment_s)
        clocks = (line.start_black_clock_ms, line.start_white_clock_ms)
        if line.start_ply is not None:
            starts.ply[number], starts.shown[number] = line.start_ply, True
            if line.start_ply == 0:
                if line.start_at_ms is not None:
                    starts.at_ms[number] = line.start_at_ms
                judged = judged and bool(clocks[0] or clocks[1])
        starts.judged[number] = judged
        for side, clock_ms in enumerate(clocks):
            base_s, increment_s = control_of(game, side == 1)
            if increment_s is not None:
                starts.increment_ms[number, side] = increment_s * SECOND_MS
            sealed, handle = (game.white_sealed, game.white) if side else (game.black_sealed, game.black)
            starts.sealed[number, side] = -1 if sealed is None else sealed
            starts.own[number, side] = me == handle.lower()
            if line.start_ply is None:
                if base_s is not None:
                    starts.stood_ms[number, side] = base_s * SECOND_MS
            elif clock_ms is not None:
                starts.unit_ms[number, side] = unit_ms_of(clock_ms, line.start_precision)
                starts.running_ms[number, side] = clock_ms
                if line.start_ply == 0 or line.start_ply & 1 == side:
                    starts.stood_ms[number, side] = clock_ms
                if line.start_ply == 0 and base_s is not None and clock_ms < base_s * SECOND_MS:
                    starts.plain[number] = False  # bughouse: it may have been running
    return starts


Arrays = dict[str, NDArray[Any]]
"""A text is an object, an integer that is unknown ``NULL``, a word its place in ``_WORDS``."""
_WORDS: Final = {column.name: column.words for column in PLY_COLUMNS if column.words and column.name in PLY_TYPES}
_CAUSES: Final = {None: None} | {cause: index for index, cause in enumerate(Cause)}
_OF_PLY: Final = {
    "ply": "ply",
    "move": "move",
    "san": "san",
    "elapsed_ms": "elapsed_ms",
    "lag_ms": "lag_ms",
    "arrival_ms": "at_ms",
    "proof": "proof_code",
    "origin": "origin_code",
    "precision": "precision_code",
}
_OF_ENTRY: Final = {
    "clock_before_ms": "before_ms",
    "clock_after_ms": "after_ms",
    "opponent_clock_ms": "opponent_ms",
    "interval_ms": "interval_ms",
    "thinking_ms": "thinking_ms",
    "residual_ms": "residual_ms",
    "cause": "cause",
}
_PLACES: Final = {name: Ply._fields.index(field) for name, field in _OF_PLY.items()}
_ENTRY_PLACES: Final = {name: LedgerEntry._fields.index(field) for name, field in _OF_ENTRY.items()}
_HANDS: Final = {"white_holdings": 0, "black_holdings": 1}
_JUDGED: Final = {name: index for index, name in enumerate(EVALUATIONS)}


def make_table(connection: Any, name: str, like: str) -> None:
    own, types = ("id BIGINT", GAME_TYPES) if like == "games" else ("game BIGINT", PLY_TYPES)
    columns = ", ".join(("part INTEGER", own, *(f'"{one}" {kind}' for one, kind in types.items())))
    connection.execute(f"CREATE OR REPLACE TABLE {name} ({columns})")


def add_games(
    connection: Any,
    table: str,
    statement: str | None,
    reader: ColumnReader,
    games: Sequence[tuple[int, int]],
    *,
    part: int = 0,
) -> int:
    """And run a statement over their plies, ``{}`` being the SELECT; how many plies, none without a statement."""
    ids = [row_id for row_id, _ in games]
    facts = reader.facts(ids)
    named = reader.named_events(ids)
    rows = [game_facts(one, plies) | {"event": named.get(one.id)} for one, (_, plies) in zip(facts, games, strict=True)]
    arrays = {name: _column(kind, [row[name] for row in rows]) for name, kind in GAME_TYPES.items()}
    arrays["id"] = np.array(ids, dtype=np.int64)
    connection.execute(f"INSERT INTO {table} {_select('arrays', arrays, GAME_TYPES, f'{part} AS part, id')}")
    if statement is None:
        return 0
    plain = plain_plies(reader, facts)
    known = set(plain["game"].tolist())
    other = _other_plies(reader, [row_id for row_id, plies in games if plies and row_id not in known])
    found = {name: arrays for name, arrays in (("plain", plain), ("other", other)) if len(arrays["game"])}
    for arrays in found.values():
        _add_waiting(arrays)
    if found:
        own = f"{part}::INTEGER AS part, game"
        selects = [_select(name, arrays, PLY_TYPES, own) for name, arrays in found.items()]
        connection.execute(statement.format(" UNION ALL ".join(selects)))
    return len(plain["game"]) + len(other["game"])


def _other_plies(reader: ColumnReader, ids: list[int]) -> Arrays:
    """One game after another; columns of which nothing is known are not there."""
    counts: list[int] = []
    plies: dict[str, list[Any]] = {}
    for game in reader.games(ids):
        counts.append(_take(plies, game))
    return {"game": np.repeat(np.array(ids, dtype=np.int64), counts)} | (_arrays_of(plies) if plies else {})


def _take(found: dict[str, list[Any]], game: Game) -> int:
    """No row stays in memory; how many plies there are."""
    rows = game.rows
    if not rows:
        return 0
    held = any(observation.holdings for observation in game.observations)
    hands = [hands for _, hands in plies_with_holdings(game)] if held else None
    entries = ledger_rows(game)
    for names, values in ((_PLACES, rows), (_ENTRY_PLACES, entries), (_HANDS, hands), (_JUDGED, judged(game))):
        columns = None if values is None else list(zip(*values, strict=True))
        for name, place in names.items():
            found.setdefault(name, []).extend([None] * len(rows) if columns is None else columns[place])
    found.setdefault("phase", []).extend(phases(game))
    return len(rows)


def _arrays_of(plies: dict[str, list[Any]]) -> Arrays:
    plies["cause"] = [_CAUSES[cause] for cause in plies["cause"]]
    return {
        name: _column("INTEGER" if name in _WORDS else PLY_TYPES[name], values)
        for name, values in plies.items()
        if name in ("clock_after_ms", "opponent_clock_ms") or values.count(None) < len(values)
    }


def _add_waiting(arrays: Arrays) -> None:
    """If it was not printed, as in saved games and deltas, it is that after the opponent's move before."""
    printed, game, ply = arrays["opponent_clock_ms"], arrays["game"], arrays["ply"]
    follows = (printed[1:] == NULL) & (game[1:] == game[:-1]) & (ply[1:] == ply[:-1] + 1)
    arrays["both_clocks"] = (printed != NULL).astype(np.int64)
    arrays["opponent_clock_ms"] = printed.copy()
    arrays["opponent_clock_ms"][1:][follows] = arrays["clock_after_ms"][:-1][follows]


def _select(table: str, arrays: Arrays, types: Mapping[str, str], own: str) -> str:
    columns = ", ".join((own, *(_typed(name, kind, arrays) for name, kind in types.items())))
    return f"SELECT {columns} FROM {table}"


def _typed(name: str, kind: str, arrays: Arrays) -> str:
    if name not in arrays:
        return f'NULL::{kind} AS "{name}"'
    if name in _WORDS:
        return f"{list(_WORDS[name])}[{name} + 1] AS {name}"
    if kind == "VARCHAR":
        return f'"{name}"::VARCHAR AS "{name}"'
    return f'nullif("{name}", {NULL})::{kind} AS "{name}"'


def _column(kind: str, values: Sequence[Any]) -> NDArray[Any]:
    if kind == "VARCHAR":
        return np.array(values, dtype=object)
    if None in values:
        values = [NULL if value is None else value for value in values]
    return np.array(values, dtype=np.int64)


def in_pieces(games: Sequence[tuple[int, int]], plies: int) -> Iterator[list[tuple[int, int]]]:
    """At most so many plies in a run, unless one game has more."""
    run: list[tuple[int, int]] = []
    count = 0
    for game in games:
        if run and count + game[1] > plies:
            yield run
            run, count = [], 0
        run.append(game)
        count += game[1]
    if run:
        yield run
