"""Names of events are an interface: the documentation has all of them."""

from __future__ import annotations

import re
from pathlib import Path

from recorder.live.messages import EVENTS

DOCUMENT = Path(__file__).parents[2] / "docs/reference/log.md"


def test_the_document_has_the_table() -> None:
    rows = re.findall(r"^\| `(\w+)` \| (\w+) \| ([^|]+) \| ([^|]*) \|$", DOCUMENT.read_text(encoding="utf-8"), re.M)
    expected = [
        (event, kind.level.value, kind.meaning, ", ".join(f"`{fact}`" for fact in kind.facts))
        for event, kind in EVENTS.items()
    ]
    assert [(event, level, meaning, facts.strip()) for event, level, meaning, facts in rows] == expected


def test_no_fact_has_a_name_of_the_line_itself() -> None:
    assert not {"at", "level", "event", "message"} & {fact for kind in EVENTS.values() for fact in kind.facts}
