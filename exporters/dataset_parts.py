"""The files of a data set: tables of games as Parquet, divided by variant and month.

docs/reference/formats.md has the layout. The rows come from DuckDB, for a number of plies at a time, so that memory
does not grow with the source; what was written for one folder at several times is joined at the end.
"""

from __future__ import annotations

import shutil
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote

from exporters.base import file_stem
from exporters.table_files import arrow_schema
from exporters.tables.columns import (
    EVENT_COLUMNS,
    GAME_COLUMNS,
    MATCH_COLUMNS,
    ON_REQUEST,
    PLY_COLUMNS,
    SIDE_COLUMNS,
    Column,
)
from exporters.tables.events import event_frame
from exporters.tables.filling import add_games, add_plies, make_table
from exporters.tables.frames import frame_of_lists
from exporters.tables.matches import match_columns
from exporters.tables.sql import of_games, of_plies, selected
from recorder.errors import ExportError
from recorder.model import Game, GameKind, Link, LinkKind
from recorder.relating.bughouse import pair_bughouse
from recorder.relating.match import Match, board_order
from storage.dataset.folder import DataFolder, Part
from storage.read.engine import new_database
from storage.read.in_memory import GamesReader

if TYPE_CHECKING:
    import pandas as pd

_SOURCE: Final = Column("source", "text", "category", "", "SHA-256 of the source's decompressed bytes", True)
_OF_SIDES: Final = {column.name: column for column in SIDE_COLUMNS}
_BASE, _INCREMENT, _SEALED = (_OF_SIDES[name] for name in ("base_s", "increment_s", "player_sealed"))
DATASET_PLY_COLUMNS: Final = (*PLY_COLUMNS, *MATCH_COLUMNS, _SOURCE)
"""One row a half-move: the columns of plies, in bughouse those of matches, and the source."""
_MORE_OF_GAMES: Final = (
    *(
        column._replace(name=name, meaning=column.meaning.replace("this", side, 1))
        for name, column, side in (
            ("base_s", _BASE, "White's"),
            ("increment_s", _INCREMENT, "White's"),
            ("black_base_s", _BASE, "Black's"),
            ("black_increment_s", _INCREMENT, "Black's"),
        )
    ),
    _SEALED._replace(name="white_sealed", meaning="whether White uses a time seal; missing if unknown"),
    _SEALED._replace(name="black_sealed", meaning="whether Black uses a time seal; missing if unknown"),
    next(column for column in ON_REQUEST if column.name == "event"),
    Column("me", "text", "category", "", "handle whose connection recorded the game; missing if unknown"),
    Column("offset", "integer", "Int64", "bytes", "place of the game's first line in the source", True),
    Column("start_fen", "text", "string", "", "first known position; missing if it is the normal one"),
    Column("start_ply", "integer", "Int32", "", "half-moves before the first known position", True),
)
_PARTNER: Final = (
    Column("partner_key", "text", "string", "", "key of the other board of a bughouse match; missing if unknown"),
    Column("partner_evidence", "text", "string", "", "why they are one match, in words; missing as `partner_key`"),
)
_FINGERPRINT: Final = Column(
    "fingerprint",
    "integer",
    "Int64",
    "",
    "equal where players, day, moves and result are equal; missing without a day or without moves",
)
DATASET_GAME_COLUMNS: Final = (*GAME_COLUMNS, *_MORE_OF_GAMES, _FINGERPRINT, *_PARTNER, _SOURCE)
"""One row a game: the columns of games, what the sides' tables have besides, and the source."""
DATASET_EVENT_COLUMNS: Final = (*EVENT_COLUMNS, _SOURCE)
"""One row an event: the columns of events, and the source. A game's are in one file, in order."""

