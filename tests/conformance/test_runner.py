"""The runner with programs that answer well, crash, hang, lie, or do not start."""

import sys
from pathlib import Path

import pytest

from recorder.conformance.runner import (
    Case,
    CaseOutcome,
    ReaderClaim,
    count_by_rule,
    find_difference,
    json_of,
    junit_of,
    run_cases,
    select_cases,
)

PASSED, FAILED, NOT_SUPPORTED = CaseOutcome.PASSED, CaseOutcome.FAILED, CaseOutcome.NOT_SUPPORTED
CASES = [
    Case(f"X-{number}-a", f"X-{number}", "valid", "any", b"%d" % number, {"numbers": [{"value": number}]})
    for number in (1, 2, 10)
]
LIMIT_S = 3.0
"""Long enough for Python to start on a machine that is busy."""

GOOD = """
import base64, json, os, sys, time
print(json.dumps({"program": "good 1", "reads": ["numbers"]}), flush=True)
for line in sys.stdin:
    case = json.loads(line)
    assert sorted(case) == ["id", "input", "server", "wanted"] and case["wanted"] == ["numbers"]
    value = int(base64.b64decode(case["input"]))
    answer = {"id": case["id"], "numbers": [{"value": value, "more": "ignored"}]}
    BAD
    print(json.dumps(answer), flush=True)
"""


def program(tmp_path: Path, bad: str = "pass", text: str = GOOD) -> list[str]:
    """A program that answers well but for what it does in the line ``bad``."""
    path = tmp_path / "program.py"
    path.write_text(text.replace("BAD", bad), encoding="utf-8")
    return [sys.executable, "-I", "-S", str(path)]


def test_a_good_program_is_started_once(tmp_path: Path) -> None:
    run = run_cases(program(tmp_path), CASES, LIMIT_S)
    assert (run.claim, run.starts, run.passed) == (ReaderClaim("good 1", frozenset({"numbers"})), 1, True)
    assert [result.outcome for result in run.results] == [PASSED] * 3


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        ("if value == 2: os._exit(3)", "the program ended with status 3"),
        ("if value == 2: os.close(1); time.sleep(60)", "the program ended"),
        ("if value == 2: answer = [1]", "the answer is not a JSON object"),
        ("if value == 2: print('no JSON', flush=True); continue", "the answer is not JSON: b'no JSON\\n'"),
        ("if value == 2: answer['id'] = 'X-1-a'", "the answer is for 'X-1-a'"),
        ("if value == 2: answer['numbers'] = [{'value': 3}]", "numbers[0].value: expected 2, found 3"),
        ("if value == 2: del answer['numbers']", "numbers: expected a list, found null"),
        ("if value == 2: answer['numbers'] *= 2", "numbers: expected 1, found 2: "),
        ("if value == 2: answer['numbers'][0]['value'] = True", "numbers[0].value: expected 2, found true"),
    ],
)
def test_one_bad_answer_fails_its_case_only(tmp_path: Path, bad: str, reason: str) -> None:
    run = run_cases(program(tmp_path, bad), CASES, LIMIT_S)
    assert [result.outcome for result in run.results] == [PASSED, FAILED, PASSED]
    assert str(run.results[1].reason).startswith(reason)
    assert not run.passed


@pytest.mark.long
def test_a_hanging_program_fails_its_case_and_is_restarted(tmp_path: Path) -> None:
    run = run_cases(program(tmp_path, "if value == 2: time.sleep(60)"), CASES, LIMIT_S)
    assert [result.outcome for result in run.results] == [PASSED, FAILED, PASSED]
    assert run.results[1].reason == "no answer in 3 s"
    assert run.starts == 2


def test_a_program_that_reads_nothing_does_not_block_us(tmp_path: Path) -> None:
    silent = 'import time\nprint(\'{"program": "deaf", "reads": ["numbers"]}\', flush=True)\ntime.sleep(60)\n'
    large = Case("X-1-a", "X-1", "valid", "any", bytes(1 << 20), {"numbers": []})
    run = run_cases(program(tmp_path, text=silent), [large], 1.0)
    assert [result.outcome for result in run.results] == [FAILED]


def test_an_answer_that_came_twice_is_not_taken_for_the_next_case(tmp_path: Path) -> None:
    run = run_cases(program(tmp_path, "if value == 1: print(json.dumps(answer), flush=True)"), CASES, LIMIT_S)
    assert [result.outcome for result in run.results] == [PASSED, FAILED, PASSED]


