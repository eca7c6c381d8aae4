"""CSV: UTF-8, a header line, LF line ends, empty for unknown, and no cell that a spreadsheet takes for a formula."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from typing import Any, BinaryIO, Final

from exporters.tables.columns import GAME_COLUMNS, PLY_COLUMNS

__all__ = ["shielded", "write_csv"]

_MOVES: Final = frozenset({"fen", "longest_san", "san", "uci"})
"""Columns of moves and positions, which are never shielded."""
_OPENS_FORMULA: Final = frozenset("=+-@\t")
_NOT_FOREIGN: Final = _MOVES.union(
    column.name for column in (*PLY_COLUMNS, *GAME_COLUMNS) if column.kind != "text" or column.words
)


def shielded(value: Any) -> Any:
    """The value of a cell; a text that a spreadsheet would take for a formula gets an apostrophe before it.

    A text of one character, such as the time control ``-``, is none. Numbers stay as they are.
    """
    if value.__class__ is str and value[:1] in _OPENS_FORMULA and len(value) > 1:
        return f"'{value}"
    return value


def write_csv(
    names: Iterable[str], batches: Iterable[Iterable[tuple[Any, ...]]], out: BinaryIO, *, raw: bool = False
) -> None:
    """Write a header and batches of rows as CSV; ``true`` and ``false`` for truths.

    Args:
        names: of the columns. batches: rows, as many at a time as shall be in memory. out: takes the bytes.
        raw: write texts as they are, for programs that take no cell for a formula.
    """
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    names = list(names)
    writer.writerow(names)
    foreign = [] if raw else [number for number, name in enumerate(names) if name not in _NOT_FOREIGN]
    for batch in batches:
        # Said in place: a call for each of millions of values takes longer than the writer.
        rows = [["true" if value is True else "false" if value is False else value for value in row] for row in batch]
        for number in foreign:
            for row in rows:
                if row[number].__class__ is str and row[number][:1] in _OPENS_FORMULA:
                    row[number] = shielded(row[number])
        writer.writerows(rows)
        out.write(buffer.getvalue().encode("utf-8", "replace"))
        buffer.seek(0)
        buffer.truncate()
    out.write(buffer.getvalue().encode("utf-8", "replace"))
