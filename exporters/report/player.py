"""The report of one player: results, time used and left, habits under pressure, lag, and the games behind them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from exporters.report.charts import draw_player_charts
from exporters.report.page import count, plain_name, render_page
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
    newest_first,
    percent_text,
    period,
    records,
    result_text,
    score_cells,
    text_of,
)
from exporters.tables.facts import ChosenPlayer, choose_player, reason_words
from recorder.errors import ExportError

if TYPE_CHECKING:
    import pandas as pd

    from exporters.report.page import Site

__all__ = ["MOST_GAMES", "games_by_server", "player_report", "player_of_handle"]

MOST_GAMES = 1000
"""The most games that the page lists; its figures are of all games."""
_MOST_OPPONENTS = 20
_MOST_OPENINGS = 20


def player_of_handle(sides: pd.DataFrame, player: str) -> ChosenPlayer:
    """The player of a handle, over all servers of the games; guests are never pooled.

    Args:
        sides: the side frame of games with this handle. player: the handle, in any case.
    Returns:
        The player, with what was excluded.
    Raises:
        ExportError: the handle is that of several guests, or of no player.
    """
    found = choose_player(sides, player, "player")
    if not found.identities:
        raise ExportError(f"{player} played no game of this selection.")
    return found


def games_by_server(sides: pd.DataFrame, chosen: ChosenPlayer) -> dict[str, int]:
    """The number of the player's games on each server, the largest first; ``unknown``: no log names it.

    Args:
        sides: the side frame of games with this handle.
        chosen: as ``player_of_handle`` returns it.
    Returns:
        Numbers of games by the server's name, in falling order.
    """
    own = sides[sides["player_id"].isin(chosen.identities)].drop_duplicates("key")
    counts = own["server"].astype("string").fillna("unknown").value_counts()
    return {str(name): int(number) for name, number in sorted(counts.items(), key=lambda one: (-one[1], str(one[0])))}


def player_report(
    plies: pd.DataFrame,
    sides: pd.DataFrame,
    *,
    player: str,
    excluded: Mapping[str, int] | None = None,
    site: Site | None = None,
    filters: Mapping[str, str] | None = None,
) -> bytes:
    """A self-contained page about one player.

    Args:
        plies: the ply frame of the player's games, both sides. sides: the side frame of the same games.
        player: the handle, in any case.
        excluded: reason → games that match the filters and are not in the frames.
        site: that the page is part of. filters: that choose the player's games there, by their names in addresses.
    Returns:
        HTML in UTF-8; the same tables give the same bytes.
    Raises:
        ExportError: the handle is not one player's (see ``player_of_handle``), or what the page needs is not installed.
    """
    from exporters.report.player_tables import sections_of

    chosen = player_of_handle(sides, player)
    own_sides = sides[sides["player_id"].isin(chosen.identities)]
    games = plies[plies["key"].isin(own_sides["key"])]
    own = games[games["mover_id"].isin(chosen.identities)]
    servers = games_by_server(sides, chosen)
    charts, style = draw_player_charts(games, chosen.handle)
    sections = sections_of(games, own, site, filters)
    shown = [one._replace(tables=[table for table in one.tables if table.rows]) for one in sections]
    values = {
        "title": f"{plain_name(chosen.handle)}: use of time",
        "description": _description(own_sides, servers),
        "handle": plain_name(chosen.handle),
        "marks": _marks(own_sides),
        "facts": list(_facts(own_sides, own, servers)),
        "left_out": [*_reasons(excluded or {}), *_reasons(chosen.excluded)],
        "charts": charts,
        "openings": _openings(own_sides, site, filters),
        "sections": [section for section in shown if section.tables],
        "missing": _missing(table for section in sections for table in section.tables if not table.rows),
        "opponents": _opponents(own_sides, site, filters),
        "games": [_game(row, site) for row in records(newest_first(own_sides, MOST_GAMES))],
        "game_count": own_sides["key"].nunique(),
    }
    return render_page("player.html", values, styles=("tables.css",), more_style=style, site=site)


def _marks(own: pd.DataFrame) -> list[str]:
    marks = ["computer"] if own["player_computer"].fillna(False).any() else []
    return [*marks, "guest"] if own["player_guest"].fillna(False).any() else marks


def _description(own: pd.DataFrame, servers: Mapping[str, int]) -> str:
    (first, *others) = servers
    server = f"{len(servers)} servers" if others else "server unknown" if first == "unknown" else first
    return " · ".join(part for part in (server, period(own["day"]), count(own["key"].nunique(), "game")) if part)


def _tally(own: pd.DataFrame) -> str:
    score = own["score"]
    wins, draws, losses = (int((score == value).sum()) for value in (1.0, 0.5, 0.0))
    decided = wins + draws + losses
    if not decided:
        return "no game with a result"
    share = percent_text((wins + draws / 2) / decided)
    without = len(own) - decided
    results = f"{count(wins, 'win')}, {count(draws, 'draw')}, {count(losses, 'loss', 'losses')}: {share}"
    return results + (f"; {count(without, 'game')} without a result" if without else "")


def _facts(own: pd.DataFrame, moves: pd.DataFrame, servers: Mapping[str, int]) -> Iterator[tuple[str, str]]:
    if len(servers) > 1:
        counts = ", ".join(f"{name} ({number:,})" for name, number in servers.items())
        yield "Servers", f"{counts}: one handle, maybe of several people"
    else:
        yield "Server", next(iter(servers))
    yield "Games", f"{own['key'].nunique():,}, with {count(len(moves), 'move')} of this player"
    yield "Results", _tally(own)
    ratings = own["player_rating"].dropna()
    if not ratings.empty:
        low, high, last = int(ratings.min()), int(ratings.max()), int(ratings.iloc[-1])
        yield "Rating", str(last) if low == high else f"{low} to {high}, {last} in the last game; of all kinds of games"
    days, undated = period(own["day"]), int(own["day"].isna().sum())
    if days:
        yield "Period", days + (f"; {count(undated, 'game')} without a date" if undated else "")
    colours = own["side"].astype("string").value_counts()
    yield "Colours", f"White {int(colours.get('white', 0)):,}, Black {int(colours.get('black', 0)):,}"
    machines = int(own["opponent_computer"].fillna(False).sum())
    if machines:
        yield "Against computers", count(machines, "game")
    partly = int((~own["complete"]).sum())
    if partly:
        yield "Not complete", f"{count(partly, 'game')}: what was not seen is not made up"


def _reasons(excluded: Mapping[str, int]) -> list[str]:
    return [f"{count(number, 'game')} {reason}" for reason, number in excluded.items()]


def _missing(tables: Iterable[Table]) -> str:
    """One line about the tables without rows, each with what it excludes."""
    notes = [(table.caption, table.note.removesuffix(".").replace("Excluded:", "excluded:")) for table in tables]
    names = [f"{caption} ({note})" if note else caption for caption, note in notes]
    return f"No data: {'; '.join(names)}." if names else ""


def _opponents(own: pd.DataFrame, site: Site | None = None, filters: Mapping[str, str] | None = None) -> Table | None:
    """The player's opponents, the most frequent first; guests in one row, because they are unknown."""
    guest = own["opponent_guest"].fillna(False).astype(bool)
    rows = []
    groups = [group for _, group in own[~guest].groupby("opponent_id", observed=True, sort=True)]
    handles = Counter(str(group["opponent"].iloc[-1]).lower() for group in groups)
    for group in groups:
        handle = str(group["opponent"].iloc[-1])
        marks = [text_of(group["server"].iloc[-1]) or "server unknown"] if handles[handle.lower()] > 1 else []
        marks += ["computer"] if group["opponent_computer"].fillna(False).any() else []
        name = plain_name(handle) + (f" ({', '.join(marks)})" if marks else "")
        rows.append((len(group), name, handle, group))
    rows.sort(key=lambda row: (-row[0], row[1].lower()))
    shown, more = rows[:_MOST_OPPONENTS], rows[_MOST_OPPONENTS:]
    cells: list[Sequence[CellText]] = [
        _against(group, name, handle, site, filters or {}) for _, name, handle, group in shown
    ]
    if guest.any():
        cells.append(["guests, together", *score_cells(own[guest])])
    if not cells:
        return None
    note = f"{count(len(more), 'opponent')} with fewer games not listed." if more else ""
    return Table("Opponents by games", ("Opponent", "Games", "Won", "Drawn", "Lost", "Score"), cells, note=note)


