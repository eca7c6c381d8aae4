"""Ply frames for tests: typed as docs/reference/tables.md says, from rows that name only what counts in a test."""

from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

import exporters.measures.functions  # noqa: F401  # gives frames their ``ics``
from exporters.tables.columns import PLY_COLUMNS

_COMMON = {
    "key": "g1",
    "kind": "played",
    "server": "FICS",
    "variant": "chess",
    "time_control": "300+0",
    "base_s": 300,
    "increment_s": 0,
    "complete": True,
    "precision": "milliseconds",
    "origin": "frame",
    "proof": "full",
    "time_basis": "none",
}


def rows_of(rows: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The rows with all columns; what a row does not name is of a usual game, follows from ``ply``, or is None."""
    full = []
    for row in rows:
        ply = row["ply"]
        side, other = ("white", "black") if ply % 2 else ("black", "white")
        who = {"mover": side, "opponent": other, "mover_id": f"FICS:{side}", "opponent_id": f"FICS:{other}"}
        values = {**_COMMON, **who, "side": side, "move_no": (ply + 1) // 2, **row}
        full.append({column.name: values.get(column.name) for column in PLY_COLUMNS})
    return full


def frame_of(rows: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    full = rows_of(rows)
    dtypes = {column.name: column.dtype for column in PLY_COLUMNS}
    return pd.DataFrame({name: pd.Series([row[name] for row in full], dtype=of) for name, of in dtypes.items()})
