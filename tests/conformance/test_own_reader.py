"""Our own reader passes every case, however the stream is cut."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from recorder.conformance.cases import Case, find_difference, load_cases
from recorder.conformance.own_reader import read_facts

CASES = load_cases()
SHORT = 600
"""Streams of at most this many bytes are also cut in two at every byte."""


def cuts(case: Case) -> Iterator[list[bytes]]:
    """The stream in pieces: byte by byte, at random places, and in two at every byte where it is short."""
    data = case.data
    yield [data[place : place + 1] for place in range(len(data))]
    chance = random.Random(case.name)
    for pieces in (2, 5, 20):
        places = sorted(chance.choices(range(len(data) + 1), k=pieces))
        yield [data[begin:end] for begin, end in zip([0, *places], [*places, len(data)], strict=True)]
    if len(data) <= SHORT:
        for place in range(1, len(data)):
            yield [data[:place], data[place:]]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_our_reader_passes(case: Case) -> None:
    found = read_facts([case.data], case.expect.keys())
    assert find_difference(case.expect, found) is None
    for pieces in cuts(case):
        assert b"".join(pieces) == case.data
        assert read_facts(pieces, case.expect.keys()) == found


def test_an_expectation_that_is_wrong_is_seen() -> None:
    """Each number, word and length that a case expects makes a difference."""
    changed = 0
    for case in CASES:
        found = read_facts([case.data], case.expect.keys())
        for kind, facts in case.expect.items():
            assert find_difference({kind: [*facts, {}]}, found) is not None
            for place, fact in enumerate(facts):
                for name, value in fact.items():
                    wrong = [dict(other) for other in facts]
                    wrong[place][name] = "another" if value is None else None
                    assert find_difference({kind: wrong}, found) is not None, case.name
                    changed += 1
    assert changed > 400
