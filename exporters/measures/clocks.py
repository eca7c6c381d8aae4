"""Clocks, lag and what does not add up: time left, curves, residuals, even budgets, leads, time odds, hours of play."""

from __future__ import annotations

from collections.abc import Iterable

import narwhals as nw
from narwhals.typing import IntoFrame

from exporters.measures.base import INFERRED, NO_CLOCK, NO_LAG, NOT_PLAYED, UNTIMED, Exclusion, Plies, flag, lazy
from exporters.measures.batches import Steps, measure
from exporters.measures.games import LOST_ON_TIME, score, scores
from exporters.measures.result import by_group, precision, share, shown_columns, summary
from exporters.measures.think import THINKS

__all__ = [
    "activity",
    "clock_curve",
    "even_budget",
    "lag",
    "residuals",
    "time_left",
    "time_left_by_phase",
    "time_odds",
]

_CLOCKS = (NOT_PLAYED, UNTIMED, INFERRED, NO_CLOCK)
_QUARTILES = {"q25_ms": 25, "median_ms": None, "q75_ms": 75}
_SHOWN = "sides least_ms q25_ms median_ms q75_ms most_ms mean_ms precision"


@measure
def time_left(
    plies: IntoFrame, by: str | Iterable[str] = ("time_control",), moves: Iterable[int] = (10, 20, 30, 40)
) -> Steps:
    """The time left on the mover's clock after given moves, such as moves 10, 20, 30 and 40.

    Args:
        plies: the ply frame. by: dimensions. moves: the numbers of these moves.
    Returns:
        A row per group and move number: ``sides`` (that made this move), ``least_ms``, ``q25_ms``, ``median_ms``,
        ``q75_ms`` (nearest rank), ``most_ms``, ``mean_ms``, ``precision``.
    """
    source = Plies.of(plies, by, ("clock_after_ms", "move_no"), _CLOCKS, always="move_no")
    there = source.with_rows(source.rows.filter(nw.col("move_no").is_in(list(moves))), "other moves")
    return (yield from _left(there, "clock_after_ms", "move_no"))


@measure
def clock_curve(plies: IntoFrame, by: str | Iterable[str] = ()) -> Steps:
    """The time left after each move number, over all sides that made this move.

    Args:
        plies: the ply frame. by: dimensions.
    Returns:
        A row per group and ``move_no``, with the columns of ``time_left``.
    """
    source = Plies.of(plies, by, ("clock_after_ms", "move_no"), _CLOCKS, always="move_no")
    return (yield from _left(source, "clock_after_ms", "move_no"))


@measure
def time_left_by_phase(plies: IntoFrame, by: str | Iterable[str] = ("time_control",)) -> Steps:
    """The time left when each phase begins: the mover's clock before the side's first move in the phase.

    Args:
        plies: the ply frame. by: dimensions.
    Returns:
        A row per group and ``phase``, with the columns of ``time_left``; ``sides`` are those that made a move in it.
    """
    no_phase = Exclusion("no phase", nw.col("phase").is_null(), "phase")
    no_clock = Exclusion("no clock", nw.col("clock_before_ms").is_null(), "clock_before_ms")
    reasons = (NOT_PLAYED, UNTIMED, INFERRED, no_phase, no_clock)
    source = Plies.of(plies, by, ("clock_before_ms", "phase"), reasons, always="phase")
    first = source.rows.group_by("key", "of_white", "phase").agg(nw.col("ply").min()).select("key", "ply")
    entered = source.with_rows(source.rows.join(first, on=["key", "ply"], how="inner"), "later in its phase")
    return (yield from _left(entered, "clock_before_ms", "phase"))


def _left(source: Plies, value: str, also: str) -> Steps:
    """Counts, extremes and quartiles of a clock. Each side counts once in a row, so plies are sides."""
    found = yield source.ask({"values": source.counts(value, also)})
    table = summary(found["values"], [*source.by, also], value, _QUARTILES)
    return shown_columns(source, found, table.rename(columns={"plies": "sides"}), _SHOWN, then=[also])


