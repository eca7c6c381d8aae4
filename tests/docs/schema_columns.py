"""The list of columns of docs/reference/schema.md."""

from __future__ import annotations

import re
from typing import Any

from sqlalchemy import Column, Table

from storage.schema.tables import held_by, metadata, thinking

BEGIN = "<!-- begin: written by make docs -->\n"
END = "<!-- end -->\n"
_TYPES = {"big_integer": "integer", "boolean": "0 or 1", "large_binary": "BLOB", "JSON": "text"}


def with_columns(page: str) -> str:
    """The page with every table between its two marks: type, what null means, what a column holds and means."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    tables = "\n".join(map(_of_table, metadata.tables.values()))
    return f"{before}{BEGIN}\n{tables}\n{END}{after}"


def _of_table(table: Table) -> str:
    """The columns; both of White's and Black's that differ only in the side are one row."""
    rows: dict[str, list[str]] = {}
    for one in table.columns:
        if table.name == "analysis_lines" and one.name in thinking.columns and one.name != "seq":
            cells = "| | | as in `thinking` |"
        else:
            cells = f"{_type(one)} | {one.info['null']} | {held_by(one)} | {one.info['meaning']} |"
        other = re.sub("white|black", lambda side: "black" if side[0] == "white" else "white", one.name)
        if other != one.name and other in table.columns:
            cells = re.sub(r"\b(?:White|Black)\b", "this side", cells)
        rows.setdefault(cells, []).append(f"`{one.name}`")
    header = ("| column | type | null means | holds | meaning |", "|---|---|---|---|---|")
    lines = (f"| {' '.join(names)} | {cells}" for cells, names in rows.items())
    return "\n".join((f"### `{table.name}`\n", *header, *lines, ""))


def _type(column: Column[Any]) -> str:
    name = column.type.__visit_name__
    return _TYPES.get(name, name)
