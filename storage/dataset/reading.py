"""Reading a data set as an archive is read: the same filters, games and order, computed by DuckDB."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Unpack

from recorder.errors import StorageError
from recorder.files import Closing
from recorder.model import (
    SAVED_KINDS,
    SAVED_ORIGINS,
    EventKind,
    Game,
    GameEnd,
    GameEvent,
    GameKind,
    HoldingsChange,
    LineKind,
    Link,
    LinkKind,
    Observation,
    ObservationKind,
    Origin,
    Player,
    PlyLine,
    PlyRow,
    Precision,
    Proof,
    SourceName,
    StartPrecision,
    TimeBasis,
)
from recorder.model.observations import runs_of
from recorder.rules.position import encode_move
from recorder.urls import is_url
from storage.dataset.files import PlyFile, connect, dataset_errors, find_files, listed
from storage.read.query import (
    FilterWords,
    count_by,
    count_each,
    count_games,
    count_unknown,
    game_ids,
    named_by_like,
    resolve,
    select_ids,
)
from storage.read.store import ALL_PLAYED, GameFilter

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection, DuckDBPyRelation

    from storage.dataset.files import DatasetSource
    from storage.read.store import GameParts, SqlDriver

PLY_NAMES = (
    "ply",
    "uci",
    "san",
    "white_clock_ms",
    "black_clock_ms",
    "elapsed_ms",
    "lag_ms",
    "arrival_ms",
    "proof",
    "origin",
    "precision",
    "moment",
    "white_holdings",
    "black_holdings",
)
"""In the order of ``_ply_row``."""
EVENT_NAMES = ("kind", "detail", "ply", "actor", "value", "text", "white_clock_ms", "black_clock_ms", "arrival_ms")
"""From ``GameEvent.kind`` to ``GameEvent.at_ms``."""
_PROOFS = {one.name.lower(): one.value for one in Proof}
_ORIGINS = {one.name.lower(): one.value for one in Origin}
_PRECISIONS: dict[str | None, int | None] = {one.name.lower(): one.value for one in Precision} | {None: None}


def events_by_game(rows: Iterable[tuple[Any, ...]]) -> dict[int, list[GameEvent]]:
    """By the games' places; a row is the place, and ``EVENT_NAMES``."""
    by_game: dict[int, list[GameEvent]] = {}
    for place, kind, *values in rows:
        events = by_game.setdefault(place, [])
        events.append(GameEvent._make((len(events), EventKind(kind), *values, 0)))
    return by_game


def game_of(row: dict[str, Any], plies: Iterable[tuple[Any, ...]], events: list[GameEvent], source: SourceName) -> Game:
    """With one observation; what a data set does not have is unknown."""
    values = list(plies)
    rows = [_ply_row(*ply) for ply in values]
    partner = row["partner_key"]
    started_at_ms, basis, offset = row["started_ms"], TimeBasis(row["time_basis"]), row["offset"]
    black = (row["black_base_s"], row["black_increment_s"])
    if black == (row["base_s"], row["increment_s"]):
        black = (None, None)
    return Game(
        key=row["key"],
        kind=GameKind(row["kind"]),
        server=row["server"],
        dialect=None,
        game_no=row["server_game_no"],
        white=_player(row, "white"),
        black=_player(row, "black"),
        rated=row["rated"],
        variant=row["variant"],
        category=row["category"],
        base_s=row["base_s"],
        increment_s=row["increment_s"],
        black_base_s=black[0],
        black_increment_s=black[1],
        base_inferred=False,
        variant_inferred=False,
        start_fen=row["start_fen"],
        start_ply=row["start_ply"],
        result=row["result"],
        reason=None,
        reason_key=row["reason"],
        termination=row["termination"] or "",
        end=GameEnd(row["ending"]),
        started_at_ms=started_at_ms,
        ended_at_ms=None,
        time_basis=basis,
        date_text=row["day"],
        complete=row["complete"],
        continued=False,
        partner_game_no=None,
        me=row["me"],
        observations=[_observation(row, rows, _holdings(values), _placed(events, rows), source)],
        segments=runs_of(row[0] for row in rows),
        first_offset=offset,
        last_offset=offset,
        links=[] if partner is None else [Link(LinkKind.PARTNER, partner, row["partner_evidence"])],
        start_precision=None if row["start_precision"] is None else StartPrecision(row["start_precision"]),
    )


_OBSERVED = dict.fromkeys(SAVED_ORIGINS, ObservationKind.PGN) | {Origin.ENGINE.value: ObservationKind.ENGINE}


