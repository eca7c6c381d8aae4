"""An archive of logs of which no two have a game in common, and the data set of the same games."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from recorder import Archive, Dataset
from tests.support.cli import SERVER, WATCHER, Cli
from tests.support.corpus import stream_bytes
from tests.support.evaluated import PGN as PGN_WITH_EVALUATIONS
from tests.support.journals import journal_of

JOURNALS = (("a01_standard", "observer_GuestObsA"), ("a12_bughouse", "observer_GuestBga"))
"""These connections are read as journals, which have the time of each line."""
LOGS = (
    WATCHER,
    SERVER / "a03_crazyhouse" / "observer_GuestObsD.raw.gz",
    SERVER / "a10_examine" / "observer_GuestExa.raw",
    SERVER / "a13_timeseal_lag" / "observer_GuestTsa.raw",
    SERVER / "x03_zippy_engines" / "xboard_fairymax.debug.gz",
    SERVER.parent / "pgn" / "ficsgames-variants-by-year.pgn",
    SERVER.parent / "pgn" / "icc-saved-2012.pgn",
    SERVER.parent / "ficsgames" / "2009-wildfr.pgn",
)


@pytest.fixture(scope="session")
def logs(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("logs")
    odds = PGN_WITH_EVALUATIONS.replace(b'TimeControl "60+0"', b'WhiteTimeControl "60+0"]\n[BlackTimeControl "50+0"')
    made = {"evaluated.pgn": PGN_WITH_EVALUATIONS, "odds.pgn": odds.replace(b"Ann", b"Cid")}
    made |= {f"{name}.icsj": journal_of(stream_bytes(scenario, name)) for scenario, name in JOURNALS}
    for name, data in made.items():
        (folder / name).write_bytes(data)
    return [*LOGS, *(folder / name for name in made)]


@pytest.fixture(scope="session")
def cli(logs: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Cli:
    """The archive."""
    found = Cli(tmp_path_factory.mktemp("archive") / "archive.sqlite")
    archive_of(found, logs)
    return found


def archive_of(cli: Cli, logs: list[Path]) -> None:
    for words, some in _by_date(logs):
        cli("import", *words, *some)


def dataset_of(cli: Cli, logs: list[Path], folder: Path) -> None:
    """Make a data set of the logs."""
    for words, some in _by_date(logs):
        cli("convert", "--jobs", "1", "--update", *words, "--dataset", folder, *some)


def _by_date(logs: list[Path]) -> Iterator[tuple[list[str], list[Path]]]:
    """The logs with the options that give days to those that have none."""
    yield ["--date", "2020-01-31"], [log for log in logs if log.suffix != ".pgn"]
    yield [], [log for log in logs if log.suffix == ".pgn"]


@pytest.fixture(scope="session")
def archive(cli: Cli) -> Archive:
    return Archive(cli.archive, read_only=True)


@pytest.fixture(scope="session")
def folder(cli: Cli, logs: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("dataset") / "games"
    dataset_of(cli, logs, found)
    return found


@pytest.fixture(scope="session")
def dataset(folder: Path) -> Iterator[Dataset]:
    with Dataset(folder) as found:
        yield found
