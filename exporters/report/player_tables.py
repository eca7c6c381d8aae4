"""The measures of one player as tables of a page."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from exporters import measures
from exporters.report.events import CAUSE_WORDS
from exporters.report.page import count, plain_name
from exporters.report.tables import (
    AnyCell,
    Section,
    Table,
    clock,
    control_words,
    from_frame,
    known,
    linked,
    number,
    percent,
    signed,
    took,
    what_counts,
    word,
)
from recorder.ledger import Cause

if TYPE_CHECKING:
    import pandas as pd

    from exporters.report.page import Site

__all__ = ["sections_of"]

_PLAYER = "player"
_THINKS = 10
_MOST_THINKS = 20
_WEEKDAYS = ("", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def sections_of(
    games: pd.DataFrame, own: pd.DataFrame, site: Site | None = None, filters: Mapping[str, str] | None = None
) -> list[Section]:
    """The measures of one player; docs/reference/measures.md defines them.

    Args:
        games: the ply frame of the player's games, both sides. own: the player's plies of them.
        site: that the page is part of. filters: that choose the player's games there, by their names in addresses.
    Returns:
        The sections that have something to show.
    """
    profile = measures.profile(own, by=("time_control", "variant"))
    found = [
        Section(
            "Time controls and variants",
            "controls",
            _some(_results(profile, site, filters or {}), _usage(profile)),
            _USAGE,
        ),
        Section("Time left", "left", _some(_left(own), _by_phase(own)), _LEFT),
        Section("Thinking by phase", "phases", _some(_phases(own), _follows(own)), _PHASES),
        Section("Longest thinks", "thinks", _some(_longest(own, what_counts(profile), site))),
        Section("Under pressure", "pressure", _some(_scrambles(games), _flags(own)), _PRESSURE),
        Section("Ahead or behind on the clock", "leads", _some(_leads(own), _budget(own), _odds(games, own)), _LEADS),
        Section("Blunders", "blunders", _judged(own), _BLUNDERS),
        Section("Lag", "lag", _some(_lag(games, own)), _LAG),
        Section("When games are played", "hours", _some(_hours(own), _weekdays(own)), _HOURS),
        Section("Do the clocks add up", "ledger", _some(_residuals(own)), ""),
    ]
    return [section for section in found if section.tables]


_USAGE = (
    "Times are what the server charged for the move. Instant: moves that cost a tenth of a second at most, first moves "
    "not counted; unknown with whole seconds. 95 %: as many of the moves took no longer."
)
_LEFT = (
    "The player's own clock after the move, with the increment that it earned, and before the first move of a phase."
)
_PHASES = (
    "Middlegame: at most ten pieces besides kings and pawns are left, or a first rank is thin; endgame: six or fewer. "
    "First moves are not counted. The correlation goes from −1 to 1: above 0 a long think follows a long think."
)
_PRESSURE = (
    "A scramble: both clocks are below 30 seconds. The lowest clock of a game is that after a move of the player."
)
_LEADS = (
    "Lead: own clock less the opponent's after both have made the move. Even spending: the base time in equal parts."
)
_BLUNDERS = (
    "By engines' evaluations: an inaccuracy lost 5 points or more of a hundred of the chances of winning, a mistake "
    "10, a blunder 15. Little time, before the move: less than a tenth of the base time, but at least 5 and at most 30 "
    "seconds."
)
_LAG = "Lag belongs to the mover. A sealed player gets it back; it is measured by the player's own program."
_HOURS = "By the arrival of the moves, in UTC."


def _some(*tables: Table | None) -> list[Table]:
    return [table for table in tables if table is not None]


def _control(row: Any) -> str:
    return control_words(row["time_control"])


def _variant(row: Any) -> str:
    return str(row["variant"]) if known(row["variant"]) else "unknown"


def _rating(row: Any) -> str:
    low, high = row["rating_least"], row["rating_most"]
    if not known(low):
        return "–"
    return str(int(low)) if low == high else f"{int(low)} to {int(high)}"


_SCORES = {"Won": number("wins"), "Drawn": number("draws"), "Lost": number("losses"), "Score": percent("score")}


_OUTCOMES = {"Games": None, "Won": "win", "Drawn": "draw", "Lost": "loss"}
"""Columns of games, and the filter of a list that has them."""


def _to_games(site: Site | None, filters: Mapping[str, str], outcome: str | None) -> Callable[[Any], str | None]:
    """What makes the address of the games of a row of results."""

    def href(row: Any) -> str | None:
        if site is None or not known(row["time_control"]) or not known(row["variant"]):
            return None
        control = str(row["time_control"])
        chosen = {**filters, "time": "0+0" if control == "-" else control, "variant": str(row["variant"])}
        return site.games(**chosen, **({} if outcome is None else {"outcome": outcome}))

    return href


def _results(profile: pd.DataFrame, site: Site | None, filters: Mapping[str, str]) -> Table | None:
    counts = {"Games": number("games"), **_SCORES}
    linked_counts = {
        name: linked(cell, _to_games(site, filters, _OUTCOMES[name])) if name in _OUTCOMES else cell
        for name, cell in counts.items()
    }
    return from_frame(
        "Results by time control and variant",
        profile,
        {
            "Time control": _control,
            "Variant": _variant,
            **linked_counts,
            "Lost on time": number("lost_on_time"),
            "Rating": _rating,
            "Total time": took("total_ms"),
            "Lowest clock": clock("lowest_ms"),
        },
        words=(0, 1),
    )


def _usage(profile: pd.DataFrame) -> Table | None:
    return from_frame(
        "Time for a move by time control and variant",
        profile,
        {
            "Time control": _control,
            "Variant": _variant,
            "Moves": number("plies"),
            "Mean": took("mean_ms"),
            "Median": took("median_ms"),
            "95 %": took("p95_ms"),
            "Longest": took("longest_ms"),
            "Instant": percent("instant_share"),
            "In the opening": percent("opening_share"),
            "Middlegame": percent("middlegame_share"),
            "Endgame": percent("endgame_share"),
        },
        words=(0, 1),
        note="The same games and plies.",
    )


def _quartiles(row: Any) -> str:
    return f"{clock('q25_ms')(row)} to {clock('q75_ms')(row)}"


_CLOCKS: dict[str, Callable[[Any], str]] = {
    "Games": number("sides"),
    "Median": clock("median_ms"),
    "Middle half": _quartiles,
    "Least": clock("least_ms"),
    "Most": clock("most_ms"),
}


def _left(own: pd.DataFrame) -> Table | None:
    columns = {"Time control": _control, "After move": number("move_no"), **_CLOCKS}
    return from_frame("Time left after moves 10, 20, 30 and 40", measures.time_left(own), columns)


def _by_phase(own: pd.DataFrame) -> Table | None:
    columns = {"Time control": _control, "Phase": word("phase"), **_CLOCKS}
    return from_frame("Time left when a phase begins", measures.time_left_by_phase(own), columns, words=(0, 1))


def _phases(own: pd.DataFrame) -> Table | None:
    columns = {
        "Phase": lambda row: word("phase")(row) if known(row["phase"]) else "no phase",
        "Games": number("games"),
        "Moves": number("plies"),
        "Share of the time": percent("share"),
        "Mean": took("mean_ms"),
        "Median": took("median_ms"),
        "95 %": took("p95_ms"),
        "Longest": took("longest_ms"),
    }
    thinks = measures.time_usage(own, by="phase", first_moves=False)
    return from_frame("Time for a move by phase", thinks, columns)


def _follows(own: pd.DataFrame) -> Table | None:
    columns = {
        "Time control": _control,
        "Games": number("games"),
        "Pairs of thinks": number("pairs"),
        "Correlation": lambda row: (
            f"{float(row['correlation']):+.2f}".replace("-", "−") if known(row["correlation"]) else "–"
        ),
    }
    return from_frame("Does a long think follow a long think", measures.autocorrelation(own), columns)


def _longest(own: pd.DataFrame, note: str, site: Site | None) -> Table | None:
    found = measures.longest_thinks(own, _THINKS)
    thought = found[found["elapsed_ms"] > 0]
    shown = thought.head(_MOST_THINKS)

    def at_move(row: Any) -> str | None:
        ply = int(row["move_no"]) * 2 - (row["side"] == "white")
        return None if site is None else site.game(str(row["key"]), ply)

    columns: dict[str, AnyCell] = {
        "Move": linked(
            lambda row: f"{int(row['move_no'])}{'.' if row['side'] == 'white' else '…'} {row['san']}", at_move
        ),
        "Took": took("elapsed_ms"),
        "Had": clock("clock_before_ms"),
        "Against": lambda row: plain_name(word("opponent")(row)),
        "Time control": _control,
        "Phase": word("phase"),
        "Game": linked(
            lambda row: str(row["key"])[:8], lambda row: None if site is None else site.game(str(row["key"]))
        ),
    }
    table = from_frame("The moves that took longest", shown, columns, words=(0, 3, 4, 5, 6), note=note)
    more = len(thought) - len(shown)
    if table is None or not more:
        return table
    return table._replace(note=f"{count(more, 'more move')} took as long as the last of these. {table.note}")


def _scrambles(games: pd.DataFrame) -> Table | None:
    columns = {
        "Time control": _control,
        "Games": number("games"),
        "With a scramble": number("scrambled"),
        "Plies in scrambles": number("plies"),
        "Of all plies": percent("ply_share"),
        "Median time": took("median_ms"),
    }
    return from_frame("Scrambles, both sides' moves", measures.scrambles(games), columns)


def _flags(own: pd.DataFrame) -> Table | None:
    columns = {
        "Time control": _control,
        "Games": number("sides"),
        "Lost on time": number("lost_on_time"),
        "Share": percent("lost_share"),
        "Lowest clock: median": clock("median_ms"),
        "Least": clock("least_ms"),
        "Nearest escape": clock("closest_ms"),
        "Below 0": number("overstepped"),
    }
    return from_frame("How near to the flag", measures.flags(own), columns)


def _band(row: Any) -> str:
    low, high = row["lead_from_s"], row["lead_to_s"]
    if not known(low):
        return f"more than {-int(high)} s behind"
    if not known(high):
        return f"{int(low)} s ahead or more"
    return f"{int(low)} to {int(high)} s".replace("-", "−")


def _leads(own: pd.DataFrame) -> Table | None:
    columns = {"After move": number("move_no"), "Lead": _band, "Games": number("sides"), **_SCORES}
    return from_frame("Score by lead on the clock", measures.clock_lead(own), columns, words=(0, 1))


def _budget(own: pd.DataFrame) -> Table | None:
    columns = {
        "Time control": _control,
        "Games": number("games"),
        "Moves with more than even": percent("ahead_share"),
        "Median": signed("median_ms"),
        "Least": signed("least_ms"),
        "Most": signed("most_ms"),
    }
    return from_frame("Clock against even spending", measures.even_budget(own), columns)


def _odds(games: pd.DataFrame, own: pd.DataFrame) -> Table | None:
    # One player, whatever servers the games are of.
    identities = games["mover_id"].astype("string").where(~games.index.isin(own.index), _PLAYER)
    found = measures.time_odds(games.assign(mover_id=identities), by="player")
    found = found[found["player_id"] == _PLAYER]
    columns = {
        "Own time": _control,
        "Opponent's": lambda row: control_words(row["opponent_time_control"]),
        "Games": number("games"),
        **_SCORES,
    }
    return from_frame("Games with time odds", found, columns, words=(0, 1), note="")


_BAD: dict[str, Callable[[Any], str]] = {
    "Moves judged": number("plies"),
    "Inaccuracies": number("inaccuracies"),
    "Mistakes": number("mistakes"),
    "Blunders": number("blunders"),
    "Blunders of moves": percent("blunder_share"),
    "Pawns lost a move": lambda row: f"{int(row['mean_loss_cp']) / 100:.2f}",
}


def _judged(own: pd.DataFrame) -> list[Table]:
    """Nothing where these moves have no evaluations."""
    return _some(_blunders(own), *_losses(own)) if own["loss_permille"].notna().any() else []


def _blunders(own: pd.DataFrame) -> Table | None:
    columns = {"Time": lambda row: "little" if row["time_trouble"] else "enough", **_BAD}
    return from_frame("Blunders with little time and with enough", measures.blunders(own, by=()), columns)


def _losses(own: pd.DataFrame) -> Iterator[Table | None]:
    columns: dict[str, Callable[[Any], str]]
    for what, measure, heading in (
        ("clock", measures.loss_by_clock, "Clock before the move"),
        ("think", measures.loss_by_think, "Time for the move"),
    ):
        columns = {heading: partial(_seconds, what), **_BAD}
        yield from_frame(f"Blunders by {heading[0].lower()}{heading[1:]}", measure(own), columns)


def _seconds(what: str, row: Any) -> str:
    low, high = row[f"{what}_from_s"], row[f"{what}_to_s"]
    if not known(low):
        return f"below {int(high)} s"
    return f"{int(low)} to {int(high)} s" if known(high) else f"{int(low)} s or more"


def _lag(games: pd.DataFrame, own: pd.DataFrame) -> Table | None:
    exact = partial(took, exact=True)
    columns = {
        "Games": number("games"),
        "Moves": number("plies"),
        "Mean": exact("mean_ms"),
        "Median": exact("p50_ms"),
        "95 %": exact("p95_ms"),
        "Most": exact("longest_ms"),
        "No lag": percent("zero_share"),
        "Total": exact("total_ms"),
        "Given back": exact("given_back_ms"),
    }
    theirs = games[~games.index.isin(own.index)]
    tables = [
        (who, from_frame("", measures.lag(rows, by=()), columns))
        for who, rows in (("Player", own), ("Opponents", theirs))
    ]
    there = [(who, table) for who, table in tables if table is not None]
    if not there:
        return None
    rows = [[who, *row] for who, table in there for row in table.rows]
    note = " ".join(f"{who}: {table.note}" for who, table in there)
    return Table("Lag of a move", ("Whose", *columns), rows, note=note)


_WHEN = {
    "Games": number("games"),
    **_SCORES,
    "Moves": number("plies"),
    "Median time": took("median_ms"),
}


def _hours(own: pd.DataFrame) -> Table | None:
    found = measures.profile(own, by="hour")
    there = found[found["hour"].notna()]
    columns = {"Hour (UTC)": lambda row: f"{int(row['hour'])}:00", **_WHEN}
    return from_frame("By hour of the day", there, columns, note=_undated(found, "hour"))


def _weekdays(own: pd.DataFrame) -> Table | None:
    found = measures.profile(own, by="weekday")
    there = found[found["weekday"].notna()]
    columns = {"Day": lambda row: _WEEKDAYS[int(row["weekday"])], **_WHEN}
    return from_frame("By day of the week", there, columns, note=_undated(found, "weekday"))


def _undated(found: pd.DataFrame, name: str) -> str:
    plies = int(found.loc[found[name].isna(), "plies"].sum())
    return f"Without a date and zone, not shown: {count(plies, 'ply', 'plies')}." if plies else ""


def _residuals(own: pd.DataFrame) -> Table | None:
    columns = {
        "The clock adds up": lambda row: CAUSE_WORDS.get(Cause(row["cause"]), "not, for an unknown reason"),
        "Moves": number("plies"),
        "Share": percent("share"),
        "Least residual": signed("least_ms"),
        "Most": signed("most_ms"),
    }
    return from_frame("Clock before − time taken + increment = clock after", measures.residuals(own), columns)
