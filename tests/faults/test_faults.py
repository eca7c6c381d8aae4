"""Every fault, 20 times, each time at another moment; ``make soak`` has 200."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.kinds import KINDS
from tests.faults.soak import HEADING, failures_of

SEEDS = range(20)
DOCUMENT = Path(__file__).parents[2] / "docs" / "reliability.md"


# Two recorders on one archive have lost or doubled games now and then; once a removed journal's archive differed.
_OPEN = pytest.mark.xfail(strict=False, reason="not yet reliable when the machine is busy")
_MARKS = {"two-recorders": _OPEN, "removed": _OPEN}


@pytest.mark.parametrize("kind", [pytest.param(kind, marks=_MARKS.get(kind, ())) for kind in KINDS])
def test_nothing_is_lost_and_nothing_is_there_twice(kind: str, tmp_path: Path) -> None:
    done, failures = failures_of(kind, SEEDS, tmp_path)
    assert not failures, "\n".join(f"{failure.kind} {failure.seed}: {failure}" for failure in failures)
    assert done == len(SEEDS)


def test_each_fault_has_its_behaviour_and_its_result_in_the_document() -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    behaviour, _, result = text.partition(HEADING)
    for kind in KINDS:
        assert f"\n| {kind} | " in behaviour
        assert f"\n| {kind} | " in result
