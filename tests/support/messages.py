"""The table of events in docs/reference/outages.md."""

import re
from pathlib import Path
from typing import NamedTuple

_DOCUMENT = Path(__file__).parents[2] / "docs/reference/outages.md"
_ROW = re.compile(r"^\| `(\w+)` \| (info|warning|error) \| [^|]+ \| ([^|]*) \|$", re.M)


class DocumentedEvent(NamedTuple):
    """What an event of ``--log`` is documented to have."""

    level: str
    facts: frozenset[str]


EVENTS = {
    row[1]: DocumentedEvent(row[2], frozenset(re.findall(r"`(\w+)`", row[3])))
    for row in _ROW.finditer(_DOCUMENT.read_text(encoding="utf-8"))
}
