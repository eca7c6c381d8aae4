"""The pictures by name: what the command line and other programs choose from."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

import pandas as pd
from matplotlib.figure import Figure

from exporters.plots.averages import (
    clock_curve,
    clock_quartiles,
    endings,
    lead_scores,
    result_counts,
    score_by_lead,
)
from exporters.plots.bughouse import bughouse_clocks
from exporters.plots.evaluations import blunder_sheet, blunder_table, evaluated_moves, evaluation_sheet
from exporters.plots.lag import lag_sheet
from exporters.plots.moves import move_times
from exporters.plots.profile import player_profile
from exporters.plots.race import clock_race
from exporters.plots.style import new_figure
from exporters.plots.thinking import heatmap_cells, phase_shares, think_heatmap, think_times
from exporters.plots.words import moves_of, only_game, usable
from exporters.tables.columns import EVALUATIONS

__all__ = ["PICTURES", "Picture", "PlotOptions"]


class PlotOptions(NamedTuple):
    """What somebody may want of a picture.

    Attributes:
        player: whose moves it is about. theme: ``light`` or ``dark``. size: in inches; None: the picture's own.
        chat: mark kibitzes in a race. move: at which move the lead on the clock is told.
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
        table: plies and wishes → the rows that are drawn.
        size: in inches.
    """

    scope: str
    draw: Callable[[pd.DataFrame, pd.DataFrame | None, PlotOptions], Figure]
    table: Callable[[pd.DataFrame, PlotOptions], pd.DataFrame]
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
        found = drawn[[*_COLUMNS, column, *more]].reset_index(drop=True)
        found.attrs = drawn.attrs
        return found

    return table


def _figure(wishes: PlotOptions, size: tuple[float, float] = (9.0, 5.0)) -> Any:
    return new_figure(wishes.theme, wishes.size or size).add_subplot()


def _race(plies: pd.DataFrame, events: pd.DataFrame | None, wishes: PlotOptions) -> Figure:
    return _of(clock_race(plies, events, ax=_figure(wishes), theme=wishes.theme, chat=wishes.chat))


def _times(plies: pd.DataFrame, _: pd.DataFrame | None, wishes: PlotOptions) -> Figure:
    return _of(move_times(plies, ax=_figure(wishes), theme=wishes.theme))


def _bughouse(plies: pd.DataFrame, _: pd.DataFrame | None, wishes: PlotOptions) -> Figure:
    return _of(bughouse_clocks(plies, ax=_figure(wishes), theme=wishes.theme))


def _about_player(draw: Callable[..., Any]) -> Callable[[pd.DataFrame, pd.DataFrame | None, PlotOptions], Figure]:
    def drawn(plies: pd.DataFrame, _: pd.DataFrame | None, wishes: PlotOptions) -> Figure:
        return _of(draw(plies, player=wishes.player, ax=_figure(wishes), theme=wishes.theme))

    return drawn


def _player_table(table: Callable[..., pd.DataFrame]) -> Callable[[pd.DataFrame, PlotOptions], pd.DataFrame]:
    return lambda plies, wishes: table(plies, wishes.player)


def _leads(plies: pd.DataFrame, _: pd.DataFrame | None, wishes: PlotOptions) -> Figure:
    drawn = score_by_lead(plies, player=wishes.player, move=wishes.move, ax=_figure(wishes), theme=wishes.theme)
    return _of(drawn)


def _lag(plies: pd.DataFrame, _: pd.DataFrame | None, wishes: PlotOptions) -> Figure:
    size = wishes.size or PICTURES["lag"].size
    return lag_sheet(plies, player=wishes.player, theme=wishes.theme, size=size)


def _profile(plies: pd.DataFrame, _: pd.DataFrame | None, wishes: PlotOptions) -> Figure:
    size = wishes.size or PICTURES["profile"].size
    return player_profile(plies, player=wishes.player or "", theme=wishes.theme, size=size)


def _evaluation(plies: pd.DataFrame, events: pd.DataFrame | None, wishes: PlotOptions) -> Figure:
    size = wishes.size or PICTURES["evaluation"].size
    return evaluation_sheet(plies, events, theme=wishes.theme, size=size)


def _evaluation_table(plies: pd.DataFrame, _: PlotOptions) -> pd.DataFrame:
    columns = [*_COLUMNS, "clock_before_ms", "clock_after_ms", *EVALUATIONS, "chances", "trouble"]
    return evaluated_moves(plies)[columns].reset_index(drop=True)


def _blunders(plies: pd.DataFrame, _: pd.DataFrame | None, wishes: PlotOptions) -> Figure:
    size = wishes.size or PICTURES["blunders"].size
    return blunder_sheet(plies, player=wishes.player, theme=wishes.theme, size=size)


def _blunders_table(plies: pd.DataFrame, wishes: PlotOptions) -> pd.DataFrame:
    """The bands of both panels, one behind the other."""
    tables = []
    for by in ("clock", "think"):
        table = blunder_table(plies, wishes.player, by)
        table = table.rename(columns={f"{by}_from_s": "from_s", f"{by}_to_s": "to_s"})
        table.insert(0, "by", by)
        tables.append(table)
    return pd.concat(tables, ignore_index=True)


def _of(ax: Any) -> Figure:
    figure = ax.get_figure(root=True)
    assert isinstance(figure, Figure)
    return figure


def _profile_table(plies: pd.DataFrame, wishes: PlotOptions) -> pd.DataFrame:
    """The player's own moves: all six pictures are made from them."""
    own = moves_of(plies, wishes.player)
    return own[[*_COLUMNS, "time_control", "mover_score", "clock_after_ms", "elapsed_ms", "lag_ms"]].reset_index(
        drop=True
    )


PICTURES: Final[dict[str, Picture]] = {
    "race": Picture("game", _race, _rows("clock_after_ms", "elapsed_ms", one_game="race", clocks=True)),
    "times": Picture("game", _times, _rows("elapsed_ms", one_game="times")),
    "thinking": Picture("games", _about_player(think_times), _player_table(phase_shares)),
    "heatmap": Picture("games", _about_player(think_heatmap), _player_table(heatmap_cells)),
    "lag": Picture("games", _lag, _rows("lag_ms", "mover_sealed"), (9.0, 5.0)),
    "curve": Picture("games", _about_player(clock_curve), _player_table(clock_quartiles)),
    "leads": Picture("games", _leads, lambda plies, wishes: lead_scores(plies, wishes.player, wishes.move)),
    "evaluation": Picture("game", _evaluation, _evaluation_table, (9.0, 8.0)),
    "blunders": Picture("games", _blunders, _blunders_table, (11.0, 5.0)),
    "endings": Picture("player", _about_player(endings), _player_table(result_counts)),
    "profile": Picture("player", _profile, _profile_table, (13.0, 11.5)),
    "bughouse": Picture("match", _bughouse, _rows("clock_after_ms", "elapsed_ms", "arrival_ms", clocks=True)),
}
"""Every picture by the name that the command line takes."""
