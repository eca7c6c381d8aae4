"""Rows of DataFrames."""

from typing import Any

import pandas as pd


def records(table: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows by column, None for what is missing."""
    plain = table.astype(object)
    rows = plain.where(plain.notna(), None).itertuples(index=False, name=None)
    return [dict(zip(table.columns, row, strict=True)) for row in rows]
