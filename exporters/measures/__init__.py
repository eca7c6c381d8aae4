"""Measures of the use of time, computed in pandas, in DuckDB or by Dask; docs/reference/measures.md defines them."""

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
from exporters.measures.think import autocorrelation, instant, longest_thinks, time_usage

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
