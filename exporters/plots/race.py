"""Pictures of one game: what both sides had left after each of their moves, and the time for each move as bars."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter

from exporters.plots.panels import GamePanel, Legend
from exporters.plots.shown import GameShown, rows_of
from exporters.plots.style import (
    LegendEntry,
    Theme,
    clock_axis,
    draw_points,
    dress,
    move_axis,
    numbers,
    ply_place,
)
from exporters.plots.words import (
    handles_of,
    one,
    only_game,
    usable,
    whole_seconds,
)
from exporters.report.events import mark_of
from exporters.report.svg import clock_text


class Mark(NamedTuple):
    """Something that happened after half-move ``ply``. ``name``: what the legend calls it."""

    name: str
    ply: int
    text: str


_SHAPES = {
    "takeback": "<",
    "time added": "P",
    "pause": "s",
    "resumed": ">",
    "disconnection": "X",
    "clock changed": "D",
    "flag": "v",
    "not observed": "h",
    "kibitz": "*",
}
_MANY_POINTS = 120


def marks_of(events: pd.DataFrame | None, *, chat: bool = False) -> list[Mark]:
    if events is None:
        return []
    marks = []
    for kind, detail, ply, text in zip(events["kind"], events["detail"], events["ply"], events["text"], strict=True):
        name = mark_of(kind, str(detail))
        if name is None or pd.isna(ply) or (kind == "chat" and not chat):
            continue
        marks.append(Mark(name, int(ply), "" if pd.isna(text) else str(text)))
    return marks


def _marks_with_flag(events: pd.DataFrame | None, plies: pd.DataFrame, *, chat: bool) -> list[Mark]:
    """The marks of a game; where it was forfeited on time and no event is a flag, the last ply has one."""
    marks = marks_of(events, chat=chat)
    if one(plies["termination"]) == "time forfeit" and all(mark.name != "flag" for mark in marks):
        marks.append(Mark("flag", int(plies["ply"].max()), ""))
    return marks


def clock_race(
    plies: pd.DataFrame,
    events: pd.DataFrame | None = None,
    *,
    ax: Axes | None = None,
    theme: str | Theme = "light",
    chat: bool = False,
    titles: bool = True,
    footer: bool = True,
) -> Axes:
    """Draw both clocks of one game after each move, with the even budget and the events that changed them.

    The even budget is ``base × (1 - move / last move)``: the clock of a side that takes as long for each move and uses
    all its time, increments included, in this game's number of moves. Clocks that were printed in whole seconds are
    steps.

    Args:
        plies: the ply frame of one game. events: its event frame.
        ax: where to draw; None: axes of a new figure.
        theme: ``light`` or ``dark``.
        chat: mark kibitzes, too.
        titles: title and subtitle; False where something around the axes names their content.
        footer: how many games and plies are drawn, and what was excluded and why.
    Returns:
        The axes. The point of half-move 17 has the gid ``ply-17``, the marks ``event-0`` …
    Raises:
        ExportError: there is not one game, or it has no clocks.
    """
    data = RACE.computed(plies, events=events, chat=chat)
    return RACE.drawn(data, ax=ax, theme=theme, titles=titles, footer=footer)


class _Race(NamedTuple):
    shown: GameShown
    marks: list[Mark]


def _compute_race(plies: pd.DataFrame, events: pd.DataFrame | None = None, *, chat: bool = False) -> _Race:
    only_game(plies, "race")
    drawn = usable(plies, "clock_after_ms", clocks=True)
    return _Race(GameShown([plies], drawn), _marks_with_flag(events, plies, chat=chat))


def _draw_race(ax: Axes, look: Theme, data: _Race) -> Legend:
    plies, drawn = data.shown.plies, data.shown.drawn
    stepped = whole_seconds(drawn) == len(drawn)
    entries, heights = _draw_clocks(ax, look, plies, drawn, stepped)
    entries += _draw_budgets(ax, look, plies)
    entries += _draw_marks(ax, look, plies, data.marks)
    entries += _shade_gaps(ax, look, plies)
    _scale_clocks(ax, look, plies, heights, stepped)
    return Legend(entries)


def _draw_clocks(
    ax: Axes, look: Theme, plies: pd.DataFrame, drawn: pd.DataFrame, stepped: bool
) -> tuple[list[LegendEntry], list[float]]:
    """Draw both clocks; return what the legend says of them, and values in seconds between which they are."""
    entries: list[LegendEntry] = []
    heights = [0.0]
    size = 4.5 if len(drawn) <= _MANY_POINTS else 2.5
    for side, handle in zip(("white", "black"), handles_of(plies), strict=True):
        own = drawn[drawn["side"] == side]
        if own.empty:
            continue
        colour = look.side(side)
        face = look.background if side == "white" else colour
        xs, ys = _curve(own, plies[plies["side"] == side])
        heights += [float(np.nanmin(ys)), float(np.nanmax(ys))]
        ax.plot(
            xs, ys, color=colour, linewidth=1.6, drawstyle="steps-post" if stepped else "default", gid=f"clock-{side}"
        )
        places = ply_place(numbers(own["ply"]))
        gids = [f"ply-{ply}" for ply in own["ply"]]
        draw_points(ax, places, numbers(own["clock_after_ms"]) / 1000, gids, size=size, colour=colour, face=face)
        line = Line2D([], [], color=colour, linewidth=1.6, marker="o", markersize=4.5, markerfacecolor=face)
        entries.append((line, f"{handle} ({side})"))
    return entries, heights


def _scale_clocks(ax: Axes, look: Theme, plies: pd.DataFrame, heights: list[float], stepped: bool) -> None:
    bases = [float(value) for value in plies["base_s"].dropna().unique()]
    high, low = max([*heights, *bases]), min(heights)
    margin = max(high - low, 1.0) * 0.05
    ax.set_ylim(low - (margin if low < 0 else 0), high + 2 * margin)
    ax.set_xlim(int(plies["move_no"].min()) - 0.7, int(plies["move_no"].max()) + 1)
    if low < 0:
        ax.axhline(0, color=look.text, linewidth=0.9, gid="zero")
    clock_axis(ax.yaxis, low, high, whole_seconds=stepped)
    move_axis(ax)
    ax.set_ylabel("clock left (min:s)")


def _curve(own: pd.DataFrame, all_own: pd.DataFrame) -> tuple[list[float], list[float]]:
    """One side's clock, from the base time if its first move is there, broken where a move is missing."""
    xs: list[float] = []
    ys: list[float] = []
    clock_s = dict(zip(own["ply"].astype(int), numbers(own["clock_after_ms"]) / 1000, strict=True))
    first = int(all_own["ply"].min())
    base = one(all_own["base_s"])
    if first <= 2 and base is not None:
        xs.append(0.5)
        ys.append(float(base))
    for ply in range(first, int(all_own["ply"].max()) + 1, 2):
        xs.append(ply_place(ply))
        ys.append(float(clock_s.get(ply, np.nan)))
    return xs, ys


