"""The profile sheet of one player: clocks, think times, lag and results on one page."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from exporters.plots.averages import clock_curve, endings, score_by_lead
from exporters.plots.lag import lag_histogram
from exporters.plots.style import Theme, add_sheet_titles, new_axes, new_figure, numbers, plain, theme_of
from exporters.plots.thinking import think_heatmap, think_times
from exporters.plots.words import about_games, moves_of
from recorder.errors import ExportError

__all__ = ["player_profile"]

_SIZE = (13.0, 11.5)


def player_profile(
    plies: pd.DataFrame,
    *,
    player: str,
    theme: str | Theme = "light",
    size: tuple[float, float] = _SIZE,
) -> Figure:
    """One player's use of the clock on a sheet of six pictures. What cannot be drawn says why in its place.

    Args:
        plies: the ply frame of the player's games, both sides.
        player: the handle, in any case.
        theme: ``light`` or ``dark``. size: in inches.
    Raises:
        ExportError: the player made no move.
    """
    own = moves_of(plies, player)
    if own.empty:
        raise ExportError(f"There is nothing to draw: {plain(player)} made no move in the chosen games.")
    look = theme_of(theme)
    games = plies[plies["key"].isin(own["key"].unique())]
    figure = new_figure(look, size)
    places = figure.subplots(3, 2).flat
    panels: tuple[tuple[str, Callable[[Axes], Axes]], ...] = (
        ("Clock left by move", lambda ax: clock_curve(games, player=player, ax=ax, theme=look, titles=False)),
        ("Think times by phase", lambda ax: think_times(games, player=player, ax=ax, theme=look, titles=False)),
        ("Think times by move", lambda ax: think_heatmap(games, player=player, ax=ax, theme=look, titles=False)),
        ("Lag", lambda ax: lag_histogram(games, player=player, ax=ax, theme=look, titles=False)),
        ("Score by clock lead", lambda ax: score_by_lead(games, player=player, ax=ax, theme=look, titles=False)),
        ("How games ended", lambda ax: endings(games, player=player, ax=ax, theme=look, titles=False)),
    )
    first: Axes | None = None
    for ax, (name, draw) in zip(places, panels, strict=True):
        first = first or ax
        try:
            draw(ax)
        except ExportError as error:
            _say(ax, look, str(error))
        ax.set_title(name, loc="left", fontsize=10, fontweight="bold", color=look.text)
    assert first is not None
    add_sheet_titles(first, look, *_head(own), _footer(own))
    return figure


def _head(own: pd.DataFrame) -> tuple[str, str]:
    """The handle as the server writes it, the score, and what is common to the games."""
    handle = plain(own["mover"].iloc[0])
    games = own.drop_duplicates("key")
    score = numbers(games["mover_score"])
    results = [int((score == value).sum()) for value in (1.0, 0.5, 0.0)]
    ratings = games["mover_rating"].dropna()
    rated = ""
    if not ratings.empty:
        low, high = int(ratings.min()), int(ratings.max())
        rated = f" · rated {low}" if low == high else f" · rated {low} to {high}"
    tally = f"{len(games):,} game{'' if len(games) == 1 else 's'}: +{results[0]} ={results[1]} −{results[2]}"
    return handle, f"{tally}{rated} · {about_games(own)}"


def _footer(own: pd.DataFrame) -> str:
    games, plies = own["key"].nunique(), len(own)
    notes = [f"{games:,} game{'' if games == 1 else 's'}, {plies:,} {'ply' if plies == 1 else 'plies'} of the player"]
    if own["server"].nunique(dropna=False) > 1:
        notes.append("players of this handle on several servers, who may be different people")
    if own["mover_guest"].fillna(False).any():
        notes.append("a guest's handle")
    if own["mover_computer"].fillna(False).any():
        notes.append("a computer")
    return " · ".join(notes)


def _say(ax: Axes, look: Theme, sentence: str) -> None:
    """A sentence where a picture would be."""
    ax.clear()
    new_axes(ax, look)
    ax.set_axis_off()
    ax.text(0.5, 0.5, sentence, ha="center", va="center", wrap=True, color=look.muted, fontsize=9, parse_math=False,
            transform=ax.transAxes)  # fmt: skip
