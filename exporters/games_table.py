"""One row a game: CSV and Parquet with the columns of ``ArchiveStore.games()``; docs/tables.md explains them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO, Final

from exporters.base import ExportReport
from exporters.csv import write_csv
from exporters.dataset import arrow_schema, import_pyarrow
from exporters.tables.columns import GAME_COLUMNS
from exporters.tables.games import game_rows
from recorder.model import TimeBasis
from recorder.times import iso
from storage import ArchiveStore, GameFilter

__all__ = ["FORMATS", "write_games"]

FORMATS: Final = ("csv", "parquet")
_ROWS_AT_ONCE = 10_000
_Row = tuple[Any, ...]


def write_games(
    storage: ArchiveStore, where: GameFilter, out: BinaryIO, format_name: str, *, raw: bool = False
) -> ExportReport:
    """Write the games that match, in the archive's order; no more than 10,000 rows are in memory.

    Args:
        storage: the archive. where: which games. out: takes the bytes. format_name: one of ``FORMATS``.
        raw: in CSV, write texts that look like formulas as they are.
    Raises:
        ExportError: it is Parquet, and pyarrow is not installed.
    """
    report = ExportReport()
    if format_name == "parquet":
        _write_parquet(_batches(storage, where, report), out)
    else:
        texts = ([_as_text(row) for row in rows] for rows in _batches(storage, where, report))
        write_csv([column.name for column in GAME_COLUMNS], texts, out, raw=raw)
    return report


def _batches(storage: ArchiveStore, where: GameFilter, report: ExportReport) -> Iterator[list[_Row]]:
    """Rows with plain values in the order of ``GAME_COLUMNS``; an instant is milliseconds since 1970."""
    with storage.columns(arrow=False) as reader:
        games = reader.games_of(where)
        for begin in range(0, len(games), _ROWS_AT_ONCE):
            found = game_rows(reader, games[begin : begin + _ROWS_AT_ONCE])
            report.games += len(found)
            report.plies += sum(row["plies"] for row in found)
            yield [tuple(_plain(column.kind, row[column.name]) for column in GAME_COLUMNS) for row in found]


def _plain(kind: str, value: Any) -> Any:
    return bool(value) if kind == "boolean" and value is not None else value


def _as_text(row: _Row) -> _Row:
    pairs = zip(GAME_COLUMNS, row, strict=True)
    return tuple(iso(value, TimeBasis.UTC) if column.kind == "instant" else value for column, value in pairs)


def _write_parquet(batches: Iterator[list[_Row]], out: BinaryIO) -> None:
    pa, pq = import_pyarrow()
    schema = arrow_schema(GAME_COLUMNS)
    with pq.ParquetWriter(out, schema, compression="zstd") as writer:
        for rows in batches:
            columns = [
                pa.array(values, type=field.type) for field, values in zip(schema, zip(*rows, strict=True), strict=True)
            ]
            writer.write_table(pa.Table.from_arrays(columns, schema=schema))
