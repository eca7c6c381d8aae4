"""Every measure gives the same table in pandas, DuckDB and Dask, on real games cut into files anywhere."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import dask
import pandas as pd
import pytest

from exporters import measures
from exporters.measures.batches import PlyBatches
from recorder import Archive
from tests.support.effort import long_after
from tests.tables.measures.engines import assert_equal, on_dask, on_duckdb, partitioned

OTHER_TABLES: dict[str, list[dict[str, Any]]] = {
    "time_usage": [{"by": ()}, {"by": ["player", "phase"]}, {"by": ["hour", "sealed", "rating_band"]}],
    "time_left": [{"by": "variant", "moves": [1, 5]}],
    "clock_lead": [{"by": "player", "moves": [1, 2, 3, 4], "edges_s": [0]}, {"moves": [2], "edges_percent": [-1, 1]}],
    "scrambles": [{"by": ["player", "side"], "limit_ms": 10**9}],
    "scramble_windows": [{"limit_ms": 10**9}],
    "residuals": [{"by": ["server", "complete", "precision"]}],
    "sitting": [{"by": ["match", "partner"], "limit_ms": 200}],
    "instant": [{"by": ["side", "move_no"], "limit_ms": 1000}],
    "blunders": [{"by": ["eval_engine", "phase"]}],
    "loss_by_clock": [{"by": "time_trouble", "edges_s": [5, 50]}],
}
ON_DASK = sorted(measures.__all__, key=lambda name: name not in ("time_usage", "game_sides"))
"""Two first, the others in long tests, since Dask takes a second for each."""
ASKED = [(name, options) for name, tables in OTHER_TABLES.items() for options in tables]


@pytest.fixture(scope="module")
def plies(corpus_archive: Archive) -> pd.DataFrame:
    """All games, those of matches with the columns of matches; what the logs do not have is made up."""
    matches = corpus_archive.matches()
    others = corpus_archive.plies(include=["examined", "setup"])
    plies = pd.concat([matches, others[~others["key"].isin(matches["key"])]], ignore_index=True)
    plies["sit_ms"] = plies["elapsed_ms"].where(plies["match"].notna())
    plies["arrival_ms"] = 1_580_000_000_000 + pd.Series(range(len(plies)), dtype="Int64") * 100_000
    plies["time_basis"] = "utc"
    fewer = (plies["side"] == "black") & (plies["variant"] == "wild/5")
    plies["time_control"] = plies["time_control"].astype("string").mask(fewer, "60+0").astype("category")
    return plies.astype(dict.fromkeys(("mover_id", "opponent_id", "mover", "opponent", "server"), "category"))


@pytest.fixture(scope="module")
def folder(plies: pd.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return partitioned(plies, tmp_path_factory.mktemp("plies"))


Tables = dict[str, pd.DataFrame]
"""What each measure gives when it is asked for nothing special, computed once for all tests."""


@pytest.fixture(scope="module")
def of_pandas(plies: pd.DataFrame) -> Tables:
    return {name: getattr(measures, name)(plies) for name in measures.__all__}


@pytest.fixture(scope="module")
def of_duckdb(folder: Path) -> Tables:
    with on_duckdb(folder) as relation:
        return {name: getattr(measures, name)(relation) for name in measures.__all__}


@pytest.mark.parametrize("name", measures.__all__)
def test_pandas_and_duckdb_agree(name: str, of_pandas: Tables, of_duckdb: Tables) -> None:
    assert_equal(of_duckdb[name], of_pandas[name])


@pytest.mark.parametrize("name", long_after(2, ON_DASK))
def test_dask_agrees(name: str, of_pandas: Tables, folder: Path) -> None:
    with dask.config.set(scheduler="synchronous"):
        assert_equal(getattr(measures, name)(on_dask(folder)), of_pandas[name])


@pytest.mark.parametrize(("name", "options"), ASKED, ids=str)
def test_engines_agree_on_other_tables(name: str, options: dict[str, Any], plies: pd.DataFrame, folder: Path) -> None:
    measure = getattr(measures, name)
    with on_duckdb(folder) as relation:
        assert_equal(measure(relation, **options), measure(plies, **options))


@pytest.mark.parametrize("name", measures.__all__)
def test_of_no_plies_every_table_has_its_columns(name: str, plies: pd.DataFrame, of_pandas: Tables) -> None:
    full, empty = of_pandas[name], getattr(measures, name)(plies.head(0))
    assert name == "scramble_windows" or len(full)
    assert not len(empty)
    assert list(empty) == list(full)
    assert empty.attrs == {"games": 0, "plies": 0, "excluded": {}, "marked": {}}


@pytest.mark.parametrize("name", measures.__all__)
def test_dtypes_are_nullable(name: str, of_pandas: Tables) -> None:
    dtypes = {str(dtype) for dtype in of_pandas[name].dtypes}
    assert dtypes <= {"string", "Int64", "Float64", "boolean"}


@pytest.mark.parametrize("name", measures.__all__)
def test_plies_that_count_and_excluded_plies_are_all(
    name: str, plies: pd.DataFrame, of_pandas: Tables, of_duckdb: Tables
) -> None:
    for table in (of_pandas[name], of_duckdb[name]):
        assert table.attrs["plies"] + sum(table.attrs["excluded"].values()) == len(plies)
        assert min(table.attrs["excluded"].values()) > 0


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


@pytest.fixture(scope="module")
def batches(plies: pd.DataFrame) -> PlyBatches:
    """The same plies in three batches of whole games."""
    games = plies["key"].astype("category").cat.codes % 3
    return PlyBatches(lambda columns: (plies.loc[games == n, sorted(columns)] for n in range(3)), plies.head(0))


@pytest.mark.parametrize("name", measures.__all__)
def test_batches_agree(name: str, batches: PlyBatches, of_pandas: Tables, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the sums of batches are added up at once, and counts divided into small pieces."""
    for limit, few in {"_ROWS_BETWEEN": 50, "_GROUPS_IN_SHARD": 3, "_ROWS_IN_PIECE": 1000}.items():
        monkeypatch.setattr(f"exporters.measures.batches.{limit}", few)
    assert_equal(getattr(measures, name)(batches), of_pandas[name])
