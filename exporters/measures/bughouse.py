"""Bughouse: who has more time than the player across, and how long players sat and waited for each other."""

from __future__ import annotations

from collections.abc import Iterable

import narwhals as nw
import pandas as pd
from narwhals.typing import IntoFrame

from exporters.measures.base import INFERRED, NOT_PLAYED, UNTIMED, Exclusion, Plies, flag
from exporters.measures.exact import share, summary
from exporters.measures.games import LOST_ON_TIME, score, scores
from exporters.measures.result import by_group, compute, told

__all__ = ["diagonal_lead", "sitting"]

_NO_LEAD = Exclusion("no lead", nw.col("diagonal_lead_ms").is_null(), "diagonal_lead_ms")
_NO_ARRIVAL = Exclusion("no arrival", nw.col("sit_ms").is_null(), "sit_ms")


def diagonal_lead(moves: IntoFrame, by: str | Iterable[str] = ("player",)) -> pd.DataFrame:
    """How much more time movers had than the player of their colour on the other board, who sits across.

    Args:
        moves: the plies of matches, as ``Archive.matches`` gives them. by: dimensions; ``match``, ``board`` and
            ``partner`` are columns here.
    Returns:
        A row a group: ``games`` (boards), ``wins``, ``draws``, ``losses``, ``score``, ``plies``, ``ahead_share`` (of
        the plies after which the lead was above 0), ``mean_ms``, ``q25_ms``, ``median_ms``, ``q75_ms``, ``least_ms``,
        ``most_ms`` of the lead, ``precision``.
    """
    derived = {"flagged": LOST_ON_TIME, "ahead": flag(nw.col("diagonal_lead_ms") > 0)}
    columns = ("diagonal_lead_ms", "mover_score", "termination")
    source = Plies.of(moves, by, columns, (NOT_PLAYED, UNTIMED, INFERRED, _NO_LEAD), derived)
    parts = {
        "values": source.counts("diagonal_lead_ms"),
        "games": source.games(),
        "scores": scores(source),
        "ahead": source.rows.group_by(*source.by).agg(nw.col("ahead").sum()),
    }
    found = compute(source, parts)
    table = summary(found["values"], source.by, "diagonal_lead_ms", {"q25_ms": 25, "median_ms": None, "q75_ms": 75})
    table = by_group(source, table, found["games"], found["scores"], found["ahead"])
    table["score"] = score(table)
    table["ahead_share"] = share(table["ahead"], table["plies"])
    shown = "games wins draws losses score plies ahead_share mean_ms q25_ms median_ms q75_ms least_ms most_ms precision"
    return told(source, found, table, shown)


def sitting(moves: IntoFrame, by: str | Iterable[str] = ("player",), limit_ms: int = 5_000) -> pd.DataFrame:
    """How long nobody moved while two players across, of one colour, were both on the move and could wait.

    A sit is told with the move that ended it: its mover gave in.

    Args:
        moves: the plies of matches, as ``Archive.matches`` gives them. by: dimensions. limit_ms: shorter waits are no
            sits.
    Returns:
        A row a group: ``games`` (boards), ``plies``, ``sits``, ``total_ms``, ``mean_ms``, ``median_ms``,
        ``longest_ms``.
    """
    source = Plies.of(moves, by, ("sit_ms",), (NOT_PLAYED, UNTIMED, INFERRED, _NO_ARRIVAL))
    sat = source.with_rows(source.rows.filter(nw.col("sit_ms") >= limit_ms))
    parts = {
        "games": source.games(),
        "plies": source.rows.group_by(*source.by).agg(plies=nw.len()),
        "values": sat.counts("sit_ms"),
    }
    found = compute(source, parts)
    # Arrivals are in milliseconds, whatever the clocks are.
    values = summary(found["values"], source.by, "sit_ms", {"median_ms": None}, rounded=False)
    values = values.rename(columns={"plies": "sits", "most_ms": "longest_ms"})
    table = by_group(source, found["games"], found["plies"], values)
    for name in ("sits", "total_ms"):
        table[name] = table[name].fillna(0)
    return told(source, found, table, "games plies sits total_ms mean_ms median_ms longest_ms")
