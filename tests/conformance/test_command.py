"""The conformance command, and our own reader, which passes every case however the stream is cut."""

import json
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner, Result

from recorder.cli import main
from recorder.conformance.__main__ import read_facts
from recorder.conformance.runner import Case, find_difference, load_cases

OURS = (sys.executable, "-m", "recorder.conformance")
SMALL = (sys.executable, str(Path(__file__).parent.parent.parent / "examples" / "conformance" / "small_reader.py"))


@pytest.fixture(autouse=True)
def _ours_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent.parent.parent))


def run(*words: str) -> Result:
    return CliRunner().invoke(main, ["conformance", *words])


def test_our_reader_passes_all_cases() -> None:
    result = run("--json", *OURS)
    report = json.loads(result.stdout)
    assert result.exit_code == 0
    assert (report["failed"], report["not_supported"], report["starts"]) == (0, 0, 1)
    assert report["passed"] == len(report["cases"]) > 200


def test_options_after_the_command_belong_to_it() -> None:
    result = run("--rule", "S12-4", *OURS, "--rule", "B1")
    assert result.exit_code == 0
    assert "S12-4\t2\t0\t0" in result.stdout
    assert result.stderr.endswith(": 2 cases: 2 passed, 0 failed, 0 not supported.\n")


def test_a_failed_case_is_exit_status_1(tmp_path: Path) -> None:
    path = tmp_path / "results.xml"
    result = run("--rule", "B1-4", "--rule", "B1-8", "--junit", str(path), *SMALL)
    assert result.exit_code == 1
    assert "B1-4-a failed: holdings: expected 1, found 0: []" in result.stderr
    suite = ElementTree.parse(path).getroot()
    assert (suite.get("tests"), suite.get("failures")) == ("5", "1")
    assert run("--rule", "B1-8", "--junit", str(path), *SMALL).exit_code == 5
    assert run("--rule", "B1-8", "--junit", str(path), "--force", *SMALL).exit_code == 0


def test_nothing_supported_is_exit_status_1() -> None:
    assert run("--rule", "S12-4", *SMALL).exit_code == 1


def test_a_program_that_is_not_there_is_exit_status_1() -> None:
    result = run("--rule", "S12-4", "./no-such-reader")
    assert result.exit_code == 1
    assert "S12-4\t0\t2\t0" in result.stdout


def test_unknown_rules_are_usage_errors() -> None:
    result = run("--rule", "S13", *OURS)
    assert result.exit_code == 2
    assert "No case has this rule and set" in result.stderr


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
