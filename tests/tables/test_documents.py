"""docs/reference/tables.md lists the columns and filters as they are."""

from __future__ import annotations

import re
from pathlib import Path

from exporters.selection import Filters
from tests.docs.table_columns import filled

DOCUMENT = (Path(__file__).parents[2] / "docs" / "reference" / "tables.md").read_text(encoding="utf-8")


def rows_of(header: str, part: str) -> list[list[str]]:
    """The cells of the table whose first header cell is ``header``, in the section ``part``."""
    (section,) = re.findall(rf"^##+ {part}\n(.*?)(?=^## |^### On request|\Z)", DOCUMENT, re.MULTILINE | re.DOTALL)
    (body,) = re.findall(rf"^\| {header} \|.*\n\|[-|]+\n((?:\|.*\n)+)", section, re.MULTILINE)
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in body.splitlines()]


def test_columns() -> None:
    assert filled(DOCUMENT) == DOCUMENT, "make docs writes the columns"


def test_filters() -> None:
    listed = [name for row in rows_of("filter", "Which games") for name in row[0].split(", ")]
    assert sorted(listed) == sorted(Filters.__annotations__)
