"""The files of a data set: tables of games as Parquet, divided by variant and month.

docs/reference/formats.md has the layout. The rows come from DuckDB, for a number of plies at a time, so that memory
does not grow with the source; what was written for one folder at several times is joined at the end.
"""

from __future__ import annotations

import shutil
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final, cast
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
from exporters.tables.filling import in_pieces
from exporters.tables.frames import frame_of_lists
from exporters.tables.matches import match_columns, read_matches
from exporters.tables.sql import of_games, of_plies, selected
from exporters.tables.tables import open_tables
from recorder.errors import ExportError
from recorder.model import Game, Link, LinkKind
from storage.dataset.files import DataFolder, Part, listed
from storage.read.store import GameFilter

if TYPE_CHECKING:
    import pandas as pd

    from exporters.tables.tables import GamesTables
    from storage import ArchiveStore
    from storage.read.columns import ColumnReader

_SOURCE: Final = Column("source", "text", "category", "", "SHA-256 of the source's decompressed bytes", True)
_OF_SIDES: Final = {column.name: column for column in SIDE_COLUMNS}
_BASE, _INCREMENT, _SEALED = (_OF_SIDES[name] for name in ("base_s", "increment_s", "player_sealed"))
DATASET_PLY_COLUMNS: Final = (*PLY_COLUMNS, *MATCH_COLUMNS, _SOURCE)
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
DATASET_EVENT_COLUMNS: Final = (*EVENT_COLUMNS, _SOURCE)
"""A game's events are in one file, in order."""

DATASET_TABLES: Final = {"plies": DATASET_PLY_COLUMNS, "games": DATASET_GAME_COLUMNS, "events": DATASET_EVENT_COLUMNS}
_FILE_ROWS: Final = 1_000_000
_PLIES_AT_ONCE: Final = 500_000

_FINGERPRINTS: Final = """
LEFT JOIN (SELECT p.game, string_agg(p.san, ' ' ORDER BY p.ply) AS moves FROM plies p JOIN chosen g
  ON g.id = p.game AND g.part = p.part WHERE g.day IS NOT NULL GROUP BY ALL) f ON f.game = g.id
"""
_EQUAL: Final = (
    "concat_ws(chr(10), lower(g.white), lower(g.black), g.day, coalesce(g.start_fen, ''), g.result, f.moves)"
)
_NUMBER: Final = f"CASE WHEN f.moves IS NOT NULL THEN (md5_number_lower({_EQUAL}) // 2)::BIGINT END"


def selects(events: str = "TRUE") -> dict[str, tuple[dict[str, str], str, str]]:
    """By table: columns of the chosen games without a source, what follows in a SELECT, and the order."""
    plies = of_plies() | {column.name: f"m.{column.name}" for column in MATCH_COLUMNS}
    more = {column.name: f'g."{column.name}"' for column in _MORE_OF_GAMES}
    more |= {"start_ply": "g.start_ply::INTEGER", "fingerprint": _NUMBER}
    more |= {column.name: f"b.{column.name}" for column in _PARTNER}
    return {
        "plies": (
            plies,
            "FROM plies p JOIN chosen g ON g.id = p.game AND g.part = p.part"
            " LEFT JOIN matches m ON m.key = g.key AND m.ply = p.ply",
            "g.place, p.ply",
        ),
        "games": (
            of_games() | more,
            f"FROM chosen g {_FINGERPRINTS} LEFT JOIN partners b ON b.key = g.key",
            "g.place",
        ),
        "events": (
            {column.name: f"e.{column.name}" for column in EVENT_COLUMNS},
            f"FROM events e JOIN chosen g ON g.key = e.key WHERE {events}",
            "g.place, e.number",
        ),
    }


def _write_step(connection: Any, scratch: Path, step: int, source: str) -> None:
    """The games that ``choose`` has chosen, first into a folder for temporary files."""
    with _errors(scratch):
        variants = [name for (name,) in connection.execute("SELECT DISTINCT variant FROM chosen").fetchall()]
        for table, (texts, rows, order) in selects().items():
            folder = f"{_stem(variants)} || '/' || {_MONTH}" if table == "plies" else _YEAR
            columns = selected({**texts, "source": f"'{source}'::VARCHAR", "folder": folder})
            path = scratch / table / f"{step:06}"
            path.parent.mkdir(exist_ok=True)
            options = f"{_options(table)}, PARTITION_BY (folder)"
            connection.execute(f"COPY (SELECT {columns} {rows} ORDER BY folder, {order}) TO '{path}' ({options})")


