"""Tables as text files: what programs that read them must not take for something else."""

import csv
import io

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exporters.table_files import shielded, shielded_sql, write_csv, write_json_lines


def test_rows_of_any_table() -> None:
    out = io.BytesIO()
    write_csv(("a", "b"), [(1, None), (True, "x,y")], out)
    assert out.getvalue() == b'a,b\n1,\ntrue,"x,y"\n'
    out = io.BytesIO()
    write_json_lines(("a", "b"), [(1, None)], out)
    assert out.getvalue() == b'{"a":1,"b":null}\n'


@pytest.mark.parametrize("begin", ["=", "+", "-", "@", "\t"])
def test_texts_that_look_like_formulas_get_an_apostrophe(begin: str) -> None:
    rows = [(f"{begin}1+cmd", f"{begin}1+cmd", -17, "-", "1-0")]
    for raw, mark in ((False, "'"), (True, "")):
        out = io.BytesIO()
        write_csv(("mover", "san", "lag_ms", "time_control", "result"), rows, out, raw=raw)
        read = list(csv.reader(io.StringIO(out.getvalue().decode(), newline="")))
        assert read[1] == [f"{mark}{begin}1+cmd", f"{begin}1+cmd", "-17", "-", "1-0"]


@pytest.fixture(scope="module")
def connection() -> duckdb.DuckDBPyConnection:
    return duckdb.connect()


@given(st.lists(st.none() | st.text("=+-@\t\n\"',a1ü♞ ", max_size=4), min_size=1))
def test_duckdb_shields_the_same_texts(connection: duckdb.DuckDBPyConnection, texts: list[str | None]) -> None:
    query = f"SELECT {shielded_sql('one')} FROM (SELECT unnest(?::VARCHAR[]) AS one)"
    assert [row[0] for row in connection.execute(query, [texts]).fetchall()] == list(map(shielded, texts))
