"""The pictures by name, from which the command line and other programs choose, and the profile sheet of one player."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from exporters.measures.program import frame_of_rows
from exporters.measures.source import Plies
from exporters.plots.bughouse import bughouse_clocks
from exporters.plots.curve import CURVE, clock_curve
from exporters.plots.evaluations import blunder_sheet, blunders, evaluated_moves, evaluation_sheet
from exporters.plots.figures import add_sheet_titles, new_axes, new_figure
from exporters.plots.lag import HISTOGRAM, lag_sheet
from exporters.plots.panels import Panel, computed_panels
from exporters.plots.race import clock_race, move_times
from exporters.plots.scores import ENDINGS, endings, leads, score_by_lead
from exporters.plots.shown import Drawn, Shown, reasons_against, shown_of
from exporters.plots.style import Theme, numbers, plain, theme_of
from exporters.plots.thinking import HEATMAP, THINKS, think_heatmap, think_times
from exporters.plots.words import PlySource, Who, about_games, only_game, usable, who_of
from exporters.tables.columns import EVALUATIONS
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
    found = computed_panels(PANELS, source, who)
    look = theme_of(theme)
    figure = new_figure(look, size)
    places: list[Axes] = [*figure.subplots(3, 2).flat]
    for ax, (name, panel) in zip(places, PANELS.items(), strict=True):
        data = found[name]
        if isinstance(data, ExportError):
            _say(ax, look, str(data))
        else:
            panel.drawn(data, ax=ax, theme=look, titles=False)
        ax.set_title(name, loc="left", fontsize=10, fontweight="bold", color=look.text)
    add_sheet_titles(places[0], look, *_head(own), _footer(own))
    return figure


PANELS: Final[dict[str, Panel[Any]]] = {
    "Clock left by move": CURVE,
    "Think times by phase": THINKS,
    "Think times by move": HEATMAP,
    "Lag": HISTOGRAM,
    "Score by clock lead": leads(),
    "How games ended": ENDINGS,
}
"""The pictures of the profile sheet."""


_OF_PLAYER = ["server", "mover_score", "mover_rating", "mover_guest", "mover_computer"]


class _Player(NamedTuple):
    """What the sheet states; ``games``: how many, ``n``, by ``_OF_PLAYER``."""

    shown: Shown
    games: pd.DataFrame


def _player(plies: Plies, who: Who) -> _Player:
    """What the sheet states of a player's moves."""
    own = who.moves(plies)
    shown = shown_of(Drawn(own, ()), player=who.player)
    if not shown.attrs["plies"]:
        raise ExportError(f"No data: {plain(who.player or '')} made no move in this selection.")
    found = own.sql(f"SELECT {', '.join(_OF_PLAYER)}, count(DISTINCT key) AS n FROM plies GROUP BY ALL ORDER BY ALL")
    return _Player(shown, frame_of_rows(found.columns, [str(kind) for kind in found.types], found.fetchall()))


def _head(own: _Player) -> tuple[str, str]:
    """The handle as the server writes it, the score, and what is common to the games."""
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
    """A sentence where a picture would be."""
    ax.clear()
    new_axes(ax, look)
    ax.set_axis_off()
    ax.text(0.5, 0.5, sentence, ha="center", va="center", wrap=True, color=look.muted, fontsize=9, parse_math=False,
            transform=ax.transAxes)  # fmt: skip


class PlotOptions(NamedTuple):
    """Options of a picture.

    ``size`` is in inches; None: the picture's own. ``chat``: mark kibitzes in a race. ``move``: after which move the
    lead on the clock is measured.
    """

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


_COLUMNS = ["key", "ply", "move_no", "side", "mover", "san", "phase", "precision", "proof", "origin"]


def _rows(
    column: str, *more: str, one_game: str = "", **how: Any
) -> Callable[[pd.DataFrame, PlotOptions], pd.DataFrame]:
    """The rows of the ply frame whose ``column`` is known, with the columns that a picture of them needs."""

    def table(plies: pd.DataFrame, _: PlotOptions) -> pd.DataFrame:
        if one_game:
            only_game(plies, one_game)
        drawn = usable(plies, column, **how)
        rows = drawn[[*_COLUMNS, column, *more]].reset_index(drop=True)
        rows.attrs = drawn.attrs
        return rows

    return table


def _lag_table(plies: PlySource, _: PlotOptions) -> Any:
    drawn = Drawn(Plies.of(plies), reasons_against("lag_ms"))
    return _each_ply(drawn.kept, [*_COLUMNS, "lag_ms", "mover_sealed"])


