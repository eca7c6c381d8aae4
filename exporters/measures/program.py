"""How a measure is computed: SQL over a ply table, in steps that add up where the plies are in several parts.

``judged`` are all plies with the number of the first reason that excludes each, ``kept`` those without one, and
``rows`` those that count. Of these come the parts: counts by value, from which quantiles are exact, and sums. Parts of
sets of whole games add up, so that the workers of a cluster compute them, and the last SELECT, which makes the table,
runs over the sums.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from exporters.measures.dimensions import Dimension, DimensionError, dimension
from exporters.measures.source import Plies, game_of
from exporters.tables.columns import ALL_PLY_COLUMNS, MATCH_COLUMNS, ON_REQUEST
from recorder.errors import ExportError

if TYPE_CHECKING:
    import pandas as pd


class Reason(NamedTuple):
    """In words, and as a condition."""

    name: str
    condition: str


class Part(NamedTuple):
    """Sums by the dimensions and by ``Program.also``.

    Attributes:
        figures: column → aggregate; a tuple also has the aggregate that combines parts, if that is not ``sum``.
        table: what it is computed of; ``{keys}`` are the columns that it is grouped by. also: instead of the program's.
    """

    figures: Mapping[str, str | tuple[str, str]]
    table: str = "rows"
    also: Sequence[str] | None = None


class Sides(NamedTuple):
    """``of_each`` are aggregates of the plies of each side of each game, ``counts`` those of the sides."""

    of_each: Mapping[str, str]
    counts: Mapping[str, str]


class Stats(NamedTuple):
    """``plies``, ``total_ms``, ``mean_ms``, ``least_ms``, ``most_ms`` and quantiles of a value, from its counts.

    Attributes:
        value: the expression; null does not count. table: what it is of. prefix: of the names of the columns.
        wanted: column → percent by nearest rank; None: the median, the mean of the two middle values, rounded half up.
    """

    value: str
    wanted: Mapping[str, int | None] = {}
    table: str = "rows"
    prefix: str = ""


@dataclass(frozen=True)
class Program:
    """A measure.

    Attributes:
        by: dimensions. reasons: why plies are excluded; the first that holds is counted.
        columns: of the table, behind the dimensions and ``also``: SQL over the parts; a name alone is a column of one.
        also: the columns that the table is always grouped by. hidden: those of them that are not shown.
        source: what is read instead of ``plies``. derived: columns of ``judged`` that follow from the ply.
        steps: tables made of ``judged`` and ``kept``, the last one ``rows``; without any it is ``kept``.
        top: instead of steps, a column and how many of its largest values count, with all that are equal to the last.
        least: the last of them, if that is known.
        apart: why plies that are kept are not among ``rows``.
        values: what counts by value are made of. parts: other parts; ``groups``: columns of the first part, which has a
            row for each group, with ``games``. sides: more of these columns.
        order: of the rows; default: the dimensions and ``also``.
    """

    by: Sequence[str]
    reasons: Sequence[Reason]
    columns: Mapping[str, str]
    also: Sequence[str] = ()
    hidden: Sequence[str] = ()
    source: str = "plies"
    derived: Mapping[str, str] = field(default_factory=dict)
    steps: Mapping[str, str] = field(default_factory=dict)
    top: tuple[str, int] | None = None
    least: int | None = None
    apart: str = "not asked for"
    values: Mapping[str, Stats] = field(default_factory=dict)
    parts: Mapping[str, Part] = field(default_factory=dict)
    groups: Mapping[str, str | tuple[str, str]] = field(default_factory=dict)
    sides: Sides | None = None
    order: Sequence[str] = ()


class Measured(NamedTuple):
    """A measure's table.

    Attributes:
        columns, kinds: names and DuckDB's types. rows: plain values; None: unknown.
        attrs: ``games`` and ``plies`` that count; ``excluded``: reason → plies; ``marked``: mark → plies that count.
        omitted: by the values of the dimensions: plies by the reason that excludes them.
        keys: the names of these dimensions.
    """

    columns: list[str]
    kinds: list[str]
    rows: list[tuple[Any, ...]]
    attrs: dict[Any, Any]
    omitted: dict[tuple[Any, ...], dict[str, int]]
    keys: tuple[str, ...]

    def records(self) -> list[dict[str, Any]]:
        """The rows by the names of the columns."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]

    def sorted_by(self, sort: str) -> Measured:
        """The rows sorted by a column; with ``-`` in front of its name the largest first. Unknown values come last."""
        name = sort.removeprefix("-").replace("-", "_")
        number = next((index for index, heading in enumerate(self.columns) if heading in (name, f"{name}_ms")), None)
        if number is None:
            raise ExportError(f"There is no column {sort!r} to sort by; there are {', '.join(self.columns)}.")
        known = [row for row in self.rows if row[number] is not None]
        unknown = [row for row in self.rows if row[number] is None]
        rows = sorted(known, key=lambda row: row[number], reverse=sort.startswith("-"))
        return self._replace(rows=[*rows, *unknown])

    def frame(self) -> pd.DataFrame:
        frame = frame_of_rows(self.columns, self.kinds, self.rows)
        frame.attrs = dict(self.attrs)
        return frame


