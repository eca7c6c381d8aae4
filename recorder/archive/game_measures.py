"""Measures and pictures of chosen games: what ``plot`` and ``clocks`` load."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from inspect import signature
from typing import TYPE_CHECKING, Any, NamedTuple

from recorder.archive.exporting import handles_of, named_games, require_games
from recorder.archive.pages.related import games_in_progress, match_of, of_source
from recorder.errors import StorageError
from recorder.progress import Progress, no_progress
from storage import EVERY_GAME, GameFilter
from storage.dataset.reading import DatasetStore

if TYPE_CHECKING:
    import pandas as pd

    from exporters.measures.program import Measured
    from exporters.measures.source import Plies
    from storage import GameStore


class ClockTable(NamedTuple):
    """A table's measure (``exporters.measures``), and what it is about."""

    measure: str
    about: str
    grouped: bool = True  # dimensions group it
    both_sides: bool = False  # it needs all moves of a game, also with --player
    matches: bool = False  # it is about both boards of bughouse matches
    evaluated: bool = False  # it counts what engines thought of moves


CLOCK_TABLES = {
    "games": ClockTable("game_sides", "each side of each game: think times, clocks and lag", grouped=False),
    "usage": ClockTable("time_usage", "how long moves took: total, mean, median, 95th percentile, longest"),
    "profile": ClockTable("profile", "results, think times, lowest clock and lag, by player or by group"),
    "time-left": ClockTable("time_left", "the clock after moves 10, 20, 30 and 40"),
    "phases": ClockTable("time_left_by_phase", "the clock with which each phase of the game was entered"),
    "curve": ClockTable("clock_curve", "the clock after every move: median and quartiles over all games"),
    "budget": ClockTable("even_budget", "how far clocks were above or below an equal share of time for each move"),
    "longest": ClockTable("longest_thinks", "the longest thinks, --top of them", grouped=False),
    "instant": ClockTable("instant", "moves made at once, such as premoves, and the shortest time charged"),
    "known-moves": ClockTable("known_moves", "the moves and the time before the first long think of each side"),
    "rhythm": ClockTable("autocorrelation", "whether a long think follows a long one"),
    "scramble": ClockTable(
        "scrambles", "scrambles: moves and think times while both clocks are below 30 seconds", both_sides=True
    ),
    "windows": ClockTable("scramble_windows", "each scramble in a row of its own", grouped=False, both_sides=True),
    "flags": ClockTable("flags", "how near to the flag sides came, and who lost on time"),
    "lead": ClockTable("clock_lead", "the score by the lead on the clock after moves 20 and 30"),
    "odds": ClockTable("time_odds", "games in which the sides had different time controls"),
    "hours": ClockTable("activity", "moves and results by weekday and hour"),
    "lag": ClockTable("lag", "lag of moves, and time that the server gave back, by player or by group"),
    "blunders": ClockTable(
        "blunders",
        "blunders and lost evaluation, with and without time trouble, by player or by group",
        evaluated=True,
    ),
    "loss-by-think": ClockTable(
        "loss_by_think", "evaluation lost by moves, by the time that they took", evaluated=True
    ),
    "loss-by-clock": ClockTable(
        "loss_by_clock", "evaluation lost by moves, by the time left on the clock", evaluated=True
    ),
    "residuals": ClockTable("residuals", "whether the clocks add up, and if not, why"),
    "diagonal": ClockTable(
        "diagonal_lead", "bughouse: how far players were ahead of the diagonal opponent's clock", matches=True
    ),
    "sitting": ClockTable("sitting", "bughouse: how long players waited for the other board", matches=True),
}
"""The words of ``--table``."""

MEASURES = {name: table for name, table in CLOCK_TABLES.items() if table.grouped and not table.matches}
"""The tables that dimensions group: those of the site."""

