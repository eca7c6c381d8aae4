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
from collections.abc import Collection, Iterable, Iterator, Sequence
from importlib.metadata import version
from itertools import chain, islice, repeat
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final

from exporters.base import ExportReport, file_stem, new_folder, refuse_protected
from exporters.tables.columns import GAME_COLUMNS, PLY_COLUMNS, Column
from exporters.tables.rows import PLY_NAMES, ply_rows
from recorder.errors import ExportError
from recorder.model import Game, TimeBasis
from recorder.times import iso
from storage import ArchiveStore, GameFilter
from storage.read.columns import pieces

if TYPE_CHECKING:
    from exporters.tables.texts import LineForm

__all__ = [
    "FORMATS",
    "PliesParquetExporter",
    "arrow_schema",
    "import_pyarrow",
    "line_form",
    "shielded",
    "write_csv",
    "write_dataset",
    "write_games",
    "write_json_lines",
    "write_plies",
]

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
    names = list(names)
    for batch in chain([[tuple(names)]], batches):
        out.write("".join(_csv_lines(names, batch, raw=raw)).encode("utf-8", "replace"))


class _Lines(list[str]):
    """The lines that a csv writer writes."""

    write = list.append


def _csv_lines(names: Sequence[str], rows: Iterable[tuple[Any, ...]], *, raw: bool) -> list[str]:
    foreign = [] if raw else [number for number, name in enumerate(names) if name not in _NOT_FOREIGN]
    # Said in place: a call for each of millions of values takes longer than the writer.
    cells = [["true" if value is True else "false" if value is False else value for value in row] for row in rows]
    for number in foreign:
        for row in cells:
            if row[number].__class__ is str and row[number][:1] in _OPENS_FORMULA:
                row[number] = shielded(row[number])
    lines = _Lines()
    csv.writer(lines, lineterminator="\n").writerows(cells)
    return lines


_DATASET_ROWS_IN_GROUP = 100_000
_DATASET_FILE = "plies.parquet"
_DATASET_SCHEMA = "_common_metadata"  # by its convention the schema of all files, without rows
_DATASET_MARK = b"ics-recorder"


def import_pyarrow() -> tuple[Any, Any]:
    """``pyarrow`` and ``pyarrow.parquet``.

    Raises:
        ExportError: they are not installed.
    """
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise ExportError(
            "Parquet needs pyarrow: pip install 'ics-recorder[parquet]', or choose csv or jsonl."
        ) from error
    return pyarrow, pyarrow.parquet


def arrow_schema(columns: Collection[Column] = PLY_COLUMNS) -> Any:
    """The Parquet schema of a table; units and meanings are its fields' metadata, the program's version its own."""
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
    return pa.schema(fields, metadata={_DATASET_MARK: version("ics-recorder")})


def write_dataset(
    storage: ArchiveStore, where: GameFilter, folder: Path, *, force: bool = False, protect: Collection[Path] = ()
) -> ExportReport:
    """Write the plies of the games that match; memory is bounded by one row group, all files are of one moment.

    Args:
        storage: the archive. where: which games.
        folder: is made, or gets its name only when everything is written.
        force: replace a dataset that is there; a folder that holds anything else is never replaced.
        protect: files that must not be in a folder that is replaced: the archive, the logs.
    Returns:
        The numbers of games and plies that were written, and what was excluded.
    Raises:
        ExportError: pyarrow is not installed, the folder is there, or it cannot be written.
    """
    import_pyarrow()
    refuse_protected(folder, protect)
    folder = folder.resolve()
    if folder.exists() and not (force and _is_dataset(folder)):
        raise ExportError(
            f"{folder} is there and is no dataset of ours; name another folder."
            if force
            else f"{folder} already exists; use --force to replace it."
        )
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ExportError(f"{folder} cannot be written: {error.strerror}.") from error
    with new_folder(folder) as unfinished:
        return _write(storage, where, unfinished)


def _write(storage: ArchiveStore, where: GameFilter, folder: Path) -> ExportReport:
    from exporters.tables.frames import plies_of

    pa, pq = import_pyarrow()
    schema = arrow_schema()
    report = ExportReport()
    pq.write_metadata(schema, folder / _DATASET_SCHEMA)
    with storage.columns() as reader:
        groups: dict[tuple[str, ...], list[tuple[int, int]]] = {}
        for row_id, plies, variant, day in reader.days_of(where):
            month = ("undated",) if day is None else (f"{day.year:04}", f"{day.month:02}")
            groups.setdefault((file_stem(variant or "unknown"), *month), []).append((row_id, plies))
        for names, games in sorted(groups.items()):
            path = folder.joinpath(*names)
            path.mkdir(parents=True)
            with pq.ParquetWriter(path / _DATASET_FILE, schema, compression="zstd") as writer:
                for ids in pieces(games, _DATASET_ROWS_IN_GROUP):
                    frame = plies_of(reader, ids)
                    table = pa.Table.from_pandas(frame, schema, preserve_index=False)
                    writer.write_table(table.replace_schema_metadata(schema.metadata))
                    report.games += len(ids)
                    report.plies += len(frame)
    return report


def _is_dataset(folder: Path) -> bool:
    """Whether a folder holds a dataset of ours and nothing else."""
    _, pq = import_pyarrow()
    try:
        files = [path for path in folder.rglob("*") if not path.is_dir()]
        if {path.name for path in files} - {_DATASET_FILE, _DATASET_SCHEMA}:
            return False
        return _DATASET_MARK in (pq.read_schema(folder / _DATASET_SCHEMA).metadata or {})
    except (OSError, ValueError):  # pyarrow's errors of files that are no Parquet are ValueErrors
        return False


