"""What a measure returns: exact means, shares and quantiles, the order of the rows, what was excluded.

Times are integers of milliseconds. A mean, a median and a percentile of times that were printed in whole seconds are
whole seconds too: no figure is finer than its source.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any

import narwhals as nw
import pandas as pd

from exporters.measures.base import PHASES, Dimension, Plies
from exporters.measures.batches import Counted

__all__ = [
    "attributes",
    "band_of",
    "by_group",
    "in_unit",
    "mean",
    "precision",
    "quantiles",
    "share",
    "summary",
    "shown_columns",
    "with_edges",
]

_ORDER = {name: place for place, name in enumerate(PHASES)}
_PLAYER_COLUMNS = {
    "mover": ("player", "guest", "computer"),
    "opponent": ("opponent", "opponent_guest", "opponent_computer"),
}


def shown_columns(
    plies: Plies,
    computed: Mapping[str, pd.DataFrame],
    table: pd.DataFrame,
    columns: str,
    then: Iterable[str] = (),
) -> pd.DataFrame:
    """The finished table.

    Args:
        computed: what ``Plies.ask`` asked for. table: a row for each group; columns: of it, in their order, with
            blanks between them.
        then: columns that identify rows besides the dimensions; they follow these.
    Returns:
        The table, sorted. ``attrs``: ``games`` and ``plies`` that count; ``excluded``: reason → plies that do not;
        ``marked``: marks of the plies that count → plies (``seconds only``, ``incomplete``, ``derived clock``,
        ``derived time``).
    """
    shown: list[str] = []
    for one in plies.dimensions:
        if one.shown_columns:
            table = _named(table, one, computed[f"names of {one.name}"])
            handle, guest, computer = _PLAYER_COLUMNS[one.shown_columns[0]]
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
    """Who the identities are. A handle with several spellings has the first of them by alphabet."""
    (key,) = one.keys
    least = names.groupby(key, dropna=False, as_index=False, sort=False)[one.shown_columns[0]].min()
    most = names.groupby(key, dropna=False, as_index=False, sort=False)[list(names.columns[2:])].max()
    names = least.merge(most, on=key)
    handle, *flags = one.shown_columns
    shown, *called = _PLAYER_COLUMNS[handle]
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
    kept = {str(name): int(value) for name, value in computed["kept"].fillna(0).iloc[0].items()}
    omitted = computed["omitted"]
    return attributes(plies, kept, dict(zip(map(int, omitted["excluded"]), map(int, omitted["plies"]), strict=True)))


_MARKS = {"seconds only": "coarse", "incomplete": "partly", "derived clock": "derived", "derived time": "computed"}


def attributes(plies: Plies, kept: Mapping[str, int], omitted: Mapping[int, int]) -> dict[Any, Any]:
    """What counts in a table and what does not; see ``shown_columns``.

    Args:
        kept: games, plies and marks, by the names of ``Plies.kept_by``.
        omitted: plies by the number of the reason that excludes them, and under 0 those that none does.
    """
    excluded: dict[str, int] = {}
    for number in sorted(omitted):
        name = plies.reasons[number - 1] if number else plies.apart
        if out := omitted[number] - (0 if number else int(kept["plies"])):
            excluded[name] = out
    return {
        "games": int(kept["games"]),
        "plies": int(kept["plies"]),
        "excluded": excluded,
        "marked": {name: int(kept[of]) for name, of in _MARKS.items() if kept[of]},
    }


_SECOND_MS = 1000


def mean(sums: pd.Series[Any], counts: pd.Series[Any]) -> pd.Series[Any]:
    """Means, rounded half up to an integer; NA of nothing."""
    return (2 * sums + counts) // (2 * counts.where(counts > 0))


def share(part: pd.Series[Any], whole: pd.Series[Any] | float) -> pd.Series[Any]:
    """Parts of wholes, 0 to 1; NA of nothing."""
    wholes = pd.Series(whole, index=part.index, dtype="Float64")
    return part.astype("Float64") / wholes.where(wholes > 0)


def in_unit(times_ms: pd.Series[Any], coarse: pd.Series[Any]) -> pd.Series[Any]:
    """Times, rounded half up to whole seconds in rows where a ply with whole seconds counts."""
    seconds = (times_ms + _SECOND_MS // 2) // _SECOND_MS * _SECOND_MS
    return times_ms.where(coarse.fillna(0) == 0, seconds)


def precision(coarse: pd.Series[Any], known: pd.Series[Any]) -> pd.Series[Any]:
    """``seconds`` where one ply or more was printed so, else ``milliseconds``; NA where nothing was printed."""
    words = pd.Series("milliseconds", index=coarse.index, dtype="string")
    words = words.mask(coarse.fillna(0) > 0, "seconds")
    return words.where(known.fillna(0) > 0)


def summary(
    counted: pd.DataFrame | Counted,
    by: list[str],
    value: str,
    wanted: Mapping[str, int | None],
    *,
    rounded: bool = True,
) -> pd.DataFrame:
    """Count, sum, mean, extremes and quantiles of counted times.

    Args:
        counted: a row for each group, value and ``coarse``, with the count ``n`` and how many of these have a ``known``
            precision. wanted: as in ``quantiles``. rounded: whether whole seconds make the figures whole seconds.
    Returns:
        ``by``, ``plies``, ``total_ms``, ``mean_ms``, ``least_ms``, ``most_ms``, ``coarse`` (plies with whole seconds),
        ``precision``, and ``wanted``.
    """
    return _of_pieces(counted, lambda piece: _summary(piece, by, value, wanted, rounded=rounded))


def _summary(
    counted: pd.DataFrame, by: list[str], value: str, wanted: Mapping[str, int | None], *, rounded: bool
) -> pd.DataFrame:
    rows, groups = _numbered(counted, by)
    rows = rows.assign(sum=rows[value] * rows["n"], coarse=rows["coarse"] * rows["n"])
    sums = rows.groupby("_group").agg(
        plies=("n", "sum"),
        total_ms=("sum", "sum"),
        least_ms=(value, "min"),
        most_ms=(value, "max"),
        coarse=("coarse", "sum"),
        known=("known", "sum"),
    )
    table = groups.join(sums).join(_quantiles(rows, value, wanted))
    table["mean_ms"] = mean(table["total_ms"], table["plies"])
    table["precision"] = precision(table["coarse"], table.pop("known"))
    if rounded:
        for name in ("total_ms", "mean_ms", "least_ms", "most_ms", *wanted):
            table[name] = in_unit(table[name], table["coarse"])
    return table


def quantiles(
    counted: pd.DataFrame | Counted, by: list[str], value: str, wanted: Mapping[str, int | None]
) -> pd.DataFrame:
    """Quantiles of values of which is known how often each occurs.

    Args:
        counted: rows with a group, a value and how often it occurs, ``n``. by: the groups' columns.
        wanted: name of the result's column → percent, taken by nearest rank: the least value that so many percent of
            the values do not exceed. None: the median, which is the mean of the two middle values, rounded half up.
    Returns:
        ``by`` and a column for each name; one row per group.
    """

    def of_piece(piece: pd.DataFrame) -> pd.DataFrame:
        rows, groups = _numbered(piece, by)
        return groups.join(_quantiles(rows, value, wanted))

    return _of_pieces(counted, of_piece)


def _of_pieces(counted: pd.DataFrame | Counted, compute: Callable[[pd.DataFrame], pd.DataFrame]) -> pd.DataFrame:
    """A table of groups, from the pieces of their counts one after the other."""
    if isinstance(counted, pd.DataFrame):
        return compute(counted)
    tables = [compute(piece) for piece in counted.pieces()]
    filled = [table for table in tables if len(table)] or tables[:1]
    return pd.concat(filled, ignore_index=True)


def _numbered(counted: pd.DataFrame, by: list[str]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The rows with the number of their group, and the groups' columns by number: names are compared only once."""
    number = counted.groupby(by, dropna=False, observed=True, sort=False).ngroup()
    rows = counted.assign(_group=number)
    return rows, rows.drop_duplicates("_group").set_index("_group")[by]