def _each_ply(plies: Plies, names: Sequence[str]) -> Any:
    """A row for each ply, in the order of the games."""
    order = " ORDER BY place, ply" if "place" in plies.columns else ""
    return plies.sql(f"SELECT {', '.join(names)} FROM plies{order}")


def _given(options: Sequence[str], events: pd.DataFrame | None, wishes: PlotOptions) -> dict[str, Any]:
    return {name: events if name == "events" else getattr(wishes, name) for name in (*options, "theme")}


def _on_axes(draw: Callable[..., Any], *options: str) -> Callable[[Any, pd.DataFrame | None, PlotOptions], Figure]:
    """A picture that is drawn on axes, with these options."""

    def drawn(plies: Any, events: pd.DataFrame | None, wishes: PlotOptions) -> Figure:
        figure = new_figure(wishes.theme, wishes.size or (9.0, 5.0))
        draw(plies, ax=figure.add_subplot(), **_given(options, events, wishes))
        return figure

    return drawn


def _sheet(
    name: str, draw: Callable[..., Figure], *options: str
) -> Callable[[Any, pd.DataFrame | None, PlotOptions], Figure]:
    """A picture that is a sheet of several, with these options."""

    def drawn(plies: Any, events: pd.DataFrame | None, wishes: PlotOptions) -> Figure:
        return draw(plies, size=wishes.size or PICTURES[name].size, **_given(options, events, wishes))

    return drawn


def _player_table(panel: Panel[Any]) -> Callable[[PlySource, PlotOptions], pd.DataFrame]:
    return lambda plies, wishes: panel.rows(plies, wishes.player)


def _evaluation_table(plies: pd.DataFrame, _: PlotOptions) -> pd.DataFrame:
    columns = [*_COLUMNS, "clock_before_ms", "clock_after_ms", *EVALUATIONS, "chances", "trouble"]
    return evaluated_moves(plies)[columns].reset_index(drop=True)


def _blunders_table(plies: PlySource, wishes: PlotOptions) -> pd.DataFrame:
    """The bands of both panels, one behind the other."""
    tables = []
    for by in ("clock", "think"):
        table = blunders(by).rows(plies, wishes.player)
        table = table.rename(columns={f"{by}_from_s": "from_s", f"{by}_to_s": "to_s"})
        table.insert(0, "by", by)
        tables.append(table)
    return pd.concat(tables, ignore_index=True)


def _profile_table(plies: PlySource, wishes: PlotOptions) -> Any:
    """The player's own moves: all six pictures are made from them."""
    names = [*_COLUMNS, "time_control", "mover_score", "clock_after_ms", "elapsed_ms", "lag_ms"]
    source = Plies.of(plies)
    return _each_ply(who_of(source, wishes.player).moves(source), names)


PICTURES: Final[dict[str, Picture]] = {
    "race": Picture(
        "game",
        _on_axes(clock_race, "events", "chat"),
        _rows("clock_after_ms", "elapsed_ms", one_game="race", clocks=True),
    ),
    "times": Picture("game", _on_axes(move_times), _rows("elapsed_ms", one_game="times")),
    "thinking": Picture("games", _on_axes(think_times, "player"), _player_table(THINKS)),
    "heatmap": Picture("games", _on_axes(think_heatmap, "player"), _player_table(HEATMAP)),
    "lag": Picture("games", _sheet("lag", lag_sheet, "player"), _lag_table, (9.0, 5.0)),
    "curve": Picture("games", _on_axes(clock_curve, "player"), _player_table(CURVE)),
    "leads": Picture(
        "games",
        _on_axes(score_by_lead, "player", "move"),
        lambda plies, wishes: leads(wishes.move).rows(plies, wishes.player),
    ),
    "evaluation": Picture("game", _sheet("evaluation", evaluation_sheet, "events"), _evaluation_table, (9.0, 8.0)),
    "blunders": Picture("games", _sheet("blunders", blunder_sheet, "player"), _blunders_table, (11.0, 5.0)),
    "endings": Picture("player", _on_axes(endings, "player"), _player_table(ENDINGS)),
    "profile": Picture("player", _sheet("profile", player_profile, "player"), _profile_table, (13.0, 11.5)),
    "bughouse": Picture(
        "match", _on_axes(bughouse_clocks), _rows("clock_after_ms", "elapsed_ms", "arrival_ms", clocks=True)
    ),
}
"""Every picture by the name that the command line takes."""
