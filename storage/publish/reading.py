"""Reading a shared database as a data set is read: the same filters, and DuckDB over the games that are wanted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

from recorder.errors import StorageError
from recorder.model import SourceName
from storage.dataset.reading import FILTERS, GAME_NAMES, LEFT_MS, LOWEST_MS, PLAYERS, DatasetReader, DatasetStore
from storage.publish.connection import SCHEMA, connected, is_there
from storage.read.store import Rows, new_database

if TYPE_CHECKING:
    from psycopg import Connection

_OF_MEMBERS: Final = {
    "merged_into": "game",
    "archive": "archive",
    "key": "key",
    "source_id": "source",
    "me": "me",
}
_OF_GAMES: Final = GAME_NAMES | {"archive": "archive"}
_GAMES: Final = (
    f"SELECT {', '.join(f'{text} AS {name}' for name, text in _OF_GAMES.items())} FROM games"
    f" UNION ALL SELECT {', '.join(_OF_MEMBERS.get(name, 'NULL') for name in _OF_GAMES)} FROM members"
)
_WITH: Final = f"WITH games AS NOT MATERIALIZED ({_GAMES}), players AS NOT MATERIALIZED ({PLAYERS})"
# Of games with equal keys one is shown: a merged game before one of a single source, then the one with more plies,
# then that of the archive with the least number. A game that another archive has merged is shown as that one.
_SHOWN: Final = """\
g.merged_into IS NULL AND NOT EXISTS (
  SELECT 1 FROM games other WHERE other.key = g.key AND other.archive <> g.archive
  AND CASE WHEN other.merged_into IS NOT NULL THEN g.source_id IS NOT NULL
    ELSE (other.source_id IS NULL, other.ply_count, -other.archive) > (g.source_id IS NULL, g.ply_count, -g.archive)
  END)"""
VIEWS: Final = (
    f"CREATE VIEW v_games AS SELECT * FROM games WHERE id IN ({_WITH} SELECT g.id FROM games g WHERE {_SHOWN})",
    "CREATE VIEW v_plies AS SELECT * FROM plies WHERE game IN (SELECT id FROM v_games)",
)
_FILTERS: Final = FILTERS._replace(
    shown=_SHOWN,
    lowest_ms=LOWEST_MS.format(plies="p.game = g.id"),
    left_ms=LEFT_MS.format(plies="p.game = g.id"),
    events="EXISTS (SELECT 1 FROM events e WHERE e.game = g.id AND ({}))",
)
_TABLES: Final = {"game_rows": ("games", "id"), "plies": ("plies", "game"), "events": ("events", "game")}
_TYPES: Final = {16: "BOOLEAN", 20: "BIGINT", 23: "INTEGER", 701: "DOUBLE", 1184: "TIMESTAMPTZ"}


class _Driver:
    """Runs the statements of ``storage.read`` with psycopg; ``games`` has the names of an archive's columns."""

    def __init__(self, connection: Connection[Any]) -> None:
        self.connection = connection

    def execute(self, sql: str, parameters: Any = (), /) -> Rows:
        return self.connection.execute(f"{_WITH} {sql}".replace("%", "%%").replace("?", "%s"), parameters)


class _Reader(DatasetReader):
    """The tables of the games that are wanted are copied to files of this computer, which DuckDB reads."""

    def __init__(self, driver: _Driver, connection: Any, folder: Path) -> None:
        archives = driver.connection.execute("SELECT number::text, archive FROM archives").fetchall()
        sources = {number: SourceName(archive, archive, "archive") for number, archive in archives}
        super().__init__(connection, driver, _FILTERS, sources, _TABLES)
        self._server, self._folder = driver.connection, folder
        self._there: dict[str, set[int]] = {}

    def want(self, ids: Sequence[int], *, plies: bool = True) -> None:
        for table in _TABLES if plies else ("game_rows",):
            if table not in self._there or not self._there[table].issuperset(ids):
                self._fetch(table, ids)
                self._there[table] = set(ids)
        super().want(ids, plies=plies)

    def _fetch(self, table: str, ids: Sequence[int]) -> None:
        name, number = _TABLES[table]
        columns = self._server.execute(f"SELECT * FROM {name} LIMIT 0").description or ()
        types = ", ".join(f"'{column.name}': '{_TYPES.get(column.type_code, 'VARCHAR')}'" for column in columns)
        path, made = self._folder / "rows.csv", self._folder / f"{table}.parquet"
        asked = f"COPY (SELECT * FROM {name} WHERE {number} = ANY(%s)) TO STDOUT (FORMAT csv)"
        with self._server.cursor() as cursor, cursor.copy(asked, (list(ids),)) as copy, path.open("wb") as out:
            for data in copy:
                out.write(data)
        rows = (
            f"read_csv('{path}', header = FALSE, delim = ',', quote = '\"', escape = '\"', nullstr = '',"
            f" allow_quoted_nulls = FALSE, parallel = FALSE, auto_detect = FALSE, columns = {{{types}}})"
        )
        source = "REPLACE (archive::VARCHAR AS source)" if table == "game_rows" else ", archive::VARCHAR AS source"
        self.connection.execute(f"COPY (SELECT * {source} FROM {rows}) TO '{made}' (FORMAT parquet)")
        self.connection.execute(f"CREATE OR REPLACE VIEW {table} AS SELECT * FROM read_parquet('{made}')")


class PublishedStore(DatasetStore):
    """Of games with equal keys one."""

    words = _FILTERS

    def __init__(self, url: str) -> None:
        self._url = url
        self._snapshot: _Driver | None = None
        with self._driver():
            pass

    def close(self) -> None:
        """No connection stays open between reads."""

    @contextmanager
    def _driver(self) -> Iterator[_Driver]:
        if self._snapshot is not None:
            yield self._snapshot
            return
        with connected(self._url, StorageError) as connection:
            if not is_there(connection):
                raise StorageError("No archive was published in this database: use `ics-recorder publish URL`.")
            row = connection.execute("SELECT schema FROM archives WHERE schema <> %s LIMIT 1", (SCHEMA,)).fetchone()
            if row is not None:
                raise StorageError(f"The shared database has the schema {row[0]}, and this program's is {SCHEMA}.")
            connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            yield _Driver(connection)

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        with self._driver() as driver:
            before, self._snapshot = self._snapshot, driver
            try:
                yield
            finally:
                self._snapshot = before

    @contextmanager
    def columns(self, *, arrow: bool = True) -> Iterator[DatasetReader]:
        with (
            self._driver() as driver,
            new_database() as connection,
            TemporaryDirectory(prefix="ics-recorder-") as folder,
        ):
            yield _Reader(driver, connection, Path(folder))

    def require_plies(self) -> None:
        """There are always tables."""
