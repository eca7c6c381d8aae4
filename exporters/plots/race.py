"""Pictures of one game: what both sides had left after each of their moves, and the time for each move as bars."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, MaxNLocator

from exporters.measures.result import summary
from exporters.plots.figures import new_axes
from exporters.plots.style import (
    Theme,
    add_legend,
    add_titles,
    clock_axis,
    clock_text,
    dress,
    duration_text,
    numbers,
    theme_of,
)
from exporters.plots.words import (
    about_game,
    counted,
    footer_text,
    handles_of,
    one,
    only_game,
    title_of,
    usable,
    whole_seconds,
)

__all__ = ["Mark", "clock_race", "marks_of", "move_times", "side_medians"]


class Mark(NamedTuple):
    """Something that happened after half-move ``ply``. ``name``: what the legend calls it."""

    name: str
    ply: int
    text: str


# kind and beginning of the detail → name in the legend; the first that fits counts
_NAMES = (
    ("takeback", "", "takeback"),
    ("notice", "time-added", "time added"),
    ("notice", "paused", "pause"),
    ("notice", "resumed", "resumed"),
    ("notice", "disconnected", "disconnection"),
    ("clock", "adjusted", "clock changed"),
    ("clock", "opponent-adjusted", "clock changed"),
    ("clock", "set", "clock changed"),
    ("result", "time", "flag"),
    ("result", "adjourned-lost", "disconnection"),
    ("result", "aborted-lost", "disconnection"),
    ("result", "disconnect", "disconnection"),
    ("feed", "lost feed", "not observed"),
    ("feed", "unobserved", "not observed"),
    ("feed", "server lost data", "not observed"),
    ("chat", "kibitz", "kibitz"),
    ("chat", "whisper", "kibitz"),
)
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
    """The events of a game that a clock race shows: takebacks, added time, pauses, flags, lost connections.

    Args:
        events: the event frame of one game, or None.
        chat: kibitzes and whispers, too.
    """
    if events is None:
        return []
    found = []
    for kind, detail, ply, text in zip(events["kind"], events["detail"], events["ply"], events["text"], strict=True):
        name = next(
            (name for known, begin, name in _NAMES if kind == known and str(detail).startswith(begin)),
            None,
        )
        if name is None or pd.isna(ply) or (kind == "chat" and not chat):
            continue
        found.append(Mark(name, int(ply), "" if pd.isna(text) else str(text)))
    return found


def _marks_with_flag(events: pd.DataFrame | None, plies: pd.DataFrame, *, chat: bool) -> list[Mark]:
    """The marks of a game; where it was forfeited on time and no event is a flag, the last ply has one."""
    marks = marks_of(events, chat=chat)
    if one(plies["termination"]) == "time forfeit" and all(mark.name != "flag" for mark in marks):
        marks.append(Mark("flag", int(plies["ply"].max()), ""))
    return marks


def _draw_points(ax: Axes, own: pd.DataFrame, size: float, colour: str, face: str) -> None:
    """Draw one side's clock after each of its moves."""
    points = numbers(own["clock_after_ms"]) / 1000
    for ply, value in zip(own["ply"], points, strict=True):
        ax.add_artist(
            Line2D(
                [_x(int(ply))],
                [float(value)],
                marker="o",
                markersize=size,
                color=colour,
                markerfacecolor=face,
                gid=f"ply-{ply}",
                linestyle="none",
            )
        )


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
    """Both clocks of one game after each own move, with the even budget and what happened to the clocks.

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
    only_game(plies, "race")
    drawn = usable(plies, "clock_after_ms", clocks=True)
    look = theme_of(theme)
    ax = new_axes(ax, look)
    handles: list[Artist] = []
    labels: list[str] = []
    stepped = whole_seconds(drawn) == len(drawn)
    last_move = int(plies["move_no"].max())
    small = 4.5 if len(drawn) <= _MANY_POINTS else 2.5
    seen = [0.0]
    for side, handle in zip(("white", "black"), handles_of(plies), strict=True):
        own = drawn[drawn["side"] == side]
        if own.empty:
            continue
        colour, hollow = look.side(side), side == "white"
        xs, ys = _curve(own, plies[plies["side"] == side])
        seen += [float(np.nanmin(ys)), float(np.nanmax(ys))]
        (line,) = ax.plot(
            xs, ys, color=colour, linewidth=1.6, drawstyle="steps-post" if stepped else "default", gid=f"clock-{side}"
        )
        face = look.background if hollow else colour
        _draw_points(ax, own, small, colour, face)
        handles.append(Line2D([], [], color=colour, linewidth=1.6, marker="o", markersize=4.5, markerfacecolor=face))
        labels.append(f"{handle} ({side})")
    for line, name in _budgets(plies, look, last_move):
        ax.add_line(line)
        handles.append(line)
        labels.append(name)
    for shape, name in _draw_marks(ax, look, plies, _marks_with_flag(events, plies, chat=chat)):
        handles.append(shape)
        labels.append(name)
    for patch in _shade_gaps(ax, look, plies):
        handles.append(patch)
        labels.append("moves not recorded")
    bases = [float(value) for value in plies["base_s"].dropna().unique()]
    high, low = max([*seen, *bases]), min(seen)
    margin = max(high - low, 1.0) * 0.05
    first_move = int(plies["move_no"].min())
    ax.set_ylim(low - (margin if low < 0 else 0), high + 2 * margin)
    ax.set_xlim(first_move - 0.7, last_move + 1)
    if low < 0:
        ax.axhline(0, color=look.text, linewidth=0.9, gid="zero")
    clock_axis(ax.yaxis, low, high, whole_seconds=stepped)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=12))
    ax.set_xlabel("move")
    ax.set_ylabel("clock left (min:s)")
    if titles:
        add_titles(ax, look, title_of(plies), about_game(plies))
    add_legend(ax, look, handles, labels, footer_text(drawn) if footer else "")
    return ax


def _x(ply: int) -> float:
    """White's move 12 stands at 12, Black's at 12.5."""
    return (ply + 1) / 2


def _curve(own: pd.DataFrame, all_own: pd.DataFrame) -> tuple[list[float], list[float]]:
    """One side's clock, from the base time if its first move is there, broken where a move is missing."""
    xs: list[float] = []
    ys: list[float] = []
    known = dict(zip(own["ply"].astype(int), numbers(own["clock_after_ms"]) / 1000, strict=True))
    first = int(all_own["ply"].min())
    base = one(all_own["base_s"])
    if first <= 2 and base is not None:
        xs.append(0.5)
        ys.append(float(base))
    for ply in range(first, int(all_own["ply"].max()) + 1, 2):
        xs.append(_x(ply))
        ys.append(float(known.get(ply, np.nan)))
    return xs, ys


