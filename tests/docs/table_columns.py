"""The lists of columns of docs/reference/tables.md."""

import re
from collections.abc import Sequence, Set
from itertools import groupby

from exporters.tables.columns import EVENT_COLUMNS, GAME_COLUMNS, ON_REQUEST, PLY_COLUMNS, SIDE_COLUMNS, Column
from tests.docs.schema_columns import names_by_cells

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
    above: set[Column] = set()
    for heading, columns in _PARTS.items():
        found = _TABLE.search(page, page.index(f"\n{heading}\n"))
        page = page[: found.start(1)] + _rows(columns, above) + page[found.end(1) :]
        above.update(columns)
    return page


def _rows(columns: Sequence[Column], above: Set[Column]) -> str:
    """One row for each column; those of a table above that follow each other are one row, and those of both sides."""
    rows = []
    for known, group in groupby(columns, above.__contains__):
        if known:
            rows.append(f"| {', '.join(one.name for one in group)} | | | as above |\n")
        else:
            cells = {
                one.name: f"`{one.dtype}` | {one.unit} | {one.meaning}{' (always)' * one.always} |" for one in group
            }
            rows += [f"| {', '.join(names)} | {cell}\n" for cell, names in names_by_cells(cells).items()]
    return "".join(rows)
