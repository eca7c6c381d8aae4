"""Every fault twice, each time at another moment; ``make soak`` has 200 moments of each."""

from pathlib import Path

import pytest

from tests.faults.kinds import KINDS
from tests.faults.soak import HEADING, failures_of

SEEDS = range(2)
NEEDS = {"clock-back": "faketime"}
DOCUMENT = Path(__file__).parents[2] / "docs" / "reliability.md"


@pytest.mark.long_except("sigkill")
@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=[pytest.mark.needs(NEEDS[kind])] if kind in NEEDS else []) for kind in KINDS]
)
def test_nothing_is_lost_and_nothing_is_there_twice(kind: str, tmp_path: Path) -> None:
    done, failures = failures_of(kind, SEEDS, tmp_path, at_once=4)
    assert not failures, "\n".join(f"{failure.kind} {failure.seed}: {failure}" for failure in failures)
    assert done == len(SEEDS)


def test_each_fault_has_its_behaviour_and_its_result_in_the_document() -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    behaviour, _, result = text.partition(HEADING)
    for kind in KINDS:
        assert f"\n| {kind} | " in behaviour
        assert f"\n| {kind} | " in result