_TABLES: Final = {"plies": DATASET_PLY_COLUMNS, "games": DATASET_GAME_COLUMNS, "events": DATASET_EVENT_COLUMNS}
_FILE_ROWS: Final = 1_000_000
_PLIES_AT_ONCE: Final = 50_000
"""So many are converted in one step."""
_PLIES_IN_TABLE: Final = 500_000
"""So many are written in one step."""
_BOARDS_WAITING: Final = 800
"""Bughouse games that wait for their partners; the boards of a match end together."""
_BOARDS_KEPT: Final = 200
"""The newest of them, which still wait when the others are written."""

_FINGERPRINTS: Final = """
LEFT JOIN (SELECT p.game, string_agg(p.san, ' ' ORDER BY p.ply) AS moves FROM plies p JOIN {games} g
  ON g.id = p.game AND g.part = p.part WHERE g.day IS NOT NULL GROUP BY ALL) f ON f.game = g.id
"""
_EQUAL: Final = (
    "concat_ws(chr(10), lower(g.white), lower(g.black), g.day, coalesce(g.start_fen, ''), g.result, f.moves)"
)
_NUMBER: Final = f"CASE WHEN f.moves IS NOT NULL THEN (md5_number_lower({_EQUAL}) // 2)::BIGINT END"


class PartFiles:
    """Writes tables of DuckDB as the files of one source."""

    def __init__(self, source: str) -> None:
        self.games = self.plies = 0
        self.source = source
        self._folder = TemporaryDirectory(prefix="ics-recorder-")
        self._steps = 0
        self._options = {name: _options(columns) for name, columns in _TABLES.items()}

    def close(self) -> None:
        """Remove what was written and is in no data set."""
        self._folder.cleanup()

    def take(self, connection: Any, games: str, *, order: str = "id") -> None:
        """Take the games of a table, with their plies.

        The connection has ``plies``, ``matches`` (key, ply, ``MATCH_COLUMNS``), ``partners`` (key, ``_PARTNER``) and
        ``events`` with ``number``, their order.
        """
        with _errors(self._folder.name):
            variants = [name for (name,) in connection.execute(f"SELECT DISTINCT variant FROM {games}").fetchall()]
            plies = of_plies() | {column.name: f"m.{column.name}" for column in MATCH_COLUMNS}
            rows = f"FROM plies p JOIN {games} g ON g.id = p.game AND g.part = p.part"
            self.plies += self._copy(
                connection,
                "plies",
                plies,
                f"{rows} LEFT JOIN matches m ON m.key = g.key AND m.ply = p.ply",
                f"{_stem(variants)} || '/' || {_MONTH}",
                f"g.{order}, p.ply",
            )
            more = {column.name: f'g."{column.name}"' for column in _MORE_OF_GAMES}
            more |= {"start_ply": "g.start_ply::INTEGER", "fingerprint": _NUMBER}
            more |= {column.name: f"b.{column.name}" for column in _PARTNER}
            rows = f"FROM {games} g {_FINGERPRINTS.format(games=games)} LEFT JOIN partners b ON b.key = g.key"
            self.games += self._copy(connection, "games", of_games() | more, rows, _YEAR, f"g.{order}")
            events = {column.name: f"e.{column.name}" for column in EVENT_COLUMNS}
            rows = f"FROM events e JOIN {games} g ON g.key = e.key"
            self._copy(connection, "events", events, rows, _YEAR, f"g.{order}, e.number")
            self._steps += 1

    def _copy(self, connection: Any, table: str, texts: Mapping[str, str], rows: str, folder: str, order: str) -> int:
        columns = selected({**texts, "source": f"'{self.source}'::VARCHAR", "folder": folder})
        path = Path(self._folder.name, table, f"{self._steps:06}")
        path.parent.mkdir(exist_ok=True)
        options = f"{self._options[table]}, PARTITION_BY (folder)"
        ((count,),) = connection.execute(
            f"COPY (SELECT {columns} {rows} ORDER BY folder, {order}) TO '{path}' ({options})"
        ).fetchall()
        return int(count)

    def finish(self, connection: Any, folder: DataFolder, stem: str) -> list[Part]:
        """Put the files into a data set; their names begin with ``stem``."""
        parts = []
        with _errors(self._folder.name):
            for table, options in self._options.items():
                found: dict[str, list[Path]] = {}
                for path in sorted(Path(self._folder.name).glob(f"{table}/*/*/*.parquet")):
                    found.setdefault(unquote(path.parent.name.partition("=")[2]), []).append(path)
                for place, paths in found.items():
                    for number, (path, rows) in enumerate(_joined(connection, paths, options)):
                        name = f"{table}/{place}/{stem}-{number}.parquet"
                        with path.open("rb") as read, folder.create(name) as out:
                            shutil.copyfileobj(read, out, 1 << 20)
                        parts.append(Part(name, rows, path.stat().st_size))
        return sorted(parts)


