from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from exporters.tables.columns import EVENT_COLUMNS
from recorder.model import Game, TimeBasis
from storage import GameFilter, GameStore
from storage.dataset.reading import DatasetStore

if TYPE_CHECKING:
    import pandas as pd


def event_frame(games: Iterable[Game]) -> pd.DataFrame:
    """In the order of their lines; equal events of several sources once."""
    from exporters.tables.frames import frame_of_lists

    # No row keeps its game in memory.
    rows = [(game.key, game.reason_key, game.time_basis, event) for game in games for event in game.events]
    names = ("ply", "detail", "actor", "value", "text", "white_clock_ms", "black_clock_ms")
    values = {
        "key": [key for key, *_ in rows],
        "kind": [event.kind.value for *_, event in rows],
        **{name: [getattr(event, name) for *_, event in rows] for name in names},
        "reason": [reason for _, reason, *_ in rows],
        "at": [event.at_ms if basis is TimeBasis.UTC else None for _, _, basis, event in rows],
        "arrival_ms": [event.at_ms for *_, event in rows],
        "time_basis": [basis.value for _, _, basis, _ in rows],
    }
    return frame_of_lists(EVENT_COLUMNS, values)


def events_of(storage: GameStore, where: GameFilter) -> pd.DataFrame:
    if isinstance(storage, DatasetStore):
        from exporters.tables.frames import frame_of_lists

        names = [column.name for column in EVENT_COLUMNS]
        with storage.columns() as reader:
            rows = reader.events([row_id for row_id, _ in reader.games_of(where)], names)
        columns = zip(*rows, strict=True) if rows else [()] * len(names)
        return frame_of_lists(EVENT_COLUMNS, dict(zip(names, columns, strict=True)))
    with storage.snapshot():
        return event_frame(
            storage.games(where, with_holdings=False, with_lines=False, with_thinking=False, whole_plies=False)
        )
