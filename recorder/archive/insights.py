"""A measure of chosen games for the site: with what each row excludes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from recorder.archive.game_measures import CLOCK_TABLES, GamesMeasure, measure_games
from recorder.errors import ExportError

if TYPE_CHECKING:
    from storage import ArchiveStore, GameFilter

MEASURES: Final = {name: table for name, table in CLOCK_TABLES.items() if table.grouped and not table.matches}
"""The tables of ``clocks`` that dimensions group."""


def compute_insight(
    archive: ArchiveStore, chosen: GameFilter, name: str, by: tuple[str, ...], *, first_moves: bool = False
) -> GamesMeasure:
    """Compute a measure."""
    from exporters.measures.dimensions import DimensionError

    try:
        return measure_games(archive, chosen, name, by, omitted=True, first_moves=first_moves)
    except DimensionError as error:
        raise ExportError(f"{' and '.join(by)} does not go with {name}: {error}.") from None