def _observation(
    row: dict[str, Any],
    rows: list[PlyRow],
    holdings: list[HoldingsChange],
    events: list[GameEvent],
    source: SourceName,
) -> Observation:
    return Observation(
        _OBSERVED.get(rows[0][11] if rows else Origin.FRAME.value, ObservationKind.LIVE),
        row["server_game_no"],
        row["white"],
        row["black"],
        None,
        row["offset"],
        row["offset"],
        row["started_ms"],
        None,
        None,
        lines=[PlyLine(0, LineKind.MAIN, None, None, rows)],
        holdings=holdings,
        events=events,
        source=source,
    )


def _player(row: dict[str, Any], side: str) -> Player:
    """The marks of guests and computers are in place of all printed titles."""
    rating, guest, computer = (row[f"{side}_{fact}"] for fact in ("rating", "guest", "computer"))
    return Player(
        row[side],
        None if rating is None else str(rating),
        rating,
        None if computer is None else "(C)" if computer else "",
        None if guest is None else not guest,
        row[f"{side}_sealed"],
    )


def _ply_row(*ply: Any) -> PlyRow:
    number, uci, san, *times, proof, origin, precision, moment, _, _ = ply
    move = None if uci is None else encode_move(uci)
    codes = (_PROOFS[proof], _ORIGINS[origin], _PRECISIONS[precision])
    return (number, move, san, *times, None, None, *codes, _offset(number, moment))


def _offset(ply: int, moment: int | None) -> int:
    """In place of a place in the source, which a data set does not have: moves are in order, also of both boards."""
    return 2 * (ply if moment is None else moment)


def _holdings(plies: list[tuple[Any, ...]]) -> list[HoldingsChange]:
    return [
        HoldingsChange(seq, ply, white, black, None, None, _offset(ply, moment))
        for seq, (ply, *_, moment, white, black) in enumerate(plies)
        if white is not None and black is not None
    ]


def _placed(events: list[GameEvent], rows: list[PlyRow]) -> list[GameEvent]:
    numbers = [row[0] for row in rows]
    places = (bisect_right(numbers, event.ply) for event in events)
    return [
        event._replace(offset=rows[index - 1][-1] + 1 if index else 0)
        for event, index in zip(events, places, strict=True)
    ]


LOWEST_MS: Final = "(SELECT min(least(p.white_clock_ms, p.black_clock_ms)) FROM plies p WHERE {plies})"
LEFT_MS: Final = (
    "(SELECT (array_agg(p.{{0}}_clock_ms ORDER BY p.ply DESC) FILTER (WHERE p.{{0}}_clock_ms IS NOT NULL))[1]"
    " FROM plies p WHERE {plies})"
)
_OF_GAME: Final = "p.source = g.source_id AND p.key = g.key"
FILTERS: Final = FilterWords(
    "g.dated_ms",
    lambda side: f"coalesce(g.{side}_guest, FALSE)",
    lambda side: f"coalesce(g.{side}_computer, FALSE)",
    "TRUE",
    named_by_like,
    "g.fingerprint, CASE WHEN g.fingerprint IS NULL THEN g.id END",
    lowest_ms=LOWEST_MS.format(plies=_OF_GAME),
    left_ms=LEFT_MS.format(plies=_OF_GAME),
    events="EXISTS (SELECT 1 FROM events e WHERE e.source = g.source_id AND e.key = g.key AND ({}))",
)
_DATES: Final = f"('{TimeBasis.UTC.value}', '{TimeBasis.LOCAL.value}')"
ROWS: Final = {
    "game_rows": "SELECT *, (file_index << 32) + file_row_number AS id FROM read_parquet({files})",
    "plies": "SELECT * FROM read_parquet({files})",
    "events": "SELECT *, file_row_number AS line FROM read_parquet({files})",
}
"""``id`` numbers the games."""
_NO_ROWS: Final = "SELECT {} WHERE FALSE".format(
    ", ".join(f"NULL::VARCHAR AS {name}" for name in ("source", "key", "kind", "detail", "text"))
)
GAME_NAMES: Final = {
    "id": "id", "archive": "source", "first_offset": '"offset"', "source_id": "source", "merged_into": "NULL::BIGINT",
    "reason_key": "reason", "ply_count": "plies", "ended_at_ms": "NULL::BIGINT", "started_at_ms": "started_ms",
    "white_id": "lower(white)", "black_id": "lower(black)",
    "dated_ms": f"coalesce(CASE WHEN time_basis IN {_DATES} THEN started_ms END,"
    " CAST(1000 * date_part('epoch', CAST(day AS DATE)) AS BIGINT))",
    **{
        name: name
        for name in (
            "key", "server", "kind", "variant", "category", "rated", "result", "complete", "start_precision", "me",
            "white", "black", "white_guest", "black_guest", "white_computer", "black_computer", "white_rating",
            "black_rating", "ending", "base_s", "increment_s", "fingerprint", "eco", "opening", "partner_key",
        )
    },
}  # fmt: skip
"""The columns of an archive's games, for the conditions of filters, from those of the table of games."""
PLAYERS: Final = (
    "SELECT white_id AS id, white_id AS handle_folded FROM games UNION SELECT black_id, black_id FROM games"
)
_SOURCES: Final = "SELECT DISTINCT source AS id, source AS sha256 FROM game_rows"


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
    def __init__(self, connection: DuckDBPyConnection) -> None:
        self.connection = connection

    def execute(self, sql: str, parameters: Any = (), /) -> _Rows:
        return _Rows(self.connection.execute(sql, list(parameters)).fetchall())


