"""The report of one player: results, time used and left, habits under pressure, lag, and the games behind them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from exporters.measures.source import Plies, among
from exporters.report.events import CAUSE_WORDS
from exporters.report.page import clock_text, plain_name, render_page
from exporters.report.pictures import player_panels
from exporters.report.player_measures import PlayerTable
from exporters.report.svg import draw_board, drawings
from exporters.report.tables import (
    NOTHING,
    CellText,
    Section,
    Table,
    clock,
    control_words,
    day_text,
    from_rows,
    game_kind,
    known,
    lead_text,
    linked,
    linked_text,
    marks_of,
    number,
    percent,
    percent_text,
    result_text,
    score_cells,
    seconds_text,
    signed,
    text_of,
    took,
    word,
)
from exporters.tables.facts import ChosenPlayer, NamedPlayer, choose_player, reason_words
from recorder.errors import ExportError
from recorder.filters import filter_control
from recorder.ledger import Cause
from recorder.text import plural

if TYPE_CHECKING:
    import pandas as pd

    from exporters.report.page import Site
    from exporters.report.player_measures import PlayerTables

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
    sections = [
        Section(
            "Time controls and variants",
            "controls",
            _some(_result_table(profile, site, filters or {}, games or {}), _usage(profile)),
            _USAGE,
        ),
        Section("Time left", "left", _some(_left(of["left"]), _by_phase(of["left by phase"])), _TIME_LEFT),
        Section("Thinking by phase", "phases", _some(_phases(of["phases"]), _follows(of["follows"])), _PHASES),
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
_TIME_LEFT = (
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


def _result_table(
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


def _leads(found: PlayerTable) -> Table | None:
    columns = {
        "After move": number("move_no"),
        "Lead": lambda row: lead_text(row["lead_from_s"], row["lead_to_s"]),
        "Games": number("sides"),
        **_SCORES,
    }
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
        columns = {heading: partial(_seconds_of, what), **_BAD}
        yield from_rows(f"Blunders by {heading[0].lower()}{heading[1:]}", of[f"loss by {what}"], columns)


def _seconds_of(what: str, row: Any) -> str:
    return seconds_text(row[f"{what}_from_s"], row[f"{what}_to_s"])


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
    return f"Without a date and zone, not shown: {plural(plies, 'ply', 'plies')}." if plies else ""


def _residuals(found: PlayerTable) -> Table | None:
    columns = {
        "The clock adds up": lambda row: CAUSE_WORDS.get(Cause(row["cause"]), "not, for an unknown reason"),
        "Moves": number("plies"),
        "Share": percent("share"),
        "Least residual": signed("least_ms"),
        "Most": signed("most_ms"),
    }
    return from_rows("Clock before − time taken + increment = clock after", found, columns)


_Row: TypeAlias = "Mapping[str, Any]"
"""A side of a game, by the names of columns."""
BoardsOf: TypeAlias = "Callable[[Sequence[tuple[str, int]]], Mapping[tuple[str, int], str]]"
"""The boards of games, by key and half-moves played, as far as they are known."""

MOST_GAMES = 1000
"""The most games that the page lists; its figures are of all games."""
_FEW_GAMES = 20
"""Games on a page beside a list that has all of them."""
_MOST_THINKS = 10
_MOST_OPPONENTS = 20
_MOST_OPENINGS = 20


def player_of_handle(sides: Sequence[_Row], player: str) -> ChosenPlayer:
    """The player of a handle, over all servers of the games; guests are never pooled.

    ExportError: the handle is that of several guests, or of no player.
    """
    games: dict[tuple[str, str, bool | None], set[str]] = {}
    for row in sides:
        if row["player"].lower() != player.lower():
            continue
        who = (row["player"], row["player_id"], row["player_guest"])
        games.setdefault(who, set()).add(row["key"])
    found = choose_player([NamedPlayer(*who, len(keys)) for who, keys in games.items()], player)
    if not found.identities:
        raise ExportError(f"{player} played no game of this selection.")
    return found


def games_by_server(sides: Sequence[_Row], chosen: ChosenPlayer) -> dict[str, int]:
    """The number of the player's games on each server, the largest first; ``unknown``: no log names it."""
    return _servers([row for row in sides if row["player_id"] in chosen.identities])


def player_report(plies: Plies | pd.DataFrame, sides: Sequence[_Row], **about: Any) -> bytes:
    """Make a self-contained page about one player, of what ``player_values`` takes."""
    return render_player(player_values(plies, sides, **about), about.get("site"))


