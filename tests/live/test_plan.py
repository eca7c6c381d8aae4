"""A plan and the journal notes that contain it."""

from recorder.journal.format import format_note, parse_note
from recorder.live.policy.plan import ObservationPlan, PlanReader, plan_notes


def read(*notes: dict[str, object]) -> ObservationPlan | None:
    reader = PlanReader()
    for note in notes:
        reader.note(note)
    return reader.plan


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
