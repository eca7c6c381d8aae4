"""On made-up games a frame, a relation and a plain reading in Python of docs/reference/measures.md give the same."""

import math
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import duckdb
import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st

from exporters.measures import functions as measures
from tests.support.effort import examples
from tests.tables.measures.frames import frame_of, rows_of

Row = dict[str, Any]
UNITS = {"milliseconds": 1, "seconds": 1000}


@st.composite
def games(draw: st.DrawFn) -> list[Row]:
    """Plies of some games: times of either unit, some missing, some games examined or untimed."""
    found: list[Row] = []
    for number in range(draw(st.integers(1, 5))):
        unit = draw(st.sampled_from(("milliseconds", "seconds")))
        whole = {
            "key": f"g{number}",
            "kind": draw(st.sampled_from(("played", "played", "played", "examined"))),
            "time_control": draw(st.sampled_from(("300+0", "60+0", "-", None))),
            "complete": draw(st.booleans()),
        }
        for ply in range(1, draw(st.integers(1, 9)) + 1):
            if draw(st.integers(0, 9)) == 0:
                continue  # a gap
            inferred = draw(st.integers(0, 9)) == 0
            known = not inferred and draw(st.integers(0, 9)) > 0
            found.append(
                {
                    **whole,
                    "ply": ply,
                    "phase": draw(st.sampled_from(("opening", "middlegame", "endgame", None))),
                    "origin": "inferred" if inferred else "frame",
                    "precision": unit if known else None,
                    "elapsed_ms": draw(st.integers(0, 9)) * 400 // UNITS[unit] * UNITS[unit] if known else None,
                    "clock_after_ms": draw(st.integers(-3, 300)) * 1000 if known else None,
                    "mover_score": draw(st.sampled_from((None, 0.0, 0.5, 1.0))),
                }
            )
    return found


def reason(row: Row) -> str | None:
    if row["kind"] != "played":
        return "not played"
    if row["time_control"] == "-":
        return "untimed"
    return "inferred" if row["origin"] == "inferred" else None


def kept(rows: list[Row], value: str, missing: str, *, first_moves: bool = True) -> tuple[list[Row], dict[str, int]]:
    excluded: dict[str, int] = defaultdict(int)
    found = []
    for row in rows:
        why = reason(row) or (missing if row[value] is None else None)
        why = why or ("first move" if row["move_no"] == 1 and not first_moves else None)
        if why is None:
            found.append(row)
        else:
            excluded[why] += 1
    return found, dict(excluded)


def half_up(numerator: int, denominator: int) -> int:
    return math.floor(numerator / denominator + 0.5)


def nearest_rank(values: list[int], percent: int) -> int:
    return sorted(values)[math.ceil(len(values) * percent / 100) - 1]


