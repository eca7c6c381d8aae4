"""Measures of the use of time, computed in pandas, in DuckDB or by Dask; docs/reference/measures.md defines them.

Importing this module gives every DataFrame the attribute ``ics``.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import wraps
from inspect import Parameter, signature
from typing import Any

import pandas as pd

from exporters.measures.clocks import (
    activity,
    clock_curve,
    even_budget,
    lag,
    residuals,
    time_left,
    time_left_by_phase,
    time_odds,
)
from exporters.measures.games import diagonal_lead, game_sides, profile, sitting
from exporters.measures.pressure import (
    blunders,
    clock_lead,
    flags,
    loss_by_clock,
    loss_by_think,
    scramble_windows,
    scrambles,
)
from exporters.measures.think import autocorrelation, instant, known_moves, longest_thinks, time_usage
from exporters.tables.arrays import with_timedeltas

__all__ = [
    "activity",
    "autocorrelation",
    "blunders",
    "clock_curve",
    "clock_lead",
    "diagonal_lead",
    "even_budget",
    "flags",
    "game_sides",
    "instant",
    "known_moves",
    "lag",
    "longest_thinks",
    "loss_by_clock",
    "loss_by_think",
    "profile",
    "residuals",
    "scramble_windows",
    "scrambles",
    "sitting",
    "time_left",
    "time_left_by_phase",
    "time_odds",
    "time_usage",
]


@pd.api.extensions.register_dataframe_accessor("ics")
class _PlyAccessor:
    """Measures of a table of plies. Each returns a new DataFrame; ``docs/reference/measures.md`` has the formulas.

    ``attrs`` of a result: ``games`` and ``plies`` that count, ``excluded`` (reason → plies that do not) and ``marked``
    (``seconds only``, ``incomplete``, ``derived clock``, ``derived time`` → plies that count). Times are integers of
    milliseconds, shares and scores go from 0 to 1, and what is not known is NA. ``by`` takes names of
    dimensions: any column of words or small numbers, or ``player``, ``opponent``, ``guest``, ``computer``, ``sealed``,
    ``game``, ``precision``, ``time_trouble``, ``rating_band``, ``hour``, ``weekday``; of a table with these columns
    also ``eco`` and ``opening``.

    Raises:
        AttributeError: the DataFrame has no ``key`` and ``ply``, or lacks columns that a measure reads.
    """

    def __init__(self, plies: pd.DataFrame) -> None:
        if missing := [name for name in ("key", "ply") if name not in plies.columns]:
            raise AttributeError(
                f"this is no table of plies: it lacks {' and '.join(missing)}. "
                "recorder.Archive(…).plies() and `export plies` make them; docs/reference/tables.md lists the columns."
            )
        if "elapsed" in plies.columns and "elapsed_ms" not in plies.columns:
            raise AttributeError("this table has Timedelta; measures need milliseconds: read it without as_timedelta.")
        self._plies = plies


_OWN = re.compile(r"(?:plies: the ply frame|moves: the plies of matches, as ``Archive.matches`` gives them)\. ")
_TIMEDELTA = "as_timedelta: times are Timedelta, in columns without the unit (``mean`` for ``mean_ms``)."


def _method(measured: Callable[..., pd.DataFrame]) -> Callable[..., pd.DataFrame]:
    """A measure as a method of the accessor."""

    @wraps(measured)
    def of_accessor(self: _PlyAccessor, *arguments: Any, as_timedelta: bool = False, **named: Any) -> pd.DataFrame:
        table = measured(self._plies, *arguments, **named)
        return with_timedeltas(table) if as_timedelta else table

    _, *others = signature(measured).parameters.values()
    own = Parameter("self", Parameter.POSITIONAL_OR_KEYWORD)
    flag = Parameter("as_timedelta", Parameter.KEYWORD_ONLY, default=False, annotation="bool")
    of_accessor.__signature__ = signature(measured).replace(parameters=[own, *others, flag])  # type: ignore[attr-defined]  # as above
    doc = _OWN.sub("", measured.__doc__ or "", count=1)
    of_accessor.__doc__ = doc.replace("\n    Returns:\n", f"\n        {_TIMEDELTA}\n    Returns:\n", 1)
    return of_accessor


for _name in __all__:
    setattr(_PlyAccessor, _name, _method(globals()[_name]))
