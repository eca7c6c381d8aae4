"""The four clocks of a bughouse match on one time axis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from exporters.plots.panels import GamePanel, Legend
from exporters.plots.shown import GameShown, rows_of
from exporters.plots.style import (
    LegendEntry,
    Theme,
    clock_axis,
    draw_points,
    numbers,
)
from exporters.plots.words import (
    handles_of,
    one,
    usable,
    whole_seconds,
)
from recorder.errors import ExportError

_BOARDS = ("A", "B")
_DASHES: dict[str, Literal["solid"] | tuple[float, tuple[float, ...]]] = {"A": "solid", "B": (0, (4, 1.6))}


class _Board(NamedTuple):
    """One board: its rows in order, and the second at which each of its moves was made."""

    letter: str
    plies: pd.DataFrame
    seconds: dict[int, float]


class _Match(NamedTuple):
    shown: GameShown
    boards: list[_Board]
    by_arrival: bool


def _compute_match(plies: pd.DataFrame) -> _Match:
    games = list(dict.fromkeys(plies["key"]))
    if len(games) != len(_BOARDS):
        raise ExportError(f"The picture bughouse shows the two games of one match, and {len(games):,} were given.")
    drawn = usable(plies, "clock_after_ms", clocks=True)
    if drawn["key"].nunique() < len(_BOARDS):
        raise ExportError("No data: the clocks of one board are unknown.")
    rows = _rows_of_boards(drawn, games)
    by_arrival = bool(drawn["arrival_ms"].notna().all()) and drawn["time_basis"].nunique() == 1
    return _Match(GameShown(rows, drawn), _by_arrival(rows) if by_arrival else _by_clocks(rows), by_arrival)


def _draw_match(ax: Axes, look: Theme, data: _Match) -> Legend:
    entries: list[LegendEntry] = []
    heights: list[float] = []
    for board in data.boards:
        added, clocks = _draw_clocks(ax, look, board)
        entries += added
        heights += clocks
    _scale(ax, look, data.boards, heights, data.by_arrival, whole_seconds(data.shown.drawn) > 0)
    return Legend(entries, (None if data.by_arrival else "no arrival times that can be compared",))


def _draw_clocks(ax: Axes, look: Theme, board: _Board) -> tuple[list[LegendEntry], list[float]]:
    """Draw both clocks; return what the legend says of them, and values in seconds between which they are."""
    entries: list[LegendEntry] = []
    heights: list[float] = []
    for side, handle in zip(("white", "black"), handles_of(board.plies), strict=True):
        own = board.plies[board.plies["side"] == side]
        if own.empty:
            continue
        # White of board A and Black of board B are partners.
        colour = look.white if (side == "white") is (board.letter == "A") else look.black
        face = look.background if side == "white" else colour
        style = _DASHES[board.letter]
        xs, ys = _curve(board, side)
        heights += ys
        ax.plot(xs, ys, color=colour, linestyle=style, linewidth=1.4, gid=f"clock-{board.letter}-{side}")
        moments = [board.seconds[ply] for ply in own["ply"].astype(int)]
        gids = [f"{board.letter}-ply-{ply}" for ply in own["ply"]]
        draw_points(ax, moments, numbers(own["clock_after_ms"]) / 1000, gids, size=3, colour=colour, face=face)
        line = Line2D(
            [], [], color=colour, linestyle=style, linewidth=1.4, marker="o", markersize=4, markerfacecolor=face
        )
        entries.append((line, f"{handle} ({side}, board {board.letter})"))
    return entries, heights


def _scale(
    ax: Axes, look: Theme, boards: Sequence[_Board], heights: Sequence[float], by_arrival: bool, coarse: bool
) -> None:
    low, high = min(heights), max(heights)
    from_zero = 0 <= low <= high - low  # where the curves would fill less than half of the axis it begins below them
    low = 0.0 if from_zero else low
    margin = max(high - low, 1.0) * 0.05
    ax.set_ylim(low if from_zero else low - margin, high + margin)
    if low < 0:
        ax.axhline(0, color=look.text, linewidth=0.9, gid="zero")
    end = max(max(board.seconds.values()) for board in boards)
    ax.set_xlim(0, max(end, 1.0) * 1.02)
    clock_axis(ax.yaxis, low, high, whole_seconds=coarse)
    clock_axis(ax.xaxis, 0, end, ticks=12, whole_seconds=True)
    ax.set_xlabel(
        "time since the start, by the boards' arrival (min:s)"
        if by_arrival
        else "time used on the board, by both its clocks (min:s)"
    )
    ax.set_ylabel("clock left (min:s)" if low <= 0 else "clock left (min:s), not from 0")


def _rows_of_boards(drawn: pd.DataFrame, games: list[str]) -> list[pd.DataFrame]:
    """The rows of boards A and B: A is the one with the lower server's number, if both are known."""
    numbered = drawn.groupby("key", observed=True)["server_game_no"].first()
    if numbered.notna().all() and numbered.nunique() == len(_BOARDS):
        games = sorted(games, key=lambda key: int(numbered[key]))
    return [drawn[drawn["key"] == key].sort_values("ply") for key in games]


