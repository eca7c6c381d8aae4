"""The pages of the specification and the cases say the same, and no published case changes."""

import hashlib
import json
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from recorder.conformance.__main__ import KINDS
from recorder.conformance.runner import SETS, load_cases
from tests.conformance.pages import CASES, PAGES, ROOT, Rule, cases_of, read_rules, serialise

RULES = read_rules()
IDENTIFIERS = sorted(Path(__file__).parent.glob("identifiers-*.txt"))
CONTRACT = (PAGES / "conformance.md").read_text(encoding="utf-8")
SERVERS = {"any", "bics", "capablanca", "chessd", "fatics", "fics", "fics-1.6.2", "icc", "lasker"}
_CORE = {"ALPHA", "BIT", "CHAR", "CR", "CRLF", "CTL", "DIGIT", "DQUOTE", "HEXDIG", "HTAB", "LF", "LWSP", "OCTET", "SP",
         "VCHAR", "WSP"}  # fmt: skip


def test_the_cases_are_those_of_the_pages() -> None:
    cases = cases_of(RULES)
    for group in SETS:
        written = (CASES / f"{group}.jsonl").read_text(encoding="utf-8")
        wanted = serialise([case for case in cases if case.group == group])
        assert written == wanted, "run: python -m tests.conformance.pages"
    assert sorted(load_cases()) == sorted(cases)
    assert {path.stem for path in (PAGES / "cases").iterdir()} <= {case.name for case in cases}
    assert {case.group for case in cases} == set(SETS)


def test_rules_have_consecutive_numbers() -> None:
    families: dict[str, list[int]] = {}
    for rule in RULES:
        family, number = rule.number.split("-")
        families.setdefault(family, []).append(int(number))
    assert len(families) == 15
    for numbers in families.values():
        assert numbers == list(range(1, len(numbers) + 1))


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.number)
def test_each_rule_binds_a_reader_and_has_a_case(rule: Rule) -> None:
    number, cases = rule.number, rule.cases
    words = re.sub("```.*?```", "", rule.text, flags=re.DOTALL)
    assert re.search(r"\b(MUST|SHOULD|MAY)\b", words)
    assert re.search("^(Seen on|From documents only)", words, re.MULTILINE)
    untestable = re.search("^Not testable: .{20}", words, re.MULTILINE) is not None
    assert bool(cases) is not untestable or number == "SES-11"
    assert [case.name for case in cases] == [f"{number}-{letter}" for letter in "abcdefghijkl"[: len(cases)]]
    groups = {case.group for case in load_cases() if case.rule == number}
    if "MUST" in words and not untestable and number != "S12-24":  # its cases show only that a reader survives
        assert groups & {"valid", "invalid"}
    if "SHOULD" in words and "MUST" not in words:
        assert "should" in groups


def test_each_case_names_a_rule_and_a_server() -> None:
    names = Counter(case.name for case in load_cases())
    assert set(names.values()) == {1}
    numbers = {rule.number for rule in RULES}
    for case in load_cases():
        assert case.rule in numbers
        assert case.name.rpartition("-")[0] == case.rule
        assert case.server in SERVERS
        assert case.data
        assert case.expect


def test_published_cases_keep_their_input() -> None:
    """The new cases of a version are in a file of its own; never edit one that was published."""
    assert [path.stem for path in IDENTIFIERS] == ["identifiers-1.0", "identifiers-1.1"]
    cases = {case.name: case for case in load_cases()}
    lines = [line.split() for path in IDENTIFIERS for line in path.read_text(encoding="ascii").splitlines()]
    published = dict(lines)
    assert len(published) == len(lines)
    for name, digest in published.items():
        assert hashlib.sha256(cases[name].data).hexdigest()[:16] == digest, name
    assert published.keys() == cases.keys()


def test_each_field_of_a_case_is_in_the_contract() -> None:
    rows = dict(re.findall(r"^\| `(\w+)` \| [^|]+ \| ([^|\n]+) \|$", CONTRACT, re.MULTILINE))
    rows = {kind: set(re.findall(r"`(\w+)`", fields)) for kind, fields in rows.items() if kind not in SETS}
    assert rows.keys() == KINDS
    for case in load_cases():
        for kind, facts in case.expect.items():
            for fact in facts:
                assert fact.keys() <= rows[kind], case.name


def test_the_index_names_every_page() -> None:
    index = (PAGES / "index.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^- \[.+\]\((\w[\w-]*\.md)\)", index, re.MULTILINE)) == {
        path.name for path in PAGES.glob("*.md") if path.name != "index.md"
    }
    for family, page in {rule.number.split("-")[0]: rule.page for rule in RULES}.items():
        assert re.search(rf"\({page}\): rules {family}$", index, re.MULTILINE)


def test_every_name_of_the_grammars_is_defined() -> None:
    defined, used = set(_CORE), set()
    for path in PAGES.glob("*.md"):
        for block in re.findall("```abnf\n(.*?)```", path.read_text(encoding="utf-8"), re.DOTALL):
            lines = re.sub(r';.*|%s?"[^"]*"|%x[0-9A-F]+(-[0-9A-F]+)?|"[^"]*"', " ", block).splitlines()
            for line in lines:
                head = re.match(r"([a-zA-Z][\w-]*) +=", line)
                defined |= {head[1]} if head else set()
                used |= set(re.findall(r"[a-zA-Z][a-zA-Z0-9-]*", line[head.end() :] if head else line))
    assert len(defined) > 80
    assert used <= defined, sorted(used - defined)


@pytest.mark.parametrize("page", ["conformance.md", "index.md"])
def test_the_pages_show_what_the_command_prints(page: str) -> None:
    text = (PAGES / page).read_text(encoding="utf-8")
    (command, shown) = re.findall(r"```console\n\$ ics-recorder (.*?)\n(.*?)```", text, re.DOTALL)[0]
    words = [sys.executable if word.startswith("python") else word for word in command.split()]
    done = subprocess.run(
        [sys.executable, "-m", "recorder", *words], capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert done.stdout + done.stderr == shown


def test_the_files_of_cases_have_one_form() -> None:
    for group in SETS:
        for line in (CASES / f"{group}.jsonl").read_text(encoding="ascii").splitlines():
            assert list(json.loads(line)) == ["id", "rule", "server", "input", "expect"]