def _joined(connection: Any, paths: Sequence[Path], options: str) -> Iterator[tuple[Path, int]]:
    """Files of which small ones were joined, with their rows."""
    count = "SELECT sum(num_rows)::BIGINT FROM parquet_file_metadata(?)"
    rest = list(paths)
    while rest:
        rows = 0
        some: list[Path] = []
        while rest and (not some or rows < _FILE_ROWS):
            some.append(rest.pop(0))
            rows += connection.execute(count, [str(some[-1])]).fetchall()[0][0]
        path = some[0]
        if len(some) > 1:
            path = path.with_name("joined")
            listed = ", ".join(f"'{one}'" for one in some)
            connection.execute(
                f"COPY (FROM read_parquet([{listed}], hive_partitioning = FALSE)) TO '{path}' ({options})"
            )
        yield path, rows


_YEAR: Final = "coalesce(g.day[1:4], 'undated')"
_MONTH: Final = "coalesce(g.day[1:4] || '/' || g.day[6:7], 'undated')"


def _stem(variants: Iterable[str | None]) -> str:
    """The SQL of the name of a variant's folder."""
    quoted = {name: [text.replace("'", "''") for text in (name, file_stem(name))] for name in variants if name}
    cases = " ".join(f"WHEN '{name}' THEN '{stem}'" for name, stem in quoted.values())
    return f"CASE g.variant {cases} ELSE 'unknown' END" if cases else "'unknown'"


def _options(columns: Sequence[Column]) -> str:
    """Of COPY: units and meanings of columns are where programs that use Arrow find them."""
    import pyarrow as pa

    schema = arrow_schema(columns)
    micros = [
        field.with_type(pa.timestamp("us", tz="UTC")) if pa.types.is_timestamp(field.type) else field
        for field in schema
    ]
    text = b64encode(pa.schema(micros, metadata=schema.metadata).serialize().to_pybytes()).decode()
    return (
        "FORMAT parquet, COMPRESSION zstd, PARQUET_VERSION V2, "
        f"KV_METADATA {{'ARROW:schema': '{text}', 'ics-recorder': '{version('ics-recorder')}'}}"
    )


@contextmanager
def _errors(place: str) -> Iterator[None]:
    """Errors of DuckDB as one sentence."""
    import duckdb

    try:
        yield
    except duckdb.Error as error:
        raise ExportError(f"{place} cannot be written: {str(error).partition(chr(10))[0]}") from error


