"""One row a half-move: CSV, JSON Lines, Parquet. Main lines only; docs/tables.md explains the columns."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import Any, BinaryIO

from exporters.base import ExportReport
from exporters.csv import write_csv
from exporters.dataset import arrow_schema, import_pyarrow
from exporters.tables.rows import PLY_NAMES, ply_rows
from recorder.model import Game, TimeBasis

__all__ = [
    "PliesCsvExporter",
    "PliesJsonExporter",
    "PliesParquetExporter",
    "write_json_lines",
]


_ROWS_IN_GROUP = 65_536

_Row = tuple[Any, ...]


class PliesCsvExporter:
    """CSV; see ``exporters.csv``.

    Args:
        raw: write texts that look like formulas as they are.
    """

    def __init__(self, *, raw: bool = False) -> None:
        self._raw = raw

    def write(self, games: Iterable[Game], out: BinaryIO) -> ExportReport:
        """Write the header and all rows."""
        report = ExportReport()
        write_csv(PLY_NAMES, _counted(games, report), out, raw=self._raw)
        return report


class PliesJsonExporter:
    """JSON Lines in UTF-8, one object a row; null for None."""

    def write(self, games: Iterable[Game], out: BinaryIO) -> ExportReport:
        """Write all rows."""
        report = ExportReport()
        write_json_lines(PLY_NAMES, _counted(games, report), out)
        return report


class PliesParquetExporter:
    """Parquet, zstd-compressed, in row groups of 65,536 rows. Needs pyarrow, which the extra ``parquet`` brings."""

    def write(self, games: Iterable[Game], out: BinaryIO) -> ExportReport:
        """Write all rows.

        Raises:
            ExportError: pyarrow is not installed.
        """
        pa, pq = import_pyarrow()
        schema = arrow_schema()
        report = ExportReport()
        rows = chain.from_iterable(_counted(games, report))
        with pq.ParquetWriter(out, schema, compression="zstd") as writer:
            while group := list(islice(rows, _ROWS_IN_GROUP)):
                values: dict[str, Any] = dict(zip(PLY_NAMES, zip(*group, strict=True), strict=True))
                values["at"] = _instants(values)
                columns = [pa.array(values[field.name], type=field.type) for field in schema]
                writer.write_table(pa.Table.from_arrays(columns, schema=schema))
        return report


def _instants(values: dict[str, tuple[Any, ...]]) -> list[int | None]:
    """Milliseconds since 1970 where that is what the arrival is."""
    utc = TimeBasis.UTC.value
    return [
        at_ms if basis == utc else None for at_ms, basis in zip(values["arrival_ms"], values["time_basis"], strict=True)
    ]


def write_json_lines(names: tuple[str, ...], batches: Iterable[Iterable[_Row]], out: BinaryIO) -> None:
    """Write batches of rows as one JSON object a line."""
    encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
    for batch in batches:
        text = "".join(encode(dict(zip(names, row, strict=True))) + "\n" for row in batch)
        out.write(text.encode("utf-8", "replace"))


def _counted(games: Iterable[Game], report: ExportReport) -> Iterator[list[_Row]]:
    for _, rows in ply_rows(games):
        report.games += 1
        report.plies += len(rows)
        yield rows
