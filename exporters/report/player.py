"""The report of one player: results, time used and left, habits under pressure, lag, and the games behind them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from exporters.measures.source import Plies, among
from exporters.measures.words import heading
from exporters.report.events import CAUSE_WORDS
from exporters.report.page import clock_text, plain_name, render_page
from exporters.report.pictures import player_panels
from exporters.report.svg import draw_board, drawings
from exporters.report.tables import (
    NOTHING,
    CellText,
    Section,
    Table,
    cell_text,
    control_words,
    game_cells,
    known,
    lead_text,
    linked_text,
    marks_of,
    measure_table,
    percent_text,
    period,
    rating_text,
    result_text,
    score_cells,
    seconds_text,
    text_of,
)
from exporters.tables.facts import ChosenPlayer, NamedPlayer, choose_player
from recorder.errors import ExportError
from recorder.filters import filter_control
from recorder.ledger import Cause
from recorder.text import plural

if TYPE_CHECKING:
    import pandas as pd

    from exporters.report.page import Site
    from exporters.report.player_measures import PlayerTables

_Row: TypeAlias = "Mapping[str, Any]"  # a side of a game, by the names of columns
_HEADINGS: Final = {
    "sides": "Games", "plies": "Moves", "move_no": "After move", "wins": "Won", "draws": "Drawn", "losses": "Lost",
    "p95_ms": "95 %", "total_ms": "Total time", "lost_share": "Share", "lowest_ms": "Lowest clock",
    "closest_ms": "Nearest escape", "overstepped": "Below 0", "scrambled": "With a scramble",
    "ply_share": "Of all plies", "ahead_share": "Moves with more than even", "instant_share": "Instant",
    "opening_share": "In the opening", "middlegame_share": "Middlegame", "endgame_share": "Endgame",
    "opponent_time_control": "Opponent's", "zero_share": "No lag", "given_back_ms": "Given back", "p50_ms": "Median",
    "blunder_share": "Blunders of moves", "mean_loss_cp": "Pawns lost a move", "time_trouble": "Time",
    "think": "Time for the move", "clock": "Clock before the move", "weekday": "Day", "quartiles": "Middle half",
    "cause": "The clock adds up",
}  # fmt: skip
"""What the page calls columns of measures, if not as other tables do."""
_CELLS: Final[Mapping[str, Callable[[_Row], str]]] = {
    "cause": lambda row: CAUSE_WORDS.get(Cause(row["cause"]), "not, for an unknown reason"),
    "clock": lambda row: seconds_text(row["clock_from_s"], row["clock_to_s"]),
    "lead": lambda row: lead_text(row["lead_from_s"], row["lead_to_s"]),
    "mean_loss_cp": lambda row: f"{int(row['mean_loss_cp']) / 100:.2f}",
    "phase": lambda row: row["phase"] or "no phase",
    "quartiles": lambda row: f"{cell_text('q25_ms', row)} to {cell_text('q75_ms', row)}",
    "think": lambda row: seconds_text(row["think_from_s"], row["think_to_s"]),
    "time_trouble": lambda row: "little" if row["time_trouble"] else "enough",
}
_SCORES: Final = "wins draws losses score"
_CLOCKS: Final = "sides median_ms quartiles least_ms most_ms"
_THINKS: Final = "mean_ms median_ms p95_ms longest_ms"
_LAGS: Final = "games plies mean_ms p50_ms p95_ms longest_ms zero_share total_ms given_back_ms"
_BAD: Final = "plies inaccuracies mistakes blunders blunder_share mean_loss_cp"
_WHEN: Final = f"games {_SCORES} plies median_ms"


class _Shown(NamedTuple):
    """A table of a section: its measure, caption and columns, of which the first ``words`` are aligned left."""

    measure: str
    caption: str
    columns: str
    words: int = 1
    note: str | None = None

    def table(self, measured: PlayerTables, cells: Mapping[str, Callable[[_Row], CellText]] = _CELLS) -> Table | None:
        columns = {_HEADINGS.get(name, heading(name)): cells.get(name, name) for name in self.columns.split()}
        of, lag = measured.tables.get(self.measure), self.columns is _LAGS
        if of is None:
            return None
        return measure_table(self.caption, of, columns, self.words, note=self.note, of_lag=lag)


_SECTIONS: Final = (
    (
        "Time left",
        "left",
        "The player's own clock after the move, with its increment, and before the first move of a phase.",
        _Shown("left", "Time left after moves 10, 20, 30 and 40", f"time_control move_no {_CLOCKS}"),
        _Shown("left by phase", "Time left when a phase begins", f"time_control phase {_CLOCKS}", 2),
    ),
    (
        "Thinking by phase",
        "phases",
        "Middlegame: at most ten pieces besides kings and pawns are left, or a first rank is thin; endgame: six or "
        "fewer. First moves are not counted. The correlation goes from −1 to 1: above 0 a long think follows a long "
        "think.",
        _Shown("phases", "Time for a move by phase", f"phase games plies total_ms {_THINKS}"),
        _Shown("follows", "Does a long think follow a long think", "time_control games pairs correlation"),
    ),
    (
        "Under pressure",
        "pressure",
        "A scramble: both clocks are below 30 seconds. The lowest clock of a game is that after a move of the player.",
        _Shown("scrambles", "Scrambles, both sides' moves", "time_control games scrambled plies ply_share median_ms"),
        _Shown(
            "flags",
            "How near to the flag: the lowest clocks",
            "time_control sides lost_on_time lost_share median_ms least_ms closest_ms overstepped",
        ),
    ),
    (
        "Ahead or behind on the clock",
        "leads",
        "Lead: own clock less the opponent's after both have made the move. Even spending: the base time in equal "
        "parts.",
        _Shown("leads", "Score by lead on the clock", f"move_no lead sides {_SCORES}", 2),
        _Shown("budget", "Clock against even spending", "time_control games ahead_share median_ms least_ms most_ms"),
        _Shown("odds", "Games with time odds", f"time_control opponent_time_control games {_SCORES}", 2, ""),
    ),
    (
        "Blunders",
        "blunders",
        "By engines' evaluations: an inaccuracy lost 5 points or more of a hundred of the chances of winning, a "
        "mistake 10, a blunder 15. Little time, before the move: less than a tenth of the base time, but at least 5 "
        "and at most 30 seconds.",
        _Shown("blunders", "Blunders with little time and with enough", f"time_trouble {_BAD}"),
        _Shown("loss by clock", "Blunders by clock before the move", f"clock {_BAD}"),
        _Shown("loss by think", "Blunders by time for the move", f"think {_BAD}"),
    ),
    (
        "Lag",
        "lag",
        "Lag belongs to the mover. A sealed player gets it back; it is measured by the player's own program.",
        _Shown("lag", "Lag of the player's moves", _LAGS, 0),
        _Shown("opponents' lag", "Lag of the opponents' moves", _LAGS, 0),
    ),
    (
        "When games are played",
        "hours",
        "By the arrival of the moves, in UTC.",
        _Shown("hours", "By hour of the day", f"hour {_WHEN}"),
        _Shown("weekdays", "By day of the week", f"weekday {_WHEN}"),
    ),
    (
        "Do the clocks add up",
        "ledger",
        "",
        _Shown(
            "residuals", "Clock before − time taken + increment = clock after", "cause plies share least_ms most_ms"
        ),
    ),
)
_RESULTS: Final = _Shown(
    "profile",
    "Results by time control and variant",
    f"time_control variant games {_SCORES} lost_on_time rating total_ms lowest_ms",
    2,
)
_USAGE: Final = _Shown(
    "profile",
    "Time for a move by time control and variant",
    f"time_control variant plies {_THINKS} instant_share opening_share middlegame_share endgame_share",
    2,
    "The same games and plies.",
)
_OF_USAGE: Final = (
    "Times are what the server charged for the move. Instant: moves that cost a tenth of a second at most, first moves "
    "not counted; unknown with whole seconds. 95 %: as many of the moves took no longer."
)
_OUTCOMES: Final = {"games": None, "wins": "win", "draws": "draw", "losses": "loss"}
"""Columns of games, and the filter of a list that has them."""


def sections_of(
    measured: PlayerTables,
    site: Site | None = None,
    filters: Mapping[str, str] | None = None,
    games: Mapping[tuple[str, str, str | None], int] | None = None,
) -> list[Section]:
    """The sections that have something to show; ``games`` counts by time control, variant and outcome (None: all)."""
    controls = _RESULTS.table(measured, _results(site, filters or {}, games or {})), _USAGE.table(measured)
    sections = [_section("Time controls and variants", "controls", _OF_USAGE, controls)]
    for title, name, hint, *layouts in _SECTIONS:
        sections.append(_section(title, name, hint, (layout.table(measured) for layout in layouts)))
    return [section for section in sections if section.tables]


def _section(title: str, name: str, hint: str, tables: Iterable[Table | None]) -> Section:
    return Section(title, name, [table for table in tables if table is not None], hint)


def _results(
    site: Site | None, filters: Mapping[str, str], games: Mapping[tuple[str, str, str | None], int]
) -> dict[str, Callable[[_Row], CellText]]:
    """Results: a number leads to its games, except if the measure excludes some that the filters would list."""

    def counted(column: str, row: _Row) -> CellText:
        text, control, variant, outcome = cell_text(column, row), row["time_control"], row["variant"], _OUTCOMES[column]
        if site is None or None in (control, variant) or row[column] != games.get((control, variant, outcome), 0):
            return text
        chosen = {**filters, "time": filter_control(control), "variant": variant}
        return linked_text(text, site.games(**chosen, **({} if outcome is None else {"outcome": outcome})))

    return {
        "rating": lambda row: rating_text(row["rating_least"], row["rating_most"]),
        **{name: partial(counted, name) for name in _OUTCOMES},
    }


BoardsOf: TypeAlias = "Callable[[Sequence[tuple[str, int]]], Mapping[tuple[str, int], str]]"
"""The boards of games, by key and half-moves played, as far as they are known."""

MOST_GAMES = 1000  # the most games that the page lists; its figures are of all games
_FEW_GAMES = 20  # games on a page beside a list that has all of them
_MOST_THINKS = 10
_MOST_OPPONENTS = 20
_MOST_OPENINGS = 20


def player_of_handle(sides: Sequence[_Row], player: str) -> ChosenPlayer:
    """The player of a handle, over all servers; ExportError: it is that of several guests, or of no player."""
    games: dict[tuple[str, str, bool | None], set[str]] = {}
    for row in sides:
        if row["player"].lower() != player.lower():
            continue
        who = (row["player"], row["player_id"], row["player_guest"])
        games.setdefault(who, set()).add(row["key"])
    chosen = choose_player([NamedPlayer(*who, len(keys)) for who, keys in games.items()], player)
    if not chosen.identities:
        raise ExportError(f"{player} played no game of this selection.")
    return chosen


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
    """What the page of a player shows; ``excluded`` counts by reason games that match the filters and are not there."""
    chosen = player_of_handle(sides, player)
    games = Plies.of(plies).in_games(among("mover_id", chosen.identities)).gathered()
    page = PlayerPage(chosen.handle, chosen.identities, {**(excluded or {}), **chosen.excluded}, filters or {})
    (values,) = _values_of(games, sides, [page], site, boards)
    return {**values, "page": page}


def render_player(
    values: Mapping[str, Any],
    site: Site | None,
    *,
    versus: Mapping[str, Any] | None = None,
    form: Mapping[str, Any] | None = None,
) -> bytes:
    """Make the page of a player, or of two side by side, whose pictures then have the same scales."""
    both = [dict(person) for person in (values, versus) if person is not None]
    scales: dict[str, float] = {}
    for _ in range(2 if versus else 0):
        for person in both:
            tables, own = person["measured"]
            person["charts"] = list(player_panels(tables, own, scales))
    page = {**both[0], "one": both[0], "versus": None, "form": form}
    if versus:
        headings = dict.fromkeys(chart.heading for person in both for chart in person["charts"])
        charts = [{chart.heading: chart for chart in person["charts"]} for person in both]
        page |= {
            "versus": both,
            "title": f"{both[0]['handle']} and {both[1]['handle']}: use of time",
            "drawings": both[0]["drawings"] or both[1]["drawings"],
            "pairs": [[(chart.get(heading), heading) for chart in charts] for heading in headings],
        }
    scripts = ("games.js",) if form else ()
    styles = ("board.css", "chart.css", "tables.css", *(("web.css",) if form else ()))
    return render_page("player.html", page, styles=styles, scripts=scripts, site=site)


class PlayerPage(NamedTuple):
    """Whom a page is about: the handle of the last game, and the identities, one for each server."""

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
    """The pages of several players, whose measures are computed together, of both sides of all their games."""
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
    measured = measure_players(plies, numbers)
    for nth, (page, own) in enumerate(zip(pages, rows, strict=True)):
        tables = measured[str(nth)]
        sections = sections_of(tables, site, page.filters, _by_control(own))
        filled = [section._replace(tables=[table for table in section.tables if table.rows]) for section in sections]
        servers = _servers(own)
        thinks = list(_thinks(tables.longest, site, boards))
        all_games = site and site.games(**page.filters)
        listed = _newest_first(own)[: _FEW_GAMES if all_games else MOST_GAMES]
        yield {
            "title": f"{plain_name(page.handle)}: use of time",
            "description": _description(own, servers),
            "servers": servers,
            "handle": plain_name(page.handle),
            "marks": [mark for mark in ("computer", "guest") if any(_is(row[f"player_{mark}"]) for row in own)],
            "facts": list(_facts(own, tables.moves, servers)),
            "left_out": [f"{plural(games, 'game')} {reason}" for reason, games in page.excluded.items()],
            "sentences": list(_sentences(tables)),
            "measured": (tables, own),
            "charts": list(player_panels(tables, own)),
            "thinks": thinks,
            "drawings": drawings(site.assets if site else None) if any(think["board"] for think in thinks) else "",
            "openings": _openings(own, site, page.filters),
            "sections": [section for section in filled if section.tables],
            "missing": _missing(table for section in sections for table in section.tables if not table.rows),
            "opponents": _opponents(own, site, page.filters),
            "games": [_game(row, site) for row in listed],
            "all_games": all_games,
            "game_count": len({row["key"] for row in own}),
            "href": site and site.player(page.handle, None),
        }


def _thinks(longest: Sequence[_Row], site: Site | None, boards: BoardsOf | None) -> Iterator[dict[str, Any]]:
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
    phases = [row for row in tables.tables["phases"].records() if known(row["phase"]) and row["plies"]]
    whole_ms = sum(int(row["total_ms"]) for row in phases)
    if whole_ms:
        most = max(phases, key=lambda row: int(row["total_ms"]))
        share, mean_s = percent_text(int(most["total_ms"]) / whole_ms), float(most["mean_ms"]) / 1000
        yield f"{share} of the time goes into the {most['phase']}, where a move takes {mean_s:.1f} s on average."
    flags = tables.tables["flags"].records()
    games, lost = (sum(int(row[name]) for row in flags) for name in ("sides", "lost_on_time"))
    if games:
        with_some = [game.last_ms for game in tables.games if game.last_ms is not None]
        low = sum(ms < 10_000 for ms in with_some)
        yield (
            f"{plural(lost, 'game')} of {games:,} lost on time ({percent_text(lost / games)}); in "
            f"{plural(low, 'game')} less than 10 seconds were left at the end."
        )
    scores = []
    for ahead in (True, False):
        edge = "lead_from_s" if ahead else "lead_to_s"
        rows = [row for row in tables.tables["leads"].records() if row["move_no"] == 20 and known(row[edge])]
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
    return known(value) and bool(value)


def _servers(own: Sequence[_Row]) -> dict[str, int]:
    servers = Counter(server for _, server in {(row["key"], text_of(row["server"]) or "unknown") for row in own})
    return dict(sorted(servers.items(), key=lambda item: (-item[1], item[0])))


def _by_control(own: Sequence[_Row]) -> Counter[tuple[str, str, str | None]]:
    """Games by time control, variant and outcome, as filters name them; None: of any outcome."""
    counts: Counter[tuple[str, str, str | None]] = Counter()
    for row in own:
        control, variant = str(row["time_control"]), str(row["variant"])
        counts[control, variant, None] += 1
        if known(row["score"]):
            counts[control, variant, {1.0: "win", 0.5: "draw", 0.0: "loss"}[float(row["score"])]] += 1
    return counts


def _newest_first(own: Sequence[_Row]) -> list[_Row]:
    dated, undated = ([row for row in own if known(row["day"]) is so] for so in (True, False))
    return [*dated[::-1], *undated][:MOST_GAMES]


def _period(own: Sequence[_Row]) -> str:
    days = [str(row["day"]) for row in own if known(row["day"])]
    return period((min(days), max(days)) if days else None)


def _description(own: Sequence[_Row], servers: Mapping[str, int]) -> str:
    (first, *others) = servers
    server = f"{len(servers)} servers" if others else "server unknown" if first == "unknown" else first
    games = plural(len({row["key"] for row in own}), "game")
    return " · ".join(part for part in (server, _period(own), games) if part)


def _won_drawn_lost(own: Sequence[_Row]) -> tuple[int, int, int]:
    scores = [float(row["score"]) for row in own if known(row["score"])]
    return scores.count(1.0), scores.count(0.5), scores.count(0.0)


def _tally(own: Sequence[_Row]) -> str:
    wins, draws, losses = _won_drawn_lost(own)
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
    notes = [(table.caption, table.note.removesuffix(".").replace("Excluded:", "excluded:")) for table in tables]
    names = [f"{caption} ({note})" if note else caption for caption, note in notes]
    return f"No data: {'; '.join(names)}." if names else ""


def _opponents(own: Sequence[_Row], site: Site | None, filters: Mapping[str, str]) -> Table | None:
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
    first, more = rows[:_MOST_OPPONENTS], rows[_MOST_OPPONENTS:]
    cells: list[Sequence[CellText]] = [_against(group, name, handle, site, filters) for _, name, handle, group in first]
    if guests:
        cells.append(["guests, together", *_score_cells(guests)])
    if not cells:
        return None
    note = f"{plural(len(more), 'opponent')} with fewer games not listed." if more else ""
    return Table("Opponents by games", ("Opponent", "Games", "Won", "Drawn", "Lost", "Score"), cells, note=note)


def _against(
    group: Sequence[_Row], name: str, handle: str, site: Site | None, filters: Mapping[str, str]
) -> Sequence[CellText]:
    server = text_of(group[-1]["server"]) or None
    chosen = {**filters, "opponent": handle, **({} if server is None else {"server": server})}
    return [linked_text(name, site.player(handle, server) if site else None), *_scores(group, site, chosen)]


def _score_cells(group: Sequence[_Row]) -> list[str]:
    return score_cells(len(group), *_won_drawn_lost(group))


def _scores(group: Sequence[_Row], site: Site | None, chosen: Mapping[str, str]) -> list[CellText]:
    cells = _score_cells(group)
    outcomes: tuple[dict[str, str], ...] = ({}, {"outcome": "win"}, {"outcome": "draw"}, {"outcome": "loss"})
    counts = [
        linked_text(cell, site.games(**chosen, **outcome) if site else None)
        for cell, outcome in zip(cells, outcomes, strict=False)
    ]
    return [*counts, *cells[len(counts) :]]


def _openings(own: Sequence[_Row], site: Site | None, filters: Mapping[str, str]) -> Table | None:
    openings: dict[tuple[str, str], list[_Row]] = {}
    for row in own:
        if known(row["eco"]):
            openings.setdefault((str(row["eco"]), str(row["side"])), []).append(row)
    if not openings:
        return None
    groups = sorted(openings.items(), key=lambda item: (-len(item[1]), item[0][0], item[0][1] == "black"))
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
        **game_cells(row),
        "link": None if site is None else site.game(key),
        "side": str(row["side"]).capitalize(),
        "rating": f"{int(row['player_rating'])}" if known(row["player_rating"]) else NOTHING,
        "opponent": plain_name(str(row["opponent"])),
        "opponent_link": None if site is None else site.player(str(row["opponent"]), text_of(row["server"]) or None),
        "opponent_rating": f"{int(row['opponent_rating'])}" if known(row["opponent_rating"]) else "",
        "marks": marks_of(row, "opponent"),
        "score": score or result_text("*", str(row["ending"])),
    }
