"""Reading a data set as an archive is read: the same filters, games and order, computed by DuckDB."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from recorder.errors import StorageError
from recorder.files import Closing
from recorder.model import SAVED_KINDS, SourceName
from recorder.urls import is_url
from storage.dataset.files import connect, dataset_errors, find_files, listed
from storage.dataset.sql import FILTERS, GAMES, ROWS, VIEWS
from storage.read.game_filter import ALL_PLAYED, GameFilter
from storage.read.query import (
    count_by_handle,
    count_each,
    count_games,
    count_unknown,
    game_ids,
    resolve,
    select_ids,
)

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection, DuckDBPyRelation

    from recorder.model import Game
    from storage.dataset.files import DatasetFiles, DatasetSource

_GAMES_AT_ONCE: Final = 500
_INCOMPLETE: Final = (
    "{0} is not complete, because `convert` still writes it, was interrupted or failed: repeat `ics-recorder convert "
    "--dataset {0} --update` with the same logs."
)
_BOARDS: Final = (
    "SELECT DISTINCT source, unnest([key, partner_key]) AS key FROM game_rows"
    " WHERE partner_key IS NOT NULL AND id IN ({})"
)


class _Rows(list[Any]):
    """The rows of a statement, read to the end: a connection of DuckDB runs one statement at a time."""

    def fetchone(self) -> Any:
        return self[0] if self else None

    def fetchall(self) -> list[Any]:
        return self


class _Driver:
    """Runs the statements of ``storage.read`` with DuckDB."""

    def __init__(self, connection: DuckDBPyConnection) -> None:
        self.connection = connection

    def execute(self, sql: str, parameters: Any = (), /) -> _Rows:
        return _Rows(self.connection.execute(sql, list(parameters)).fetchall())


class DatasetReader:
    """Reads the tables of a data set. Made by ``DatasetStore.columns``.

    ``connection`` has the views ``game_rows``, ``plies`` and ``events``, and ``games`` for filters.
    """

    def __init__(self, connection: DuckDBPyConnection, files: DatasetFiles) -> None:
        self.connection = connection
        self._files = files

    def games_of(self, where: GameFilter) -> list[tuple[int, int]]:
        """Row number and number of plies of the games that match, in the order of an archive."""
        _want(self.connection, game_ids(_Driver(self.connection), where, FILTERS))
        rows = "SELECT w.id, g.plies FROM wanted w JOIN game_rows g ON g.id = w.id ORDER BY w.place"
        return self.connection.execute(rows).fetchall()

    def boards_of(self, where: GameFilter) -> list[tuple[int, int]]:
        """As ``games_of``: both boards of bughouse matches of which one board matches, one match after the other."""
        _want(self.connection, game_ids(_Driver(self.connection), where, FILTERS))
        rows = (
            "SELECT g.id, g.plies FROM (SELECT w.place, g.source, unnest([g.key, g.partner_key]) AS key FROM wanted w"
            " JOIN game_rows g ON g.id = w.id WHERE g.partner_key IS NOT NULL) b"
            " JOIN game_rows g ON g.source = b.source AND g.key = b.key GROUP BY ALL ORDER BY min(b.place), g.id"
        )
        return self.connection.execute(rows).fetchall()

    def games(self, ids: Sequence[int], *, with_events: bool = True) -> Iterator[Game]:
        """Games, in this order, with what the data set has of them."""
        from storage.dataset.games import EVENT_NAMES, PLY_NAMES, events_by_game, game_of

        sources = {one.sha256: SourceName(one.name, one.sha256, one.kind) for one in self._files.sources}
        for begin in range(0, len(ids), _GAMES_AT_ONCE):
            _want(self.connection, ids[begin : begin + _GAMES_AT_ONCE])
            found = self.connection.execute(
                "SELECT g.* EXCLUDE (started_at) FROM wanted w JOIN game_rows g ON g.id = w.id ORDER BY w.place"
            )
            names = [name for name, *_ in found.description]
            games = [dict(zip(names, row, strict=True)) for row in found.fetchall()]
            events = events_by_game(
                self._rows_of("events", [f"x.{name}" for name in EVENT_NAMES], "line") if with_events else []
            )
            plies = iter(self._rows_of("plies", [f"x.{name}" for name in PLY_NAMES], "ply"))
            for place, game in enumerate(games):
                moves = (row[1:] for row in islice(plies, game["plies"]))
                yield game_of(game, moves, events.get(place, []), sources[game["source"]])

    def events(self, ids: Sequence[int], names: Sequence[str]) -> list[tuple[Any, ...]]:
        """Columns of the events of games, in this order; an instant is milliseconds since 1970."""
        _want(self.connection, ids)
        columns = [f"epoch_ms(x.{name})" if name == "at" else f"x.{name}" for name in names]
        return [row[1:] for row in self._rows_of("events", columns, "line")]

    def _rows_of(self, table: str, columns: Sequence[str], order: str) -> list[Any]:
        """The rows of the wanted games in a table: the game's place, and some columns."""
        if not self._files.tables()[table]:
            return []
        of_game = f"JOIN {table} x ON x.source = g.source AND x.key = g.key ORDER BY w.place, x.{order}"
        wanted = f"SELECT w.place, {', '.join(columns)} FROM wanted w JOIN game_rows g ON g.id = w.id"
        return self.connection.execute(f"{wanted} {of_game}").fetchall()


