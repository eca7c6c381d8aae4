"""Run a program against the cases.

The program is started once and answers line by line (docs/protocol/conformance.md has the contract). A crash, a hang or
an invalid answer fails the case that was asked, and the program is started again for the next one. A case that did not
run never counts as passed.
"""

from __future__ import annotations

import base64
import json
import queue
import subprocess
import threading
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from enum import Enum
from importlib import resources
from typing import IO, Any, Final, NamedTuple, TypeGuard
from xml.etree import ElementTree

SETS: Final = ("valid", "invalid", "should", "implementation")
"""Sets of cases: what a reader must read; what it must not take for data, one fault each; what it should do; and what
the specification leaves to the implementation, of which only the least is tested."""

Facts = dict[str, list[Any]]
"""Kind of fact → the facts of this kind in the order of the stream; docs/protocol/conformance.md lists the kinds."""


class Case(NamedTuple):
    """One case: ``name`` is a permanent identifier (``S12-7-a``), ``rule`` a rule of the specification (``S12-7``).

    ``data`` are the server's bytes; of ``sealed`` facts the client's, of ``xboard_lines`` and ``pychess_games`` a log
    file. ``expect`` has kinds of facts and, of each fact, the fields that are compared.
    """

    name: str
    rule: str
    group: str
    server: str  # the family that prints such bytes, or ``any``
    data: bytes
    expect: Facts

    def request(self) -> dict[str, Any]:
        """Without what is expected."""
        data = base64.b64encode(self.data).decode("ascii")
        return {"id": self.name, "server": self.server, "input": data, "wanted": sorted(self.expect)}


def load_cases() -> list[Case]:
    """In the order of ``SETS`` and of the files."""
    folder = resources.files(__package__) / "cases"
    cases: list[Case] = []
    for group in SETS:
        for line in (folder / f"{group}.jsonl").read_text(encoding="utf-8").splitlines():
            values = json.loads(line)
            data = base64.b64decode(values["input"], validate=True)
            cases.append(Case(values["id"], values["rule"], group, values["server"], data, values["expect"]))
    return cases


def select_cases(cases: Iterable[Case], rules: Sequence[str] = (), groups: Sequence[str] = ()) -> list[Case]:
    """By rules (``S12-7``), or their first part (``S12``), and by sets; without either, all."""
    return [
        case
        for case in cases
        if (not rules or case.rule in rules or case.rule.partition("-")[0] in rules)
        and (not groups or case.group in groups)
    ]


def find_difference(expected: Any, found: Any, where: str = "") -> str | None:
    """Only fields that ``expected`` names are compared; a field that ``found`` lacks is null."""
    if isinstance(expected, dict):
        if not isinstance(found, dict):
            return f"{where}: expected an object, found {_shown(found)}"
        for name, value in expected.items():
            difference = find_difference(value, found.get(name), f"{where}.{name}" if where else name)
            if difference is not None:
                return difference
        return None
    if isinstance(expected, list):
        if not isinstance(found, list):
            return f"{where}: expected a list, found {_shown(found)}"
        if len(expected) != len(found):
            return f"{where}: expected {len(expected)}, found {len(found)}: {_shown(found)}"
        for index, (one, other) in enumerate(zip(expected, found, strict=True)):
            difference = find_difference(one, other, f"{where}[{index}]")
            if difference is not None:
                return difference
        return None
    if type(expected) is not type(found) or expected != found:
        return f"{where}: expected {_shown(expected)}, found {_shown(found)}"
    return None


_LONGEST: Final = 120


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


LIMIT_S: Final = 10.0
"""Time limit for an answer, and for the first line after a start, in seconds."""

_LONGEST_LINE: Final = 64 << 20


class CaseOutcome(Enum):
    PASSED = "passed"
    FAILED = "failed"
    NOT_SUPPORTED = "not supported"


class ReaderClaim(NamedTuple):
    """What a program says of itself in its first line."""

    program: str
    reads: frozenset[str] = frozenset()  # kinds of facts (``boards``) or single fields (``boards.ply``)
    servers: frozenset[str] = frozenset()  # none: all families

    def why_not(self, case: Case) -> str | None:
        """Why a case is not supported."""
        if self.servers and case.server not in (*self.servers, "any"):
            return f"the program does not read {case.server}"
        unread: set[str] = set()
        for kind, facts in case.expect.items():
            fields = {f"{kind}.{field}" for fact in facts for field in fact}
            if kind in self.reads:
                continue
            if not any(claim.startswith(f"{kind}.") for claim in self.reads):
                unread.add(kind)
            unread |= fields - self.reads
        return f"the program does not read {', '.join(sorted(unread))}" if unread else None


class CaseResult(NamedTuple):
    case: Case
    outcome: CaseOutcome
    reason: str | None = None


class ConformanceRun(NamedTuple):
    """A program that claims nothing has its command as ``claim``."""

    claim: ReaderClaim
    results: list[CaseResult]
    starts: int

    def count(self, outcome: CaseOutcome) -> int:
        return sum(result.outcome is outcome for result in self.results)

    @property
    def passed(self) -> bool:
        return self.count(CaseOutcome.PASSED) > 0 and not self.count(CaseOutcome.FAILED)


