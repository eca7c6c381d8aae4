"""Plies as a folder of Parquet files, one for each variant and month: what DuckDB, Dask and others read in parallel.

``FOLDER/chess/2026/01/plies.parquet``; games without a known day stand in ``FOLDER/chess/undated/plies.parquet``. Every
file has all columns of ``docs/tables.md``, so no reader needs to know what the folders mean.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import Any

from exporters.base import ExportReport
from exporters.output import file_stem, refuse_protected
from exporters.tables.columns import PLY_COLUMNS, Column
from recorder.errors import ExportError
from storage import ArchiveStore, GameFilter

__all__ = ["arrow_schema", "import_pyarrow", "write_dataset"]

_ROWS_IN_GROUP = 100_000
_FILE = "plies.parquet"
_SCHEMA = "_common_metadata"  # by its convention the schema of all files, without rows
_MARK = b"ics-recorder"


def import_pyarrow() -> tuple[Any, Any]:
    """``pyarrow`` and ``pyarrow.parquet``.

    Raises:
        ExportError: they are not installed.
    """
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise ExportError("Parquet needs pyarrow; install ics-recorder[parquet], or choose csv or jsonl.") from error
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
    return pa.schema(fields, metadata={_MARK: version("ics-recorder")})


def write_dataset(
    storage: ArchiveStore, where: GameFilter, folder: Path, *, force: bool = False, protect: Collection[Path] = ()
) -> ExportReport:
    """Write the plies of the games that match; memory is bounded by one row group, all files are of one moment.

    Args:
        storage: the archive. where: which games.
        folder: is made, or gets its name only when everything is written.
        force: replace a dataset that is there; a folder that holds anything else is never replaced.
        protect: files that must not stand in a folder that is replaced: the archive, the logs.
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
            else f"{folder} is already there; use --force to replace it."
        )
    unfinished = folder.with_name(f".{folder.name}.{os.getpid()}.part")
    try:
        unfinished.mkdir(parents=True)
        report = _write(storage, where, unfinished)
        if folder.exists():
            old = folder.with_name(f".{folder.name}.{os.getpid()}.old")
            folder.rename(old)
            unfinished.rename(folder)
            shutil.rmtree(old)
        else:
            unfinished.rename(folder)
    except OSError as error:
        raise ExportError(f"{folder} cannot be written: {error.strerror}.") from error
    finally:
        with suppress(FileNotFoundError):
            shutil.rmtree(unfinished)
    return report


def _write(storage: ArchiveStore, where: GameFilter, folder: Path) -> ExportReport:
    from exporters.tables.plies import pieces, plies_of

    pa, pq = import_pyarrow()
    schema = arrow_schema()
    report = ExportReport()
    pq.write_metadata(schema, folder / _SCHEMA)
    with storage.columns() as reader:
        groups: dict[tuple[str, ...], list[tuple[int, int]]] = {}
        for row_id, plies, variant, day in reader.days_of(where):
            month = ("undated",) if day is None else (f"{day.year:04}", f"{day.month:02}")
            groups.setdefault((file_stem(variant or "unknown"), *month), []).append((row_id, plies))
        for names, games in sorted(groups.items()):
            path = folder.joinpath(*names)
            path.mkdir(parents=True)
            with pq.ParquetWriter(path / _FILE, schema, compression="zstd") as writer:
                for ids in pieces(games, _ROWS_IN_GROUP):
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
        if {path.name for path in files} - {_FILE, _SCHEMA}:
            return False
        return _MARK in (pq.read_schema(folder / _SCHEMA).metadata or {})
    except (OSError, ValueError):  # pyarrow's errors of files that are no Parquet are ValueErrors
        return False
