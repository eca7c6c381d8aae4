"""docs/reference/tables.md lists the columns that there are, and the docstring of the filters names all of them."""

from __future__ import annotations

import re
from pathlib import Path

from exporters.selection import Filters
from tests.docs.table_columns import filled

DOCUMENT = (Path(__file__).parents[2] / "docs" / "reference" / "tables.md").read_text(encoding="utf-8")


def test_columns() -> None:
    assert filled(DOCUMENT) == DOCUMENT, "make docs writes the columns"


def test_filters() -> None:
    for name in Filters.__annotations__:
        assert re.search(rf"(?:^ +|[.,] ){name}(?:, \w+)*: ", Filters.__doc__ or "", re.MULTILINE), name
