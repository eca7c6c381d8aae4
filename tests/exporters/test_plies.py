"""Tables of plies."""

from __future__ import annotations

import csv
import io
import json
import sys
from datetime import UTC, datetime

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exporters.table_files import (
    PliesParquetExporter,
    line_form,
    write_csv,
    write_json_lines,
)
from exporters.tables.columns import PLY_COLUMNS
from exporters.tables.rows import ply_rows
from exporters.tables.texts import lines_of
from exporters.tables.values import PlyValues, Spread
from recorder.errors import ExportError
from recorder.model import Player, TimeBasis
from recorder.times import iso
from storage.read.columns import NULL
from tests.exporters.games import make_game, random_game

NAMES = [column.name for column in PLY_COLUMNS]
GAMES = [make_game(), random_game(1, 41, "crazyhouse", rated=None), make_game(clocks=None, white=Player('A"n,n'))]
EXPECTED = [dict(zip(NAMES, row, strict=True)) for _, rows in ply_rows(GAMES) for row in rows]


def test_a_row() -> None:
    row = EXPECTED[3]
    assert (row["ply"], row["move_no"], row["side"], row["mover"], row["opponent"]) == (4, 2, "black", "Bob", "Ann")
    assert (row["san"], row["uci"], row["elapsed_ms"]) == ("Nc6", "b8c6", 2468)


def test_json_lines() -> None:
    out = io.BytesIO()
    write_json_lines(NAMES, (rows for _, rows in ply_rows(GAMES)), out)
    assert [json.loads(line) for line in out.getvalue().splitlines()] == EXPECTED


def test_csv() -> None:
    out = io.BytesIO()
    write_csv(NAMES, (rows for _, rows in ply_rows(GAMES)), out)
    rows = list(csv.DictReader(io.StringIO(out.getvalue().decode("utf-8"))))
    words = {None: "", True: "true", False: "false"}
    kinds = [(column.name, column.kind) for column in PLY_COLUMNS]
    assert rows == [
        {name: words[row[name]] if kind == "boolean" or row[name] is None else str(row[name]) for name, kind in kinds}
        for row in EXPECTED
    ]
    assert b"\r" not in out.getvalue()


def test_csv_of_nothing_is_its_header() -> None:
    out = io.BytesIO()
    write_csv(NAMES, (), out)
    assert out.getvalue().decode() == ",".join(NAMES) + "\n"


def test_parquet() -> None:
    out = io.BytesIO()
    report = PliesParquetExporter().write(GAMES, out)
    table = pq.read_table(io.BytesIO(out.getvalue()))
    at = [datetime.fromtimestamp(row["arrival_ms"] / 1000, UTC) for row in EXPECTED]
    assert table.to_pylist() == [{**row, "at": moment} for row, moment in zip(EXPECTED, at, strict=True)]
    assert table.column_names == NAMES
    assert [field.metadata[b"unit"].decode() for field in table.schema] == [column.unit for column in PLY_COLUMNS]
    assert table.schema.field("elapsed_ms").type == "int64"
    assert str(table.schema.field("at").type) == "timestamp[ms, tz=UTC]"
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


@pytest.mark.parametrize("begin", ["=", "+", "-", "@", "\t"])
def test_texts_that_look_like_formulas_get_an_apostrophe(begin: str) -> None:
    rows = [[(f"{begin}1+cmd", f"{begin}1+cmd", -17, "-", "1-0")]]
    for raw, mark in ((False, "'"), (True, "")):
        out = io.BytesIO()
        write_csv(("mover", "san", "lag_ms", "time_control", "result"), rows, out, raw=raw)
        read = list(csv.reader(io.StringIO(out.getvalue().decode(), newline="")))
        assert read[1] == [f"{mark}{begin}1+cmd", f"{begin}1+cmd", "-17", "-", "1-0"]


_WORDS = st.none() | st.sampled_from(
    ['"', ",", "a,b", "=1", "'", "-", "\t", "a\nb", "\r", "", "ü♞", "\ud800", "null", "@x"]
)
_MS = st.none() | st.integers(-(1 << 40), 1 << 40)
_OF_KIND = {
    "text": _WORDS,
    "integer": _MS,
    "number": st.sampled_from([None, 0.0, 0.5, 1.0]),
    "boolean": st.sampled_from([None, True, False]),
    "instant": st.none(),
}


@given(st.data(), st.integers(1, 4), st.booleans())
def test_columns_become_the_lines_that_rows_become(data: st.DataObject, count: int, raw: bool) -> None:
    columns = {column.name: data.draw(st.tuples(*[_OF_KIND[column.kind]] * count)) for column in PLY_COLUMNS}
    columns["time_basis"] = data.draw(st.tuples(*[st.sampled_from([basis.value for basis in TimeBasis])] * count))
    rows = np.arange(count)
    integers = {column.name for column in PLY_COLUMNS if column.name.endswith("_ms")}
    values: PlyValues = {name: Spread(facts, rows) for name, facts in columns.items()}
    values |= {name: np.array([NULL if ms is None else ms for ms in columns[name]]) for name in integers}
    values |= {name: np.array(columns[name], dtype=object) for name in ("san", "white_holdings", "black_holdings")}
    pairs = zip(columns["arrival_ms"], columns["time_basis"], strict=True)
    columns["at"] = tuple(iso(ms, TimeBasis(basis)) for ms, basis in pairs)
    expected = [list(zip(*columns.values(), strict=True))]
    for format_name in ("csv", "jsonl"):
        out = io.BytesIO()
        if format_name == "csv":
            write_csv(NAMES, expected, out, raw=raw)
        else:
            write_json_lines(tuple(NAMES), expected, out)
        lines = "".join(lines_of(values, line_form(format_name, raw=raw))).encode("utf-8", "replace")
        assert lines == out.getvalue().removeprefix(",".join(NAMES).encode() + b"\n")
