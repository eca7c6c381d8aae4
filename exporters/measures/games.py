"""One row for each side of a game, profiles of players over many games, and the two boards of bughouse matches."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import narwhals as nw
import pandas as pd
from narwhals.typing import IntoFrame

from exporters.measures.base import INFERRED, NOT_PLAYED, PHASES, UNTIMED, Aggregate, Exclusion, Plies, flag
from exporters.measures.batches import Steps, measure
from exporters.measures.result import (
    by_group,
    in_unit,
    mean,
    precision,
    quantiles,
    share,
    shown_columns,
    summary,
)
from exporters.measures.think import DECIDES, INSTANT_MS, THINKS

__all__ = ["LOST_ON_TIME", "diagonal_lead", "game_sides", "profile", "score", "scores", "sitting"]

LOST_ON_TIME = flag((nw.col("termination") == "time forfeit") & (nw.col("mover_score") == 0))

_MOVES = (10, 20, 30, 40)
_FACTS = (
    "key", "server", "variant", "category", "rated", "time_control", "base_s", "increment_s", "complete", "side",
    "mover", "mover_id", "mover_guest", "mover_computer", "mover_rating",
    "opponent", "opponent_id", "opponent_rating", "mover_score", "result", "ending", "termination",
)  # fmt: skip
_SIDE = ["key", "of_white"]
_SIDES_SHOWN = (
    "server variant category rated time_control base_s increment_s complete player player_id guest computer rating "
    "opponent opponent_id opponent_rating score result ending termination lost_on_time moves plies total_ms "
    "mean_ms median_ms longest_ms longest_move_no opening_ms middlegame_ms endgame_ms "
    "clock_at_10_ms clock_at_20_ms clock_at_30_ms clock_at_40_ms lowest_ms last_ms "
    "lag_plies lag_mean_ms lag_max_ms precision"
)
_CALLED = {
    "mover": "player",
    "mover_id": "player_id",
    "mover_guest": "guest",
    "mover_computer": "computer",
    "mover_rating": "rating",
    "mover_score": "score",
}


@measure
def game_sides(plies: IntoFrame) -> Steps:
    """How each side of each game used its time.

    Args:
        plies: the ply frame.
    Returns:
        Two rows per game, White's first; a side without times has none. Facts of the game and the players
        (``player``, ``player_id``, ``guest``, ``computer``, ``opponent`` …), then ``lost_on_time``, ``moves`` (the last
        one's number), ``plies`` (with a time), ``total_ms``, ``mean_ms``, ``median_ms``, ``longest_ms``,
        ``longest_move_no``, ``opening_ms``, ``middlegame_ms``, ``endgame_ms`` (time used in each phase),
        ``clock_at_10_ms`` … ``clock_at_40_ms``, ``lowest_ms`` (of the side's clock after its moves), ``last_ms``,
        ``lag_plies``, ``lag_mean_ms``, ``lag_max_ms``, ``precision``.
    """
    columns = (*_FACTS, "elapsed_ms", "clock_after_ms", "lag_ms", "phase", "move_no")
    source = Plies.of(plies, (), columns, THINKS)
    found = yield source.ask(_side_parts(source.rows))
    table = found["facts"].rename(columns=_CALLED)
    for name in ("sides", "longest", "medians"):
        table = table.merge(found[name], how="left", on=_SIDE)
    for phase in PHASES:
        table = _beside(table, found["phases"].query("phase == @phase"), "elapsed_ms", f"{phase}_ms")
    for number in _MOVES:
        at = found["moves"].query("move_no == @number")
        table = _beside(table, at, "clock_after_ms", f"clock_at_{number}_ms")
    table["lost_on_time"] = table["lost_on_time"].astype("boolean")
    # The mean of two integers has one binary digit: exact.
    table["median_ms"] = (table["median_ms"] * 2 + 1).astype("Int64") // 2
    table["mean_ms"] = mean(table["total_ms"], table["plies"])
    table["lag_mean_ms"] = mean(table["lag_total_ms"], table["lag_plies"])
    table["precision"] = precision(table["coarse"], table["known"])
    for name in ("mean_ms", "median_ms"):
        table[name] = in_unit(table[name], table["coarse"])
    return shown_columns(source, found, table, _SIDES_SHOWN, then=["key", "side"])


def _side_parts(rows: nw.LazyFrame[Any]) -> dict[str, Aggregate]:
    """What ``game_sides`` computes of the plies in their own engine, by names that it uses."""
    sides = rows.group_by(*_SIDE).agg(
        nw.col("coarse").sum(),
        plies=nw.len(),
        last_ply=nw.col("ply").max(),
        known=nw.col("precision").count(),
        total_ms=nw.col("elapsed_ms").sum(),
        longest_ms=nw.col("elapsed_ms").max(),
        lowest_ms=nw.col("clock_after_ms").min(),
        lag_plies=nw.col("lag_ms").count(),
        lag_total_ms=nw.col("lag_ms").sum(),
        lag_max_ms=nw.col("lag_ms").max(),
    )
    last = sides.select("key", ply="last_ply")
    facts = rows.join(last, on=["key", "ply"], how="inner").with_columns(lost_on_time=LOST_ON_TIME)
    longest = rows.join(sides.select(*_SIDE, elapsed_ms="longest_ms"), on=[*_SIDE, "elapsed_ms"], how="inner")
    parts = {
        "sides": sides,
        "facts": facts.select(*_FACTS, "of_white", "lost_on_time", moves="move_no", last_ms="clock_after_ms"),
        "longest": longest.group_by(*_SIDE).agg(longest_move_no=nw.col("move_no").min()),
        "medians": rows.group_by(*_SIDE).agg(median_ms=nw.col("elapsed_ms").median()),
        "phases": rows.group_by(*_SIDE, "phase").agg(nw.col("elapsed_ms").sum()),
        "moves": rows.filter(nw.col("move_no").is_in(_MOVES)).select(*_SIDE, "move_no", "clock_after_ms"),
    }
    return {name: Aggregate(table, None) for name, table in parts.items()}


def _beside(table: pd.DataFrame, other: pd.DataFrame, value: str, name: str) -> pd.DataFrame:
    """A table of sides with the column ``value`` of another one, as ``name``."""
    return table.merge(other[[*_SIDE, value]].rename(columns={value: name}), how="left", on=_SIDE)


@measure
def profile(plies: IntoFrame, by: str | Iterable[str] = ("player", "time_control", "variant")) -> Steps:
    """Results, use of time and lag of players, by time control and variant.

    Args:
        plies: the ply frame. by: dimensions.
    Returns:
        A row per group: ``games``, ``wins``, ``draws``, ``losses``, ``score`` (mean of the known ones, 0 to 1),
        ``lost_on_time`` (games), ``rating_least``, ``rating_most``, ``plies``, ``total_ms``, ``mean_ms``,
        ``median_ms``, ``p95_ms``, ``longest_ms``, ``opening_share``, ``middlegame_share``, ``endgame_share`` (of the
        time in all phases), ``instant_share`` (as ``instant`` has it), ``lowest_ms`` (clock after a move),
        ``lag_p50_ms``, ``lag_p95_ms``, ``precision``.
    """
    columns = (
        "elapsed_ms", "clock_after_ms", "lag_ms", "phase", "move_no", "mover_score", "mover_rating", "termination"
    )  # fmt: skip
    derived = {
        **{
            f"in_{name}": nw.when(nw.col("phase") == name).then(nw.col("elapsed_ms")).otherwise(nw.lit(0))
            for name in PHASES
        },
        "decides": flag(DECIDES),
        "instantly": flag(DECIDES & (nw.col("elapsed_ms") <= INSTANT_MS)),
        "flagged": LOST_ON_TIME,
    }
    source = Plies.of(plies, by, columns, THINKS, derived)
    lags = source.rows.filter(~nw.col("lag_ms").is_null())
    parts = {
        "values": source.counts("elapsed_ms"),
        "lags": source.counted(lags, "lag_ms", known=nw.col("precision").count()),
        "games": source.games(),
        "scores": scores(source),
        "sums": source.grouped(
            source.rows,
            **{name: nw.col(name).sum() for name in (*(f"in_{phase}" for phase in PHASES), "decides", "instantly")},
            rating_least=nw.col("mover_rating").min(), rating_most=nw.col("mover_rating").max(),
            lowest_ms=nw.col("clock_after_ms").min(),
        )._replace(least=("rating_least", "lowest_ms"), most=("rating_most",)),
    }  # fmt: skip
    found = yield source.ask(parts)
    table = summary(found["values"], source.by, "elapsed_ms", {"median_ms": None, "p95_ms": 95})
    lag = quantiles(found["lags"], source.by, "lag_ms", {"lag_p50_ms": None, "lag_p95_ms": 95})
    table = by_group(source, table, found["games"], found["scores"], found["sums"], lag)
    table = table.rename(columns={"most_ms": "longest_ms"})
    table["score"] = score(table)
    exact_ms = table[[f"in_{name}" for name in PHASES]].sum(axis="columns")
    for name in PHASES:
        table[f"{name}_share"] = share(table[f"in_{name}"], exact_ms)
    table["instant_share"] = share(table["instantly"], table["decides"])
    shown = (
        "games wins draws losses score lost_on_time rating_least rating_most plies total_ms mean_ms median_ms p95_ms "
        "longest_ms opening_share middlegame_share endgame_share instant_share lowest_ms lag_p50_ms lag_p95_ms "
        "precision"
    )
    return shown_columns(source, found, table, shown)


def scores(source: Plies, *also: str) -> Aggregate:
    """By group the sides that won, drew, lost and lost on time; a side counts once in each. Needs ``flagged``."""
    sides = source.rows.group_by(*source.by, *also, "key", "of_white").agg(
        nw.col("mover_score").max(), nw.col("flagged").max()
    )
    result = nw.col("mover_score")
    sides = sides.with_columns(won=flag(result == 1), drawn=flag(result == 0.5), lost=flag(result == 0))
    return source.grouped(
        sides,
        *also,
        wins=nw.col("won").sum(),
        draws=nw.col("drawn").sum(),
        losses=nw.col("lost").sum(),
        lost_on_time=nw.col("flagged").sum(),
    )


def score(table: pd.DataFrame) -> pd.Series[Any]:
    """Points of a table with wins, draws and losses, 0 to 1; NA where no result is known."""
    return share(2 * table["wins"] + table["draws"], 2 * (table["wins"] + table["draws"] + table["losses"]))


_NO_LEAD = Exclusion("no lead", nw.col("diagonal_lead_ms").is_null(), "diagonal_lead_ms")
_NO_ARRIVAL = Exclusion("no arrival", nw.col("sit_ms").is_null(), "sit_ms")


@measure
def diagonal_lead(moves: IntoFrame, by: str | Iterable[str] = ("player",)) -> Steps:
    """How much more time movers had than their diagonal opponent, who plays the same colour on the other board.

    Args:
        moves: the plies of matches, as ``Archive.matches`` gives them. by: dimensions; ``match``, ``board`` and
            ``partner`` are columns here.
    Returns:
        A row per group: ``games`` (boards), ``wins``, ``draws``, ``losses``, ``score``, ``plies``, ``ahead_share`` (of
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
        "ahead": source.grouped(source.rows, ahead=nw.col("ahead").sum()),
    }
    found = yield source.ask(parts)
    table = summary(found["values"], source.by, "diagonal_lead_ms", {"q25_ms": 25, "median_ms": None, "q75_ms": 75})
    table = by_group(source, table, found["games"], found["scores"], found["ahead"])
    table["score"] = score(table)
    table["ahead_share"] = share(table["ahead"], table["plies"])
    shown = "games wins draws losses score plies ahead_share mean_ms q25_ms median_ms q75_ms least_ms most_ms precision"
    return shown_columns(source, found, table, shown)


@measure
def sitting(moves: IntoFrame, by: str | Iterable[str] = ("player",), limit_ms: int = 5_000) -> Steps:
    """How long two diagonal opponents, who were both to move, waited for each other (in bughouse: sitting).

    A sit is counted for the player whose move ends it.

    Args:
        moves: the plies of matches, as ``Archive.matches`` gives them. by: dimensions. limit_ms: the shortest wait that
            counts.
    Returns:
        A row per group: ``games`` (boards), ``plies``, ``sits``, ``total_ms``, ``mean_ms``, ``median_ms``,
        ``longest_ms``.
    """
    source = Plies.of(moves, by, ("sit_ms",), (NOT_PLAYED, UNTIMED, INFERRED, _NO_ARRIVAL))
    sat = source.with_rows(source.rows.filter(nw.col("sit_ms") >= limit_ms))
    parts = {
        "games": source.games(),
        "plies": source.grouped(source.rows, plies=nw.len()),
        "values": sat.counts("sit_ms"),
    }
    found = yield source.ask(parts)
    # Arrivals are in milliseconds, whatever the clocks are.
    values = summary(found["values"], source.by, "sit_ms", {"median_ms": None}, rounded=False)
    values = values.rename(columns={"plies": "sits", "most_ms": "longest_ms"})
    table = by_group(source, found["games"], found["plies"], values)
    for name in ("sits", "total_ms"):
        table[name] = table[name].fillna(0)
    return shown_columns(source, found, table, "games plies sits total_ms mean_ms median_ms longest_ms")