def _draw_budgets(ax: Axes, look: Theme, plies: pd.DataFrame) -> list[LegendEntry]:
    last_move = int(plies["move_no"].max())
    bases: dict[float, list[str]] = {}
    for side in ("white", "black"):
        base = one(plies.loc[plies["side"] == side, "base_s"])
        if base:
            bases.setdefault(float(base), []).append(side)
    entries: list[LegendEntry] = []
    for base, sides in bases.items():
        alone = len(bases) > 1
        colour = look.side(sides[0]) if alone else look.muted
        line = Line2D([0.5, last_move + 0.5], [base, 0], color=colour, linestyle=(0, (5, 3)), linewidth=1.1)
        line.set_gid(f"budget-{sides[0]}" if alone else "budget")
        ax.add_line(line)
        # With increments the clock may rise above it for long: say that they are in it.
        name = "even budget, increments used up" if plies["increment_s"].gt(0).any() else "even budget"
        entries.append((line, f"{name} ({sides[0]})" if alone else name))
    return entries


def _draw_marks(ax: Axes, look: Theme, plies: pd.DataFrame, marks: list[Mark]) -> list[LegendEntry]:
    last = int(plies["ply"].max())
    named: dict[str, Artist] = {}
    for number, mark in enumerate(marks):
        if mark.name == "not observed" and mark.ply >= last:
            continue  # the end of what we saw, not a hole in it
        x = ply_place(mark.ply) + 0.25
        spoken = mark.name == "kibitz"
        if not spoken:
            ax.axvline(x, color=look.mark, linewidth=0.6, alpha=0.55, zorder=1)
        shape = _SHAPES[mark.name]
        ax.plot(
            [x],
            [0.93 if spoken else 0.975],
            transform=ax.get_xaxis_transform(),
            marker=shape,
            markersize=6,
            color=look.mark,
            markeredgecolor="none",
            linestyle="none",
            gid=f"event-{number}",
            clip_on=False,
        )
        named.setdefault(
            mark.name,
            Line2D([], [], marker=shape, markersize=6, color=look.mark, markeredgecolor="none", linestyle="none"),
        )
    return [(handle, name) for name, handle in named.items()]


