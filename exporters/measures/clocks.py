"""What the clocks showed: time left at a move and where a phase begins, the curve of a whole game."""

from __future__ import annotations

from collections.abc import Iterable

import narwhals as nw
import pandas as pd
from narwhals.typing import IntoFrame

from exporters.measures.base import INFERRED, NO_CLOCK, NOT_PLAYED, UNTIMED, Plies, Reason
from exporters.measures.exact import summary
from exporters.measures.told import compute, told

__all__ = ["clock_curve", "time_left", "time_left_by_phase"]

_CLOCKS = (NOT_PLAYED, UNTIMED, INFERRED, NO_CLOCK)
_QUARTILES = {"q25_ms": 25, "median_ms": None, "q75_ms": 75}
_SHOWN = "sides least_ms q25_ms median_ms q75_ms most_ms mean_ms precision"


def time_left(
    plies: IntoFrame, by: str | Iterable[str] = ("time_control",), moves: Iterable[int] = (10, 20, 30, 40)
) -> pd.DataFrame:
    """What was left on the mover's clock after his own move of some numbers.

    Args:
        plies: the ply frame. by: dimensions. moves: the numbers.
    Returns:
        A row a group and move number: ``sides`` (that made this move), ``least_ms``, ``q25_ms``, ``median_ms``,
        ``q75_ms`` (nearest rank), ``most_ms``, ``mean_ms``, ``precision``.
    """
    source = Plies.of(plies, by, ("clock_after_ms", "move_no"), _CLOCKS, always="move_no")
    there = source.with_rows(source.rows.filter(nw.col("move_no").is_in(list(moves))), "other moves")
    return _left(there, "clock_after_ms", "move_no")


def clock_curve(plies: IntoFrame, by: str | Iterable[str] = ()) -> pd.DataFrame:
    """The clock after each move, over all sides that made it: fewer and fewer, the longer the games.

    Args:
        plies: the ply frame. by: dimensions.
    Returns:
        A row a group and ``move_no``, with the columns of ``time_left``.
    """
    source = Plies.of(plies, by, ("clock_after_ms", "move_no"), _CLOCKS, always="move_no")
    return _left(source, "clock_after_ms", "move_no")


def time_left_by_phase(plies: IntoFrame, by: str | Iterable[str] = ("time_control",)) -> pd.DataFrame:
    """The clock with which sides entered each phase: the mover's clock before his first move in it.

    Args:
        plies: the ply frame. by: dimensions.
    Returns:
        A row a group and ``phase``, with the columns of ``time_left``; ``sides`` are those that made a move in it.
    """
    no_phase = Reason("no phase", nw.col("phase").is_null(), "phase")
    no_clock = Reason("no clock", nw.col("clock_before_ms").is_null(), "clock_before_ms")
    reasons = (NOT_PLAYED, UNTIMED, INFERRED, no_phase, no_clock)
    source = Plies.of(plies, by, ("clock_before_ms", "phase"), reasons, always="phase")
    first = source.rows.group_by("key", "of_white", "phase").agg(nw.col("ply").min()).select("key", "ply")
    entered = source.with_rows(source.rows.join(first, on=["key", "ply"], how="inner"), "later in its phase")
    return _left(entered, "clock_before_ms", "phase")


def _left(source: Plies, value: str, also: str) -> pd.DataFrame:
    """Counts, extremes and quartiles of a clock. A side stands in a row once, so that its plies are its sides."""
    found = compute(source, {"values": source.counts(value, also)})
    table = summary(found["values"], [*source.by, also], value, _QUARTILES)
    return told(source, found, table.rename(columns={"plies": "sides"}), _SHOWN, then=[also])
