"""Games as rows of the tables ``games`` and ``plies``: what is known of a game is computed here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from exporters.evaluations import judged
from exporters.holdings import plies_with_holdings
from exporters.tables.columns import EVALUATIONS, PLY_COLUMNS
from exporters.tables.facts import game_facts
from exporters.tables.plain import plain_plies
from exporters.tables.sql import GAME_TYPES, PLY_TYPES
from recorder.ledger import Cause, LedgerEntry, ledger_rows
from recorder.model import Game, Ply
from recorder.model.boards import phases
from storage.read.columns import NULL, ColumnReader

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