_ROWS_IN_GROUP = 65_536
_ROWS_IN_MEMORY = 8_192

_Row = tuple[Any, ...]


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
        rows = _counted(games, report)
        group: list[Any] = []  # as columns of Arrow, which take a tenth of the memory of rows
        with pq.ParquetWriter(out, schema, compression="zstd") as writer:
            while some := list(islice(rows, _ROWS_IN_MEMORY)):
                values: dict[str, Any] = dict(zip(PLY_NAMES, zip(*some, strict=True), strict=True))
                values["at"] = _instants(values)
                columns = [pa.array(values[field.name], type=field.type) for field in schema]
                group.append(pa.Table.from_arrays(columns, schema=schema))
                if len(group) * _ROWS_IN_MEMORY == _ROWS_IN_GROUP:
                    writer.write_table(pa.concat_tables(group))
                    group.clear()
            if group:
                writer.write_table(pa.concat_tables(group))
        return report


def _counted(games: Iterable[Game], report: ExportReport) -> Iterator[_Row]:
    for _, rows in ply_rows(games):
        report.games += 1
        report.plies += len(rows)
        yield from rows


def _instants(values: dict[str, tuple[Any, ...]]) -> list[int | None]:
    """Milliseconds since 1970 where that is what the arrival is."""
    utc = TimeBasis.UTC.value
    return [
        at_ms if basis == utc else None for at_ms, basis in zip(values["arrival_ms"], values["time_basis"], strict=True)
    ]


_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def write_json_lines(names: tuple[str, ...], batches: Iterable[Iterable[_Row]], out: BinaryIO) -> None:
    """Write batches of rows as one JSON object a line.

    Args:
        names: of the columns.
        batches: rows with one value for each name; None becomes null.
        out: a binary file; takes UTF-8.
    """
    for batch in batches:
        text = "".join(_encode(dict(zip(names, row, strict=True))) + "\n" for row in batch)
        out.write(text.encode("utf-8", "replace"))


def line_form(format_name: str, *, raw: bool = False) -> LineForm:
    """How a line of a table is written.

    Args:
        format_name: ``csv`` or ``jsonl``. raw: in CSV, write texts that look like formulas as they are.
    """
    from exporters.tables.texts import LineForm

    def csv_cells(names: Sequence[str], columns: Sequence[Sequence[Any]]) -> list[str]:
        # With an empty cell behind them, so that a single one is written as it is among others.
        rows = zip(*columns, repeat(None, len(columns[0])), strict=True)
        return [line[: -len(",\n")] for line in _csv_lines([*names, ""], rows, raw=raw)]

    def json_cells(names: Sequence[str], columns: Sequence[Sequence[Any]]) -> list[str]:
        return [_encode(dict(zip(names, row, strict=True)))[1:-1] for row in zip(*columns, strict=True)]

    if format_name == "csv":
        return LineForm("", "\n", lambda name: "", "", csv_cells)
    return LineForm("{", "}\n", lambda name: f'"{name}":', "null", json_cells)


_PLIES_AT_ONCE: Final = 20_000
_WORTH_ARROW: Final = 200_000  # plies; of fewer, Arrow's driver, which loads pandas, saves less time than it takes


def write_plies(
    storage: ArchiveStore, where: GameFilter, out: BinaryIO, format_name: str, *, raw: bool = False
) -> ExportReport:
    """Write the plies of the games that match, in the archive's order; some 20,000 plies are in memory.

    Args:
        storage: the archive. where: which games. out: takes the bytes. format_name: ``csv`` or ``jsonl``.
        raw: in CSV, write texts that look like formulas as they are.
    Returns:
        The numbers of games and plies that were written, and what was excluded.
    """
    from exporters.tables.texts import lines_of  # these load NumPy
    from exporters.tables.values import values_of

    form = line_form(format_name, raw=raw)
    if format_name == "csv":
        write_csv(PLY_NAMES, (), out)
    report = ExportReport()
    with storage.columns(arrow=False) as reader:
        arrow = sum(plies for _, plies in reader.games_of(where)) >= _WORTH_ARROW
    with storage.columns(arrow=arrow) as reader:
        for ids in pieces(reader.games_of(where), _PLIES_AT_ONCE):
            report.games += len(ids)
            values = values_of(reader, ids)
            if values is not None:
                report.plies += len(values["san"])
                for text in lines_of(values, form):
                    out.write(text.encode("utf-8", "replace"))
    return report


FORMATS: Final = ("csv", "parquet")
_ROWS_AT_ONCE = 10_000


def write_games(
    storage: ArchiveStore, where: GameFilter, out: BinaryIO, format_name: str, *, raw: bool = False
) -> ExportReport:
    """Write the games that match, in the archive's order; no more than 10,000 rows are in memory.

    Args:
        storage: the archive. where: which games. out: takes the bytes. format_name: one of ``FORMATS``.
        raw: in CSV, write texts that look like formulas as they are.
    Returns:
        The numbers of games and plies that were written, and what was excluded.
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
    from exporters.tables.frames import game_rows  # loads pandas

    with storage.columns(arrow=False) as reader:
        games = reader.games_of(where)
        rows = game_rows(reader, games)
        while found := list(islice(rows, _ROWS_AT_ONCE)):
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
