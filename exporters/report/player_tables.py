"""The measures of a player as the tables of the player's page."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from exporters.report.events import CAUSE_WORDS
from exporters.report.page import count, plain_name
from exporters.report.player_measures import PlayerTable
from exporters.report.tables import (
    NOTHING,
    AnyCell,
    Section,
    Table,
    clock,
    control_words,
    from_rows,
    known,
    linked,
    number,
    percent,
    percent_text,
    signed,
    took,
    what_counts,
    word,
)
from recorder.filters import filter_control
from recorder.ledger import Cause

if TYPE_CHECKING:
    from exporters.report.page import Site
    from exporters.report.player_measures import PlayerTables

_MOST_THINKS = 20
_WEEKDAYS = ("", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def sections_of(
    found: PlayerTables,
    site: Site | None = None,
    filters: Mapping[str, str] | None = None,
    games: Mapping[tuple[str, str, str | None], int] | None = None,
) -> list[Section]:
    """Return the sections with measures of one player that have something to show.

    ``games`` counts those of each time control, variant and outcome (None: all), with those that a measure
    excludes.
    """
    of = found.tables
    profile = of["profile"]
    longest = _longest(found.longest, what_counts(profile.attrs), site)
    sections = [
        Section(
            "Time controls and variants",
            "controls",
            _some(_results(profile, site, filters or {}, games or {}), _usage(profile)),
            _USAGE,
        ),
        Section("Time left", "left", _some(_left(of["left"]), _by_phase(of["left by phase"])), _LEFT),
        Section("Thinking by phase", "phases", _some(_phases(of["phases"]), _follows(of["follows"])), _PHASES),
        Section("Longest thinks", "thinks", _some(longest)),
        Section("Under pressure", "pressure", _some(_scrambles(of["scrambles"]), _flags(of["flags"])), _PRESSURE),
        Section(
            "Ahead or behind on the clock",
            "leads",
            _some(_leads(of["leads"]), _budget(of["budget"]), _odds(of["odds"])),
            _LEADS,
        ),
        Section("Blunders", "blunders", _judged(of) if "blunders" in of else [], _BLUNDERS),
        Section("Lag", "lag", _some(_lag(of["lag"], of["opponents' lag"])), _LAG),
        Section("When games are played", "hours", _some(_hours(of["hours"]), _weekdays(of["weekdays"])), _HOURS),
        Section("Do the clocks add up", "ledger", _some(_residuals(of["residuals"])), ""),
    ]
    return [section for section in sections if section.tables]


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


def _results(
    profile: PlayerTable,
    site: Site | None,
    filters: Mapping[str, str],
    games: Mapping[tuple[str, str, str | None], int],
) -> Table | None:
    """Results. A number leads to its games, except if the measure excludes some that the filters would list."""
    counts = {"Games": number("games"), **_SCORES}

    def to_games(name: str, row: Any) -> str | None:
        if site is None or not known(row["time_control"]) or not known(row["variant"]):
            return None
        control, variant, outcome = str(row["time_control"]), str(row["variant"]), _OUTCOMES[name]
        if counts[name](row) != f"{games.get((control, variant, outcome), 0):,}":
            return None
        chosen = {**filters, "time": filter_control(control), "variant": variant}
        return site.games(**chosen, **({} if outcome is None else {"outcome": outcome}))

    linked_counts = {
        name: linked(cell, partial(to_games, name)) if name in _OUTCOMES else cell for name, cell in counts.items()
    }
    return from_rows(
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


def _usage(profile: PlayerTable) -> Table | None:
    return from_rows(
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


def _left(found: PlayerTable) -> Table | None:
    columns = {"Time control": _control, "After move": number("move_no"), **_CLOCKS}
    return from_rows("Time left after moves 10, 20, 30 and 40", found, columns)


def _by_phase(found: PlayerTable) -> Table | None:
    columns = {"Time control": _control, "Phase": word("phase"), **_CLOCKS}
    return from_rows("Time left when a phase begins", found, columns, words=(0, 1))


def _phases(found: PlayerTable) -> Table | None:
    whole_ms = sum(int(row["total_ms"]) for row in found.rows)
    columns = {
        "Phase": lambda row: word("phase")(row) if known(row["phase"]) else "no phase",
        "Games": number("games"),
        "Moves": number("plies"),
        "Share of the time": lambda row: percent_text(int(row["total_ms"]) / whole_ms) if whole_ms else NOTHING,
        "Mean": took("mean_ms"),
        "Median": took("median_ms"),
        "95 %": took("p95_ms"),
        "Longest": took("longest_ms"),
    }
    return from_rows("Time for a move by phase", found, columns)


def _follows(found: PlayerTable) -> Table | None:
    columns = {
        "Time control": _control,
        "Games": number("games"),
        "Pairs of thinks": number("pairs"),
        "Correlation": lambda row: (
            f"{float(row['correlation']):+.2f}".replace("-", "−") if known(row["correlation"]) else "–"
        ),
    }
    return from_rows("Does a long think follow a long think", found, columns)


def _longest(longest: list[dict[str, Any]], note: str, site: Site | None) -> Table | None:
    thought = [row for row in longest if row["elapsed_ms"] > 0]
    shown = thought[:_MOST_THINKS]

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
    found = PlayerTable(shown, {})
    table = from_rows("The moves that took longest", found, columns, words=(0, 3, 4, 5, 6), note=note)
    more = len(thought) - len(shown)
    if table is None or not more:
        return table
    return table._replace(note=f"{count(more, 'more move')} took as long as the last of these. {table.note}")


def _scrambles(found: PlayerTable) -> Table | None:
    columns = {
        "Time control": _control,
        "Games": number("games"),
        "With a scramble": number("scrambled"),
        "Plies in scrambles": number("plies"),
        "Of all plies": percent("ply_share"),
        "Median time": took("median_ms"),
    }
    return from_rows("Scrambles, both sides' moves", found, columns)


def _flags(found: PlayerTable) -> Table | None:
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
    return from_rows("How near to the flag", found, columns)


def _band(row: Any) -> str:
    low, high = row["lead_from_s"], row["lead_to_s"]
    if not known(low):
        return f"more than {-int(high)} s behind"
    if not known(high):
        return f"{int(low)} s ahead or more"
    return f"{int(low)} to {int(high)} s".replace("-", "−")


def _leads(found: PlayerTable) -> Table | None:
    columns = {"After move": number("move_no"), "Lead": _band, "Games": number("sides"), **_SCORES}
    return from_rows("Score by lead on the clock", found, columns, words=(0, 1))


def _budget(found: PlayerTable) -> Table | None:
    columns = {
        "Time control": _control,
        "Games": number("games"),
        "Moves with more than even": percent("ahead_share"),
        "Median": signed("median_ms"),
        "Least": signed("least_ms"),
        "Most": signed("most_ms"),
    }
    return from_rows("Clock against even spending", found, columns)


def _odds(found: PlayerTable) -> Table | None:
    columns = {
        "Own time": _control,
        "Opponent's": lambda row: control_words(row["opponent_time_control"]),
        "Games": number("games"),
        **_SCORES,
    }
    return from_rows("Games with time odds", found, columns, words=(0, 1), note="")


_BAD: dict[str, Callable[[Any], str]] = {
    "Moves judged": number("plies"),
    "Inaccuracies": number("inaccuracies"),
    "Mistakes": number("mistakes"),
    "Blunders": number("blunders"),
    "Blunders of moves": percent("blunder_share"),
    "Pawns lost a move": lambda row: f"{int(row['mean_loss_cp']) / 100:.2f}",
}


def _judged(of: Mapping[str, PlayerTable]) -> list[Table]:
    columns = {"Time": lambda row: "little" if row["time_trouble"] else "enough", **_BAD}
    blunders = from_rows("Blunders with little time and with enough", of["blunders"], columns)
    return _some(blunders, *_losses(of))


def _losses(of: Mapping[str, PlayerTable]) -> Iterator[Table | None]:
    columns: dict[str, Callable[[Any], str]]
    for what, heading in (("clock", "Clock before the move"), ("think", "Time for the move")):
        columns = {heading: partial(_seconds, what), **_BAD}
        yield from_rows(f"Blunders by {heading[0].lower()}{heading[1:]}", of[f"loss by {what}"], columns)


def _seconds(what: str, row: Any) -> str:
    low, high = row[f"{what}_from_s"], row[f"{what}_to_s"]
    if not known(low):
        return f"below {int(high)} s"
    return f"{int(low)} to {int(high)} s" if known(high) else f"{int(low)} s or more"


def _lag(own: PlayerTable, theirs: PlayerTable) -> Table | None:
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
    tables = [(who, from_rows("", found, columns)) for who, found in (("Player", own), ("Opponents", theirs))]
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


def _hours(found: PlayerTable) -> Table | None:
    there = found._replace(rows=[row for row in found.rows if known(row["hour"])])
    columns = {"Hour (UTC)": lambda row: f"{int(row['hour'])}:00", **_WHEN}
    return from_rows("By hour of the day", there, columns, note=_undated(found, "hour"))


def _weekdays(found: PlayerTable) -> Table | None:
    there = found._replace(rows=[row for row in found.rows if known(row["weekday"])])
    columns = {"Day": lambda row: _WEEKDAYS[int(row["weekday"])], **_WHEN}
    return from_rows("By day of the week", there, columns, note=_undated(found, "weekday"))


def _undated(found: PlayerTable, name: str) -> str:
    plies = sum(int(row["plies"]) for row in found.rows if not known(row[name]))
    return f"Without a date and zone, not shown: {count(plies, 'ply', 'plies')}." if plies else ""


def _residuals(found: PlayerTable) -> Table | None:
    columns = {
        "The clock adds up": lambda row: CAUSE_WORDS.get(Cause(row["cause"]), "not, for an unknown reason"),
        "Moves": number("plies"),
        "Share": percent("share"),
        "Least residual": signed("least_ms"),
        "Most": signed("most_ms"),
    }
    return from_rows("Clock before − time taken + increment = clock after", found, columns)