def player_values(
    plies: Plies | pd.DataFrame,
    sides: Sequence[_Row],
    *,
    player: str,
    excluded: Mapping[str, int] | None = None,
    site: Site | None = None,
    filters: Mapping[str, str] | None = None,
    boards: BoardsOf | None = None,
) -> dict[str, Any]:
    """What the page of a player shows.

    ``plies`` are both sides of the player's games, ``sides`` the player's. ``excluded`` counts by reason the games that
    match the filters and are not there.
    """
    plies = Plies.of(plies)
    chosen = player_of_handle(sides, player)
    own_sides = [row for row in sides if row["player_id"] in chosen.identities]
    games = plies.in_games(among("mover_id", chosen.identities)).gathered()
    page = PlayerPage(chosen.handle, chosen.identities, {**(excluded or {}), **chosen.excluded}, filters or {})
    (values,) = _values_of(games, own_sides, [page], site, boards)
    return values


def render_player(
    values: Mapping[str, Any],
    site: Site | None,
    *,
    versus: Mapping[str, Any] | None = None,
    form: Mapping[str, Any] | None = None,
) -> bytes:
    """Make the page of a player, or of two side by side, whose pictures then have the same scales."""
    both = [dict(one) for one in (values, versus) if one is not None]
    scales: dict[str, float] = {}
    for _ in range(2 if versus else 0):
        for one in both:
            tables, own = one["measured"]
            one["charts"] = list(player_panels(tables, own, scales))
    shown = {**both[0], "one": both[0], "versus": None, "form": form}
    if versus:
        headings = dict.fromkeys(chart.heading for one in both for chart in one["charts"])
        charts = [{chart.heading: chart for chart in one["charts"]} for one in both]
        shown |= {
            "versus": both,
            "title": f"{both[0]['handle']} and {both[1]['handle']}: use of time",
            "pairs": [[(one.get(heading), heading) for one in charts] for heading in headings],
        }
    scripts = ("games.js",) if form else ()
    styles = ("board.css", "chart.css", "tables.css", *(("web.css",) if form else ()))
    return render_page("player.html", shown, styles=styles, scripts=scripts, site=site)


class PlayerPage(NamedTuple):
    """Whom a page is about; ``handle`` is as written in the last game.

    ``identities`` are the player's, as ``player_id`` has them, one for each server. ``excluded`` counts by reason the
    games with this handle that are not counted.
    """

    handle: str
    identities: frozenset[str]
    excluded: Mapping[str, int]
    filters: Mapping[str, str]


def player_pages(
    plies: Plies,
    sides: Sequence[_Row],
    pages: Sequence[PlayerPage],
    *,
    site: Site | None = None,
    boards: BoardsOf | None = None,
) -> Iterator[bytes]:
    """The pages of several players, whose measures are computed together.

    ``plies`` and ``sides`` are of all their games, both sides.
    """
    for values in _values_of(plies, sides, pages, site, boards):
        yield render_player(values, site)


def _values_of(
    plies: Plies, sides: Sequence[_Row], pages: Sequence[PlayerPage], site: Site | None, boards: BoardsOf | None
) -> Iterator[dict[str, Any]]:
    from exporters.report.player_measures import measure_players

    numbers = {identity: str(number) for number, page in enumerate(pages) for identity in page.identities}
    rows: list[list[_Row]] = [[] for _ in pages]
    for row in sides:
        if row["player_id"] in numbers:
            rows[int(numbers[row["player_id"]])].append(row)
    found = measure_players(plies, numbers)
    for nth, (page, own) in enumerate(zip(pages, rows, strict=True)):
        tables = found[str(nth)]
        sections = sections_of(tables, site, page.filters, _by_control(own))
        shown = [one._replace(tables=[table for table in one.tables if table.rows]) for one in sections]
        servers = _servers(own)
        thinks = list(_thinks(tables.longest, site, boards))
        all_games = site and site.games(**page.filters)
        listed = _newest_first(own)[: _FEW_GAMES if all_games else MOST_GAMES]
        yield {
            "title": f"{plain_name(page.handle)}: use of time",
            "description": _description(own, servers),
            "handle": plain_name(page.handle),
            "marks": [mark for mark in ("computer", "guest") if any(_is(row[f"player_{mark}"]) for row in own)],
            "facts": list(_facts(own, tables.moves, servers)),
            "left_out": [f"{plural(games, 'game')} {reason}" for reason, games in page.excluded.items()],
            "sentences": list(_sentences(tables)),
            "measured": (tables, own),
            "charts": list(player_panels(tables, own)),
            "thinks": thinks,
            "drawings": drawings(site.assets if site else None) if any(one["board"] for one in thinks) else "",
            "openings": _openings(own, site, page.filters),
            "sections": [section for section in shown if section.tables],
            "missing": _missing(table for section in sections for table in section.tables if not table.rows),
            "opponents": _opponents(own, site, page.filters),
            "games": [_game(row, site) for row in listed],
            "all_games": all_games,
            "game_count": len({row["key"] for row in own}),
            "href": site and site.player(page.handle, None),
        }


