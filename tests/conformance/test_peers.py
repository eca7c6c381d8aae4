"""Readers of other projects on the cases, and what docs/protocol/results.md says of them."""

import re
from pathlib import Path

import pytest

from recorder.conformance.runner import CaseOutcome, load_cases, run_cases
from tests.conformance.pages import PAGES, ROOT
from tests.support.programs import program

RESULTS = (PAGES / "results.md").read_text(encoding="utf-8")
ADAPTERS = ROOT / "examples" / "conformance"
CASE = re.compile(r"\b[A-Z0-9]+-[0-9]+-[a-z]\b")


def section(title: str) -> str:
    (text,) = re.findall(rf"^## {title}\n(.*?)(?=^## |\Z)", RESULTS, re.MULTILINE | re.DOTALL)
    return str(text)


def column(number: int) -> list[tuple[str, int, int, int]]:
    rows = re.findall(r"^\| (\w+) \| (\d.*?) \|$", RESULTS, re.MULTILINE)
    return [(rule, *(int(count) for count in cells.split(" | ")[number].split(" / "))) for rule, cells in rows]  # type: ignore[misc]  # a row has three counts


@pytest.mark.parametrize(("title", "number"), [("mekk.fics", 1), ("PyChess", 2)])
def test_the_page_counts_what_it_lists(title: str, number: int) -> None:
    text = section(title)
    *families, total = column(number)
    assert total == ("all", *(sum(counts) for counts in list(zip(*families, strict=True))[1:]))
    listed = set(CASE.findall(text))
    assert len(listed) == total[2] == int(re.findall(r"Of its (\d+) failures", text)[0])
    assert listed <= {case.name for case in load_cases()}


def test_the_page_has_all_cases_of_our_own_reader() -> None:
    cases = load_cases()
    *families, total = column(0)
    assert total == ("all", len(cases), 0, 0)
    assert families == [
        (family, sum(case.rule.partition("-")[0] == family for case in cases), 0, 0) for family, *_ in families
    ]


@pytest.mark.needs("pychess")
def test_pychess_reads_what_the_page_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("LANG", "C.UTF-8")
    monkeypatch.delenv("PYTHONPATH", raising=False)
    python = Path(program("pychess")).read_text(encoding="utf-8").splitlines()[0].removeprefix("#!").strip()
    run = run_cases([python, "-W", "ignore", str(ADAPTERS / "pychess_reader.py")], load_cases())
    assert run.starts == 1
    failed = {result.case.name for result in run.results if result.outcome is CaseOutcome.FAILED}
    passed = {result.case.name for result in run.results if result.outcome is CaseOutcome.PASSED}
    assert {"S12-3-a", "LIN-2-a", "LIN-8-a"} <= passed
    if f"| {run.claim.program} |" in RESULTS:  # another version may do better
        assert failed == set(CASE.findall(section("PyChess")))
        assert len(passed) == column(2)[-1][1]
