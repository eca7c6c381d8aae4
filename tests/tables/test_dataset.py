"""Plies as a folder of Parquet files: complete, readable by everybody, never written over something else."""

import tracemalloc
from importlib.metadata import version
from pathlib import Path

import dask.dataframe
import duckdb
import pandas as pd
import pyarrow.parquet as pq
import pytest

from exporters.dataset_parts import DATASET_PLY_COLUMNS
from exporters.tables.columns import PLY_COLUMNS
from recorder import Archive
from tests.support.cli import Cli

NAMES = [column.name for column in PLY_COLUMNS]


@pytest.fixture(scope="module")
def folder(corpus_archive: Archive, tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("dataset") / "set"
    said = Cli(corpus_archive.path)("export", "plies", "--dataset", "-o", target).stderr
    plies = corpus_archive.plies()
    assert f"Wrote {plies['key'].nunique()} games, {len(plies):,} plies to {target}." in said
    return target / "plies"


def sorted_rows(frame: pd.DataFrame) -> pd.DataFrame:
    rows = frame[NAMES].astype(object).sort_values(["key", "ply"], ignore_index=True)
    return rows.where(rows.notna(), None)


@pytest.mark.long
def test_it_holds_every_ply(folder: Path, corpus_archive: Archive) -> None:
    expected = sorted_rows(corpus_archive.plies())
    pd.testing.assert_frame_equal(sorted_rows(pd.read_parquet(folder, dtype_backend="numpy_nullable")), expected)


def test_a_variant_and_a_month_are_a_file(folder: Path) -> None:
    files = {path.relative_to(folder).as_posix() for path in folder.rglob("*.parquet")}
    assert {"chess/2020/01", "bughouse/2020/01"} <= {name.rpartition("/")[0] for name in files}
    assert len(files) == len({name.rpartition("/")[0] for name in files})
    assert any(name.startswith("wild%2f5/2009/") for name in files)
    for path in folder.rglob("*.parquet"):
        plies = pq.read_table(path).to_pandas()
        assert plies["variant"].nunique(dropna=False) == 1
        assert set(plies["at"].dropna().dt.strftime("%Y/%m")) <= {"/".join(path.relative_to(folder).parts[1:-1])}


def test_games_without_a_day_are_separate(tmp_path: Path) -> None:
    cli = Cli(tmp_path / "archive.sqlite")
    cli("import", Path(__file__).parents[1] / "corpus" / "public" / "pychess-play-gbtami.txt")
    cli("export", "plies", "--dataset", "-o", tmp_path / "plies")
    assert {path.parent.name for path in tmp_path.rglob("*.parquet")} == {"undated"}


def test_the_schema_contains_units_and_version(folder: Path) -> None:
    schema = pq.read_schema(next(folder.rglob("*.parquet")))
    assert schema.names == [column.name for column in DATASET_PLY_COLUMNS]
    assert schema.metadata[b"ics-recorder"].decode() == version("ics-recorder")
    assert [field.metadata[b"unit"].decode() for field in schema] == [column.unit for column in DATASET_PLY_COLUMNS]


@pytest.mark.filterwarnings("ignore:The inplace keyword")  # of Dask's own call
def test_duckdb_and_dask_read_it(folder: Path, corpus_archive: Archive) -> None:
    expected = corpus_archive.plies().groupby("variant", observed=True)["elapsed_ms"].sum().to_dict()
    files = f"read_parquet('{folder}/**/*.parquet')"
    query = f"SELECT variant, sum(elapsed_ms) FROM {files} WHERE variant IS NOT NULL GROUP BY 1"
    with duckdb.connect() as connection:
        found = connection.execute(query).fetchall()
    assert {variant: total or 0 for variant, total in found} == expected
    frame = dask.dataframe.read_parquet(folder, columns=["variant", "elapsed_ms"])
    sums = frame.groupby("variant")["elapsed_ms"].sum().compute(scheduler="sync")
    assert {variant: int(total) for variant, total in sums.items()} == expected


def test_a_failure_leaves_nothing(corpus_archive: Archive, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("shutil.copyfileobj", fails)
    target = tmp_path / "set"
    assert "no space left" in Cli(corpus_archive.path)("export", "plies", "--dataset", "-o", target, code=5).stderr
    assert not [path for path in target.rglob("*") if path.is_file()]


@pytest.mark.parametrize("words", [("--dataset",), ("--dataset", "--format", "csv", "-o", "x")])
def test_a_dataset_is_parquet_in_a_folder(corpus_archive: Archive, words: tuple[str, ...]) -> None:
    assert "needs -o with a folder" in Cli(corpus_archive.path)("export", "plies", *words, code=2).stderr


@pytest.mark.long
def test_pieces_need_the_memory_of_a_piece(corpus_archive: Archive, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of numpy and Python: what is kept of the games before is nothing."""
    monkeypatch.setattr("exporters.tables.tables._FEW_PLIES", 0)

    def peak(rows: int, last: int) -> int:
        tracemalloc.start()
        for piece in corpus_archive.batches(rows, last=last):
            del piece
        (_, most) = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    peak(500, last=5)  # what is imported and remembered once
    assert peak(500, last=120) < 0.6 * peak(1_000_000, last=120)
