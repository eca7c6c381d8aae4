"""The ply table made game by game from the model, as ``export plies`` does: what arrays of many games must equal."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

from exporters.selection import Filters, make_filter
from exporters.tables.columns import PLY_COLUMNS
from exporters.tables.rows import ply_rows
from recorder.model import TimeBasis
from storage import ArchiveStore


def frame_of_games(path: Path, filters: Filters) -> pd.DataFrame:
    """All columns as plain Python values."""
    with ArchiveStore.open(str(path), read_only=True) as storage:
        rows = [row for _, rows in ply_rows(storage.games(make_filter(filters))) for row in rows]
    values: dict[str, Any] = dict(zip((c.name for c in PLY_COLUMNS), zip(*rows, strict=True), strict=True))
    utc = [basis == TimeBasis.UTC.value for basis in values["time_basis"]]
    moments = zip(values["arrival_ms"], utc, strict=True)
    values["at"] = [
        pd.Timestamp(at, unit="ms", tz="UTC") if known and at is not None else None for at, known in moments
    ]
    return pd.DataFrame({name: pd.Series(column, dtype=object) for name, column in values.items()})