def test_kinds_that_a_program_does_not_claim_are_not_supported_and_not_asked(tmp_path: Path) -> None:
    other = Case("Y-1-a", "Y-1", "valid", "any", b"1", {"letters": [], "numbers": []})
    run = run_cases(program(tmp_path), [other, CASES[0]], LIMIT_S)
    assert [result.outcome for result in run.results] == [NOT_SUPPORTED, PASSED]
    assert run.results[0].reason == "the program does not read letters"
    alone = run_cases(program(tmp_path), [other], LIMIT_S)
    assert (alone.passed, alone.starts) == (False, 1)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "the program ended with status 0"),
        ("print('hello')", "the answer is not JSON: b'hello"),
        ("print('{}')", "the first line is not"),
        ('print(\'{"program": 1, "reads": []}\')', "the first line is not"),
        ('print(\'{"program": "x", "reads": [1]}\')', "the first line is not"),
        ('print(\'{"program": "x", "reads": [], "servers": "fics"}\')', "the first line is not"),
    ],
)
def test_nothing_passes_where_a_program_does_not_say_what_it_is(tmp_path: Path, text: str, reason: str) -> None:
    run = run_cases(program(tmp_path, text=text), CASES, LIMIT_S)
    assert [result.outcome for result in run.results] == [FAILED] * 3
    assert {str(result.reason) for result in run.results} == {run.results[0].reason}
    assert str(run.results[0].reason).startswith(f"the program cannot be started: {reason}")
    assert run.starts == 1


def test_nothing_passes_where_there_is_no_program() -> None:
    run = run_cases(["./no-such-reader"], CASES)
    assert [result.outcome for result in run.results] == [FAILED] * 3
    assert "No such file" in str(run.results[0].reason)
    assert run.claim == ReaderClaim("./no-such-reader")


def test_cases_fail_where_a_program_cannot_be_restarted(tmp_path: Path) -> None:
    once = GOOD.replace("BAD", "os.remove(__file__); os._exit(1)")
    run = run_cases(program(tmp_path, text=once), CASES, LIMIT_S)
    assert [result.outcome for result in run.results] == [FAILED] * 3
    assert run.starts == 2


def test_the_reports_count_by_rule_in_the_order_of_the_numbers(tmp_path: Path) -> None:
    other = Case("X-2-b", "X-2", "should", "any", b"1", {"letters": []})
    run = run_cases(program(tmp_path, "if value == 10: answer['numbers'] = []"), [*CASES, other], LIMIT_S)
    assert count_by_rule(run) == [("X-1", 1, 0, 0), ("X-2", 1, 0, 1), ("X-10", 0, 1, 0)]
    report = json_of(run)
    assert [report[name] for name in ("passed", "failed", "not_supported")] == [2, 1, 1]
    assert report["cases"][2]["reason"] == "numbers: expected 1, found 0: []"
    xml = junit_of(run).decode()
    assert 'tests="4" failures="1" errors="0" skipped="1"' in xml
    assert '<testcase classname="X-10" name="X-10-a"><failure message="numbers: expected 1, found 0: []" />' in xml


def test_a_program_can_claim_single_fields_and_servers() -> None:
    case = Case("X-1-a", "X-1", "valid", "fics", b"1", {"numbers": [{"value": 1}, {"sign": 1}]})
    empty = case._replace(expect={"numbers": []})
    claims = [
        ({"numbers"}, {"fics"}, None, None),
        ({"numbers.value", "numbers.sign"}, set(), None, None),
        ({"numbers.value"}, set(), "the program does not read numbers.sign", None),
        ({"letters.value"}, set(), "the program does not read numbers, numbers.sign, numbers.value",
         "the program does not read numbers"),
        ({"numbers"}, {"icc"}, "the program does not read fics", "the program does not read fics"),
    ]  # fmt: skip
    for reads, servers, why, why_empty in claims:
        claim = ReaderClaim("x", frozenset(reads), frozenset(servers))
        assert (claim.why_not(case), claim.why_not(empty)) == (why, why_empty)
        assert claim.why_not(case._replace(server="any")) == (None if servers else why)


def test_rules_and_sets_choose_cases() -> None:
    assert [case.rule for case in select_cases(CASES, ["X-1", "Y"])] == ["X-1"]
    assert len(select_cases(CASES, ["X"], ["valid"])) == 3
    assert select_cases(CASES, ["X"], ["should"]) == []


def test_only_expected_fields_are_compared() -> None:
    assert find_difference({"a": [{"b": None}]}, {"a": [{}], "c": 1}) is None
    assert find_difference({"a": {"b": 1}}, {"a": [1]}) == "a: expected an object, found [1]"
    assert find_difference({"a": "x" * 300}, {"a": 1}) == f'a: expected "{"x" * 119}…, found 1'
