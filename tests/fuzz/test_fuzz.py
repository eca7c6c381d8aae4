"""A megabyte or two of mutated logs; ``make soak`` runs 200 MB."""

import pytest

from recorder.sources import SourceKind
from tests.fuzz.__main__ import fuzz
from tests.fuzz.checks import raise_or_hang
from tests.fuzz.inputs import KINDS, make_input


@pytest.mark.long_except("raw", "xboard")
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.value)
def test_no_input_raises_hangs_or_depends_on_its_cuts(kind: SourceKind) -> None:
    found = fuzz(200_000, jobs=1, kinds=(kind,))
    assert not found.failures, "\n".join(found.failures)
    assert found.cases[kind.value] > 10


def test_inputs_are_the_same_each_time_and_different_from_each_other() -> None:
    made = [make_input(SourceKind.RAW, number) for number in range(50)]
    assert made == [make_input(SourceKind.RAW, number) for number in range(50)]
    assert len(set(made)) == 50


@pytest.mark.long
def test_a_case_that_raises_and_one_that_hangs_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.fuzz.__main__.LIMIT_S", 6)
    found = fuzz(50_000, jobs=1, kinds=(SourceKind.PGN,), check=raise_or_hang)
    assert ["KeyError: 'lost'" in failure for failure in found.failures] == [True, False]
    assert "no end within 6 s" in found.failures[1]
    assert found.failures[1].endswith("again: python -m tests.fuzz --kind pgn --case 2")
