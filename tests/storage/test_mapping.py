"""The lines of ``storage.mapping`` and the rows of sources fit the tables: names, null, words, units."""

from __future__ import annotations

import re
from dataclasses import fields
from enum import Enum
from types import NoneType
from typing import Any, get_args, get_type_hints

import pytest
from sqlalchemy import JSON, BigInteger, Boolean, Column, Integer, Text

from recorder.model import Ply
from storage import SourceRow
from storage.mapping import COLUMNS, MAPPINGS, STORED_PLY, Field, Mapping
from storage.read.columns import GameFacts, HoldingsColumns, Ints, PlyArrays, SegmentColumns, ThinkingColumns
from storage.schema.tables import metadata

LINES = [(mapping, line) for mapping in MAPPINGS for line in mapping.lines]
UNIT = re.compile(r"_(ms|s|cp|bytes)$")
STORED = {str: Text, int: Integer, bool: Boolean, dict: JSON, tuple: JSON}


def column_of(mapping: Mapping[Any], line: Field) -> Column[Any]:
    return metadata.tables[mapping.table].columns[line.column]


def type_of(model: type[Any], attribute: str) -> tuple[type[Any], bool]:
    """The type of an attribute without None, and whether it may be None."""
    for name in attribute.split("."):
        hint = get_type_hints(model)[name]
        parts = [part for part in get_args(hint) if part is not NoneType]
        model = parts[0] if NoneType in get_args(hint) else hint
    return model, NoneType in get_args(hint)


@pytest.mark.parametrize("table", sorted(metadata.tables))
def test_every_column_is_stored_and_read(table: str) -> None:
    """But for columns that only one statement names, there are no others than these."""
    if table == "sources":
        found = {one.name for one in fields(SourceRow)} - {"id", "games"} | {"id", "timing"}
    elif table in COLUMNS:
        found = set(COLUMNS[table])
        assert len(COLUMNS[table]) == len(found)
    else:
        assert table in {"settings", "analyses", "analysed_positions"}
        return
    assert found == set(metadata.tables[table].columns.keys())


@pytest.mark.parametrize(("mapping", "line"), LINES, ids=[f"{mapping.table}.{line.column}" for mapping, line in LINES])
def test_a_column_holds_what_the_attribute_is(mapping: Mapping[Any], line: Field) -> None:
    column, attribute = column_of(mapping, line), line.attribute or line.column
    kind, may_be_none = type_of(mapping.model, attribute)
    in_start = mapping.model.__name__ == "StartFacts"  # null where an observation has no such board
    assert column.nullable is (may_be_none or in_start or line.column == "parent_line_no")
    if line.kind is not None:
        assert kind is line.kind
    assert isinstance(column.type, STORED[str if issubclass(kind, Enum) else kind])
    if issubclass(kind, Enum):
        assert column.info["values"] == [word.value for word in kind]
    assert UNIT.findall(column.name) == UNIT.findall(attribute)
    assert line.relative is (attribute == "at_ms")


@pytest.mark.parametrize("mapping", MAPPINGS, ids=lambda mapping: mapping.table)
def test_named_tuples_are_stored_whole_and_in_their_order(mapping: Mapping[Any]) -> None:
    names = getattr(mapping.model, "_fields", None)
    if names is None or mapping.table == "analysis_lines":
        return
    excluded = ("observation",) if mapping.table == "segments" else ()  # a place in a list, stored as a row number
    assert mapping.attributes == tuple(name for name in names if name not in excluded)


@pytest.mark.parametrize("name", Ply._fields)
def test_a_ply_is_stored_whole(name: str) -> None:
    column = metadata.tables["plies"].columns[
        {
            "proof_code": "quality",
            "origin_code": "quality",
            "precision_code": "quality",
            "offset": "from_offset",
        }.get(name, name)
    ]
    kind, may_be_none = type_of(Ply, name)
    assert isinstance(column.type, STORED[kind])
    if name not in ("proof_code", "origin_code", "precision_code", "offset"):
        assert column.nullable is may_be_none
    assert (name in STORED_PLY) is (column.name != name or name == "at_ms")


@pytest.mark.parametrize("field", [one for one in fields(SourceRow) if one.name not in ("id", "games")])
def test_a_source_row_is_what_its_columns_hold(field: Any) -> None:
    column = metadata.tables["sources"].columns[field.name]
    kind, may_be_none = type_of(SourceRow, field.name)
    kind = getattr(kind, "__origin__", kind)
    assert isinstance(column.type, STORED[str if issubclass(kind, Enum) else kind])
    assert column.nullable is may_be_none


def test_milliseconds_since_1970_have_room() -> None:
    for table in metadata.tables.values():
        for column in table.columns:
            if column.name in ("at_ms", "begun_ms", "start_arrival_ms") or column.name.endswith(("_at_ms", "_bytes")):
                wide = isinstance(column.type, BigInteger)
                assert wide or (table.name, column.name) == ("source_chunks", "size_bytes")


@pytest.mark.parametrize(
    ("reader", "table", "others"),
    [
        (GameFacts, "games", {"source_sha256", "source_kind"}),
        (
            SegmentColumns,
            "observations",
            {"from_ply", "to_ply", "observation_id", "start_at_ms", "time_basis", "first_ply_id", "ply_count"}
            | {"lines", "observations"},
        ),
        (HoldingsColumns, "holdings", set()),
    ],
)
def test_rows_of_column_readers_are_those_of_the_tables(reader: type[Any], table: str, others: set[str]) -> None:
    """But for ``others``, which are of other tables or counted."""
    columns = metadata.tables[table].columns
    for name, hint in get_type_hints(reader).items():
        if name not in others:
            assert columns[name].nullable is (NoneType in get_args(hint)), name


@pytest.mark.parametrize(("reader", "table"), [(PlyArrays, "plies"), (ThinkingColumns, "thinking")])
def test_arrays_of_column_readers_are_of_the_tables(reader: type[Any], table: str) -> None:
    columns = metadata.tables[table].columns
    for name, hint in get_type_hints(reader).items():
        assert isinstance(columns[name].type, (Integer, Boolean)) is (hint == Ints), name
