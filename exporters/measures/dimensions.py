"""What a table can be told by: a column of the ply frame, or one of these names."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

import narwhals as nw

from exporters.times import LOW_LEAST_MS, LOW_MOST_MS, LOW_OF_BASE_MS

__all__ = ["DIMENSIONS", "PHASES", "TIME_TROUBLE", "Dimension", "DimensionError", "dimension"]

PHASES = ("opening", "middlegame", "endgame")
_HOUR_MS = 3_600_000
_DAY_MS = 24 * _HOUR_MS
_THURSDAY = 3  # 1970-01-01, counted from Monday
_BAND = 200
_NOT_TOLD_BY = ("at", "mover_score")  # no whole numbers or words


class DimensionError(ValueError):
    """``by`` names what no table can be told by, or what this one cannot."""


class Dimension(NamedTuple):
    """One thing that a table is told by.

    Attributes:
        name: as it was asked for. columns: of the ply frame that it reads.
        keys: the grouping columns' names and expressions.
        told: what stands beside an identity: columns of the handle, of whether a guest, of whether a computer.
    """

    name: str
    columns: tuple[str, ...]
    keys: Mapping[str, nw.Expr]
    told: tuple[str, ...] = ()


def _renamed(name: str, column: str) -> Dimension:
    return Dimension(name, (column,), {name: nw.col(column)})


def _someone(name: str, who: str) -> Dimension:
    told = (who, f"{who}_guest", f"{who}_computer")
    return Dimension(name, (f"{who}_id", *told), {f"{name}_id": nw.col(f"{who}_id")}, told)


def _instant(name: str, of_utc_ms: nw.Expr) -> Dimension:
    """From the integer, so that no engine's time zone counts; nothing where the zone is not known."""
    known = nw.col("time_basis") == "utc"
    return Dimension(name, ("arrival_ms", "time_basis"), {name: nw.when(known).then(of_utc_ms)})


_AT_MS = nw.col("arrival_ms")
_BEFORE_MS = nw.col("clock_before_ms")
TIME_TROUBLE = (_BEFORE_MS < LOW_LEAST_MS) | (
    (_BEFORE_MS < LOW_MOST_MS) & ((nw.col("base_s").cast(nw.Int64) * LOW_OF_BASE_MS).fill_null(0) > _BEFORE_MS)
)
"""Whether the mover's clock was low before the move; nothing where it is not known."""

DIMENSIONS = {
    one.name: one
    for one in (
        _someone("player", "mover"),
        _someone("opponent", "opponent"),
        _renamed("guest", "mover_guest"),
        _renamed("computer", "mover_computer"),
        _renamed("sealed", "mover_sealed"),
        _renamed("game", "key"),
        # Not under its own name: ``precision`` is what each row of a table tells of its figures.
        Dimension("precision", ("precision",), {"printed": nw.col("precision")}),
        Dimension("time_trouble", ("clock_before_ms", "base_s"), {"time_trouble": TIME_TROUBLE}),
        Dimension("rating_band", ("mover_rating",), {"rating_band": nw.col("mover_rating") // _BAND * _BAND}),
        _instant("hour", _AT_MS // _HOUR_MS % 24),
        _instant("weekday", (_AT_MS // _DAY_MS + _THURSDAY) % 7 + 1),
    )
}
"""Dimensions that are no column of the ply frame, or more than one."""


def dimension(name: str, have: Collection[str]) -> Dimension:
    """The dimension of a name.

    Args:
        name: one of ``DIMENSIONS``, ``mover`` (which is ``player``: a handle alone would pool guests), ``key`` (which
            is ``game``), or a column.
        have: the frame's columns.
    Raises:
        DimensionError: there is no such dimension.
    """
    known = DIMENSIONS.get({"mover": "player", "key": "game"}.get(name, name))
    if known is not None:
        return known
    if name not in have or name in _NOT_TOLD_BY or name.endswith("_ms"):
        names = ", ".join(DIMENSIONS)
        raise DimensionError(f"no table is told by {name!r}; there are {names}, and columns of words and small numbers")
    return _renamed(name, name)
