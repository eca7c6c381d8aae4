"""The list of columns of docs/reference/schema.md."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Column, Table

from storage.schema.meanings import MEANINGS, held_by
from storage.schema.tables import metadata

BEGIN = "<!-- begin: written by make docs -->\n"
END = "<!-- end -->\n"
_TYPES = {"big_integer": "integer", "boolean": "0 or 1", "large_binary": "BLOB", "JSON": "text"}


def with_columns(page: str) -> str:
    """The page with every table between its two marks: type, null, what a column holds and means."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    tables = "\n".join(map(_of_table, metadata.tables.values()))
    return f"{before}{BEGIN}\n{tables}\n{END}{after}"


def _of_table(table: Table) -> str:
    rows = [
        f"| `{one.name}` | {_type(one)} | {'null' if one.nullable else ''} | {held_by(one)} |"
        f" {MEANINGS[table.name][one.name]} |"
        for one in table.columns
    ]
    header = ("| column | type | null | holds | meaning |", "|---|---|---|---|---|")
    return "\n".join((f"### `{table.name}`\n", *header, *rows, ""))


def _type(column: Column[Any]) -> str:
    name = column.type.__visit_name__
    return _TYPES.get(name, name)
