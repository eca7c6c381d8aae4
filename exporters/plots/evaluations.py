"""Plots of evaluations: over a game, with its clocks, and blunders by time."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from exporters.evaluations import BLUNDER_PERMILLE, BOUND_CP, CHANCES, INACCURACY_PERMILLE, MISTAKE_PERMILLE
from exporters.measures import definitions
from exporters.measures.program import Reason, run
from exporters.measures.source import Plies
from exporters.plots.figures import add_sheet_titles, new_figure
from exporters.plots.panels import GamePanel, Legend, Panel
from exporters.plots.race import clock_race
from exporters.plots.shown import Drawn, GameShown, Shown, rows_of, shown_of
from exporters.plots.style import (
    LegendEntry,
    Theme,
    draw_bars,
    draw_points,
    move_axis,
    numbers,
    percent_axis,
    ply_place,
    theme_of,
)
from exporters.plots.words import (
    EXCLUDED,
    PlySource,
    Who,
    handles_of,
    no_data,
    one,
    only_game,
    usable,
)
from exporters.tables.columns import EVALUATIONS
from recorder.times import low_limit_ms

_TICKS_CP: Final = (-1000, -500, -300, -100, 0, 100, 300, 500, 1000)
_KINDS: Final = (
    ("inaccuracy", "inaccuracies", INACCURACY_PERMILLE, MISTAKE_PERMILLE, "o", 4.5),
    ("mistake", "mistakes", MISTAKE_PERMILLE, BLUNDER_PERMILLE, "s", 6.0),
    ("blunder", "blunders", BLUNDER_PERMILLE, 1001, "X", 8.0),
)
_SHARES: Final = (("blunders", "xxx"), ("mistakes", "///"), ("inaccuracies", ""))
_RUG: Final = 0.035
_AXES: Final = {"clock": "clock left before the move", "think": "time for the move"}


def evaluated_moves(plies: pd.DataFrame) -> pd.DataFrame:
    """The moves after which an evaluation is known, with White's ``chances``, and ``trouble``: a low clock."""
    only_game(plies, "evaluation")
    mate = plies["eval_after_mate"]
    bound = pd.Series(np.where(mate.fillna(0) >= 0, BOUND_CP, -BOUND_CP), index=plies.index, dtype="Int64")
    bounded = plies["eval_after_cp"].clip(-BOUND_CP, BOUND_CP).where(mate.isna(), bound)
    limits = plies["base_s"].fillna(0).map(low_limit_ms)
    trouble = (plies["clock_before_ms"] < limits).fillna(False).astype(bool)
    drawn = usable(plies.assign(evaluation=bounded, trouble=trouble), "evaluation")
    sign = np.where(drawn["side"].eq("white"), 1, -1)
    chances = np.array(CHANCES)[sign * drawn["evaluation"].to_numpy(dtype=np.int64) + BOUND_CP]
    moves = drawn.assign(chances=chances).drop(columns="evaluation")
    moves.attrs = drawn.attrs
    return moves


def _draw_course(ax: Axes, look: Theme, data: GameShown) -> Legend:
    plies, drawn = data.plies, data.drawn
    first, last = int(plies["ply"].min()), int(plies["ply"].max())
    _draw_curve(ax, look, drawn, range(first, last + 1))
    entries: list[LegendEntry] = []
    for side, handle in zip(("white", "black"), handles_of(plies), strict=True):
        own = drawn[drawn["side"] == side]
        entries.append((Patch(color=look.side(side)), f"{handle} ({side}): {_draw_judged(ax, own, look, side)}"))
    entries += [(_marker(marker, size, look.muted), kind) for kind, _, _, _, marker, size in _KINDS]
    if drawn["trouble"].any():
        entries.append((Patch(color=look.mark), "little time: White above, Black below"))
    ax.axhline(500, color=look.text, linewidth=0.8)
    ax.set_ylim(-40, 1040)
    ax.set_yticks([CHANCES[cp + BOUND_CP] for cp in _TICKS_CP], [_pawns(cp) for cp in _TICKS_CP])
    ax.set_xlim(ply_place(first) - 0.7, ply_place(last) + 0.7)
    move_axis(ax)
    ax.set_ylabel("evaluation (pawns)")
    engine = one(drawn["eval_engine"])
    return Legend(entries, (None if engine is None else f"evaluated by {engine}",))