@measure
def lag(plies: IntoFrame, by: str | Iterable[str] = ("player",)) -> Steps:
    """The lag that servers print with moves.

    Args:
        plies: the ply frame. by: dimensions.
    Returns:
        A row per group: ``games``, ``plies``, ``sealed_plies``, ``unsealed_plies`` (the mover has a time seal, or has
        none; for other plies it is unknown), ``total_ms``, ``given_back_ms`` (the lag of movers with a time seal, which
        is not charged to their clocks; NA if no mover is known to have one), ``mean_ms``, ``p50_ms``, ``p95_ms``,
        ``longest_ms``, ``zero_share`` (plies with 0).
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
    sums = source.grouped(
        source.rows,
        sealed_plies=nw.col("is_sealed").sum(),
        unsealed_plies=nw.col("is_unsealed").sum(),
        at_zero=nw.col("at_zero").sum(),
        given_back_ms=nw.col("back_ms").sum(),
    )
    found = yield source.ask({"values": source.counts("lag_ms"), "games": source.games(), "sums": sums})
    # Lag is printed in milliseconds, whatever the clocks are.
    quantiles = {"p50_ms": None, "p95_ms": 95}
    table = summary(found["values"], source.by, "lag_ms", quantiles, rounded=False)
    table = by_group(source, table, found["games"], found["sums"])
    table = table.rename(columns={"most_ms": "longest_ms"})
    table["given_back_ms"] = table["given_back_ms"].where(table["sealed_plies"] > 0)
    table["zero_share"] = share(table["at_zero"], table["plies"])
    shown = "games plies sealed_plies unsealed_plies total_ms given_back_ms mean_ms p50_ms p95_ms longest_ms zero_share"
    return shown_columns(source, found, table, shown)


_UNCHECKED = Exclusion(
    "not checked", nw.col("cause").is_null() | nw.col("residual_ms").is_null(), "cause", "residual_ms"
)


@measure
def residuals(plies: IntoFrame, by: str | Iterable[str] = ()) -> Steps:
    """Whether clocks add up: residuals (clock after - (before - elapsed + increment)) by their cause.

    Args:
        plies: the ply frame. by: dimensions.
    Returns:
        A row per group and ``cause`` (the ledger's names; ``exact`` has residual 0): ``games``, ``plies``, ``share``
        (of the group's plies), ``total_ms``, ``absolute_ms`` (sums of the residuals, and of their absolute values),
        ``least_ms``, ``most_ms``, ``precision``.
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
    sums = source.grouped(
        source.rows,
        "cause",
        coarse=nw.col("coarse").sum(),
        plies=nw.len(),
        known=nw.col("precision").count(),
        total_ms=nw.col("residual_ms").sum(),
        absolute_ms=nw.col("amount_ms").sum(),
        least_ms=nw.col("residual_ms").min(),
        most_ms=nw.col("residual_ms").max(),
    )._replace(least=("least_ms",), most=("most_ms",))
    whole = source.grouped(source.rows, whole=nw.len())
    found = yield source.ask({"sums": sums, "games": source.games("cause"), "whole": whole})
    table = by_group(source, found["sums"], found["games"], also=["cause"])
    table = by_group(source, table, found["whole"])
    table["share"] = share(table["plies"], table["whole"])
    table["precision"] = precision(table["coarse"], table["known"])
    shown = "games plies share total_ms absolute_ms least_ms most_ms precision"
    return shown_columns(source, found, table, shown, then=["cause"])


_MINUTE_MS = 60_000
_INCOMPLETE = Exclusion("incomplete", ~nw.col("complete"), "complete")
_NO_BASE = Exclusion("no time control", nw.col("base_s").is_null(), "base_s")


@measure
def even_budget(plies: IntoFrame, by: str | Iterable[str] = ("time_control",)) -> Steps:
    """How far clocks were from an even use of time, which spends the same time on every move until none is left.

    Args:
        plies: the ply frame. by: dimensions.
    Returns:
        A row per group: ``games``, ``plies``, ``ahead_share`` (of plies with more time left than with even use),
        ``mean_ms``, ``q25_ms``, ``median_ms``, ``q75_ms``, ``least_ms``, ``most_ms`` of the deviation (clock after the
        move - clock with even use; above 0: more is left), ``precision``.
    """
    reasons = (NOT_PLAYED, UNTIMED, INFERRED, _INCOMPLETE, _NO_BASE, NO_CLOCK)
    source = Plies.of(plies, by, ("clock_after_ms", "base_s", "move_no"), reasons)
    # Of all plies: the last move may be one without a clock.
    moves = source.judged.group_by("key", "of_white").agg(moves=nw.col("move_no").max())
    rows = source.rows.join(moves, on=["key", "of_white"], how="inner")
    left = nw.col("base_s").cast(nw.Int64) * 1000 * (nw.col("moves") - nw.col("move_no")) // nw.col("moves")
    rows = rows.with_columns(deviation_ms=nw.col("clock_after_ms") - left)
    source = source.with_rows(rows.with_columns(ahead=flag(nw.col("deviation_ms") > 0)))
    ahead = source.grouped(source.rows, ahead=nw.col("ahead").sum())
    parts = {"values": source.counts("deviation_ms"), "games": source.games(), "ahead": ahead}
    found = yield source.ask(parts)
    table = summary(found["values"], source.by, "deviation_ms", {"q25_ms": 25, "median_ms": None, "q75_ms": 75})
    table = by_group(source, table, found["games"], found["ahead"])
    table["ahead_share"] = share(table["ahead"], table["plies"])
    shown = "games plies ahead_share mean_ms q25_ms median_ms q75_ms least_ms most_ms precision"
    return shown_columns(source, found, table, shown)


@measure
def time_odds(plies: IntoFrame, by: str | Iterable[str] = ()) -> Steps:
    """Games in which the sides had different time controls, from the view of each side.

    Args:
        plies: the ply frame. by: dimensions, besides the two time controls.
    Returns:
        A row per group, own and opponent's time control: ``time_control``, ``opponent_time_control``, ``games``,
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
    found = yield source.ask(parts)
    also = ["opponent_time_control"]
    table = summary(found["values"], [*source.by, *also], "elapsed_ms", {})
    table = by_group(source, table, found["games"], found["scores"], also=also)
    table["score"] = score(table)
    shown = "games wins draws losses score lost_on_time plies total_ms mean_ms precision"
    return shown_columns(source, found, table, shown, then=also)


@measure
def activity(plies: IntoFrame, by: str | Iterable[str] = (), utc_offset_min: int = 0) -> Steps:
    """How much was played on each weekday and at each hour of the day.

    Args:
        plies: the ply frame. by: dimensions, besides weekday and hour. utc_offset_min: offset of the hours from UTC in
            minutes, east is positive; the caller adds summer time.
    Returns:
        A row per group, ``weekday`` (1 Monday) and ``hour`` (0 to 23) of the moves' arrival: ``games``, ``wins``,
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
    found = yield source.ask(parts)
    table = summary(found["values"], source.by, "elapsed_ms", {"median_ms": None})
    table = by_group(source, table, found["games"], found["scores"])
    table["score"] = score(table)
    shown = "games wins draws losses score plies total_ms mean_ms median_ms precision"
    return shown_columns(source, found, table, shown)
