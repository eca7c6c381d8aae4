"""The plies that a picture of many games shows, added up over a ply frame or over batches of it.

A picture needs few numbers of its plies: counted values, from which its table is computed, what titles and footers
state, and a row or two of each kind of games. All are sums over batches of whole games, so memory holds one batch.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Iterator, Mapping
from typing import Any, NamedTuple, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from exporters.measures.base import Aggregate, Asked, lazy
from exporters.measures.batches import Counted, PlyBatches
from exporters.plots.words import PlySource, dates_of, footer_marks, is_coarse

__all__ = ["Adding", "Shown", "add_up", "arrays_of", "counts_of", "rows_of", "table_of", "tally"]

_ALIKE = ["server", "rated", "category", "variant", "side", "time_control", "base_s", "increment_s"]
_SAMPLED = [
    "key", *_ALIKE, "mover", "opponent", "mover_rating", "opponent_rating", "result", "ending", "termination",
]  # fmt: skip
_MARKED = ("key", "ending", "complete", "precision")


class Shown(NamedTuple):
    """What a picture states of its plies.

    Attributes:
        sample: rows of which titles are made: of sides that are alike in all that titles state the first and the last.
        attrs: ``games``, ``plies`` and ``excluded`` (reason → plies), of the plies that are drawn.
        marks: as ``footer_marks`` returns them.
        parts: what else was added up, by name.
    """

    sample: pd.DataFrame
    attrs: dict[Any, Any]
    marks: dict[str, int]
    parts: Mapping[str, Any]


_Added = TypeVar("_Added")
_Parts = Callable[[pd.DataFrame], dict[str, Aggregate]]
Adding = Generator[Asked, dict[str, Any], _Added]
"""Adds something up of a ply frame or, as ``exporters.measures.batches`` computes it, of batches."""


def add_up(
    plies: pd.DataFrame,
    choose: Callable[[pd.DataFrame], tuple[pd.DataFrame, dict[str, int]]],
    columns: Collection[str],
    parts: _Parts | None = None,
    *,
    player: str | None = None,
    mark_all: bool = False,
) -> Adding[Shown]:
    """Add up what a picture states.

    Args:
        plies: that its title is about.
        choose: which of them are drawn, and how many of the others each reason excludes, in a fixed order.
        columns: that ``choose`` and ``parts`` read.
        parts: what else is needed of the plies that are drawn.
        player: whose handle the title has.
        mark_all: whether the footer is about all plies, not only those that are drawn.
    """
    drawn, reasons = choose(plies)
    marks = footer_marks(plies if mark_all else drawn)
    counts = {"games": int(drawn["key"].nunique()), "plies": len(drawn), **marks, **reasons}
    found = yield Asked(
        frozenset({*_SAMPLED, *_MARKED, *columns}),
        {
            "sample": Aggregate(lazy(_sample(plies, player)), None),
            "counts": Aggregate(lazy(pd.DataFrame([counts])), ()),
            **(parts(drawn) if parts is not None else {}),
        },
    )
    (numbers,) = found["counts"].to_dict("records")
    sample = found["sample"]
    sample.attrs["dates"] = "" if sample.empty else sample["dates"].iloc[0]
    attrs: dict[Any, Any] = {
        "games": int(numbers["games"]),
        "plies": int(numbers["plies"]),
        "excluded": {reason: int(numbers[reason]) for reason in reasons if numbers[reason]},
    }
    return Shown(sample, attrs, {name: int(numbers[name]) for name in marks}, found)


def _sample(batch: pd.DataFrame, player: str | None) -> pd.DataFrame:
    """The rows of titles: several games have rows of several games, and the player's first row is one of them."""
    sides = batch.loc[~batch.duplicated(["key", "side"]), _SAMPLED]
    wanted = ~sides.duplicated(_ALIKE) | ~sides.duplicated(_ALIKE, keep="last")
    if player is not None:
        named = sides["mover"].astype("string").str.lower().eq(player.lower()).fillna(False).astype(bool)
        wanted |= named & ~named.duplicated()
    found = sides[wanted]
    found.attrs = {}
    return found.assign(dates=dates_of(batch))


def counts_of(drawn: pd.DataFrame, by: list[str], value: str) -> Aggregate:
    """How often each value occurs by group: what ``exporters.measures.result.summary`` takes.

    Args:
        drawn: with ``precision``. by: the columns of groups. value: a column whose values are known.
    """
    rows = drawn[[*by, value]].assign(coarse=is_coarse(drawn).astype("int64"), known=drawn["precision"].notna(), n=1)
    keys = [*by, value, "coarse"]
    found = rows.groupby(keys, dropna=False, observed=True, sort=False).agg(n=("n", "sum"), known=("known", "sum"))
    return Aggregate(lazy(found.reset_index()), tuple(keys), value=value)


def tally(rows: pd.DataFrame, by: list[str]) -> Aggregate:
    """How many rows, ``n``, are in each group."""
    return Aggregate(
        lazy(rows.groupby(by, dropna=False, observed=True, sort=False).size().rename("n").reset_index()), tuple(by)
    )


def table_of(counted: pd.DataFrame | Counted) -> pd.DataFrame:
    """Counted values as one table: only where they are few."""
    return counted if isinstance(counted, pd.DataFrame) else pd.concat(counted.pieces(), ignore_index=True)


def arrays_of(counted: pd.DataFrame | Counted, *columns: str) -> tuple[NDArray[np.int64], ...]:
    """Columns of integers of counted values, all groups one behind the other."""
    pieces = [counted] if isinstance(counted, pd.DataFrame) else counted.pieces()
    found = [tuple(piece[name].to_numpy(dtype=np.int64) for name in columns) for piece in pieces]
    return tuple(np.concatenate(column) for column in zip(*found, strict=True))


def rows_of(
    plies: PlySource, columns: Collection[str], rows: Callable[[pd.DataFrame], pd.DataFrame]
) -> pd.DataFrame | Iterator[pd.DataFrame]:
    """The rows that are drawn: a table, or of batches one after the other, because they are as many as the plies.

    Args:
        plies: a ply frame, or batches. columns: that ``rows`` reads. rows: those that are drawn of a batch.
    """
    return map(rows, plies.read(columns)) if isinstance(plies, PlyBatches) else rows(plies)
