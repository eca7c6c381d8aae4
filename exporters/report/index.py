"""The index page of an archive: its games, players, time controls, and the logs it was made from.

Games are counted row by row, and those that the page lists are read once more: of each game, memory has its place and
its day, of each player the sums.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from exporters.report.page import plain_name, render_page
from exporters.report.tables import (
    NOTHING,
    Section,
    Table,
    control_words,
    day_text,
    game_kind,
    known,
    marks_of,
    period,
    result_text,
    score_cells,
    text_of,
)
from exporters.tables.facts import SCORES, reason_words
from recorder.text import plural

if TYPE_CHECKING:
    from storage.dataset.files import DatasetSource
    from storage.read.sources import SourceRow

_Row: TypeAlias = "Mapping[str, Any]"
"""A game, by the names of columns."""

MOST_GAMES = 2000
"""How many games the page lists by default; its counts are of all games."""
_MOST_PLAYERS = 100
_MOST_CONTROLS = 40
_MOST_LOGS = 200


def index_report(
    games: Iterable[_Row],
    again: Callable[[Sequence[int]], Iterable[_Row]],
    sources: Sequence[SourceRow | DatasetSource] = (),
    *,
    excluded: Mapping[str, int] | None = None,
    most: int | None = None,
) -> bytes:
    """Make a self-contained page about an archive, or a choice of its games; the same rows give the same bytes.

    ``again`` reads the rows at these places of ``games`` again. ``excluded`` counts by reason the games that were asked
    for and are not in the table.
    """
    counted = _Counts()
    for row in games:
        counted.add(row)
    listed = counted.newest_first()[: most or MOST_GAMES]
    parts = (
        ("Players", "players", [_players(counted)]),
        ("Time controls and variants", "controls", [_controls(counted)]),
        ("How games ended", "endings", [_endings(counted)]),
        ("Logs", "logs", [_logs(sources)]),
    )
    sections = [
        Section(heading, name, [table for table in tables if table is not None]) for heading, name, tables in parts
    ]
    values = {
        "title": "Archive of chess games",
        "description": " · ".join(filter(None, (plural(counted.games, "game"), period(counted.days)))),
        "facts": list(_facts(counted, sources)),
        "left_out": [f"{plural(number, 'game')} {reason}" for reason, number in (excluded or {}).items()],
        "sections": [section for section in sections if section.tables],
        "games": map(_game, again(listed)),
        "listed_count": len(listed),
        "game_count": counted.games,
    }
    return render_page("index.html", values, styles=("tables.css",), scripts=("index.js",))


class _Sides:
    """Sides of games, added up: those of a player, or of all guests."""

    __slots__ = ("computer", "days", "games", "handle", "ratings", "results", "server")

    def __init__(self) -> None:
        self.handle, self.server = "", ""
        self.computer = False
        self.games = 0
        self.results = [0, 0, 0]  # won, drawn, lost
        self.ratings: tuple[int, int] | None = None
        self.days: tuple[str, str] | None = None

    def add(self, row: _Row, side: str) -> None:
        """Add White's or Black's side of a game."""
        self.handle, self.server = str(row[side]), text_of(row["server"])
        self.computer |= _is(row[f"{side}_computer"])
        self.games += 1
        score = SCORES.get(str(row["result"]))
        if score is not None:
            self.results[int(2 * (1 - score if side == "white" else score))] += 1
        rating = row[f"{side}_rating"]
        if known(rating):
            self.ratings = _widened(self.ratings, int(rating))
        if known(row["day"]):
            self.days = _widened(self.days, str(row["day"]))


def _widened(ends: Any, value: Any) -> Any:
    """The least and the greatest of values; ``ends``: these of the others, None: there are no others."""
    return (value, value) if ends is None else (min(ends[0], value), max(ends[1], value))


def _is(value: Any) -> bool:
    """Whether it is known to be true."""
    return known(value) and bool(value)


class _Counts:
    """What the page counts of all games; ``dated`` and ``undated`` are places of games."""

    def __init__(self) -> None:
        self.plies = 0
        self.complete = 0
        self.dated: list[int] = []
        self.undated: list[int] = []
        self.days: tuple[str, str] | None = None
        self.servers: Counter[str] = Counter()
        self.players: dict[str, _Sides] = {}
        self.guests = _Sides()
        self.controls: dict[tuple[str, str], list[int]] = {}
        self.endings: Counter[tuple[str, str, str]] = Counter()

    @property
    def games(self) -> int:
        """How many there are."""
        return len(self.dated) + len(self.undated)

    def add(self, row: _Row) -> None:
        """Add the next game."""
        place = self.games
        if known(row["day"]):
            self.dated.append(place)
            self.days = _widened(self.days, str(row["day"]))
        else:
            self.undated.append(place)
        self.plies += int(row["plies"])
        self.complete += bool(row["complete"])
        self.servers[text_of(row["server"]) or "unknown"] += 1
        for side in ("white", "black"):
            guest = _is(row[f"{side}_guest"])
            sides = self.guests if guest else self.players.setdefault(str(row[f"{side}_id"]), _Sides())
            sides.add(row, side)
        of_control = self.controls.setdefault((text_of(row["variant"]), text_of(row["time_control"])), [0, 0])
        of_control[0] += 1
        of_control[1] += int(row["plies"])
        self.endings[text_of(row["result"]), text_of(row["ending"]), text_of(row["reason"])] += 1

    def newest_first(self) -> list[int]:
        """The places of all games in reverse order; games without a date follow those with one."""
        return [*reversed(self.dated), *self.undated]


def _facts(counted: _Counts, sources: Sequence[SourceRow | DatasetSource]) -> Iterator[tuple[str, str]]:
    yield "Games", f"{counted.games:,}, with {plural(counted.plies, 'half-move')}"
    days = period(counted.days)
    if days:
        undated = len(counted.undated)
        yield "Period", days + (f"; {plural(undated, 'game')} without a date" if undated else "")
    guests = counted.guests.games
    players = plural(len(counted.players), "player")
    yield "Players", players + (f"; {plural(guests, 'side')} played by guests, counted together" if guests else "")
    names = sorted(counted.servers.items(), key=lambda one: (-one[1], one[0]))
    yield "Servers", ", ".join(f"{name} ({number:,})" for name, number in names)
    partly = counted.games - counted.complete
    yield "Complete", f"{counted.complete:,}, seen from the first move to the end; {partly:,} not"
    if sources:
        yield "Made from", plural(len(sources), "log")


def _players(counted: _Counts) -> Table | None:
    """Who played most; guests in one row, since another guest may have the same handle tomorrow."""
    players = sorted(counted.players.items(), key=lambda one: (-one[1].games, one[0]))
    rows = []
    for _, one in players[:_MOST_PLAYERS]:
        name = plain_name(one.handle) + (" (computer)" if one.computer else "")
        low, high = one.ratings or (None, None)
        rating = NOTHING if low is None else str(low) if low == high else f"{low} to {high}"
        rows.append([name, one.server or NOTHING, *score_cells(one.games, *one.results), rating, period(one.days)])
    guests = counted.guests
    if guests.games:
        cells = score_cells(guests.games, *guests.results)
        rows.append(["guests, together", NOTHING, *cells, NOTHING, period(guests.days)])
    more = len(players) - _MOST_PLAYERS
    note = f"{plural(more, 'player')} with fewer games not listed." if more > 0 else ""
    columns = ("Player", "Server", "Games", "Won", "Drawn", "Lost", "Score", "Rating", "Period")
    return Table("Players by games", columns, rows, frozenset({0, 1, 8}), note) if rows else None


def _controls(counted: _Counts) -> Table | None:
    controls = sorted(counted.controls.items(), key=lambda one: (-one[1][0], one[0]))
    rows = [
        [variant or "unknown", control_words(control), f"{games:,}", f"{plies:,}"]
        for (variant, control), (games, plies) in controls[:_MOST_CONTROLS]
    ]
    more = len(controls) - _MOST_CONTROLS
    note = f"{plural(more, 'more kind')} with fewer games not listed." if more > 0 else ""
    return Table("Games by variant and White's time", ("Variant", "Time control", "Games", "Plies"), rows,
                 frozenset({0, 1}), note) if rows else None  # fmt: skip


def _endings(counted: _Counts) -> Table | None:
    rows = []
    for (result, ending, reason), games in sorted(counted.endings.items(), key=lambda one: (-one[1], one[0])):
        rows.append([result_text(result, ending), reason_words(reason or None) or "not known", f"{games:,}"])
    return Table("Games by result and reason", ("Result", "Reason", "Games"), rows, frozenset({0, 1})) if rows else None


def _logs(sources: Sequence[SourceRow | DatasetSource]) -> Table | None:
    """The logs by their names; their paths are private."""
    rows = [
        [
            row.name.replace("\\", "/").rsplit("/", 1)[-1],
            row.id,
            row.kind,
            row.server or NOTHING,
            row.me or NOTHING,
            f"{row.games:,}",
            f"{row.size_bytes:,}",
        ]
        for row in sources[:_MOST_LOGS]
    ]
    more = len(sources) - _MOST_LOGS
    note = f"{plural(more, 'more log')} not listed." if more > 0 else ""
    columns = ("Log", "ID", "Kind", "Server", "Recorded by", "Games", "Bytes")
    return Table("All logs of the archive", columns, rows, frozenset({0, 1, 2, 3, 4}), note) if rows else None


def _game(row: Mapping[str, Any]) -> dict[str, Any]:
    key = str(row["key"])
    return {
        "key": key[:8],
        "day": day_text(row["started_ms"], str(row["time_basis"]), row["day"]),
        "white": _player(row, "white"),
        "black": _player(row, "black"),
        "kind": game_kind(row),
        "control": control_words(row["time_control"]),
        "result": result_text(str(row["result"]), str(row["ending"])),
        "reason": reason_words(text_of(row["reason"]) or None),
        "plies": f"{int(row['plies']):,}" + ("" if row["complete"] else " *"),
    }


def _player(row: Mapping[str, Any], side: str) -> dict[str, Any]:
    rating = row[f"{side}_rating"]
    return {
        "name": plain_name(str(row[side])),
        "rating": str(int(rating)) if known(rating) else "",
        "marks": marks_of(row, side),
    }
