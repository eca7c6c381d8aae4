"""Columns of tables as pandas' arrays, in the dtypes of ``exporters.tables.columns``, and frames of them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from exporters.tables.columns import (
    EVENT_COLUMNS,
    GAME_COLUMNS,
    MATCH_COLUMNS,
    ON_REQUEST,
    PLY_COLUMNS,
    SIDE_COLUMNS,
    Column,
)
from storage.read.columns import NULL, Ints

__all__ = [
    "empty",
    "frame_of",
    "frame_of_arrow",
    "frame_of_lists",
    "frame_of_rows",
    "instants",
    "joined",
    "records",
    "spread",
    "units_of",
    "whole",
    "with_timedeltas",
]

_UNITS = {
    column.name: column.unit
    for column in (*PLY_COLUMNS, *ON_REQUEST, *SIDE_COLUMNS, *GAME_COLUMNS, *EVENT_COLUMNS, *MATCH_COLUMNS)
    if column.unit
}
_SUFFIXES = {"_ms": "ms", "_s": "s", "_cp": "cp", "_permille": "‰"}
_INSTANTS = ("arrival_ms", "started_ms")
"""Columns in milliseconds that are no durations."""


def frame_of(columns: Sequence[Column], values: dict[str, Any]) -> pd.DataFrame:
    """The columns in their order."""
    return pd.DataFrame({column.name: values[column.name] for column in columns}, copy=False)


def units_of(table: pd.DataFrame) -> dict[str, str]:
    """The units of a table's columns; columns without a unit are missing."""
    units = {}
    for name in table.columns:
        suffix = next((suffix for suffix in _SUFFIXES if str(name).endswith(suffix)), "")
        if unit := _UNITS.get(name) or _SUFFIXES.get(suffix):
            units[str(name)] = unit
    return units


def with_timedeltas(table: pd.DataFrame) -> pd.DataFrame:
    """A table whose durations are Timedelta, in columns named without the unit: ``elapsed`` for ``elapsed_ms``."""
    found = table.copy(deep=False)
    names = {}
    for name in table.columns:
        suffix = next((suffix for suffix in ("_ms", "_s") if str(name).endswith(suffix)), None)
        if suffix is not None and name not in _INSTANTS:
            found[name] = pd.to_timedelta(table[name], unit="ms" if suffix == "_ms" else "s")
            names[name] = str(name).removesuffix(suffix)
    return found.rename(columns=names)


def empty(columns: Sequence[Column]) -> pd.DataFrame:
    """No rows, but all columns with their dtypes."""
    return pd.DataFrame({column.name: _no_values(column) for column in columns})


def spread(column: Column, facts: Sequence[Any], rows: NDArray[Any] | None = None) -> Any:
    """A fact of games or sides, at every row that it belongs to.

    What a category holds besides fixed words is sorted.

    Args:
        facts: a value for each game or side; None: missing.
        rows: for each row the place of its fact; None: one row for each fact.
    """
    if column.dtype == "category":
        words = column.words or sorted(set(facts) - {None})
        number = {None: -1} | {word: code for code, word in enumerate(words)}
        codes = np.array([number[fact] for fact in facts], dtype=np.int32)
        return _coded(words, codes if rows is None else codes[rows])
    found = _array(facts, column)
    return found if rows is None else found.take(rows)


def frame_of_arrow(columns: Sequence[Column], table: Any, words: Mapping[str, Collection[str]]) -> pd.DataFrame:
    """The columns of an Arrow table in their dtypes.

    Args:
        columns: of the frame, each in the table.
        table: instants have any unit, and words are texts.
        words: by column what a category without fixed words holds; default: the words of the column.
    Returns:
        One row for each of the table's.
    """
    return frame_of(columns, {column.name: _of_arrow(column, table[column.name], words) for column in columns})


def _of_arrow(column: Column, values: Any, words: Mapping[str, Collection[str]]) -> Any:
    if column.dtype == "category":
        encoded = values.combine_chunks().dictionary_encode()
        there: list[str] = encoded.dictionary.to_pylist()
        known = column.words or sorted(words.get(column.name, there))
        places = {word: place for place, word in enumerate(known)}
        codes = np.array([*(places[word] for word in there), -1], dtype=np.int32)  # a missing word has the last place
        return _coded(known, codes[encoded.indices.fill_null(len(there)).to_numpy(zero_copy_only=False)])
    if column.kind == "instant":
        return values.to_pandas().astype(column.dtype)
    dtype: Any = pd.api.types.pandas_dtype(column.dtype)
    return values.to_pandas(types_mapper=lambda _: dtype).array


def _coded(words: Sequence[str], codes: NDArray[Any]) -> pd.Categorical:
    """A category; code -1: missing."""
    return pd.Categorical.from_codes(codes, categories=pd.Index(list(words), dtype="str"))


def whole(values: Ints, kind: type[np.signedinteger[Any]] = np.int64) -> Any:
    """Integers, missing where the array says ``NULL``."""
    unknown = values == NULL
    return pd.arrays.IntegerArray(np.where(unknown, 1, values).astype(kind), unknown)


def instants(values: Ints) -> Any:
    """Milliseconds since 1970 as instants in UTC."""
    missing = np.iinfo(np.int64).min  # NumPy's and pandas' "no instant"
    return pd.Series(np.where(values == NULL, missing, values).view("datetime64[ms]")).dt.tz_localize("UTC")


def _no_values(column: Column) -> Any:
    return _coded(column.words, np.empty(0, dtype=np.int8)) if column.dtype == "category" else _array((), column)


def _array(facts: Sequence[Any], column: Column) -> Any:
    if column.kind == "instant":
        return instants(np.empty(0, dtype=np.int64))
    dtype: Any = column.dtype  # pandas' types want a literal
    return pd.array(list(facts), dtype=dtype)


def frame_of_rows(columns: tuple[Column, ...], rows: list[dict[str, Any]]) -> pd.DataFrame:
    """Rows, each the values by the names of the columns."""
    return frame_of_lists(columns, {column.name: [row[column.name] for row in rows] for column in columns})


def frame_of_lists(columns: tuple[Column, ...], values: Mapping[str, list[Any]]) -> pd.DataFrame:
    """Plain values by the names of the columns: an instant is milliseconds since 1970; None: missing."""
    if not values[columns[0].name]:
        return empty(columns)
    return frame_of(columns, {column.name: _event_values(column, values[column.name]) for column in columns})


def joined(columns: Sequence[Column], frames: Iterable[pd.DataFrame]) -> pd.DataFrame:
    """Frames one behind the other. Their arrays need a tenth of the memory of the rows that they are made of."""
    found = list(frames)
    if len(found) < 2:
        return found[0] if found else empty(columns)
    return frame_of(
        columns, {one.name: _joined_column(one, [frame.pop(one.name) for frame in found]) for one in columns}
    )


def _joined_column(column: Column, values: list[pd.Series[Any]]) -> Any:
    if column.dtype == "category":
        return pd.api.types.union_categoricals(values, sort_categories=not column.words)
    return pd.concat(values, ignore_index=True).array


def _event_values(column: Column, values: list[Any]) -> Any:
    if column.kind == "instant":
        return instants(np.array([NULL if value is None else value for value in values], dtype=np.int64))
    return spread(column, values)


def records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows of a frame by the names of its columns."""
    return [{str(name): value for name, value in row.items()} for row in frame.to_dict("records")]
