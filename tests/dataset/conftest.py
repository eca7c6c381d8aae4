"""An archive of logs of which no two have a game in common, and the data set of the same games."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from recorder import Archive, Dataset
from tests.support.cli import GUESTS, SERVER, WATCHER, Cli
from tests.support.evaluated import PGN as PGN_WITH_EVALUATIONS

LOGS = (
    GUESTS,
    WATCHER,
    SERVER / "a03_crazyhouse" / "observer_GuestObsD.raw.gz",
    SERVER / "a10_examine" / "observer_GuestExa.raw",
    SERVER / "a12_bughouse" / "observer_GuestBga.raw.gz",
    SERVER / "a13_timeseal_lag" / "observer_GuestTsa.raw",
    SERVER / "x03_zippy_engines" / "xboard_fairymax.debug.gz",
    SERVER.parent / "pgn" / "ficsgames-variants-by-year.pgn",
    SERVER.parent / "pgn" / "icc-saved-2012.pgn",
    SERVER.parent / "ficsgames" / "2009-wildfr.pgn",
)


@pytest.fixture(scope="session")
def logs(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    evaluated = tmp_path_factory.mktemp("logs") / "evaluated.pgn"
    evaluated.write_bytes(PGN_WITH_EVALUATIONS)
    return [*LOGS, evaluated]


@pytest.fixture(scope="session")
def cli(logs: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Cli:
    """The archive."""
    found = Cli(tmp_path_factory.mktemp("archive") / "archive.sqlite")
    found("import", "--date", "2020-01-31", *logs)
    return found


@pytest.fixture(scope="session")
def archive(cli: Cli) -> Archive:
    return Archive(cli.archive, read_only=True)


@pytest.fixture(scope="session")
def folder(cli: Cli, logs: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("dataset") / "games"
    cli("convert", "--jobs", "1", "--date", "2020-01-31", "--dataset", found, *logs)
    return found


@pytest.fixture(scope="session")
def dataset(folder: Path) -> Iterator[Dataset]:
    with Dataset(folder) as found:
        yield found