class DatasetReader:
    """``connection`` has the views ``game_rows``, ``plies`` and ``events``, of which ``tables`` are there."""

    def __init__(
        self,
        connection: DuckDBPyConnection,
        driver: SqlDriver,
        words: FilterWords,
        sources: Mapping[str, SourceName],
        tables: Collection[str],
    ) -> None:
        self.connection = connection
        self.driver = driver
        self._words, self._sources, self._tables = words, sources, tables

    def games_of(self, where: GameFilter) -> list[tuple[int, int]]:
        """Row number and number of plies, in the order of an archive."""
        return self.driver.execute(*select_ids(where, self._words, "g.id, g.ply_count")).fetchall()

    def boards_of(self, where: GameFilter) -> list[tuple[int, int]]:
        """As ``games_of``: both boards of bughouse matches of which one board matches, one match after the other."""
        boards: dict[Any, tuple[int, int]] = {}
        partners: dict[int, Any] = {}
        query = "SELECT g.archive, g.key, g.partner_key, g.id, g.ply_count FROM games g WHERE g.partner_key IS NOT NULL"
        for archive, key, partner, *numbers in self.driver.execute(f"{query} AND {self._words.shown}"):
            boards[archive, key] = tuple(numbers)
            partners[numbers[0]] = ((archive, key), (archive, partner))
        chosen: dict[int, int] = {}
        for number in game_ids(self.driver, where, self._words):
            chosen.update(sorted(boards[board] for board in partners.get(number, ()) if board in boards))
        return list(chosen.items())

    def want(self, ids: Sequence[int], *, plies: bool = True) -> None:
        """Make the table ``asked``: row numbers of games with their places."""
        import numpy as np

        arrays = {"place": np.arange(len(ids), dtype=np.int64), "id": np.array(ids, dtype=np.int64)}
        self.connection.execute("CREATE OR REPLACE TABLE asked AS SELECT * FROM arrays")
        del arrays

    def games(self, ids: Sequence[int], *, with_events: bool = True) -> Iterator[Game]:
        for begin in range(0, len(ids), _GAMES_AT_ONCE):
            self.want(ids[begin : begin + _GAMES_AT_ONCE])
            result = self.connection.execute(
                "SELECT g.* EXCLUDE (started_at) FROM asked w JOIN game_rows g ON g.id = w.id ORDER BY w.place"
            )
            names = [name for name, *_ in result.description]
            games = [dict(zip(names, row, strict=True)) for row in result.fetchall()]
            events = events_by_game(
                self._rows_of("events", [f"x.{name}" for name in EVENT_NAMES], "line") if with_events else []
            )
            plies = iter(self._rows_of("plies", [f"x.{name}" for name in PLY_NAMES], "ply"))
            for index, game in enumerate(games):
                moves = (row[1:] for row in islice(plies, game["plies"]))
                yield game_of(game, moves, events.get(index, []), self._sources[game["source"]])

    def events(self, ids: Sequence[int], names: Sequence[str]) -> list[tuple[Any, ...]]:
        """In the games' order; an instant is milliseconds since 1970."""
        self.want(ids)
        columns = [f"epoch_ms(x.{name})" if name == "at" else f"x.{name}" for name in names]
        return [row[1:] for row in self._rows_of("events", columns, "line")]

    def _rows_of(self, table: str, columns: Sequence[str], order: str) -> list[Any]:
        if table not in self._tables:
            return []
        of_game = f"JOIN {table} x ON x.source = g.source AND x.key = g.key ORDER BY w.place, x.{order}"
        wanted = f"SELECT w.place, {', '.join(columns)} FROM asked w JOIN game_rows g ON g.id = w.id"
        return self.connection.execute(f"{wanted} {of_game}").fetchall()


