"""The network's part: lag as servers print it, and who got it back."""

from __future__ import annotations

from collections.abc import Iterable

import narwhals as nw
import pandas as pd
from narwhals.typing import IntoFrame

from exporters.measures.base import INFERRED, NO_LAG, NOT_PLAYED, Plies, flag
from exporters.measures.exact import share, summary
from exporters.measures.told import by_group, compute, told

__all__ = ["lag"]


def lag(plies: IntoFrame, by: str | Iterable[str] = ("player",)) -> pd.DataFrame:
    """Lag a move, as printed with it.

    Args:
        plies: the ply frame. by: dimensions.
    Returns:
        A row a group: ``games``, ``plies``, ``sealed_plies``, ``unsealed_plies`` (whose mover has, or has no time seal;
        of the others it is not known), ``total_ms``, ``given_back_ms`` (the lag of sealed movers, which their clocks
        did not pay; NA where no mover is known to be sealed), ``mean_ms``, ``p50_ms``, ``p95_ms``, ``longest_ms``,
        ``zero_share`` (plies with 0).
    """
    no_lag = (NOT_PLAYED, INFERRED, NO_LAG)
    sealed = nw.col("mover_sealed")
    derived = {
        "is_sealed": flag(sealed),
        "is_unsealed": flag(~sealed),
        "at_zero": flag(nw.col("lag_ms") == 0),
        "back_ms": nw.when(sealed.fill_null(False)).then(nw.col("lag_ms")).otherwise(nw.lit(0)),
    }
    source = Plies.of(plies, by, ("lag_ms", "mover_sealed"), no_lag, derived)
    sums = source.rows.group_by(*source.by).agg(
        sealed_plies=nw.col("is_sealed").sum(),
        unsealed_plies=nw.col("is_unsealed").sum(),
        at_zero=nw.col("at_zero").sum(),
        given_back_ms=nw.col("back_ms").sum(),
    )
    found = compute(source, {"values": source.counts("lag_ms"), "games": source.games(), "sums": sums})
    # Lag is printed in milliseconds, whatever the clocks are.
    quantiles = {"p50_ms": None, "p95_ms": 95}
    table = summary(found["values"], source.by, "lag_ms", quantiles, rounded=False)
    table = by_group(source, table, found["games"], found["sums"])
    table = table.rename(columns={"most_ms": "longest_ms"})
    table["given_back_ms"] = table["given_back_ms"].where(table["sealed_plies"] > 0)
    table["zero_share"] = share(table["at_zero"], table["plies"])
    shown = "games plies sealed_plies unsealed_plies total_ms given_back_ms mean_ms p50_ms p95_ms longest_ms zero_share"
    return told(source, found, table, shown)
