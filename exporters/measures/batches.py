"""How a measure is computed: of one frame in its own engine, or of batches of whole games, one after the other.

A measure is a generator. It yields which parts of the plies it needs, small tables that an engine computes, receives
them as pandas frames, and returns its table. Of batches the parts are computed batch by batch and added up, so memory
holds one batch and the sums. Counted values, from which exact quantiles are computed, are kept as arrays of integers.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Generator, Iterator, Mapping
from functools import wraps
from textwrap import fill
from typing import Any, Concatenate, NamedTuple, ParamSpec, TypeVar, cast

import narwhals as nw
import numpy as np
import pandas as pd
from narwhals.typing import IntoFrame
from numpy.typing import NDArray

from exporters.measures.base import Aggregate, Asked, Plies, collect, lazy
from exporters.selection import Filters
from recorder.errors import ExportError

__all__ = [
    "Begin",
    "Counted",
    "ExclusionCounts",
    "PlyBatches",
    "Steps",
    "computed",
    "computed_together",
    "filtered",
    "mapped",
    "measure",
    "movers",
    "steps_of",
    "together",
]

_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")

_ROWS_BETWEEN = 50_000  # that are collected before they are added up
_GROUPS_IN_SHARD = 64
_ROWS_IN_PIECE = 100_000


class PlyBatches(NamedTuple):
    """Plies in batches of whole games, which may be read several times.

    Attributes:
        read: the batches, with these columns at least. empty: a batch without rows, with all columns.
        rows: how many plies there are before any are filtered; 0: that is not known.
        seen: is called with what a measure takes of each batch, once.
    """

    read: Callable[[Collection[str]], Iterator[pd.DataFrame]]
    empty: pd.DataFrame
    rows: int = 0
    seen: Callable[[Plies], None] | None = None


class Counted:
    """Counted values of batches, in arrays of integers.

    Args:
        part: with a ``value``; its rows are counted by the other columns and ``coarse``.
    """

    def __init__(self, part: Aggregate) -> None:
        assert part.by is not None
        assert part.value is not None
        self._value = part.value
        self._by = [name for name in part.by if name not in (part.value, "coarse")]
        self._numbers: dict[tuple[Any, ...], int] = {}
        self._groups: list[pd.DataFrame] = []
        self._shards: list[_Shard] = []

    def add(self, table: pd.DataFrame) -> None:
        """Add a batch's table."""
        if table.empty and self._groups:
            return
        local = table.groupby(self._by, dropna=False, observed=True, sort=False).ngroup().to_numpy()
        groups = table[self._by].iloc[np.unique(local, return_index=True)[1]]
        known = len(self._numbers)
        rows = groups.itertuples(index=False, name=None)
        numbers = [self._numbers.setdefault(row, len(self._numbers)) for row in rows]
        self._groups.append(groups[np.array(numbers, dtype=np.int64) >= known])
        group = np.array(numbers, dtype=np.int64)[local] if numbers else np.zeros(0, dtype=np.int64)
        value, coarse, count, precise = (
            table[name].to_numpy(dtype=np.int64) for name in (self._value, "coarse", "n", "known")
        )
        order = np.argsort(group, kind="stable")
        group, key, count = group[order], (value * 4 + coarse * 2 + (precise > 0))[order], count[order]
        while len(self._shards) * _GROUPS_IN_SHARD < len(self._numbers):
            self._shards.append(_Shard())
        ends = np.searchsorted(group, np.arange(1, len(self._shards) + 1) * _GROUPS_IN_SHARD)
        begin = 0
        for place, (shard, end) in enumerate(zip(self._shards, ends.tolist(), strict=True)):
            if end > begin:
                shard.add(group[begin:end] - place * _GROUPS_IN_SHARD, key[begin:end], count[begin:end])
            begin = end

    def pieces(self) -> Iterator[pd.DataFrame]:
        """The counts, with all rows of a group in one piece; at least one piece."""
        groups = pd.concat(self._groups, ignore_index=True)
        for group, key, count in self._summed():
            begin = 0
            while begin < len(group) or begin == 0:
                end = len(group)
                if end - begin > _ROWS_IN_PIECE:
                    end = int(np.searchsorted(group, group[begin + _ROWS_IN_PIECE], side="left"))
                    end = end if end > begin else int(np.searchsorted(group, group[begin], side="right"))
                rows = slice(begin, end)
                piece = groups.take(group[rows]).reset_index(drop=True)
                piece[self._value] = pd.array(key[rows].astype(np.int64) >> 2, dtype="Int64")
                piece["coarse"] = pd.array((key[rows] >> 1 & 1).astype(np.int64), dtype="Int64")
                piece["n"] = pd.array(count[rows].astype(np.int64), dtype="Int64")
                piece["known"] = piece["n"].where(pd.array((key[rows] & 1) == 1, dtype="boolean"), 0)
                yield piece
                if end == len(group):
                    break
                begin = end

    def _summed(self) -> Iterator[tuple[NDArray[Any], ...]]:
        """Group, key and count of the shards: of several at once, if they are small."""
        found: list[tuple[NDArray[Any], ...]] = []
        rows = 0
        for place, shard in enumerate(self._shards or [_Shard()]):
            group, key, count = shard.summed()
            found.append((group.astype(np.int64) + place * _GROUPS_IN_SHARD, key, count))
            rows += len(group)
            if rows > _ROWS_IN_PIECE:
                yield tuple(map(np.concatenate, zip(*found, strict=True)))
                found, rows = [], 0
        if found:
            yield tuple(map(np.concatenate, zip(*found, strict=True)))


