"""Plots over many games: clocks by move, score by clock lead, ends of games."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator, PercentFormatter

from exporters.measures import clock_lead
from exporters.measures.base import Asked
from exporters.measures.batches import computed, steps_of
from exporters.measures.result import summary
from exporters.plots.figures import new_axes
from exporters.plots.shown import Adding, Shown, add_up, counts_of, tally
from exporters.plots.style import (
    LegendEntry,
    Theme,
    add_footer,
    add_legend,
    add_titles,
    clock_axis,
    move_axis,
    numbers,
    percent_axis,
    plain,
    theme_of,
)
from exporters.plots.words import (
    PlySource,
    Who,
    footer_text,
    headline,
    judged,
    name_of,
    no_data,
    who_of,
)
from exporters.tables.facts import reason_words
from recorder.errors import ExportError

__all__ = [
    "clock_curve",
    "clock_quartiles",
    "curve_data",
    "draw_curve",
    "draw_endings",
    "draw_leads",
    "end_data",
    "endings",
    "lead_data",
    "lead_scores",
    "result_counts",
    "score_by_lead",
]

_LEADS = (-20, -5, 5, 20)  # percent of the base time
_LEAD_WORDS = ("> 20 %\nbehind", "5–20 %\nbehind", "about\neven", "5–20 %\nahead", "≥ 20 %\nahead")
_EXCLUDED = {
    "not played": "of examined games",
    "untimed": "of untimed games",
    "inferred": "inferred",
    "no result": "without a result",
    "no clock": "without both clocks",
    "no base time": "of games without a base time",
}
_FEWEST = 3
_QUARTILES = {"q25": 25, "median": None, "q75": 75}
_OUTCOMES = ((1.0, "won"), (0.5, "drawn"), (0.0, "lost"))


def clock_quartiles(plies: PlySource, player: str | None = None) -> pd.DataFrame:
    """The rows that ``clock_curve`` draws: one for each move number of the player, the opponents or all.

    Counted and rounded as ``exporters.measures.clock_curve`` does.

    Returns:
        ``who`` (``player``, ``opponents``, ``all``), ``move_no``, ``games``, ``sides``, and quartiles: ``q25_ms``,
        ``median_ms``, ``q75_ms`` where all games have one base time, else ``q25_share`` … of the base times; in
        ``attrs`` ``games``, ``plies``, ``excluded``, ``base_s`` (a list of all base times).
    Raises:
        ExportError: no clock is known.
    """
    who = who_of(plies, player)
    return computed(lambda batch: curve_data(batch, who), plies).table


_NO_BASE = "of games without a base time"
_CLOCK_COLUMNS = (
    "key", "time_control", "kind", "origin", "clock_after_ms", "base_s", "move_no", "precision", "mover_id",
)  # fmt: skip


def _with_clock(batch: pd.DataFrame) -> tuple[pd.DataFrame, dict[str, int]]:
    """The plies whose clock and base time are known, and why others are excluded."""
    drawn, reasons = judged(batch, "clock_after_ms", clocks=True)
    based = drawn["base_s"].fillna(0).gt(0).astype(bool)
    return drawn[based], {**reasons, _NO_BASE: int((~based).sum())}


class _CurveData(NamedTuple):
    """What ``clock_curve`` draws; ``table``: as ``clock_quartiles`` returns it."""

    shown: Shown
    table: pd.DataFrame


def curve_data(plies: pd.DataFrame, who: Who) -> Adding[_CurveData]:
    """Add up the clocks of the games of a player or of all, with all base times.

    Raises:
        ExportError: no clock is known.
    """
    plies = who.games(plies)
    shown = yield from add_up(
        plies,
        _with_clock,
        _CLOCK_COLUMNS,
        lambda drawn: {"bases": tally(drawn, ["base_s"])},
        player=who.player,
        mark_all=True,
    )
    if not shown.attrs["plies"]:
        excluded = shown.attrs["excluded"]
        if _NO_BASE in excluded:
            raise ExportError("No data: no game in this selection has a base time.")
        raise no_data(excluded)
    bases = sorted(int(base) for base in shown.parts["bases"]["base_s"])
    one_base = len(bases) == 1
    by = ["who", "move_no"]
    drawn, _ = _with_clock(plies)
    whose: Any = "all"
    if who.player is not None:
        whose = np.where(drawn["mover_id"].isin(who.identities), "player", "opponents")
    clocks = drawn["clock_after_ms"] if one_base else drawn["clock_after_ms"] * 1000 // drawn["base_s"]
    drawn = drawn[["key", "move_no", "precision"]].assign(who=whose, clock=clocks.astype("Int64"))
    parts = {"values": counts_of(drawn, by, "clock"), "games": tally(drawn.drop_duplicates([*by, "key"]), by)}
    found = yield Asked(frozenset(_CLOCK_COLUMNS), parts)
    table = summary(found["values"], by, "clock", _QUARTILES, rounded=one_base).rename(columns={"plies": "sides"})
    games = found["games"].rename(columns={"n": "games"})
    table = table.merge(games, on=by).sort_values(by, ignore_index=True)[[*by, "games", "sides", *_QUARTILES]]
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


def clock_curve(
    plies: PlySource,
    *,
    player: str | None = None,
    ax: Axes | None = None,
    theme: str | Theme = "light",
    titles: bool = True,
    footer: bool = True,
) -> Axes:
    """Draw the clocks of many games: median and quartiles of the time left after each move.

    If all games have one base time, clocks are drawn, otherwise shares of the base times. Moves that fewer than three
    games reached are drawn only if there are no others.

    Args:
        plies: the ply frame of any number of games, or batches.
        player: this handle's clocks and the opponents' in the same games.
        ax, theme, titles, footer: as for ``clock_race``.
    Returns:
        The axes that were drawn on.
    Raises:
        ExportError: no clock is known.
    """
    who = who_of(plies, player)
    data = computed(lambda batch: curve_data(batch, who), plies)
    return draw_curve(data, player, ax=ax, theme=theme, titles=titles, footer=footer)


def draw_curve(
    data: _CurveData,
    player: str | None,
    *,
    ax: Axes | None = None,
    theme: str | Theme = "light",
    titles: bool = True,
    footer: bool = True,
) -> Axes:
    """As ``clock_curve``, of its data."""
    look = theme_of(theme)
    shown, table = data
    attrs = table.attrs
    fewest = min(_FEWEST, int(table["games"].max()))
    table = table[table["games"] >= fewest]
    ax = new_axes(ax, look)
    entries = _draw_quartiles(ax, look, table, attrs["base_s"], name_of(shown.sample, player or ""))
    ax.set_xlim(0, int(table["move_no"].max()) + 1)
    move_axis(ax)
    if titles:
        add_titles(ax, look, *headline(shown.sample, player, "Clock left by move"))
    note = f"moves reached in at least {fewest} games" if fewest > 1 else None
    add_legend(ax, look, entries, footer_text(attrs, shown.marks, note) if footer else "")
    return ax


def _draw_quartiles(ax: Axes, look: Theme, table: pd.DataFrame, bases: list[int], player: str) -> list[LegendEntry]:
    """Draw medians and quartiles of the clocks, and set their axis.

    Args:
        ax: where to draw.
        look: the colours.
        table: the moves to draw, as ``clock_quartiles`` returns them.
        bases: the base times in seconds that the games have.
        player: the handle as the legend writes it.
    Returns:
        The entries of the legend.
    """
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
        shown = Line2D([], [], color=colour, linewidth=1.6, marker="o", markersize=4, markerfacecolor=face)
        entries.append((shown, f"{name}: median and quartiles"))
    least = min(0.0, float(table[f"q25_{unit}"].min()) / scale)
    _clock_scale(ax, least, max(start, float(table[f"q75_{unit}"].max()) / scale), one_base)
    return entries


def lead_scores(plies: PlySource, player: str | None = None, move: int = 20) -> pd.DataFrame:
    """The rows that ``score_by_lead`` draws: one for each class of clock leads after move ``move`` of both sides.

    Leads and scores are those of ``exporters.measures.clock_lead``, as shares of the side's own base time.

    Returns:
        ``lead`` (the class), ``lead_no``, ``sides``, ``score`` (mean points); in ``attrs`` ``games``, ``plies`` (of
        those moves), ``excluded``.
    Raises:
        ExportError: no game with a result and clocks reached that move.
    """
    who = who_of(plies, player)
    return computed(lambda batch: lead_data(batch, who, move), plies).table


class _LeadData(NamedTuple):
    """What ``score_by_lead`` draws; ``table``: as ``lead_scores`` returns it. ``move``: whose lead it is."""

    shown: Shown
    table: pd.DataFrame
    move: int


def lead_data(plies: pd.DataFrame, who: Who, move: int = 20) -> Adding[_LeadData]:
    """Add up scores by the lead after a move.

    Raises:
        ExportError: no game with a result and clocks reached that move.
    """
    shown = yield from add_up(
        who.games(plies),
        lambda batch: (_decisive(who.moves(batch), move), {}),
        ("mover_id", "side", "move_no"),
        player=who.player,
    )
    table = yield from steps_of(clock_lead)(_decisive(who.moves(plies), move), moves=[move], edges_percent=_LEADS)
    return _LeadData(shown, _scores_of(table, move), move)


def _scores_of(table: pd.DataFrame, move: int) -> pd.DataFrame:
    """The rows of ``lead_scores``, of the measure's table.

    Raises:
        ExportError: as ``lead_data``.
    """
    if not table.attrs["plies"] and not table.attrs["excluded"]:
        raise ExportError(f"No data: no game in this selection reached move {move}.")
    if table.empty:
        raise ExportError(f"No data: no game with a result and both clocks reached move {move}.")
    begins = table["lead_from_percent"].astype("object").where(table["lead_from_percent"].notna(), None)
    classes = dict(zip(begins, zip(table["sides"], table["score"], strict=True), strict=True))
    rows = []
    for number, (edge, word) in enumerate(zip((None, *_LEADS), _LEAD_WORDS, strict=True)):
        sides, score = classes.get(edge, (0, float("nan")))
        rows.append((" ".join(word.split()), number, int(sides), float(score)))
    shown = pd.DataFrame(rows, columns=["lead", "lead_no", "sides", "score"])
    excluded = {_EXCLUDED[reason]: count for reason, count in table.attrs["excluded"].items()}
    shown.attrs = {"games": table.attrs["games"], "plies": table.attrs["plies"], "excluded": excluded}
    return shown


def _decisive(plies: pd.DataFrame, move: int) -> pd.DataFrame:
    """The plies that show the lead after a move: Black's, and White's next ply with the clocks before it."""
    white = plies["side"].eq("white")
    return plies[(white & plies["move_no"].eq(move + 1)) | (~white & plies["move_no"].eq(move))]


def score_by_lead(
    plies: PlySource,
    *,
    player: str | None = None,
    move: int = 20,
    ax: Axes | None = None,
    theme: str | Theme = "light",
    titles: bool = True,
    footer: bool = True,
) -> Axes:
    """Draw the mean score of the sides that are behind, even or ahead on the clock after a given move.

    Args:
        plies: the ply frame of any number of games, or batches.
        player: only this handle's sides; None: both sides of each game.
        move: the move number.
        ax, theme, titles, footer: as for ``clock_race``.
    Returns:
        The axes that were drawn on.
    Raises:
        ExportError: no game with a result and clocks reached that move.
    """
    who = who_of(plies, player)
    data = computed(lambda batch: lead_data(batch, who, move), plies)
    return draw_leads(data, player, ax=ax, theme=theme, titles=titles, footer=footer)


def draw_leads(
    data: _LeadData,
    player: str | None,
    *,
    ax: Axes | None = None,
    theme: str | Theme = "light",
    titles: bool = True,
    footer: bool = True,
) -> Axes:
    """As ``score_by_lead``, of its data."""
    look = theme_of(theme)
    shown, table, move = data
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
        add_titles(ax, look, *headline(shown.sample, player, f"Score by clock lead at move {move}"))
    if footer:
        add_footer(ax, look, footer_text(table.attrs, shown.marks, "n: sides of games"), drop=12)
    return ax


def result_counts(plies: PlySource, player: str) -> pd.DataFrame:
    """The rows that ``endings`` draws: one for each way in which this player's games ended.

    Returns:
        ``ended`` (the reason, or how the recording ended), ``won``, ``drawn``, ``lost``, ``no_result``.
    Raises:
        ExportError: the player made no move.
    """
    who = who_of(plies, player)
    return _results_of(computed(lambda batch: end_data(batch, who), plies))


def end_data(plies: pd.DataFrame, who: Who) -> Adding[Shown]:
    """Add up how the games of a player ended.

    Raises:
        ExportError: the player made no move.
    """
    by = ["reason", "ending", "mover_score"]
    shown = yield from add_up(
        plies,
        lambda batch: (who.moves(batch), {}),
        ("mover_id", *by),
        lambda drawn: {"ends": tally(drawn.drop_duplicates("key"), by)},
        player=who.player,
    )
    if not shown.attrs["plies"]:
        raise ExportError(f"No data: {plain(who.player or '')} made no move in this selection.")
    return shown


def _results_of(shown: Shown) -> pd.DataFrame:
    games = shown.parts["ends"]
    ended = games["reason"].map(reason_words, na_action="ignore").astype("string").fillna("reason not known")
    ended = ended.where(games["ending"].eq("result").fillna(False).astype(bool), games["ending"].astype("string"))
    score, count = numbers(games["mover_score"]), games["n"].to_numpy(dtype=np.int64)
    table = pd.DataFrame(
        {
            "ended": ended.to_numpy(),
            **{word: (score == value) * count for value, word in _OUTCOMES},
            "no_result": np.isnan(score) * count,
        }
    )
    tallied = table.groupby("ended").sum().reset_index()
    tallied["all"] = tallied[["won", "drawn", "lost", "no_result"]].sum(axis=1)
    found = tallied.sort_values(["all", "ended"], ascending=[False, True]).drop(columns="all").reset_index(drop=True)
    found.attrs = {**shown.attrs}
    return found


def endings(
    plies: PlySource,
    *,
    player: str,
    ax: Axes | None = None,
    theme: str | Theme = "light",
    titles: bool = True,
    footer: bool = True,
) -> Axes:
    """Draw how many games this player won, drew and lost for each reason that the server printed.

    Args:
        plies: the ply frame of any number of games, or batches.
        player: the handle.
        ax, theme, titles, footer: as for ``clock_race``.
    Returns:
        The axes that were drawn on.
    Raises:
        ExportError: the player made no move.
    """
    who = who_of(plies, player)
    shown = computed(lambda batch: end_data(batch, who), plies)
    return draw_endings(shown, player, ax=ax, theme=theme, titles=titles, footer=footer)


def draw_endings(
    shown: Shown,
    player: str | None,
    *,
    ax: Axes | None = None,
    theme: str | Theme = "light",
    titles: bool = True,
    footer: bool = True,
) -> Axes:
    """As ``endings``, of what ``end_data`` returns."""
    look = theme_of(theme)
    table = _results_of(shown)
    ax = new_axes(ax, look)
    ax.grid(False)
    ax.grid(True, axis="x", color=look.grid, linewidth=0.6)
    places = np.arange(len(table))[::-1]
    begin = np.zeros(len(table))
    entries: list[LegendEntry] = []
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
        drawn = Patch(facecolor=colour, hatch=hatch, edgecolor=look.background, linewidth=0)
        entries.append((drawn, f"{word.replace('_', ' ')} {int(counts.sum()):,}"))
    ax.set_yticks(places, [plain(word, 24) for word in table["ended"]], parse_math=False)
    ax.set_ylim(min(-0.6, len(table) - 4.4), len(table) - 0.4)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=6))
    ax.set_xlabel("games")
    if titles:
        add_titles(ax, look, *headline(shown.sample, player, "How games ended"))
    add_legend(ax, look, entries, footer_text(table.attrs, shown.marks) if footer else "")
    return ax
