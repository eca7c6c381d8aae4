"""The names by which rows are stored and read are those of the tables."""

from __future__ import annotations

import pytest

from storage.schema.tables import metadata
from storage.statements import COLUMNS


@pytest.mark.parametrize("table", COLUMNS)
def test_columns_stand_as_in_the_table(table: str) -> None:
    assert COLUMNS[table] == tuple(column.name for column in metadata.tables[table].columns)