def _want(connection: DuckDBPyConnection, ids: Sequence[int]) -> None:
    """Make the table ``wanted``: row numbers of games with their places."""
    import numpy as np

    arrays = {"place": np.arange(len(ids), dtype=np.int64), "id": np.array(ids, dtype=np.int64)}
    connection.execute("CREATE OR REPLACE TABLE wanted AS SELECT * FROM arrays")
    del arrays


class DatasetStore(Closing):
    """The games of a data set: one row for each game of each source.

    Its files are those that were there when it was opened. ``warning`` is what the user must know before its games are
    counted, one sentence. Every method raises StorageError if the data set cannot be read.
    """

    def __init__(self, where: str) -> None:
        self.where = where
        self._files = find_files(where)
        self.warning = None if self._files.complete else _INCOMPLETE.format(where)
        self._closed = False
        self._connection = self._open()

    def _open(self) -> DuckDBPyConnection:
        connection = connect(self.where)
        with dataset_errors(self.where, self._files):
            for name, paths in self._files.tables().items():
                if paths:
                    connection.execute(f"CREATE VIEW {name} AS {ROWS[name].format(files=listed(paths))}")
            for view in (GAMES, *VIEWS):
                connection.execute(view)
            ids = [one.sha256 for one in self._files.sources]
            connection.execute("INSERT INTO sources SELECT id, id FROM (SELECT unnest(?) AS id)", [ids])
        return connection

    def close(self) -> None:
        """Release the files; relations are of no use afterwards."""
        self._closed = True
        self._connection.close()

    def paths(self) -> list[Path]:
        """Its files."""
        return [Path(path) for paths in self._files.tables().values() for path in paths]

    def sources(self) -> list[DatasetSource]:
        """Its sources by file name; a connection's server and handle are those of its games, if all have the same."""
        query = (
            "SELECT source, CASE WHEN count(DISTINCT server) = 1 THEN any_value(server) END,"
            " CASE WHEN count(DISTINCT me) = 1 THEN any_value(me) END FROM game_rows GROUP BY source"
        )
        with self._reading() as connection:
            about = {
                source: {"server": server, "me": me} for source, server, me in connection.execute(query).fetchall()
            }
        saved = {kind.value for kind in SAVED_KINDS}
        found = [
            one._replace(
                name=one.name.replace("\\", "/").rpartition("/")[2],
                **({} if one.kind in saved else about.get(one.sha256, {})),
            )
            for one in self._files.sources
        ]
        return sorted(found, key=lambda one: (one.name, one.sha256))

    @contextmanager
    def _reading(self) -> Iterator[DuckDBPyConnection]:
        """A connection of its own: another one may run a statement meanwhile."""
        with dataset_errors(self.where, self._files):
            if self._closed:
                raise StorageError(f"The data set {self.where} is closed: open it again.")
            with self._open() as connection:
                yield connection

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """What is read in the block is of one moment: files of a data set do not change."""
        yield

    @contextmanager
    def columns(self, *, arrow: bool = True) -> Iterator[DatasetReader]:
        """A reader of its tables; ``arrow`` changes nothing."""
        with self._reading() as connection:
            yield DatasetReader(connection, self._files)

    def count(self, where: GameFilter = ALL_PLAYED) -> int:
        """How many games match."""
        with self._reading() as connection:
            return count_games(_Driver(connection), where, FILTERS)

    def count_each(self, wheres: Sequence[GameFilter]) -> list[int]:
        """As ``ArchiveStore.count_each``."""
        with self._reading() as connection:
            return count_each(_Driver(connection), wheres, FILTERS)

    def games(
        self,
        where: GameFilter = ALL_PLAYED,
        *,
        with_events: bool = True,
        with_holdings: bool = True,
        with_lines: bool = True,
        with_thinking: bool = True,
        whole_plies: bool = True,
    ) -> Iterator[Game]:
        """As ``ArchiveStore.games``, with what a data set has; the arguments after ``with_events`` change nothing."""
        with self.columns() as reader:
            yield from reader.games([row_id for row_id, _ in reader.games_of(where)], with_events=with_events)

    def game(self, spec: str) -> Game:
        """As ``ArchiveStore.game``."""
        with self.columns() as reader:
            return next(reader.games([resolve(_Driver(reader.connection), spec, FILTERS)]))

    def count_unknown(self, where: GameFilter) -> dict[str, int]:
        """As ``ArchiveStore.count_unknown``."""
        with self._reading() as connection:
            return count_unknown(_Driver(connection), where, FILTERS)

    def count_by_handle(self) -> dict[str, int]:
        """As ``ArchiveStore.count_by_handle``."""
        with self._reading() as connection:
            return count_by_handle(_Driver(connection), FILTERS)

    def require_plies(self) -> None:
        """Check that there are plies."""
        if not self._files.tables()["plies"]:
            raise StorageError("No game of the data set has a move, which this needs.")

    def files_of_plies(self, where: GameFilter, *, matches: bool = False) -> list[tuple[str, list[str] | None]]:
        """The files that have the plies of some games, by their whole paths, and the keys of those games.

        ``matches``: both boards of the bughouse matches of which one board matches. None for the keys: all games that
        were played are wanted.
        """
        self.require_plies()
        keys: dict[str, list[str] | None] = dict.fromkeys(self._files.plies)
        if matches or where != ALL_PLAYED:
            ids, values = select_ids(replace(where, variants=frozenset({"bughouse"})) if matches else where, FILTERS)
            some = _BOARDS.format(ids) if matches else f"SELECT source, key FROM game_rows WHERE id IN ({ids})"
            with self._reading() as connection:
                rows = f"SELECT source, list(key) FROM ({some}) GROUP BY source"
                keys = dict(connection.execute(rows, list(values)).fetchall())
        files = [
            (path if is_url(path) else str(Path(path).absolute()), of_source)
            for source, of_source in keys.items()
            for path in self._files.plies[source]
        ]
        return files or [(self._files.tables()["plies"][0], [])]

    def relation(self, where: GameFilter = ALL_PLAYED) -> DuckDBPyRelation:
        """The plies of the games that match, for DuckDB to compute with; in no order."""
        self.require_plies()
        with self.columns() as reader:
            ids = [row_id for row_id, _ in reader.games_of(where)]
        keys = f"SELECT source, key FROM game_rows WHERE id IN (SELECT unnest({ids}))"
        return self._connection.sql(f"SELECT * FROM plies SEMI JOIN ({keys}) USING (source, key)")
