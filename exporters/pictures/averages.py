"""Pictures over games: the clock curve, the score by clock lead, how games ended."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator, PercentFormatter

from exporters.pictures.style import (
    Theme,
    add_footer,
    add_legend,
    add_titles,
    clock_axis,
    new_axes,
    numbers,
    plain,
    theme_of,
)
from exporters.pictures.thinking import headline
from exporters.pictures.words import footer_text, games_of, moves_of, name_of, usable, whole_seconds
from recorder.errors import ExportError

__all__ = ["clock_curve", "clock_quartiles", "endings", "lead_scores", "result_counts", "score_by_lead"]

_LEADS = (0.05, 0.2)
_LEAD_WORDS = ("≥ 20 %\nbehind", "5–20 %\nbehind", "about\neven", "5–20 %\nahead", "≥ 20 %\nahead")
_FEWEST = 3
_OUTCOMES = ((1.0, "won"), (0.5, "drawn"), (0.0, "lost"))


def clock_quartiles(plies: pd.DataFrame, player: str | None = None) -> pd.DataFrame:
    """What ``clock_curve`` draws: one row for each of the players or opponents and move number.

    Returns:
        ``who`` (``player``, ``opponents``, ``all``), ``move_no``, ``games``, ``low``, ``median``, ``high`` (quartiles,
        as shares of the base time); in ``attrs`` ``games``, ``plies``, ``left_out``, ``whole_seconds``.
    Raises:
        ExportError: no clock is known.
    """
    drawn = usable(games_of(plies, player), "clock_after_ms", clocks=True)
    based = drawn["base_s"].fillna(0).gt(0).astype(bool)
    attrs = dict(drawn.attrs)
    if not based.all():
        attrs["left_out"] = {**attrs["left_out"], "of games without a base time": int((~based).sum())}
        drawn = drawn[based]
    if drawn.empty:
        raise ExportError("There is nothing to draw: no game has a base time.")
    attrs |= {
        "games": int(drawn["key"].nunique()),
        "plies": len(drawn),
        "whole_seconds": whole_seconds(drawn),
        "base_s": sorted({int(base) for base in drawn["base_s"]}),
    }
    rows: list[tuple[object, ...]] = []
    own = moves_of(drawn, player)
    groups = {"all": drawn} if player is None else {"player": own, "opponents": drawn.drop(own.index)}
    for who, group in groups.items():
        moves = numbers(group["move_no"])
        left = numbers(group["clock_after_ms"]) / 1000 / numbers(group["base_s"])
        for move in np.unique(moves):
            values = left[moves == move]
            rows.append((who, int(move), len(values), *(float(value) for value in np.percentile(values, (25, 50, 75)))))
    found = pd.DataFrame(rows, columns=["who", "move_no", "games", "low", "median", "high"])
    found.attrs = attrs
    return found


def clock_curve(
    plies: pd.DataFrame,
    *,
    player: str | None = None,
    ax: Axes | None = None,
    theme: str | Theme = "light",
    titles: bool = True,
    footer: bool = True,
) -> Axes:
    """The clock averaged over games: median and quartiles of what is left after each move.

    Games of one base time are shown as clocks, others as shares of their base times. Moves that fewer than three games
    reached are not drawn, unless there are no others.

    Args:
        plies: the ply frame of any number of games.
        player: this handle's clocks and the opponents' in the same games.
        ax, theme, titles, footer: as for ``clock_race``.
    Raises:
        ExportError: no clock is known.
    """
    look = theme_of(theme)
    plies = games_of(plies, player)
    table = clock_quartiles(plies, player)
    attrs = table.attrs
    fewest = min(_FEWEST, int(table["games"].max()))
    table = table[table["games"] >= fewest]
    ax = new_axes(ax, look)
    bases = attrs["base_s"]
    scale = float(bases[0]) if len(bases) == 1 else 1.0
    handles: list[Artist] = []
    labels: list[str] = []
    for side, who in (("white", "player"), ("black", "opponents"), ("white", "all")):
        rows = table[table["who"] == who]
        if rows.empty:
            continue
        colour = look.side(side)
        face = look.background if side == "white" else colour
        moves = [0.0, *numbers(rows["move_no"])]
        low, middle, high = ([scale, *(numbers(rows[name]) * scale)] for name in ("low", "median", "high"))
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
        handles.append(Line2D([], [], color=colour, linewidth=1.6, marker="o", markersize=4, markerfacecolor=face))
        name = {"player": name_of(plies, player or ""), "opponents": "opponents", "all": "all players"}[who]
        labels.append(f"{name}: median and quartiles")
    least, most = min(0.0, float(table["low"].min())) * scale, max(1.0, float(table["high"].max())) * scale
    ax.set_ylim(least, most * 1.04)
    if len(bases) == 1:
        clock_axis(ax.yaxis, least, most, whole_seconds=True)
        ax.set_ylabel("clock left (min:s)")
    else:
        ax.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
        ax.set_ylabel("clock left, of the base time")
    ax.set_xlim(0, int(table["move_no"].max()) + 1)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=12))
    ax.set_xlabel("move")
    if titles:
        add_titles(ax, look, *headline(plies, player, "Clock left by move"))
    note = f"moves reached in at least {fewest} games" if fewest > 1 else None
    add_legend(ax, look, handles, labels, footer_text(_with(plies, attrs), note) if footer else "")
    return ax


def _with(plies: pd.DataFrame, attrs: dict[object, object]) -> pd.DataFrame:
    found = plies.copy(deep=False)
    found.attrs = {**attrs}
    return found


def lead_scores(plies: pd.DataFrame, player: str | None = None, move: int = 20) -> pd.DataFrame:
    """What ``score_by_lead`` draws: one row for each class of clock leads after both sides' move ``move``.

    The lead is the own clock less the opponent's, as a share of the own base time.

    Returns:
        ``lead`` (the class), ``lead_no``, ``sides``, ``score`` (mean points); in ``attrs`` ``games``, ``plies`` (of
        those moves), ``left_out``.
    Raises:
        ExportError: no game with a result and clocks reached that move.
    """
    at = plies[plies["move_no"].eq(move)]
    if at.empty:
        raise ExportError(f"There is nothing to draw: no game reached move {move}.")
    drawn = usable(at, "clock_after_ms", clocks=True)
    clocks = drawn[["key", "side", "clock_after_ms"]].copy()
    clocks["side"] = drawn["side"].map({"white": "black", "black": "white"}).astype("string")
    own = moves_of(drawn, player)[["key", "side", "clock_after_ms", "base_s", "mover_score"]].copy()
    own["side"] = own["side"].astype("string")
    both = own.merge(clocks, on=["key", "side"], suffixes=("", "_other"))
    known = both[both["mover_score"].notna() & both["base_s"].fillna(0).gt(0)]
    left_out = {**drawn.attrs["left_out"]}
    if len(own) > len(known):
        left_out["without result, base time or the other clock"] = len(own) - len(known)
    if known.empty:
        raise ExportError(f"There is nothing to draw: no game with a result and both clocks reached move {move}.")
    lead = (numbers(known["clock_after_ms"]) - numbers(known["clock_after_ms_other"])) / 1000 / numbers(known["base_s"])
    place = len(_LEADS) + np.sign(lead) * np.searchsorted(_LEADS, np.abs(lead), side="right")
    score = numbers(known["mover_score"])
    rows = [
        (" ".join(word.split()), number, int((place == number).sum()), _mean(score[place == number]))
        for number, word in enumerate(_LEAD_WORDS)
    ]
    found = pd.DataFrame(rows, columns=["lead", "lead_no", "sides", "score"])
    found.attrs = {"games": int(known["key"].nunique()), "plies": len(known), "left_out": left_out}
    return found


def _mean(values: npt.NDArray[np.float64]) -> float:
    return float(values.mean()) if len(values) else float("nan")


def score_by_lead(
    plies: pd.DataFrame,
    *,
    player: str | None = None,
    move: int = 20,
    ax: Axes | None = None,
    theme: str | Theme = "light",
    titles: bool = True,
    footer: bool = True,
) -> Axes:
    """The mean score of those who are behind, even or ahead on the clock after a given move of both sides.

    Args:
        plies: the ply frame of any number of games.
        player: only this handle's sides; None: both sides of each game.
        move: the move number.
        ax, theme, titles, footer: as for ``clock_race``.
    Raises:
        ExportError: no game with a result and clocks reached that move.
    """
    look = theme_of(theme)
    plies = games_of(plies, player)
    table = lead_scores(plies, player, move)
    ax = new_axes(ax, look)
    scores = table["score"].to_numpy(dtype=float)
    bars = ax.bar(range(len(table)), np.nan_to_num(scores), width=0.7, color=look.black, linewidth=0)
    for number, (bar, score, sides) in enumerate(zip(bars, scores, table["sides"], strict=True)):
        bar.set_gid(f"lead-{number}")
        text = f"{score:.0%}\nn = {sides:,}" if sides else "n = 0"
        ax.annotate(text, (number, 0 if np.isnan(score) else score), (0, 3), textcoords="offset points", ha="center",
                    fontsize=8, color=look.text,
                    bbox={"facecolor": look.background, "edgecolor": "none", "pad": 1})  # fmt: skip
    ax.axhline(0.5, color=look.muted, linewidth=1.0, linestyle=(0, (5, 3)), gid="even")
    ax.set_ylim(0, 1.18)
    ax.set_yticks([0, 0.25, 0.5, 0.75, 1])
    ax.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    ax.set_xticks(range(len(_LEAD_WORDS)), list(_LEAD_WORDS))
    ax.set_xlabel(f"clock lead after move {move}, of the base time")
    ax.set_ylabel("score")
    if titles:
        add_titles(ax, look, *headline(plies, player, f"Score by clock lead at move {move}"))
    if footer:
        shown = _with(plies[plies["move_no"].eq(move)], table.attrs)
        add_footer(ax, look, footer_text(shown, "n: sides of games"), drop=12)
    return ax


def result_counts(plies: pd.DataFrame, player: str) -> pd.DataFrame:
    """What ``endings`` draws: one row for each way in which this player's games ended.

    Returns:
        ``ended`` (PGN's word, or how the recording ended), ``won``, ``drawn``, ``lost``, ``no_result``.
    Raises:
        ExportError: the player made no move.
    """
    own = moves_of(plies, player)
    if own.empty:
        raise ExportError(f"There is nothing to draw: {plain(player)} made no move in the chosen games.")
    games = own.drop_duplicates("key")
    ended = games["termination"].astype("string").fillna("no reason told")
    ended = ended.where(games["ending"].eq("result").fillna(False).astype(bool), games["ending"].astype("string"))
    score = numbers(games["mover_score"])
    table = pd.DataFrame(
        {
            "ended": ended.to_numpy(),
            **{word: (score == value).astype(int) for value, word in _OUTCOMES},
            "no_result": np.isnan(score).astype(int),
        }
    )
    counted = table.groupby("ended").sum().reset_index()
    counted["all"] = counted[["won", "drawn", "lost", "no_result"]].sum(axis=1)
    found = counted.sort_values(["all", "ended"], ascending=[False, True]).drop(columns="all").reset_index(drop=True)
    found.attrs = {"games": len(games), "plies": len(own), "left_out": {}}
    return found


def endings(
    plies: pd.DataFrame,
    *,
    player: str,
    ax: Axes | None = None,
    theme: str | Theme = "light",
    titles: bool = True,
    footer: bool = True,
) -> Axes:
    """How this player's games ended: games won, drawn and lost by the server's reason.

    Args:
        plies: the ply frame of any number of games.
        player: the handle.
        ax, theme, titles, footer: as for ``clock_race``.
    Raises:
        ExportError: the player made no move.
    """
    look = theme_of(theme)
    table = result_counts(plies, player)
    ax = new_axes(ax, look)
    ax.grid(False)
    ax.grid(True, axis="x", color=look.grid, linewidth=0.6)
    places = np.arange(len(table))[::-1]
    begin = np.zeros(len(table))
    handles: list[Artist] = []
    labels: list[str] = []
    parts = (
        ("won", look.phases[2], ""),
        ("drawn", look.muted, "///"),
        ("lost", look.white, "..."),
        ("no_result", look.grid, ""),
    )
    for word, colour, hatch in parts:
        counts = table[word].to_numpy(dtype=float)
        if not counts.any():
            continue
        ax.barh(
            places, counts, left=begin, color=colour, hatch=hatch, edgecolor=look.background, linewidth=0.5, height=0.65
        )
        begin = begin + counts
        handles.append(Patch(facecolor=colour, hatch=hatch, edgecolor=look.background, linewidth=0))
        labels.append(f"{word.replace('_', ' ')} {int(counts.sum()):,}")
    ax.set_yticks(places, [plain(word, 24) for word in table["ended"]], parse_math=False)
    ax.set_ylim(min(-0.6, len(table) - 4.4), len(table) - 0.4)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=6))
    ax.set_xlabel("games")
    if titles:
        add_titles(ax, look, *headline(plies, player, "How games ended"))
    add_legend(ax, look, handles, labels, footer_text(_with(moves_of(plies, player), table.attrs)) if footer else "")
    return ax
