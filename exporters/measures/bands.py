"""Bands of times: from an edge to the next one, open at both ends."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import narwhals as nw
import pandas as pd

__all__ = ["band_of", "with_edges"]


def band_of(value_ms: nw.Expr, edges: Sequence[int], unit_ms: nw.Expr | int = 1000) -> nw.Expr:
    """The number of the band that a time is in: 0 below the first edge.

    Args:
        value_ms: the time. edges: ascending, in the unit. unit_ms: the unit, in milliseconds.
    """
    band: nw.Expr = nw.lit(0)
    for number, edge in enumerate(edges, 1):
        band = nw.when(value_ms >= edge * unit_ms).then(nw.lit(number)).otherwise(band)
    return band


def with_edges(table: pd.DataFrame, edges: Sequence[int], begin: str, end: str) -> pd.DataFrame:
    """A computed table with its column ``band``, sorted by it, with two columns more: where each begins and ends.

    Args:
        begin, end: the columns' names; NA where a band is open.
    """
    edge: dict[Any, int] = dict(enumerate(edges))
    table[begin] = (table["band"] - 1).map(edge).astype("Int64")
    table[end] = table["band"].map(edge).astype("Int64")
    return table.sort_values("band", kind="stable", ignore_index=True)