def _shade_gaps(ax: Axes, look: Theme, plies: pd.DataFrame) -> list[LegendEntry]:
    drawn = sorted(plies["ply"].astype(int))
    holes = [(before, after) for before, after in pairwise(drawn) if after > before + 1]
    for before, after in holes:
        ax.axvspan(ply_place(before), ply_place(after), color=look.shade, linewidth=0, zorder=0, gid=f"gap-{before}")
    return [(Patch(color=look.shade), "moves not recorded")] if holes else []


_BAR = 0.86


def _time_text(ms: float, whole: bool) -> str:
    """``0:02.7``, as the axis has it; ``whole``: times were printed in whole seconds."""
    return clock_text(round(ms / 1000) if whole else ms / 1000)


def side_medians(plies: pd.DataFrame) -> dict[str, int]:
    """The median of each side's think times in milliseconds, by the rule of measures: first moves are none."""
    thinks = plies[plies["move_no"] > 1]
    medians = thinks.groupby(thinks["side"].astype("string"))["elapsed_ms"].median()
    return {str(side): math.floor(float(ms) + 0.5) for side, ms in medians.items()}


def _scale_both_ways(axes: Axes, highest: float, coarse: bool) -> None:
    """An axis of times that go upwards for White and downwards for Black."""
    limit = (max(highest, 0.1) if highest else 1.0) * 1.08
    axes.set_ylim(-limit, limit)
    clock_axis(axes.yaxis, -limit, limit, ticks=9, whole_seconds=coarse)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: clock_text(abs(value))))


def _compute_times(plies: pd.DataFrame) -> GameShown:
    only_game(plies, "times")
    return GameShown([plies], usable(plies, "elapsed_ms"))


def _draw_both(ax: Axes, look: Theme, data: GameShown) -> Legend:
    plies, drawn = data.plies, data.drawn
    right = ax.twinx()
    dress(right, look, grid=None)
    right.spines["right"].set_visible(True)
    entries, highest, most = _draw_times(ax, right, look, plies, drawn)
    for axes, limit in ((ax, highest), (right, most)):
        _scale_both_ways(axes, limit, whole_seconds(drawn) > 0)
    ax.axhline(0, color=look.text, linewidth=0.8)
    ax.set_xlim(int(plies["move_no"].min()) - 1, int(plies["move_no"].max()) + 1)
    move_axis(ax)
    ax.set_ylabel("time for the move (min:s)\nBlack ↓   White ↑")
    right.set_ylabel("lines: sum of the times (min:s)")
    return Legend(entries)


def _draw_times(
    ax: Axes, right: Axes, look: Theme, plies: pd.DataFrame, drawn: pd.DataFrame
) -> tuple[list[LegendEntry], float, float]:
    """Draw bars and the lines of their sums; return the legend's entries, the longest time and the larger sum."""
    entries: list[LegendEntry] = []
    highest, most = 0.0, 0.0
    medians = side_medians(drawn)
    stepped = whole_seconds(drawn) == len(drawn)
    for side, sign, handle in zip(("white", "black"), (1, -1), handles_of(plies), strict=True):
        own = drawn[drawn["side"] == side]
        if own.empty:
            continue
        times = numbers(own["elapsed_ms"]) / 1000
        moves = ply_place(numbers(own["ply"]))
        colour = look.side(side)
        bars = ax.bar(moves, sign * times, width=_BAR, color=colour, linewidth=0)
        for bar, ply in zip(bars, own["ply"], strict=True):
            bar.set_gid(f"ply-{ply}")
        sums = np.cumsum(times)
        right.plot(
            [float(moves[0]) - 0.5, *moves],
            [0.0, *(sign * sums)],
            color=colour,
            linewidth=1.3,
            drawstyle="steps-post" if stepped else "default",
            alpha=0.9,
            gid=f"sum-{side}",
        )
        highest, most = max(highest, float(np.abs(times).max())), max(most, float(np.abs(sums).max()))
        seconds = whole_seconds(own) > 0
        text = f"{handle} ({side}): {_time_text(float(sums[-1]) * 1000, seconds)} in all"
        if side in medians:
            text += f", median {_time_text(medians[side], seconds)} from move 2"
        entries.append((Patch(color=colour), text))
    return entries, highest, most


RACE: Final = GamePanel("", _compute_race, _draw_race, rows_of("clock_after_ms", "elapsed_ms"))
TIMES: Final = GamePanel("", _compute_times, _draw_both, rows_of("elapsed_ms"))
move_times = TIMES.function(
    "move_times",
    """Draw the time of each move of one game: White's bars go up, Black's down; two lines show the sums.

    Times are those that the server charged (``elapsed_ms``), without lag. The sums belong to the axis on the right,
    whose axes share the x axis. The bar of half-move 17 has the gid ``ply-17``.
    """,
)