class _Shard:
    """Counts of some groups, numbered from 0: as many rows that are not summed up as those that are, at most."""

    def __init__(self) -> None:
        self._blocks: list[tuple[NDArray[Any], ...]] = []
        self._summed = 0
        self._added = 0

    def add(self, *columns: NDArray[np.int64]) -> None:
        """Add rows of group, key and count."""
        self._blocks.append(tuple(map(_narrow, columns)))
        self._added += len(columns[0])
        if self._added > max(self._summed, _ROWS_BETWEEN):
            self.summed()

    def summed(self) -> tuple[NDArray[Any], ...]:
        """Group, key and count, sorted by group and key, each pair once."""
        if not self._blocks:
            return tuple(np.zeros(0, dtype=np.int64) for _ in range(3))
        group, key, count = (np.concatenate(column) for column in zip(*self._blocks, strict=True))
        self._blocks.clear()
        order = np.lexsort((key, group))
        group = group[order]  # one after the other, so that memory holds one copy more, not one of each
        key = key[order]
        count = count[order]
        del order
        first = np.flatnonzero(np.r_[True, (group[1:] != group[:-1]) | (key[1:] != key[:-1])][: len(group)])
        group, key = group[first], key[first]
        count = np.add.reduceat(count, first, dtype=np.int64) if len(first) else count
        self._blocks.append((group, key, _narrow(count)))
        self._summed, self._added = len(first), 0
        return self._blocks[0]


def _narrow(values: NDArray[np.int64]) -> NDArray[Any]:
    """As 8, 16 or 32 bits, if these are enough: groups and counts are small, and there are millions."""
    most = max(int(values.max()), -int(values.min())) if len(values) else 0
    kinds: tuple[Any, ...] = (np.int8, np.int16, np.int32)
    return values.astype(next((kind for kind in kinds if most <= np.iinfo(kind).max), np.int64), copy=False)


Steps = Generator[Asked, dict[str, Any], pd.DataFrame]
"""What a measure is before it is computed: it asks for parts, gets their tables by name, and returns its own."""


class _Sums:
    """Tables of batches, added up; of a part without ``by`` one behind the other."""

    def __init__(self, part: Aggregate) -> None:
        self._part = part
        self._tables: list[pd.DataFrame] = []
        self._pending = self._summed = 0

    def add(self, table: pd.DataFrame) -> None:
        """Add a batch's table."""
        if table.empty and self._tables:
            return
        self._tables.append(table)
        self._pending += len(table)
        if self._part.by is not None and self._pending > max(self._summed, _ROWS_BETWEEN):
            self.table()

    def table(self) -> pd.DataFrame:
        """The table of all batches so far."""
        by = self._part.by
        filled = [table for table in self._tables if len(table)] or self._tables[:1]
        found = filled[0] if len(filled) == 1 else pd.concat(filled, ignore_index=True)
        if by is not None and len(filled) > 1:
            how = {name: "sum" for name in found.columns if name not in by}
            how |= dict.fromkeys(self._part.least, "min") | dict.fromkeys(self._part.most, "max")
            keys: Any = list(by) or np.zeros(len(found), dtype=np.int64)
            found = found.groupby(keys, dropna=False, observed=True, sort=False).agg(how)
            found = found.reset_index(drop=not by)[self._tables[0].columns]
        self._tables, self._pending, self._summed = [found], 0, len(found)
        return found