class _ProgramError(Exception):
    """The program crashed, did not answer in time, or broke the contract; the text says which."""


class _Program:
    def __init__(self, command: Sequence[str], limit_s: float) -> None:
        self._limit_s = limit_s
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._lines: queue.Queue[bytes] = queue.Queue()
        assert self._process.stdout is not None
        self._reader = threading.Thread(target=self._read, args=(self._process.stdout,), daemon=True)
        self._reader.start()

    def _read(self, stdout: IO[bytes]) -> None:
        with stdout:
            while line := stdout.readline(_LONGEST_LINE):
                self._lines.put(line)
        self._lines.put(b"")

    def take(self) -> dict[str, Any]:
        try:
            line = self._lines.get(timeout=self._limit_s)
        except queue.Empty:
            raise _ProgramError(f"no answer in {self._limit_s:g} s") from None
        if not line:
            status = self._wait()
            raise _ProgramError("the program ended" + ("" if status is None else f" with status {status}"))
        try:
            answer = json.loads(line)
        except (ValueError, RecursionError):
            raise _ProgramError(f"the answer is not JSON: {line[:80]!r}") from None
        if not isinstance(answer, dict):
            raise _ProgramError("the answer is not a JSON object")
        return answer

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        # A program that does not read its input must not block us: the process is killed when the time is up.
        timer = threading.Timer(self._limit_s, self._process.kill)
        timer.start()
        try:
            assert self._process.stdin is not None
            self._process.stdin.write(json.dumps(request).encode("ascii") + b"\n")
            self._process.stdin.flush()
        except OSError:
            pass  # it has ended: reading says how
        finally:
            timer.cancel()
        return self.take()

    def claim(self) -> ReaderClaim:
        first = self.take()
        name, reads, servers = first.get("program"), first.get("reads"), first.get("servers", [])
        if not isinstance(name, str) or not _are_words(reads) or not _are_words(servers):
            raise _ProgramError('the first line is not {"program": NAME, "reads": [KIND, …]}')
        return ReaderClaim(name, frozenset(reads), frozenset(servers))

    def _wait(self) -> int | None:
        try:
            return self._process.wait(self._limit_s)
        except subprocess.TimeoutExpired:
            return None

    def end(self) -> None:
        """Close its input, and kill it where it does not end by itself."""
        assert self._process.stdin is not None
        with suppress(OSError):
            self._process.stdin.close()
        self._wait()
        self.kill()

    def kill(self) -> None:
        assert self._process.stdin is not None
        self._process.kill()
        self._process.wait()
        with suppress(OSError):  # what was not written
            self._process.stdin.close()
        self._reader.join(self._limit_s)  # a child of the program may keep its output open


def run_cases(command: Sequence[str], cases: Iterable[Case], limit_s: float = LIMIT_S) -> ConformanceRun:
    """Where the program cannot be started or started again, the cases that are left fail."""
    claim: ReaderClaim | None = None
    program: _Program | None = None
    results: list[CaseResult] = []
    starts, lost = 0, None
    for case in cases:
        unread = None if claim is None else claim.why_not(case)
        if program is None and lost is None and unread is None:
            starts += 1
            try:
                program = _Program(command, limit_s)
                again = program.claim()
            except (OSError, _ProgramError) as error:
                lost = f"the program cannot be started: {error}"
                if program is not None:
                    program.kill()
                    program = None
            else:
                claim = claim or again
                unread = claim.why_not(case)
        if unread is not None:
            results.append(CaseResult(case, CaseOutcome.NOT_SUPPORTED, unread))
            continue
        reason = lost
        if program is not None:
            try:
                reason = _judge(case, program.ask(case.request()))
            except _ProgramError as error:
                reason = str(error)
                program.kill()
                program = None
        results.append(CaseResult(case, CaseOutcome.PASSED if reason is None else CaseOutcome.FAILED, reason))
    if program is not None:
        program.end()
    return ConformanceRun(claim or ReaderClaim(" ".join(command)), results, starts)


def _are_words(values: Any) -> TypeGuard[list[str]]:
    return isinstance(values, list) and all(isinstance(value, str) for value in values)


def _judge(case: Case, answer: dict[str, Any]) -> str | None:
    """Why an answer is not what the case expects."""
    if answer.get("id") != case.name:
        raise _ProgramError(f"the answer is for {answer.get('id')!r}")
    return find_difference(case.expect, answer)


def count_by_rule(run: ConformanceRun) -> list[tuple[str, int, int, int]]:
    """Passed, failed and not supported cases of each rule, in their order."""
    counts = Counter((result.case.rule, result.outcome) for result in run.results)
    rules = sorted({rule for rule, _ in counts}, key=_place)
    passed, failed, not_supported = CaseOutcome
    return [(rule, counts[rule, passed], counts[rule, failed], counts[rule, not_supported]) for rule in rules]


def _place(rule: str) -> tuple[str, int]:
    family, _, number = rule.partition("-")
    return family, int(number)


def json_of(run: ConformanceRun) -> dict[str, Any]:
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
    """JUnit XML: what is not supported is skipped."""
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
