"""How long the thinks are: by phase, by move number, in classes that chess players know."""

from __future__ import annotations

import math
from functools import partial
from typing import Final, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.collections import QuadMesh
from matplotlib.colors import LinearSegmentedColormap, PowerNorm
from matplotlib.lines import Line2D
from matplotlib.patheffects import withStroke
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from exporters.measures.source import Plies
from exporters.plots.panels import Legend, Panel
from exporters.plots.shown import Drawn, Shown, counts_of, ranked, reasons_against, shown_of
from exporters.plots.style import (
    LegendEntry,
    Theme,
    draw_bars,
    dress,
    duration_text,
    move_axis,
    percent_axis,
    width_points,
)
from exporters.plots.words import Who, no_data

_FINE_S = (0.0, 0.1001, 0.2, 0.5, 1.0, 2.0, 3.0, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0, 300.0, 600.0, np.inf)
_WHOLE_S = (0.0, 1.0, 2.0, 3.0, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0, 300.0, 600.0, np.inf)


class Classes(NamedTuple):
    """Think times in classes: ``places`` has that of each time, ``edges`` and ``ends`` their limits in seconds."""

    labels: list[str]
    places: NDArray[np.int64]
    edges: tuple[float, ...]
    ends: tuple[float, ...]

    def height(self, time_ms: float) -> float:
        """Where a time is on an axis on which each class is as high as the others."""
        index = int(np.searchsorted(self.edges, time_ms / 1000, side="right")) - 1
        low_s, high_s = self.edges[index], self.ends[index]
        part = 0.5 if np.isinf(high_s) else (time_ms / 1000 - low_s) / (high_s - low_s)
        return index + part


def classes_of(times_ms: NDArray[np.int64], *, whole_seconds: bool) -> Classes:
    """Sort times into classes, of whole seconds if one was printed so; the first is what servers charge at least."""
    edges = _WHOLE_S if whole_seconds else _FINE_S
    classes = np.clip(np.searchsorted(edges, times_ms / 1000, side="right") - 1, 0, len(edges) - 2)
    first, last = (int(classes.min()), int(classes.max())) if len(classes) else (0, -1)
    labels = [_label(edges[index], edges[index + 1]) for index in range(first, last + 1)]
    return Classes(labels, classes - first, edges[first : last + 1], edges[first + 1 : last + 2])


def _label(low_s: float, high_s: float) -> str:
    if high_s == _FINE_S[1]:
        return "≤ 0.1 s"
    if low_s == _FINE_S[1]:
        return "0.1–0.2 s"
    if np.isinf(high_s):
        return f"≥ {low_s / 60:g} min"
    if high_s == low_s + 1 and low_s < 3:
        return f"{low_s:g}–{high_s:g} s" if low_s else "< 1 s"
    if low_s >= 60:
        return f"{low_s / 60:g}–{high_s / 60:g} min"
    return f"{low_s:g}–{high_s:g} s"


PHASES = ("opening", "middlegame", "endgame")
_HATCHES = ("", "///", "...")
_UNKNOWN = "phase not known"
_MOST_COLUMNS = 60
_COLOURS = 64
_STEPS_MS = (100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 30_000, 60_000, 120_000, 300_000)
_MOST_STEPS = 20
_OF_ALL = 0.95
_WIDTHS = (1, 2, 5, 10, 20, 50, 100)


class _Thinks(NamedTuple):
    """Think times; ``counts``: how often each occurs (``n``) by a column."""

    shown: Shown
    counts: pd.DataFrame


def _compute_thinks(plies: Plies, who: Who, by: str) -> _Thinks:
    drawn = Drawn(who.moves(plies), reasons_against("elapsed_ms", thinks=True))
    shown = shown_of(drawn, player=who.player)
    if not shown.attrs["plies"]:
        raise no_data(shown.attrs["excluded"])
    return _Thinks(shown, counts_of(drawn, by, "elapsed_ms"))