def computed(
    begin: Callable[[Any], Generator[Asked, dict[str, Any], _Result]], plies: IntoFrame | PlyBatches
) -> _Result:
    """Compute what a generator asks for, and return what it returns.

    Args:
        begin: makes the generator for a ply frame: of all plies, or of one batch.
        plies: the ply frame of any engine, or batches.
    Returns:
        What the generator returns, which batches do not change.
    """
    (found,) = computed_together({"": begin}, plies).values()
    if isinstance(found, ExportError):
        raise found
    return cast("_Result", found)


Begin = Callable[[Any], Generator[Asked, dict[str, Any], Any]]
"""Makes the generator for a ply frame: of all plies, or of one batch."""


def computed_together(begin: Mapping[str, Begin], plies: IntoFrame | PlyBatches) -> dict[str, Any]:
    """Compute what several generators ask for. Batches are read once for all that ask at the same time.

    Args:
        begin: by any names, as for ``computed``. plies: as there.
    Returns:
        By name what each generator returns, or the ``ExportError`` that it raised.
    """
    if not isinstance(plies, PlyBatches):
        return {name: _of_frame(one(plies)) for name, one in begin.items()}
    running = {name: _Batched(one, plies.empty) for name, one in begin.items()}
    found: dict[str, Any] = {}
    while running:
        is_empty = True
        for batch in plies.read(frozenset[str]().union(*(one.columns for one in running.values()))):
            is_empty = False
            for one in running.values():
                one.add(batch, plies.seen)
            del batch  # before the next one is read
        for name, one in list(running.items()):
            if is_empty:
                one.add(plies.empty)
            try:
                one.answer()
            except StopIteration as stop:
                found[name] = stop.value
            except ExportError as error:
                found[name] = error
            if name in found:
                del running[name]
    return {name: found[name] for name in begin}


def _of_frame(steps: Generator[Asked, dict[str, Any], Any]) -> Any:
    try:
        asked = next(steps)
        while True:
            asked = steps.send(dict(collect(asked.parts)))
    except StopIteration as stop:
        return stop.value
    except ExportError as error:
        return error


class _Batched:
    """Computes for batches what a generator asks for.

    The generator of no rows gets the answers, and asks for more or returns its result. For each batch another one is
    begun, which gets the answers so far and asks for the same parts of the batch.

    Attributes:
        columns: those that are read for what it asks for now.

    Args:
        begin: makes the generator. empty: a batch without rows, with all columns.
    """

    def __init__(self, begin: Begin, empty: pd.DataFrame) -> None:
        self._begin = begin
        self._steps = begin(empty)
        self.columns = next(self._steps).columns
        self._answers: list[dict[str, Any]] = []
        self._sums: dict[str, _Sums | Counted] = {}

    def add(self, batch: pd.DataFrame, seen: Callable[[Plies], None] | None = None) -> None:
        """Compute the parts of a batch, and add them to the sums; ``seen``: as in ``PlyBatches``."""
        steps = self._begin(batch)
        asked = next(steps)
        if seen is not None and asked.source is not None and not self._answers:
            seen(asked.source)
        for answer in self._answers:
            asked = steps.send(answer)
        tables = collect(asked.parts)
        for name, part in asked.parts.items():
            if name not in self._sums:
                self._sums[name] = _Sums(part) if part.value is None else Counted(part)
            self._sums[name].add(tables[name])

    def answer(self) -> None:
        """Answer with the sums of all batches.

        Raises:
            StopIteration: that was the last answer; its value is the result. ExportError: there is no result.
        """
        self._answers.append({name: one.table() if isinstance(one, _Sums) else one for name, one in self._sums.items()})
        self._sums = {}
        self.columns |= self._steps.send(self._answers[-1]).columns


def measure(
    function: Callable[Concatenate[Any, _Arguments], Steps],
) -> Callable[Concatenate[Any, _Arguments], pd.DataFrame]:
    """Make a generator that asks for parts a function that computes them and returns the table.

    Args:
        function: its first argument is the ply frame.
    Returns:
        The function of a ply frame of any engine, or of ``PlyBatches``.
    """

    @wraps(function)
    def of_plies(
        plies: IntoFrame | PlyBatches, *arguments: _Arguments.args, **named: _Arguments.kwargs
    ) -> pd.DataFrame:
        return computed(lambda frame: function(frame, *arguments, **named), plies)

    of_plies.__signature__ = inspect.signature(function).replace(return_annotation="pd.DataFrame")  # type: ignore[attr-defined]  # a function has it once it is set
    of_plies.__doc__ = _documented(function.__doc__ or "")
    of_plies.steps = function  # type: ignore[attr-defined]  # of ``steps_of``
    return cast("Callable[Concatenate[Any, _Arguments], pd.DataFrame]", of_plies)


