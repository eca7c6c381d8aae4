"""How long the thinks are: by phase, by move number, in classes that chess players know."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.collections import QuadMesh
from matplotlib.colors import LinearSegmentedColormap, PowerNorm
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.patheffects import withStroke
from matplotlib.ticker import MaxNLocator

from exporters.measures import time_usage
from exporters.measures.result import quantiles
from exporters.plots.figures import new_axes
from exporters.plots.style import (
    LegendEntry,
    Theme,
    add_legend,
    add_titles,
    dress,
    duration_text,
    move_axis,
    numbers,
    percent_axis,
    theme_of,
    width_points,
)
from exporters.plots.words import (
    about_game,
    about_games,
    footer_text,
    moves_of,
    name_of,
    title_of,
    usable,
    whole_seconds,
)

__all__ = [
    "Classes",
    "PHASES",
    "classes_of",
    "headline",
    "heatmap_cells",
    "phase_shares",
    "think_heatmap",
    "think_times",
]

_FINE_S = (0.0, 0.1001, 0.2, 0.5, 1.0, 2.0, 3.0, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0, 300.0, 600.0, np.inf)
_WHOLE_S = (0.0, 1.0, 2.0, 3.0, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0, 300.0, 600.0, np.inf)


class Classes(NamedTuple):
    """Think times in classes.

    Attributes:
        labels: of the classes in use, one after the other. places: the class of each row.
        edges: where the classes in use begin, in seconds.
    """

    labels: list[str]
    places: list[int]
    edges: tuple[float, ...]

    def of(self, times_ms: pd.Series[Any]) -> list[int]:
        """The classes of other times, which are no shorter and no longer than those that were sorted."""
        return [int(place) - 1 for place in np.searchsorted(self.edges, numbers(times_ms) / 1000, side="right")]


def classes_of(plies: pd.DataFrame) -> Classes:
    """Sort times into classes; where one of them was printed in whole seconds, into classes of whole seconds.

    The first class of the finer ones holds what servers charge at least: a tenth of a second.
    """
    edges = _WHOLE_S if whole_seconds(plies) else _FINE_S
    times = numbers(plies["elapsed_ms"]) / 1000
    found = np.clip(np.searchsorted(edges, times, side="right") - 1, 0, len(edges) - 2)
    first, last = (int(found.min()), int(found.max())) if len(found) else (0, -1)
    labels = [_label(edges[place], edges[place + 1]) for place in range(first, last + 1)]
    return Classes(labels, [int(place) - first for place in found], edges[first : last + 1])


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
_WIDTHS = (1, 2, 5, 10, 20, 50, 100)


def headline(plies: pd.DataFrame, player: str | None, what: str) -> tuple[str, str]:
    """Title and subtitle of a picture about one game, a player, or many games."""
    if plies["key"].nunique() == 1:
        who = "" if player is None else f", moves of {name_of(plies, player)}"
        return title_of(plies), f"{what}{who} · {about_game(plies)}"
    return what if player is None else f"{name_of(plies, player)}: {what}", about_games(plies)


def phase_shares(plies: pd.DataFrame, player: str | None = None) -> pd.DataFrame:
    """What ``think_times`` draws: one row for each phase and class of times.

    Returns:
        ``phase``, ``think`` (the class), ``plies``, ``share`` (of the phase's moves), ``phase_plies``, ``median_ms``,
        ``precision`` (of the median); in ``attrs`` ``games``, ``plies``, ``excluded``.
    Raises:
        ExportError: no time is known.
    """
    drawn = usable(moves_of(plies, player), "elapsed_ms", thinks=True)
    classes = classes_of(drawn)
    index = np.array(classes.places)
    usage = time_usage(drawn, by="phase", first_moves=False)
    medians = dict(
        zip(usage["phase"].fillna(_UNKNOWN), zip(usage["median_ms"], usage["precision"], strict=True), strict=True)
    )
    rows = []
    for phase in (*PHASES, _UNKNOWN):
        of_phase = drawn["phase"].isna() if phase == _UNKNOWN else drawn["phase"].eq(phase).fillna(False)
        inside = of_phase.to_numpy(dtype=bool)
        count = int(inside.sum())
        if not count:
            continue
        for place, label in enumerate(classes.labels):
            plies_in = int((index[inside] == place).sum())
            rows.append((phase, label, plies_in, plies_in / count, count, *medians[phase]))
    columns = ["phase", "think", "plies", "share", "phase_plies", "median_ms", "precision"]
    shares = pd.DataFrame(rows, columns=columns)
    shares.attrs = drawn.attrs
    return shares


def think_times(
    plies: pd.DataFrame,
    *,
    player: str | None = None,
    ax: Axes | None = None,
    theme: str | Theme = "light",
    titles: bool = True,
    footer: bool = True,
) -> Axes:
    """Draw how think times are distributed in each phase: the share of its moves in each class of times.

    A side's first move is no think and is excluded. If any time was printed in whole seconds, no class is
    finer than one.

    Args:
        plies: the ply frame of any number of games.
        player: only moves of this handle.
        ax, theme, titles, footer: as for ``clock_race``.
    Returns:
        The axes that were drawn on.
    Raises:
        ExportError: no time is known.
    """
    look = theme_of(theme)
    own = moves_of(plies, player)
    drawn = usable(own, "elapsed_ms", thinks=True)
    shares = phase_shares(own)
    ax = new_axes(ax, look)
    labels = list(dict.fromkeys(shares["think"]))
    entries = _draw_shares(ax, look, shares)
    ax.set_xticks(range(len(labels)), labels)
    crowded = len(labels) * max(map(len, labels)) * 5.5 > width_points(ax)
    if crowded:
        ax.tick_params(axis="x", labelrotation=30)
    ax.set_ylim(bottom=0)
    percent_axis(ax.yaxis, ax.get_ylim()[1])
    ax.set_xlabel("time for the move")
    ax.set_ylabel("share of the phase's moves")
    if titles:
        add_titles(ax, look, *headline(own, player, "Think times by phase"))
    add_legend(ax, look, entries, footer_text(drawn) if footer else "", drop=20.0 if crowded else 0.0)
    return ax


def _draw_shares(ax: Axes, look: Theme, shares: pd.DataFrame) -> list[LegendEntry]:
    """Draw the bars of each phase (``shares``: as ``phase_shares`` returns them); return what the legend says."""
    classes = shares["think"].nunique()
    present = list(dict.fromkeys(shares["phase"]))
    looks = dict(zip(PHASES, zip(look.phases, _HATCHES, strict=True), strict=True))
    width = 0.84 / max(len(present), 1)
    entries: list[LegendEntry] = []
    for place, phase in enumerate(present):
        rows = shares[shares["phase"] == phase]
        colour, hatch = (look.muted, "") if phase == _UNKNOWN else looks[phase]
        bars = ax.bar(
            np.arange(classes) + (place - (len(present) - 1) / 2) * width,
            rows["share"].to_numpy(dtype=float),
            width=width * 0.94,
            color=colour,
            hatch=hatch,
            edgecolor=look.background,
            linewidth=0,
        )
        for number, bar in enumerate(bars):
            bar.set_gid(f"{phase}-{number}")
        count, median = int(rows["phase_plies"].iloc[0]), float(rows["median_ms"].iloc[0])
        seconds = bool(rows["precision"].eq("seconds").any())
        shown = Patch(facecolor=colour, hatch=hatch, edgecolor=look.background, linewidth=0)
        entries.append((shown, f"{phase}: {count:,} moves, median {duration_text(median, whole_seconds=seconds)}"))
    return entries


def heatmap_cells(plies: pd.DataFrame, player: str | None = None) -> pd.DataFrame:
    """What ``think_heatmap`` draws: one row for each cell that has moves.

    Returns:
        ``move_from``, ``move_to`` (a column's move numbers), ``think`` (the class), ``think_no``, ``plies``; in
        ``attrs`` ``games``, ``plies``, ``excluded``, ``labels``, ``columns`` (a column's width in moves).
    Raises:
        ExportError: no time is known.
    """
    drawn = usable(moves_of(plies, player), "elapsed_ms", thinks=True)
    classes = classes_of(drawn)
    last = int(drawn["move_no"].max())
    width = next((step for step in _WIDTHS if last <= step * _MOST_COLUMNS), last)
    first = (drawn["move_no"].astype(int) - 1) // width * width + 1
    cells = (
        pd.DataFrame({"move_from": first.to_numpy(), "think_no": classes.places})
        .groupby(["move_from", "think_no"])
        .size()
        .rename("plies")
        .reset_index()
    )
    cells.insert(1, "move_to", cells["move_from"] + width - 1)
    cells.insert(2, "think", [classes.labels[number] for number in cells["think_no"]])
    cells.attrs = {**drawn.attrs, "labels": classes.labels, "columns": width}
    return cells


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


def think_heatmap(
    plies: pd.DataFrame,
    *,
    player: str | None = None,
    ax: Axes | None = None,
    theme: str | Theme = "light",
    titles: bool = True,
    footer: bool = True,
) -> Axes:
    """Draw how many moves took how long, by move number; a line shows the median of each move number.

    Args:
        plies: the ply frame of any number of games.
        player: only moves of this handle.
        ax, theme, titles, footer: as for ``clock_race``.
    Returns:
        The axes of the map; the colour bar's are beside them in the figure.
    Raises:
        ExportError: no time is known.
    """
    look = theme_of(theme)
    own = moves_of(plies, player)
    drawn = usable(own, "elapsed_ms", thinks=True)
    cells = heatmap_cells(own)
    labels, width = cells.attrs["labels"], cells.attrs["columns"]
    ax = new_axes(ax, look)
    dress(ax, look, grid=None)
    mesh = _draw_cells(ax, look, cells)
    median = _medians(drawn, width)
    ax.plot(
        [column * width + 0.5 + width / 2 for column in median],
        [place + 0.5 for place in median.values()],
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
    if titles:
        add_titles(ax, look, *headline(own, player, "Think times by move"))
    note = None if width == 1 else f"{width} moves a column"
    line = Line2D([], [], color=look.white, marker=".", linewidth=1.4)
    add_legend(ax, look, [(line, "median")], footer_text(drawn, note) if footer else "")
    return ax


def _draw_cells(ax: Axes, look: Theme, cells: pd.DataFrame) -> QuadMesh:
    """Draw the map (``cells``: as ``heatmap_cells`` returns them)."""
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


def _medians(drawn: pd.DataFrame, width: int) -> dict[int, float]:
    """Column → the class in which the median of its times lies."""
    times = pd.DataFrame({"column": (drawn["move_no"].astype(int) - 1) // width, "elapsed_ms": drawn["elapsed_ms"]})
    counted = times.groupby(["column", "elapsed_ms"]).size().rename("n").reset_index()
    medians = quantiles(counted, ["column"], "elapsed_ms", {"median_ms": None})
    return dict(zip(medians["column"], classes_of(drawn).of(medians["median_ms"]), strict=True))
