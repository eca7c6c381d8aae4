"""The lag that the server printed: move by move, and how it is distributed."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from exporters.measures import lag
from exporters.measures.result import quantiles
from exporters.plots.figures import add_sheet_titles, new_axes, new_figure
from exporters.plots.style import (
    LegendEntry,
    Theme,
    add_legend,
    add_titles,
    draw_points,
    move_axis,
    numbers,
    ply_place,
    theme_of,
)
from exporters.plots.thinking import headline
from exporters.plots.words import footer_text, games_of, handles_of, moves_of, name_of, usable

__all__ = ["lag_bands", "lag_course", "lag_histogram", "lag_sheet"]

_BINS = 40
_BAND = "line: median, band: 5 % to 95 % of the moves"
_QUANTILES = {"p05_ms": 5, "p50_ms": None, "p95_ms": 95}
_Series = list[tuple[str, str, pd.DataFrame]]


def _series(drawn: pd.DataFrame, plies: pd.DataFrame, player: str | None) -> _Series:
    """Side, name and rows: both sides of one game; of several games the player and all others."""
    if plies["key"].nunique() == 1:
        names = dict(zip(("white", "black"), handles_of(plies), strict=True))
        found = [(side, f"{name} ({side})", drawn[drawn["side"] == side]) for side, name in names.items()]
    elif player is None:
        found = [("white", "all players", drawn)]
    else:
        own = moves_of(drawn, player)
        found = [("white", name_of(plies, player), own), ("black", "opponents", drawn.drop(own.index))]
    return [(side, name, rows) for side, name, rows in found if not rows.empty]


def _about(rows: pd.DataFrame) -> str:
    (found,) = lag(rows, by=()).to_dict("records")
    return f"median {found['p50_ms']} ms, 95 % ≤ {found['p95_ms']} ms, most {found['longest_ms']} ms"


def lag_bands(rows: pd.DataFrame) -> pd.DataFrame:
    """By ``move_no`` what ``lag_course`` draws of several games: ``p05_ms``, ``p50_ms`` (the median), ``p95_ms``."""
    counted = rows.groupby(["move_no", "lag_ms"]).size().rename("n").reset_index()
    return quantiles(counted, ["move_no"], "lag_ms", _QUANTILES).sort_values("move_no", ignore_index=True)


def _notes(drawn: pd.DataFrame) -> str | None:
    unsealed = int((~drawn["mover_sealed"]).fillna(False).sum())
    if not unsealed:
        return None
    return f"{unsealed:,} {'ply is' if unsealed == 1 else 'plies are'} of players without a time seal"


def lag_course(
    plies: pd.DataFrame,
    *,
    player: str | None = None,
    ax: Axes | None = None,
    theme: str | Theme = "light",
    titles: bool = True,
    footer: bool = True,
) -> Axes:
    """Draw lag by move: of one game each move, of several games the median and a band with nine tenths of the moves.

    Args:
        plies: the ply frame of any number of games.
        player: of several games, show this handle's moves apart from the opponents'.
        ax, theme, titles, footer: as for ``clock_race``.
    Returns:
        The axes. In one game the point of half-move 17 has the gid ``ply-17``.
    Raises:
        ExportError: no lag is known.
    """
    look = theme_of(theme)
    plies = games_of(plies, player)
    drawn = usable(plies, "lag_ms")
    ax = new_axes(ax, look)
    one_game = plies["key"].nunique() == 1
    entries: list[LegendEntry] = []
    for side, name, rows in _series(drawn, plies, player):
        colour = look.side(side)
        face = look.background if side == "white" else colour
        draw = _draw_moves if one_game else _draw_bands
        draw(ax, rows, side, colour, face)
        shown = Line2D([], [], color=colour, marker="o", markersize=4, markerfacecolor=face)
        entries.append((shown, f"{name}: {_about(rows)}"))
    ax.set_ylim(bottom=0)
    ax.margins(y=0.08)
    move_axis(ax)
    ax.set_ylabel("lag (ms)")
    note = None if one_game else _BAND
    if titles:
        add_titles(ax, look, *headline(plies, player, "Lag"))
    add_legend(ax, look, entries, footer_text(drawn, note, _notes(drawn)) if footer else "")
    return ax


def _draw_moves(ax: Axes, rows: pd.DataFrame, side: str, colour: str, face: str) -> None:
    """Draw the lag of each of one side's moves."""
    lags = numbers(rows["lag_ms"])
    moves = ply_place(numbers(rows["ply"]))
    ax.plot(moves, lags, color=colour, linewidth=1.0, alpha=0.8, gid=f"lag-{side}")
    draw_points(ax, moves, lags, [f"ply-{ply}" for ply in rows["ply"]], size=4, colour=colour, face=face)