def _step_of(times_ms: NDArray[np.int64], count: NDArray[np.int64], *, whole_seconds: bool) -> tuple[int, int]:
    """The step of an axis of times in milliseconds, and the number of steps; the last one has all that is longer."""
    order = np.argsort(times_ms)
    upto = np.cumsum(count[order])
    top = int(times_ms[order][np.searchsorted(upto, upto[-1] * _OF_ALL)])
    steps = [step for step in _STEPS_MS if not whole_seconds or step >= 1000]
    step = next((step for step in steps if top < step * _MOST_STEPS), top // _MOST_STEPS + 1)
    longest = int(times_ms.max()) // step
    return step, min(top // step + 2, longest + 1)


def _shares_of(thinks: _Thinks) -> pd.DataFrame:
    """A row for each phase and step of times (``think``, in seconds), with the phase's median and its precision."""
    times_ms, coarse, count = (thinks.counts[name].to_numpy(dtype=np.int64) for name in ("elapsed_ms", "coarse", "n"))
    step, steps = _step_of(times_ms, count, whole_seconds=bool(coarse.any()))
    places = np.minimum(times_ms // step, steps - 1)
    labels = [f"{index * step / 1000:g}–{(index + 1) * step / 1000:g}" for index in range(steps)]
    if int(times_ms.max()) >= steps * step:
        labels[-1] = f"≥ {(steps - 1) * step / 1000:g}"
    of_phase = thinks.counts["phase"].to_numpy()
    rows = []
    for phase in (*PHASES, None):
        inside = pd.isna(of_phase) if phase is None else of_phase == phase
        whole = int(count[inside].sum())
        if not whole:
            continue
        median = int(ranked(times_ms[inside], count[inside]) + 0.5)
        precision = "seconds" if coarse[inside].any() else "milliseconds"
        for number, label in enumerate(labels):
            plies_in = int(count[inside & (places == number)].sum())
            rows.append((phase or _UNKNOWN, label, plies_in, plies_in / whole, whole, median, precision))
    columns = ["phase", "think", "plies", "share", "phase_plies", "median_ms", "precision"]
    shares = pd.DataFrame(rows, columns=columns)
    shares.attrs = {**thinks.shown.attrs}
    return shares


def _draw_thinks(ax: Axes, look: Theme, thinks: _Thinks) -> Legend:
    shares = _shares_of(thinks)
    edges = [label.removeprefix("≥ ").partition("–")[0] for label in dict.fromkeys(shares["think"])]
    entries = _draw_shares(ax, look, shares)
    every = math.ceil(len(edges) * (max(map(len, edges)) * 6 + 6) / width_points(ax))
    ax.set_xticks(np.arange(0, len(edges), every) - 0.5, edges[::every])
    ax.set_xlim(-0.5, len(edges) - 0.5)
    ax.set_ylim(bottom=0)
    percent_axis(ax.yaxis, ax.get_ylim()[1])
    open_end = ", the last step: and more" if shares["think"].iloc[-1].startswith("≥") else ""
    ax.set_xlabel(f"time for the move (s){open_end}")
    ax.set_ylabel("share of each phase")
    return Legend(entries)


def _draw_shares(ax: Axes, look: Theme, shares: pd.DataFrame) -> list[LegendEntry]:
    classes = shares["think"].nunique()
    present = list(dict.fromkeys(shares["phase"]))
    looks = dict(zip(PHASES, zip(look.phases, _HATCHES, strict=True), strict=True))
    width = 0.84 / max(len(present), 1)
    entries: list[LegendEntry] = []
    for index, phase in enumerate(present):
        rows = shares[shares["phase"] == phase]
        colour, hatch = (look.muted, "") if phase == _UNKNOWN else looks[phase]
        places = np.arange(classes) + (index - (len(present) - 1) / 2) * width
        bars = draw_bars(
            ax, look, places, rows["share"].to_numpy(dtype=float), colour=colour, hatch=hatch, name=phase,
            width=width * 0.94,
        )  # fmt: skip
        count, median = int(rows["phase_plies"].iloc[0]), float(rows["median_ms"].iloc[0])
        seconds = bool(rows["precision"].eq("seconds").any())
        entries.append((bars, f"{phase}: {count:,} moves, median {duration_text(median, whole_seconds=seconds)}"))
    return entries


def _cells_of(thinks: _Thinks) -> tuple[pd.DataFrame, dict[int, float]]:
    """The cells that have moves, by ``move_from`` and ``think_no``, and by column the height of its median."""
    names = ("move_no", "elapsed_ms", "coarse", "n")
    moves, times_ms, coarse, count = (thinks.counts[name].to_numpy(dtype=np.int64) for name in names)
    classes = classes_of(times_ms, whole_seconds=bool(coarse.any()))
    last = int(moves.max())
    width = next((step for step in _WIDTHS if last <= step * _MOST_COLUMNS), last)
    columns = (moves - 1) // width
    cells = pd.DataFrame({"move_from": columns * width + 1, "think_no": classes.places, "plies": count})
    cells = cells.groupby(["move_from", "think_no"])["plies"].sum().reset_index()
    cells.insert(1, "move_to", cells["move_from"] + width - 1)
    cells.insert(2, "think", [classes.labels[number] for number in cells["think_no"]])
    cells.attrs = {**thinks.shown.attrs, "labels": classes.labels, "columns": width}
    return cells, {
        int(column): classes.height(ranked(times_ms[columns == column], count[columns == column]))
        for column in np.unique(columns)
    }


def _add_colour_bar(ax: Axes, look: Theme, mesh: QuadMesh) -> None:
    figure = ax.get_figure(root=True)
    assert figure is not None
    bar = figure.colorbar(mesh, ax=ax, pad=0.02, aspect=30)
    assert bar.solids is not None
    bar.solids.set_rasterized(False)  # pages show no raster images, and these are sharp in every size
    bar.solids.set_edgecolor("face")
    bar.outline.set_visible(False)
    bar.ax.tick_params(colors=look.muted, labelcolor=look.text, labelsize=8)
    bar.locator = MaxNLocator(integer=True, nbins=6)
    bar.update_ticks()
    bar.set_label("moves", color=look.text, fontsize=9)


def _draw_heatmap(ax: Axes, look: Theme, thinks: _Thinks) -> Legend:
    cells, median = _cells_of(thinks)
    labels, width = cells.attrs["labels"], cells.attrs["columns"]
    dress(ax, look, grid=None)
    mesh = _draw_cells(ax, look, cells)
    ax.plot(
        [column * width + 0.5 + width / 2 for column in median],
        list(median.values()),
        color=look.white,
        marker=".",
        linewidth=1.4,
        path_effects=[withStroke(linewidth=3.2, foreground=look.background)],
        gid="median",
    )
    ax.set_yticks(np.arange(len(labels)) + 0.5, labels)
    ax.set_ylim(0, len(labels))
    ax.set_xlim(0.5, int(cells["move_to"].max()) + 0.5)
    move_axis(ax)
    ax.set_ylabel("time for the move")
    _add_colour_bar(ax, look, mesh)
    note = None if width == 1 else f"{width} moves a column"
    return Legend([(Line2D([], [], color=look.white, marker=".", linewidth=1.4), "median")], (note,))


def _draw_cells(ax: Axes, look: Theme, cells: pd.DataFrame) -> QuadMesh:
    width = cells.attrs["columns"]
    rows, columns = len(cells.attrs["labels"]), int(cells["move_to"].max()) // width
    grid = np.full((rows, columns), np.nan)
    grid[cells["think_no"].to_numpy(dtype=int), (cells["move_from"].to_numpy(dtype=int) - 1) // width] = cells["plies"]
    mesh = ax.pcolormesh(
        np.arange(columns + 1) * width + 0.5,
        np.arange(rows + 1),
        np.ma.masked_invalid(grid),
        cmap=LinearSegmentedColormap.from_list("few to many", look.scale, N=_COLOURS),
        norm=PowerNorm(0.5, vmin=0, vmax=float(cells["plies"].max())),
        edgecolors=look.background,
        linewidth=0.4,
    )
    mesh.set_gid("cells")
    return mesh


THINKS: Final = Panel("Think times by phase", partial(_compute_thinks, by="phase"), _draw_thinks, _shares_of)
HEATMAP: Final = Panel(
    "Think times by move", partial(_compute_thinks, by="move_no"), _draw_heatmap, lambda found: _cells_of(found)[0]
)
think_times = THINKS.function(
    "think_times",
    """Draw how think times are distributed in each phase: the share of its moves in steps of equal length.

    The last step has all longer times, at most a twentieth of the moves. A side's first move is no think and is
    excluded. If any time was printed in whole seconds, no step is shorter than one.
    """,
)
think_heatmap = HEATMAP.function(
    "think_heatmap",
    """Draw how many moves took how long, by move number; a line shows the median of each move number.

    The colour bar's axes are beside those of the map in the figure.
    """,
)
