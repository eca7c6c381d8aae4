"""The units of a table's columns, and durations as pandas' Timedelta."""

from __future__ import annotations

import pandas as pd

from exporters.tables.columns import ALL_PLY_COLUMNS, EVENT_COLUMNS, GAME_COLUMNS, SIDE_COLUMNS

_UNITS = {
    column.name: column.unit
    for column in (*ALL_PLY_COLUMNS, *SIDE_COLUMNS, *GAME_COLUMNS, *EVENT_COLUMNS)
    if column.unit
}
_SUFFIXES = {"_ms": "ms", "_s": "s", "_cp": "cp", "_permille": "‰"}
_INSTANTS = ("arrival_ms", "started_ms")


def units_of(table: pd.DataFrame) -> dict[str, str]:
    """Columns without a unit are missing."""
    units = {}
    for name in table.columns:
        suffix = next((suffix for suffix in _SUFFIXES if str(name).endswith(suffix)), "")
        if unit := _UNITS.get(name) or _SUFFIXES.get(suffix):
            units[str(name)] = unit
    return units


def with_timedeltas(table: pd.DataFrame) -> pd.DataFrame:
    """In columns named without the unit: ``elapsed`` for ``elapsed_ms``."""
    found = table.copy(deep=False)
    names = {}
    for name in table.columns:
        suffix = next((suffix for suffix in ("_ms", "_s") if str(name).endswith(suffix)), None)
        if suffix is not None and name not in _INSTANTS:
            found[name] = pd.to_timedelta(table[name], unit="ms" if suffix == "_ms" else "s")
            names[name] = str(name).removesuffix(suffix)
    return found.rename(columns=names)