_BY = """by: one dimension or several: columns of words or small numbers (``time_control``, ``phase``, ``side``),
            or ``player``, ``opponent``, ``guest``, ``computer``, ``sealed``, ``game``, ``precision``, ``time_trouble``,
            ``clock_band``, ``lag_band``, ``rating_band``, ``hour``, ``weekday``; ``eco``, ``opening`` and ``event`` of
            plies with these columns"""
_FILTERS = f"""

    ``attrs`` of the table: ``games`` and ``plies`` that count, ``excluded`` (reason → plies that do not) and ``marked``
    (mark, such as ``seconds only`` → plies that count). Choose plies with the filters of ``Archive.plies``:
{fill(", ".join(Filters.__annotations__), 112, initial_indent="    ", subsequent_indent="    ")}.
"""


def _documented(doc: str) -> str:
    """A measure's docstring with all dimensions, what every table has, and the filters that choose plies."""
    doc = doc.replace("by: dimensions", _BY)
    head, returns, rest = doc.partition("\n    Args:\n")
    return f"{head.rstrip()}{_FILTERS}{returns}{rest}"


def steps_of(measured: Callable[..., pd.DataFrame]) -> Callable[..., Steps]:
    """The generator of a measure, whose first argument is the ply frame of all plies or of a batch."""
    found: Callable[..., Steps] = cast("Any", measured).steps
    return found


def together(*several: Generator[Asked, dict[str, Any], Any]) -> Generator[Asked, dict[str, Any], list[Any]]:
    """One generator of several that do not need each other's answers: batches are read once for all of them.

    Returns:
        What each of them returns.
    """
    found: list[Any] = [None] * len(several)
    asked = {number: next(steps) for number, steps in enumerate(several)}
    while asked:
        columns = frozenset[str]().union(*(one.columns for one in asked.values()))
        parts = {f"{number} {name}": part for number, one in asked.items() for name, part in one.parts.items()}
        answers = yield Asked(columns, parts)
        for number, one in list(asked.items()):
            try:
                asked[number] = several[number].send({name: answers[f"{number} {name}"] for name in one.parts})
            except StopIteration as stop:
                found[number] = stop.value
                del asked[number]
    return found


class ExclusionCounts:
    """Counts the plies that a measure excludes, by group and reason, while it is computed of ``PlyBatches``.

    Its method ``add`` is their ``seen``.

    Attributes:
        columns: those that name a group.
    """

    def __init__(self) -> None:
        self.columns: list[str] = []
        self._sums: _Sums | None = None
        self._reasons: tuple[str, ...] = ()

    def add(self, source: Plies) -> None:
        """Count those of one batch."""
        part = source.omitted_by_group()
        self._sums = self._sums or _Sums(part)
        self._sums.add(collect({"omitted": part})["omitted"])
        self._reasons, self.columns = source.reasons, source.by

    def by_group(self) -> dict[tuple[Any, ...], dict[str, int]]:
        """By the values of ``columns``, None where unknown: plies by the reason that excludes them."""
        found: dict[tuple[Any, ...], dict[str, int]] = {}
        if self._sums is None:
            return found
        table = self._sums.table()
        table = table.astype(object).where(table.notna(), None)
        for *group, number, plies in table.itertuples(index=False, name=None):
            found.setdefault(tuple(group), {})[self._reasons[number - 1]] = plies
        return found


def filtered(plies: Any, condition: nw.Expr, *columns: str) -> Any:
    """The plies for which a condition holds.

    Args:
        plies: the ply frame of any engine, or batches. condition: of the plies. columns: that it reads.
    Returns:
        Plies of the same kind.
    """
    if not isinstance(plies, PlyBatches):
        return lazy(plies).filter(condition)
    return mapped(plies, lambda batch: nw.from_native(batch, eager_only=True).filter(condition).to_native(), *columns)


def mapped(plies: PlyBatches, change: Callable[[pd.DataFrame], pd.DataFrame], *columns: str) -> PlyBatches:
    """Batches of which each is changed when it is read.

    Args:
        plies: the batches. change: of a batch. columns: that it reads.
    """

    def read(names: Collection[str]) -> Iterator[pd.DataFrame]:
        yield from map(change, plies.read({*names, *columns}))

    return plies._replace(read=read)


@measure
def movers(plies: IntoFrame) -> Steps:
    """The players who moved in each game: ``key``, ``mover``, ``mover_id``, ``mover_guest``."""
    columns = ("key", "mover", "mover_id", "mover_guest")
    found = yield Asked(frozenset(columns), {"movers": Aggregate(lazy(plies).select(*columns).unique(), None)})
    return pd.DataFrame(found["movers"])
