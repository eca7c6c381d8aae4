"""The pages of docs/protocol: their rules and cases.

``python -m tests.conformance.pages`` writes recorder/conformance/cases from the pages and the recorded connections.
"""

import base64
import json
import re
from pathlib import Path
from typing import NamedTuple

from recorder.conformance.runner import SETS, Case
from tests.conformance.recorded import recorded_cases

ROOT = Path(__file__).parent.parent.parent
PAGES = ROOT / "docs" / "protocol"
CASES = ROOT / "recorder" / "conformance" / "cases"

_RULE = re.compile(r"^### ([A-Z0-9]+-[0-9]+) (.+)\n", re.MULTILINE)
_CASE = re.compile(
    r"^Case `(?P<name>[A-Z0-9]+-[0-9]+-[a-z])` \((?P<group>\w+), (?P<server>[\w.-]+)(?P<exact>, exact bytes)?\):"
    r"(?: \[stream and facts\]\(cases/(?P=name)\.txt\)"
    r"|\n\n```text\n(?P<text>.*?)\n```\n\n```json\n(?P<expect>.*?)\n```)$",
    re.MULTILINE | re.DOTALL,
)
_ESCAPE = re.compile(r"\\(?:x([0-9a-f]{2})|([nr\\]))")
_ESCAPED = {"n": "\n", "r": "\r", "\\": "\\"}


class Rule(NamedTuple):
    """A rule: its number, title, the whole text below the heading, the cases in it, and the file of its page."""

    number: str
    title: str
    text: str
    cases: list[Case]
    page: str


def read_rules() -> list[Rule]:
    """All rules, page by page."""
    found = []
    for path in sorted(PAGES.glob("*.md")):
        parts = _RULE.split(path.read_text(encoding="utf-8"))[1:]
        for number, title, text in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
            found.append(Rule(number, title, text, _read_cases(number, text), path.name))
    return found


def _read_cases(rule: str, text: str) -> list[Case]:
    found = [_read_case(rule, match) for match in _CASE.finditer(text)]
    assert len(found) == len(re.findall("^Case ", text, re.MULTILINE)), f"{rule}: a case has another form"
    return found


def _read_case(rule: str, match: re.Match[str]) -> Case:
    facts = match["expect"]
    if facts is None:  # a file: the lines of the stream, and the facts as the last line
        *lines, facts = (PAGES / "cases" / f"{match['name']}.txt").read_text(encoding="utf-8").rstrip("\n").split("\n")
    else:
        lines = match["text"].split("\n")
    text = "".join(lines if match["exact"] else (f"{line}\\n\\r" for line in lines))
    data = _ESCAPE.sub(lambda found: chr(int(found[1], 16)) if found[1] else _ESCAPED[found[2]], text)
    expect = json.loads(facts)
    return Case(match["name"], rule, match["group"], match["server"], data.encode("latin-1"), expect)


def cases_of(rules: list[Rule]) -> list[Case]:
    """The cases of the pages, then those that were recorded."""
    return [case for rule in rules for case in rule.cases] + recorded_cases()


def serialise(cases: list[Case]) -> str:
    """The lines of one file of cases."""
    return "".join(
        json.dumps(
            {
                "id": case.name,
                "rule": case.rule,
                "server": case.server,
                "input": base64.b64encode(case.data).decode("ascii"),
                "expect": case.expect,
            },
            ensure_ascii=True,
        )
        + "\n"
        for case in cases
    )


def main() -> None:
    """Write the files of cases."""
    cases = cases_of(read_rules())
    CASES.mkdir(exist_ok=True)
    for group in SETS:
        chosen = [case for case in cases if case.group == group]
        (CASES / f"{group}.jsonl").write_text(serialise(chosen), encoding="utf-8", newline="\n")
        print(f"{group}: {len(chosen)} cases")


if __name__ == "__main__":
    main()