def _quantiles(rows: pd.DataFrame, value: str, wanted: Mapping[str, int | None]) -> pd.DataFrame:
    rows = rows[["_group", value, "n"]].sort_values(["_group", value])
    grouped = rows.groupby("_group")["n"]
    upto, of = grouped.cumsum(), grouped.transform("sum")

    def at_rank(rank: pd.Series[Any]) -> pd.Series[Any]:
        """Of each group the value of a rank; the first has rank 1."""
        there = rows.loc[(upto >= rank) & (upto - rows["n"] < rank)]
        return there.set_index("_group")[value]

    found = {}
    for name, percent in wanted.items():
        if percent is None:
            found[name] = (at_rank((of + 1) // 2) + at_rank(of // 2 + 1) + 1) // 2
        else:
            found[name] = at_rank((of * percent + 99) // 100)
    return pd.DataFrame(found)


def band_of(value_ms: nw.Expr, edges: Sequence[int], unit_ms: nw.Expr | int = 1000) -> nw.Expr:
    """The number of the band that a time is in: 0 below the first edge.

    Args:
        value_ms: the time. edges: ascending, in the unit. unit_ms: the unit, in milliseconds.
    """
    band: nw.Expr = nw.lit(0)
    for number, edge in enumerate(edges, 1):
        band = nw.when(value_ms >= edge * unit_ms).then(nw.lit(number)).otherwise(band)
    return band


def with_edges(table: pd.DataFrame, edges: Sequence[int], begin: str, end: str) -> pd.DataFrame:
    """A computed table with its column ``band``, sorted by it, with two columns more: where each begins and ends.

    Args:
        begin, end: the columns' names; NA where a band is open.
    """
    edge: dict[Any, int] = dict(enumerate(edges))
    table[begin] = (table["band"] - 1).map(edge).astype("Int64")
    table[end] = table["band"].map(edge).astype("Int64")
    return table.sort_values("band", kind="stable", ignore_index=True)
