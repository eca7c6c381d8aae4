"""The pictures by name, from which the command line and other programs choose, and the profile sheet of one player."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from exporters.measures.program import frame_of_rows
from exporters.measures.source import Plies
from exporters.plots.bughouse import MATCH
from exporters.plots.curve import CURVE
from exporters.plots.evaluations import BLUNDERS, COURSE, blunder_sheet, evaluation_sheet
from exporters.plots.figures import add_sheet_titles, new_axes, new_figure
from exporters.plots.lag import HISTOGRAM, lag_sheet
from exporters.plots.panels import Panel
from exporters.plots.race import RACE, TIMES
from exporters.plots.scores import ENDINGS, LEADS
from exporters.plots.shown import MOVE_COLUMNS, Drawn, Shown, reasons_against, shown_of
from exporters.plots.style import Theme, numbers, plain, theme_of
from exporters.plots.thinking import HEATMAP, THINKS
from exporters.plots.words import PlySource, Who, about_games, who_of
from recorder.errors import ExportError

_SIZE = (13.0, 11.5)


def player_profile(
    plies: PlySource,
    *,
    player: str,
    theme: str | Theme = "light",
    size: tuple[float, float] = _SIZE,
) -> Figure:
    """Draw one player's use of time as a sheet of six pictures; a sentence replaces a picture that cannot be drawn.

    Args:
        plies: the ply frame of the player's games, both sides, or batches.
        player: the handle, in any case.
        theme: ``light`` or ``dark``. size: in inches.
    Returns:
        The figure with all pictures.
    Raises:
        ExportError: the player made no move.
    """
    source = Plies.of(plies)
    who = who_of(source, player)
    own = _player(source, who)
    look = theme_of(theme)
    figure = new_figure(look, size)
    places: list[Axes] = [*figure.subplots(3, 2).flat]
    for ax, (name, panel) in zip(places, PANELS.items(), strict=True):
        try:
            panel.drawn(panel.compute(source, who), ax=ax, theme=look, titles=False)
        except ExportError as error:
            _say(ax, look, str(error))
        ax.set_title(name, loc="left", fontsize=10, fontweight="bold", color=look.text)
    add_sheet_titles(places[0], look, *_head(own), _footer(own))
    return figure


PANELS: Final[dict[str, Panel[Any]]] = {
    "Clock left by move": CURVE,
    "Think times by phase": THINKS,
    "Think times by move": HEATMAP,
    "Lag": HISTOGRAM,
    "Score by clock lead": LEADS,
    "How games ended": ENDINGS,
}
"""The pictures of the profile sheet."""


_OF_PLAYER = ["server", "mover_score", "mover_rating", "mover_guest", "mover_computer"]


class _Player(NamedTuple):
    """What the sheet states; ``games`` has how many, ``n``, by ``_OF_PLAYER``."""

    shown: Shown
    games: pd.DataFrame


def _player(plies: Plies, who: Who) -> _Player:
    own = who.moves(plies)
    shown = shown_of(Drawn(own, ()), player=who.player)
    if not shown.attrs["plies"]:
        raise ExportError(f"No data: {plain(who.player or '')} made no move in this selection.")
    games = own.sql(f"SELECT {', '.join(_OF_PLAYER)}, count(DISTINCT key) AS n FROM plies GROUP BY ALL ORDER BY ALL")
    return _Player(shown, frame_of_rows(games.columns, [str(kind) for kind in games.types], games.fetchall()))


def _head(own: _Player) -> tuple[str, str]:
    (shown, games), attrs = own, own.shown.attrs
    handle = plain(shown.sample["mover"].iloc[0])
    score, count = numbers(games["mover_score"]), games["n"]
    results = [int(count[score == value].sum()) for value in (1.0, 0.5, 0.0)]
    ratings = games["mover_rating"].dropna()
    rated = ""
    if not ratings.empty:
        low, high = int(ratings.min()), int(ratings.max())
        rated = f" · rated {low}" if low == high else f" · rated {low} to {high}"
    whole = attrs["games"]
    points = f"{whole:,} game{'' if whole == 1 else 's'}: +{results[0]} ={results[1]} −{results[2]}"
    return handle, f"{points}{rated} · {about_games(shown.sample)}"


def _footer(own: _Player) -> str:
    games, plies, facts = own.shown.attrs["games"], own.shown.attrs["plies"], own.games
    notes = [f"{games:,} game{'' if games == 1 else 's'}, {plies:,} {'ply' if plies == 1 else 'plies'} of the player"]
    if facts["server"].nunique(dropna=False) > 1:
        notes.append("players of this handle on several servers, who may be different people")
    if facts["mover_guest"].fillna(False).any():
        notes.append("a guest's handle")
    if facts["mover_computer"].fillna(False).any():
        notes.append("a computer")
    return " · ".join(notes)


def _say(ax: Axes, look: Theme, sentence: str) -> None:
    ax.clear()
    new_axes(ax, look)
    ax.set_axis_off()
    ax.text(0.5, 0.5, sentence, ha="center", va="center", wrap=True, color=look.muted, fontsize=9, parse_math=False,
            transform=ax.transAxes)  # fmt: skip


class PlotOptions(NamedTuple):
    """Options of a picture: ``size`` in inches, else its own; ``move``: after which the lead is measured."""

    player: str | None = None
    theme: str = "light"
    size: tuple[float, float] | None = None
    chat: bool = False
    move: int = 20


class Picture(NamedTuple):
    """One picture.

    Attributes:
        scope: what it is about: one ``game``, the two games of a ``match``, any ``games``, the games of a ``player``.
        draw: plies, events (or None) and wishes → figure; raises ``ExportError`` where there is nothing to draw.
            Pictures of ``games`` and of a ``player`` take ``Plies`` as well as a ply frame.
        table: plies and wishes → the rows that are drawn, as a table; where each ply has a row, a relation of DuckDB.
        size: in inches.
    """

    scope: str
    draw: Callable[[Any, pd.DataFrame | None, PlotOptions], Figure]
    table: Callable[[Any, PlotOptions], Any]
    size: tuple[float, float] = (9.0, 5.0)


def _lag_table(plies: PlySource, _: PlotOptions) -> Any:
    drawn = Drawn(Plies.of(plies), reasons_against("lag_ms"))
    return _each_ply(drawn.kept, [*MOVE_COLUMNS, "lag_ms", "mover_sealed"])


def _each_ply(plies: Plies, names: Sequence[str]) -> Any:
    order = " ORDER BY place, ply" if "place" in plies.columns else ""
    return plies.sql(f"SELECT {', '.join(names)} FROM plies{order}")


def _on_axes(scope: str, panel: Panel[Any], *options: str) -> Picture:
    def given(wishes: PlotOptions, events: pd.DataFrame | None = None) -> dict[str, Any]:
        return {name: events if name == "events" else getattr(wishes, name) for name in options}

    def drawn(plies: Any, events: pd.DataFrame | None, wishes: PlotOptions) -> Figure:
        figure = new_figure(wishes.theme, wishes.size or (9.0, 5.0))
        panel.drawn(panel.computed(plies, **given(wishes, events)), ax=figure.add_subplot(), theme=wishes.theme)
        return figure

    return Picture(scope, drawn, lambda plies, wishes: panel.rows(plies, **given(wishes)))


def _sheet(
    scope: str, draw: Callable[..., Figure], table: Callable[[Any, PlotOptions], Any], size: tuple[float, float]
) -> Picture:
    """A picture that is a sheet of several; of one game it shows the events, of many the player."""

    def drawn(plies: Any, events: pd.DataFrame | None, wishes: PlotOptions) -> Figure:
        options = {"events": events} if scope == "game" else {"player": wishes.player}
        return draw(plies, theme=wishes.theme, size=wishes.size or size, **options)

    return Picture(scope, drawn, table, size)


def _blunders_table(plies: PlySource, wishes: PlotOptions) -> pd.DataFrame:
    """The bands of both panels, one behind the other."""
    tables = []
    for by in ("clock", "think"):
        table = BLUNDERS.rows(plies, wishes.player, by=by)
        table = table.rename(columns={f"{by}_from_s": "from_s", f"{by}_to_s": "to_s"})
        table.insert(0, "by", by)
        tables.append(table)
    return pd.concat(tables, ignore_index=True)


def _profile_table(plies: PlySource, wishes: PlotOptions) -> Any:
    """The player's own moves: all six pictures are made from them."""
    names = [*MOVE_COLUMNS, "time_control", "mover_score", "clock_after_ms", "elapsed_ms", "lag_ms"]
    source = Plies.of(plies)
    return _each_ply(who_of(source, wishes.player).moves(source), names)


PICTURES: Final[dict[str, Picture]] = {
    "race": _on_axes("game", RACE, "events", "chat"),
    "times": _on_axes("game", TIMES),
    "thinking": _on_axes("games", THINKS, "player"),
    "heatmap": _on_axes("games", HEATMAP, "player"),
    "lag": _sheet("games", lag_sheet, _lag_table, (9.0, 5.0)),
    "curve": _on_axes("games", CURVE, "player"),
    "leads": _on_axes("games", LEADS, "player", "move"),
    "evaluation": _sheet("game", evaluation_sheet, lambda plies, _: COURSE.rows(plies), (9.0, 8.0)),
    "blunders": _sheet("games", blunder_sheet, _blunders_table, (11.0, 5.0)),
    "endings": _on_axes("player", ENDINGS, "player"),
    "profile": _sheet("player", player_profile, _profile_table, (13.0, 11.5)),
    "bughouse": _on_axes("match", MATCH),
}
"""Every picture by the name that the command line takes."""