def _against(
    group: pd.DataFrame, name: str, handle: str, site: Site | None, filters: Mapping[str, str]
) -> Sequence[CellText]:
    """The row of an opponent: the name leads to the player's page, the numbers to the games."""
    if site is None:
        return [name, *score_cells(group)]
    server = text_of(group["server"].iloc[-1]) or None
    chosen = {**filters, "opponent": handle, **({} if server is None else {"server": server})}
    return [linked_text(name, site.player(handle, server)), *_scores(group, site, chosen)]


def _scores(group: pd.DataFrame, site: Site | None, chosen: Mapping[str, str]) -> list[CellText]:
    """Games, won, drawn and lost, each leading to its games, and the score.

    Args:
        chosen: filters that choose the group's games, by their names in addresses.
    """
    cells = score_cells(group)
    if site is None:
        return [*cells]
    outcomes: tuple[dict[str, str], ...] = ({}, {"outcome": "win"}, {"outcome": "draw"}, {"outcome": "loss"})
    counts = [
        linked_text(cell, site.games(**chosen, **outcome)) for cell, outcome in zip(cells, outcomes, strict=False)
    ]
    return [*counts, *cells[len(counts) :]]


def _openings(own: pd.DataFrame, site: Site | None = None, filters: Mapping[str, str] | None = None) -> Table | None:
    """The openings of the player's games by ECO code and colour, the most frequent first."""
    groups = [group for _, group in own.groupby(["eco", "side"], observed=True, sort=True)]
    if not groups:
        return None
    groups.sort(key=lambda group: -len(group))
    cells: list[Sequence[CellText]] = []
    for group in groups[:_MOST_OPENINGS]:
        eco, side = str(group["eco"].iloc[0]), str(group["side"].iloc[0])
        ((family, _),) = Counter(name.partition(": ")[0] for name in group["opening"]).most_common(1)
        chosen = {**(filters or {}), "colour": side, "eco": eco}
        cells.append([f"{eco} {family}", side.capitalize(), *_scores(group, site, chosen)])
    left = groups[_MOST_OPENINGS:]
    notes = [f"{count(len(left), 'row')} with fewer games not listed." if left else ""]
    without = int(own["eco"].isna().sum())
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
