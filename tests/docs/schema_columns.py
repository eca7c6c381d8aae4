"""The list of columns of docs/reference/schema.md."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import Column, Table

from storage.schema.tables import metadata

BEGIN = "<!-- begin: written by make docs -->\n"
END = "<!-- end -->\n"
_SIDES = (("white", "black"), ("mover", "opponent"))
_TYPES = {"big_integer": "", "integer": "", "boolean": "0 or 1", "large_binary": "BLOB", "JSON": "text"}


def with_columns(page: str) -> str:
    """The page with every table between its two marks: type, what null means, what a column holds and means."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    found = Counter(row for table in metadata.tables.values() for row in _rows(table).items())
    common = dict(reversed([row for row, count in found.most_common() if count > 1]))  # of equal names the most used
    tables = [_table("Columns of several tables", reversed(common.items()))]
    for table in metadata.tables.values():
        rows = _rows(table).items()
        also = [f"`{name}`" for name, cells in rows if common.get(name) == cells]
        tables.append(_table(f"`{table.name}`", [row for row in rows if row not in common.items()], also))
    return f"{before}{BEGIN}\n{''.join(tables)}{END}{after}"


def _rows(table: Table) -> dict[str, str]:
    """The cells of each column."""
    return {
        one.name: f"{_type(one)} | {one.info['null']} | {_held_by(one)} | {one.info['meaning']} |"
        for one in table.columns
    }


def _held_by(column: Column[Any]) -> str:
    parts = []
    if column.primary_key:
        parts.append("key")
    parts += [f"row of `{key.column.table.name}`" for key in column.foreign_keys]
    if "json" in column.info:
        parts.append(f"a JSON {column.info['json']}")
    if "size" in column.info:
        parts.append(f"Zstandard, `{column.info['size']}` bytes")
    words = column.info.get("values", ())
    if words and isinstance(words[0], str):
        parts.append(" ".join(f"`{word}`" for word in words))
    return ", ".join(parts)


def _table(heading: str, rows: Iterable[tuple[str, str]], also: Sequence[str] = ()) -> str:
    lines = [f"### {heading}", ""]
    if also:
        lines += [f"Also {' '.join(also)}", ""]
    lines += ["| column | type | null means | holds | meaning |", "|---|---|---|---|---|"]
    lines += [
        f"| {' '.join(f'`{name}`' for name in names)} | {cell}" for cell, names in names_by_cells(dict(rows)).items()
    ]
    return "\n".join([*lines, "", ""])


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
