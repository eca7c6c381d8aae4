"""One row a half-move: CSV, JSON Lines, Parquet. Main lines only; docs/formats.md explains the columns."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import Any, BinaryIO, NamedTuple

from exporters.base import ExportReport
from exporters.games_json import ORIGINS, PRECISIONS, PROOFS
from exporters.holdings import with_hands
from exporters.times import iso
from recorder.errors import ExportError
from recorder.model import Game

__all__ = [
    "PLY_COLUMNS",
    "Column",
    "PliesCsvExporter",
    "PliesJsonExporter",
    "PliesParquetExporter",
    "ply_rows",
    "write_csv",
    "write_json_lines",
]


class Column(NamedTuple):
    """A column's name and type: ``text``, ``integer`` or ``boolean``. Any column may be empty."""

    name: str
    type: str


PLY_COLUMNS = (
    Column("key", "text"),
    Column("server", "text"),
    Column("server_game_no", "integer"),
    Column("variant", "text"),
    Column("rated", "boolean"),
    Column("ply", "integer"),
    Column("move_no", "integer"),
    Column("side", "text"),
    Column("mover", "text"),
    Column("opponent", "text"),
    Column("san", "text"),
    Column("uci", "text"),
    Column("white_clock_ms", "integer"),
    Column("black_clock_ms", "integer"),
    Column("elapsed_ms", "integer"),
    Column("lag_ms", "integer"),
    Column("at", "text"),
    Column("precision", "text"),
    Column("proof", "text"),
    Column("origin", "text"),
    Column("white_holdings", "text"),
    Column("black_holdings", "text"),
)
_NAMES = tuple(column.name for column in PLY_COLUMNS)
_ROWS_IN_GROUP = 65_536

_Row = tuple[Any, ...]


def ply_rows(game: Game) -> Iterator[_Row]:
    """The game's rows in ply order, values in the order of ``PLY_COLUMNS``; None where nothing is known."""
    basis = game.time_basis
    white, black = game.white.handle, game.black.handle
    facts = (game.key, game.server, game.game_no, game.variant, game.rated)
    for ply, hands in with_hands(game):
        by_white = ply.white_moved
        yield (
            *facts,
            ply.ply,
            (ply.ply + 1) // 2,
            "white" if by_white else "black",
            white if by_white else black,
            black if by_white else white,
            ply.san,
            ply.uci,
            ply.white_clock_ms,
            ply.black_clock_ms,
            ply.elapsed_ms,
            ply.lag_ms,
            iso(ply.at_ms, basis),
            PRECISIONS[ply.precision],
            PROOFS[ply.proof],
            ORIGINS[ply.origin],
            *hands,
        )


class PliesCsvExporter:
    """CSV in UTF-8 with a header line and LF line ends; empty for None, ``true`` and ``false``."""

    def write(self, games: Iterable[Game], out: BinaryIO) -> ExportReport:
        """Write the header and all rows."""
        report = ExportReport()
        write_csv(_NAMES, _counted(games, report), out)
        return report


class PliesJsonExporter:
    """JSON Lines in UTF-8, one object a row; null for None."""

    def write(self, games: Iterable[Game], out: BinaryIO) -> ExportReport:
        """Write all rows."""
        report = ExportReport()
        write_json_lines(_NAMES, _counted(games, report), out)
        return report


class PliesParquetExporter:
    """Parquet, zstd-compressed, in row groups of 65,536 rows. Needs pyarrow, which the extra ``parquet`` brings."""

    def write(self, games: Iterable[Game], out: BinaryIO) -> ExportReport:
        """Write all rows.

        Raises:
            ExportError: pyarrow is not installed.
        """
        try:
            import pyarrow as pa
            import pyarrow.parquet as pq
        except ImportError as error:
            raise ExportError(
                "Parquet needs pyarrow; install ics-recorder[parquet], or choose csv or jsonl."
            ) from error
        types = {"text": pa.string(), "integer": pa.int64(), "boolean": pa.bool_()}
        schema = pa.schema([(column.name, types[column.type]) for column in PLY_COLUMNS])
        report = ExportReport()
        rows = chain.from_iterable(_counted(games, report))
        with pq.ParquetWriter(out, schema, compression="zstd") as writer:
            while group := list(islice(rows, _ROWS_IN_GROUP)):
                values = zip(*group, strict=True)
                columns = [pa.array(column, type=field.type) for column, field in zip(values, schema, strict=True)]
                writer.write_table(pa.Table.from_arrays(columns, schema=schema))
        return report


def write_csv(names: Iterable[str], batches: Iterable[Iterable[_Row]], out: BinaryIO) -> None:
    """Write a header and batches of rows as CSV."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(names)
    for batch in batches:
        writer.writerows([_csv_value(value) for value in row] for row in batch)
        out.write(buffer.getvalue().encode("utf-8", "replace"))
        buffer.seek(0)
        buffer.truncate()
    out.write(buffer.getvalue().encode("utf-8", "replace"))


def write_json_lines(names: tuple[str, ...], batches: Iterable[Iterable[_Row]], out: BinaryIO) -> None:
    """Write batches of rows as one JSON object a line."""
    encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
    for batch in batches:
        text = "".join(encode(dict(zip(names, row, strict=True))) + "\n" for row in batch)
        out.write(text.encode("utf-8", "replace"))


def _csv_value(value: object) -> object:
    return ("true" if value else "false") if isinstance(value, bool) else value


def _counted(games: Iterable[Game], report: ExportReport) -> Iterator[list[_Row]]:
    for game in games:
        rows = list(ply_rows(game))
        report.games += 1
        report.plies += len(rows)
        yield rows