COURSE: Final = GamePanel(
    "Evaluation",
    lambda plies: GameShown([plies], evaluated_moves(plies)),
    _draw_course,
    rows_of("clock_before_ms", "clock_after_ms", *EVALUATIONS, "chances", "trouble"),
)
evaluation_course = COURSE.function(
    "evaluation_course",
    """Draw the evaluation after each move of one game, with its bad moves and where the mover was in time trouble.

    The axis is linear in chances of winning, so half a pawn is far at 0 and near at 8. Its ticks are pawns from White's
    side; a mate is drawn at 10. The point of half-move 17 has the gid ``ply-17``.
    """,
)


def _draw_curve(ax: Axes, look: Theme, drawn: pd.DataFrame, plies: range) -> None:
    chances = dict(zip(drawn["ply"].astype(int), drawn["chances"].astype(float), strict=True))
    xs = np.array([ply_place(ply) for ply in plies])
    ys = np.array([chances.get(ply, np.nan) for ply in plies])
    for colour, above in ((look.white, True), (look.black, False)):
        ax.fill_between(xs, ys, 500, where=(ys >= 500) == above, interpolate=True, color=colour, alpha=0.2, linewidth=0)
    ax.plot(xs, ys, color=look.text, linewidth=1.2, gid="evaluation")
    gids = [f"ply-{ply}" for ply in chances]
    draw_points(ax, map(ply_place, chances), chances.values(), gids, size=2.5, colour=look.text, face=look.text)


def _draw_judged(ax: Axes, own: pd.DataFrame, look: Theme, side: str) -> str:
    loss = numbers(own["loss_permille"])
    moves = ply_place(numbers(own["ply"]))
    chances = numbers(own["chances"])
    texts = []
    for kind, kinds, least, below, marker, size in _KINDS:
        those = (loss >= least) & (loss < below)
        for x, value, ply in zip(moves[those], chances[those], own["ply"][those], strict=True):
            point = _marker(marker, size, look.side(side))
            point.set_data([x], [value])
            point.set_gid(f"{kind}-{ply}")
            ax.add_artist(point)
        count = int(those.sum())
        texts.append(f"{count} {kind if count == 1 else kinds}")
    short = own["trouble"].to_numpy(dtype=bool)
    bottom = 1 - _RUG if side == "white" else 0.0
    ax.bar(
        moves[short], _RUG, width=0.5, bottom=bottom, color=look.mark, linewidth=0, transform=ax.get_xaxis_transform()
    )
    return ", ".join(texts)


def _marker(shape: str, size: float, colour: str) -> Line2D:
    return Line2D([], [], marker=shape, markersize=size, color=colour, markeredgewidth=0, linestyle="none", zorder=4)


def _pawns(cp: int) -> str:
    return f"{cp // 100:+}".replace("-", "−") if cp else "0"


def evaluation_sheet(
    plies: pd.DataFrame,
    events: pd.DataFrame | None = None,
    *,
    theme: str | Theme = "light",
    size: tuple[float, float] = (9.0, 8.0),
) -> Figure:
    """Draw the evaluation of a game above its clocks; without clocks the evaluation alone.

    Args:
        plies, events, theme: as for ``clock_race``. size: in inches.
    Returns:
        The figure with all pictures.
    Raises:
        ExportError: there is not exactly one game, or it has no evaluations.
    """
    figure = new_figure(theme, size)
    timed = plies["clock_after_ms"].notna().any() and not plies["time_control"].eq("-").all()
    if not timed:
        evaluation_course(plies, ax=figure.add_subplot(), theme=theme)
        return figure
    above, below = figure.subplots(2, 1)
    evaluation_course(plies, ax=above, theme=theme)
    clock_race(plies, events, ax=below, theme=theme, titles=False)
    below.set_xlim(above.get_xlim())
    return figure


def _losses(plies: Plies, who: Who, by: str) -> pd.DataFrame:
    define = definitions.loss_by_clock if by == "clock" else definitions.loss_by_think
    table = run(define(), who.moves(plies)).frame()
    excluded = {EXCLUDED[reason]: count for reason, count in table.attrs["excluded"].items()}
    if table.empty:
        raise no_data(excluded)
    table.attrs["excluded"] = excluded
    return table


