"""The lag that the server printed: move by move, and how it is distributed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from exporters.measures.program import frame_of_rows
from exporters.measures.source import Plies
from exporters.plots.figures import add_sheet_titles, new_axes, new_figure
from exporters.plots.panels import Legend, Panel
from exporters.plots.shown import Drawn, Shown, counts_of, figures_of, ranked, reasons_against, shown_of
from exporters.plots.style import (
    LegendEntry,
    Theme,
    add_legend,
    draw_points,
    move_axis,
    numbers,
    ply_place,
    theme_of,
)
from exporters.plots.words import (
    PlySource,
    Who,
    handles_of,
    name_of,
    no_data,
)

_BINS = 40
_BAND = "line: median, band: 5 % to 95 % of the moves"
_QUANTILES = {"p05_ms": 5, "p50_ms": None, "p95_ms": 95}


class _Series(NamedTuple):
    """The lag of a side, a player, all others or everybody: counts by ``lag_ms``, and bands by move, or ``moves``."""

    side: str
    name: str
    about: str
    counts: pd.DataFrame
    bands: pd.DataFrame | None
    moves: pd.DataFrame | None


class _LagData(NamedTuple):
    """What both pictures draw; ``unsealed``: a note for the footer."""

    shown: Shown
    series: list[_Series]
    one_game: bool
    unsealed: str | None


def _compute_lag(plies: Plies, who: Who) -> _LagData:
    drawn = Drawn(who.games(plies), reasons_against("lag_ms"))
    shown = shown_of(drawn, player=who.player)
    if not shown.attrs["plies"]:
        raise no_data(shown.attrs["excluded"])
    ((unsealed,),) = drawn.kept.sql("SELECT count(*) FROM plies WHERE NOT mover_sealed").fetchall()
    note = f"{unsealed:,} {'ply is' if unsealed == 1 else 'plies are'} of players without a time seal"
    one_game = shown.sample["key"].nunique() == 1
    if one_game:
        white, black = handles_of(shown.sample)
        names = {"white": ("white", f"{white} (white)"), "black": ("black", f"{black} (black)")}
        whose = "side"
    elif who.player is None:
        names, whose = {"all": ("white", "all players")}, "'all'"
    else:
        names = {"player": ("white", name_of(shown.sample, who.player)), "opponents": ("black", "opponents")}
        whose = f"CASE WHEN {who.condition} THEN 'player' ELSE 'opponents' END"
    series = _series(drawn, {"who": whose}, names)
    if one_game:
        relation = drawn.kept.sql("SELECT side, ply, lag_ms FROM plies ORDER BY ply")
        rows = frame_of_rows(relation.columns, [str(kind) for kind in relation.types], relation.fetchall())
        series = [line._replace(bands=None, moves=rows[rows["side"] == line.side]) for line in series]
    return _LagData(shown, series, one_game, note if unsealed else None)


def _series(drawn: Drawn, whose: Mapping[str, str], names: Mapping[str, tuple[str, str]]) -> list[_Series]:
    bands = figures_of(drawn, ("who", "move_no"), "lag_ms", _QUANTILES, whose).frame()
    counts = counts_of(drawn, "who", "lag_ms", whose)
    series = []
    for key, (side, name) in names.items():
        of_key = counts[counts["who"] == key]
        if len(of_key):
            lags, count = (of_key[column].to_numpy(dtype=np.int64) for column in ("lag_ms", "n"))
            median, most = int(ranked(lags, count) + 0.5), ranked(lags, count, 95)
            text = f"median {median} ms, 95 % ≤ {most:.0f} ms, most {lags.max()} ms"
            own = bands[bands["who"] == key].sort_values("move_no", ignore_index=True)
            series.append(_Series(side, name, text, of_key, own, None))
    return series


def _draw_course(ax: Axes, look: Theme, lags: _LagData) -> Legend:
    entries: list[LegendEntry] = []
    for line in lags.series:
        colour = look.side(line.side)
        face = look.background if line.side == "white" else colour
        if line.moves is not None:
            _draw_moves(ax, line.moves, line.side, colour, face)
        if line.bands is not None:
            _draw_bands(ax, line.bands, line.side, colour, face)
        mark = Line2D([], [], color=colour, marker="o", markersize=4, markerfacecolor=face)
        entries.append((mark, f"{line.name}: {line.about}"))
    ax.set_ylim(bottom=0)
    ax.margins(y=0.08)
    move_axis(ax)
    ax.set_ylabel("lag (ms)")
    return Legend(entries, (None if lags.one_game else _BAND, lags.unsealed))


def _draw_moves(ax: Axes, rows: pd.DataFrame, side: str, colour: str, face: str) -> None:
    lags = numbers(rows["lag_ms"])
    moves = ply_place(numbers(rows["ply"]))
    ax.plot(moves, lags, color=colour, linewidth=1.0, alpha=0.8, gid=f"lag-{side}")
    draw_points(ax, moves, lags, [f"ply-{ply}" for ply in rows["ply"]], size=4, colour=colour, face=face)


def _draw_bands(ax: Axes, bands: pd.DataFrame, side: str, colour: str, face: str) -> None:
    moves = numbers(bands["move_no"])
    low, middle, high = (numbers(bands[name]) for name in _QUANTILES)
    ax.fill_between(moves, low, high, color=colour, alpha=0.2, linewidth=0, gid=f"band-{side}")
    ax.plot(moves, middle, color=colour, linewidth=1.4, marker="o", markersize=3, markerfacecolor=face)


def _draw_histogram(ax: Axes, look: Theme, lags: _LagData) -> Legend:
    every = pd.concat([line.counts[["lag_ms", "n"]] for line in lags.series]).sort_values("lag_ms")
    count = every["n"].to_numpy(dtype=np.int64).cumsum()
    rank = (int(count[-1]) * 99 + 99) // 100
    top = max(float(every["lag_ms"].iloc[int(np.searchsorted(count, rank))]), 1.0)
    step = next((step for step in (1, 2, 5, 10, 20, 25, 50, 100, 200, 500, 1000) if top / step <= _BINS), top / _BINS)
    edges = np.arange(0, top + 2 * step, step)
    cut = bool(every["lag_ms"].iloc[-1] > edges[-1])
    entries: list[LegendEntry] = []
    for line in lags.series:
        colour = look.side(line.side)
        ax.hist(
            np.clip(numbers(line.counts["lag_ms"]), 0, edges[-1] - step / 2),
            bins=edges.tolist(),
            weights=numbers(line.counts["n"]),
            histtype="stepfilled",
            facecolor=(colour, 0.3),
            edgecolor=colour,
            linewidth=1.3,
            gid=f"histogram-{line.side}",
        )
        entries.append((Patch(facecolor=(colour, 0.3), edgecolor=colour, linewidth=1.3), f"{line.name}: {line.about}"))
    ax.set_xlim(0, float(edges[-1]))
    ax.yaxis.set_major_locator(MaxNLocator(integer=True, nbins=6))
    ax.set_xlabel(f"lag (ms), bins of {step:g} ms" + (", the last one: and more" if cut else ""))
    ax.set_ylabel("moves")
    return Legend(entries, (lags.unsealed,))


def lag_sheet(
    plies: PlySource,
    *,
    player: str | None = None,
    theme: str | Theme = "light",
    size: tuple[float, float] = (9.0, 5.5),
) -> Figure:
    """Draw lag by move and its histogram side by side.

    Args:
        plies, player, theme: as for ``lag_course``. size: in inches.
    Returns:
        The figure with all pictures.
    Raises:
        ExportError: no lag is known.
    """
    figure = new_figure(theme, size)
    course, histogram = figure.subplots(1, 2, width_ratios=(5, 3))
    look, lags = theme_of(theme), HISTOGRAM.computed(plies, player)
    legend = _draw_course(new_axes(course, look), look, lags)
    add_legend(course, look, legend.entries)
    _draw_histogram(new_axes(histogram, look), look, lags)
    add_sheet_titles(course, look, *lags.shown.head("Lag"), lags.shown.footer(*legend.notes))
    return figure


COURSE: Final = Panel("Lag", _compute_lag, _draw_course)
HISTOGRAM: Final = Panel("Lag", _compute_lag, _draw_histogram)
lag_course = COURSE.function(
    "lag_course",
    """Draw lag by move: of one game each move, of several games the median and a band with nine tenths of the moves.

    In one game the point of half-move 17 has the gid ``ply-17``.
    """,
)
lag_histogram = HISTOGRAM.function(
    "lag_histogram",
    """Draw a histogram of the lag of moves; the last bin has all moves above the 99th percentile.
    """,
)
