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
from storage.read.store import new_database

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection, DuckDBPyRelation

_NOT_MEASURED: Final = {"uci", "at", "white_holdings", "black_holdings", "server_game_no", "day", "elapsed_origin"}
_KINDS: Final = {"text": "VARCHAR", "integer": "BIGINT", "number": "DOUBLE", "boolean": "BOOLEAN"}
_OF: Final = {column.name: _KINDS[column.kind] for column in ALL_PLY_COLUMNS if column.kind in _KINDS}


class Statement(Protocol):
    def of_whole(self, plies: Plies) -> Any: ...

    def of_parts(self) -> dict[str, str]: ...

    def of_sums(self, tables: Mapping[str, str], execute: Callable[[str], Any]) -> Any: ...


Parts = Callable[[Mapping[str, str]], Iterable[Mapping[str, Any]]]


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
    def of(cls, table: Any) -> Plies:
        """Of DuckDB, pandas or Dask, or ``Plies``."""
        if isinstance(table, Plies):
            return table
        if hasattr(table, "to_delayed"):
            return cls(
                frozenset(table.columns), _select(dict.fromkeys(table.columns, "")), parts=partial(_of_dask, table)
            )
        if hasattr(table, "query") and hasattr(table, "types"):  # a relation of DuckDB
            kinds = dict(zip(table.columns, map(str, table.types), strict=True))
            return cls(frozenset(kinds), _select(kinds), partial(table.query, "given"))
        connection = new_database()
        connection.register("given", table)
        relation = connection.table("given")
        kinds = dict(zip(relation.columns, map(str, relation.types), strict=True))
        return cls(frozenset(kinds), _select(kinds), connection.sql, None, table.attrs, connection, False)

    @classmethod
    def of_files(cls, files: Sequence[PlyFile]) -> Plies:
        """Which the workers of a cluster read, with the keys of the games wanted; None: all that were played."""
        with _files_as_given(files[:1]) as connection:
            columns = frozenset(connection.sql("SELECT * FROM given").columns)
        return cls(columns, "SELECT * FROM given", parts=partial(_of_files, files))

    @property
    def game(self) -> str:
        return game_of(self.columns)

    def where(self, condition: str) -> Plies:
        return replace(self, select=f"SELECT * FROM ({self.select}) WHERE {condition}")

    def in_games(self, condition: str) -> Plies:
        games = f"SELECT {self.game} FROM ({self.select}) WHERE {condition}"
        return replace(self, select=f"SELECT * FROM ({self.select}) WHERE {self.game} IN ({games})")

    def gathered(self) -> Plies:
        """For many statements, without the columns that no measure reads."""
        columns = self.columns - _NOT_MEASURED
        self.store(f"SELECT {', '.join(sorted(columns))} FROM plies", "gathered")
        return replace(self, columns=columns, select="SELECT * FROM gathered", large=False)

    def ending(self, in_progress: Collection[str]) -> Plies:
        if not in_progress:
            return self
        ending = f"CASE WHEN {among('key', in_progress)} THEN 'in-progress' ELSE ending END"
        return replace(self, select=f"SELECT * REPLACE ({ending} AS ending) FROM ({self.select})")

    def moved_by(self, handles: Collection[str]) -> Plies:
        """In any spelling."""
        return self.where(among("lower(mover)", [handle.lower() for handle in handles]))

    def player(self, handle: str) -> ChosenPlayer:
        """ExportError: several guests had this handle."""
        counts = "SELECT mover, mover_id, mover_guest, count(DISTINCT key) FROM plies GROUP BY ALL"
        return choose_player((NamedPlayer(*row) for row in self.moved_by([handle]).rows(counts)), handle)

    def sql(self, statement: str) -> DuckDBPyRelation:
        assert self.relation is not None
        return self.relation(self.text(statement))

    def execute(self, statement: str) -> Any:
        """With a result to fetch from at once, which needs less: the statement is planned once."""
        run = self.relation if self.connection is None else self.connection.execute
        assert run is not None
        return run(self.text(statement))

    def store(self, statement: str, table: str) -> None:
        assert self.relation is not None
        self.relation(f"CREATE OR REPLACE TEMP TABLE {table} AS {self.text(statement)}")

    def drop(self, table: str) -> None:
        assert self.relation is not None
        self.relation(f"DROP TABLE IF EXISTS {table}")

    def text(self, statement: str) -> str:
        more = f", {statement[5:]}" if statement.startswith("WITH ") else f" {statement}"
        return f"WITH plies AS ({self.select}){more}"

    def rows(self, statement: str) -> list[tuple[Any, ...]]:
        """Of all parts."""
        if self.parts is None:
            rows: list[tuple[Any, ...]] = self.execute(statement).fetchall()
            return rows
        return [
            row
            for part in self.parts({"": self.text(statement)})
            for row in zip(*part[""].to_pydict().values(), strict=True)
        ]

    def computed(self, statement: Statement) -> Any:
        if self.parts is None:
            return statement.of_whole(self)
        import pyarrow as pa

        parts = statement.of_parts()
        results = list(self.parts({name: self.text(sql) for name, sql in parts.items()}))
        with new_database() as connection:
            for name in parts:
                connection.register(f"{name}_of_parts", pa.concat_tables([result[name] for result in results]))
            return statement.of_sums({name: f"{name}_of_parts" for name in parts}, connection.execute)


def game_of(columns: Collection[str]) -> str:
    """A data set has a game of several sources once for each of them."""
    return "game_id" if "game_id" in columns else "source || key" if "source" in columns else "key"


def among(expression: str, values: Iterable[str]) -> str:
    listed = ", ".join("'" + value.replace("'", "''") + "'" for value in sorted(values))
    return f"{expression} IN ({listed})" if listed else "FALSE"


def _select(kinds: Mapping[str, str]) -> str:
    """Words that are all missing have any type in a file."""
    casts = [f'"{name}"::{_OF[name]} AS "{name}"' for name, kind in kinds.items() if _OF.get(name, kind) != kind]
    return f"SELECT * REPLACE ({', '.join(casts)}) FROM given" if casts else "SELECT * FROM given"


def parts_of(frame: Any, statements: Mapping[str, str]) -> dict[str, Any]:
    """Runs on a worker of a cluster."""
    with new_database() as connection:
        connection.register("given", frame)
        return {name: connection.sql(sql).to_arrow_table() for name, sql in statements.items()}


def parts_of_files(files: Sequence[PlyFile], statements: Mapping[str, str]) -> dict[str, Any]:
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
    results: Sequence[Mapping[str, Any]] = compute(*tasks)  # type: ignore[no-untyped-call]  # Dask has no types
    return results


def _of_dask(frame: Any, statements: Mapping[str, str]) -> Sequence[Mapping[str, Any]]:
    """Its partitions may divide games: they are made whole first."""
    from dask.base import compute
    from dask.delayed import delayed

    whole = frame.shuffle("key") if frame.npartitions > 1 else frame
    tasks = [delayed(parts_of)(part, dict(statements)) for part in whole.to_delayed()]
    results: Sequence[Mapping[str, Any]] = compute(*tasks)  # type: ignore[no-untyped-call]  # Dask has no types
    return results
