"""Counted values of many batches are those of one table, however large groups, values and counts are."""

from __future__ import annotations

import numpy as np
import pandas as pd

from exporters.measures.base import Aggregate, lazy
from exporters.measures.batches import Counted


def test_counted_values_of_batches_are_those_of_one_table() -> None:
    rng = np.random.default_rng(3)
    rows = 4_000
    values = rng.choice([-5, 0, 7, 40_000, 3_000_000_000, -(1 << 40)], rows)
    table = pd.DataFrame(
        {
            "player": pd.array([f"player {number}" for number in rng.integers(0, 300, rows)], dtype="string"),
            "time": pd.array(values, dtype="Int64"),
            "coarse": pd.array(rng.integers(0, 2, rows), dtype="Int64"),
            "n": pd.array(rng.choice([1, 100, 70_000], rows), dtype="Int64"),
        }
    ).assign(known=lambda rows: rows["n"])
    by = ["player", "time", "coarse"]
    counted = Counted(Aggregate(lazy(table), tuple(by), value="time"))
    for begin in range(0, rows, 500):
        batch = table[begin : begin + 500].groupby(by, as_index=False, sort=False).sum()
        counted.add(batch[table.columns])
    found = pd.concat(counted.pieces()).sort_values(by, ignore_index=True)[table.columns]
    whole = table.groupby(by, as_index=False).sum().sort_values(by, ignore_index=True)
    pd.testing.assert_frame_equal(found, whole)
