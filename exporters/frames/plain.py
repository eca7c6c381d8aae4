"""The ply table as a DataFrame."""

from __future__ import annotations

from itertools import chain
from typing import Any

import pandas as pd

from exporters.frames.columns import PLY_COLUMNS, Column
from exporters.frames.rows import ply_rows
from recorder.model import TimeBasis
from storage import Archive, GameFilter

__all__ = ["ply_frame"]


def ply_frame(storage: Archive, where: GameFilter) -> pd.DataFrame:
    """The plies of the games that match, as ``docs/tables.md`` describes."""
    rows = list(chain.from_iterable(rows for _, rows in ply_rows(storage.games(where))))
    values = dict(zip((column.name for column in PLY_COLUMNS), zip(*rows, strict=True), strict=True)) if rows else {}
    if rows:
        utc = [basis == TimeBasis.UTC.value for basis in values["time_basis"]]
        values["at"] = tuple(at if known else None for at, known in zip(values["arrival_ms"], utc, strict=True))
    return pd.DataFrame({column.name: _array(column, values.get(column.name, ())) for column in PLY_COLUMNS})


def _array(column: Column, values: Any) -> Any:
    if column.kind == "instant":
        return pd.to_datetime(pd.Series(values, dtype="Int64"), unit="ms", utc=True).astype("datetime64[ms, UTC]")
    if column.dtype == "category":
        return pd.Categorical(values, categories=column.words or sorted(set(values) - {None}))
    return pd.array(values, dtype=column.dtype)
