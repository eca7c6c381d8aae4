"""What does not add up on the clocks, by the name that the ledger gives it."""

from __future__ import annotations

from collections.abc import Iterable

import narwhals as nw
import pandas as pd
from narwhals.typing import IntoFrame

from exporters.measures.base import INFERRED, NOT_PLAYED, UNTIMED, Plies, Reason
from exporters.measures.exact import precision, share
from exporters.measures.told import by_group, compute, told

__all__ = ["residuals"]

_UNCHECKED = Reason("not checked", nw.col("cause").is_null() | nw.col("residual_ms").is_null(), "cause", "residual_ms")


def residuals(plies: IntoFrame, by: str | Iterable[str] = ()) -> pd.DataFrame:
    """Do the clocks add up, and why not: residuals (clock after - (before - elapsed + increment)) by their cause.

    Args:
        plies: the ply frame. by: dimensions.
    Returns:
        A row a group and ``cause`` (the ledger's names; ``exact`` has residual 0): ``games``, ``plies``, ``share`` (of
        the group's plies), ``total_ms``, ``absolute_ms`` (sums of residuals, and of their amounts), ``least_ms``,
        ``most_ms``, ``precision``.
    """
    residual = nw.col("residual_ms")
    amount = nw.when(residual < 0).then(-residual).otherwise(residual)
    source = Plies.of(
        plies,
        by,
        ("residual_ms", "cause"),
        (NOT_PLAYED, UNTIMED, INFERRED, _UNCHECKED),
        {"amount_ms": amount},
        always="cause",
    )
    sums = source.rows.group_by(*source.by, "cause").agg(
        nw.col("coarse").sum(),
        plies=nw.len(),
        known=nw.col("precision").count(),
        total_ms=nw.col("residual_ms").sum(),
        absolute_ms=nw.col("amount_ms").sum(),
        least_ms=nw.col("residual_ms").min(),
        most_ms=nw.col("residual_ms").max(),
    )
    whole = source.rows.group_by(*source.by).agg(whole=nw.len())
    found = compute(source, {"sums": sums, "games": source.games("cause"), "whole": whole})
    table = by_group(source, found["sums"], found["games"], also=["cause"])
    table = by_group(source, table, found["whole"])
    table["share"] = share(table["plies"], table["whole"])
    table["precision"] = precision(table["coarse"], table["known"])
    shown = "games plies share total_ms absolute_ms least_ms most_ms precision"
    return told(source, found, table, shown, then=["cause"])
