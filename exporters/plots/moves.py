"""Time for each move as bars, and what they add up to."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, MaxNLocator

from exporters.measures.exact import summary
from exporters.plots.style import (
    Theme,
    add_legend,
    add_titles,
    clock_axis,
    clock_text,
    dress,
    duration_text,
    new_axes,
    numbers,
    theme_of,
)
from exporters.plots.words import (
    about_game,
    counted,
    footer_text,
    handles_of,
    only_game,
    title_of,
    usable,
    whole_seconds,
)

__all__ = ["move_times", "side_medians"]

_BAR = 0.86


def side_medians(plies: pd.DataFrame) -> dict[str, int]:
    """The median of each side's times, by the rule of ``exporters.measures.game_sides``."""
    found = summary(counted(plies, ["side"], "elapsed_ms"), ["side"], "elapsed_ms", {"median_ms": None})
    return dict(zip(found["side"], found["median_ms"].astype(int), strict=True))


def move_times(
    plies: pd.DataFrame,
    *,
    ax: Axes | None = None,
    theme: str | Theme = "light",
    titles: bool = True,
    footer: bool = True,
) -> Axes:
    """What each move of one game cost: White's bars upwards, Black's downwards, and the lines of both sums.

    Times are those that the server charged (``elapsed_ms``), without lag. The sums belong to the axis on the right.

    Args:
        plies: the ply frame of one game.
        ax, theme, titles, footer: as for ``clock_race``.
    Returns:
        The axes of the bars; those of the sums share its x axis. The bar of half-move 17 has the gid ``ply-17``.
    Raises:
        ExportError: there is not one game, or no time is known.
    """
    only_game(plies, "times")
    drawn = usable(plies, "elapsed_ms")
    look = theme_of(theme)
    ax = new_axes(ax, look)
    right = ax.twinx()
    dress(right, look, grid=None)
    right.spines["right"].set_visible(True)
    coarse = whole_seconds(drawn)
    first, last = int(plies["move_no"].min()), int(plies["move_no"].max())
    highest, most = 0.0, 0.0
    handles: list[Artist] = []
    labels: list[str] = []
    medians = side_medians(drawn)
    for side, sign, handle in zip(("white", "black"), (1, -1), handles_of(plies), strict=True):
        own = drawn[drawn["side"] == side]
        if own.empty:
            continue
        times = numbers(own["elapsed_ms"]) / 1000
        moves = numbers(own["move_no"])
        colour = look.side(side)
        bars = ax.bar(moves, sign * times, width=_BAR, color=colour, linewidth=0)
        for bar, ply in zip(bars, own["ply"], strict=True):
            bar.set_gid(f"ply-{ply}")
        sums = np.cumsum(times)
        right.plot(
            [float(moves[0]) - 1, *moves],
            [0.0, *(sign * sums)],
            color=colour,
            linewidth=1.3,
            drawstyle="steps-post" if coarse == len(drawn) else "default",
            alpha=0.9,
            gid=f"sum-{side}",
        )
        highest, most = max(highest, float(np.abs(times).max())), max(most, float(np.abs(sums).max()))
        seconds = whole_seconds(own) > 0
        total = duration_text(float(sums[-1]) * 1000, whole_seconds=seconds)
        median = duration_text(medians[side], whole_seconds=seconds)
        handles.append(Patch(color=colour))
        labels.append(f"{handle} ({side}): {total} in all, median {median}")
    for axes, limit in ((ax, highest), (right, most)):
        limit = (max(limit, 0.1) if limit else 1.0) * 1.08
        axes.set_ylim(-limit, limit)
        clock_axis(axes.yaxis, -limit, limit, ticks=9, whole_seconds=coarse > 0)
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: clock_text(abs(value))))
    ax.axhline(0, color=look.text, linewidth=0.8)
    ax.set_xlim(first - 1, last + 1)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=12))
    ax.set_xlabel("move")
    ax.set_ylabel("time for the move (min:s)\nBlack ↓   White ↑")
    right.set_ylabel("lines: sum of the times (min:s)")
    if titles:
        add_titles(ax, look, title_of(plies), about_game(plies))
    add_legend(ax, look, handles, labels, footer_text(drawn) if footer else "")
    return ax
