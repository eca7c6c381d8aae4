"""Reading a data set as an archive is read: the same filters, games and order, computed by DuckDB."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from itertools import count, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from recorder.errors import StorageError
from recorder.files import Closing
from recorder.model import SAVED_KINDS, SourceName
from recorder.urls import is_url
from storage.dataset.files import connect, dataset_errors, find_files
from storage.dataset.sql import (
    BOARDS,
    EVENTS,
    FILTERS,
    GAMES,
    GAMES_WANTED,
    OF_GAMES,
    ROWS,
    VIEWS,
    listed,
    plies_of,
    rows_of_plies,
    rows_of_side,
    some_plies,
    tags_of,
)
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
    import pyarrow as pa
    from duckdb import DuckDBPyConnection, DuckDBPyRelation

    from recorder.model import Game
    from storage.dataset.files import DatasetFiles, DatasetSource

__all__ = ["DatasetReader", "DatasetStore"]

_ROWS_AT_ONCE: Final = 50_000
_GAMES_AT_ONCE: Final = 500
_NO_GAMES: Final = (
    "The data set has no tables of games and events, which this needs: `export plies --dataset` writes none, "
    "`convert --dataset` does."
)
_INCOMPLETE: Final = (
    "{0} is not complete, because `convert` still writes it, was interrupted or failed: repeat `ics-recorder convert "
    "--dataset {0} --update` with the same logs."
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

    Attributes:
        has_games: whether there is a table of games.
    """

    def __init__(self, connection: DuckDBPyConnection, files: DatasetFiles) -> None:
        self._connection = connection
        self._files = files
        self.has_games = bool(files.games)

    def games_of(self, where: GameFilter) -> list[tuple[int, int]]:
        """Row number and number of plies of the games that match, in the order of an archive."""
        _want(self._connection, game_ids(_Driver(self._connection), where, FILTERS))
        rows = "SELECT w.id, g.plies FROM wanted w JOIN game_rows g ON g.id = w.id ORDER BY w.number"
        return self._connection.execute(rows).fetchall()

    def game_rows(self, ids: Sequence[int]) -> pa.Table:
        """The rows of games, in this order, with ``source``.

        Raises:
            StorageError: the folder has no table of games.
        """
        return self._joined(ids, GAMES_WANTED)

    def each_game(self, ids: Sequence[int]) -> Iterator[dict[str, Any]]:
        """The same rows as ``game_rows``, one by one, by column."""
        if not self.has_games:
            raise StorageError(_NO_GAMES)
        cursor = self._connection.cursor()  # the caller may run other statements meanwhile
        try:
            _want(cursor, ids)
            for batch in cursor.sql(GAMES_WANTED).to_arrow_reader(_GAMES_AT_ONCE):
                yield from batch.to_pylist()
        finally:
            cursor.close()

    def side_rows(self, ids: Sequence[int]) -> pa.Table:
        """Two rows for each game, White's first, with the names of the table of sides; ``score`` is not there.

        Raises:
            StorageError: as for ``game_rows``.
        """
        sides = " UNION ALL ".join(rows_of_side(white) for white in (True, False))
        return self._joined(ids, f"SELECT * EXCLUDE (number) FROM ({sides}) ORDER BY number, side DESC")

    def _joined(self, ids: Sequence[int], sql: str) -> pa.Table:
        if not self.has_games:
            raise StorageError(_NO_GAMES)
        _want(self._connection, ids)
        return self._connection.sql(sql).to_arrow_table()

    def plies(self, runs: Sequence[Sequence[int]], names: Collection[str]) -> Iterator[pa.Table]:
        """The plies of runs of games, in this order. All are sorted at once, on the disk if necessary.

        Args:
            runs: row numbers of the games of each run.
            names: of the columns.
        Yields:
            For each run the plies of its games, each game's by ``ply``.
        """
        import pyarrow as pa

        cursor = self._connection.cursor()  # the caller may run other statements meanwhile
        try:
            _want(cursor, [row_id for run in runs for row_id in run])
            query = "SELECT g.plies, g.source FROM wanted w JOIN game_rows g ON g.id = w.id ORDER BY w.number"
            games = cursor.execute(query).fetchall()
            sources = sorted({source for _, source in games})
            counts = iter(games)
            columns = ", ".join(OF_GAMES.get(name, f'p."{name}"') for name in names)
            tags = tags_of(self._files) if "event" in names else ""
            relation = cursor.sql(
                f"SELECT {columns} FROM wanted w JOIN game_rows g ON g.id = w.id {tags}"
                f" JOIN ({plies_of(self._files, sources)}) p ON p.source = g.source AND p.key = g.key"
                " ORDER BY w.number, p.ply"
            )
            batches = relation.to_arrow_reader(_ROWS_AT_ONCE)
            rest = batches.schema.empty_table()
            for run in runs:
                size = sum(plies for plies, _ in islice(counts, len(run)))
                while len(rest) < size:
                    rest = pa.concat_tables([rest, pa.Table.from_batches([next(batches)])])
                yield rest.slice(0, size)
                rest = rest.slice(size)
        except StopIteration:
            raise StorageError("Plies are missing in the data set: write it again.") from None
        finally:
            cursor.close()

    def boards_of(self, ids: Sequence[int]) -> list[tuple[int, int]]:
        """Row number and number of plies of both boards of the matches of games, one match after the other.

        Raises:
            StorageError: as for ``game_rows``.
        """
        found = self._joined(ids, BOARDS)
        return list(zip(*(column.to_pylist() for column in found.columns), strict=True))

    def events(self, ids: Sequence[int]) -> pa.Table | None:
        """The events of games, in this order, with the ``number`` of the game in it; None: there are none.

        Raises:
            StorageError: as for ``game_rows``.
        """
        sources = self._joined(ids, "SELECT DISTINCT g.source FROM wanted w JOIN game_rows g ON g.id = w.id")
        paths = [path for source in sources["source"].to_pylist() for path in self._files.events.get(source, ())]
        return self._joined(ids, EVENTS.format(files=listed(paths))) if paths else None

    def games(self, ids: Sequence[int], *, with_events: bool = True) -> Iterator[Game]:
        """Games, in this order, with what the data set has of them."""
        from storage.dataset.games import PLY_NAMES, events_by_game, game_of

        if not self.has_games:
            raise StorageError(_NO_GAMES)

        sources = {one.sha256: SourceName(one.name, one.sha256, one.kind) for one in self._files.sources}
        runs = [ids[begin : begin + _GAMES_AT_ONCE] for begin in range(0, len(ids), _GAMES_AT_ONCE)]
        games = self.each_game(ids)
        for run, table in zip(runs, self.plies(runs, PLY_NAMES), strict=True):
            rows = zip(*(column.to_pylist() for column in table.columns), strict=True)
            events = events_by_game(self.events(run) if with_events else None)
            for number, game in enumerate(islice(games, len(run))):
                yield game_of(game, islice(rows, game["plies"]), events.get(number, []), sources[game["source"]])