DIMENSIONS = (
    "time-control", "phase", "variant", "category", "rated", "side", "player", "opponent", "guest", "computer",
    "sealed", "time-trouble", "clock-band", "lag-band", "cause", "rating-band", "game", "server", "precision",
    "move-no", "hour", "weekday", "eval-engine", "eco", "opening", "event",
)  # fmt: skip
"""The words of ``--by``: dimensions of ``exporters.measures``, with hyphens."""

EXTRA_DIMENSIONS = ("eco", "opening", "event")
"""Those of them that are columns of plies only on request."""


class GamesMeasure(NamedTuple):
    """``identities`` are those whose moves count; None: of all who had the handles, or of everybody."""

    table: Measured
    excluded: dict[str, int]
    identities: list[str] | None
    handles: list[str]


def measure_games(
    archive: GameStore,
    chosen: GameFilter,
    name: str,
    by: tuple[str, ...] = (),
    *,
    top: int | None = None,
    first_moves: bool = False,
    dask: str | None = None,
    omitted: bool = False,
    keys: bool = False,
    progress: Progress = no_progress,
) -> GamesMeasure:
    """A measure of the chosen games' moves, with a filter for players of those players' moves.

    ``top`` is how many of the longest thinks; ``first_moves`` includes each side's first move where the measure is
    about the time that moves took. ``dask`` is the address of a cluster that computes it, of a data set. ``omitted``
    counts excluded plies by the dimensions, too. ``keys`` are those of the games of each row, in the last column.
    """
    from exporters.measures import definitions
    from exporters.measures.program import run, with_keys

    table = CLOCK_TABLES[name]
    chosen = named_games(archive, chosen)
    excluded = require_games(archive, chosen)
    define = getattr(definitions, table.measure)
    options: dict[str, Any] = {} if top is None else {"n": top}
    if "first_moves" in signature(define).parameters:
        options["first_moves"] = first_moves
    if by:
        options["by"] = [word.replace("-", "_") for word in by]
    extra = [word for word in by if word in EXTRA_DIMENSIONS]
    with plies_of_games(archive, chosen, matches=table.matches, dask=dask, extra=extra, progress=progress) as plies:
        identities = None
        handles: list[str] = []
        if chosen.players and not table.both_sides:
            handles = handles_of(archive, chosen.players)
            own = moves_of(plies, handles, one_player=pools_people(table, by, define))
            plies, excluded, identities = own.plies, excluded | own.excluded, own.identities
        program = define(**options)
        measured = run(with_keys(program) if keys else program, plies, omitted=omitted)
        if table.evaluated:
            measured.attrs["engines"] = _engines(run(define(by="eval_engine"), plies))
        if name == "games" and plies.relation is not None:  # in the order of a list of games
            rows = plies.relation("SELECT key, place FROM chosen").fetchall()
            places = dict(rows)
            measured.rows.sort(key=lambda row: places[row[0]])
    return GamesMeasure(measured, excluded, identities, handles)


@contextmanager
def plies_of_games(
    archive: GameStore,
    chosen: GameFilter,
    *,
    matches: bool = False,
    dask: str | None = None,
    extra: Collection[str] = (),
    progress: Progress = no_progress,
) -> Iterator[Plies]:
    """The plies of games, of ``matches`` those of both boards; ``dask``: of a data set those of a cluster."""
    from exporters.measures.source import Plies
    from exporters.tables.tables import open_tables

    if isinstance(archive, DatasetStore) and dask is not None:
        if extra:
            raise StorageError("A cluster reads no columns of games, such as openings and events: leave --dask out.")
        from recorder.archive.sharing.cluster import check_reading, cluster_client

        files = archive.files_of_plies(chosen, matches=matches)
        with cluster_client(dask) as client:
            check_reading(client, archive.where, [file.path for file in (*files[:1], *files[1:][-1:])])
            yield Plies.of_files(files)
    elif matches:
        from exporters.tables.columns import MATCH_COLUMNS
        from exporters.tables.matches import open_matches

        with open_matches(archive, chosen) as tables:
            yield tables.plies([column.name for column in MATCH_COLUMNS]).where("match IS NOT NULL")
    else:
        with open_tables(archive, chosen, progress=progress) as tables:
            yield tables.plies(extra)


