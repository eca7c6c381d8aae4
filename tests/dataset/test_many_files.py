"""Measures of a cluster over a data set of 150 files are those of the same games in one file.

The cluster is Dask's own, in this process. One test makes the data set of 150 logs and asks real workers.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import dask
import pandas as pd
import pytest

from exporters.measures import functions as measures
from exporters.measures.source import Plies
from recorder import Dataset, make_dataset
from storage.dataset.files import PlyFile
from tests.dataset.test_measures import assert_equal
from tests.support.cli import Cli
from tests.support.dask_cluster import dask_cluster
from tests.support.effort import long_after
from tests.support.evaluated import PGN

FILES = 150
BOTH_BOARDS = ("diagonal_lead", "sitting")
"""Of bughouse matches, which saved games are not."""


def _game(number: int) -> bytes:
    """A game with clocks, evaluations and a start; a third have time odds, and what differs is in few files."""
    control = b'WhiteTimeControl "60+0"]\n[BlackTimeControl "50+0"' if number % 3 == 0 else b'TimeControl "60+0"'
    return (
        PGN.replace(b'TimeControl "60+0"', control)
        .replace(b"2024.01.02", b"2024.01.%02d" % (number % 28 + 1))
        .replace(b"10:00:00", b"%02d:00:00" % (number % 24))
        .replace(b"Ann", b"Ann%d" % (number % 7))
        .replace(b"Bob", b"Bob%d" % number)
    )


@pytest.fixture(scope="module")
def games() -> list[bytes]:
    return [_game(number) for number in range(FILES)]


@pytest.fixture(scope="module")
def one(games: list[bytes], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The plies of all games, in one file."""
    folder = tmp_path_factory.mktemp("one")
    (folder / "all.pgn").write_bytes(b"\n".join(games))
    make_dataset(folder / "all.pgn", folder / "set", jobs=1)
    with Dataset(folder / "set") as dataset:
        yield dataset.relation()


@pytest.fixture(scope="module")
def files(one: Any, tmp_path_factory: pytest.TempPathFactory) -> list[PlyFile]:
    """The same, a file for each game."""
    folder = tmp_path_factory.mktemp("many")
    one.project("*, key AS part").write_parquet(str(folder / "set"), partition_by=["part"])
    found = [PlyFile(str(path), 12, None) for path in folder.glob("set/*/*.parquet")]
    assert len(found) == FILES
    return found


@contextmanager
def _parts(parts: int) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch, dask.config.set(scheduler="synchronous"):
        patch.setattr("exporters.measures.source._TASK_PLIES", 12 * FILES // parts)
        yield


NAMES = sorted({*measures.__all__} - {*BOTH_BOARDS}, key=lambda name: (name != "time_odds", name))


@pytest.mark.parametrize("name", long_after(1, NAMES))
def test_many_files_measure_as_one(name: str, files: list[PlyFile], one: Any) -> None:
    with _parts(2 if name == "time_odds" else 15):
        assert_equal(getattr(measures, name)(Plies.of_files(files)), getattr(measures, name)(one))


@pytest.mark.long
def test_as_many_parts_as_files(files: list[PlyFile], one: Any) -> None:
    with _parts(FILES):
        assert_equal(measures.time_odds(Plies.of_files(files)), measures.time_odds(one))


def test_only_the_wanted_games_of_files_count(files: list[PlyFile]) -> None:
    """Of one file nothing is wanted, of one a game that is in another file."""
    first, last = (pd.read_parquet(files[number].path)["key"][0] for number in (0, 3))
    some = [
        files[0]._replace(keys=[first]),
        files[1]._replace(keys=[]),
        files[2]._replace(keys=[first]),
        files[3],
    ]
    with _parts(1):
        assert {*measures.time_usage(Plies.of_files(some), by="game")["game"]} == {first, last}


@pytest.mark.long
def test_workers_measure_a_data_set_of_many_logs(games: list[bytes], tmp_path: Path) -> None:
    for number, game in enumerate(games):
        (tmp_path / f"{number}.pgn").write_bytes(game)
    make_dataset(sorted(tmp_path.glob("*.pgn")), tmp_path / "set", jobs=1)
    cli = Cli(tmp_path / "none.sqlite")
    where = ("--json", "--dataset", tmp_path / "set")
    with dask_cluster(tmp_path) as running:
        for table in ("odds", "hours", "profile"):
            wanted = cli("clocks", *where, "--table", table).output
            assert cli("clocks", *where, "--table", table, "--dask", running.address).output == wanted