def _budgets(plies: pd.DataFrame, look: Theme, last_move: int) -> Iterator[tuple[Line2D, str]]:
    """The even-budget line, one for each side where their base times differ."""
    bases: dict[float, list[str]] = {}
    for side in ("white", "black"):
        base = one(plies.loc[plies["side"] == side, "base_s"])
        if base:
            bases.setdefault(float(base), []).append(side)
    for base, sides in bases.items():
        alone = len(bases) > 1
        colour = look.side(sides[0]) if alone else look.muted
        line = Line2D([0.5, last_move + 0.5], [base, 0], color=colour, linestyle=(0, (5, 3)), linewidth=1.1)
        line.set_gid(f"budget-{sides[0]}" if alone else "budget")
        # With increments the clock may rise above it for long: say that they are in it.
        name = "even budget, increments used up" if plies["increment_s"].gt(0).any() else "even budget"
        yield line, f"{name} ({sides[0]})" if alone else name


def _draw_marks(ax: Axes, look: Theme, plies: pd.DataFrame, marks: list[Mark]) -> list[tuple[Artist, str]]:
    """A hair line and a shape at the top for each mark; what the legend says of them."""
    last = int(plies["ply"].max())
    named: dict[str, Artist] = {}
    for number, mark in enumerate(marks):
        if mark.name == "not observed" and mark.ply >= last:
            continue  # the end of what we saw, not a hole in it
        at = _x(mark.ply) + 0.25
        spoken = mark.name == "kibitz"
        if not spoken:
            ax.axvline(at, color=look.mark, linewidth=0.6, alpha=0.55, zorder=1)
        shape = _SHAPES[mark.name]
        ax.plot(
            [at],
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


def _shade_gaps(ax: Axes, look: Theme, plies: pd.DataFrame) -> list[Patch]:
    """Shade the moves that no source recorded."""
    known = sorted(plies["ply"].astype(int))
    holes = [(before, after) for before, after in pairwise(known) if after > before + 1]
    for before, after in holes:
        ax.axvspan(_x(before), _x(after), color=look.shade, linewidth=0, zorder=0, gid=f"gap-{before}")
    return [Patch(color=look.shade)] if holes else []


_BAR = 0.86


def side_medians(plies: pd.DataFrame) -> dict[str, int]:
    """The median of each side's times, by the rule of ``exporters.measures.game_sides``."""
    found = summary(counted(plies, ["side"], "elapsed_ms"), ["side"], "elapsed_ms", {"median_ms": None})
    return dict(zip(found["side"], found["median_ms"].astype(int), strict=True))


def _scale_both_ways(axes: Axes, highest: float, coarse: bool) -> None:
    """An axis of times that go upwards for White and downwards for Black."""
    limit = (max(highest, 0.1) if highest else 1.0) * 1.08
    axes.set_ylim(-limit, limit)
    clock_axis(axes.yaxis, -limit, limit, ticks=9, whole_seconds=coarse)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: clock_text(abs(value))))


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
        _scale_both_ways(axes, limit, coarse > 0)
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