def _want(cursor: DuckDBPyConnection, ids: Sequence[int]) -> None:
    """Make the table ``wanted``: row numbers of games with their places."""
    import pyarrow as pa

    cursor.register(
        "wanted", pa.table({"number": pa.array(range(len(ids)), pa.int64()), "id": pa.array(ids, pa.int64())})
    )


class DatasetStore(Closing):
    """The games of a data set: one row for each game of each source.

    Its files are those that were there when it was opened.

    Args:
        where: the folder.
    Attributes:
        warning: what the user must know before its games are counted, one sentence, or None.
    Raises:
        StorageError: DuckDB is not installed, or there is no data set that it can read; also from every method.
    """

    def __init__(self, where: str) -> None:
        self.where = where
        self._files = find_files(where)
        self.warning = None if self._files.complete else _INCOMPLETE.format(where)
        self._connection = connect(where)
        self._numbers = count()
        with self.errors():
            games = [path for paths in self._files.games.values() for path in paths]
            rows = ROWS.format(files=listed(games)) if games else rows_of_plies()
            if any(self._files.plies.values()):
                self._connection.execute(f"CREATE VIEW plies AS {plies_of(self._files, self._files.plies)}")
            self._connection.execute(f"CREATE VIEW game_rows AS {rows}")
            self._connection.execute(f"CREATE VIEW games AS {GAMES}")
            for view in VIEWS:
                self._connection.execute(view)
            ids = [*{**self._files.plies, **self._files.games}]
            self._connection.execute("INSERT INTO sources SELECT id, id FROM (SELECT unnest(?) AS id)", [ids])

    def close(self) -> None:
        """Release the files; relations are of no use afterwards."""
        self._connection.close()

    def paths(self) -> list[Path]:
        """Its files."""
        tables = (self._files.plies, self._files.games, self._files.events)
        return [Path(path) for files in tables for each in files.values() for path in each]

    def sources(self) -> list[DatasetSource]:
        """Its sources by file name; a connection's server and handle are those of its games, if all have the same."""
        query = (
            "SELECT source, CASE WHEN count(DISTINCT server) = 1 THEN any_value(server) END,"
            " CASE WHEN count(DISTINCT me) = 1 THEN any_value(me) END FROM game_rows GROUP BY source"
        )
        with self._reading() as cursor:
            about = {source: {"server": server, "me": me} for source, server, me in cursor.execute(query).fetchall()}
        saved = {kind.value for kind in SAVED_KINDS}
        found = [
            one._replace(
                name=one.name.replace("\\", "/").rpartition("/")[2],
                **({} if one.kind in saved else about.get(one.sha256, {})),
            )
            for one in self._files.sources
        ]
        return sorted(found, key=lambda one: (one.name, one.sha256))

    def errors(self) -> AbstractContextManager[None]:
        """Makes one sentence of DuckDB's errors, for a block that computes with ``relation``."""
        return dataset_errors(self.where, self._files)

    @contextmanager
    def _reading(self) -> Iterator[DuckDBPyConnection]:
        with self.errors():
            cursor = self._connection.cursor()
            try:
                yield cursor
            finally:
                cursor.close()

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """What is read in the block is of one moment: files of a data set do not change."""
        yield

    @contextmanager
    def columns(self, *, arrow: bool = True) -> Iterator[DatasetReader]:
        """A reader of its tables; ``arrow`` changes nothing."""
        with self._reading() as cursor:
            yield DatasetReader(cursor, self._files)

    def count(self, where: GameFilter = ALL_PLAYED) -> int:
        """How many games match."""
        with self._reading() as cursor:
            return count_games(_Driver(cursor), where, FILTERS)

    def count_each(self, wheres: Sequence[GameFilter]) -> list[int]:
        """As ``ArchiveStore.count_each``."""
        with self._reading() as cursor:
            return count_each(_Driver(cursor), wheres, FILTERS)

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
        with self._reading() as cursor:
            reader = DatasetReader(cursor, self._files)
            yield from reader.games([row_id for row_id, _ in reader.games_of(where)], with_events=with_events)

    def game(self, spec: str) -> Game:
        """As ``ArchiveStore.game``.

        Raises:
            StorageError: there is none, or several.
        """
        with self._reading() as cursor:
            row_id = resolve(_Driver(cursor), spec, FILTERS)
            return next(DatasetReader(cursor, self._files).games([row_id]))

    def count_unknown(self, where: GameFilter) -> dict[str, int]:
        """As ``ArchiveStore.count_unknown``."""
        with self._reading() as cursor:
            return count_unknown(_Driver(cursor), where, FILTERS)

    def count_by_handle(self) -> dict[str, int]:
        """As ``ArchiveStore.count_by_handle``."""
        with self._reading() as cursor:
            return count_by_handle(_Driver(cursor), FILTERS)

    def some_files(self) -> list[str]:
        """The first and the last of its files of plies, by their whole paths."""
        paths = [path for of_source in self._files.plies.values() for path in of_source]
        return [_absolute(path) for path in (*paths[:1], *paths[1:][-1:])]

    def plies_for_dask(self, where: GameFilter = ALL_PLAYED, *, matches: bool = False) -> Any:
        """The plies of the games that match, as a Dask DataFrame that the workers of a cluster read; in no order.

        Args:
            where: which games. All played ones are found by the workers; of others the keys are sent to them.
            matches: as for ``relation``.
        """
        from storage.dataset.on_dask import dask_plies

        some_plies(self._files)
        files = {source: tuple(map(_absolute, paths)) for source, paths in self._files.plies.items()}
        if where == ALL_PLAYED and not matches:
            return dask_plies(files, None)
        sql, values = self._chosen(where, matches=matches)
        query = f"SELECT source, list(key) FROM ({sql}) GROUP BY source"
        with self._reading() as cursor:
            return dask_plies(files, dict(cursor.execute(query, values).fetchall()))

    def relation(
        self, where: GameFilter = ALL_PLAYED, *, matches: bool = False, extra: Collection[str] = ()
    ) -> DuckDBPyRelation:
        """The plies of the games that match, for DuckDB to compute with; in no order.

        Args:
            where: which games. matches: both boards of the bughouse matches of which one board matches.
            extra: columns of the games that plies have on request: ``eco``, ``opening``, ``event``.
        Raises:
            StorageError: the data set does not have them.
        """
        sql, values = self._chosen(where, matches=matches, extra=extra)
        some_plies(self._files)
        with self._reading() as cursor:
            table = f"chosen_{next(self._numbers)}"
            cursor.execute(f"CREATE TABLE {table} AS {sql}", values).fetchall()
            counts = f"SELECT (SELECT count(*) FROM {table}) = (SELECT count(*) FROM game_rows)"
            ((everything,),) = cursor.execute(counts).fetchall()
        if extra:
            return self._connection.sql(f"SELECT * FROM plies JOIN {table} USING (source, key)")
        if everything:
            return self._connection.sql("SELECT * FROM plies")
        return self._connection.sql(f"SELECT * FROM plies SEMI JOIN {table} USING (source, key)")

    def _chosen(
        self, where: GameFilter, *, matches: bool = False, extra: Collection[str] = ()
    ) -> tuple[str, list[Any]]:
        """The statement that gives source and key of games, and its values; the arguments as for ``relation``.

        Raises:
            StorageError: the data set does not have what is asked for.
        """
        if (matches or extra) and not self._files.games:
            raise StorageError(_NO_GAMES)
        if matches:
            sql, values = select_ids(replace(where, variants=frozenset({"bughouse"})), FILTERS)
            boards = "SELECT DISTINCT source, unnest([key, partner_key]) AS key FROM game_rows"
            return f"{boards} WHERE partner_key IS NOT NULL AND id IN ({sql})", list(values)
        sql, values = select_ids(where, FILTERS)
        columns = ", ".join(["g.source", "g.key", *(OF_GAMES[name] for name in extra)])
        tags = tags_of(self._files) if "event" in extra else ""
        return f"SELECT {columns} FROM game_rows g {tags} WHERE g.id IN ({sql})", list(values)


def _absolute(path: str) -> str:
    return path if is_url(path) else str(Path(path).absolute())
