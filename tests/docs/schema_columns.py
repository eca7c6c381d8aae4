"""The list of columns of docs/reference/schema.md."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from sqlalchemy import Column, Table

from storage.schema.tables import held_by, metadata, thinking

BEGIN = "<!-- begin: written by make docs -->\n"
END = "<!-- end -->\n"
_SIDES = (("white", "black"), ("mover", "opponent"))
_TYPES = {"big_integer": "integer", "boolean": "0 or 1", "large_binary": "BLOB", "JSON": "text"}


def with_columns(page: str) -> str:
    """The page with every table between its two marks: type, what null means, what a column holds and means."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    tables = "\n".join(map(_of_table, metadata.tables.values()))
    return f"{before}{BEGIN}\n{tables}\n{END}{after}"


def _of_table(table: Table) -> str:
    cells: dict[str, str] = {}
    for one in table.columns:
        if table.name == "analysis_lines" and one.name in thinking.columns and one.name != "seq":
            cells[one.name] = "| | | as in `thinking` |"
        else:
            cells[one.name] = f"{_type(one)} | {one.info['null']} | {held_by(one)} | {one.info['meaning']} |"
    header = ("| column | type | null means | holds | meaning |", "|---|---|---|---|---|")
    lines = (f"| {' '.join(f'`{name}`' for name in names)} | {cell}" for cell, names in names_by_cells(cells).items())
    return "\n".join((f"### `{table.name}`\n", *header, *lines, ""))


def names_by_cells(rows: Mapping[str, str]) -> dict[str, list[str]]:
    """The names of the columns whose cells are equal, those that differ only in the side too."""
    found: dict[str, list[str]] = {}
    of_any_side = {
        name: re.sub(r"\b(?:White|Black|the mover|the opponent)\b", "this side", rows[name]) for name in rows
    }
    for name, cells in rows.items():
        others = {re.sub(one, other, name) for pair in _SIDES for one, other in (pair, pair[::-1])} - {name}
        paired = any(of_any_side.get(other) == of_any_side[name] for other in others)
        found.setdefault(of_any_side[name] if paired else cells, []).append(name)
    return found


def _type(column: Column[Any]) -> str:
    name = column.type.__visit_name__
    return _TYPES.get(name, name)
