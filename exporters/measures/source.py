"""The plies that measures read: of an archive's copy, a data set, a DataFrame, or in parts for a cluster."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Protocol

from exporters.tables.columns import ALL_PLY_COLUMNS
from exporters.tables.facts import ChosenPlayer, NamedPlayer, choose_player
from storage.dataset.files import PlyFile, connect, listed
from storage.read.engine import new_database

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection, DuckDBPyRelation

_NOT_MEASURED: Final = {"uci", "at", "white_holdings", "black_holdings", "server_game_no", "day", "elapsed_origin"}
_KINDS: Final = {"text": "VARCHAR", "integer": "BIGINT", "number": "DOUBLE", "boolean": "BOOLEAN"}
_OF: Final = {column.name: _KINDS[column.kind] for column in ALL_PLY_COLUMNS if column.kind in _KINDS}


class Statement(Protocol):
    """What is computed of plies: parts, which add up, and a result of their sums."""

    def of_whole(self, plies: Plies) -> Any:
        """The result of plies that are not in parts."""

    def of_parts(self) -> dict[str, str]:
        """Statements that read ``plies``, whose tables add up."""

    def of_sums(self, tables: Mapping[str, str], execute: Callable[[str], Any]) -> Any:
        """The result, of the names of the tables that ``of_parts`` gave of all parts, one behind the other."""


Parts = Callable[[Mapping[str, str]], Iterable[Mapping[str, Any]]]
"""Computes statements over ``given`` for each part of the plies; returns Arrow tables by name."""


@dataclass(frozen=True)
class Plies:
    """A ply table.

    Attributes:
        columns: their names. select: the SELECT of the plies from ``given``.
        relation: runs a statement over ``given``. parts: computes statements for each part instead.
        attrs: of the table. connection: the one over which ``relation`` runs, if it is known.
        large: a statement for each part of a measure, which needs less memory than one for all.
    """

    columns: frozenset[str]
    select: str
    relation: Callable[[str], DuckDBPyRelation] | None = None
    parts: Parts | None = None
    attrs: Mapping[Any, Any] | None = None
    connection: DuckDBPyConnection | None = None
    large: bool = True

    @classmethod
    def of(cls, given: Any) -> Plies:
        """Take a ply table: of DuckDB, pandas or Dask, or ``Plies``."""
        if isinstance(given, Plies):
            return given
        if hasattr(given, "to_delayed"):
            return cls(
                frozenset(given.columns), _select(dict.fromkeys(given.columns, "")), parts=partial(_of_dask, given)
            )
        if hasattr(given, "query") and hasattr(given, "types"):  # a relation of DuckDB
            kinds = dict(zip(given.columns, map(str, given.types), strict=True))
            return cls(frozenset(kinds), _select(kinds), partial(given.query, "given"))
        connection = new_database()
        connection.register("given", given)
        found = connection.table("given")
        kinds = dict(zip(found.columns, map(str, found.types), strict=True))
        return cls(frozenset(kinds), _select(kinds), connection.sql, None, given.attrs, connection, False)

    @classmethod
    def of_files(cls, files: Sequence[PlyFile]) -> Plies:
        """The plies of a data set that the workers of a cluster read.

        Each file comes with the keys of the games that are wanted; None: all that were played.
        """
        with _files_as_given(files[:1]) as connection:
            columns = frozenset(connection.sql("SELECT * FROM given").columns)
        return cls(columns, "SELECT * FROM given", parts=partial(_of_files, files))

    @property
    def game(self) -> str:
        """As ``game_of``."""
        return game_of(self.columns)

    def where(self, condition: str) -> Plies:
        """The plies for which a condition holds."""
        return replace(self, select=f"SELECT * FROM ({self.select}) WHERE {condition}")

    def in_games(self, condition: str) -> Plies:
        """All plies of the games that have a ply for which a condition holds."""
        games = f"SELECT {self.game} FROM ({self.select}) WHERE {condition}"
        return replace(self, select=f"SELECT * FROM ({self.select}) WHERE {self.game} IN ({games})")

    def gathered(self) -> Plies:
        """The same plies copied into memory, for many statements: without the columns that no measure reads."""
        columns = self.columns - _NOT_MEASURED
        self.store(f"SELECT {', '.join(sorted(columns))} FROM plies", "gathered")
        return replace(self, columns=columns, select="SELECT * FROM gathered", large=False)

    def ending(self, in_progress: Collection[str]) -> Plies:
        """The same plies, with the ending ``in-progress`` of the games with these keys."""
        if not in_progress:
            return self
        ending = f"CASE WHEN {among('key', in_progress)} THEN 'in-progress' ELSE ending END"
        return replace(self, select=f"SELECT * REPLACE ({ending} AS ending) FROM ({self.select})")

    def moved_by(self, handles: Collection[str]) -> Plies:
        """The moves of all who had one of the handles, in any spelling."""
        return self.where(among("lower(mover)", [handle.lower() for handle in handles]))

    def player(self, handle: str) -> ChosenPlayer:
        """Return the player that a handle names; ExportError: several guests had this handle."""
        counts = "SELECT mover, mover_id, mover_guest, count(DISTINCT key) FROM plies GROUP BY ALL"
        return choose_player((NamedPlayer(*row) for row in self.moved_by([handle]).rows(counts)), handle)

    def sql(self, statement: str) -> DuckDBPyRelation:
        """Run a statement that reads ``plies``."""
        assert self.relation is not None
        return self.relation(self.text(statement))

    def execute(self, statement: str) -> Any:
        """The same with a result to fetch from at once, which needs less: the statement is planned once."""
        run = self.relation if self.connection is None else self.connection.execute
        assert run is not None
        return run(self.text(statement))

    def store(self, statement: str, table: str) -> None:
        """Keep the result of a statement that reads ``plies``, as a table of the connection."""
        assert self.relation is not None
        self.relation(f"CREATE OR REPLACE TEMP TABLE {table} AS {self.text(statement)}")

    def drop(self, table: str) -> None:
        """Remove such a table, if it is there."""
        assert self.relation is not None
        self.relation(f"DROP TABLE IF EXISTS {table}")

    def text(self, statement: str) -> str:
        """A statement that reads ``plies`` as one that reads ``given``."""
        more = f", {statement[5:]}" if statement.startswith("WITH ") else f" {statement}"
        return f"WITH plies AS ({self.select}){more}"

    def rows(self, statement: str) -> list[tuple[Any, ...]]:
        """The rows of a statement of which all rows of the parts are wanted."""
        if self.parts is None:
            found: list[tuple[Any, ...]] = self.execute(statement).fetchall()
            return found
        return [
            row
            for one in self.parts({"": self.text(statement)})
            for row in zip(*one[""].to_pydict().values(), strict=True)
        ]

    def computed(self, statement: Statement) -> Any:
        """Compute a statement."""
        if self.parts is None:
            return statement.of_whole(self)
        import pyarrow as pa

        parts = statement.of_parts()
        found = list(self.parts({name: self.text(sql) for name, sql in parts.items()}))
        with new_database() as connection:
            for name in parts:
                connection.register(f"{name}_of_parts", pa.concat_tables([one[name] for one in found]))
            return statement.of_sums({name: f"{name}_of_parts" for name in parts}, connection.execute)


def game_of(columns: Collection[str]) -> str:
    """What differs in each game: a data set has a game of several sources once for each of them."""
    return "game_id" if "game_id" in columns else "source || key" if "source" in columns else "key"


def among(expression: str, values: Iterable[str]) -> str:
    """The condition that a text is one of some."""
    listed = ", ".join("'" + value.replace("'", "''") + "'" for value in sorted(values))
    return f"{expression} IN ({listed})" if listed else "FALSE"


def _select(kinds: Mapping[str, str]) -> str:
    """All columns, with the kinds that tables.md names: words that are all missing have any type in a file."""
    casts = [f'"{name}"::{_OF[name]} AS "{name}"' for name, kind in kinds.items() if _OF.get(name, kind) != kind]
    return f"SELECT * REPLACE ({', '.join(casts)}) FROM given" if casts else "SELECT * FROM given"


def parts_of(given: Any, statements: Mapping[str, str]) -> dict[str, Any]:
    """Arrow tables of statements over a part of the plies; runs on a worker of a cluster."""
    with new_database() as connection:
        connection.register("given", given)
        return {name: connection.sql(sql).to_arrow_table() for name, sql in statements.items()}


def parts_of_files(files: Sequence[PlyFile], statements: Mapping[str, str]) -> dict[str, Any]:
    """The same of some files of a data set."""
    with _files_as_given(files) as connection:
        return {name: connection.sql(sql).to_arrow_table() for name, sql in statements.items()}


@contextmanager
def _files_as_given(files: Sequence[PlyFile]) -> Iterator[DuckDBPyConnection]:
    with connect(files[0].path) as connection:
        wanted = [(file.path, key) for file in files for key in file.keys or ()]
        connection.execute(
            "CREATE TABLE wanted AS SELECT unnest(?::VARCHAR[]) AS filename, unnest(?::VARCHAR[]) AS key",
            [[path for path, _ in wanted], [key for _, key in wanted]],
        )
        paths = listed([file.path for file in files])
        rows = f"SELECT * FROM read_parquet({paths}, filename = TRUE)"
        of_all = listed([file.path for file in files if file.keys is None])
        connection.execute(
            f"CREATE VIEW given AS SELECT * EXCLUDE (filename) FROM ({rows}) WHERE kind = 'played' AND filename IN"
            f" {of_all} OR (filename, key) IN (FROM wanted)"
        )
        yield connection


_TASKS: Final = 200
_TASK_PLIES: Final = 100_000
"""A task takes as long to begin as to read so many."""


def _of_files(files: Sequence[PlyFile], statements: Mapping[str, str]) -> Sequence[Mapping[str, Any]]:
    from dask.base import compute
    from dask.delayed import delayed

    size = max(_TASK_PLIES, sum(file.rows for file in files) // _TASKS)
    runs: list[list[PlyFile]] = []
    begun = size
    for file in files:
        if begun >= size:
            runs.append([])
            begun = 0
        runs[-1].append(file)
        begun += file.rows
    tasks = [delayed(parts_of_files)(run, dict(statements)) for run in runs]
    found: Sequence[Mapping[str, Any]] = compute(*tasks)  # type: ignore[no-untyped-call]  # Dask has no types
    return found


def _of_dask(given: Any, statements: Mapping[str, str]) -> Sequence[Mapping[str, Any]]:
    """Of a Dask DataFrame, whose partitions may divide games: they are made whole first."""
    from dask.base import compute
    from dask.delayed import delayed

    whole = given.shuffle("key") if given.npartitions > 1 else given
    tasks = [delayed(parts_of)(part, dict(statements)) for part in whole.to_delayed()]
    found: Sequence[Mapping[str, Any]] = compute(*tasks)  # type: ignore[no-untyped-call]  # Dask has no types
    return found
