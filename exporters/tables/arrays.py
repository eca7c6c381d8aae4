"""Columns of a DataFrame from arrays and lists, in the dtypes of ``columns``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from exporters.tables.columns import Column
from storage.read.columns import NULL, Ints

__all__ = ["coded", "empty", "frame_of", "instants", "missing", "spread", "whole"]


def frame_of(columns: Sequence[Column], values: dict[str, Any]) -> pd.DataFrame:
    """The columns in their order."""
    return pd.DataFrame({column.name: values[column.name] for column in columns}, copy=False)


def empty(columns: Sequence[Column]) -> pd.DataFrame:
    """No rows, but all columns with their dtypes."""
    return pd.DataFrame({column.name: _no_values(column) for column in columns})


def missing(column: Column, count: int) -> Any:
    """A column of integers or of a category without a value in so many rows; costs next to nothing."""
    if column.dtype == "category":
        return coded((), np.full(count, -1, dtype=np.int8))
    kind = np.int32 if column.dtype == "Int32" else np.int64
    return pd.arrays.IntegerArray(np.zeros(count, dtype=kind), np.ones(count, dtype=bool))


def spread(column: Column, facts: Sequence[Any], rows: Ints | None = None) -> Any:
    """A fact of games or sides, at every row that it belongs to; without ``rows`` one after the other.

    What a category holds besides fixed words is sorted.
    """
    if column.dtype == "category":
        words = column.words or sorted(set(facts) - {None})
        number = {None: -1} | {word: code for code, word in enumerate(words)}
        codes = np.array([number[fact] for fact in facts], dtype=np.int32)
        return coded(words, codes if rows is None else codes[rows])
    found = _array(facts, column)
    return found if rows is None else found.take(rows)


def coded(words: Sequence[str], codes: NDArray[Any]) -> pd.Categorical:
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
    return coded(column.words, np.empty(0, dtype=np.int8)) if column.dtype == "category" else _array((), column)


def _array(facts: Sequence[Any], column: Column) -> Any:
    if column.kind == "instant":
        return instants(np.empty(0, dtype=np.int64))
    dtype: Any = column.dtype  # pandas' types want a literal
    return pd.array(list(facts), dtype=dtype)