def _thinks(longest: Sequence[_Row], site: Site | None, boards: BoardsOf | None) -> Iterator[dict[str, Any]]:
    """The moves that took longest, with the boards before them."""
    rows = [row for row in longest if row["elapsed_ms"] > 0][:_MOST_THINKS]
    places = [(str(row["key"]), int(row["ply"]) - 1) for row in rows]
    drawn = boards(places) if boards else {}
    for row, place in zip(rows, places, strict=True):
        white, board = row["side"] == "white", drawn.get(place)
        exact = str(row["precision"]).endswith("milliseconds")
        yield {
            "move": f"{int(row['move_no'])}{'.' if white else '…'} {row['san']}",
            "href": site and site.game(str(row["key"]), int(row["ply"])),
            "took": clock_text(int(row["elapsed_ms"]), exact),
            "had": clock_text(int(row["clock_before_ms"]), exact) if known(row["clock_before_ms"]) else "",
            "against": plain_name(text_of(row["opponent"])),
            "control": control_words(row["time_control"]),
            "board": draw_board(board, white_below=white) if board else None,
        }


def _sentences(tables: PlayerTables) -> Iterator[str]:
    """What is special about the player's time, in at most three sentences."""
    phases = [row for row in tables.tables["phases"].rows if known(row["phase"]) and row["plies"]]
    whole_ms = sum(int(row["total_ms"]) for row in phases)
    if whole_ms:
        most = max(phases, key=lambda row: int(row["total_ms"]))
        share, mean_s = percent_text(int(most["total_ms"]) / whole_ms), float(most["mean_ms"]) / 1000
        yield f"{share} of the time goes into the {most['phase']}, where a move takes {mean_s:.1f} s on average."
    flags = tables.tables["flags"].rows
    games, lost = (sum(int(row[name]) for row in flags) for name in ("sides", "lost_on_time"))
    if games:
        with_some = [one.last_ms for one in tables.games if one.last_ms is not None]
        low = sum(ms < 10_000 for ms in with_some)
        yield (
            f"{plural(lost, 'game')} of {games:,} lost on time ({percent_text(lost / games)}); in "
            f"{plural(low, 'game')} less than 10 seconds were left at the end."
        )
    scores = []
    for ahead in (True, False):
        edge = "lead_from_s" if ahead else "lead_to_s"
        rows = [row for row in tables.tables["leads"].rows if row["move_no"] == 20 and known(row[edge])]
        rows = [row for row in rows if (row[edge] >= 0 if ahead else row[edge] <= 0)]
        wins, draws, losses = (sum(int(row[name]) for row in rows) for name in ("wins", "draws", "losses"))
        scores.append((wins + draws / 2, wins + draws + losses))
    (won, ahead_in), (won_behind, behind_in) = scores
    if ahead_in and behind_in:
        yield (
            f"Ahead on the clock after move 20 in {ahead_in:,} of {ahead_in + behind_in:,} games: the score is "
            f"{percent_text(won / ahead_in)} when ahead and {percent_text(won_behind / behind_in)} when behind."
        )


def _is(value: Any) -> bool:
    """Whether it is known to be true."""
    return known(value) and bool(value)


def _servers(own: Sequence[_Row]) -> dict[str, int]:
    """As ``games_by_server``, of the rows of the player's sides."""
    found = Counter(server for _, server in {(row["key"], text_of(row["server"]) or "unknown") for row in own})
    return dict(sorted(found.items(), key=lambda one: (-one[1], one[0])))


def _by_control(own: Sequence[_Row]) -> Counter[tuple[str, str, str | None]]:
    """Games by time control, variant and outcome, as filters name them; None: of any outcome."""
    found: Counter[tuple[str, str, str | None]] = Counter()
    for row in own:
        control, variant = str(row["time_control"]), str(row["variant"])
        found[control, variant, None] += 1
        if known(row["score"]):
            found[control, variant, {1.0: "win", 0.5: "draw", 0.0: "loss"}[float(row["score"])]] += 1
    return found


