"""Where the thinking time went: sums, the longest thinks, moves made at once, thinks that follow each other."""

from __future__ import annotations

from collections.abc import Iterable

import narwhals as nw
import pandas as pd
from narwhals.typing import IntoFrame

from exporters.measures.base import (
    COARSE,
    FIRST_MOVE,
    INFERRED,
    NO_TIME,
    NOT_PLAYED,
    SECONDS_ONLY,
    UNTIMED,
    Aggregate,
    Exclusion,
    Plies,
    flag,
)
from exporters.measures.batches import Steps, measure
from exporters.measures.result import by_group, in_unit, mean, precision, share, shown_columns, summary

__all__ = [
    "DECIDES",
    "INSTANT_MS",
    "THINKS",
    "autocorrelation",
    "instant",
    "known_moves",
    "longest_thinks",
    "time_usage",
]

THINKS = (NOT_PLAYED, UNTIMED, INFERRED, NO_TIME)
"""Why a ply does not count in measures of elapsed times."""
INSTANT_MS = 100
"""The least that FICS and its descendants charge for a move: one that was made beforehand costs so much."""
DECIDES = (nw.col("move_no") > 1) & (COARSE == 0)
"""Whether it is known if a move was made at once: it is charged, and printed in milliseconds."""

_SHOWN_THINKS = (
    "server", "variant", "time_control", "mover", "opponent", "side", "move_no", "san", "phase", "clock_before_ms",
    "elapsed_ms", "lag_ms", "precision",
)  # fmt: skip
_THOUSAND = 1000
_LEAST_LONG_MS = 5000
_LONG_OF_BASE_MS = 50  # for each second of the base time: twice a share of one in 40 moves
_LONG_OF_INCREMENT_MS = 2000
_NOT_COMPLETE = Exclusion("incomplete game", ~nw.col("complete"), "complete")


@measure
def time_usage(plies: IntoFrame, by: str | Iterable[str] = ("time_control",), *, first_moves: bool = True) -> Steps:
    """How much time moves took.

    Args:
        plies: the ply frame. by: dimensions.
        first_moves: False: exclude the first move of each side, which is free on these servers.
    Returns:
        A row per group: ``games``, ``plies``, ``total_ms``, ``share`` (of the whole table's time, 0 to 1), ``mean_ms``,
        ``median_ms``, ``p95_ms`` (nearest rank), ``longest_ms``, ``precision``.
    """
    source = Plies.of(plies, by, ("elapsed_ms",), THINKS if first_moves else (*THINKS, FIRST_MOVE))
    found = yield source.ask({"values": source.counts("elapsed_ms"), "games": source.games()})
    table = summary(found["values"], source.by, "elapsed_ms", {"median_ms": None, "p95_ms": 95})
    table = by_group(source, table, found["games"]).rename(columns={"most_ms": "longest_ms"})
    table["share"] = share(table["total_ms"], table["total_ms"].sum())
    shown = "games plies total_ms share mean_ms median_ms p95_ms longest_ms precision"
    return shown_columns(source, found, table, shown)


@measure
def longest_thinks(plies: IntoFrame, n: int = 10) -> Steps:
    """The plies that took longest.

    Args:
        plies: the ply frame. n: how many; all that took as long as the last of them are included.
    Returns:
        The longest first: ``key``, ``ply``, ``server``, ``variant``, ``time_control``, ``mover``, ``opponent``,
        ``side``, ``move_no``, ``san``, ``phase``, ``clock_before_ms``, ``elapsed_ms``, ``lag_ms``, ``precision``.
    """
    source = Plies.of(plies, (), ("elapsed_ms", *_SHOWN_THINKS), THINKS)
    counts = Aggregate(source.rows.group_by("elapsed_ms").agg(n=nw.len()), ("elapsed_ms",))
    found = yield source.ask({"times": counts}, finished=False)
    times = found["times"].sort_values("elapsed_ms", ascending=False)
    enough = times.loc[times["n"].cumsum() >= n, "elapsed_ms"]
    least_ms = 0 if enough.empty else int(enough.iloc[0])
    longest = source.with_rows(source.rows.filter(nw.col("elapsed_ms") >= least_ms), "shorter")
    found = yield longest.ask({"plies": Aggregate(longest.rows.select("key", "ply", *_SHOWN_THINKS), None)})
    table = shown_columns(longest, found, found["plies"], " ".join(_SHOWN_THINKS), then=["key", "ply"])
    return table.sort_values("elapsed_ms", ascending=False, kind="stable", ignore_index=True)


