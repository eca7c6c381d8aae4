"""Reading a shared database as an archive is read: the same games, plies and filters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, Unpack

from recorder.errors import StorageError
from storage.publish.connection import SHOWN, connected, is_there
from storage.read.columns import (
    ROWS_AT_ONCE,
    SELECT_PLIES,
    SELECT_THINKING,
    Arrays,
    ColumnReader,
    arrays_of,
)
from storage.read.game_filter import ALL_PLAYED, GameFilter
from storage.read.games import load_games
from storage.read.query import (
    FilterWords,
    count_by_handle,
    count_each,
    count_games,
    count_unknown,
    game_ids,
    named_by_like,
    resolve,
)
from storage.read.store import GameParts, Rows, SqlDriver
from storage.schema.upgrade import HEAD

if TYPE_CHECKING:
    from psycopg import Connection

    from recorder.model import Game

_FILTERS: Final = FilterWords(
    "g.dated_ms", lambda side: f"g.{side}_guest", lambda side: f"g.{side}_computer", SHOWN, named_by_like
)
_RUNS: Final = (
    "FROM unnest(%s::bigint[], %s::bigint[]) WITH ORDINALITY run(first, last, place)"
    " JOIN plies p ON p.id BETWEEN run.first AND run.last ORDER BY run.place, p.id"
)
_OF_OBSERVATIONS: Final = (
    "FROM unnest(%s::bigint[]) wanted(value) JOIN thinking t ON t.observation_id = wanted.value"
    " ORDER BY t.observation_id, t.seq"
)


class _Driver:
    """Runs the statements of ``storage.read`` with psycopg."""

    def __init__(self, connection: Connection[Any]) -> None:
        self.connection = connection

    def execute(self, sql: str, parameters: Any = (), /) -> Rows:
        return self.connection.execute(sql.replace("%", "%%").replace("?", "%s"), parameters)


class _Reader(ColumnReader):
    def __init__(self, driver: _Driver) -> None:
        self._driver: SqlDriver = driver
        self._connection = driver.connection

    def content_version(self) -> str | None:
        return None

    def _ids(self, where: GameFilter) -> list[int]:
        return game_ids(self._driver, where, _FILTERS)

    def _fetch_plies(self, runs: list[list[int]]) -> Arrays:
        firsts, lasts = [first for first, _ in runs], [last for _, last in runs]
        return self._fetch_arrays(f"{SELECT_PLIES} {_RUNS}", (firsts, lasts))

    def _fetch_thinking(self, observations: list[int]) -> Arrays:
        return self._fetch_arrays(f"{SELECT_THINKING} {_OF_OBSERVATIONS}", (observations,))

    def _fetch_arrays(self, sql: str, parameters: tuple[list[int], ...]) -> Arrays:
        with self._connection.cursor("rows") as cursor:  # a cursor of the server: few rows at once are in memory
            cursor.itersize = ROWS_AT_ONCE
            cursor.execute(sql, parameters)
            return arrays_of(lambda: cursor.fetchmany(ROWS_AT_ONCE), len(cursor.description or ()))

    def _rows(self, select: str, source: str, wanted: list[int]) -> Rows:
        numbers = "unnest(?::bigint[]) WITH ORDINALITY wanted(value, key)"
        return self._driver.execute(f"{select} FROM {numbers} JOIN {source}", (wanted,))


class PublishedStore:
    """The games of all archives of a shared database; of games with equal keys one.

    Every method raises StorageError if the database cannot be read, or no archive was published there.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self._snapshot: _Driver | None = None
        with self._reading():
            pass

    def close(self) -> None:
        """No connection stays open between reads."""

    @contextmanager
    def _reading(self) -> Iterator[_Driver]:
        if self._snapshot is not None:
            yield self._snapshot
            return
        with connected(self._url, StorageError) as connection:
            if not is_there(connection):
                raise StorageError("No archive was published in this database: use `ics-recorder publish URL`.")
            row = connection.execute("SELECT schema FROM archives WHERE schema <> %s LIMIT 1", (HEAD,)).fetchone()
            if row is not None:
                raise StorageError(f"The shared database has the schema {row[0]}, and this program's is {HEAD}.")
            connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            yield _Driver(connection)

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """What is read in the block is of one moment."""
        with self._reading() as driver:
            before, self._snapshot = self._snapshot, driver
            try:
                yield
            finally:
                self._snapshot = before

    @contextmanager
    def columns(self, *, arrow: bool = True) -> Iterator[ColumnReader]:
        """Main lines as arrays, all of one moment; ``arrow`` changes nothing."""
        with self._reading() as driver:
            yield _Reader(driver)

    def games(self, where: GameFilter = ALL_PLAYED, **parts: Unpack[GameParts]) -> Iterator[Game]:
        """As ``ArchiveStore.games``; plies are always whole."""
        parts["whole_plies"] = True
        with self._reading() as driver:
            yield from load_games(driver, game_ids(driver, where, _FILTERS), **parts)

    def game(self, spec: str) -> Game:
        """As ``ArchiveStore.game``."""
        with self._reading() as driver:
            return next(load_games(driver, [resolve(driver, spec, _FILTERS)]))

    def count(self, where: GameFilter = ALL_PLAYED) -> int:
        """How many games match."""
        with self._reading() as driver:
            return count_games(driver, where, _FILTERS)

    def count_each(self, wheres: Sequence[GameFilter]) -> list[int]:
        """As ``ArchiveStore.count_each``."""
        with self._reading() as driver:
            return count_each(driver, wheres, _FILTERS)

    def count_by_handle(self) -> dict[str, int]:
        """As ``ArchiveStore.count_by_handle``."""
        with self._reading() as driver:
            return count_by_handle(driver, _FILTERS)

    def count_unknown(self, where: GameFilter) -> dict[str, int]:
        """As ``ArchiveStore.count_unknown``."""
        with self._reading() as driver:
            return count_unknown(driver, where, _FILTERS)