class DatasetStore(Closing):
    """One row for each game of each source. ``warning``: what the user must know before games are counted."""

    words = FILTERS

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
                rows = ROWS[name].format(files=listed(paths)) if paths else _NO_ROWS
                connection.execute(f"CREATE VIEW {name} AS {rows}")
            games = ", ".join(f"{text} AS {name}" for name, text in GAME_NAMES.items())
            views = {"games": f"SELECT {games} FROM game_rows", "players": PLAYERS, "sources": _SOURCES}
            for name, text in views.items():
                connection.execute(f"CREATE VIEW {name} AS {text}")
        return connection

    def close(self) -> None:
        """Release the files; relations are of no use afterwards."""
        self._closed = True
        self._connection.close()

    def paths(self) -> list[Path]:
        return [Path(path) for paths in self._files.tables().values() for path in paths]

    def sources(self) -> list[DatasetSource]:
        """By file name; a connection's server and handle are those of its games, if all have the same."""
        query = (
            "SELECT source, CASE WHEN count(DISTINCT server) = 1 THEN any_value(server) END,"
            " CASE WHEN count(DISTINCT me) = 1 THEN any_value(me) END FROM game_rows GROUP BY source"
        )
        with self._reading() as connection:
            about = {
                source: {"server": server, "me": me} for source, server, me in connection.execute(query).fetchall()
            }
        saved = {kind.value for kind in SAVED_KINDS}
        rows = [
            source._replace(
                name=source.name.replace("\\", "/").rpartition("/")[2],
                **({} if source.kind in saved else about.get(source.sha256, {})),
            )
            for source in self._files.sources
        ]
        return sorted(rows, key=lambda row: (row.name, row.sha256))

    @contextmanager
    def _reading(self) -> Iterator[DuckDBPyConnection]:
        """Another connection may run a statement meanwhile."""
        with dataset_errors(self.where, self._files):
            if self._closed:
                raise StorageError(f"The data set {self.where} is closed: open it again.")
            with self._open() as connection:
                yield connection

    @contextmanager
    def _driver(self) -> Iterator[SqlDriver]:
        with self._reading() as connection:
            yield _Driver(connection)

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """What is read in the block is of one moment: files of a data set do not change."""
        yield

    @contextmanager
    def columns(self, *, arrow: bool = True) -> Iterator[DatasetReader]:
        """``arrow`` changes nothing."""
        sources = {source.sha256: SourceName(source.name, source.sha256, source.kind) for source in self._files.sources}
        tables = [name for name, paths in self._files.tables().items() if paths]
        with self._reading() as connection:
            yield DatasetReader(connection, _Driver(connection), self.words, sources, tables)

    def count(self, where: GameFilter = ALL_PLAYED) -> int:
        with self._driver() as driver:
            return count_games(driver, where, self.words)

    def count_each(self, wheres: Sequence[GameFilter]) -> list[int]:
        with self._driver() as driver:
            return count_each(driver, wheres, self.words)

    def games(self, where: GameFilter = ALL_PLAYED, **parts: Unpack[GameParts]) -> Iterator[Game]:
        """Parts but ``with_events`` change nothing."""
        with self.columns() as reader:
            events = bool(parts.get("with_events", True))
            yield from reader.games([row_id for row_id, _ in reader.games_of(where)], with_events=events)

    def game(self, spec: str) -> Game:
        with self.columns() as reader:
            return next(reader.games([resolve(reader.driver, spec, self.words)]))

    def count_unknown(self, where: GameFilter) -> dict[str, int]:
        with self._driver() as driver:
            return count_unknown(driver, where, self.words)

    def count_by(self, columns: Sequence[str]) -> dict[str, int]:
        with self._driver() as driver:
            return count_by(driver, columns, self.words)

    def require_plies(self) -> None:
        if not self._files.tables()["plies"]:
            raise StorageError("No game of the data set has a move, which this needs.")

    def files_of_plies(self, where: GameFilter, *, matches: bool = False) -> list[PlyFile]:
        """``matches``: both boards of the bughouse matches of which one board matches."""
        self.require_plies()
        keys: dict[str, list[str] | None] = dict.fromkeys(self._files.plies)
        if matches or where != ALL_PLAYED:
            ids, values = select_ids(replace(where, variants=frozenset({"bughouse"})) if matches else where, FILTERS)
            some = _BOARDS.format(ids) if matches else f"SELECT source, key FROM game_rows WHERE id IN ({ids})"
            with self._reading() as connection:
                rows = f"SELECT source, list(key) FROM ({some}) GROUP BY source"
                keys = dict(connection.execute(rows, list(values)).fetchall())
        files = [
            PlyFile(path if is_url(path) else str(Path(path).absolute()), self._files.rows[path], of_source)
            for source, of_source in keys.items()
            for path in self._files.plies[source]
        ]
        return files or [PlyFile(self._files.tables()["plies"][0], 0, [])]

    def relation(self, where: GameFilter = ALL_PLAYED) -> DuckDBPyRelation:
        """For DuckDB to compute with; in no order."""
        self.require_plies()
        with self.columns() as reader:
            ids = [row_id for row_id, _ in reader.games_of(where)]
        keys = f"SELECT source, key FROM game_rows WHERE id IN (SELECT unnest({ids}))"
        return self._connection.sql(f"SELECT * FROM plies SEMI JOIN ({keys}) USING (source, key)")
