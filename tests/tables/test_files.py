"""``export plies`` and ``export games`` write the tables: CSV, JSON Lines and Parquet."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq
import pytest

from exporters.tables.columns import PLY_COLUMNS
from recorder import Archive
from recorder.model import TimeBasis
from recorder.times import iso
from tests.support.cli import Cli


@pytest.fixture(scope="module")
def rows(corpus_archive: Archive) -> list[dict[str, Any]]:
    """The plies as the text files have them: instants in ISO 8601, None for unknown values."""
    found = corpus_archive.plies().astype(object)
    rows: list[dict[str, Any]] = [
        dict(zip(found.columns, row, strict=True)) for row in found.where(found.notna(), None).to_numpy()
    ]
    for row in rows:
        basis = TimeBasis(row["time_basis"])
        row["at"] = iso(row["arrival_ms"], basis)
    return rows


def test_json_lines(corpus_archive: Archive, rows: list[dict[str, Any]]) -> None:
    written = Cli(corpus_archive.path)("export", "plies", "--format", "jsonl").stdout
    assert [json.loads(line) for line in written.splitlines()] == rows


def test_csv(corpus_archive: Archive, rows: list[dict[str, Any]]) -> None:
    written = Cli(corpus_archive.path)("export", "plies", "--csv-raw").stdout
    words = {None: "", True: "true", False: "false"}
    kinds = [(column.name, column.kind) for column in PLY_COLUMNS]
    assert list(csv.DictReader(io.StringIO(written, newline=""))) == [
        {name: words[row[name]] if kind == "boolean" or row[name] is None else str(row[name]) for name, kind in kinds}
        for row in rows
    ]
    assert "\r" not in written


@pytest.mark.long
def test_parquet(corpus_archive: Archive, tmp_path: Path) -> None:
    path = tmp_path / "plies.parquet"
    Cli(corpus_archive.path)("export", "plies", "-o", path)
    table = pq.read_table(path)
    assert table.column_names == [column.name for column in PLY_COLUMNS]
    assert [field.metadata[b"unit"].decode() for field in table.schema] == [column.unit for column in PLY_COLUMNS]
    assert (str(table.schema.field("elapsed_ms").type), str(table.schema.field("at").type)) == (
        "int64",
        "timestamp[ms, tz=UTC]",
    )
    expected = corpus_archive.plies().astype(object)
    found = pd.read_parquet(path, dtype_backend="numpy_nullable").astype(object)
    pd.testing.assert_frame_equal(found.where(found.notna(), None), expected.where(expected.notna(), None))
