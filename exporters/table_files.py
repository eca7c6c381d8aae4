"""Tables of plies and games as files: CSV, JSON Lines, Parquet, and a folder of Parquet files.

docs/reference/tables.md explains the columns.

CSV is UTF-8 with a header line, LF line ends, nothing for unknown, and no cell that a spreadsheet takes for a formula.

The folder has one file for each variant and month, which DuckDB, Dask and others read in parallel:
``FOLDER/chess/2026/01/plies.parquet``; games without a known day are in ``FOLDER/chess/undated/plies.parquet``. Every
file has all columns, so no reader needs to know what the folders mean.
"""

from __future__ import annotations

import csv
import json
import shutil
import tempfile
from collections.abc import Collection, Iterable, Mapping, Sequence
from importlib.metadata import version
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final

from exporters.base import ExportReport
from exporters.tables.columns import GAME_COLUMNS, PLY_COLUMNS, Column
from exporters.tables.filling import in_pieces
from exporters.tables.sql import of_games, of_plies, selected
from exporters.tables.tables import open_tables
from recorder.errors import ExportError
from recorder.progress import Progress, no_progress

if TYPE_CHECKING:
    from storage import GameFilter, GameStore

_Row = tuple[Any, ...]
_MOVES: Final = frozenset({"fen", "longest_san", "san", "uci"})
"""Which are never shielded."""
_OPENS_FORMULA: Final = frozenset("=+-@\t")
_NOT_FOREIGN: Final = _MOVES.union(
    column.name for column in (*PLY_COLUMNS, *GAME_COLUMNS) if column.kind != "text" or column.words
)


def shielded(value: Any) -> Any:
    """A text that a spreadsheet would take for a formula gets an apostrophe; one character, as ``-``, is none."""
    if value.__class__ is str and value[:1] in _OPENS_FORMULA and len(value) > 1:
        return f"'{value}"
    return value


def shielded_sql(text: str) -> str:
    """As ``shielded``, in SQL."""
    opens = f"length({text}) > 1 AND ({text})[1] IN ('=', '+', '-', '@', chr(9))"
    return f"CASE WHEN {opens} THEN chr(39) || {text} ELSE {text} END"


def write_csv(names: Iterable[str], rows: Iterable[_Row], out: BinaryIO, *, raw: bool = False) -> None:
    """``raw``: texts as they are, for programs that take no cell for a formula."""
    names = list(names)
    foreign = [not raw and name not in _NOT_FOREIGN for name in names]
    text = TextIOWrapper(out, "utf-8", "replace", newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    for row in rows:
        cells = ("true" if value is True else "false" if value is False else value for value in row)
        writer.writerow(shielded(cell) if open_ else cell for cell, open_ in zip(cells, foreign, strict=True))
    text.detach()


def import_pyarrow() -> tuple[Any, Any]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise ExportError(
            "Parquet needs pyarrow: pip install 'ics-recorder[parquet]', or choose csv or jsonl."
        ) from error
    return pyarrow, pyarrow.parquet


def arrow_schema(columns: Collection[Column] = PLY_COLUMNS) -> Any:
    """Units and meanings are its fields' metadata, the program's version its own."""
    pa, _ = import_pyarrow()
    types = {
        "string": pa.string(),
        "category": pa.string(),
        "boolean": pa.bool_(),
        "Int32": pa.int32(),
        "Int64": pa.int64(),
        "Float64": pa.float64(),
        "datetime64[ms, UTC]": pa.timestamp("ms", tz="UTC"),
    }
    fields = [
        pa.field(column.name, types[column.dtype], metadata={"unit": column.unit, "meaning": column.meaning})
        for column in columns
    ]
    return pa.schema(fields, metadata={b"ics-recorder": version("ics-recorder")})


_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def write_json_lines(names: tuple[str, ...], rows: Iterable[_Row], out: BinaryIO) -> None:
    for row in rows:
        out.write((_encode(dict(zip(names, row, strict=True))) + "\n").encode("utf-8", "replace"))


FORMATS: Final = ("csv", "jsonl", "parquet")
_PLIES_AT_ONCE: Final = 100_000
_DAY: Final = "strftime(epoch_ms({0}), '%Y-%m-%dT%H:%M:%S.%g')"
_AT: Final = (
    f"CASE {{1}} WHEN 'utc' THEN {_DAY} || 'Z' WHEN 'zone-unknown' THEN {_DAY} WHEN 'date-unknown' THEN"
    " printf('PT%s%d.%03dS', CASE WHEN {0} < 0 THEN '-' ELSE '' END, abs({0}) // 1000, abs({0}) % 1000) END"
)
"""As ``recorder.times.iso``."""


def write_plies(
    storage: GameStore,
    where: GameFilter,
    out: BinaryIO,
    format_name: str,
    *,
    raw: bool = False,
    progress: Progress = no_progress,
) -> ExportReport:
    """In the archive's order; some 100,000 plies are in memory."""
    with open_tables(storage, where, progress=progress) as tables:
        runs = (tables.plies_of(run) for run in in_pieces(tables.games, _PLIES_AT_ONCE))
        instants = {"at": ("p.arrival_ms", "g.time_basis")}
        _write(tables.connection, PLY_COLUMNS, of_plies(), instants, runs, out, format_name, raw)
        return ExportReport(len(tables.games), sum(plies for _, plies in tables.games))


def write_games(
    storage: GameStore, where: GameFilter, out: BinaryIO, format_name: str, *, raw: bool = False
) -> ExportReport:
    """As ``write_plies``."""
    with open_tables(storage, where, plies=False) as tables:
        instants = {"started_at": ("g.started_ms", "CASE WHEN g.time_basis = 'utc' THEN 'utc' END")}
        source = "FROM chosen g ORDER BY g.place"
        _write(tables.connection, GAME_COLUMNS, of_games(), instants, [source], out, format_name, raw)
        return ExportReport(len(tables.games), sum(plies for _, plies in tables.games))


def _write(
    connection: Any,
    columns: Sequence[Column],
    texts: Mapping[str, str],
    instants: Mapping[str, tuple[str, str]],
    sources: Iterable[str],
    out: BinaryIO,
    format_name: str,
    raw: bool,
) -> None:
    """``instants``: SQL of milliseconds and time basis; ``sources``: what follows the columns in each SELECT."""
    if format_name == "parquet":
        _, pq = import_pyarrow()
        schema = arrow_schema(columns)
        with pq.ParquetWriter(out, schema, compression="zstd") as writer:
            for source in sources:
                table = connection.sql(f"SELECT {selected(texts)} {source}").to_arrow_table()
                writer.write_table(table.cast(schema).replace_schema_metadata(schema.metadata))
        return
    written = {**texts, **{name: _AT.format(*of) for name, of in instants.items()}}
    if format_name == "csv":
        for column in columns:
            if column.kind == "text":
                text = f"nullif({written[column.name]}, '')"
                foreign = not raw and column.name not in _NOT_FOREIGN
                written[column.name] = shielded_sql(text) if foreign else text
        write_csv([column.name for column in columns], (), out)
    options = "FORMAT csv, HEADER FALSE" if format_name == "csv" else "FORMAT json"
    with tempfile.TemporaryDirectory(prefix="ics-recorder-") as folder:
        path = Path(folder, "rows")
        for source in sources:
            connection.execute(f"COPY (SELECT {selected(written)} {source}) TO '{path}' ({options})")
            with path.open("rb") as rows:
                shutil.copyfileobj(rows, out)