def _newest_first(own: Sequence[_Row]) -> list[_Row]:
    """The games that the page lists; those without a date follow those with one."""
    dated, undated = ([row for row in own if known(row["day"]) is so] for so in (True, False))
    return [*dated[::-1], *undated][:MOST_GAMES]


def _period(own: Sequence[_Row]) -> str:
    days = [str(row["day"]) for row in own if known(row["day"])]
    return "" if not days else min(days) if min(days) == max(days) else f"{min(days)} to {max(days)}"


def _description(own: Sequence[_Row], servers: Mapping[str, int]) -> str:
    (first, *others) = servers
    server = f"{len(servers)} servers" if others else "server unknown" if first == "unknown" else first
    games = plural(len({row["key"] for row in own}), "game")
    return " · ".join(part for part in (server, _period(own), games) if part)


def _results(own: Sequence[_Row]) -> tuple[int, int, int]:
    """How many games were won, drawn and lost."""
    scores = [float(row["score"]) for row in own if known(row["score"])]
    return scores.count(1.0), scores.count(0.5), scores.count(0.0)


def _tally(own: Sequence[_Row]) -> str:
    wins, draws, losses = _results(own)
    decided = wins + draws + losses
    if not decided:
        return "no game with a result"
    share = percent_text((wins + draws / 2) / decided)
    without = len(own) - decided
    results = f"{plural(wins, 'win')}, {plural(draws, 'draw')}, {plural(losses, 'loss', 'losses')}: {share}"
    return results + (f"; {plural(without, 'game')} without a result" if without else "")


def _facts(own: Sequence[_Row], moves: int, servers: Mapping[str, int]) -> Iterator[tuple[str, str]]:
    if len(servers) > 1:
        counts = ", ".join(f"{name} ({number:,})" for name, number in servers.items())
        yield "Servers", f"{counts}: one handle, maybe of several people"
    else:
        yield "Server", next(iter(servers))
    yield "Games", f"{len({row['key'] for row in own}):,}, with {plural(moves, 'move')} of this player"
    yield "Results", _tally(own)
    rated = [row for row in own if known(row["player_rating"])]
    ratings = [int(row["player_rating"]) for row in rated]
    if ratings:
        dated = [int(row["player_rating"]) for row in rated if known(row["day"])]  # games without a date come last
        low, high, last = min(ratings), max(ratings), (dated or ratings)[-1]
        yield "Rating", str(last) if low == high else f"{low} to {high}, {last} in the last game; of all kinds of games"
    days, undated = _period(own), sum(not known(row["day"]) for row in own)
    if days:
        yield "Period", days + (f"; {plural(undated, 'game')} without a date" if undated else "")
    colours = Counter(str(row["side"]) for row in own)
    yield "Colours", f"White {colours['white']:,}, Black {colours['black']:,}"
    machines = sum(_is(row["opponent_computer"]) for row in own)
    if machines:
        yield "Against computers", plural(machines, "game")
    partly = sum(not row["complete"] for row in own)
    if partly:
        yield "Not complete", f"{plural(partly, 'game')}: what was not seen is not made up"


def _missing(tables: Iterable[Table]) -> str:
    """One line about the tables without rows, each with what it excludes."""
    notes = [(table.caption, table.note.removesuffix(".").replace("Excluded:", "excluded:")) for table in tables]
    names = [f"{caption} ({note})" if note else caption for caption, note in notes]
    return f"No data: {'; '.join(names)}." if names else ""


def _opponents(own: Sequence[_Row], site: Site | None, filters: Mapping[str, str]) -> Table | None:
    """The player's opponents, the most frequent first; guests in one row, because they are unknown."""
    guests = [row for row in own if _is(row["opponent_guest"])]
    groups: dict[str, list[_Row]] = {}
    for row in own:
        if not _is(row["opponent_guest"]):
            groups.setdefault(str(row["opponent_id"]), []).append(row)
    handles = Counter(str(group[-1]["opponent"]).lower() for group in groups.values())
    rows = []
    for _, group in sorted(groups.items()):
        handle = str(group[-1]["opponent"])
        marks = [text_of(group[-1]["server"]) or "server unknown"] if handles[handle.lower()] > 1 else []
        marks += ["computer"] if any(_is(row["opponent_computer"]) for row in group) else []
        name = plain_name(handle) + (f" ({', '.join(marks)})" if marks else "")
        rows.append((len(group), name, handle, group))
    rows.sort(key=lambda row: (-row[0], row[1].lower()))
    shown, more = rows[:_MOST_OPPONENTS], rows[_MOST_OPPONENTS:]
    cells: list[Sequence[CellText]] = [_against(group, name, handle, site, filters) for _, name, handle, group in shown]
    if guests:
        cells.append(["guests, together", *_score_cells(guests)])
    if not cells:
        return None
    note = f"{plural(len(more), 'opponent')} with fewer games not listed." if more else ""
    return Table("Opponents by games", ("Opponent", "Games", "Won", "Drawn", "Lost", "Score"), cells, note=note)