def _put_into(folder: DataFolder, stem: str, connection: Any, scratch: Path) -> list[Part]:
    """The files of all steps; their names begin with ``stem``."""
    parts = []
    with _errors(scratch):
        for table in DATASET_TABLES:
            by_group: dict[str, list[Path]] = {}
            for path in sorted(scratch.glob(f"{table}/*/*/*.parquet")):
                by_group.setdefault(unquote(path.parent.name.partition("=")[2]), []).append(path)
            for where, paths in by_group.items():
                for number, (path, rows) in enumerate(_joined(connection, paths, _options(table))):
                    name = f"{table}/{where}/{stem}-{number}.parquet"
                    with path.open("rb") as read, folder.create(name) as out:
                        shutil.copyfileobj(read, out, 1 << 20)
                    parts.append(Part(name, rows, path.stat().st_size))
    return sorted(parts)


def _joined(connection: Any, paths: Sequence[Path], options: str) -> Iterator[tuple[Path, int]]:
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
            files = listed([str(part) for part in some])
            connection.execute(f"COPY (FROM read_parquet({files}, hive_partitioning = FALSE)) TO '{path}' ({options})")
        yield path, rows


_YEAR: Final = "coalesce(g.day[1:4], 'undated')"
_MONTH: Final = "coalesce(g.day[1:4] || '/' || g.day[6:7], 'undated')"


def _stem(variants: Iterable[str | None]) -> str:
    quoted = {name: [text.replace("'", "''") for text in (name, file_stem(name))] for name in variants if name}
    cases = " ".join(f"WHEN '{name}' THEN '{stem}'" for name, stem in quoted.values())
    return f"CASE g.variant {cases} ELSE 'unknown' END" if cases else "'unknown'"


@cache
def _options(table: str) -> str:
    """Of COPY: units and meanings of columns are where programs that use Arrow find them."""
    import pyarrow as pa

    schema = arrow_schema(DATASET_TABLES[table])
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
def _errors(path: Path) -> Iterator[None]:
    import duckdb

    try:
        yield
    except duckdb.Error as error:
        raise ExportError(f"{path} cannot be written: {str(error).partition(chr(10))[0]}") from error


def write_dataset(
    archive: ArchiveStore,
    chosen: GameFilter,
    folder: DataFolder,
    source: str,
    stem: str,
    *,
    prepare: Callable[[], object] = lambda: None,
) -> list[Part]:
    """``prepare`` is called when all is computed, before the first file is put into the folder."""
    with open_tables(archive, chosen) as tables, TemporaryDirectory(prefix="ics-recorder-") as scratch:
        run = tables.connection
        run.execute("SET threads = 1")
        ((boards,),) = run.execute("SELECT count(*) FROM chosen WHERE variant = 'bughouse'").fetchall()
        register_matches(archive, run, wanted=boards > 0)
        for step, some in enumerate(in_pieces(tables.games, _PLIES_AT_ONCE)):
            choose(tables, some)
            _write_step(run, Path(scratch), step, source)
        prepare()
        return _put_into(folder, stem, run, Path(scratch))


def register_matches(archive: ArchiveStore, connection: Any, *, wanted: bool = True) -> None:
    """Key, ply, ``MATCH_COLUMNS``; empty if they are not ``wanted``."""
    matches = read_matches(archive, GameFilter(variants=frozenset({"bughouse"}))) if wanted else []
    connection.register("matches", _worded(match_columns(matches)))


def choose(tables: GamesTables, games: Sequence[tuple[int, int]]) -> None:
    """By row number and number of plies; their ``partners`` and ``events`` become tables, too."""
    tables.choose(games)
    reader = cast("ColumnReader", tables.reader)
    ids = [row_id for row_id, _ in games]
    chosen = reader.games(ids, with_holdings=False, with_lines=False, with_thinking=False, whole_plies=False)
    for name, frame in _related_frames(chosen).items():
        tables.connection.register(name, _worded(frame))


def _related_frames(games: Iterable[Game]) -> dict[str, pd.DataFrame]:
    partners: dict[str, Link] = {}

    def noted() -> Iterator[Game]:
        for game in games:
            for link in game.links:
                if link.kind is LinkKind.PARTNER:
                    partners.setdefault(game.key, link)
            yield game

    events = event_frame(noted())
    values = {
        "key": [*partners],
        "partner_key": [link.key for link in partners.values()],
        "partner_evidence": [link.evidence for link in partners.values()],
    }
    columns = (next(column for column in GAME_COLUMNS if column.name == "key"), *_PARTNER)
    return {"partners": frame_of_lists(columns, values), "events": events.assign(number=range(len(events)))}


def _worded(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.astype(dict.fromkeys(frame.select_dtypes("category").columns, "string"))
