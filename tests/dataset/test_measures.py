"""Every measure is equal of an archive, its ply table, data sets, one on S3, the parts of a cluster, and PostgreSQL."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
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
from recorder.archive.sharing.cluster import cluster_client
from storage import ArchiveStore, GameFilter
from storage.dataset.files import PlyFile
from storage.dataset.reading import DatasetStore
from tests.support.cli import Cli
from tests.support.dask_cluster import dask_cluster
from tests.support.effort import long_after
from tests.support.evaluated import PGN
from tests.support.postgres import Server
from tests.support.s3server import s3_server

from .conftest import archive_of, dataset_of

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
_SAVED = 110
"""So many games besides those of the logs: together more than 150."""
_DIES = """
import os, signal
from exporters.measures import source

calls, parts_of_files = [], source.parts_of_files

def die(*how):
    calls.append(how)
    if len(calls) == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return parts_of_files(*how)

source.parts_of_files = die
"""
_BACKENDS = ("archive", "dataset", "one_file", "many_files", "postgres", "s3", "dask", "cluster")
_SLOW = ("many_files", "s3", "dask", "cluster")
_QUICK = ("time_odds", "game_sides")
"""What other backends are asked for; the archive is asked for all."""


def _cases() -> Iterator[Any]:
    for name in measures.__all__:
        for backend in _BACKENDS:
            marks = [pytest.mark.needs("postgres")] if backend == "postgres" else []
            slow = backend in _SLOW or (name not in _QUICK and backend != "archive")
            yield pytest.param(f"of_{backend}", name, marks=[*marks, pytest.mark.long] if slow else marks)


def _game(number: int) -> bytes:
    """A game with clocks, evaluations and a start; a third have time odds, and what differs is in few files."""
    control = b'WhiteTimeControl "60+0"]\n[BlackTimeControl "50+0"' if number % 3 == 0 else b'TimeControl "60+0"'
    return (
        PGN.replace(b'TimeControl "60+0"', control)
        .replace(b"2024.01.02", b"2024.02.%02d" % (number % 28 + 1))
        .replace(b"10:00:00", b"%02d:00:00" % (number % 24))
        .replace(b"Ann", b"Ann%d" % (number % 7))
        .replace(b"Bob", b"Bob%d" % number)
    )


@pytest.fixture(scope="module")
def all_logs(logs: list[Path], tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    saved = tmp_path_factory.mktemp("saved") / "saved.pgn"
    saved.write_bytes(b"\n".join(map(_game, range(_SAVED))))
    return [*logs, saved]


@pytest.fixture(scope="module")
def archive(all_logs: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Archive:
    found = Cli(tmp_path_factory.mktemp("archive") / "archive.sqlite")
    archive_of(found, all_logs)
    return Archive(found.archive, read_only=True)


@pytest.fixture(scope="module")
def folder(archive: Archive, all_logs: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("dataset") / "games"
    dataset_of(Cli(Path(archive.path)), all_logs, found)
    return found


@pytest.fixture(scope="module")
def dataset(folder: Path) -> Iterator[Dataset]:
    with Dataset(folder) as found:
        yield found


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
def of_archive(archive: Archive) -> Iterator[Plies]:
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
    # Clients of a cluster, which another test may have open, would choose a shuffle of their own.
    with dask.config.set({"scheduler": "synchronous", "dataframe.shuffle.method": "tasks"}):
        yield dask.dataframe.read_parquet(files)


@contextmanager
def _parts(files: list[PlyFile], parts: int) -> Iterator[Plies]:
    """Files in about so many parts."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("exporters.measures.source._TASK_PLIES", sum(one.rows for one in files) // parts)
        yield Plies.of_files(files)


def _written(of_dataset: Any, folder: Path, **how: Any) -> list[PlyFile]:
    """The plies of a data set as other files, all of them wanted."""
    of_dataset.project("*, key AS part").write_parquet(str(folder / "set"), **how)
    paths = [path for path in (folder / "set", *folder.glob("set/*/*.parquet")) if path.is_file()]
    frames = {path: pd.read_parquet(path, columns=["key"])["key"] for path in paths}
    return [PlyFile(str(path), len(keys), sorted({*keys})) for path, keys in frames.items()]


@pytest.fixture(scope="module")
def of_one_file(of_dataset: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Plies]:
    """All plies in one file, as workers read it."""
    files = _written(of_dataset, tmp_path_factory.mktemp("one"))
    assert len(files) == 1
    with dask.config.set(scheduler="synchronous"), _parts(files, 1) as plies:
        yield plies


@pytest.fixture(scope="module")
def files_of_games(of_dataset: Any, tmp_path_factory: pytest.TempPathFactory) -> list[PlyFile]:
    """A file for each game."""
    files = _written(of_dataset, tmp_path_factory.mktemp("many"), partition_by=["part"])
    assert len(files) >= 150
    return files


@pytest.fixture(scope="module")
def of_many_files(files_of_games: list[PlyFile]) -> Iterator[Plies]:
    with dask.config.set(scheduler="synchronous"), _parts(files_of_games, 15) as plies:
        yield plies


@pytest.fixture(scope="module")
def of_cluster(files_of_games: list[PlyFile], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Plies]:
    """A real cluster, of which a worker is killed."""
    folder = tmp_path_factory.mktemp("cluster")
    (folder / "dies.py").write_text(_DIES)
    with dask_cluster(folder) as running:
        running.start_worker("--preload", folder / "dies.py")
        with cluster_client(running.address) as client, _parts(files_of_games, 6) as plies:
            client.wait_for_workers(2, 600)
            yield plies
        assert running.workers[1].wait(600) == -9


@pytest.fixture(scope="module")
def of_s3(folder: Path) -> Iterator[Any]:
    files = {f"games/{path.relative_to(folder)}": path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    with s3_server(files) as bucket, Dataset(f"{bucket}/games") as found:
        yield found.relation(include=INCLUDE)


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


@pytest.mark.long
def test_only_the_wanted_games_of_files_count(files_of_games: list[PlyFile]) -> None:
    """Of one file nothing is wanted, of one a game that is in another file, and of one all that were played."""
    first, *others = (one for one in files_of_games if pd.read_parquet(one.path)["kind"][0] == "played")
    some = [first, others[0]._replace(keys=[]), others[1]._replace(keys=first.keys), others[2]._replace(keys=None)]
    with dask.config.set(scheduler="synchronous"), _parts(some, 1) as plies:
        found = {*measures.time_usage(plies, by="game")["game"]}
    assert found == {*(first.keys or ()), *(others[2].keys or ())}


def assert_equal(found: pd.DataFrame, of_frame: pd.DataFrame) -> None:
    """What another backend gives is what the ply table gives: values, types, order and attributes."""
    pd.testing.assert_frame_equal(found, of_frame)
    assert found.attrs == of_frame.attrs


@pytest.mark.parametrize(("backend", "name"), list(_cases()))
def test_backends_agree(backend: str, name: str, of_frame: Measured, request: pytest.FixtureRequest) -> None:
    assert_equal(getattr(measures, name)(request.getfixturevalue(backend)), of_frame(name))


@pytest.mark.parametrize(("name", "options"), long_after(5, ASKED[::-1]), ids=str)
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
