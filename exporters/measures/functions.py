"""Measures of the use of time, computed by DuckDB; docs/reference/measures.md defines them.

Importing this module gives every DataFrame the attribute ``ics``.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import wraps
from inspect import Parameter, Signature, signature
from textwrap import fill
from typing import Any

import pandas as pd

from exporters.measures import definitions
from exporters.measures.program import Program, run
from exporters.measures.source import Plies
from exporters.selection import Filters
from exporters.tables.units import with_timedeltas

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

_OF_BOTH_SIDES = ("scrambles", "scramble_windows")
_BY = """by: one dimension or several: columns of words or small numbers (``time_control``, ``phase``, ``side``),
            or ``player``, ``opponent``, ``guest``, ``computer``, ``sealed``, ``game``, ``precision``, ``time_trouble``,
            ``clock_band``, ``lag_band``, ``rating_band``, ``hour``, ``weekday``; ``eco``, ``opening`` and ``event`` of
            plies with these columns"""
_FILTERS = f"""

    ``attrs`` of the table: ``games`` and ``plies`` that count, ``excluded`` (reason → plies that do not) and ``marked``
    (mark, such as ``seconds only`` → plies that count). Choose plies with the filters of ``Archive.plies``:
{fill(", ".join(Filters.__annotations__), 112, initial_indent="    ", subsequent_indent="    ")}.
"""
_MOVER = "mover: a handle in any case: only the moves of this player count; None: those of all."


def _measure(define: Callable[..., Program]) -> Callable[..., pd.DataFrame]:
    name = define.__name__

    def measured(plies: Any, *options: Any, mover: str | None = None, **named: Any) -> pd.DataFrame:
        source = Plies.of(plies)
        return run(define(*options, **named), source if mover is None else source.moved_by([mover])).frame()

    parameters = [Parameter("plies", Parameter.POSITIONAL_OR_KEYWORD), *signature(define).parameters.values()]
    more = ""
    if name not in _OF_BOTH_SIDES:
        parameters.append(Parameter("mover", Parameter.KEYWORD_ONLY, default=None, annotation="str | None"))
        more = f"\n        {_MOVER}"
    of = " of matches, as ``Archive.matches`` gives it" if name in ("diagonal_lead", "sitting") else ""
    begin, arguments, rest = (define.__doc__ or "").replace("by: dimensions", _BY).partition("    Args:\n        ")
    own, returns, columns = rest.partition("\n    Returns:\n")
    measured.__name__ = measured.__qualname__ = name
    measured.__doc__ = f"{begin.rstrip()}{_FILTERS}{arguments}plies: the ply table{of}. {own}{more}{returns}{columns}"
    measured.__signature__ = Signature(parameters, return_annotation="pd.DataFrame")  # type: ignore[attr-defined]  # a function has it once it is set
    return measured


activity = _measure(definitions.activity)
autocorrelation = _measure(definitions.autocorrelation)
blunders = _measure(definitions.blunders)
clock_curve = _measure(definitions.clock_curve)
clock_lead = _measure(definitions.clock_lead)
diagonal_lead = _measure(definitions.diagonal_lead)
even_budget = _measure(definitions.even_budget)
flags = _measure(definitions.flags)
game_sides = _measure(definitions.game_sides)
instant = _measure(definitions.instant)
known_moves = _measure(definitions.known_moves)
lag = _measure(definitions.lag)
longest_thinks = _measure(definitions.longest_thinks)
loss_by_clock = _measure(definitions.loss_by_clock)
loss_by_think = _measure(definitions.loss_by_think)
profile = _measure(definitions.profile)
residuals = _measure(definitions.residuals)
scramble_windows = _measure(definitions.scramble_windows)
scrambles = _measure(definitions.scrambles)
sitting = _measure(definitions.sitting)
time_left = _measure(definitions.time_left)
time_left_by_phase = _measure(definitions.time_left_by_phase)
time_odds = _measure(definitions.time_odds)
time_usage = _measure(definitions.time_usage)


class _PlyAccessor:
    """Measures of a table of plies. Each returns a new DataFrame; ``docs/reference/measures.md`` has the formulas.

    ``attrs`` of a result: ``games`` and ``plies`` that count, ``excluded`` (reason → plies that do not) and ``marked``
    (``seconds only``, ``incomplete``, ``derived clock``, ``derived time`` → plies that count). Times are milliseconds,
    shares and scores go from 0 to 1, and what is not known is NA. ``by`` takes names of dimensions: any column of words
    or small numbers, or ``player``, ``opponent``, ``guest``, ``computer``, ``sealed``, ``game``, ``precision``,
    ``time_trouble``, ``clock_band``, ``lag_band``, ``rating_band``, ``hour``, ``weekday``; of a table with these
    columns also ``eco``, ``opening`` and ``event``.

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


_OWN = re.compile(r"plies: the ply table(?: of matches, as ``Archive.matches`` gives it)?\.\s+")
_TIMEDELTA = "as_timedelta: times are Timedelta, in columns without the unit (``mean`` for ``mean_ms``)."


def _method(measured: Callable[..., pd.DataFrame]) -> Callable[..., pd.DataFrame]:

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


pd.api.extensions.register_dataframe_accessor("ics")(_PlyAccessor)
