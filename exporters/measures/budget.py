"""The clock against a plan, games in which the sides had different time, and when games are played."""

from __future__ import annotations

from collections.abc import Iterable

import narwhals as nw
import pandas as pd
from narwhals.typing import IntoFrame

from exporters.measures.base import INFERRED, NO_CLOCK, NOT_PLAYED, UNTIMED, Exclusion, Plies, flag, lazy
from exporters.measures.exact import share, summary
from exporters.measures.games import LOST_ON_TIME, score, scores
from exporters.measures.result import by_group, compute, told
from exporters.measures.think import THINKS

__all__ = ["activity", "even_budget", "even_budget_ms", "time_odds"]

_MINUTE_MS = 60_000
_INCOMPLETE = Exclusion("incomplete", ~nw.col("complete"), "complete")
_NO_BASE = Exclusion("no time control", nw.col("base_s").is_null(), "base_s")


def even_budget_ms(base_ms: int, move_no: int, moves: int) -> int:
    """What an even spender has left after a move: he spends the base time equally on all moves, each increment at once.

    Args:
        base_ms: the side's base time. move_no: of its move. moves: how many it made in the game.
    """
    return base_ms * (moves - move_no) // moves


def even_budget(plies: IntoFrame, by: str | Iterable[str] = ("time_control",)) -> pd.DataFrame:
    """How far clocks were from those of an even spender, who ends the game with nothing left.

    Args:
        plies: the ply frame. by: dimensions.
    Returns:
        A row a group: ``games``, ``plies``, ``ahead_share`` (of plies with more time than the even spender's),
        ``mean_ms``, ``q25_ms``, ``median_ms``, ``q75_ms``, ``least_ms``, ``most_ms`` of the deviation (clock after the
        move - the even spender's; above 0: time is being saved), ``precision``.
    """
    reasons = (NOT_PLAYED, UNTIMED, INFERRED, _INCOMPLETE, _NO_BASE, NO_CLOCK)
    source = Plies.of(plies, by, ("clock_after_ms", "base_s", "move_no"), reasons)
    # Of all plies: the last move may be one without a clock.
    moves = source.judged.group_by("key", "of_white").agg(moves=nw.col("move_no").max())
    rows = source.rows.join(moves, on=["key", "of_white"], how="inner")
    left = nw.col("base_s").cast(nw.Int64) * 1000 * (nw.col("moves") - nw.col("move_no")) // nw.col("moves")
    rows = rows.with_columns(deviation_ms=nw.col("clock_after_ms") - left)
    source = source.with_rows(rows.with_columns(ahead=flag(nw.col("deviation_ms") > 0)))
    ahead = source.rows.group_by(*source.by).agg(ahead=nw.col("ahead").sum())
    parts = {"values": source.counts("deviation_ms"), "games": source.games(), "ahead": ahead}
    found = compute(source, parts)
    table = summary(found["values"], source.by, "deviation_ms", {"q25_ms": 25, "median_ms": None, "q75_ms": 75})
    table = by_group(source, table, found["games"], found["ahead"])
    table["ahead_share"] = share(table["ahead"], table["plies"])
    shown = "games plies ahead_share mean_ms q25_ms median_ms q75_ms least_ms most_ms precision"
    return told(source, found, table, shown)


def time_odds(plies: IntoFrame, by: str | Iterable[str] = ()) -> pd.DataFrame:
    """Games in which one side had another time control than the other, as both sides saw them.

    Args:
        plies: the ply frame. by: dimensions, besides the two time controls.
    Returns:
        A row a group, own and opponent's time control: ``time_control``, ``opponent_time_control``, ``games``,
        ``wins``, ``draws``, ``losses``, ``score`` (of the side with ``time_control``), ``lost_on_time``, ``plies``,
        ``total_ms``, ``mean_ms``, ``precision``.
    """
    columns = ("elapsed_ms", "mover_score", "termination")
    source = Plies.of(plies, [*([by] if isinstance(by, str) else by), "time_control"], columns, THINKS)
    sides = source.rows.group_by("key", "of_white", "time_control").agg(n=nw.len())
    control = nw.col("time_control").cast(nw.String)
    others = sides.select("key", of_white=1 - nw.col("of_white"), opponent_time_control=control)
    odd = sides.with_columns(time_control=control).join(others, on=["key", "of_white"], how="inner")
    odd = odd.filter(nw.col("time_control") != nw.col("opponent_time_control"))
    rows = source.rows.join(odd.select("key", "of_white", "opponent_time_control"), on=["key", "of_white"], how="inner")
    source = source.with_rows(rows.with_columns(flagged=LOST_ON_TIME), "no time odds")
    parts = {
        "values": source.counts("elapsed_ms", "opponent_time_control"),
        "games": source.games("opponent_time_control"),
        "scores": scores(source, "opponent_time_control"),
    }
    found = compute(source, parts)
    also = ["opponent_time_control"]
    table = summary(found["values"], [*source.by, *also], "elapsed_ms", {})
    table = by_group(source, table, found["games"], found["scores"], also=also)
    table["score"] = score(table)
    shown = "games wins draws losses score lost_on_time plies total_ms mean_ms precision"
    return told(source, found, table, shown, then=also)


def activity(plies: IntoFrame, by: str | Iterable[str] = (), utc_offset_min: int = 0) -> pd.DataFrame:
    """What was played on each weekday and hour of the day.

    Args:
        plies: the ply frame. by: dimensions, besides the two. utc_offset_min: minutes east of Greenwich that the hours
            are told in; summer time is the caller's.
    Returns:
        A row a group, ``weekday`` (1 Monday) and ``hour`` (0 to 23) of the moves' arrival: ``games``, ``wins``,
        ``draws``, ``losses``, ``score`` (of the sides), ``plies``, ``total_ms``, ``mean_ms``, ``median_ms``,
        ``precision``.
    """
    undated = Exclusion(
        "no date and zone",
        nw.col("arrival_ms").is_null() | (nw.col("time_basis") != "utc"),
        "arrival_ms",
        "time_basis",
    )
    frame = lazy(plies)
    if "arrival_ms" in frame.collect_schema().names():
        frame = frame.with_columns(arrival_ms=nw.col("arrival_ms") + utc_offset_min * _MINUTE_MS)
    columns = ("elapsed_ms", "mover_score", "termination")
    dimensions = [*([by] if isinstance(by, str) else by), "weekday", "hour"]
    source = Plies.of(frame, dimensions, columns, (*THINKS, undated), {"flagged": LOST_ON_TIME})
    parts = {"values": source.counts("elapsed_ms"), "games": source.games(), "scores": scores(source)}
    found = compute(source, parts)
    table = summary(found["values"], source.by, "elapsed_ms", {"median_ms": None})
    table = by_group(source, table, found["games"], found["scores"])
    table["score"] = score(table)
    shown = "games wins draws losses score plies total_ms mean_ms median_ms precision"
    return told(source, found, table, shown)
