"""A measure of chosen games for the site: with its progress, and with what each row excludes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from recorder.archive.exporting import handles_of, require_games
from recorder.archive.game_measures import CLOCK_TABLES, moves_of, plies_of_games, pools_people
from recorder.errors import ExportError

if TYPE_CHECKING:
    import pandas as pd

    from exporters.measures.batches import PlyBatches
    from storage import ArchiveStore, GameFilter

__all__ = ["MEASURES", "Insight", "compute_insight"]

MEASURES: Final = {name: table for name, table in CLOCK_TABLES.items() if table.grouped and not table.matches}
"""The tables of ``clocks`` that dimensions group and that are computed batch by batch."""


class Insight(NamedTuple):
    """A measure's table and what it counts.

    Attributes:
        table: as the measure returns it. games_excluded: games by the reason that excludes them.
        group_columns: the columns of the table that ``excluded`` is by.
        excluded: by the values of these columns, None where unknown: plies by the reason that excludes them.
        identities: whose moves count; None: those of all who had the handles.
        handles: that were chosen; empty: the moves of everybody count.
    """

    table: pd.DataFrame
    games_excluded: Mapping[str, int]
    group_columns: list[str]
    excluded: Mapping[tuple[Any, ...], Mapping[str, int]]
    identities: list[str] | None
    handles: list[str]


def compute_insight(
    archive: ArchiveStore, chosen: GameFilter, name: str, by: tuple[str, ...], progress: Callable[[int, int], None]
) -> Insight:
    """Compute a measure. Memory holds one batch of games and the sums.

    Args:
        archive: where the games are. chosen: which.
        name: of ``MEASURES``. by: of ``exporters.measures``' dimensions, with hyphens; empty: the measure's own.
        progress: is called with the plies that have been read and with all that there are, 0 at the beginning of each
            reading. It may raise, to end the computation.
    Raises:
        StorageError: no game matches.
        ExportError: a dimension does not go with the measure, or a chosen handle was that of several guests.
    """
    from exporters import measures
    from exporters.measures.base import DimensionError
    from exporters.measures.batches import ExclusionCounts

    asked = MEASURES[name]
    measure = getattr(measures, asked.measure)
    excluded = require_games(archive, chosen)
    identities = None
    handles: list[str] = []
    names = [word.replace("-", "_") for word in by] or None
    counts = ExclusionCounts()
    with plies_of_games(archive, chosen) as batches:
        plies: Any = _watched(batches, progress)
        if chosen.players and not asked.both_sides:
            handles = handles_of(archive, chosen.players)
            own = moves_of(plies, handles, one_player=pools_people(asked, by, measure))
            plies, identities, excluded = own.plies, own.identities, excluded | own.excluded
        plies = plies._replace(seen=counts.add)
        try:
            table = measure(plies) if names is None else measure(plies, names)
        except DimensionError as error:
            raise ExportError(f"{' and '.join(by)} does not go with {name}: {error}.") from None
    return Insight(table, excluded, counts.columns, counts.by_group(), identities, handles)


def _watched(plies: PlyBatches, progress: Callable[[int, int], None]) -> PlyBatches:
    """The same batches; ``progress`` is called before each."""

    def read(names: Collection[str]) -> Iterator[pd.DataFrame]:
        number = 0
        progress(number, plies.rows)
        for batch in plies.read(names):
            number += len(batch)
            progress(number, plies.rows)
            yield batch

    return plies._replace(read=read)
