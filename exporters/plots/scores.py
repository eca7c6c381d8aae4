"""How games went: scores by the lead on the clock, and how a player's games ended."""

from __future__ import annotations

from dataclasses import replace
from typing import Final, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator, PercentFormatter

from exporters.measures.definitions import clock_lead
from exporters.measures.program import run
from exporters.measures.source import Plies
from exporters.plots.panels import Legend, Panel
from exporters.plots.shown import Drawn, Shown, shown_of
from exporters.plots.style import LegendEntry, Theme, plain
from exporters.plots.words import EXCLUDED, Who
from exporters.tables.facts import reason_words
from recorder.errors import ExportError

_LEADS = (-20, -5, 5, 20)  # percent of the base time
_LEAD_WORDS = ("> 20 %\nbehind", "5–20 %\nbehind", "about\neven", "5–20 %\nahead", "≥ 20 %\nahead")
_REASONS = {"no clock": "without both clocks"}
_OUTCOMES = ((1.0, "won"), (0.5, "drawn"), (0.0, "lost"))


class _LeadData(NamedTuple):
    shown: Shown
    table: pd.DataFrame
    move: int

    @property
    def heading(self) -> str:
        return f"Score by clock lead at move {self.move}"


def _compute_leads(plies: Plies, who: Who, move: int = 20) -> _LeadData:
    # Black's ply, and White's next one with the clocks before it.
    decisive = who.moves(plies).where(f"move_no = CASE side WHEN 'white' THEN {move + 1} ELSE {move} END")
    table = run(clock_lead(moves=[move], edges_percent=_LEADS), decisive).frame()
    shown, scores = shown_of(Drawn(decisive, ()), about=who.games(plies), player=who.player), _scores_of(table, move)
    return _LeadData(replace(shown, attrs=scores.attrs), scores, move)


def _scores_of(table: pd.DataFrame, move: int) -> pd.DataFrame:
    """A row for each class of clock leads after move ``move`` of both sides, as shares of the side's own base time."""
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
    scores = pd.DataFrame(rows, columns=["lead", "lead_no", "sides", "score"])
    excluded = {_REASONS.get(reason, EXCLUDED[reason]): count for reason, count in table.attrs["excluded"].items()}
    scores.attrs = {"games": table.attrs["games"], "plies": table.attrs["plies"], "excluded": excluded}
    return scores


def _draw_leads(ax: Axes, look: Theme, data: _LeadData) -> Legend:
    _, table, move = data
    scores = table["score"].to_numpy(dtype=float)
    bars = ax.bar(range(len(table)), np.nan_to_num(scores), width=0.7, color=look.black, linewidth=0)
    for number, (bar, score, sides) in enumerate(zip(bars, scores, table["sides"], strict=True)):
        bar.set_gid(f"lead-{number}")
        text = f"{score:.0%}\nn = {sides:,}" if sides else "n = 0"
        ax.annotate(text, (number, 0 if np.isnan(score) else score), (0, 6), textcoords="offset points", ha="center",
                    fontsize=8, color=look.text,
                    bbox={"facecolor": look.background, "edgecolor": "none", "pad": 1})  # fmt: skip
    ax.axhline(0.5, color=look.muted, linewidth=1.0, linestyle=(0, (5, 3)), gid="even")
    ax.set_ylim(0, 1.18)
    ax.set_yticks([0, 0.25, 0.5, 0.75, 1])
    ax.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    ax.set_xticks(range(len(_LEAD_WORDS)), list(_LEAD_WORDS))
    ax.set_xlabel(f"clock lead after move {move}, of the base time")
    ax.set_ylabel("score")
    return Legend([], ("n: sides of games",), drop=12)


LEADS: Final = Panel("Score by clock lead at move 20", _compute_leads, _draw_leads)
score_by_lead = LEADS.function(
    "score_by_lead",
    """Draw the mean score of the sides that are behind, even or ahead on the clock after a given move.

    Without a player both sides of each game are shown.
    """,
    move=(20, "the move number."),
)


class _Endings(NamedTuple):
    """What ``endings`` draws: ``games`` has reason, ending, score and number of games."""

    shown: Shown
    games: list[tuple[str | None, str, float | None, int]]


def _compute_endings(plies: Plies, who: Who) -> _Endings:
    if who.player is None:
        raise ExportError("The picture endings shows the games of one player: name one.")
    own = who.moves(plies)
    shown = shown_of(Drawn(own, ()), player=who.player)
    if not shown.attrs["plies"]:
        raise ExportError(f"No data: {plain(who.player or '')} made no move in this selection.")
    games = own.sql(
        "SELECT reason, ending, mover_score, count(DISTINCT key) FROM plies GROUP BY ALL ORDER BY ALL"
    ).fetchall()
    return _Endings(shown, games)


def _results_of(data: _Endings) -> pd.DataFrame:
    """What ``endings`` draws: one row for each reason, or for each way in which the recording ended."""
    rows = []
    for reason, ending, score, games in data.games:
        ended = "reason not known" if reason is None else reason_words(reason)
        counts = (games if score == value else 0 for value, _ in _OUTCOMES)
        rows.append((ended if ending == "result" else ending, *counts, games if score is None else 0))
    table = pd.DataFrame(rows, columns=["ended", *(word for _, word in _OUTCOMES), "no_result"])
    tallied = table.groupby("ended").sum().reset_index()
    tallied["all"] = tallied[["won", "drawn", "lost", "no_result"]].sum(axis=1)
    ordered = tallied.sort_values(["all", "ended"], ascending=[False, True]).drop(columns="all").reset_index(drop=True)
    ordered.attrs = {**data.shown.attrs}
    return ordered


def _draw_endings(ax: Axes, look: Theme, data: _Endings) -> Legend:
    table = _results_of(data)
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
    return Legend(entries)


ENDINGS: Final = Panel("How games ended", _compute_endings, _draw_endings, _results_of)
endings = ENDINGS.function(
    "endings",
    """Draw how many games a player, who must be given, won, drew and lost for each reason that the server printed.
    """,
)