def _draw_bands(ax: Axes, rows: pd.DataFrame, side: str, colour: str, face: str) -> None:
    """Draw the median and the band of the lag of several games by move."""
    bands = lag_bands(rows)
    known = numbers(bands["move_no"])
    low, middle, high = (numbers(bands[name]) for name in _QUANTILES)
    ax.fill_between(known, low, high, color=colour, alpha=0.2, linewidth=0, gid=f"band-{side}")
    ax.plot(known, middle, color=colour, linewidth=1.4, marker="o", markersize=3, markerfacecolor=face)


def lag_histogram(
    plies: pd.DataFrame,
    *,
    player: str | None = None,
    ax: Axes | None = None,
    theme: str | Theme = "light",
    titles: bool = True,
    footer: bool = True,
) -> Axes:
    """Draw a histogram of the lag of moves; the last bin has all moves above the 99th percentile.

    Args:
        plies, player, ax, theme, titles, footer: as for ``lag_course``.
    Returns:
        The axes that were drawn on.
    Raises:
        ExportError: no lag is known.
    """
    look = theme_of(theme)
    plies = games_of(plies, player)
    drawn = usable(plies, "lag_ms")
    ax = new_axes(ax, look)
    lags = numbers(drawn["lag_ms"])
    top = max(float(np.percentile(lags, 99, method="inverted_cdf")), 1.0)
    step = next((step for step in (1, 2, 5, 10, 20, 25, 50, 100, 200, 500, 1000) if top / step <= _BINS), top / _BINS)
    edges = np.arange(0, top + 2 * step, step)
    cut = bool((lags > edges[-1]).any())
    entries: list[LegendEntry] = []
    for side, name, rows in _series(drawn, plies, player):
        colour = look.side(side)
        values = np.clip(numbers(rows["lag_ms"]), 0, edges[-1] - step / 2)
        ax.hist(
            values,
            bins=edges.tolist(),
            histtype="stepfilled",
            facecolor=(colour, 0.3),
            edgecolor=colour,
            linewidth=1.3,
            gid=f"histogram-{side}",
        )
        entries.append((Patch(facecolor=(colour, 0.3), edgecolor=colour, linewidth=1.3), f"{name}: {_about(rows)}"))
    ax.set_xlim(0, float(edges[-1]))
    ax.yaxis.set_major_locator(MaxNLocator(integer=True, nbins=6))
    ax.set_xlabel(f"lag (ms), bins of {step:g} ms" + (", the last one: and more" if cut else ""))
    ax.set_ylabel("moves")
    if titles:
        add_titles(ax, look, *headline(plies, player, "Lag"))
    if titles or footer:  # beside the course of the lag its legend is enough
        add_legend(ax, look, entries, footer_text(drawn, _notes(drawn)) if footer else "")
    return ax


def lag_sheet(
    plies: pd.DataFrame,
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
    plies = games_of(plies, player)
    drawn = usable(plies, "lag_ms")
    lag_course(plies, player=player, ax=course, theme=theme, titles=False, footer=False)
    lag_histogram(plies, player=player, ax=histogram, theme=theme, titles=False, footer=False)
    note = None if plies["key"].nunique() == 1 else _BAND
    add_sheet_titles(course, theme_of(theme), *headline(plies, player, "Lag"), footer_text(drawn, note, _notes(drawn)))
    return figure
