"""A plan and the journal notes that contain it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recorder.errors import PolicyError
from recorder.journal.format import format_note, parse_note
from recorder.live.policy.games import Share
from recorder.live.policy.plan import ObservationPlan, PlanReader, plan_notes

HANDLES = st.lists(st.text("abcXYZ09_-", min_size=1, max_size=40), max_size=1200).map(tuple)
NUMBERS = st.none() | st.integers(1, 10**9)
SHARES = st.none() | st.tuples(st.integers(1, 9), st.integers(9, 12)).map(Share._make)
PLANS = st.builds(
    ObservationPlan, st.none() | st.text(st.characters(codec="ascii"), min_size=1), HANDLES, NUMBERS, NUMBERS, SHARES
)


def read(*notes: dict[str, object]) -> ObservationPlan | None:
    reader = PlanReader()
    for note in notes:
        reader.note(note)
    return reader.plan


@given(PLANS)
def test_a_plan_is_read_from_its_notes(plan: ObservationPlan) -> None:
    notes = [parse_note(format_note("policy", facts)) for facts in plan_notes(plan)]
    assert read({"kind": "connected"}, *notes, {"kind": "closed"}) == plan


def test_the_longest_plan_fits_into_notes() -> None:
    plan = ObservationPlan("rated & " * 12_500, tuple(f"{number:040}" for number in range(2_000)))
    facts = list(plan_notes(plan))
    assert len(facts) == 4
    assert read(*(parse_note(format_note("policy", each)) for each in facts)) == plan


def test_the_last_complete_plan_applies() -> None:
    first, second = ({"kind": "policy", "part": 1, "parts": 1, "observe": text} for text in ("rated", "unrated"))
    half = {"kind": "policy", "part": 1, "parts": 2, "observe": "blitz"}
    stray = {"kind": "policy", "part": 2, "parts": 2, "observe": " & rated"}
    assert read(first, second) == ObservationPlan("unrated")
    assert read(first, half) == ObservationPlan("rated")
    assert read(first, stray) == ObservationPlan("rated")
    assert read(half, stray) == ObservationPlan("blitz & rated")
    assert read() is None


def test_invalid_facts_of_a_plan_are_unknown() -> None:
    odd = {
        "kind": "policy",
        "part": 1,
        "parts": 1,
        "observe": 3,
        "handles": ["Ann", 4],
        "limit": 0,
        "rotate_ms": True,
        "share": "3/2",
    }
    assert read(odd) == ObservationPlan(None, ("Ann",))


def test_an_invalid_expression_is_no_plan() -> None:
    with pytest.raises(PolicyError):
        ObservationPlan("rated &").observing()
