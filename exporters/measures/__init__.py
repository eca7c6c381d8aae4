"""Measures of the use of time: each defined once, computed in pandas, in DuckDB or by Dask. See docs/measures.md."""

from exporters.measures.clocks import clock_curve, time_left, time_left_by_phase
from exporters.measures.games import game_sides, profile
from exporters.measures.lag import lag
from exporters.measures.think import autocorrelation, instant, longest_thinks, time_usage

__all__ = [
    "autocorrelation",
    "clock_curve",
    "game_sides",
    "instant",
    "lag",
    "longest_thinks",
    "profile",
    "time_left",
    "time_left_by_phase",
    "time_usage",
]
