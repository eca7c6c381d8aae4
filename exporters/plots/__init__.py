"""Pictures of clocks, think times and lag, drawn with matplotlib (the extra ``plot``).

Every function takes the ply frame (``recorder.Archive.plies``; docs/reference/tables.md) and returns axes, a sheet of
several pictures returns a figure. Pictures of many games also take batches of it, as the command line reads them.
``docs/reference/pictures.md`` shows what each of them draws.
"""

from __future__ import annotations

from exporters.plots.bughouse import bughouse_clocks
from exporters.plots.catalogue import PICTURES, Picture, player_profile
from exporters.plots.curve import clock_curve
from exporters.plots.evaluations import blunder_rates, blunder_sheet, evaluation_course, evaluation_sheet
from exporters.plots.figures import FORMATS, TABLE_FORMATS, new_figure, svg_text, write_picture, write_table
from exporters.plots.lag import lag_course, lag_histogram, lag_sheet
from exporters.plots.race import clock_race, move_times
from exporters.plots.scores import endings, score_by_lead
from exporters.plots.style import THEMES, Theme
from exporters.plots.thinking import think_heatmap, think_times

__all__ = [
    "FORMATS",
    "PICTURES",
    "TABLE_FORMATS",
    "THEMES",
    "Picture",
    "Theme",
    "blunder_rates",
    "blunder_sheet",
    "bughouse_clocks",
    "clock_curve",
    "clock_race",
    "endings",
    "evaluation_course",
    "evaluation_sheet",
    "lag_course",
    "lag_histogram",
    "lag_sheet",
    "move_times",
    "new_figure",
    "player_profile",
    "score_by_lead",
    "svg_text",
    "think_heatmap",
    "think_times",
    "write_picture",
    "write_table",
]