def _against(
    group: Sequence[_Row], name: str, handle: str, site: Site | None, filters: Mapping[str, str]
) -> Sequence[CellText]:
    """The row of an opponent: the name leads to the player's page, the numbers to the games."""
    if site is None:
        return [name, *_score_cells(group)]
    server = text_of(group[-1]["server"]) or None
    chosen = {**filters, "opponent": handle, **({} if server is None else {"server": server})}
    return [linked_text(name, site.player(handle, server)), *_scores(group, site, chosen)]


def _score_cells(group: Sequence[_Row]) -> list[str]:
    return score_cells(len(group), *_results(group))


def _scores(group: Sequence[_Row], site: Site | None, chosen: Mapping[str, str]) -> list[CellText]:
    """Return games, won, drawn and lost, each leading to its games, and the score."""
    cells = _score_cells(group)
    if site is None:
        return [*cells]
    outcomes: tuple[dict[str, str], ...] = ({}, {"outcome": "win"}, {"outcome": "draw"}, {"outcome": "loss"})
    counts = [
        linked_text(cell, site.games(**chosen, **outcome)) for cell, outcome in zip(cells, outcomes, strict=False)
    ]
    return [*counts, *cells[len(counts) :]]


def _openings(own: Sequence[_Row], site: Site | None, filters: Mapping[str, str]) -> Table | None:
    """The openings of the player's games by ECO code and colour, the most frequent first."""
    found: dict[tuple[str, str], list[_Row]] = {}
    for row in own:
        if known(row["eco"]):
            found.setdefault((str(row["eco"]), str(row["side"])), []).append(row)
    if not found:
        return None
    groups = sorted(found.items(), key=lambda one: (-len(one[1]), one[0][0], one[0][1] == "black"))
    cells: list[Sequence[CellText]] = []
    for (eco, side), group in groups[:_MOST_OPENINGS]:
        ((family, _),) = Counter(str(row["opening"]).partition(": ")[0] for row in group).most_common(1)
        chosen = {**filters, "colour": side, "eco": eco}
        cells.append([f"{eco} {family}", side.capitalize(), *_scores(group, site, chosen)])
    left = len(groups) - len(cells)
    notes = [f"{plural(left, 'row')} with fewer games not listed." if left else ""]
    without = sum(not known(row["eco"]) for row in own)
    notes.append(f"{plural(without, 'game')} without a named opening." if without else "")
    headings = ("ECO code, usual name", "Colour", "Games", "Won", "Drawn", "Lost", "Score")
    return Table("Openings by games", headings, cells, note=" ".join(filter(None, notes)))


def _game(row: Mapping[str, Any], site: Site | None) -> dict[str, Any]:
    key = str(row["key"])
    score = {1.0: "won", 0.5: "drawn", 0.0: "lost"}[float(row["score"])] if known(row["score"]) else ""
    return {
        "key": key[:8],
        "link": None if site is None else site.game(key),
        "day": day_text(row["started_ms"], str(row["time_basis"]), row["day"]),
        "side": str(row["side"]).capitalize(),
        "rating": f"{int(row['player_rating'])}" if known(row["player_rating"]) else NOTHING,
        "opponent": plain_name(str(row["opponent"])),
        "opponent_link": None if site is None else site.player(str(row["opponent"]), text_of(row["server"]) or None),
        "opponent_rating": f"{int(row['opponent_rating'])}" if known(row["opponent_rating"]) else "",
        "marks": marks_of(row, "opponent"),
        "kind": game_kind(row),
        "control": control_words(row["time_control"]),
        "score": score or result_text("*", str(row["ending"])),
        "reason": reason_words(text_of(row["reason"]) or None),
        "plies": f"{int(row['plies']):,}" + ("" if row["complete"] else " *"),
    }
