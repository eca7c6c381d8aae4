"""The cases: what a server sends, and what a reader must find in it.

``cases/SET.jsonl`` has one JSON object a line: ``id``, ``rule``, ``server``, ``input`` (base64) and ``expect``. An
identifier never changes its meaning; docs/protocol/index.md says when a case may be added or withdrawn.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Sequence
from importlib import resources
from typing import Any, Final, NamedTuple

SETS: Final = ("valid", "invalid", "should", "implementation")
"""Sets of cases: what a reader must read; what it must not take for data, one fault each; what it should do; and what
the specification leaves to the implementation, of which only the least is tested."""

Facts = dict[str, list[Any]]
"""Kind of fact → the facts of this kind in the order of the stream; docs/protocol/conformance.md lists the kinds."""


class Case(NamedTuple):
    """One case.

    ``name`` is a permanent identifier (``S12-7-a``), ``rule`` a rule of the specification (``S12-7``), ``server`` the
    family that prints such bytes, or ``any``. ``data`` are the server's bytes; of ``sealed`` facts the client's, of
    ``xboard_lines`` and ``pychess_games`` a log file. ``expect`` has kinds of facts and, of each fact, the fields that
    are compared.
    """

    name: str
    rule: str
    group: str
    server: str
    data: bytes
    expect: Facts

    def request(self) -> dict[str, Any]:
        """The line that a program gets: without what is expected."""
        data = base64.b64encode(self.data).decode("ascii")
        return {"id": self.name, "server": self.server, "input": data, "wanted": sorted(self.expect)}


def load_cases() -> list[Case]:
    """Read all cases, in the order of ``SETS`` and of the files."""
    folder = resources.files(__package__) / "cases"
    found: list[Case] = []
    for group in SETS:
        for line in (folder / f"{group}.jsonl").read_text(encoding="utf-8").splitlines():
            values = json.loads(line)
            data = base64.b64decode(values["input"], validate=True)
            found.append(Case(values["id"], values["rule"], group, values["server"], data, values["expect"]))
    return found


def select_cases(cases: Iterable[Case], rules: Sequence[str] = (), groups: Sequence[str] = ()) -> list[Case]:
    """Choose cases by rules (``S12-7``), or their first part (``S12``), and by sets; without either, all."""
    return [
        case
        for case in cases
        if (not rules or case.rule in rules or case.rule.partition("-")[0] in rules)
        and (not groups or case.group in groups)
    ]


def find_difference(expected: Any, found: Any, where: str = "") -> str | None:
    """Compare what a case expects with what a program found.

    Only the fields that ``expected`` names are compared; a field that ``found`` lacks is null. Lists must have the same
    length.
    """
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
        for place, (one, other) in enumerate(zip(expected, found, strict=True)):
            difference = find_difference(one, other, f"{where}[{place}]")
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