class _BlunderData(NamedTuple):
    shown: Shown
    table: pd.DataFrame
    by: str

    @property
    def heading(self) -> str:
        return f"Blunders by {_AXES[self.by]}"


def _compute_blunders(plies: Plies, who: Who, by: str = "clock") -> _BlunderData:
    table = _losses(plies, who, by)
    return _BlunderData(replace(_judged(plies, who), attrs=table.attrs), table, by)


def _draw_blunders(ax: Axes, look: Theme, data: _BlunderData) -> Legend:
    return Legend(_draw_rates(ax, look, data.table, data.by), ("n: moves",))


BLUNDERS: Final = Panel("Blunders", _compute_blunders, _draw_blunders)
blunder_rates = BLUNDERS.function(
    "blunder_rates",
    """Draw the shares of blunders, mistakes and inaccuracies, by the time left or by the time used.

    The bar of blunders of the first band has the gid ``blunders-0``.
    """,
    by=("clock", "``clock`` (left before the move) or ``think``."),
)


def _judged(plies: Plies, who: Who) -> Shown:
    """What titles state of the games, and footers of the moves of the player or of all whose loss is known."""
    judged = Drawn(who.moves(plies), [Reason("without a known loss", "loss_permille IS NULL")])
    return shown_of(judged, about=who.games(plies), player=who.player)


def _draw_rates(ax: Axes, look: Theme, table: pd.DataFrame, by: str) -> list[LegendEntry]:
    counts = numbers(table["plies"])
    places = np.arange(len(table))
    bottom: npt.NDArray[np.float64] = np.zeros(len(table))
    entries: list[LegendEntry] = []
    for (name, hatch), colour in zip(_SHARES, (look.white, look.mark, look.muted), strict=True):
        shares = numbers(table[name]) / counts
        how = {"bottom": bottom, "width": 0.72}
        bars = draw_bars(ax, look, places, shares, colour=colour, hatch=hatch, name=name, **how)
        bottom = bottom + shares
        entries.append((bars, f"{name} {int(table[name].sum()):,}"))
    for x, height, count in zip(places, bottom, table["plies"], strict=True):
        ax.annotate(f"n = {count:,}", (x, height), (0, 3), textcoords="offset points", ha="center", fontsize=8,
                    color=look.text)  # fmt: skip
    ends = zip(table[f"{by}_from_s"], table[f"{by}_to_s"], strict=True)
    ax.set_xticks(places, [_band(begin, end) for begin, end in ends])
    highest = max(float(bottom.max()) * 1.15, 0.05)
    ax.set_ylim(0, highest)
    percent_axis(ax.yaxis, highest)
    ax.set_xlabel(_AXES[by])
    ax.set_ylabel("share of the moves")
    return entries


def _band(begin: Any, end: Any) -> str:
    """``< 5 s``, ``10–20 s``, ``1–2 min``, ``≥ 5 min``."""
    if pd.isna(begin):
        return f"< {_time(end)}"
    if pd.isna(end):
        return f"≥ {_time(begin)}"
    if begin % 60 == end % 60 == 0 and begin:
        return f"{begin // 60}–{end // 60} min"
    return f"{begin}–{end} s"


def _time(seconds: int) -> str:
    return f"{seconds // 60} min" if seconds % 60 == 0 else f"{seconds} s"


def blunder_sheet(
    plies: PlySource,
    *,
    player: str | None = None,
    theme: str | Theme = "light",
    size: tuple[float, float] = (11.0, 5.0),
) -> Figure:
    """Draw blunders by the time left and by the time used, side by side.

    Args:
        plies, player, theme: as for ``blunder_rates``. size: in inches.
    Returns:
        The figure with all pictures.
    Raises:
        ExportError: no move has a loss and a clock.
    """
    figure = new_figure(theme, size)
    source, places = Plies.of(plies), figure.subplots(1, 2)
    halves = [BLUNDERS.computed(source, player, by=by) for by in ("clock", "think")]
    for ax, data in zip(places, halves, strict=True):
        BLUNDERS.drawn(data, ax=ax, theme=theme, titles=False)
    highest = max(ax.get_ylim()[1] for ax in places)
    for ax in places:
        ax.set_ylim(0, highest)
    places[1].set_ylabel("")
    add_sheet_titles(places[0], theme_of(theme), *halves[0].shown.head("Blunders against the clock"), "")
    return figure
