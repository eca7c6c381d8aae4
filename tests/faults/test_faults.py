"""Every fault, each time at another moment: twice, 4 times in ``make test-all``; ``make soak`` has 200."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.kinds import KINDS
from tests.faults.soak import HEADING, failures_of

FEW, MORE = range(2), range(2, 4)
NEEDS = {"clock-back": "faketime"}
DOCUMENT = Path(__file__).parents[2] / "docs" / "reliability.md"


@pytest.mark.parametrize("seeds", [FEW, pytest.param(MORE, marks=pytest.mark.long)], ids=["few", "more"])
@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=[pytest.mark.needs(NEEDS[kind])] if kind in NEEDS else []) for kind in KINDS]
)
def test_nothing_is_lost_and_nothing_is_there_twice(kind: str, seeds: range, tmp_path: Path) -> None:
    done, failures = failures_of(kind, seeds, tmp_path, at_once=4)
    assert not failures, "\n".join(f"{failure.kind} {failure.seed}: {failure}" for failure in failures)
    assert done == len(seeds)


def test_each_fault_has_its_behaviour_and_its_result_in_the_document() -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    behaviour, _, result = text.partition(HEADING)
    for kind in KINDS:
        assert f"\n| {kind} | " in behaviour
        assert f"\n| {kind} | " in result
