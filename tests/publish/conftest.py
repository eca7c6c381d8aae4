"""An archive with something of everything, and what a shared database contains."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest

from recorder.model import AnalysedPosition, Analysis, Thinking
from storage import ArchiveStore
from storage.files import open_sqlite
from storage.maintenance.private import PRIVATE_COLUMNS
from storage.maintenance.share import share
from storage.publish.publishing import PUBLISHED, SPAN
from tests.support.cli import ADJOURNED, SERVER, WATCHER, Cli
from tests.support.evaluated import PGN as PGN_WITH_EVALUATIONS
from tests.support.postgres import Server

PGN = SERVER.parent / "pgn"
PAIR = tuple(SERVER / "a07_eight_boards" / f"observer_GuestObs{letter}.raw.gz" for letter in "IJ")
"""Two connections that saw the same games."""
LOGS = (
    *PAIR,
    WATCHER,
    ADJOURNED,
    SERVER / "a03_crazyhouse" / "observer_GuestObsD.raw.gz",
    SERVER / "a10_examine" / "observer_GuestExa.raw",
    SERVER / "a12_bughouse" / "observer_GuestBga.raw.gz",
    SERVER / "a12_bughouse" / "observer_GuestBgb.raw.gz",
    SERVER / "a13_timeseal_lag" / "observer_GuestTsa.raw",
    SERVER / "x03_zippy_engines" / "xboard_fairymax.debug.gz",
    PGN / "ficsgames-variants-by-year.pgn",
    PGN / "icc-saved-2012.pgn",
    SERVER.parent / "public" / "bughouse-2005-client-saved.bpgn",
)
OTHER_LOG = SERVER / "a08_wrap_prompt_style" / "observer_GuestObsL.raw.gz"

Tables = dict[str, list[tuple[Any, ...]]]


@pytest.fixture
def url(server: Server) -> str:
    """An empty database."""
    return server.new_database()


@pytest.fixture(scope="session")
def _everything(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    cli = Cli(tmp_path_factory.mktemp("everything") / "archive.sqlite")
    evaluated = cli.archive.with_name("evaluated.pgn")
    evaluated.write_bytes(PGN_WITH_EVALUATIONS)
    cli("import", *LOGS, evaluated)
    analyse(cli.archive)
    copy = cli.archive.with_name("copy.sqlite")
    cli("db", "backup", copy)
    return copy.read_bytes()


@pytest.fixture
def everything(cli: Cli, _everything: bytes) -> Cli:
    """A command on an archive of ``LOGS`` with an analysis of two games."""
    cli.archive.write_bytes(_everything)
    return cli


def analyse(path: Path, engine: str = "Deep") -> None:
    """Store an engine's evaluation of the start of the two newest games."""
    settings = '{"limit": {"depth": 9}, "options": {"Book": "/home/ann/book.bin", "Hash": "16"}}'
    with ArchiveStore.open(str(path)) as archive:
        for spec in ("last", "last~1"):
            game = archive.game(spec)
            lines = tuple(
                Thinking(0, 0, engine, True, depth, 10 * depth, None, 250, 10_000, 12, 40_000, 0, "e4 e5", None, 0)
                for depth in (8, 9)
            )
            start = AnalysedPosition(0, "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", lines)
            archive.analyses.add(game.key, Analysis(engine, "uci", settings, 1_000, ()), [start])


def of_share(path: Path, *, chat: bool = True) -> Tables:
    """The rows of a share of an archive in the tables that are published, without the private columns."""
    target = path.with_name("compared.sqlite")
    target.unlink(missing_ok=True)
    share(path, target)
    driver = open_sqlite(target, read_only=True)
    found = {}
    for table in PUBLISHED:
        hidden = PRIVATE_COLUMNS.get(table.name, {})
        names = ", ".join(f'"{column.name}"' for column in table.columns if column.name not in hidden)
        where = " WHERE kind <> 'chat'" if table.name == "events" and not chat else ""
        found[table.name] = _sorted(driver.execute(f"SELECT {names} FROM {table.name}{where}").fetchall())
    driver.close()
    return found


def of_database(url: str, number: int = 1) -> Tables:
    """The rows of an archive in a shared database, with the row numbers that they have in the archive."""
    found = {}
    with psycopg.connect(url) as connection:
        for table in PUBLISHED:
            hidden = PRIVATE_COLUMNS.get(table.name, {})
            names = ", ".join(_expression(column, number) for column in table.columns if column.name not in hidden)
            query = f"SELECT {names} FROM {table.name} WHERE archive = %s"
            found[table.name] = _sorted(connection.execute(query, (number,)).fetchall())
    return found


def _expression(column: Any, number: int) -> str:
    moved = column.name in ("id", "first_ply_id") or column.foreign_keys
    return f'"{column.name}"' + (f" - {number * SPAN}" if moved else "")


def _sorted(rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    return sorted(rows, key=lambda row: tuple((value is not None, str(type(value)), value) for value in _plain(row)))


def _plain(row: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(int(value) if isinstance(value, bool) else value for value in row)


@pytest.fixture
def assert_equal(everything: Cli, url: str) -> Callable[..., None]:
    """Compares an archive's share with the database."""

    def compare(*, chat: bool = True) -> None:
        ours, there = of_share(everything.archive, chat=chat), of_database(url)
        for name, rows in ours.items():
            assert there[name] == rows, name

    return compare