@measure
def instant(plies: IntoFrame, by: str | Iterable[str] = ("time_control",), limit_ms: int = INSTANT_MS) -> Steps:
    """Moves made at once, such as premoves: those that cost no time, or only the least time that the server charges.

    First moves, which are free, and plies with times in whole seconds, which are too coarse, are excluded.

    Args:
        plies: the ply frame. by: dimensions. limit_ms: the longest time of an instant move.
    Returns:
        A row per group: ``games``, ``plies``, ``instant``, ``share`` (of ``plies``), ``at_zero`` (charged nothing),
        ``at_limit`` (charged exactly ``limit_ms``, the least time that some servers charge), ``precision``.
    """
    source = Plies.of(plies, by, ("elapsed_ms",), (*THINKS, FIRST_MOVE, SECONDS_ONLY))
    took = nw.col("elapsed_ms")
    marked = source.rows.with_columns(
        instant=flag(took <= limit_ms), at_zero=flag(took == 0), at_limit=flag(took == limit_ms)
    )
    sums = source.grouped(
        marked,
        **{name: nw.col(name).sum() for name in ("instant", "at_zero", "at_limit", "coarse")},
        plies=nw.len(),
        known=nw.col("precision").count(),
    )
    found = yield source.ask({"sums": sums, "games": source.games()})
    table = by_group(source, found["sums"], found["games"])
    table["share"] = share(table["instant"], table["plies"])
    table["precision"] = precision(table["coarse"], table["known"])
    return shown_columns(source, found, table, "games plies instant share at_zero at_limit precision")


