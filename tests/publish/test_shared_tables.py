"""``recorder.Tables`` gives what ``recorder.Archive`` gives; its views show each game once."""

from pathlib import Path
from typing import Any

import psycopg
import pytest
from pandas.testing import assert_frame_equal

from recorder import Archive, StorageError, Tables
from tests.support.cli import Cli
from tests.support.postgres import Server

from .conftest import PAIR

pytestmark = pytest.mark.needs("postgres")

FILTERS: tuple[dict[str, Any], ...] = (
    {},
    {"include": ["examined", "setup", "empty"]},
    {"last": 7},
    {"guests": False, "computers": False},
    {"variant": "crazyhouse", "complete": True},
    {"since": "2009-01-01", "until": "2015-12-31"},
    {"rated": True, "result": ["1-0", "0-1"]},
    {"server": "unknown"},
    {"category": "blitz", "last": 3},
    {"eco": "b29"},  # of a PGN, whose moves we name otherwise
    {"opening": "french"},
    {"speed": ["lightning", "standard"], "plies_from": 20},
    {"time": "3+0", "clock_below": "1m"},
    {"lead": "2s", "ending": ["resign", "time"]},
    {"happened": "kibitz", "rating_to": 2500},
)


@pytest.fixture(scope="module")
def shared(server: Server) -> str:
    return server.new_database()


@pytest.fixture(scope="module")
def pair(_everything: bytes, shared: str, tmp_path_factory: pytest.TempPathFactory) -> tuple[Archive, Tables]:
    """An archive and the tables that it was published to: tests only read them."""
    path = tmp_path_factory.mktemp("pair") / "archive.sqlite"
    path.write_bytes(_everything)
    archive = Archive(path, read_only=True)
    archive.publish(shared)
    return archive, Tables(shared)


@pytest.mark.long_except("{}")
@pytest.mark.parametrize("filters", FILTERS, ids=str)
def test_tables_and_games_are_those_of_the_archive(pair: tuple[Archive, Tables], filters: dict[str, Any]) -> None:
    archive, tables = pair
    for name in ("plies", "sides", "game_table", "events", "matches"):
        assert_frame_equal(getattr(tables, name)(**filters), getattr(archive, name)(**filters))
    assert [*map(repr, tables.games(**filters))] == [*map(repr, archive.games(**filters))]


@pytest.mark.long
def test_the_filters_leave_something_to_compare(pair: tuple[Archive, Tables]) -> None:
    counts = [len(pair[1].game_table(**filters)) for filters in FILTERS]
    assert all(counts)
    assert len(set(counts)) > 5


@pytest.mark.long
def test_players_and_keys(pair: tuple[Archive, Tables]) -> None:
    archive, tables = pair
    game = next(archive.games(variant="chess"))
    for filters in (
        {"player": game.white.handle.upper()},
        {"white": game.white.handle, "opponent": game.black.handle},
        {"player": f"*{game.white.handle[1:3]}*"},
        {"keys": game.key[:6]},
        {"keys": [key for one in archive for key in one.merged_from][:3]},
        {"me": "guestobsi"},
        {"source": next(one.source.sha256[:8] for one in game.observations if one.source)},
    ):
        expected = archive.game_table(**filters)  # type: ignore[arg-type]  # filters of different types
        assert len(expected)
        assert_frame_equal(tables.game_table(**filters), expected)  # type: ignore[arg-type]  # filters of different types
    for key in (game.key[:8], "last~2"):
        assert repr(tables[key]) == repr(archive[key])
    with pytest.raises(StorageError, match="There is no game last~99999"):
        tables["last~99999"]
    assert repr(tables) == f"Tables · {len(list(archive))} games"


@pytest.mark.long
def test_batches_and_columns_on_request(pair: tuple[Archive, Tables]) -> None:
    archive, tables = pair
    extra = ["eco", "event"]
    assert_frame_equal(tables.plies(extra=extra), archive.plies(extra=extra))
    with pytest.raises(StorageError, match="no column material or fen"):
        tables.plies(extra=["material", "fen"])
    ours, theirs = list(archive.batches(500)), list(tables.batches(500))
    assert len(ours) == len(theirs) > 5
    for one, other in zip(ours, theirs, strict=True):
        assert_frame_equal(other, one)


def test_columns_have_comments_with_their_units(everything: Cli, url: str) -> None:
    Archive(everything.archive).publish(url)
    query = "SELECT col_description('plies'::regclass, ordinal_position) FROM information_schema.columns"
    with psycopg.connect(url) as connection:
        lag = connection.execute(f"{query} WHERE table_name = 'plies' AND column_name = 'lag_ms'").fetchone()
        missing = connection.execute(f"{query} WHERE table_name = 'plies'").fetchall()
    assert lag == ("lag of the move, as the server printed it; missing if it printed none (ms)",)
    assert (None,) not in missing


def test_the_view_of_plies_has_the_plies_of_the_archive(pair: tuple[Archive, Tables], shared: str) -> None:
    """With the names and values of the ply table."""
    ours = pair[0].plies()[["key", "ply", "san", "mover", "elapsed_ms", "thinking_ms", "phase", "eval_after_cp"]]
    with psycopg.connect(shared) as connection:
        names = ", ".join(ours.columns)
        rows = connection.execute(f"SELECT {names} FROM v_plies WHERE kind = 'played' ORDER BY key, ply").fetchall()
    expected = ours.sort_values(["key", "ply"]).astype(object)
    assert rows == list(expected.where(expected.notna(), None).itertuples(index=False, name=None))


def test_a_reader_may_read_and_not_write(everything: Cli, server: Server, url: str) -> None:
    """The role of docs/how-to/postgresql.md."""
    Archive(everything.archive).publish(url)
    page = Path(__file__).parents[2] / "docs" / "how-to" / "postgresql.md"
    (role,) = [block for block in page.read_text().split("```") if block.startswith("sql\nCREATE ROLE")]
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("DROP ROLE IF EXISTS analysts")
        connection.execute("DROP ROLE IF EXISTS ann")
        for statement in role.removeprefix("sql\n").split(";\n"):
            connection.execute(statement)
    own = url.replace("tester@", "ann@")
    assert len(Tables(own).game_table()) > 10
    answer = everything("publish", "--with-text", "none", own, code=5)
    assert answer.stderr.startswith("Error: The shared database does not allow this to ann: permission denied")
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("DROP OWNED BY analysts")
        connection.execute("DROP ROLE ann")
        connection.execute("DROP ROLE analysts")


@pytest.mark.long
def test_two_archives_are_one(cli: Cli, url: str, tmp_path: Path) -> None:
    first, second, both = (Cli(tmp_path / f"{name}.sqlite") for name in ("first", "second", "both"))
    first("import", PAIR[0])
    second("import", PAIR[1])
    both("import", *PAIR)
    for one in (first, second, both):
        Archive(one.archive).publish(url)
    assert_frame_equal(Tables(url).plies(), Archive(both.archive).plies())


def test_no_archive_was_published(url: str) -> None:
    with pytest.raises(StorageError, match="No archive was published in this database"):
        Tables(url)
    with pytest.raises(StorageError, match="A URL must not contain a password") as refused:
        Tables("postgresql://ann:s3cret@localhost/chess")
    assert "s3cret" not in str(refused.value)
    with pytest.raises(StorageError, match="The shared database cannot be reached"):
        Tables("postgresql://localhost:1/chess")
