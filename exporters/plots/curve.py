"""Clocks of many games by move: median and quartiles of the time left."""

from __future__ import annotations

from typing import Final, NamedTuple

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from exporters.measures.program import Reason
from exporters.measures.source import Plies
from exporters.plots.panels import Legend, Panel
from exporters.plots.shown import Drawn, Shown, figures_of, reasons_against, shown_of
from exporters.plots.style import (
    LegendEntry,
    Theme,
    clock_axis,
    move_axis,
    numbers,
    percent_axis,
)
from exporters.plots.words import Who, name_of, no_data
from recorder.errors import ExportError

_FEWEST = 3
_OF_GAMES = 20
_QUARTILES = {"q25": 25, "median": None, "q75": 75}


_NO_BASE = "of games without a base time"
_REASONS = [*reasons_against("clock_after_ms", clocks=True), Reason(_NO_BASE, "coalesce(base_s, 0) <= 0")]


class _CurveData(NamedTuple):
    """``table`` has a row for each move number of the player, the opponents or all; shares if base times differ."""

    shown: Shown
    table: pd.DataFrame


def _compute_curve(plies: Plies, who: Who) -> _CurveData:
    drawn = Drawn(who.games(plies), _REASONS)
    shown = shown_of(drawn, player=who.player, mark_all=True)
    if not shown.attrs["plies"]:
        excluded = shown.attrs["excluded"]
        if _NO_BASE in excluded:
            raise ExportError("No data: no game in this selection has a base time.")
        raise no_data(excluded)
    bases = sorted(base for (base,) in drawn.kept.sql("SELECT DISTINCT base_s FROM plies").fetchall())
    one_base = len(bases) == 1
    whose = "'all'" if who.player is None else f"CASE WHEN {who.condition} THEN 'player' ELSE 'opponents' END"
    clock = "clock_after_ms" if one_base else "clock_after_ms * 1000000 // (base_s * 1000)"
    quartiles = figures_of(drawn, ("who", "move_no"), clock, _QUARTILES, {"who": whose}).frame()
    by = ["who", "move_no"]
    table = quartiles.rename(columns={"plies": "sides"}).sort_values(by, ignore_index=True)
    table = table[[*by, "games", "sides", *_QUARTILES]]
    if one_base:
        table = table.rename(columns={name: f"{name}_ms" for name in _QUARTILES})
    else:
        table = table.assign(**{f"{name}_share": table.pop(name) / 1_000_000 for name in _QUARTILES})
    table.attrs = {**shown.attrs, "base_s": bases}
    return _CurveData(shown, table)


def _clock_scale(ax: Axes, least: float, most: float, one_base: bool) -> None:
    """The axis of clocks, or of shares of the base times where these differ."""
    ax.set_ylim(least, most * 1.04)
    if one_base:
        clock_axis(ax.yaxis, least, most, whole_seconds=True)
        ax.set_ylabel("clock left (min:s)")
    else:
        percent_axis(ax.yaxis, most)
        ax.set_ylabel("clock left, of the base time")


def _draw_curve(ax: Axes, look: Theme, data: _CurveData) -> Legend:
    shown, table = data
    bases = table.attrs["base_s"]
    # Of fewer the median jumps from move to move.
    most = int(table["games"].max())
    fewest = min(max(_FEWEST, -(-most // _OF_GAMES)), most)
    table = table[table["games"] >= fewest]
    entries = _draw_quartiles(ax, look, table, bases, name_of(shown.sample, shown.player or ""))
    ax.set_xlim(0, int(table["move_no"].max()) + 1)
    move_axis(ax)
    return Legend(entries, (f"moves reached in at least {fewest} games" if fewest > 1 else None,))


def _draw_quartiles(ax: Axes, look: Theme, table: pd.DataFrame, bases: list[int], player: str) -> list[LegendEntry]:
    one_base = len(bases) == 1
    unit, scale = ("ms", 1000) if one_base else ("share", 1)
    start = float(bases[0]) if one_base else 1.0
    entries: list[LegendEntry] = []
    for side, who, name in (
        ("white", "player", player),
        ("black", "opponents", "opponents"),
        ("white", "all", "all players"),
    ):
        rows = table[table["who"] == who]
        if rows.empty:
            continue
        colour = look.side(side)
        face = look.background if side == "white" else colour
        moves = [0.0, *numbers(rows["move_no"])]
        low, middle, high = ([start, *(numbers(rows[f"{quartile}_{unit}"]) / scale)] for quartile in _QUARTILES)
        ax.fill_between(moves, low, high, color=colour, alpha=0.2, linewidth=0, gid=f"quartiles-{who}")
        ax.plot(
            moves,
            middle,
            color=colour,
            linewidth=1.6,
            marker="o",
            markersize=3,
            markerfacecolor=face,
            gid=f"median-{who}",
        )
        line = Line2D([], [], color=colour, linewidth=1.6, marker="o", markersize=4, markerfacecolor=face)
        entries.append((line, f"{name}: median and quartiles"))
    least = min(0.0, float(table[f"q25_{unit}"].min()) / scale)
    _clock_scale(ax, least, max(start, float(table[f"q75_{unit}"].max()) / scale), one_base)
    return entries


CURVE: Final = Panel("Clock left by move", _compute_curve, _draw_curve)
clock_curve = CURVE.function(
    "clock_curve",
    """Draw the clocks of many games: median and quartiles of the time left after each move.

    If all games have one base time, clocks are drawn, otherwise shares of the base times. Moves are drawn that at least
    three games, and a twentieth of the games, reached; if there are none, all.
    """,
)
