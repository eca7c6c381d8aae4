"""The list of all columns in ``docs/reference/schema.md``: ``python -m storage.schema.reference FILE`` writes it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, Final

from sqlalchemy import Column, Table

from storage.schema.meanings import MEANINGS
from storage.schema.tables import metadata

__all__ = ["BEGIN", "END", "comment_on", "reference", "with_reference"]

BEGIN: Final = "<!-- begin: written by python -m storage.schema.reference -->\n"
END: Final = "<!-- end -->\n"

_TYPES: Final = {"big_integer": "integer", "boolean": "0 or 1", "large_binary": "BLOB", "JSON": "text"}
_UNITS: Final = {
    "_ms": "milliseconds",
    "_per_s": "per second",
    "_s": "seconds",
    "_cp": "hundredths of a pawn",
    "_bytes": "bytes",
}


def reference() -> str:
    """Every table with its columns in their order: type, whether it may be null, what it holds and means."""
    return "\n".join(map(_of_table, metadata.tables.values()))


def with_reference(page: str) -> str:
    """A page with ``reference`` between its two marks."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{reference()}\n{END}{after}"


def comment_on(column: Column[Any]) -> str:
    """What a column means, and in parentheses what it holds: key, row of which table, words, unit."""
    holds = _holds(column)
    return MEANINGS[column.table.name][column.name] + (f" ({holds})" if holds else "")


def _of_table(table: Table) -> str:
    rows = [
        f"| `{one.name}` | {_type(one)} | {'null' if one.nullable else ''} | {_holds(one)} |"
        f" {MEANINGS[table.name][one.name]} |"
        for one in table.columns
    ]
    header = ("| column | type | null | holds | meaning |", "|---|---|---|---|---|")
    return "\n".join((f"### `{table.name}`\n", *header, *rows, ""))


def _type(column: Column[Any]) -> str:
    name = column.type.__visit_name__
    return _TYPES.get(name, name)


def _holds(column: Column[Any]) -> str:
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
    parts += [unit for suffix, unit in _UNITS.items() if column.name.endswith(suffix)][:1]
    return ", ".join(parts)


if __name__ == "__main__":
    path = Path(sys.argv[1])
    path.write_text(with_reference(path.read_text(encoding="utf-8")), encoding="utf-8")
