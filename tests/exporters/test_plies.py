"""Tables of plies."""

from __future__ import annotations

import csv
import io
import json
import sys

import pyarrow.parquet as pq
import pytest

from exporters.plies import (
    PLY_COLUMNS,
    PliesCsvExporter,
    PliesJsonExporter,
    PliesParquetExporter,
    ply_rows,
    write_csv,
    write_json_lines,
)
from recorder.errors import ExportError
from recorder.model import Player
from tests.exporters.games import make_game, random_game

NAMES = [column.name for column in PLY_COLUMNS]
GAMES = [make_game(), random_game(1, 41, "crazyhouse", rated=None), make_game(clocks=None, white=Player('A"n,n'))]
EXPECTED = [dict(zip(NAMES, row, strict=True)) for game in GAMES for row in ply_rows(game)]


def test_a_row() -> None:
    row = EXPECTED[3]
    assert (row["ply"], row["move_no"], row["side"], row["mover"], row["opponent"]) == (4, 2, "black", "Bob", "Ann")
    assert (row["san"], row["uci"], row["elapsed_ms"]) == ("Nc6", "b8c6", 2468)


def test_json_lines() -> None:
    out = io.BytesIO()
    report = PliesJsonExporter().write(GAMES, out)
    assert [json.loads(line) for line in out.getvalue().splitlines()] == EXPECTED
    assert (report.games, report.plies) == (3, 55)


def test_csv() -> None:
    out = io.BytesIO()
    report = PliesCsvExporter().write(GAMES, out)
    rows = list(csv.DictReader(io.StringIO(out.getvalue().decode("utf-8"))))
    words = {None: "", True: "true", False: "false"}
    kinds = [(column.name, column.type) for column in PLY_COLUMNS]
    assert rows == [
        {name: words[row[name]] if kind == "boolean" or row[name] is None else str(row[name]) for name, kind in kinds}
        for row in EXPECTED
    ]
    assert b"\r" not in out.getvalue()
    assert (report.games, report.plies) == (3, 55)


def test_csv_of_nothing_is_its_header() -> None:
    out = io.BytesIO()
    PliesCsvExporter().write([], out)
    assert out.getvalue().decode() == ",".join(NAMES) + "\n"


def test_parquet() -> None:
    out = io.BytesIO()
    report = PliesParquetExporter().write(GAMES, out)
    table = pq.read_table(io.BytesIO(out.getvalue()))
    assert table.to_pylist() == EXPECTED
    types = {"text": "string", "integer": "int64", "boolean": "bool"}
    assert [(field.name, str(field.type)) for field in table.schema] == [(c.name, types[c.type]) for c in PLY_COLUMNS]
    assert (report.games, report.plies) == (3, 55)


def test_parquet_of_nothing_has_its_columns() -> None:
    out = io.BytesIO()
    PliesParquetExporter().write([], out)
    assert pq.read_table(io.BytesIO(out.getvalue())).column_names == NAMES


def test_parquet_without_pyarrow_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ExportError, match=r"ics-recorder\[parquet\]"):
        PliesParquetExporter().write([], io.BytesIO())


def test_rows_of_any_table() -> None:
    out = io.BytesIO()
    write_csv(("a", "b"), [[(1, None)], [(True, "x,y")]], out)
    assert out.getvalue() == b'a,b\n1,\ntrue,"x,y"\n'
    out = io.BytesIO()
    write_json_lines(("a", "b"), [[(1, None)]], out)
    assert out.getvalue() == b'{"a":1,"b":null}\n'
