"""What SQLite returns as JSON arrays of a line's numbers."""

from __future__ import annotations

import json

from hypothesis import example, given
from hypothesis import strategies as st

from storage.read.rows import integers


@given(st.lists(st.integers()))
@example([10**18])
def test_integers_of_an_array(numbers: list[int]) -> None:
    assert integers(json.dumps(numbers, separators=(",", ":"))) == numbers


@given(st.lists(st.one_of(st.none(), st.integers(), st.floats(), st.text(), st.booleans(), st.just([1]))))
@example([None])
@example(["1"])
@example([1.5])
def test_an_array_of_other_values_is_none(values: list) -> None:
    usual = all(type(value) is int for value in values)
    found = integers(json.dumps(values, separators=(",", ":")))
    assert found == values if usual else found is None
