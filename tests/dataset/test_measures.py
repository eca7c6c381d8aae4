"""Every measure is equal of an archive, its ply table, a data set, the parts of a cluster, and PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import dask
import dask.dataframe
import duckdb
import pandas as pd
import pytest

from exporters.measures import functions as measures
from exporters.measures.source import Plies
from exporters.selection import make_filter
from exporters.tables.columns import MATCH_COLUMNS
from exporters.tables.matches import match_columns, read_matches
from exporters.tables.tables import open_tables
from recorder import Archive, Dataset, Tables
from storage import ArchiveStore, GameFilter
from storage.dataset.reading import DatasetStore
from tests.support.postgres import Server

INCLUDE = ("examined", "setup")
OTHER_TABLES: dict[str, list[dict[str, Any]]] = {
    "time_usage": [
        {"by": ()},
        {"by": ["player", "phase"]},
        {"by": ["hour", "sealed", "rating_band"]},
        {"by": ["clock_band", "lag_band"]},
    ],
    "time_left": [{"by": "variant", "moves": [1, 5]}],
    "clock_lead": [{"by": "player", "moves": [1, 2, 3, 4], "edges_s": [0]}, {"moves": [2], "edges_percent": [-1, 1]}],
    "scrambles": [{"by": ["player", "side"], "limit_ms": 10**9}],
    "scramble_windows": [{"limit_ms": 10**9}],
    "residuals": [{"by": ["server", "complete", "precision"]}],
    "diagonal_lead": [{}],
    "sitting": [{}, {"by": ["match", "partner"], "limit_ms": 200}],
    "instant": [{"by": ["side", "move_no"], "limit_ms": 1000}],
    "known_moves": [{"by": ["side", "phase"]}],
    "blunders": [{"by": ["eval_engine", "phase"]}],
    "loss_by_clock": [{"by": "time_trouble", "edges_s": [5, 50]}],
}
ASKED = [(name, options) for name, tables in OTHER_TABLES.items() for options in tables]
ON_DASK = ("time_usage", "game_sides")
"""Dask takes a second for each measure: the others are long tests."""


def _cases() -> Iterator[Any]:
    for name in measures.__all__:
        yield pytest.param("of_archive", name)
        yield pytest.param("of_dataset", name)
        yield pytest.param("of_cluster", name, marks=[] if name in ON_DASK else [pytest.mark.long])
        yield pytest.param("of_dask", name, marks=[] if name in ON_DASK else [pytest.mark.long])
        yield pytest.param("of_postgres", name, marks=[pytest.mark.needs("postgres")])


def _whole(games: Archive | Tables) -> pd.DataFrame:
    """All half-moves, those of matches with the columns of matches."""
    matches, others = games.matches(), games.plies(include=INCLUDE)
    plies = pd.concat([matches, others[~others["key"].isin(matches["key"])]], ignore_index=True)
    return plies.astype(dict.fromkeys(others.select_dtypes("category").columns, "category"))


@pytest.fixture(scope="module")
def plies(archive: Archive) -> pd.DataFrame:
    return _whole(archive)


Measured = Callable[[str], pd.DataFrame]


@pytest.fixture(scope="module")
def of_frame(plies: pd.DataFrame) -> Measured:
    """What each measure gives when it is asked for nothing special, computed once for all tests."""
    return cache(lambda name: getattr(measures, name)(plies))


@pytest.fixture(scope="module")
def of_archive(archive: Archive, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Plies]:
    """Through the columnar copy."""
    where = make_filter({"include": INCLUDE})
    with pytest.MonkeyPatch.context() as patch, ArchiveStore.open(str(archive.path), read_only=True) as store:
        patch.setattr("exporters.tables.tables._FEW_PLIES", 0)
        matches = match_columns(read_matches(store, GameFilter(variants=frozenset({"bughouse"}))))
        with open_tables(store, where, matches=matches) as tables:
            yield tables.plies([column.name for column in MATCH_COLUMNS])


@pytest.fixture(scope="module")
def of_dataset(dataset: Dataset) -> Any:
    return dataset.relation(include=INCLUDE)


@pytest.fixture(scope="module")
def files(plies: pd.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The plies as Parquet files, cut anywhere: games are split between them. Dask wants words, no categories."""
    folder = tmp_path_factory.mktemp("plies")
    words = plies.astype(dict.fromkeys(plies.select_dtypes("category").columns, "string"))
    half = len(words) // 2
    for name, part in (("a", words[:half]), ("b", words[half:])):
        part.to_parquet(folder / f"{name}.parquet")
    return folder


