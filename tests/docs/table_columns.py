"""The lists of columns of docs/reference/tables.md."""

from __future__ import annotations

import re
from collections.abc import Sequence

from exporters.tables.columns import EVENT_COLUMNS, GAME_COLUMNS, ON_REQUEST, PLY_COLUMNS, SIDE_COLUMNS, Column

_PARTS = {
    "## Plies": PLY_COLUMNS,
    "### On request": ON_REQUEST,
    "## Sides": SIDE_COLUMNS,
    "## Games": GAME_COLUMNS,
    "## Events": EVENT_COLUMNS,
}


_TABLE = re.compile(r"^\| column \|[^\n]*\n\|[-|]+\n((?:\|[^\n]*\n)+)", re.M)


def filled(page: str) -> str:
    """The page with the columns as they are: in each part the first table with the heading ``column``."""
    for heading, columns in _PARTS.items():
        found = _TABLE.search(page, page.index(f"\n{heading}\n"))
        assert found is not None
        page = page[: found.start(1)] + _rows(columns) + page[found.end(1) :]
    return page


def _rows(columns: Sequence[Column]) -> str:
    return "".join(
        f"| {one.name} | {one.kind} | `{one.dtype}` | {one.unit} | {one.meaning}{' (always)' * one.always} |\n"
        for one in columns
    )