class SourceWriter:
    """Writes the games of a source, the last rows at the end of its ``with`` block; then ``parts`` has the files.

    The names of the files begin with ``stem``.
    """

    def __init__(self, folder: DataFolder, stem: str, sha256: str, kind: str) -> None:
        self.parts: list[Part] = []
        self._folder, self._stem = folder, stem
        self._source = (sha256, kind)
        self._files = PartFiles(sha256)
        self._connection = new_database()
        self._connection.execute("SET threads = 1")
        self._boards: list[Game] = []
        self._matches: list[Match] = []
        self._taken: list[Game] = []
        self._taken_plies = self._first = self._waiting = 0

    @property
    def games(self) -> int:
        """How many were written."""
        return self._files.games

    @property
    def plies(self) -> int:
        """How many half-moves were written."""
        return self._files.plies

    def __enter__(self) -> SourceWriter:
        return self

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        try:
            if error is None:
                self._take_boards(0)
                self._convert()
                self._write()
                self.parts = self._files.finish(self._connection, self._folder, self._stem)
        finally:
            self._connection.close()
            self._files.close()

    def add(self, game: Game) -> None:
        """Take a game, with its key."""
        if game.variant != "bughouse" or game.kind is not GameKind.PLAYED:
            self._take(game)
            return
        self._boards.append(game)
        if len(self._boards) == _BOARDS_WAITING:
            self._take_boards(_BOARDS_KEPT)

    def _take_boards(self, kept: int) -> None:
        """Take the bughouse games that wait, but for the newest, and both boards of a match together."""
        if not self._boards:
            return
        boards = {game.key: game for game in self._boards}
        waiting = {game.key for game in self._boards[len(self._boards) - kept :]}
        for one, other, evidence in pair_bughouse(self._boards):
            if one in waiting and other in waiting:
                continue
            first, second = boards.pop(one), boards.pop(other)
            first.links.append(Link(LinkKind.PARTNER, other, evidence))
            second.links.append(Link(LinkKind.PARTNER, one, evidence))
            self._matches.append(board_order(first, second))
            self._take(first, second)
        self._boards = [game for key, game in boards.items() if key in waiting]
        for key, game in boards.items():
            if key not in waiting:
                self._take(game)

    def _take(self, *games: Game) -> None:
        self._taken += games
        self._taken_plies += sum(game.ply_count for game in games)
        if self._taken_plies >= _PLIES_AT_ONCE:
            self._convert()

    def _convert(self) -> None:
        """Make rows of the games that were taken."""
        if not self._taken:
            return
        games, run = self._taken, self._connection
        if not self._waiting:
            for name in ("games", "plies"):
                make_table(run, name, name)
        reader = GamesReader(games, *self._source)
        add_games(
            run, "games", reader, [(place, game.ply_count) for place, game in enumerate(games)], first=self._first
        )
        add_plies(run, "INSERT INTO plies {}", reader, list(range(len(games))), first=self._first)
        frames = related_frames(games, self._matches)
        for name, frame in frames.items():
            run.register("frame", frame)
            begin = f"INSERT INTO {name}" if self._waiting else f"CREATE OR REPLACE TABLE {name} AS"
            run.execute(f"{begin} SELECT * FROM frame")
        self._first += len(games)
        self._waiting += self._taken_plies + len(games)
        self._taken, self._taken_plies, self._matches = [], 0, []
        if self._waiting >= _PLIES_IN_TABLE:
            self._write()

    def _write(self) -> None:
        if self._waiting:
            self._files.take(self._connection, "games")
            self._waiting = 0


def related_frames(games: Sequence[Game], matches: Sequence[Match]) -> dict[str, pd.DataFrame]:
    """The tables ``matches``, ``partners`` and ``events`` of games, as ``PartFiles`` takes them: words are texts."""
    partners = [(game.key, link) for game in games for link in game.links if link.kind is LinkKind.PARTNER]
    values = {
        "key": [key for key, _ in partners],
        "partner_key": [link.key for _, link in partners],
        "partner_evidence": [link.evidence for _, link in partners],
    }
    columns = (next(column for column in GAME_COLUMNS if column.name == "key"), *_PARTNER)
    events = event_frame(games)
    found = {
        "matches": match_columns(matches),
        "partners": frame_of_lists(columns, values).drop_duplicates("key"),
        "events": events.assign(number=range(len(events))),
    }
    for name, frame in found.items():
        words = [column for column in frame.columns if frame[column].dtype == "category"]
        found[name] = frame.astype(dict.fromkeys(words, "string"))
    return found
