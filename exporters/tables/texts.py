"""Plies as lines of a text file, written column by column: a value that repeats becomes text only once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby, islice, repeat
from typing import Any, NamedTuple

import numpy as np

from exporters.tables.columns import PLY_COLUMNS
from exporters.tables.values import PlyValues, Spread
from recorder.model import TimeBasis
from recorder.times import iso
from storage.read.columns import NULL, Ints

__all__ = ["LineForm", "lines_of"]


_LINES_AT_ONCE = 200  # few enough that their text stays in the processor's cache


class LineForm(NamedTuple):
    """How a line is written.

    Attributes:
        begin, end: of a line; between its columns are commas.
        name: what is written before an integer, given its column's name. missing: an unknown integer.
        cells: the text of some neighbouring columns at each row, given their names and the columns.
    """

    begin: str
    end: str
    name: Callable[[str], str]
    missing: str
    cells: Callable[[Sequence[str], Sequence[Sequence[Any]]], list[str]]


def lines_of(values: PlyValues, form: LineForm) -> Iterator[str]:
    """All lines of some plies.

    Args:
        values: of the plies. form: how a line is written.
    Yields:
        Some lines at a time: one for each ply, with the columns of ``PLY_COLUMNS``.
    """
    columns = _columns({**values, "at": _arrivals(values)}, form)
    lines = map("".join, zip(*columns))  # noqa: B905 -- what is constant has no end
    while text := "".join(islice(lines, _LINES_AT_ONCE)):
        yield text


def _columns(values: PlyValues, form: LineForm) -> list[Iterable[str]]:
    """The parts of each line: columns that vary together are one, with what stands before them."""
    nothing = Spread((None,), np.zeros(len(values["san"]), dtype=np.int64))
    named = [(column.name, _simplest(values[column.name], nothing)) for column in PLY_COLUMNS]
    numbers = _numbers([found for _, found in named if not isinstance(found, Spread)], form.missing)
    columns: list[Iterable[str]] = []
    before = form.begin
    for _, part in groupby(named, lambda one: id(one[1].rows if isinstance(one[1], Spread) else one[1])):
        names, found = zip(*part, strict=True)
        if isinstance(found[0], Spread):
            texts = [before + text for text in form.cells(names, [one.facts for one in found])]
            columns.append(np.array(texts, dtype=object)[found[0].rows].tolist())
        else:
            columns += [repeat(before + form.name(names[0])), next(numbers)]
        before = ","
    return [*columns, repeat(form.end)]


def _numbers(columns: list[Ints], missing: str) -> Iterator[list[str]]:
    """The text of integers. One clock is in several columns and rows, so each value becomes text only once."""
    if not columns:
        return
    facts, place = np.unique(np.concatenate(columns), return_inverse=True)
    texts = np.array([missing if fact == NULL else str(fact) for fact in facts.tolist()], dtype=object)
    for rows in place.reshape(len(columns), -1):
        yield texts[rows].tolist()


def _simplest(values: Any, nothing: Spread) -> Any:
    """A column in which nothing is known varies with all others of these; texts as a column that repeats them."""
    if isinstance(values, Spread):
        return values
    if values.dtype == object:
        facts = list(dict.fromkeys(values.tolist()))
        if facts == [None]:
            return nothing
        places = {fact: place for place, fact in enumerate(facts)}
        return Spread(facts, np.array([places[text] for text in values.tolist()]))
    return nothing if (values == NULL).all() else values


def _arrivals(values: PlyValues) -> Any:
    """When each ply arrived, as text files have it: also where UTC is not known."""
    at_ms, basis = values["arrival_ms"], values["time_basis"]
    assert isinstance(basis, Spread)
    assert not isinstance(at_ms, Spread)
    if (at_ms == NULL).all():
        return at_ms
    kinds = [TimeBasis(fact) for fact in basis.facts]
    pairs = zip(at_ms.tolist(), basis.rows.tolist(), strict=True)
    return np.array([None if ms == NULL else iso(ms, kinds[row]) for ms, row in pairs], dtype=object)
