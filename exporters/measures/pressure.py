"""Time pressure and errors: scrambles, flags, blunders and what moves lost."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from typing import Any

import narwhals as nw
import pandas as pd
from narwhals.typing import IntoFrame

from exporters.evaluations import BLUNDER_PERMILLE, INACCURACY_PERMILLE, MISTAKE_PERMILLE
from exporters.measures.base import (
    FIRST_MOVE,
    INFERRED,
    NO_CLOCK,
    NO_TIME,
    NOT_PLAYED,
    TIME_TROUBLE,
    UNTIMED,
    Aggregate,
    Asked,
    Exclusion,
    Plies,
    flag,
)
from exporters.measures.batches import Steps, measure
from exporters.measures.games import LOST_ON_TIME
from exporters.measures.result import (
    band_of,
    by_group,
    in_unit,
    mean,
    precision,
    share,
    shown_columns,
    summary,
    with_edges,
)

__all__ = ["blunders", "clock_lead", "flags", "loss_by_clock", "loss_by_think", "scramble_windows", "scrambles"]

_NO_CLOCKS = Exclusion(
    "no clock",
    nw.col("clock_before_ms").is_null() | nw.col("opponent_clock_ms").is_null(),
    "clock_before_ms",
    "opponent_clock_ms",
)
_SCRAMBLES = (NOT_PLAYED, UNTIMED, INFERRED, NO_TIME, _NO_CLOCKS)


def _in_scramble(limit_ms: int) -> nw.Expr:
    """Whether both clocks were under a limit when the mover began to think."""
    return (nw.col("clock_before_ms") < limit_ms) & (nw.col("opponent_clock_ms") < limit_ms)


@measure
def scrambles(plies: IntoFrame, by: str | Iterable[str] = ("time_control",), limit_ms: int = 30_000) -> Steps:
    """How much was played while both clocks were below a limit.

    Args:
        plies: the ply frame. by: dimensions. limit_ms: both clocks were less than this before the move.
    Returns:
        A row for each group that has a game with known clocks: ``games``, ``scrambled`` (games with a scramble),
        ``windows`` (scrambles: plies in a row), ``plies`` (in them), ``ply_share`` (of all plies), ``total_ms``,
        ``mean_ms``, ``median_ms``, ``p95_ms`` (of elapsed times in them), ``precision``.
    """
    columns = ("elapsed_ms", "clock_before_ms", "opponent_clock_ms")
    source = Plies.of(plies, by, columns, _SCRAMBLES)
    inside = source.with_rows(source.rows.filter(_in_scramble(limit_ms)))
    follows = inside.rows.select("key", ply=nw.col("ply") + 1, follows=nw.lit(1))
    starts = inside.rows.join(follows, on=["key", "ply"], how="left").filter(nw.col("follows").is_null())
    parts = {
        "games": source.games(),
        "all": source.grouped(source.rows, all_plies=nw.len()),
        "scrambled": inside.games(),
        "windows": source.grouped(starts, windows=nw.len()),
        "values": inside.counts("elapsed_ms"),
    }
    found = yield source.ask(parts)
    values = summary(found["values"], source.by, "elapsed_ms", {"median_ms": None, "p95_ms": 95})
    scrambled = found["scrambled"].rename(columns={"games": "scrambled"})
    table = by_group(source, found["games"], found["all"], scrambled, found["windows"], values)
    for name in ("scrambled", "windows", "plies", "total_ms"):
        table[name] = table[name].fillna(0)
    table["ply_share"] = share(table["plies"], table["all_plies"])
    shown = "games scrambled windows plies ply_share total_ms mean_ms median_ms p95_ms precision"
    return shown_columns(source, found, table, shown)


@measure
def scramble_windows(plies: IntoFrame, limit_ms: int = 30_000) -> Steps:
    """The scrambles one by one: plies in a row before which both clocks were below a limit.

    Args:
        plies: the ply frame. limit_ms: as in ``scrambles``.
    Returns:
        A row per scramble, by game and ply: ``key``, ``from_ply``, ``to_ply``, ``plies``, ``white_ms``, ``black_ms``
        (time used in it by each side), ``white_clock_ms``, ``black_clock_ms`` (before it), ``precision``.
    """
    columns = ("elapsed_ms", "clock_before_ms", "opponent_clock_ms")
    source = Plies.of(plies, (), columns, _SCRAMBLES)
    inside = source.with_rows(source.rows.filter(_in_scramble(limit_ms)), "no scramble")
    known = flag(~nw.col("precision").is_null())
    asked = inside.rows.select("key", "ply", "of_white", *columns, "coarse", known=known)
    found = yield inside.ask({"plies": Aggregate(asked, None)})
    rows = found["plies"].sort_values(["key", "ply"], ignore_index=True)
    follows = (rows["key"] == rows["key"].shift()) & (rows["ply"] == rows["ply"].shift() + 1)
    rows["window"] = (~follows.fillna(False)).astype("int64").cumsum()
    white = rows["of_white"] == 1
    rows["white_ms"] = rows["elapsed_ms"].where(white, 0)
    rows["black_ms"] = rows["elapsed_ms"].where(~white, 0)
    rows["white_clock_ms"] = rows["clock_before_ms"].where(white, rows["opponent_clock_ms"])
    rows["black_clock_ms"] = rows["opponent_clock_ms"].where(white, rows["clock_before_ms"])
    table = rows.groupby("window").agg(
        key=("key", "first"),
        from_ply=("ply", "first"),
        to_ply=("ply", "last"),
        plies=("ply", "size"),
        white_ms=("white_ms", "sum"),
        black_ms=("black_ms", "sum"),
        white_clock_ms=("white_clock_ms", "first"),
        black_clock_ms=("black_clock_ms", "first"),
        coarse=("coarse", "sum"),
        known=("known", "sum"),
    )
    table["precision"] = precision(table["coarse"], table["known"])
    table["plies"] = table["plies"].astype("Int64")
    for name in ("white_ms", "black_ms"):
        table[name] = in_unit(table[name], table["coarse"])
    shown = "to_ply plies white_ms black_ms white_clock_ms black_clock_ms precision"
    return shown_columns(inside, found, table, shown, then=["key", "from_ply"])


@measure
def flags(plies: IntoFrame, by: str | Iterable[str] = ("time_control",)) -> Steps:
    """How close sides came to losing on time, and how many lost on time.

    Args:
        plies: the ply frame. by: dimensions.
    Returns:
        A row per group: ``games``, ``sides``, ``lost_on_time`` (sides), ``lost_share`` (of ``sides``), ``least_ms``,
        ``q25_ms``, ``median_ms``, ``q75_ms`` (of the lowest clock that each side reached after a move), ``closest_ms``
        (the lowest clock of a side that did not lose on time), ``overstepped`` (sides whose clock was below 0 after a
        move), ``precision``.
    """
    columns = ("clock_after_ms", "termination", "mover_score")
    source = Plies.of(plies, by, columns, (NOT_PLAYED, UNTIMED, INFERRED, NO_CLOCK), {"flagged": LOST_ON_TIME})
    sides = source.rows.group_by(*source.by, "key", "of_white").agg(
        nw.col("flagged").max(),
        nw.col("coarse").max(),
        lowest_ms=nw.col("clock_after_ms").min(),
        known=nw.col("precision").count(),
    )
    kept = sides.filter(nw.col("flagged") == 0)
    parts = {
        "games": source.games(),
        "lowest": source.counted(sides, "lowest_ms", known=nw.col("known").sum()),
        "lost": source.grouped(
            sides.with_columns(below=flag(nw.col("lowest_ms") < 0)),
            lost_on_time=nw.col("flagged").sum(),
            overstepped=nw.col("below").sum(),
        ),
        "closest": source.grouped(kept, closest_ms=nw.col("lowest_ms").min())._replace(least=("closest_ms",)),
    }
    found = yield source.ask(parts)
    quartiles = {"q25_ms": 25, "median_ms": None, "q75_ms": 75}
    table = summary(found["lowest"], source.by, "lowest_ms", quartiles).rename(columns={"plies": "sides"})
    table = by_group(source, table, found["games"], found["lost"], found["closest"])
    table["lost_share"] = share(table["lost_on_time"], table["sides"])
    table["closest_ms"] = in_unit(table["closest_ms"], table["coarse"])
    shown = "games sides lost_on_time lost_share least_ms q25_ms median_ms q75_ms closest_ms overstepped precision"
    return shown_columns(source, found, table, shown)


@measure
def clock_lead(
    plies: IntoFrame,
    by: str | Iterable[str] = (),
    moves: Iterable[int] = (20, 30),
    edges_s: Sequence[int] = (-60, -30, -10, 0, 10, 30, 60),
    edges_percent: Sequence[int] | None = None,
) -> Steps:
    """The score of sides by their lead on the clock after given moves of both sides.

    Args:
        plies: the ply frame. by: dimensions. moves: the numbers of these moves. edges_s: the limits between bands of
            leads, in seconds, ascending; the first and the last band are open. edges_percent: the limits in
            percent of the side's base time, instead of ``edges_s``: for games with different time controls.
    Returns:
        A row per group, move number and band: ``move_no``, ``lead_from_s``, ``lead_to_s`` (not included; NA where it is
        open; ``…_percent`` with ``edges_percent``), ``sides``, ``wins``, ``draws``, ``losses``, ``score`` (0 to 1),
        ``mean_lead_ms``, ``precision``.
    """
    numbers = list(moves)
    unit, edges = ("s", sorted(edges_s)) if edges_percent is None else ("percent", sorted(edges_percent))
    columns = ("clock_before_ms", "clock_after_ms", "opponent_clock_ms", "mover_score", "move_no")
    no_result = Exclusion("no result", nw.col("mover_score").is_null(), "mover_score")
    own = nw.when(nw.col("ply") % 2 == 1).then(nw.col("clock_before_ms")).otherwise(nw.col("clock_after_ms"))
    reasons = [NOT_PLAYED, UNTIMED, INFERRED, no_result]
    reasons.append(Exclusion("no clock", (own - nw.col("opponent_clock_ms")).is_null()))
    unit_ms: nw.Expr | int = 1000
    if edges_percent is not None:
        reasons.append(Exclusion("no base time", nw.col("base_s").is_null() | (nw.col("base_s") <= 0), "base_s"))
        unit_ms = nw.col("base_s").cast(nw.Int64) * 10
    source = Plies.of(plies, by, columns, reasons, {"own_ms": own}, always="move_no")
    white = nw.col("of_white") == 1
    # After both have made move n Black's clock stands with his ply, White's at the beginning of his next one.
    rows = source.rows.with_columns(
        after_move=nw.when(white).then(nw.col("move_no") - 1).otherwise(nw.col("move_no")),
    ).filter(nw.col("after_move").is_in(numbers))
    rows = rows.with_columns(lead_ms=nw.col("own_ms") - nw.col("opponent_clock_ms"))
    band = band_of(nw.col("lead_ms"), edges, unit_ms)
    score = nw.col("mover_score")
    rows = rows.with_columns(band=band, won=flag(score == 1), drawn=flag(score == 0.5), lost=flag(score == 0))
    source = source.with_rows(rows, "other moves")
    sums = source.grouped(
        rows,
        "after_move",
        "band",
        sides=nw.len(),
        wins=nw.col("won").sum(),
        draws=nw.col("drawn").sum(),
        losses=nw.col("lost").sum(),
        total_ms=nw.col("lead_ms").sum(),
        coarse=nw.col("coarse").sum(),
        known=nw.col("precision").count(),
    )
    found = yield source.ask({"sums": sums})
    table = found["sums"].rename(columns={"after_move": "move_no"})
    table = with_edges(table, edges, f"lead_from_{unit}", f"lead_to_{unit}")
    table["score"] = share(2 * table["wins"] + table["draws"], 2 * table["sides"])
    table["mean_lead_ms"] = in_unit(mean(table["total_ms"], table["sides"]), table["coarse"])
    table["precision"] = precision(table["coarse"], table["known"])
    shown = f"lead_from_{unit} lead_to_{unit} sides wins draws losses score mean_lead_ms precision"
    return shown_columns(source, found, table, shown, then=["move_no"])


_LOSS = nw.col("loss_permille")
_NO_EVALUATION = Exclusion("no evaluation", _LOSS.is_null(), "loss_permille")
_NO_CLOCK_BEFORE = Exclusion("no clock", nw.col("clock_before_ms").is_null(), "clock_before_ms")
_JUDGED = (NOT_PLAYED, UNTIMED, INFERRED, _NO_EVALUATION)
_THINK_MS = nw.coalesce(
    nw.col("elapsed_ms"),
    nw.col("clock_before_ms") + nw.col("increment_s").cast(nw.Int64) * 1000 - nw.col("clock_after_ms"),
)
_SHOWN = "games plies inaccuracies mistakes blunders blunder_share mean_loss_cp mean_loss_permille"


@measure
def blunders(plies: IntoFrame, by: str | Iterable[str] = ("player",)) -> Steps:
    """How many moves were blunders, with and without time trouble.

    Args:
        plies: the ply frame. by: dimensions.
    Returns:
        A row per group and ``time_trouble``: ``games``, ``plies``, ``inaccuracies``, ``mistakes``, ``blunders`` (a move
        counts in one of them at most), ``blunder_share`` (of ``plies``), ``mean_loss_cp``, ``mean_loss_permille``.
    """
    columns, reasons = ("loss_cp", "clock_before_ms", "base_s"), (*_JUDGED, _NO_CLOCK_BEFORE)
    derived = {"time_trouble": TIME_TROUBLE}
    source = Plies.of(plies, by, columns, reasons, derived, always="time_trouble")
    table, found = yield from _losses(source, "time_trouble")
    return shown_columns(source, found, table, _SHOWN, then=["time_trouble"])


@measure
def loss_by_think(
    plies: IntoFrame, by: str | Iterable[str] = (), edges_s: Sequence[int] = (1, 2, 5, 10, 20, 60)
) -> Steps:
    """How much moves lost, by the time that they took.

    Args:
        plies: the ply frame. by: dimensions. edges_s: the limits between bands of times, in seconds, ascending; the
            first and the last band are open.
    Returns:
        A row per group and band: ``think_from_s``, ``think_to_s`` (not included; NA where it is open), the columns of
        ``blunders``, ``precision``.
    """
    no_time = Exclusion(
        "no time", _THINK_MS.is_null(), "elapsed_ms", "clock_before_ms", "increment_s", "clock_after_ms"
    )
    reasons = (*_JUDGED, FIRST_MOVE, no_time)
    source = Plies.of(plies, by, ("loss_cp",), reasons, {"band": band_of(_THINK_MS, edges_s)})
    return (yield from _banded(source, "think", edges_s))


@measure
def loss_by_clock(
    plies: IntoFrame, by: str | Iterable[str] = (), edges_s: Sequence[int] = (5, 10, 20, 30, 60, 120, 300)
) -> Steps:
    """How much moves lost, by the time left on the mover's clock before the move.

    Args:
        plies, by: as for ``loss_by_think``. edges_s: the limits between bands of clocks, as there.
    Returns:
        As ``loss_by_think``, with ``clock_from_s`` and ``clock_to_s``.
    """
    reasons = (*_JUDGED, _NO_CLOCK_BEFORE)
    source = Plies.of(plies, by, ("loss_cp",), reasons, {"band": band_of(nw.col("clock_before_ms"), edges_s)})
    return (yield from _banded(source, "clock", edges_s))


def _banded(source: Plies, what: str, edges_s: Sequence[int]) -> Steps:
    table, found = yield from _losses(source, "band")
    table = with_edges(table, edges_s, f"{what}_from_s", f"{what}_to_s")
    table["precision"] = precision(table["coarse"], table["known"])
    return shown_columns(source, found, table, f"{what}_from_s {what}_to_s {_SHOWN} precision")


def _losses(source: Plies, also: str) -> Generator[Asked, dict[str, Any], tuple[pd.DataFrame, dict[str, Any]]]:
    """By group and one column more the losses; and all that was computed."""
    marked = source.rows.with_columns(
        blunder=flag(_LOSS >= BLUNDER_PERMILLE),
        mistake=flag((_LOSS >= MISTAKE_PERMILLE) & (_LOSS < BLUNDER_PERMILLE)),
        inaccuracy=flag((_LOSS >= INACCURACY_PERMILLE) & (_LOSS < MISTAKE_PERMILLE)),
    )
    sums = source.grouped(
        marked,
        also,
        plies=nw.len(),
        inaccuracies=nw.col("inaccuracy").sum(),
        mistakes=nw.col("mistake").sum(),
        blunders=nw.col("blunder").sum(),
        lost_cp=nw.col("loss_cp").sum(),
        lost_permille=nw.col("loss_permille").sum(),
        coarse=nw.col("coarse").sum(),
        known=nw.col("precision").count(),
    )
    found = yield source.ask({"sums": sums, "games": source.games(also)})
    table = by_group(source, found["sums"], found["games"], also=[also])
    table["blunder_share"] = share(table["blunders"], table["plies"])
    table["mean_loss_cp"] = mean(table["lost_cp"], table["plies"])
    table["mean_loss_permille"] = mean(table["lost_permille"], table["plies"])
    return table, found
