"""The same measure on pandas, DuckDB and Dask, and that they agree."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import dask.dataframe
import duckdb
import pandas as pd

__all__ = ["assert_equal", "on_dask", "on_duckdb", "partitioned"]


def partitioned(plies: pd.DataFrame, folder: Path, parts: int = 3) -> Path:
    """The frame as Parquet files, cut anywhere: games are split between them. Dask wants words, no categories."""
    plies = plies.astype(dict.fromkeys(plies.select_dtypes("category").columns, "string"))
    size = max(1, -(-len(plies) // parts))
    for number in range(parts):
        plies.iloc[number * size : (number + 1) * size].to_parquet(folder / f"part{number}.parquet")
    return folder


@contextmanager
def on_duckdb(folder: Path) -> Iterator[Any]:
    """The files as a relation; closed again, or the interpreter's end complains."""
    with duckdb.connect() as connection:
        yield connection.read_parquet(str(folder / "*.parquet"))


def on_dask(folder: Path) -> Any:
    return dask.dataframe.read_parquet(folder)


def assert_equal(found: pd.DataFrame, of_pandas: pd.DataFrame) -> None:
    """What another engine gives is what pandas gives: values, types, order and attributes."""
    pd.testing.assert_frame_equal(found, of_pandas)
    assert found.attrs == of_pandas.attrs
