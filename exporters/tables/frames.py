"""The tables of plies, sides, games and events as DataFrames, in the dtypes of ``exporters.tables.columns``.

Plies are read as arrays of many games: no Python runs for each ply.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from exporters.tables.arrays import (
    empty,
    frame_of,
    frame_of_arrow,
    frame_of_lists,
    frame_of_rows,
    instants,
    joined,
    spread,
    whole,
)
from exporters.tables.columns import EVENT_COLUMNS, GAME_COLUMNS, ON_REQUEST, PLY_COLUMNS, SIDE_COLUMNS, Column
from exporters.tables.facts import SCORES, GameSide, side_of
from exporters.tables.values import Spread, values_of
from recorder.errors import StorageError
from recorder.model import Game, TimeBasis
from storage import GameFilter
from storage.dataset.reading import DatasetReader, DatasetStore
from storage.read.columns import ColumnReader, GameFacts, pieces
from storage.read.store import GameStore

if TYPE_CHECKING:
    from storage.read.store import TableReader

__all__ = [
    "event_frame",
    "event_values",
    "events_of",
    "free_bytes",
    "game_frame",
    "game_rows",
    "joined_plies",
    "plies_of",
    "ply_frame",
    "side_frame",
    "with_extra",
    "ply_batches",
]


def ply_frame(
    storage: GameStore, where: GameFilter, extra: Collection[str] = (), *, arrow: bool = True
) -> pd.DataFrame:
    """The plies of the games that match, as ``docs/reference/tables.md`` describes.

    Args:
        storage: the archive, a shared database or a data set. where: which games. extra: names of ``ON_REQUEST``.
        arrow: use ADBC if the extra ``arrow`` is installed.
    Returns:
        One row for each ply, games in the archive's order.
    """
    with storage.columns(arrow=arrow) as reader:
        games = reader.games_of(where)
        _warn_of_size(sum(plies for _, plies in games), free_bytes())
        return plies_of(reader, [row_id for row_id, _ in games], extra)


_BYTES_IN_ROW = 320
_BYTES_TO_READ_ROW = 600
_MB = 1_000_000


def _warn_of_size(rows: int, free: int | None) -> None:
    """Warn if a ply frame of so many rows does not fit into the free memory; ``free`` None: it is unknown."""
    if free is not None and rows * _BYTES_TO_READ_ROW > free:
        warnings.warn(
            f"The table of {rows:,} plies has about {rows * _BYTES_IN_ROW // _MB:,} MB, and reading it takes about "
            f"{rows * _BYTES_TO_READ_ROW // _MB:,} MB of memory, of which {free // _MB:,} MB are free: read pieces of "
            "it with batches(), or a data set with recorder.Dataset.",
            stacklevel=4,  # the caller of Archive.plies
        )


def free_bytes() -> int | None:
    """The memory that programs can get, in bytes; None where the operating system does not report it."""
    try:
        words = Path("/proc/meminfo").read_text(encoding="ascii").split()
        return int(words[words.index("MemAvailable:") + 1]) * 1024
    except (OSError, ValueError):
        return None


def ply_batches(
    reader: TableReader, games: list[tuple[int, int]], rows: int, columns: Sequence[Column] = PLY_COLUMNS
) -> Iterator[pd.DataFrame]:
    """As ``plies_of``, in runs of about so many rows and at least one game.

    Args:
        reader: of the archive or data set.
        games: row number and number of plies of each game.
        rows: the most rows of a run of several games.
        columns: of the frames.
    Yields:
        One row for each ply of a run.
    """
    if isinstance(reader, DatasetReader):
        if games:
            yield from _runs_of_dataset(reader, list(pieces(games, rows)), columns)
        return
    for run in pieces(games, rows):
        yield _plies_of(reader, run, columns)


def plies_of(reader: TableReader, ids: list[int], extra: Collection[str] = ()) -> pd.DataFrame:
    """As ``ply_frame``: of the games with these row numbers, in this order.

    Args:
        reader: of the archive or data set.
        ids: row numbers of games.
        extra: names of ``ON_REQUEST``.
    Returns:
        One row for each ply; without games an empty frame with all columns.
    """
    columns = with_extra(extra)
    if isinstance(reader, DatasetReader):
        return next(_runs_of_dataset(reader, [ids], columns)) if ids else empty(columns)
    return _plies_of(reader, ids, columns)


def joined_plies(reader: TableReader, games: list[tuple[int, int]], columns: Sequence[Column]) -> pd.DataFrame:
    """The plies of many games, read in batches, so that memory holds little more than the frame.

    Args:
        reader: of the archive or data set.
        games: row number and number of plies of each game.
        columns: of the frame.
    Returns:
        One row for each ply.
    """
    return joined(columns, ply_batches(reader, games, _PLIES_AT_ONCE, columns))


def _plies_of(reader: ColumnReader, ids: list[int], columns: Sequence[Column]) -> pd.DataFrame:
    values = values_of(reader, ids, [column.name for column in columns])
    if values is None:
        return empty(columns)
    return frame_of(columns, {column.name: _of_values(column, values[column.name]) for column in columns})


def with_extra(extra: Collection[str]) -> tuple[Column, ...]:
    """The columns of plies, with some of ``ON_REQUEST``."""
    return (*PLY_COLUMNS, *(column for column in ON_REQUEST if column.name in extra))


_REQUESTED = frozenset(column.name for column in ON_REQUEST)
_OF_GAMES = frozenset(("eco", "opening", "event"))
"""Those of them that a data set has, in its tables of games and events."""
_WORDS_OF_GAMES = {name: (name,) for name in ("server", "variant", "category", "ending", "termination", "reason")} | {
    "time_control": ("time_control", "black_time_control"),
    **dict.fromkeys(("mover", "opponent"), ("white", "black")),
    **dict.fromkeys(("mover_id", "opponent_id"), ("white_id", "black_id")),
}
"""Columns of plies whose words are those of columns of games, even if no ply has them."""


def _runs_of_dataset(
    reader: DatasetReader, runs: Sequence[Sequence[int]], columns: Sequence[Column]
) -> Iterator[pd.DataFrame]:
    """Tables of games of a data set, one for each run of row numbers.

    Raises:
        StorageError: a data set does not have one of the columns.
    """
    there = _OF_GAMES if reader.has_games else frozenset()
    if missing := [column.name for column in columns if column.name in _REQUESTED - there]:
        raise StorageError(f"A data set has no column {' or '.join(missing)}: read the plies of an archive.")
    for run, table in zip(runs, reader.plies(runs, [column.name for column in columns]), strict=True):
        words: dict[str, set[str]] = {}
        if reader.has_games:
            games = reader.game_rows(run)
            for name, sources in _WORDS_OF_GAMES.items():
                words[name] = {word for one in sources for word in games[one].unique().to_pylist()} - {None}
        yield frame_of_arrow(columns, table, words)


def _of_values(column: Column, values: Any) -> Any:
    """A column of ``PlyValues``."""
    if isinstance(values, Spread):
        return spread(column, values.facts, values.rows)
    if column.kind == "text":
        return pd.array(values, dtype="string")
    if column.kind == "instant":
        return instants(values)
    return whole(values, np.int32 if column.dtype == "Int32" else np.int64)


_GAMES_AT_ONCE = 5_000
_PLIES_AT_ONCE = 100_000


def side_frame(reader: TableReader, games: list[tuple[int, int]], player: str | None = None) -> pd.DataFrame:
    """Two rows for each of these games, White's first; ``games`` are row numbers and numbers of plies.

    Args:
        reader: of the archive or data set.
        games: row number and number of plies of each game.
        player: a handle, in any case; None: the sides of all players.
    Returns:
        A frame with the columns of ``SIDE_COLUMNS``.
    """

    def wanted(frame: pd.DataFrame) -> pd.DataFrame:
        return frame if player is None else frame[frame["player"].astype("string").str.lower() == player.lower()]

    if isinstance(reader, DatasetReader):
        table = reader.side_rows([row_id for row_id, _ in games])
        frame = frame_of_arrow([column for column in SIDE_COLUMNS if column.name != "score"], table, {})
        points = frame["result"].astype("string").map(SCORES).astype("Float64")
        frame.insert(_SCORE_PLACE, "score", points.where(frame["side"] == "white", 1 - points))
        return wanted(frame)
    runs = range(0, len(games), _GAMES_AT_ONCE)
    return joined(SIDE_COLUMNS, (wanted(_sides_of(reader, games[begin : begin + _GAMES_AT_ONCE])) for begin in runs))


def _sides_of(reader: ColumnReader, games: list[tuple[int, int]]) -> pd.DataFrame:
    rows = []
    for facts, (_, plies) in zip(reader.facts([row_id for row_id, _ in games]), games, strict=True):
        sides = {white: side_of(facts, white) for white in (True, False)}
        for white in (True, False):
            mine = sides[white]
            rows.append(
                {
                    **_common(facts, plies),
                    "side": "white" if white else "black",
                    **_player("player", mine),
                    **_player("opponent", sides[not white]),
                    "player_sealed": mine.sealed,
                    "time_control": mine.time_control,
                    "base_s": mine.base_s,
                    "increment_s": mine.increment_s,
                    "score": mine.score,
                }
            )
    return frame_of_rows(SIDE_COLUMNS, rows)


_SCORE_PLACE = [column.name for column in SIDE_COLUMNS].index("score")


def game_frame(reader: TableReader, games: list[tuple[int, int]]) -> pd.DataFrame:
    """One row for each of these games; ``games`` are row numbers and numbers of plies.

    Args:
        reader: of the archive or data set.
        games: row number and number of plies of each game.
    Returns:
        A frame with the columns of ``GAME_COLUMNS``.
    """
    if isinstance(reader, DatasetReader):
        return frame_of_arrow(GAME_COLUMNS, reader.game_rows([row_id for row_id, _ in games]), {})
    rows = game_rows(reader, games)
    runs = iter(lambda: list(islice(rows, _GAMES_AT_ONCE)), [])
    return joined(GAME_COLUMNS, (frame_of_rows(GAME_COLUMNS, run) for run in runs))


def game_rows(reader: TableReader, games: Sequence[tuple[int, int]]) -> Iterator[dict[str, Any]]:
    """The same as plain values by column: an instant is milliseconds since 1970, a truth may be 0 or 1."""
    if isinstance(reader, DatasetReader):
        for row in reader.each_game([row_id for row_id, _ in games]):
            utc = row["time_basis"] == TimeBasis.UTC.value
            yield row | {"started_at": row["started_ms"] if utc else None}
        return
    for begin in range(0, len(games), _GAMES_AT_ONCE):
        run = games[begin : begin + _GAMES_AT_ONCE]
        for facts, (_, plies) in zip(reader.facts([row_id for row_id, _ in run]), run, strict=True):
            white, black = side_of(facts, True), side_of(facts, False)
            yield {
                **_common(facts, plies),
                **_player("white", white),
                **_player("black", black),
                "time_control": white.time_control,
                "black_time_control": black.time_control,
            }


def event_frame(games: Iterable[Game]) -> pd.DataFrame:
    """The events of these games, in the order of their lines; equal events of several sources once.

    Args:
        games: with their events.
    Returns:
        A frame with the columns of ``EVENT_COLUMNS``.
    """
    return frame_of_lists(EVENT_COLUMNS, event_values(games))


def event_values(games: Iterable[Game]) -> dict[str, list[Any]]:
    """The same as plain values by column: an instant is milliseconds since 1970."""
    # No row keeps its game in memory.
    rows = [(game.key, game.reason_key, game.time_basis, event) for game in games for event in game.events]
    return {
        "key": [key for key, *_ in rows],
        "ply": [event.ply for *_, event in rows],
        "kind": [event.kind.value for *_, event in rows],
        "detail": [event.detail for *_, event in rows],
        "actor": [event.actor for *_, event in rows],
        "value": [event.value for *_, event in rows],
        "text": [event.text for *_, event in rows],
        "white_clock_ms": [event.white_clock_ms for *_, event in rows],
        "black_clock_ms": [event.black_clock_ms for *_, event in rows],
        "reason": [reason for _, reason, *_ in rows],
        "at": [event.at_ms if basis is TimeBasis.UTC else None for _, _, basis, event in rows],
        "arrival_ms": [event.at_ms for *_, event in rows],
        "time_basis": [basis.value for _, _, basis, _ in rows],
    }


def events_of(storage: GameStore, where: GameFilter) -> pd.DataFrame:
    """The events of the games that match, all of one moment.

    Args:
        storage: the archive, a shared database or a data set. where: which games.
    Returns:
        A frame with the columns of ``EVENT_COLUMNS``.
    """
    if isinstance(storage, DatasetStore):
        with storage.columns() as reader:
            table = reader.events([row_id for row_id, _ in reader.games_of(where)])
            return empty(EVENT_COLUMNS) if table is None else frame_of_arrow(EVENT_COLUMNS, table, {})
    with storage.snapshot():
        return event_frame(
            storage.games(where, with_holdings=False, with_lines=False, with_thinking=False, whole_plies=False)
        )


def _common(facts: GameFacts, plies: int) -> dict[str, Any]:
    return {
        **facts._asdict(),
        "termination": facts.termination or None,
        "reason": facts.reason_key,
        "started_at": facts.started_at_ms if facts.time_basis == TimeBasis.UTC.value else None,
        "started_ms": facts.started_at_ms,
        "day": facts.day,
        "plies": plies,
    }


def _player(name: str, side: GameSide) -> dict[str, Any]:
    return {
        name: side.handle,
        f"{name}_id": side.identity,
        f"{name}_guest": side.guest,
        f"{name}_computer": side.computer,
        f"{name}_rating": side.rating,
    }
