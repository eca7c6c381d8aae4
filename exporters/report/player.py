"""The report of one player: results, time used and left, habits under pressure, lag, and the games behind them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from exporters.measures.source import Plies, among
from exporters.report.charts import draw_player_charts
from exporters.report.page import count, plain_name, render_page
from exporters.report.ratings import draw_ratings
from exporters.report.tables import (
    NOTHING,
    CellText,
    Table,
    control_words,
    day_text,
    game_kind,
    known,
    linked_text,
    marks_of,
    percent_text,
    result_text,
    score_cells,
    text_of,
)
from exporters.tables.facts import ChosenPlayer, NamedPlayer, choose_player, reason_words
from recorder.errors import ExportError

if TYPE_CHECKING:
    import pandas as pd

    from exporters.report.page import Site

_Row: TypeAlias = "Mapping[str, Any]"
"""A side of a game, by the names of columns."""


MOST_GAMES = 1000
"""The most games that the page lists; its figures are of all games."""
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


def player_report(
    plies: Plies | pd.DataFrame,
    sides: Sequence[_Row],
    *,
    player: str,
    excluded: Mapping[str, int] | None = None,
    site: Site | None = None,
    filters: Mapping[str, str] | None = None,
) -> bytes:
    """Make a self-contained page about one player; the same tables give the same bytes.

    ``plies`` are both sides of the player's games, ``sides`` the player's. ``excluded`` counts by reason the games that
    match the filters and are not there.
    """
    plies = Plies.of(plies)
    chosen = player_of_handle(sides, player)
    own_sides = [row for row in sides if row["player_id"] in chosen.identities]
    games = plies.in_games(among("mover_id", chosen.identities)).gathered()
    page = PlayerPage(chosen.handle, chosen.identities, {**(excluded or {}), **chosen.excluded}, filters or {})
    (html,) = player_pages(games, own_sides, [page], site=site, pictures=True)
    return html


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
    pictures: bool = False,
) -> Iterator[bytes]:
    """The pages of several players, whose measures are computed together.

    ``plies`` and ``sides`` are of all their games, both sides. Only the page of one player has pictures; drawing them
    takes seconds.
    """
    from exporters.report.player_measures import measure_players
    from exporters.report.player_tables import sections_of

    numbers = {identity: str(number) for number, page in enumerate(pages) for identity in page.identities}
    rows: list[list[_Row]] = [[] for _ in pages]
    for row in sides:
        if row["player_id"] in numbers:
            rows[int(numbers[row["player_id"]])].append(row)
    found = measure_players(plies, numbers)
    charts, style = draw_player_charts(plies, pages[0].handle, pages[0].identities) if pictures else ([], "")
    for number, (page, own) in enumerate(zip(pages, rows, strict=True)):
        tables = found[str(number)]
        sections = sections_of(tables, site, page.filters, _by_control(own))
        shown = [one._replace(tables=[table for table in one.tables if table.rows]) for one in sections]
        servers = _servers(own)
        ratings = draw_ratings(own)
        values = {
            "title": f"{plain_name(page.handle)}: use of time",
            "description": _description(own, servers),
            "handle": plain_name(page.handle),
            "marks": [mark for mark in ("computer", "guest") if any(_is(row[f"player_{mark}"]) for row in own)],
            "facts": list(_facts(own, tables.moves, servers)),
            "left_out": [f"{count(games, 'game')} {reason}" for reason, games in page.excluded.items()],
            "ratings": ratings,
            "charts": charts,
            "openings": _openings(own, site, page.filters),
            "sections": [section for section in shown if section.tables],
            "missing": _missing(table for section in sections for table in section.tables if not table.rows),
            "opponents": _opponents(own, site, page.filters),
            "games": [_game(row, site) for row in _newest_first(own)],
            "game_count": len({row["key"] for row in own}),
        }
        styles = ("tables.css", "ratings.css") if ratings else ("tables.css",)
        yield render_page("player.html", values, styles=styles, more_style=style, site=site)


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
    games = count(len({row["key"] for row in own}), "game")
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
    results = f"{count(wins, 'win')}, {count(draws, 'draw')}, {count(losses, 'loss', 'losses')}: {share}"
    return results + (f"; {count(without, 'game')} without a result" if without else "")


def _facts(own: Sequence[_Row], moves: int, servers: Mapping[str, int]) -> Iterator[tuple[str, str]]:
    if len(servers) > 1:
        counts = ", ".join(f"{name} ({number:,})" for name, number in servers.items())
        yield "Servers", f"{counts}: one handle, maybe of several people"
    else:
        yield "Server", next(iter(servers))
    yield "Games", f"{len({row['key'] for row in own}):,}, with {count(moves, 'move')} of this player"
    yield "Results", _tally(own)
    rated = [row for row in own if known(row["player_rating"])]
    ratings = [int(row["player_rating"]) for row in rated]
    if ratings:
        dated = [int(row["player_rating"]) for row in rated if known(row["day"])]  # games without a date come last
        low, high, last = min(ratings), max(ratings), (dated or ratings)[-1]
        yield "Rating", str(last) if low == high else f"{low} to {high}, {last} in the last game; of all kinds of games"
    days, undated = _period(own), sum(not known(row["day"]) for row in own)
    if days:
        yield "Period", days + (f"; {count(undated, 'game')} without a date" if undated else "")
    colours = Counter(str(row["side"]) for row in own)
    yield "Colours", f"White {colours['white']:,}, Black {colours['black']:,}"
    machines = sum(_is(row["opponent_computer"]) for row in own)
    if machines:
        yield "Against computers", count(machines, "game")
    partly = sum(not row["complete"] for row in own)
    if partly:
        yield "Not complete", f"{count(partly, 'game')}: what was not seen is not made up"


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
    note = f"{count(len(more), 'opponent')} with fewer games not listed." if more else ""
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
    notes = [f"{count(left, 'row')} with fewer games not listed." if left else ""]
    without = sum(not known(row["eco"]) for row in own)
    notes.append(f"{count(without, 'game')} without a named opening." if without else "")
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
