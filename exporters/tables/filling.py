"""Games of an archive as rows of the tables ``games`` and ``plies``: what is known of a game is computed here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from exporters.tables.facts import game_facts
from exporters.tables.sql import GAME_TYPES, PLY_TYPES
from exporters.tables.values import Spread, values_of
from storage.read.columns import NULL, ColumnReader, pieces

Arrays = dict[str, NDArray[Any]]
"""The columns of a table; a text is an object, and an integer that is unknown is ``NULL``."""
_UNKNOWN: Final = -1  # of truths


def _arrays_of_games(reader: ColumnReader, games: Sequence[tuple[int, int]]) -> Arrays:
    """The rows of ``games``, of row numbers and numbers of plies."""
    ids = [row_id for row_id, _ in games]
    named = reader.named_events(ids)
    rows = [
        game_facts(facts, plies) | {"event": named.get(facts.id)}
        for facts, (_, plies) in zip(reader.facts(ids), games, strict=True)
    ]
    found: Arrays = {"id": np.array(ids, dtype=np.int64)}
    for name, kind in GAME_TYPES.items():
        values = [row[name] for row in rows]
        if kind == "VARCHAR":
            found[name] = np.array(values, dtype=object)
        elif kind == "BOOLEAN":
            found[name] = np.array([_UNKNOWN if one is None else one for one in values], dtype=np.int8)
        else:
            found[name] = np.array([NULL if one is None else one for one in values], dtype=np.int64)
    return found


def _arrays_of_plies(reader: ColumnReader, ids: list[int]) -> tuple[Arrays, dict[str, list[Any]]] | None:
    """The rows of ``plies``, with ``game``; None: there are none.

    Also return the lists of words in which columns have places.
    """
    values = values_of(reader, ids, ["game", *PLY_TYPES])
    if values is None:
        return None
    found: Arrays = {}
    words: dict[str, list[Any]] = {}
    for name, of in values.items():
        if isinstance(of, Spread):
            found[name] = np.where(of.rows < 0, len(of.facts) - 1, of.rows).astype(np.int32)
            words[name] = list(of.facts)
        else:
            found[name] = of
    return found, words


def _typed(name: str, kind: str, words: Mapping[str, Sequence[Any]]) -> str:
    """The SQL of a column of arrays."""
    if name in words:
        return f"getvariable('words_{name}')[{name} + 1]::{kind} AS {name}"
    if kind == "VARCHAR":
        return f'"{name}"::VARCHAR AS "{name}"'
    if name == "ply":  # always known
        return f"ply::{kind} AS ply"
    return f'nullif("{name}", {_UNKNOWN if kind == "BOOLEAN" else NULL})::{kind} AS "{name}"'


def make_table(connection: Any, name: str, like: str) -> None:
    """Make an empty table; ``like``: ``games`` or ``plies``."""
    own, types = ("id BIGINT", GAME_TYPES) if like == "games" else ("game BIGINT", PLY_TYPES)
    columns = ", ".join(("part INTEGER", own, *(f'"{one}" {kind}' for one, kind in types.items())))
    connection.execute(f"CREATE OR REPLACE TABLE {name} ({columns})")


def add_games(
    connection: Any,
    table: str,
    reader: ColumnReader,
    games: Sequence[tuple[int, int]],
    *,
    part: int = 0,
    first: int = 0,
) -> None:
    """Add rows to a table of games.

    ``games`` are row number and number of plies of each, ``part`` is the file of plies that has theirs; ``first`` is
    added to row numbers.
    """
    arrays = _arrays_of_games(reader, games)
    columns = _columns(connection, GAME_TYPES, {}, f"{part} AS part, id + {first} AS id")
    connection.execute(f"INSERT INTO {table} SELECT {columns} FROM arrays")
    del arrays


def add_plies(
    connection: Any, statement: str, reader: ColumnReader, ids: list[int], *, part: int = 0, first: int = 0
) -> int:
    """Run a statement, with ``{}`` for the SELECT, over the plies of games; return how many there are.

    Without plies it is not run.
    """
    found = _arrays_of_plies(reader, ids)
    if found is None:
        return 0
    arrays, words = found
    columns = _columns(connection, PLY_TYPES, words, f"{part}::INTEGER AS part, game + {first} AS game")
    connection.execute(statement.format(f"SELECT {columns} FROM arrays"))
    return len(arrays["ply"])


def _columns(connection: Any, types: Mapping[str, str], words: Mapping[str, list[Any]], own: str) -> str:
    for name, facts in words.items():
        connection.execute(f"SET VARIABLE words_{name} = ?::VARCHAR[]", [facts])
    return ", ".join((own, *(_typed(name, kind, words) for name, kind in types.items())))


def in_pieces(games: Sequence[tuple[int, int]], plies: int) -> Iterator[list[tuple[int, int]]]:
    """Games in runs of at most so many plies."""
    rest = iter(games)
    for ids in pieces(games, plies):
        yield list(islice(rest, len(ids)))