class OwnMoves(NamedTuple):
    """Moves of players; without ``identities`` of everybody who had the handles."""

    plies: Plies
    excluded: dict[str, int]
    identities: list[str] | None


def moves_of(plies: Plies, handles: Sequence[str], *, one_player: bool) -> OwnMoves:
    """``one_player``: of each handle only the moves of the player that it names, no others' who had it."""
    from exporters.measures.source import among

    if not one_player:
        return OwnMoves(plies.moved_by(handles), {}, None)
    players = [plies.player(handle) for handle in handles]
    identities = sorted({identity for player in players for identity in player.identities})
    excluded = {reason: number for player in players for reason, number in player.excluded.items()}
    return OwnMoves(plies.where(among("mover_id", identities)), excluded, identities)


def pools_people(table: ClockTable, by: tuple[str, ...], define: Callable[..., Any]) -> bool:
    """Whether a row of the table may be about several people of one handle: not if it has players or games apart."""
    words = by or (signature(define).parameters["by"].default if table.grouped else ("game",))
    return {"player", "game"}.isdisjoint([words] if isinstance(words, str) else words)


def _engines(by_engine: Measured) -> list[dict[str, Any]]:
    """Whose evaluations count, and of how many plies: most first. The name of an unknown engine is None."""
    counts: dict[str | None, int] = {}
    for row in by_engine.records():
        counts[row["eval_engine"]] = counts.get(row["eval_engine"], 0) + row["plies"]
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0] or ""))
    return [{"engine": name, "plies": count} for name, count in ordered]


def picture_games(archive: GameStore, scope: str, chosen: GameFilter) -> GameFilter | None:
    """The games that a picture shows, of a match both boards; None: it shows one game, and more were chosen."""
    if scope in ("player", "games"):
        return chosen
    if archive.count(chosen) > (2 if scope == "match" else 1):
        return None
    if scope == "game":
        return chosen
    games = list(archive.games(chosen))
    matched = match_of(archive, games[0])
    if matched is None:
        raise StorageError(f"The other board of game {games[0].key[:8]} is unknown, or it is not a bughouse game.")
    keys = frozenset((matched[0].a.key, matched[0].b.key))
    if not keys.issuperset(game.key for game in games):
        return None
    return of_source(archive, games[0], replace(EVERY_GAME, keys=keys))


@dataclass(frozen=True, slots=True)
class PictureData:
    """A ply frame, or ``Plies`` of many games; ``attrs["dates"]`` is their first and last day."""

    plies: Any
    events: pd.DataFrame | None
    games: int


@contextmanager
def picture_data(archive: GameStore, scope: str, drawn: GameFilter) -> Iterator[PictureData]:
    """Yield the plies of the games that a picture shows, and of one game its events; they can be read in the block."""
    from exporters.tables.events import events_of
    from exporters.tables.tables import open_tables

    events = events_of(archive, drawn) if scope == "game" else None
    with open_tables(archive, drawn) as tables:
        in_progress = games_in_progress(archive)
        attrs = {"dates": tables.dates()}
        plies: Any
        if scope in ("games", "player"):
            plies = replace(tables.plies().ending(in_progress), attrs=attrs)
        else:
            plies = with_progress(tables.ply_frame(), in_progress)
            plies.attrs = attrs
        yield PictureData(plies, events, sum(count > 0 for _, count in tables.games))


def with_progress(frame: pd.DataFrame, in_progress: Collection[str]) -> pd.DataFrame:
    """Set the ending ``in-progress`` for the games with these keys; the frame has ``key`` and ``ending``."""
    if not in_progress:
        return frame
    ending = frame["ending"].astype("string").mask(frame["key"].isin(in_progress), "in-progress")
    return frame.assign(ending=ending)