@measure
def autocorrelation(plies: IntoFrame, by: str | Iterable[str] = ("time_control",)) -> Steps:
    """Whether long thinks follow each other: Pearson's correlation of a side's think time with its previous one.

    First moves, which are free, do not count. Plies with times in whole seconds are excluded: together with finer times
    they would show the precision of each game, not how a player thinks.

    Args:
        plies: the ply frame. by: dimensions.
    Returns:
        A row per group: ``games``, ``pairs``, ``mean_ms`` and ``mean_before_ms`` (of the later and the earlier thinks),
        ``correlation`` (-1 to 1; NA where one of them never differs), ``precision``.
    """
    source = Plies.of(plies, by, ("elapsed_ms", "move_no"), (*THINKS, FIRST_MOVE, SECONDS_ONLY))
    before = source.rows.select("key", ply=nw.col("ply") + 2, before_ms="elapsed_ms", coarse_before="coarse")
    pairs = source.rows.join(before, on=["key", "ply"], how="inner")
    x, y = nw.col("before_ms"), nw.col("elapsed_ms")
    # Of a product of two times the thousands are summed apart, so that no sum leaves 64 bits.
    products = {"xy": (x, y), "xx": (x, x), "yy": (y, y)}
    pairs = pairs.with_columns(
        **{f"{name}_high": one // _THOUSAND * other for name, (one, other) in products.items()},
        **{f"{name}_low": one % _THOUSAND * other for name, (one, other) in products.items()},
        coarse=flag((nw.col("coarse") + nw.col("coarse_before")) > 0),
    )
    source = source.with_rows(pairs, "no think before")
    sums = source.grouped(
        pairs,
        **{f"{name}_{half}": nw.col(f"{name}_{half}").sum() for name in products for half in ("high", "low")},
        coarse=nw.col("coarse").sum(),
        pairs=nw.len(),
        known=nw.col("precision").count(),
        x=nw.col("before_ms").sum(),
        y=nw.col("elapsed_ms").sum(),
    )
    found = yield source.ask({"sums": sums, "games": source.games()})
    table = by_group(source, found["sums"], found["games"])
    table["correlation"] = _correlation(table)
    table["mean_ms"] = in_unit(mean(table["y"], table["pairs"]), table["coarse"])
    table["mean_before_ms"] = in_unit(mean(table["x"], table["pairs"]), table["coarse"])
    table["precision"] = precision(table["coarse"], table["known"])
    return shown_columns(source, found, table, "games pairs mean_ms mean_before_ms correlation precision")


@measure
def known_moves(plies: IntoFrame, by: str | Iterable[str] = ("time_control",)) -> Steps:
    """How long sides play moves that they know: the moves and the time before the first long think.

    A think is long if it takes at least 5 seconds and at least twice an equal share of the time for 40 moves. Sides
    with a move of unknown time before it do not count.

    Args:
        plies: the ply frame. by: dimensions, of the move with the first long think, else of the side's last move.
    Returns:
        A row per group: ``games``, ``sides``, ``thinks`` (sides with a long think), ``share`` (of ``sides``), and for
        the sides with one ``mean_moves``, ``median_moves``, ``p90_moves`` (own moves before it), ``mean_ms``,
        ``median_ms`` (time that these took), ``precision``.
    """
    source = _first_long_thinks(plies, by)
    thinks = source.rows.filter(nw.col("long") == 1)
    known = nw.col("precision").count()
    found = yield source.ask(
        {
            "sides": source.grouped(
                source.rows, sides=nw.len(), thinks=nw.col("long").sum(), coarse=nw.col("coarse").sum(), known=known
            ),
            "games": source.games(),
            "moves": source.counted(thinks, "moves", known=known),
            "times": source.counted(thinks, "took_ms", known=known),
        }
    )
    moves = summary(found["moves"], source.by, "moves", {"median_moves": None, "p90_moves": 90}, rounded=False)
    times = summary(found["times"], source.by, "took_ms", {"median_ms": None})
    table = by_group(
        source,
        found["sides"],
        found["games"],
        moves.rename(columns={"mean_ms": "mean_moves"})[[*source.by, "mean_moves", "median_moves", "p90_moves"]],
        times[[*source.by, "mean_ms", "median_ms"]],
    )
    table["share"] = share(table["thinks"], table["sides"])
    table["precision"] = precision(table["coarse"], table["known"])
    shown = "games sides thinks share mean_moves median_moves p90_moves mean_ms median_ms precision"
    return shown_columns(source, found, table, shown)


def _first_long_thinks(plies: IntoFrame, by: str | Iterable[str]) -> Plies:
    """The row of each side's first long think, or of its last move, with the moves and the time before it."""
    took = nw.col("elapsed_ms")
    twice_ms = nw.col("base_s").cast(nw.Int64) * _LONG_OF_BASE_MS + nw.col("increment_s") * _LONG_OF_INCREMENT_MS
    derived = {"long": flag((took >= _LEAST_LONG_MS) & (took >= twice_ms.fill_null(0)))}
    columns = ("elapsed_ms", "move_no", "base_s", "increment_s")
    source = Plies.of(plies, by, columns, (*THINKS, _NOT_COMPLETE), derived)
    side = ["key", "of_white"]
    first = source.rows.filter(nw.col("long") == 1).group_by(*side).agg(first=nw.col("move_no").min())
    begun = source.rows.join(first, on=side, how="left").filter(
        (nw.col("move_no") <= nw.col("first")) | nw.col("first").is_null()
    )
    marked = begun.with_columns(
        before_ms=nw.when(nw.col("long") == 0).then(took).otherwise(nw.lit(0)),
        after_first=flag(nw.col("move_no") > 1),
    )
    sides = marked.group_by(*side).agg(
        last=nw.col("move_no").max(),
        took_ms=nw.col("before_ms").sum(),
        timed=nw.col("after_first").sum(),
        in_seconds=nw.col("coarse").max(),
    )
    ends = source.rows.join(sides, on=side, how="inner").filter(
        (nw.col("move_no") == nw.col("last")) & (nw.col("timed") == nw.col("last") - 1)
    )
    ends = ends.with_columns(coarse="in_seconds", moves=nw.col("last") - 1)
    return source.with_rows(ends, "not the first long think")


def _correlation(sums: pd.DataFrame) -> pd.Series[float]:
    """From exact sums: Python's integers do not overflow, and are divided last."""
    n, x, y = (sums[name].astype(object) for name in ("pairs", "x", "y"))
    xy, xx, yy = (
        sums[f"{name}_high"].astype(object) * _THOUSAND + sums[f"{name}_low"].astype(object)
        for name in ("xy", "xx", "yy")
    )
    of_x, of_y = n * xx - x * x, n * yy - y * y
    covariance = (n * xy - x * y).astype("Float64")
    spread = of_x.astype("Float64") ** 0.5 * of_y.astype("Float64") ** 0.5
    return covariance / spread.where(spread > 0)