@pytest.fixture(scope="module")
def of_files(files: Path) -> Iterator[Any]:
    with duckdb.connect() as connection:
        yield connection.read_parquet(str(files / "*.parquet"))


@pytest.fixture(scope="module")
def of_dask(files: Path) -> Iterator[Any]:
    with dask.config.set(scheduler="synchronous"):
        yield dask.dataframe.read_parquet(files)


@pytest.fixture(scope="module")
def of_cluster(folder: Path) -> Iterator[Plies]:
    """Files of a data set, which workers read."""
    with dask.config.set(scheduler="synchronous"), DatasetStore(str(folder)) as store:
        yield Plies.of_files(store.files_of_plies(make_filter({"include": INCLUDE})))


@pytest.fixture(scope="module")
def of_postgres(archive: Archive, server: Server) -> pd.DataFrame:
    url = server.new_database()
    archive.publish(url)
    return _whole(Tables(url))


@pytest.mark.long
def test_matches_of_a_data_set_on_dask(folder: Path, archive: Archive) -> None:
    with dask.config.set(scheduler="synchronous"), DatasetStore(str(folder)) as store:
        files = store.files_of_plies(GameFilter(players=frozenset({"Karpov"})), matches=True)
        of_filter = Plies.of_files(files)
        assert_equal(measures.sitting(of_filter), measures.sitting(archive.matches(player="Karpov")))


def assert_equal(found: pd.DataFrame, of_frame: pd.DataFrame) -> None:
    """What another backend gives is what the ply table gives: values, types, order and attributes."""
    pd.testing.assert_frame_equal(found, of_frame)
    assert found.attrs == of_frame.attrs


@pytest.mark.parametrize(("backend", "name"), list(_cases()))
def test_backends_agree(backend: str, name: str, of_frame: Measured, request: pytest.FixtureRequest) -> None:
    assert_equal(getattr(measures, name)(request.getfixturevalue(backend)), of_frame(name))


@pytest.mark.parametrize(("name", "options"), ASKED, ids=str)
def test_engines_agree_on_other_tables(name: str, options: dict[str, Any], plies: pd.DataFrame, of_files: Any) -> None:
    measure = getattr(measures, name)
    assert_equal(measure(of_files, **options), measure(plies, **options))


@pytest.mark.parametrize("name", measures.__all__)
def test_a_table_has_its_columns_and_counts_every_ply(name: str, plies: pd.DataFrame, of_frame: Measured) -> None:
    full, empty = of_frame(name), getattr(measures, name)(plies.head(0))
    assert len(full)
    assert full.attrs["plies"] + sum(full.attrs["excluded"].values()) == len(plies)
    assert min(full.attrs["excluded"].values()) > 0
    assert {str(dtype) for dtype in full.dtypes} <= {"string", "Int64", "Float64", "boolean"}
    assert not len(empty)
    assert list(empty) == list(full)
    assert empty.attrs == {"games": 0, "plies": 0, "excluded": {}, "marked": {}}


@pytest.mark.parametrize(
    ("name", "by"),
    [
        ("clock_curve", "move_no"),
        ("time_left", "move_no"),
        ("clock_lead", "move_no"),
        ("time_left_by_phase", "phase"),
        ("residuals", "cause"),
        ("time_odds", "time_control"),
        ("activity", "hour"),
        ("blunders", "time_trouble"),
        ("time_usage", ["key", "game"]),
    ],
)
def test_a_dimension_that_the_table_has_anyway_is_refused(name: str, by: str, plies: pd.DataFrame) -> None:
    with pytest.raises(ValueError, match=r"always grouped by|only once"):
        getattr(measures, name)(plies, by=by)


def test_key_is_the_game(plies: pd.DataFrame) -> None:
    pd.testing.assert_frame_equal(measures.time_usage(plies, by="key"), measures.time_usage(plies, by="game"))


def test_unknown_stays_unknown_in_fractions(plies: pd.DataFrame) -> None:
    """``pandas.read_parquet`` reads whole numbers of which some are unknown as fractions."""
    fractions = plies.astype(dict.fromkeys(plies.select_dtypes("integer").columns, "float64"))
    assert_equal(measures.lag(fractions, by="lag_band"), measures.lag(plies, by="lag_band"))