_DTYPES: Final = {"BOOLEAN": "boolean", "DOUBLE": "Float64", "VARCHAR": "string"}


def frame_of_rows(columns: Sequence[str], kinds: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> pd.DataFrame:
    import pandas as pd

    values: Iterable[Sequence[Any]] = zip(*rows, strict=True) if rows else ([] for _ in columns)
    dtypes: list[Any] = ["string" if kind.startswith("ENUM") else _DTYPES.get(kind, "Int64") for kind in kinds]
    arrays = (pd.array(list(value), dtype=dtype) for value, dtype in zip(values, dtypes, strict=True))
    return pd.DataFrame(dict(zip(columns, arrays, strict=True)))


_COARSE: Final = "coalesce(precision IN ('seconds', 'derived_seconds', 'elapsed_derived_seconds'), FALSE)"
_MARKS: Final = {
    "seconds only": "coarse",
    "incomplete": "NOT complete",
    "derived clock": "precision IN ('derived_seconds', 'derived_milliseconds')",
    "derived time": "precision IN ('elapsed_derived_seconds', 'elapsed_derived_milliseconds')",
}
_EACH: Final = {"coarse": _COARSE, "known": "precision IS NOT NULL", "of_white": "ply % 2", "_all": "0"}
_OF_UNIT: Final = {"coarse": ("bool_or(coarse)", "bool_or"), "known": ("bool_or(known)", "bool_or")}
_PRECISION: Final = "CASE WHEN groups.coarse THEN 'seconds' WHEN groups.known THEN 'milliseconds' END"
_WORD: Final = re.compile(r"'[^']*'|[a-z_][a-z0-9_]*")
_NAMES: Final = frozenset(column.name for column in ALL_PLY_COLUMNS)
_ORDERS: Final = {
    "phase": ("list_position(['opening', 'middlegame', 'endgame'], {})",),
    "side": ("{} = 'black'",),
    "time_control": tuple(f"try_cast(split_part({{}}, '+', {place}) AS BIGINT)" for place in (1, 2)),
}
_MIDDLES: Final = ("0.5", "0.5000000001")


def with_keys(program: Program) -> Program:
    keys = "list(DISTINCT key)" if program.sides is None else ("any_value(key)", "list")
    return replace(program, columns={**program.columns, "keys": "keys"}, groups={**program.groups, "keys": keys})


def run(program: Program, source: Any, *, omitted: bool = False) -> Measured:
    """``omitted``: count excluded plies by the dimensions, too. AttributeError: the message names missing columns."""
    plies = Plies.of(source)
    statement = _Statement(program, plies, omitted=omitted)
    if program.top is not None:  # the largest of all parts
        column, most = program.top
        largest = f"WITH {statement.steps} SELECT {column} FROM kept ORDER BY ALL DESC LIMIT {most}"
        values = sorted((value for (value,) in plies.rows(largest)), reverse=True)[:most]
        program = replace(program, least=values[-1] if values else 0)
        statement = _Statement(program, plies, omitted=omitted)
    measured: Measured = plies.computed(statement)
    return measured


def run_each(program: Program, plies: Plies, values: Iterable[str]) -> dict[str, Measured]:
    """For each value of the first dimension; the result is that of its plies alone, but for shares of the table."""
    statement = _Statement(program, plies, omitted=False, each=program.by[0])
    whole: dict[str | None, Measured] = plies.computed(statement)
    nothing = whole[None]
    return {value: whole.get(value, nothing) for value in values}


class _Statement:
    """``each``: attributes are counted by this column."""

    def __init__(self, program: Program, plies: Plies, *, omitted: bool, each: str | None = None) -> None:
        have = plies.columns
        self._large = plies.large
        self._each = each
        by_each = "" if each is None else f"{each} AS _each, "
        self._program = program
        self._dimensions = _dimensions(program, have)
        self._by = ["_all", *(key for one in self._dimensions for key in one.keys)]
        unknown = {
            one.unknown: [f"({text}) IS NULL" for text in one.keys.values()] for one in self._dimensions if one.unknown
        }
        self._reasons = [*program.reasons, *(Reason(name, " OR ".join(texts)) for name, texts in unknown.items())]
        self.steps = self._steps(have)
        names = {name: of for group in self._dimensions for name, of in group.names.items()}
        self._parts = {"groups": self._groups({**_OF_UNIT, **names, **program.groups}), **program.parts}
        grouped = "" if each is None else " GROUP BY ALL"
        marks = ", ".join(f"count(*) FILTER (WHERE {condition}) AS _{n}" for n, condition in enumerate(_MARKS.values()))
        self.parts = {name: self._part(part) for name, part in self._parts.items()} | {
            "counted": (
                f"SELECT {by_each}count(*) AS _plies, {marks}, count(DISTINCT game) AS _games FROM rows{grouped}"
            ),
            "reasons": f"SELECT {by_each}excluded AS _excluded, count(*) AS _of FROM judged GROUP BY ALL",
        }
        if omitted:
            by = ", ".join(self._by)
            self.parts["omitted"] = f"SELECT {by}, excluded, count(*) AS n FROM judged WHERE excluded > 0 GROUP BY ALL"

    def _steps(self, have: frozenset[str]) -> str:
        program = self._program
        keys = {name: key for dim in self._dimensions for name, key in dim.keys.items()}
        made = {**_EACH, **program.derived}
        code = (
            " ".join(f"WHEN {reason.condition} THEN {number}" for number, reason in enumerate(self._reasons, 1))
            or "WHEN FALSE THEN 0"
        )
        figures = [value for part in (Part(program.groups), *program.parts.values()) for value in part.figures.values()]
        texts = [figure if isinstance(figure, str) else figure[0] for figure in figures]
        texts += [of.value for of in program.values.values()]
        texts += [] if program.sides is None else [*program.sides.of_each.values()]
        texts += [of.table for of in program.values.values()]
        texts += [part.table for part in program.parts.values()]
        texts += [name for dim in self._dimensions for name, _ in dim.names.values()]
        texts += [*keys, *keys.values(), *program.derived.values(), *program.steps.values(), *program.also]
        texts += ["key ply complete precision", (program.top or ("",))[0]]
        counted = {word for text in texts for word in _WORD.findall(text)}
        words = counted | {word for text in (code, *made.values()) for word in _WORD.findall(text)}
        needed = sorted((words & _NAMES) | ({*keys.values()} & have))
        if missing := [name for name in needed if name not in have and name not in made]:
            raise AttributeError(_lacks(missing))
        plain = [name for name in needed if name not in made and keys.get(name, name) == name]
        columns = [*plain, *(f"{sql} AS {name}" for name, sql in {**keys, **made}.items() if name not in plain)]
        columns += [f"{game_of(have)} AS game", f"CASE {code} ELSE 0 END AS excluded"]
        judged = f"SELECT {', '.join(columns)} FROM {program.source}"
        judges = ", ".join(["excluded", *(name for name in plain if name not in counted)])
        kept = f"SELECT * EXCLUDE ({judges}) FROM judged WHERE excluded = 0"
        own = dict(program.steps) or {"rows": "FROM kept"}
        if program.top is not None and program.least is not None:
            own = {"rows": f"FROM kept WHERE {program.top[0]} >= {program.least}"}
        steps = {"judged": judged, "kept": kept, **own}
        once = ("OVER ", "GROUP BY")
        how = {name: "" if any(word in own.get(name, "") for word in once) else "NOT " for name in steps}
        if not self._large:
            how["judged"] = ""
        return ", ".join(f"{name} AS {how[name]}MATERIALIZED ({step})" for name, step in steps.items())

    def _groups(self, figures: Mapping[str, str | tuple[str, str]]) -> Part:
        sides = self._program.sides
        if sides is None:
            return Part({"games": "count(DISTINCT game)", **figures})
        # First by side: of neighbours in a table few groups are met at a time.
        of_each = {name: of if isinstance(of, str) else of[0] for name, of in figures.items()}
        listed = ", ".join(f"{of} AS {name}" for name, of in {**of_each, **sides.of_each}.items())
        hows = {name: "sum" if isinstance(of, str) else of[1] for name, of in figures.items()}
        sums = {name: (f"{how}({name})", how) for name, how in hows.items()}
        table = f"(SELECT {{keys}}, game, of_white, {listed} FROM rows GROUP BY ALL)"
        return Part({"games": "count(DISTINCT game)", **sums, **sides.counts}, table)

    def _keys(self, also: Sequence[str] | None) -> list[str]:
        return [*self._by, *(self._program.also if also is None else also)]

    def _part(self, part: Part) -> str:
        figures = [f"{of if isinstance(of, str) else of[0]} AS {name}" for name, of in part.figures.items()]
        keys = ", ".join(self._keys(part.also))
        return f"SELECT {keys}, {', '.join(figures)} FROM {part.table.format(keys=keys)} GROUP BY ALL"

    def of_whole(self, plies: Plies) -> Any:
        program = self._program
        values = {name: self._values(of) for name, of in program.values.items()}
        if not plies.large:
            return self._finish({**self.parts, **values}, plies.execute, self.steps)
        # One at a time: all at once need more memory; reasons, which need no steps, then take a third of the time.
        stats = {name: _stats_of(values[name], of, self._keys(None)) for name, of in program.values.items()}
        apart = {"reasons": self.parts["reasons"]} if program.steps else {**self.parts, **stats}
        tables = {name: f"_{name}_of_plies" for name in apart}
        kept = {name: f"FROM {table}" for name, table in tables.items()}
        try:
            for name, sql in apart.items():
                plies.store(f"WITH {self.steps} {sql}", tables[name])
            if program.steps:
                return self._finish({**self.parts, **values, **kept}, plies.execute, self.steps)
            return self._finish(kept, plies.execute, stored=True)
        finally:
            for table in tables.values():
                plies.drop(table)

    def of_sums(self, tables: Mapping[str, str], execute: Callable[[str], Any]) -> Any:
        return self._finish({name: self._combined(name, table) for name, table in tables.items()}, execute)

    def of_parts(self) -> dict[str, str]:
        counts = {
            name: f"SELECT *, count(*) AS n FROM ({self._values(of)}) GROUP BY ALL"
            for name, of in self._program.values.items()
        }
        return {name: f"WITH {self.steps} {sql}" for name, sql in {**self.parts, **counts}.items()}

    def _values(self, of: Stats) -> str:
        keys = ", ".join(self._keys(None))
        return f"SELECT {keys}, {of.value} AS value FROM {of.table.format(keys=keys)} WHERE ({of.value}) IS NOT NULL"

    def _combined(self, name: str, table: str) -> str:
        """Or gives the values of counts."""
        if name in self._program.values:
            keys = ", ".join(self._keys(None))
            return f"SELECT {keys}, value FROM {table}, range(n)"
        if name in self._parts:
            part = self._parts[name]
            how = {figure: "sum" if isinstance(of, str) else of[1] for figure, of in part.figures.items()}
            sums = [f"{how[figure]}({figure}) AS {figure}" for figure in how]
            return f"SELECT {', '.join((*self._keys(part.also), *sums))} FROM {table} GROUP BY ALL"
        keys = {"counted": "", "reasons": "_excluded"}.get(name, f"{', '.join(self._by)}, excluded")
        rest = f"* EXCLUDE ({keys})" if keys else "*"
        return f"SELECT {keys}{', ' if keys else ''}sum(COLUMNS({rest})) FROM {table} GROUP BY ALL"

    def _finish(
        self, tables: Mapping[str, str], execute: Callable[[str], Any], steps: str = "", *, stored: bool = False
    ) -> Any:
        """``steps`` is what the SELECTs read; ``stored``: those of values are their figures already."""
        program = self._program
        ctes = [*([steps] if steps else []), *(f"{name} AS ({tables[name]})" for name in (*self._parts, "counted"))]
        ctes.append(f"reasons AS ({tables['reasons']})")
        joined = {name: self._keys(part.also) for name, part in program.parts.items()}
        for name, of in program.values.items():
            joined[name] = self._keys(None)
            ctes.append(f"{name} AS ({tables[name] if stored else _stats_of(tables[name], of, joined[name])})")
        joins = "".join(
            f" LEFT JOIN {name} ON {' AND '.join(f'groups.{key} IS NOT DISTINCT FROM {name}.{key}' for key in keys)}"
            for name, keys in joined.items()
        )
        grouped = [*(name for by in self._dimensions for name in by.shown), *program.also]
        selected = {name: f"groups.{name}" for name in grouped if name not in program.hidden}
        for by in self._dimensions:  # of all groups of an identity
            identity = ", ".join(f"groups.{key}" for key in by.keys)
            selected |= {
                name: f"{how}(groups.{name}) OVER (PARTITION BY {identity})" for name, (_, how) in by.names.items()
            }
        selected |= {name: _PRECISION if text == "precision" else text for name, text in program.columns.items()}
        order = program.order or [
            text.format(selected.get(name, f"groups.{name}")) for name in grouped for text in _ORDERS.get(name, ("{}",))
        ]
        hidden = [f"_order{number}" for number in range(len(order))]
        columns = ", ".join(
            f"{text} AS {name}" for name, text in {**selected, **dict(zip(hidden, order, strict=True))}.items()
        )
        ordered = ", ".join(f"{name} NULLS LAST" for name in hidden) or "1"
        result = execute(
            f"WITH {', '.join(ctes)} SELECT {', '.join(selected)}, row_number() OVER (ORDER BY {ordered}) AS _place"
            f" FROM (SELECT {columns} FROM groups{joins})"
            " UNION ALL BY NAME FROM counted UNION ALL BY NAME FROM reasons ORDER BY _place NULLS LAST"
        )
        width = len(selected)
        kinds = [str(kind) for _, kind, *_ in result.description]
        rows = result.fetchall()
        split = next((index for index, row in enumerate(rows) if row[width] is None), len(rows))
        rest = [row[width + 1 :] for row in rows[split:]]
        if self._each is not None:
            return self._apart(list(selected), kinds[:width], [row[:width] for row in rows[:split]], rest)
        attrs = self._attributes(rest)
        omitted: dict[tuple[Any, ...], dict[str, int]] = {}
        if "omitted" in tables:
            for _, *group, number, plies in execute(
                f"{f'WITH {steps} ' if steps else ''}{tables['omitted']}"
            ).fetchall():
                omitted.setdefault(tuple(group), {})[self._reasons[number - 1].name] = int(plies)
        shorter = [row[:width] for row in rows[:split]]
        return Measured(list(selected), kinds[:width], shorter, attrs, omitted, tuple(self._by[1:]))

    def _apart(
        self, columns: list[str], kinds: list[str], rows: list[tuple[Any, ...]], rest: list[tuple[Any, ...]]
    ) -> dict[str | None, Measured]:
        """By the values of ``each``; None: that of a value without plies."""
        counts: dict[str | None, list[tuple[Any, ...]]] = {None: []}
        for value, *of in rest:
            counts.setdefault(value, []).append(tuple(of))
        return {
            value: Measured(
                columns[1:], kinds[1:], [row[1:] for row in rows if row[0] == value], self._attributes(of), {}, ()
            )
            for value, of in counts.items()
        }

    def _attributes(self, rows: Iterable[tuple[Any, ...]]) -> dict[Any, Any]:
        counts: dict[int, int] = {}
        plies, marks, games = 0, [0] * len(_MARKS), 0
        for of_plies, *of_marks, of_games, excluded, number in rows:
            if excluded is None:
                plies, marks, games = int(of_plies or 0), [int(mark or 0) for mark in of_marks], int(of_games or 0)
            else:
                counts[excluded] = int(number)
        left: dict[str, int] = {}
        for number in [*range(1, len(self._reasons) + 1), 0]:
            name = self._reasons[number - 1].name if number else self._program.apart
            if out := counts.get(number, 0) - (0 if number else plies):
                left[name] = out
        marked = {name: of for name, of in zip(_MARKS, marks, strict=True) if of}
        return {"games": games, "plies": plies, "excluded": left, "marked": marked}


def _stats_of(values: str, of: Stats, keys: Sequence[str]) -> str:
    prefix = of.prefix
    columns = [
        f"count(*) AS {prefix}plies",
        f"sum(value)::BIGINT AS {prefix}total_ms",
        f"sum(value)::DOUBLE / count(*) AS {prefix}mean_ms",
        f"min(value) AS {prefix}least_ms",
        f"max(value) AS {prefix}most_ms",
    ]
    if of.wanted:
        ranks = [str(percent / 100) for percent in of.wanted.values() if percent is not None]
        columns.append(f"quantile_disc(value, [{', '.join((*ranks, *_MIDDLES))}]) AS _ranked")
    by = ", ".join(keys)
    table = f"SELECT {by}, {', '.join(columns)} FROM ({values}) GROUP BY ALL"
    if not of.wanted:
        return table
    rank, figures = 0, []
    for name, percent in of.wanted.items():
        rank += percent is not None
        middle = "(_ranked[-2] + _ranked[-1] + 1) >> 1"
        figures.append(f"{middle if percent is None else f'_ranked[{rank}]'} AS {name}")
    return f"SELECT *, {', '.join(figures)} FROM ({table})"


def _dimensions(program: Program, have: frozenset[str]) -> list[Dimension]:
    dimensions = [dimension(name, have) for name in program.by]
    names = [key for group in dimensions for key in group.keys]
    if len({*names}) < len(names):
        raise DimensionError(f"a table is grouped by each of {', '.join(program.by)} only once")
    for name in program.also:
        if name in names:
            raise DimensionError(f"this table is always grouped by {name}: remove it from `by`")
    return dimensions


def _lacks(missing: Sequence[str]) -> str:
    if {*missing} <= {column.name for column in (*MATCH_COLUMNS, *ON_REQUEST)}:
        return f"this table of plies lacks {', '.join(missing)}: ask for it with plies(extra={list(missing)!r})."
    return (
        f"this is no table of plies: it lacks {', '.join(missing)}. "
        "recorder.Archive(…).plies() and `export plies` make them; docs/reference/tables.md lists the columns."
    )
