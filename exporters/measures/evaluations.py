"""What moves lost by engines' evaluations, against the time that they took and the time that was left."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import narwhals as nw
import pandas as pd
from narwhals.typing import IntoFrame

from exporters.evaluations import BLUNDER_PERMILLE, INACCURACY_PERMILLE, MISTAKE_PERMILLE
from exporters.measures.base import FIRST_MOVE, INFERRED, NOT_PLAYED, TIME_TROUBLE, UNTIMED, Exclusion, Plies, flag
from exporters.measures.result import band_of, by_group, compute, mean, precision, share, told, with_edges

__all__ = ["blunders", "loss_by_clock", "loss_by_think"]

_LOSS = nw.col("loss_permille")
_NO_EVALUATION = Exclusion("no evaluation", _LOSS.is_null(), "loss_permille")
_NO_CLOCK_BEFORE = Exclusion("no clock", nw.col("clock_before_ms").is_null(), "clock_before_ms")
_JUDGED = (NOT_PLAYED, UNTIMED, INFERRED, _NO_EVALUATION)
_THINK_MS = nw.coalesce(
    nw.col("elapsed_ms"),
    nw.col("clock_before_ms") + nw.col("increment_s").cast(nw.Int64) * 1000 - nw.col("clock_after_ms"),
)
_TOLD = "games plies inaccuracies mistakes blunders blunder_share mean_loss_cp mean_loss_permille"


def blunders(plies: IntoFrame, by: str | Iterable[str] = ("player",)) -> pd.DataFrame:
    """How many moves were blunders, in time trouble and else.

    Args:
        plies: the ply frame. by: dimensions.
    Returns:
        A row a group and ``time_trouble``: ``games``, ``plies``, ``inaccuracies``, ``mistakes``, ``blunders`` (a move
        counts in one of them at most), ``blunder_share`` (of ``plies``), ``mean_loss_cp``, ``mean_loss_permille``.
    """
    columns, reasons = ("loss_cp", "clock_before_ms", "base_s"), (*_JUDGED, _NO_CLOCK_BEFORE)
    derived = {"time_trouble": TIME_TROUBLE}
    source = Plies.of(plies, by, columns, reasons, derived, always="time_trouble")
    table, found = _losses(source, "time_trouble")
    return told(source, found, table, _TOLD, then=["time_trouble"])


def loss_by_think(
    plies: IntoFrame, by: str | Iterable[str] = (), edges_s: Sequence[int] = (1, 2, 5, 10, 20, 60)
) -> pd.DataFrame:
    """What moves lost, by the time that they took.

    Args:
        plies: the ply frame. by: dimensions. edges_s: where the bands of times begin, in seconds, ascending; below the
            first and from the last on it is open.
    Returns:
        A row a group and band: ``think_from_s``, ``think_to_s`` (not included; NA where it is open), what ``blunders``
        has, ``precision``.
    """
    no_time = Exclusion(
        "no time", _THINK_MS.is_null(), "elapsed_ms", "clock_before_ms", "increment_s", "clock_after_ms"
    )
    reasons = (*_JUDGED, FIRST_MOVE, no_time)
    source = Plies.of(plies, by, ("loss_cp",), reasons, {"band": band_of(_THINK_MS, edges_s)})
    return _banded(source, "think", edges_s)


def loss_by_clock(
    plies: IntoFrame, by: str | Iterable[str] = (), edges_s: Sequence[int] = (5, 10, 20, 30, 60, 120, 300)
) -> pd.DataFrame:
    """What moves lost, by what the mover's clock showed before the move.

    Args:
        plies, by: as for ``loss_by_think``. edges_s: where the bands of clocks begin, as there.
    Returns:
        As ``loss_by_think``, with ``clock_from_s`` and ``clock_to_s``.
    """
    reasons = (*_JUDGED, _NO_CLOCK_BEFORE)
    source = Plies.of(plies, by, ("loss_cp",), reasons, {"band": band_of(nw.col("clock_before_ms"), edges_s)})
    return _banded(source, "clock", edges_s)


def _banded(source: Plies, what: str, edges_s: Sequence[int]) -> pd.DataFrame:
    table, found = _losses(source, "band")
    table = with_edges(table, edges_s, f"{what}_from_s", f"{what}_to_s")
    table["precision"] = precision(table["coarse"], table["known"])
    return told(source, found, table, f"{what}_from_s {what}_to_s {_TOLD} precision")


def _losses(source: Plies, also: str) -> tuple[pd.DataFrame, dict[str, pd.DataFrame]]:
    """By group and one column more the losses; and all that was computed."""
    marked = source.rows.with_columns(
        blunder=flag(_LOSS >= BLUNDER_PERMILLE),
        mistake=flag((_LOSS >= MISTAKE_PERMILLE) & (_LOSS < BLUNDER_PERMILLE)),
        inaccuracy=flag((_LOSS >= INACCURACY_PERMILLE) & (_LOSS < MISTAKE_PERMILLE)),
    )
    sums = marked.group_by(*source.by, also).agg(
        plies=nw.len(),
        inaccuracies=nw.col("inaccuracy").sum(),
        mistakes=nw.col("mistake").sum(),
        blunders=nw.col("blunder").sum(),
        lost_cp=nw.col("loss_cp").sum(),
        lost_permille=nw.col("loss_permille").sum(),
        coarse=nw.col("coarse").sum(),
        known=nw.col("precision").count(),
    )
    found = compute(source, {"sums": sums, "games": source.games(also)})
    table = by_group(source, found["sums"], found["games"], also=[also])
    table["blunder_share"] = share(table["blunders"], table["plies"])
    table["mean_loss_cp"] = mean(table["lost_cp"], table["plies"])
    table["mean_loss_permille"] = mean(table["lost_permille"], table["plies"])
    return table, found
