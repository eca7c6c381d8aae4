"""Tables of DuckDB as DataFrames, in the dtypes of ``exporters.tables.columns``. They need pandas, and no Arrow.

Words come from DuckDB as numbers, so that no Python object is made for each row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
import pandas as pd

from exporters.tables.columns import Column
from exporters.tables.sql import GAME_TYPES
from storage.read.columns import NULL

_SHARED: Final = {"black": "white", "black_id": "white_id", "black_time_control": "time_control"}
_AT_ONCE: Final = 13
"""Columns that are read at a time: DuckDB and NumPy have the values of these twice."""
_WORDS: Final = [name for name, kind in GAME_TYPES.items() if kind == "VARCHAR"]


def encode_games(connection: Any, columns: Sequence[Column]) -> None:
    """Their types know all words."""
    fixed = {column.name: column.words for column in columns if column.words}
    lists = ", ".join(f"list(DISTINCT {name}) FILTER (WHERE {name} IS NOT NULL)" for name in _WORDS)
    (row,) = connection.execute(f"SELECT {lists} FROM chosen").fetchall()
    words: dict[str, set[str]] = {}
    for name, found in zip(_WORDS, row, strict=True):
        words.setdefault(_SHARED.get(name, name), set()).update(found or ())
    for name, of in words.items():
        listed = ", ".join(
            f"'{word}'" for word in (one.replace("'", "''") for one in fixed.get(name) or sorted(of) or [""])
        )
        connection.execute(f"CREATE OR REPLACE TYPE words_{name} AS ENUM ({listed})")
    casts = ", ".join(f"{name}::words_{_SHARED.get(name, name)} AS {name}" for name in _WORDS)
    connection.execute(f"CREATE OR REPLACE TABLE encoded AS SELECT * REPLACE ({casts}) FROM chosen")


def frame_of(connection: Any, columns: Sequence[Column], select: str, order: str = "0") -> pd.DataFrame:
    """Sorted by an integer; words may be of a type that knows them all."""
    kinds = dict(zip((found := connection.sql(select)).columns, found.types, strict=True))
    texts = {}
    for column in columns:
        name = column.name
        if kinds[name].id == "enum":
            texts[name] = f'enum_code("{name}")'
        elif column.kind == "text" and column.words:
            texts[name] = f'list_position({list(column.words)}, "{name}") - 1'
        else:
            texts[name] = f'epoch_ms("{name}")' if column.kind == "instant" else f'"{name}"'
    words = {name: list(kind.children[0][1]) for name, kind in kinds.items() if kind.id == "enum"}
    made: dict[str, Any] = {}
    for first in range(0, len(columns), _AT_ONCE):
        some = columns[first : first + _AT_ONCE]
        asked = [f'{texts[one.name]} AS "{one.name}"' for one in some]
        values = connection.sql(f"SELECT {', '.join(asked)}, {order} AS _order FROM ({select})").fetchnumpy()
        places = values.pop("_order")
        rows = None if (places[:-1] <= places[1:]).all() else np.argsort(places, kind="stable")
        for one in some:
            found = values.pop(one.name)
            made[one.name] = column_of(one, found if rows is None else found[rows], words.get(one.name))
    return pd.DataFrame(made, copy=False)


def column_of(column: Column, values: Any, words: Sequence[str] | None = None) -> Any:
    """An array, masked where values are missing; of words their places in ``words`` or in the column's."""
    missing = np.ma.getmaskarray(values)
    plain = np.ma.getdata(values)
    if column.kind == "text" and (words is not None or column.words):
        known = pd.Index(list(column.words or words or ()), dtype="str")
        codes = np.where(missing, -1, plain.astype(np.int32))
        if not column.words:  # only those that are there
            used = np.bincount(codes[codes >= 0], minlength=len(known)) > 0
            known, codes = known[used], np.append(np.cumsum(used) - 1, -1)[codes]
        if column.dtype == "category":
            return pd.Categorical.from_codes(codes, categories=known)
        return known.astype("string").array.take(codes, allow_fill=True)
    if column.kind == "text":
        texts = np.where(missing, np.array(None, dtype=object), plain) if missing.any() else plain
        if column.dtype == "category":
            return pd.Categorical(texts, categories=pd.Index(sorted({*texts} - {None}), dtype="str"))
        return pd.array(texts, dtype="string")
    if column.kind == "instant":
        return instants(np.where(missing, NULL, plain.astype(np.int64)))
    if column.kind == "boolean":
        return pd.arrays.BooleanArray(np.where(missing, False, plain).astype(bool), missing)
    if column.kind == "number":
        return pd.arrays.FloatingArray(np.where(missing, 1.0, plain).astype(np.float64), missing)
    integers: Any = plain.astype(np.int32 if column.dtype == "Int32" else np.int64, copy=False)
    integers[missing] = 1
    return pd.arrays.IntegerArray(integers, missing)


def instants(values: Any) -> Any:
    none = np.iinfo(np.int64).min  # NumPy's and pandas' "no instant"
    return pd.Series(np.where(values == NULL, none, values).view("datetime64[ms]")).dt.tz_localize("UTC")


def frame_of_lists(columns: Sequence[Column], values: Mapping[str, Sequence[Any]]) -> pd.DataFrame:
    """An instant is milliseconds since 1970; None: missing."""
    return pd.DataFrame({column.name: list_column(column, values[column.name]) for column in columns})


def list_column(column: Column, values: Sequence[Any]) -> Any:
    if column.dtype == "category":
        return pd.Categorical(values, categories=pd.Index(column.words or sorted({*values} - {None}), dtype="str"))
    if column.kind == "instant":
        return instants(np.array([NULL if value is None else value for value in values], dtype=np.int64))
    dtype: Any = column.dtype  # pandas' types want a literal
    return pd.array(list(values), dtype=dtype)
