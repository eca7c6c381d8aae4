"""An archive with something of everything, and what a shared database contains."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest
from pandas.testing import assert_frame_equal

from recorder import Archive, Tables
from recorder.archive.sharing.publishing import table_columns
from recorder.model import AnalysedPosition, Analysis, Thinking
from storage import ArchiveStore
from storage.publish.connection import SPAN
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


def of_database(url: str, number: int = 1) -> dict[str, list[tuple[Any, ...]]]:
    """The rows of an archive in a shared database, with the row numbers that the games have in the archive."""
    found = {}
    with psycopg.connect(url) as connection:
        for table, columns in table_columns().items():
            names = [f'"{one.name}"' + f" - {number * SPAN}" * (one.name in ("id", "game")) for one in columns]
            query = f"SELECT {', '.join(names)} FROM {table} WHERE archive = %s"
            found[table] = sorted(connection.execute(query, (number,)).fetchall(), key=str)
    return found


EVERYTHING: Any = {"include": ["examined", "setup", "empty"]}


def assert_as_archive(path: Path, url: str, *, chat: bool = True) -> None:
    """Compare the tables of an archive with those of a database that has this archive only."""
    archive, tables = Archive(path, read_only=True), Tables(url)
    for name in ("plies", "game_table", "matches"):
        assert_frame_equal(getattr(tables, name)(**EVERYTHING), getattr(archive, name)(**EVERYTHING))
    ours = archive.events(**EVERYTHING)
    hidden = (ours["kind"] == "chat") & (not chat or ~ours["detail"].isin(["kibitz", "whisper"]))
    ours, there = ours[~hidden].reset_index(drop=True), tables.events(**EVERYTHING)
    assert_frame_equal(there.astype(object), ours.astype(object))


@pytest.fixture
def assert_equal(everything: Cli, url: str) -> Callable[..., None]:
    """Compares the archive with the database."""
    return lambda **how: assert_as_archive(everything.archive, url, **how)
