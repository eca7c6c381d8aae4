"""From the computed parts to the table that a measure returns: who is meant, in what order, what was left out."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Any

import narwhals as nw
import pandas as pd

from exporters.measures.base import PHASES, Dimension, Plies, collect

__all__ = ["by_group", "compute", "told"]

_ORDER = {name: place for place, name in enumerate(PHASES)}
_BESIDE = {"mover": ("player", "guest", "computer"), "opponent": ("opponent", "opponent_guest", "opponent_computer")}


def compute(plies: Plies, parts: Mapping[str, nw.LazyFrame[Any]]) -> dict[str, pd.DataFrame]:
    """Compute a measure's parts, and with them what ``told`` needs."""
    asked = {**parts, "kept": plies.kept(), "left out": plies.omitted()}
    return collect({**asked, **{f"names of {name}": part for name, part in plies.names().items()}})


def told(
    plies: Plies,
    computed: Mapping[str, pd.DataFrame],
    table: pd.DataFrame,
    columns: str,
    then: Iterable[str] = (),
) -> pd.DataFrame:
    """The finished table.

    Args:
        computed: what ``compute`` gave. table: a row for each group; columns: of it, in their order, with
            blanks between them.
        then: columns that tell the rows apart besides the dimensions; they stand behind these.
    Returns:
        The table, sorted. ``attrs``: ``games`` and ``plies`` that count; ``left_out``: reason → plies that do not;
        ``marked``: what is told of the plies that count → plies (``seconds only``, ``incomplete``, ``derived clock``,
        ``derived time``).
    """
    shown: list[str] = []
    for one in plies.dimensions:
        if one.told:
            table = _named(table, one, computed[f"names of {one.name}"])
            handle, guest, computer = _BESIDE[one.told[0]]
            shown += [handle, *one.keys, guest, computer]
        else:
            shown += one.keys
    order = [*shown, *then]
    table = table.sort_values(order, key=_sortable, ignore_index=True, kind="stable") if order else table
    table = table[[*order, *columns.split()]]
    table.attrs = _attributes(plies, computed)
    return table


def by_group(plies: Plies, first: pd.DataFrame, *others: pd.DataFrame, also: Iterable[str] = ()) -> pd.DataFrame:
    """Tables of the same groups side by side: the rows of the first."""
    for other in others:
        first = first.merge(other, how="left", on=[*plies.by, *also])
    return first


def _named(table: pd.DataFrame, one: Dimension, names: pd.DataFrame) -> pd.DataFrame:
    """Who the identities are. A handle that was seen in several spellings is told in the first of them by alphabet."""
    (key,) = one.keys
    least = names.groupby(key, dropna=False, as_index=False, sort=False)[one.told[0]].min()
    most = names.groupby(key, dropna=False, as_index=False, sort=False)[list(names.columns[2:])].max()
    names = least.merge(most, on=key)
    handle, *flags = one.told
    shown, *called = _BESIDE[handle]
    for flagged, name in zip(flags, called, strict=True):
        names[name] = (names[flagged] > 0).where(names[f"{flagged} known"] > 0)
    names = names.rename(columns={handle: shown})[[key, shown, *called]]
    return table.merge(names, how="left", on=key)


def _sortable(column: pd.Series[Any]) -> pd.Series[Any]:
    """Phases in their order, time controls by base and increment, all else as it is."""
    if column.name == "phase":
        return column.map(_ORDER)
    if column.name == "side":
        return column == "black"
    if column.name == "time_control":
        numbers = column.str.extract(r"^(\d+)\+(\d+)$").astype("Float64")
        return numbers[0] * 1_000_000 + numbers[1]
    return column


def _attributes(plies: Plies, computed: Mapping[str, pd.DataFrame]) -> dict[Hashable, Any]:
    kept = {name: int(value) for name, value in computed["kept"].fillna(0).iloc[0].items()}
    omitted = computed["left out"].sort_values("left_out", ascending=False)
    left_out: dict[str, int] = {}
    for number, count in zip(omitted["left_out"], omitted["plies"], strict=True):
        name, plies_out = (plies.reasons[int(number) - 1], count) if number else (plies.apart, count - kept["plies"])
        if plies_out:
            left_out = {name: int(plies_out)} | left_out
    marks = {"seconds only": "coarse", "incomplete": "partly", "derived clock": "derived", "derived time": "computed"}
    return {
        "games": kept["games"],
        "plies": kept["plies"],
        "left_out": left_out,
        "marked": {name: kept[of] for name, of in marks.items() if kept[of]},
    }
