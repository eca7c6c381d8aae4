"""Measures and pictures of chosen games: what ``plot`` and ``clocks`` load."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from inspect import signature
from typing import TYPE_CHECKING, Any, NamedTuple

from recorder.archive.exporting import handles_of, named_games, require_games
from recorder.archive.related import games_in_progress, match_of, of_source
from recorder.errors import StorageError
from storage import GameFilter
from storage.dataset.reading import DatasetStore

if TYPE_CHECKING:
    import pandas as pd

    from exporters.measures.batches import PlyBatches
    from recorder.archive.exporting import AnyStore
    from storage.read.store import TableReader

__all__ = [
    "CLOCK_TABLES",
    "ClockTable",
    "DIMENSIONS",
    "EXTRA_DIMENSIONS",
    "FEW_PLIES",
    "OwnMoves",
    "PictureData",
    "batches_of",
    "clock_table",
    "moves_of",
    "picture_data",
    "picture_games",
    "plies_of_games",
    "pools_people",
]


class ClockTable(NamedTuple):
    """A table's measure (``exporters.measures``), and what it is about.

    ``grouped``: whether dimensions group it. ``both_sides``: it needs all moves of a game, also with ``--player``.
    ``matches``: it is about both boards of bughouse matches. ``evaluated``: it counts what engines thought of moves.
    """

    measure: str
    about: str
    grouped: bool = True
    both_sides: bool = False
    matches: bool = False
    evaluated: bool = False


CLOCK_TABLES = {
    "usage": ClockTable("time_usage", "how long moves took: total, mean, median, 95th percentile, longest"),
    "profile": ClockTable("profile", "results, think times, lowest clock and lag; one row a player, or as --by groups"),
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
    "lag": ClockTable("lag", "lag of moves, and time that the server gave back; one row a player, or as --by groups"),
    "blunders": ClockTable(
        "blunders",
        "blunders and lost evaluation, with and without time trouble; one row a player, or as --by groups",
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

DIMENSIONS = (
    "time-control", "phase", "variant", "category", "rated", "side", "player", "opponent", "guest", "computer",
    "sealed", "time-trouble", "clock-band", "lag-band", "cause", "rating-band", "game", "server", "precision",
    "move-no", "hour", "weekday", "eval-engine", "eco", "opening", "event",
)  # fmt: skip
"""The words of ``--by``: dimensions of ``exporters.measures``, with hyphens."""

EXTRA_DIMENSIONS = ("eco", "opening", "event")
"""Those of them that are columns of plies only on request."""


def clock_table(
    archive: AnyStore,
    chosen: GameFilter,
    name: str,
    by: tuple[str, ...] = (),
    top: int | None = None,
    dask: str | None = None,
) -> tuple[pd.DataFrame, dict[str, int]]:
    """A measure of the chosen games' moves, with a filter for players of those players' moves.

    Args:
        archive: where the games are. chosen: which; keys may be ``last`` and ``last~2``.
        name: of ``CLOCK_TABLES``. by: of ``DIMENSIONS``. top: how many of the longest thinks.
        dask: address of a cluster that computes it, of a data set.
    Returns:
        The table, whose ``attrs["engines"]`` has the engines where evaluations count; and which games are excluded.
    Raises:
        StorageError: no game matches, or the archive cannot be read.
        DimensionError: ``by`` does not go with the table.
    """
    from exporters import measures

    table = CLOCK_TABLES[name]
    chosen = named_games(archive, chosen)
    excluded = require_games(archive, chosen)
    measure = getattr(measures, table.measure)
    extra = [word for word in by if word in EXTRA_DIMENSIONS]
    with plies_of_games(archive, chosen, matches=table.matches, dask=dask, extra=extra) as plies:
        if chosen.players and not table.both_sides:
            own = moves_of(plies, handles_of(archive, chosen.players), one_player=pools_people(table, by, measure))
            plies, excluded = own.plies, excluded | own.excluded
        if not table.grouped:
            return (measure(plies) if top is None else measure(plies, top)), excluded
        names = [word.replace("-", "_") for word in by]
        found = measure(plies, names) if names else measure(plies)
        if table.evaluated:
            found.attrs["engines"] = _engines(measure(plies, "eval_engine"))
    return found, excluded


_ROWS_AT_ONCE = 100_000
_ONE_FRAME = 20_000  # plies of which a picture is computed more quickly from a frame than from batches
FEW_PLIES = 200_000
"""So many plies are one batch at most, whose columns are kept for the next reading."""


@contextmanager
def plies_of_games(
    archive: AnyStore,
    chosen: GameFilter,
    *,
    matches: bool = False,
    dask: str | None = None,
    extra: Collection[str] = (),
) -> Iterator[Any]:
    """What a measure takes: batches of an archive's games, a relation of a data set; of ``matches`` both boards.

    ``dask``: of a data set the frame of a cluster. ``extra``: those of ``EXTRA_DIMENSIONS`` that it needs.
    """
    if isinstance(archive, DatasetStore) and dask is not None:
        if extra:
            raise StorageError("A cluster reads no columns of games, such as openings and events: leave --dask out.")
        from recorder.archive.cluster import check_reading, cluster_client

        with cluster_client(dask) as client:
            check_reading(client, archive.where, archive.some_files())
            yield archive.plies_for_dask(chosen, matches=matches)
    elif isinstance(archive, DatasetStore):
        with archive.errors():
            yield archive.relation(chosen, matches=matches, extra=extra)
    elif matches:
        from exporters.tables.matches import matches_of

        yield matches_of(archive, chosen)
    else:
        with archive.columns() as reader:
            yield batches_of(reader, reader.games_of(chosen))


def batches_of(
    reader: TableReader,
    games: list[tuple[int, int]],
    *,
    in_progress: Collection[str] = (),
    dates: str | None = None,
    rows_at_once: int = _ROWS_AT_ONCE,
) -> PlyBatches:
    """Batches of the plies of games; of few plies (``FEW_PLIES``) one.

    Args:
        reader: of the archive or data set. games: row number and number of plies of each game.
        in_progress: keys of games. dates: an attribute of each batch. rows_at_once: of a batch, about.
    """
    import pandas as pd

    from exporters.measures.batches import PlyBatches
    from exporters.tables.arrays import empty
    from exporters.tables.columns import ON_REQUEST, PLY_COLUMNS
    from exporters.tables.facts import with_progress
    from exporters.tables.frames import joined_plies, ply_batches

    # A game's key at each of its plies is the same text: as a category it is compared and stored once.
    columns = [one._replace(dtype="category") if one.name == "key" else one for one in (*PLY_COLUMNS, *ON_REQUEST)]
    rows = sum(plies for _, plies in games)
    small = rows <= FEW_PLIES
    kept: dict[Any, pd.Series[Any]] = {}
    attrs: dict[Any, Any] = {} if dates is None else {"dates": dates}

    def frames(names: Collection[str]) -> Iterator[pd.DataFrame]:
        wanted = [column for column in columns if column.name in names]
        if not small:
            yield from ply_batches(reader, games, rows_at_once, wanted)
            return
        if new := [column for column in wanted if column.name not in kept]:
            kept.update(joined_plies(reader, games, new).items())
        yield pd.DataFrame({column.name: kept[column.name] for column in wanted}, copy=False)

    def read(names: Collection[str]) -> Iterator[pd.DataFrame]:
        for frame in frames({*names, "key"} if "ending" in names else names):
            batch = with_progress(frame, in_progress) if "ending" in frame else frame
            batch.attrs = {**attrs}
            del frame
            yield batch
            del batch

    nothing = empty(columns)
    nothing.attrs = {**attrs}
    return PlyBatches(read, nothing, rows)


class OwnMoves(NamedTuple):
    """Moves of players.

    Attributes:
        plies: a table of any engine, or batches.
        excluded: how many games are excluded for a reason.
        identities: whose moves they are; None: of everybody who had the handles.
    """

    plies: Any
    excluded: dict[str, int]
    identities: list[str] | None


def moves_of(plies: Any, handles: Sequence[str], *, one_player: bool) -> OwnMoves:
    """The moves of some players, of a table of any engine or of batches.

    Args:
        one_player: of each handle only the moves of the player that it names, no others' who had it.
    """
    import narwhals as nw

    from exporters.measures.batches import filtered, movers

    named = nw.col("mover").str.to_lowercase().is_in([handle.lower() for handle in handles])
    own = filtered(plies, named, "mover")
    if not one_player:
        return OwnMoves(own, {}, None)
    from exporters.tables.facts import choose_player

    people = movers(own)
    players = [choose_player(people, handle) for handle in handles]
    identities = sorted({identity for one in players for identity in one.identities})
    excluded = {reason: number for one in players for reason, number in one.excluded.items()}
    return OwnMoves(filtered(own, nw.col("mover_id").is_in(identities), "mover_id"), excluded, identities)


def pools_people(table: ClockTable, by: tuple[str, ...], measure: Callable[..., Any]) -> bool:
    """Whether a row of the table may be about several people of one handle: not if it has players or games apart."""
    words = by or (signature(measure).parameters["by"].default if table.grouped else ("game",))
    return {"player", "game"}.isdisjoint([words] if isinstance(words, str) else words)


def _engines(by_engine: pd.DataFrame) -> list[dict[str, Any]]:
    """Whose evaluations count, and of how many plies: most first. The name of an unknown engine is None."""
    counts: dict[str | None, int] = {}
    names = by_engine["eval_engine"].astype(object).where(by_engine["eval_engine"].notna(), None)
    for name, count in zip(names, by_engine["plies"], strict=True):
        counts[name] = counts.get(name, 0) + int(count)
    ordered = sorted(counts.items(), key=lambda one: (-one[1], one[0] or ""))
    return [{"engine": name, "plies": count} for name, count in ordered]


def picture_games(archive: AnyStore, scope: str, chosen: GameFilter) -> GameFilter | None:
    """The games that a picture shows: those that were chosen, and of a match both boards.

    Args:
        archive: where they are. scope: of the picture: ``game``, ``match``, ``player`` or ``games``. chosen: the games.
    Returns:
        None if the picture shows one game and more were chosen.
    Raises:
        StorageError: the other board of a match is unknown.
    """
    if scope in ("player", "games"):
        return chosen
    if archive.count(chosen) > (2 if scope == "match" else 1):
        return None
    if scope == "game":
        return chosen
    games = list(archive.games(chosen))
    found = match_of(archive, games[0])
    if found is None:
        raise StorageError(f"The other board of game {games[0].key[:8]} is unknown, or it is not a bughouse game.")
    keys = frozenset((found[0].a.key, found[0].b.key))
    if not keys.issuperset(game.key for game in games):
        return None
    return of_source(archive, games[0], GameFilter(keys=keys, kinds=frozenset(), min_plies=0))


@dataclass(frozen=True, slots=True)
class PictureData:
    """What a picture is drawn of.

    Attributes:
        plies: a ply frame; of pictures of many games batches of it. ``attrs["dates"]`` is the day of the games, or the
            first and the last, which PGN has without times of moves.
        events: of a picture of one game.
        games: how many there are.
    """

    plies: Any
    events: pd.DataFrame | None
    games: int


@contextmanager
def picture_data(archive: AnyStore, scope: str, shown: GameFilter) -> Iterator[PictureData]:
    """The plies of the games that a picture shows, and of one game its events.

    Args:
        archive: where the games are. scope: of the picture. shown: as ``picture_games`` returns it.
    Yields:
        The data, which can be read in the block.
    """
    from exporters.tables.columns import PLY_COLUMNS
    from exporters.tables.frames import events_of, game_rows

    events = events_of(archive, shown) if scope == "game" else None
    with archive.columns() as reader:
        games, in_progress = reader.games_of(shown), games_in_progress(archive)
        ends = [*games[:1], *reader.games_of(replace(shown, last=1))]  # games come by their start
        days = [row["day"] for row in game_rows(reader, ends) if row["day"] is not None]
        batches = batches_of(reader, games, in_progress=in_progress, dates=" to ".join(dict.fromkeys(days)))
        plies: Any = batches
        if scope not in ("games", "player") or batches.rows <= _ONE_FRAME:
            (plies,) = batches.read([column.name for column in PLY_COLUMNS])
        yield PictureData(plies, events, sum(count > 0 for _, count in games))
