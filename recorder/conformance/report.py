"""Results of a run by rule: as text, as JSON and as JUnit XML."""

from __future__ import annotations

from collections import Counter
from typing import Any
from xml.etree import ElementTree

from recorder.conformance.runner import CaseOutcome, ConformanceRun

__all__ = ["count_by_rule", "junit_of", "json_of"]


def count_by_rule(run: ConformanceRun) -> list[tuple[str, int, int, int]]:
    """Each rule with its passed, failed and not supported cases, in the order of the rules.

    Args:
        run: a finished run.
    Returns:
        Tuples: rule, passed, failed, not supported. Rules without a case in the run are missing.
    """
    counts = Counter((result.case.rule, result.outcome) for result in run.results)
    rules = sorted({rule for rule, _ in counts}, key=_place)
    passed, failed, not_supported = CaseOutcome
    return [(rule, counts[rule, passed], counts[rule, failed], counts[rule, not_supported]) for rule in rules]


def _place(rule: str) -> tuple[str, int]:
    family, _, number = rule.partition("-")
    return family, int(number)


def json_of(run: ConformanceRun) -> dict[str, Any]:
    """The whole run as one JSON object.

    Args:
        run: a finished run.
    Returns:
        Values for ``json.dumps``: the program, the counts in all and by rule, and the outcome of each case.
    """
    return {
        "program": run.claim.program,
        "reads": sorted(run.claim.reads),
        "servers": sorted(run.claim.servers),
        "starts": run.starts,
        "passed": run.count(CaseOutcome.PASSED),
        "failed": run.count(CaseOutcome.FAILED),
        "not_supported": run.count(CaseOutcome.NOT_SUPPORTED),
        "rules": [
            {"rule": rule, "passed": passed, "failed": failed, "not_supported": not_supported}
            for rule, passed, failed, not_supported in count_by_rule(run)
        ],
        "cases": [
            {
                "id": result.case.name,
                "rule": result.case.rule,
                "set": result.case.group,
                "server": result.case.server,
                "outcome": result.outcome.value,
                "reason": result.reason,
            }
            for result in run.results
        ],
    }


def junit_of(run: ConformanceRun) -> bytes:
    """The run as JUnit XML: one test suite, a test case for each case; what is not supported is skipped.

    Args:
        run: a finished run.
    Returns:
        UTF-8 with an XML declaration.
    """
    suite = ElementTree.Element(
        "testsuite",
        name=f"protocol conformance of {_printable(run.claim.program)}",
        tests=str(len(run.results)),
        failures=str(run.count(CaseOutcome.FAILED)),
        errors="0",
        skipped=str(run.count(CaseOutcome.NOT_SUPPORTED)),
    )
    for case, outcome, reason in run.results:
        test = ElementTree.SubElement(suite, "testcase", classname=case.rule, name=case.name)
        if outcome is not CaseOutcome.PASSED:
            kind = "failure" if outcome is CaseOutcome.FAILED else "skipped"
            ElementTree.SubElement(test, kind, message=_printable(reason or ""))
    document: bytes = ElementTree.tostring(suite, encoding="utf-8", xml_declaration=True)
    return document


def _printable(text: str) -> str:
    """Text without the characters that XML does not allow."""
    return "".join(letter if letter.isprintable() else "�" for letter in text)