def median(values: list[int]) -> int:
    values = sorted(values)
    return half_up(values[(len(values) - 1) // 2] + values[len(values) // 2], 2)


def figures(rows: list[Row], value: str, **asked: Callable[[list[int]], float]) -> Row:
    """Figures of the rows' values, and the unit of the coarsest of them."""
    values = [row[value] for row in rows]
    unit = max(UNITS[row["precision"]] for row in rows)
    computed: Row = {name: of(values) for name, of in asked.items()}
    return {**computed, "precision": "seconds" if unit == 1000 else "milliseconds"}


@contextmanager
def relation_of(plies: pd.DataFrame) -> Iterator[Any]:
    import pyarrow as pa

    with duckdb.connect() as connection:
        yield connection.from_arrow(pa.Table.from_pandas(plies))


def check(plies: pd.DataFrame, measure: Callable[..., pd.DataFrame], by: str, expected: dict[Any, Row]) -> pd.DataFrame:
    table = measure(plies, by=by)
    with relation_of(plies) as relation:
        of_duckdb = measure(relation, by=by)
    pd.testing.assert_frame_equal(of_duckdb, table)
    assert of_duckdb.attrs == table.attrs
    found = {
        (None if pd.isna(row[by]) else row[by]): row
        for row in table.astype(object).where(table.notna(), None).to_dict("records")
    }
    assert found.keys() == expected.keys()
    for group, wanted in expected.items():
        assert {name: found[group][name] for name in wanted} == wanted
    return table


@settings(max_examples=examples(15))
@given(rows=games(), by=st.sampled_from(("time_control", "phase", "side", "game")))
def test_time_usage(rows: list[Row], by: str) -> None:
    rows = rows_of(rows)
    counted, excluded = kept(rows, "elapsed_ms", "no time", first_moves=False)
    groups: dict[Any, list[Row]] = defaultdict(list)
    for row in counted:
        groups[row["key" if by == "game" else by]].append(row)
    expected = {
        group: {
            "games": len({row["key"] for row in of}),
            "plies": len(of),
            **figures(
                of,
                "elapsed_ms",
                total_ms=sum,
                mean_ms=lambda values: sum(values) / len(values),
                median_ms=median,
                p95_ms=lambda values: nearest_rank(values, 95),
                longest_ms=max,
            ),
        }
        for group, of in groups.items()
    }
    table = check(frame_of(rows), measures.time_usage, by, expected)
    assert table.attrs["excluded"] == excluded
    assert table.attrs["plies"] == len(counted)
    assert table.attrs["games"] == len({row["key"] for row in counted})
    marked = {
        "seconds only": sum(row["precision"] == "seconds" for row in counted),
        "incomplete": sum(not row["complete"] for row in counted),
    }
    assert table.attrs["marked"] == {name: count for name, count in marked.items() if count}


@settings(max_examples=examples(15))
@given(rows=games())
def test_clock_curve(rows: list[Row]) -> None:
    rows = rows_of(rows)
    counted, excluded = kept(rows, "clock_after_ms", "no clock")
    groups: dict[int, list[Row]] = defaultdict(list)
    for row in counted:
        groups[row["move_no"]].append(row)
    expected = {
        move: {
            "sides": len(of),
            **figures(
                of,
                "clock_after_ms",
                least_ms=min,
                q25_ms=lambda values: nearest_rank(values, 25),
                median_ms=median,
                q75_ms=lambda values: nearest_rank(values, 75),
                most_ms=max,
                mean_ms=lambda values: sum(values) / len(values),
            ),
        }
        for move, of in groups.items()
    }
    plies = frame_of(rows)
    table = measures.clock_curve(plies)
    with relation_of(plies) as relation:
        pd.testing.assert_frame_equal(measures.clock_curve(relation), table)
    assert table.attrs["excluded"] == excluded
    assert table["move_no"].tolist() == sorted(expected)
    for row in table.to_dict("records"):
        assert {name: row[name] for name in expected[row["move_no"]]} == expected[row["move_no"]]


@settings(max_examples=examples(15))
@given(rows=games())
def test_autocorrelation(rows: list[Row]) -> None:
    rows = rows_of(rows)
    counted, _ = kept(rows, "elapsed_ms", "no time")
    timed = [row for row in counted if row["move_no"] > 1 and row["precision"] != "seconds"]
    times = {(row["key"], row["ply"]): row["elapsed_ms"] for row in timed}
    pairs = [(times[key, ply - 2], y) for (key, ply), y in times.items() if (key, ply - 2) in times]
    plies = frame_of(rows)
    table = measures.autocorrelation(plies, by=())
    with relation_of(plies) as relation:
        pd.testing.assert_frame_equal(measures.autocorrelation(relation, by=()), table)
    assert table["pairs"].tolist() == ([len(pairs)] if pairs else [])
    if pairs:
        n, (x, y) = len(pairs), (sum(values) for values in zip(*pairs, strict=True))
        of_x = n * sum(one * one for one, _ in pairs) - x * x
        of_y = n * sum(other * other for _, other in pairs) - y * y
        if of_x and of_y:
            covariance = n * sum(one * other for one, other in pairs) - x * y
            assert math.isclose(table["correlation"][0], covariance / math.sqrt(of_x) / math.sqrt(of_y), abs_tol=1e-12)
        else:
            assert table["correlation"].isna().all()


def test_words_that_are_all_missing_have_any_type_in_duckdb() -> None:
    """Of a column without a category Arrow does not know that it holds words."""
    rows = [{"ply": ply, "elapsed_ms": 400, "phase": None, "precision": None, "time_control": None} for ply in (3, 4)]
    expected: dict[Any, Row] = {None: {"games": 1, "plies": 2, "total_ms": 800, "precision": None}}
    for by in ("phase", "time_control"):
        check(frame_of(rows), measures.time_usage, by, expected)
