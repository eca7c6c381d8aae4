"""Ply frames of three engines behind one set of expressions, and the dimensions of tables.

A measure is written once, as narwhals expressions: filters, columns, ``group_by`` with counts, sums and extremes,
joins. Those give the same integers in pandas, DuckDB and Dask, whatever the order and the partitions of the rows. What
is no sum (medians, percentiles, shares) is computed from counted values, in pandas, when the small tables are back
(``result.py``). So results are equal, not nearly equal. ``Aggregate`` says how the tables
of several batches are added up.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import pairwise
from operator import add
from typing import Any, NamedTuple

import narwhals as nw
import pandas as pd
from narwhals.typing import IntoFrame

from exporters.tables.columns import ON_REQUEST, PLY_COLUMNS
from recorder.times import LOW_LEAST_MS, LOW_MOST_MS, LOW_OF_BASE_MS

__all__ = [
    "COARSE",
    "DIMENSIONS",
    "Dimension",
    "DimensionError",
    "FIRST_MOVE",
    "INFERRED",
    "NOT_PLAYED",
    "NO_CLOCK",
    "NO_LAG",
    "NO_TIME",
    "PHASES",
    "Asked",
    "Aggregate",
    "Plies",
    "Exclusion",
    "SECONDS_ONLY",
    "TIME_TROUBLE",
    "UNTIMED",
    "collect",
    "dimension",
    "flag",
    "is_true",
    "lazy",
]

PHASES = ("opening", "middlegame", "endgame")
_HOUR_MS = 3_600_000
_DAY_MS = 24 * _HOUR_MS
_THURSDAY = 3  # 1970-01-01, counted from Monday
_BAND = 200
_LAG_EDGES_MS = (50, 100, 200, 500, 1000, 2000, 5000)
_CLOCK_EDGES_MS = (10_000, 30_000, 60_000, 120_000, 300_000, 600_000)
_NOT_TOLD_BY = ("at", "mover_score")  # no whole numbers or words


class DimensionError(ValueError):
    """``by`` names something that no table, or not this one, can be grouped by."""


class Dimension(NamedTuple):
    """One dimension that a table is grouped by.

    Attributes:
        name: as it was asked for. columns: of the ply frame that it reads.
        keys: the grouping columns' names and expressions.
        shown_columns: columns shown with an identity: the handle, whether it is a guest's, whether a computer's.
    """

    name: str
    columns: tuple[str, ...]
    keys: Mapping[str, nw.Expr]
    shown_columns: tuple[str, ...] = ()


def _renamed(name: str, column: str) -> Dimension:
    return Dimension(name, (column,), {name: nw.col(column)})


def _someone(name: str, who: str) -> Dimension:
    shown_columns = (who, f"{who}_guest", f"{who}_computer")
    return Dimension(name, (f"{who}_id", *shown_columns), {f"{name}_id": nw.col(f"{who}_id")}, shown_columns)


def _instant(name: str, of_utc_ms: nw.Expr) -> Dimension:
    """From the integer, so that no engine's time zone counts; nothing where the zone is not known."""
    known = nw.col("time_basis") == "utc"
    return Dimension(name, ("arrival_ms", "time_basis"), {name: nw.when(known).then(of_utc_ms)})


def _band(name: str, column: str, edges_ms: Sequence[int]) -> Dimension:
    """Bands of a time, by their lower ends; the first one begins at 0, and nothing where the time is not known."""
    # Sums of whole numbers stay whole where some are unknown; pandas gives what ``when`` chooses as fractions. The sum
    # begins with the column, because where unknown is NaN, comparing it gives False.
    steps = ((nw.col(column) >= edge).cast(nw.Int64) * (edge - before) for before, edge in pairwise((0, *edges_ms)))
    return Dimension(name, (column,), {f"{name}_ms": reduce(add, steps, nw.col(column) * 0)})