def _by_arrival(rows: list[pd.DataFrame]) -> list[_Board]:
    """Seconds from the moment at which the first move of the match began to be thought about."""
    begins = []
    for board in rows:
        first = board.iloc[0]
        thought = 0 if pd.isna(first["elapsed_ms"]) else int(first["elapsed_ms"])
        begins.append(int(first["arrival_ms"]) - (thought if int(first["ply"]) == 1 else 0))
    begin = min(begins)
    return [
        _Board(
            letter,
            board,
            dict(zip(board["ply"].astype(int), (numbers(board["arrival_ms"]) - begin) / 1000, strict=True)),
        )
        for letter, board in zip(_BOARDS, rows, strict=True)
    ]


def _by_clocks(rows: list[pd.DataFrame]) -> list[_Board]:
    """Seconds that both players of a board have used after each of its moves."""
    boards = []
    for letter, board in zip(_BOARDS, rows, strict=True):
        used = {"white": 0.0, "black": 0.0}
        seconds: dict[int, float] = {}
        columns = (board["ply"], board["side"], board["move_no"], numbers(board["clock_after_ms"]) / 1000)
        bases = {side: one(board.loc[board["side"] == side, "base_s"]) for side in used}
        increments = {side: one(board.loc[board["side"] == side, "increment_s"]) or 0 for side in used}
        for ply, side, move, clock in zip(*columns, strict=True):
            base = bases[side]
            if base is None:
                base = float(numbers(board.loc[board["side"] == side, "clock_after_ms"])[0]) / 1000
            used[side] = max(used[side], float(base) + int(increments[side]) * int(move) - float(clock))
            seconds[int(ply)] = sum(used.values())
        boards.append(_Board(letter, board, seconds))
    return boards


def _curve(board: _Board, side: str) -> tuple[list[float], list[float]]:
    """One clock: it stands while the other side thinks, and runs from the other side's move to the own one."""
    plies = [int(ply) for ply in board.plies["ply"]]
    sides = list(board.plies["side"])
    clocks = numbers(board.plies["clock_after_ms"]) / 1000
    xs: list[float] = []
    ys: list[float] = []
    base = one(board.plies.loc[board.plies["side"] == side, "base_s"])
    last = None if base is None or plies[0] > 1 else float(base)
    if last is not None:
        xs.append(0.0)
        ys.append(last)
    before = plies[0] - 1
    for ply, mover, clock in zip(plies, sides, clocks, strict=True):
        if ply > before + 1:  # moves are missing: the clock is not known in between
            xs.append(np.nan)
            ys.append(ys[-1] if ys else float(clock))
            last = None
        before = ply
        if mover == side:
            last = float(clock)
        if last is not None:
            xs.append(board.seconds[ply])
            ys.append(last)
    return xs, ys


MATCH: Final = GamePanel("Bughouse", _compute_match, _draw_match, rows_of("clock_after_ms", "elapsed_ms", "arrival_ms"))
bughouse_clocks = MATCH.function(
    "bughouse_clocks",
    """Draw the four clocks of a match on one time axis; partners share a colour, board B has dashed lines.

    The time axis is the arrival of the boards. Where no arrival times are known, or those of the two boards cannot be
    compared, it is what both players of a board had used up by then: in bughouse all clocks start together. Board A is
    the one with the lower server's number. The point of half-move 17 on it has the gid ``A-ply-17``.
    """,
)