_AT_MS = nw.col("arrival_ms")
_BEFORE_MS = nw.col("clock_before_ms")
TIME_TROUBLE = (_BEFORE_MS < LOW_LEAST_MS) | (
    (_BEFORE_MS < LOW_MOST_MS) & ((nw.col("base_s").cast(nw.Int64) * LOW_OF_BASE_MS).fill_null(0) > _BEFORE_MS)
)
"""Whether the mover's clock was low before the move; nothing where it is not known."""

DIMENSIONS = {
    one.name: one
    for one in (
        _someone("player", "mover"),
        _someone("opponent", "opponent"),
        _renamed("guest", "mover_guest"),
        _renamed("computer", "mover_computer"),
        _renamed("sealed", "mover_sealed"),
        _renamed("game", "key"),
        _renamed("eco", "eco"),
        _renamed("opening", "opening"),
        _renamed("event", "event"),
        # Not under its own name: ``precision`` is a column of each table with the precision of its figures.
        Dimension("precision", ("precision",), {"printed": nw.col("precision")}),
        Dimension("time_trouble", ("clock_before_ms", "base_s"), {"time_trouble": TIME_TROUBLE}),
        Dimension("rating_band", ("mover_rating",), {"rating_band": nw.col("mover_rating") // _BAND * _BAND}),
        _band("lag_band", "lag_ms", _LAG_EDGES_MS),
        _band("clock_band", "clock_before_ms", _CLOCK_EDGES_MS),
        _instant("hour", _AT_MS // _HOUR_MS % 24),
        _instant("weekday", (_AT_MS // _DAY_MS + _THURSDAY) % 7 + 1),
    )
}
"""Dimensions that are no column of every ply frame, or more than one."""


def dimension(name: str, have: Collection[str]) -> Dimension:
    """The dimension of a name.

    Args:
        name: one of ``DIMENSIONS``, ``mover`` (which is ``player``: a handle alone would pool guests), ``key`` (which
            is ``game``), or a column.
        have: the frame's columns.
    Raises:
        DimensionError: there is no such dimension.
    """
    known = DIMENSIONS.get({"mover": "player", "key": "game"}.get(name, name))
    if known is not None:
        return known
    if name not in have or name in _NOT_TOLD_BY or name.endswith("_ms"):
        names = ", ".join(DIMENSIONS)
        raise DimensionError(f"no table can be grouped by {name!r}; use {names}, or a column of words or small numbers")
    return _renamed(name, name)


_WORDS = frozenset(column.name for column in (*PLY_COLUMNS, *ON_REQUEST) if column.kind == "text")
_ALL = "_all"  # the grouping column of a table without dimensions
_DASK_MOVES_OUT = "Dask support is moving out of Narwhals"


def is_true(condition: nw.Expr) -> nw.Expr:
    """A condition that is false where it is not known."""
    return condition.fill_null(False)


def flag(condition: nw.Expr) -> nw.Expr:
    """1 where a condition is true, else 0: to be summed."""
    return nw.when(is_true(condition)).then(nw.lit(1)).otherwise(nw.lit(0))


COARSE = flag(nw.col("precision").is_in(["seconds", "derived_seconds", "elapsed_derived_seconds"]))
"""1 where a ply's times were printed in whole seconds."""


class Exclusion:
    """Why plies are excluded: a name, the condition, and the columns that it reads."""

    def __init__(self, name: str, condition: nw.Expr, *columns: str) -> None:
        self.name, self.condition, self.columns = name, condition, columns


NOT_PLAYED = Exclusion("not played", nw.col("kind") != "played", "kind")
UNTIMED = Exclusion("untimed", nw.col("time_control") == "-", "time_control")
INFERRED = Exclusion("inferred", nw.col("origin") == "inferred", "origin")
NO_TIME = Exclusion("no time", nw.col("elapsed_ms").is_null(), "elapsed_ms")
NO_CLOCK = Exclusion("no clock", nw.col("clock_after_ms").is_null(), "clock_after_ms")
NO_LAG = Exclusion("no lag", nw.col("lag_ms").is_null(), "lag_ms")
FIRST_MOVE = Exclusion("first move", nw.col("move_no") == 1, "move_no")
SECONDS_ONLY = Exclusion("seconds only", COARSE == 1, "precision")


class Aggregate(NamedTuple):
    """A table that a measure needs of the plies, and how those of several batches of games are added up.

    Attributes:
        table: not computed yet.
        by: the columns that identify a row; None: no row of one batch is a row of another.
        least, most: columns of which the least or the greatest value counts; all others are sums.
        value: the column whose values are counted in ``n``; such a table may be as long as the plies.
    """

    table: nw.LazyFrame[Any]
    by: tuple[str, ...] | None
    least: tuple[str, ...] = ()
    most: tuple[str, ...] = ()
    value: str | None = None


class Asked(NamedTuple):
    """What a measure asks for: ``parts`` of plies with these ``columns``, which it has cut down to ``source``."""

    columns: frozenset[str]
    parts: Mapping[str, Aggregate]
    source: Plies | None = None


@dataclass(frozen=True, slots=True)
class Plies:
    """A ply frame, cut down to what a measure reads, with the reasons why some of its plies do not count.

    Attributes:
        rows: the plies that count, with the dimensions' columns and ``of_white`` (1: White moved, 0: Black).
        judged: all plies, with ``excluded``: 0, or the number of the reason in ``reasons``, counted from 1.
        dimensions: what the result is grouped by. by: names of the columns that ``rows`` is grouped by.
        columns: of the frame, all that are read.
        apart: why plies that no reason excludes are not among ``rows``.
    """

    rows: nw.LazyFrame[Any]
    judged: nw.LazyFrame[Any]
    reasons: tuple[str, ...]
    dimensions: tuple[Dimension, ...]
    columns: frozenset[str]
    apart: str = "not asked for"

    @classmethod
    def of(
        cls,
        plies: IntoFrame | nw.LazyFrame[Any],
        by: str | Iterable[str],
        columns: Iterable[str],
        reasons: Sequence[Exclusion],
        derived: Mapping[str, nw.Expr] | None = None,
        always: str | None = None,
    ) -> Plies:
        """Take what a measure needs of a frame.

        Args:
            plies: the ply frame: a pandas DataFrame, a DuckDB relation, a Dask DataFrame or a narwhals frame.
            by: names of dimensions, or one.
            columns: that the measure reads, besides those of dimensions and reasons.
            reasons: why plies are excluded; the first that holds is counted.
            derived: columns that the measure computes from ``columns``.
            always: the column that the measure's table is always grouped by.
        Raises:
            AttributeError: columns are missing; the message names them.
            DimensionError: a dimension is named twice, or the table is always grouped by it.
        """
        frame = lazy(plies)
        have = frame.collect_schema().names()
        dimensions = tuple(dimension(name, have) for name in ([by] if isinstance(by, str) else by))
        names = [name for one in dimensions for name in one.keys]
        if len({*names}) < len(names):
            raise DimensionError(f"a table is grouped by each of {', '.join(one.name for one in dimensions)} only once")
        if always in names:
            raise DimensionError(f"this table is always grouped by {always}: remove it from `by`")
        wanted = {"key", "ply", "complete", "precision", *columns}
        wanted.update(name for reason in reasons for name in reason.columns)
        wanted.update(name for one in dimensions for name in one.columns)
        if missing := sorted(wanted.difference(have)):
            if {*missing} <= {column.name for column in ON_REQUEST}:
                raise AttributeError(
                    f"this table of plies lacks {', '.join(missing)}: ask for it with plies(extra={missing!r})."
                )
            raise AttributeError(
                f"this is no table of plies: it lacks {', '.join(missing)}. "
                "recorder.Archive(…).plies() and `export plies` make them; docs/reference/tables.md lists the columns."
            )
        frame = frame.select(*sorted(wanted))
        named = {name: expression for one in dimensions for name, expression in one.keys.items()}
        if not dimensions:
            named = {_ALL: nw.lit(0)}
        code = nw.lit(0)
        for number, reason in reversed(list(enumerate(reasons, 1))):
            code = nw.when(is_true(reason.condition)).then(nw.lit(number)).otherwise(code)
        judged = frame.with_columns(
            **named, **(derived or {}), coarse=COARSE, of_white=nw.col("ply") % 2, excluded=code
        )
        names = [reason.name for reason in reasons]
        return cls(judged.filter(nw.col("excluded") == 0), judged, tuple(names), dimensions, frozenset(wanted))

    @property
    def by(self) -> list[str]:
        """The columns to group by: those of the dimensions, or one that holds the same value everywhere."""
        return [name for one in self.dimensions for name in one.keys] or [_ALL]

    def with_rows(self, rows: nw.LazyFrame[Any], apart: str | None = None) -> Plies:
        """The same with fewer rows that count, or more columns; ``apart``: why the others do not."""
        return replace(self, rows=rows, apart=apart or self.apart)

    def ask(self, parts: Mapping[str, Aggregate], *, finished: bool = True) -> Asked:
        """A measure's parts, and with them what ``result.shown_columns`` needs of the ``finished`` measure."""
        if finished:
            names = {f"names of {name}": part for name, part in self._names().items()}
            parts = {**parts, "kept": self.kept_by(), "omitted": self._omitted(), **names}
        return Asked(self.columns, parts, self)

    def grouped(self, rows: nw.LazyFrame[Any], *also: str, **aggregates: nw.Expr) -> Aggregate:
        """Sums of rows by the dimensions and other columns."""
        by = (*self.by, *also)
        return Aggregate(rows.group_by(*by).agg(**aggregates), by)

    def counts(self, value: str, *also: str) -> Aggregate:
        """How often each value occurs, by the dimensions: what ``result.summary`` takes."""
        return self.counted(self.rows, value, *also, known=nw.col("precision").count())

    def counted(self, rows: nw.LazyFrame[Any], value: str, *also: str, known: nw.Expr) -> Aggregate:
        """As ``counts``, of any rows; ``known``: above 0 where a precision is known."""
        by = (*self.by, *also, value, "coarse")
        return Aggregate(rows.group_by(*by).agg(n=nw.len(), known=known), by, value=value)

    def games(self, *also: str) -> Aggregate:
        """The number of games by the dimensions. A game of several groups counts in each."""
        by = (*self.by, *also)
        return Aggregate(self.rows.group_by(*by, "key").agg(n=nw.len()).group_by(*by).agg(games=nw.len()), by)

    def kept_by(self, *names: str) -> Aggregate:
        """By columns, or in one row: the games and the plies that count, and the marks of these."""
        marked = self.rows.with_columns(
            partly=flag(~nw.col("complete")),
            derived=flag(nw.col("precision").is_in(["derived_seconds", "derived_milliseconds"])),
            computed=flag(nw.col("precision").is_in(["elapsed_derived_seconds", "elapsed_derived_milliseconds"])),
        )
        marks = ("coarse", "partly", "derived", "computed")
        games = marked.group_by(*names, "key").agg(*(nw.col(name).sum() for name in marks), plies=nw.len())
        sums = [nw.col(name).sum() for name in ("plies", *marks)]
        count = nw.col("plies").count()
        return Aggregate(
            games.group_by(*names).agg(*sums, games=count) if names else games.select(*sums, games=count), names
        )

    def _omitted(self) -> Aggregate:
        """How many plies each reason excludes, and under 0 those that none does."""
        return Aggregate(self.judged.group_by("excluded").agg(plies=nw.len()), ("excluded",))

    def omitted_by_group(self) -> Aggregate:
        """How many plies each reason excludes, by the dimensions."""
        by = (*self.by, "excluded")
        table = self.judged.filter(nw.col("excluded") > 0).group_by(*by).agg(plies=nw.len())
        return Aggregate(table, by)

    def _names(self) -> dict[str, Aggregate]:
        """The handles behind the identities of the dimensions, by dimension."""
        found: dict[str, Aggregate] = {}
        for one in self.dimensions:
            if one.shown_columns:
                handle, *marks = one.shown_columns
                flags = {name: flag(nw.col(name)) for name in marks}
                flags |= {f"{name} known": flag(~nw.col(name).is_null()) for name in marks}
                by = (*one.keys, handle)
                table = self.rows.with_columns(**flags).group_by(*by).agg(nw.col(name).max() for name in flags)
                found[one.name] = Aggregate(table, by, most=tuple(flags))
        return found


def lazy(plies: IntoFrame | nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
    """Any engine's frame as a narwhals frame that computes when it is collected."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=_DASK_MOVES_OUT, category=FutureWarning)
        given = nw.from_native(plies)
    frame: nw.LazyFrame[Any] = given.lazy()
    if frame.implementation.is_pandas():
        return frame
    # A partition knows only its own categories, and of words that are all missing a file may tell any type.
    kinds = frame.collect_schema().items()
    words = [name for name, kind in kinds if name in _WORDS or kind in (nw.Categorical, nw.Enum)]
    return frame.with_columns(nw.col(name).cast(nw.String) for name in words) if words else frame


def collect(parts: Mapping[str, Aggregate]) -> dict[str, pd.DataFrame]:
    """Compute several tables and bring them to pandas; on Dask in one run, so that the data are read once.

    Returns:
        The tables under their names, with pandas' nullable types: string, boolean, Int64, Float64.
    """
    tables = {name: part.table for name, part in parts.items()}
    if any(table.implementation.is_dask() for table in tables.values()):
        from dask.base import compute

        natives = {name: table.to_native() for name, table in tables.items()}
        computed = compute(*natives.values())  # type: ignore[no-untyped-call]  # Dask has no types
        return {name: _plain(table) for name, table in zip(natives, computed, strict=True)}
    return {
        name: _plain(table.collect("pyarrow" if table.implementation.is_duckdb() else None).to_native())
        for name, table in tables.items()
    }


def _plain(table: Any) -> pd.DataFrame:
    """A computed table with nullable types, whatever engine made it."""
    if not isinstance(table, pd.DataFrame):
        table = _from_arrow(table)
    return pd.DataFrame({name: _plain_column(table[name]) for name in table.columns})


def _from_arrow(table: Any) -> pd.DataFrame:
    import pyarrow as pa

    nullable = {pa.int64(): pd.Int64Dtype(), pa.bool_(): pd.BooleanDtype(), pa.float64(): pd.Float64Dtype()}
    # DuckDB's sums have 128 bits, which pandas has not.
    whole = [pa.types.is_integer(field.type) or pa.types.is_decimal(field.type) for field in table.schema]
    fields = [field.with_type(pa.int64()) if so else field for field, so in zip(table.schema, whole, strict=True)]
    found: pd.DataFrame = table.cast(pa.schema(fields)).to_pandas(types_mapper=nullable.get)
    return found


def _plain_column(column: pd.Series[Any]) -> pd.Series[Any]:
    kind = column.dtype
    if isinstance(kind, pd.CategoricalDtype):
        return column.astype("string")
    if pd.api.types.is_bool_dtype(kind):
        return column.astype("boolean")
    if pd.api.types.is_integer_dtype(kind):
        return column.astype("Int64")
    if pd.api.types.is_float_dtype(kind):
        return column.astype("Float64")
    return column if pd.api.types.is_datetime64_any_dtype(kind) else column.astype("string")
