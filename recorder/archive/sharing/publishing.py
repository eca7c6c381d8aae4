"""Publishing an archive: the tables of its games in a shared PostgreSQL database, whole games that changed.

Each game has a revision in the shared database, a hash of all that its rows depend on. A game that is not there, or has
another revision, is copied; one that is no longer in the archive is deleted. A batch is one transaction, and the first
one also deletes, so that readers see the old or the new rows of few changed games. What an interrupted run has copied
is found by its revisions.
"""

from __future__ import annotations

import hashlib
import json
import marshal
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from exporters.tables.columns import MATCH_COLUMNS, Column
from exporters.tables.sql import selected
from recorder.archive.locate import archive_file
from recorder.errors import ExportError
from recorder.progress import Progress
from storage import ArchiveStore, storage_errors
from storage.maintenance.check import require_sound
from storage.maintenance.private import published_events, published_settings
from storage.publish.connection import SCHEMA, SPAN, connected, is_there
from storage.publish.reading import VIEWS
from storage.schema.upgrade import require_current
from storage.settings import archive_id, secret_of

if TYPE_CHECKING:
    from sqlite3 import Connection as Driver

    from psycopg import Connection

TEXTS = ("none", "public")
"""Which chat is published."""
BATCH_PLIES: Final = 100_000
"""About so many plies are in one transaction."""
_LOCK_S: Final = 10
"""How long to wait until another process has published the same archive."""
_AT_ONCE: Final = 1000

_TYPES: Final = {"Int32": "integer", "Int64": "bigint", "Float64": "double precision", "boolean": "boolean"}
_NUMBER: Final = Column("id", "integer", "Int64", "", "number of the game here", True)
_GAME: Final = _NUMBER._replace(name="game", meaning="`id` of the game in `games`")
_ARCHIVE: Final = Column("archive", "integer", "Int32", "", "number of the archive in `archives`", True)
_REVISION: Final = Column("revision", "text", "string", "", "hash of what the rows of the game depend on", True)
_LINE: Final = Column("line", "integer", "Int32", "", "place among the events of the game", True)
_SOURCE: Final = Column("source", "integer", "Int64", "", "`id` of the source in `sources`; missing: of several")
_SOURCES: Final = (
    _ARCHIVE,
    Column("id", "integer", "Int64", "", "number of the source here", True),
    Column("sha256", "text", "string", "", "SHA-256 of the decompressed bytes", True),
    Column("name", "text", "string", "", "name of the file", True),
    Column("kind", "text", "string", "", "kind of log", True),
    Column("size_bytes", "integer", "Int64", "bytes", "number of the decompressed bytes", True),
)
_MEMBERS: Final = (
    _ARCHIVE,
    _GAME,
    Column("key", "text", "string", "", "key of a game of one source that was merged", True),
    _SOURCE,
    Column("me", "text", "string", "", "handle whose connection recorded it"),
)
_ANALYSES: Final = (
    _ARCHIVE,
    _GAME,
    Column("engine", "text", "string", "", "name and version of the engine", True),
    Column("protocol", "text", "string", "", "`uci` or `cecp`", True),
    Column("settings", "text", "string", "", "JSON: limit and options of the analysis", True),
    Column("ply", "integer", "Int32", "", "half-moves before the position", True),
    Column("fen", "text", "string", "", "the position", True),
    Column("seq", "integer", "Int32", "", "place among the lines about the position", True),
    Column("depth", "integer", "Int64", "plies", "search depth"),
    Column("white_cp", "integer", "Int64", "cp", "evaluation, as White sees it"),
    Column("white_mate", "integer", "Int64", "moves", "White mates in so many; below 0, Black does"),
    Column("time_ms", "integer", "Int64", "ms", "time of the search"),
    Column("nodes", "integer", "Int64", "", "positions that were searched"),
    Column("pv", "text", "string", "", "the best line"),
)
_INDEXES: Final = (
    "games (archive)", "games (key)", "games (lower(white))", "games (lower(black))", "plies (game, ply)",
    "events (game, line)", "members (game)", "members (key)", "analyses (game)",
)  # fmt: skip


def table_columns() -> dict[str, tuple[Column, ...]]:
    """The tables with their columns, of which those of games are the ones of a data set."""
    from exporters.dataset_parts import DATASET_TABLES

    def without_source(name: str) -> tuple[Column, ...]:
        return tuple(column for column in DATASET_TABLES[name] if column.name != "source")

    return {
        "games": (_ARCHIVE, _NUMBER, _REVISION, *without_source("games"), _SOURCE),
        "plies": (_ARCHIVE, _GAME, *without_source("plies")),
        "events": (_ARCHIVE, _GAME, _LINE, *without_source("events")),
        "sources": _SOURCES,
        "members": _MEMBERS,
        "analyses": _ANALYSES,
    }


def _making() -> Iterator[str]:
    """The statements that make tables, comments, indexes and views in an empty database."""
    yield (
        "CREATE TABLE archives (number integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY, archive text NOT NULL UNIQUE,"
        " schema text NOT NULL, with_text text NOT NULL, content_version text, published_at timestamptz)"
    )
    for name, columns in table_columns().items():
        parts = [
            f'"{column.name}" {_TYPES.get(column.dtype, "timestamptz" if column.kind == "instant" else "text")}'
            + (
                " PRIMARY KEY"
                if column is _NUMBER
                else " NOT NULL"
                if column.always and column not in MATCH_COLUMNS
                else ""
            )
            for column in columns
        ]
        yield f"CREATE TABLE {name} ({', '.join(parts)})"
        for column in columns:
            text = f"{column.meaning} ({column.unit})" if column.unit else column.meaning
            yield f"COMMENT ON COLUMN {name}.\"{column.name}\" IS '{text.replace(chr(39), chr(39) * 2)}'"
    yield from (f"CREATE INDEX ON {index}" for index in _INDEXES)
    yield from VIEWS


class Published(NamedTuple):
    """What publishing changed, or would change.

    Attributes:
        archive: the archive's id in the shared database.
        unchanged: the archive was published before and has not changed since: nothing was compared.
        games: how many games the archive has; a game of several sources counts once.
        added, changed, deleted: games, counted in the same way.
        plies: half-moves that were copied.
        analyses: analyses that were copied.
        with_text: the chat that is there: ``public`` or ``none``.
    """

    archive: str
    unchanged: bool
    games: int
    added: int = 0
    changed: int = 0
    deleted: int = 0
    plies: int = 0
    analyses: int = 0
    with_text: str = "public"


def publish_archive(
    where: str, url: str, *, with_text: str | None = None, dry_run: bool = False, progress: Progress
) -> Published:
    """``with_text``: ``public`` (kibitz and whisper), ``none``, or None: as before, else ``public``."""
    if with_text not in (None, *TEXTS):
        raise ExportError(f"with_text is one of {', '.join(TEXTS)}, not {with_text!r}.")
    path = archive_file(where)
    require_current(path)
    with (
        storage_errors(path),
        connected(url, ExportError) as connection,
        ArchiveStore.open(str(path), read_only=True) as archive,
        archive.columns() as reader,
        archive.reading() as driver,
    ):
        return _Publisher(archive, reader, driver, connection, with_text).run(dry_run=dry_run, progress=progress)


class _Publisher:
    def __init__(
        self, archive: ArchiveStore, reader: Any, driver: Driver, connection: Connection[Any], with_text: str | None
    ) -> None:
        self._archive, self._reader, self._driver, self._connection = archive, reader, driver, connection
        self._asked = with_text
        self._with_text = with_text or "public"
        # A new version of the program may compute other values.
        content = archive.content_version()
        self._version = None if content is None else f"{content} {version('ics-recorder')}"
        self._id = archive_id(driver)
        self._number = 0
        secret = secret_of(driver)  # a share has none, and no settings to be replaced
        driver.create_function(
            "published_settings", 1, lambda text: text if secret is None else published_settings(text, secret)
        )

    def run(self, *, dry_run: bool, progress: Progress) -> Published:
        (games,) = self._driver.execute("SELECT count(*) FROM games WHERE merged_into IS NULL").fetchone()
        published = Published(self._id, False, games, with_text=self._with_text)
        if not is_there(self._connection):
            self._refuse_foreign()
            if dry_run:
                return published._replace(added=games)
            self._create()
        unchanged = self._register(dry_run=dry_run)
        published = published._replace(with_text=self._with_text)
        if unchanged:
            return published._replace(unchanged=True)
        require_sound(self._archive.path)
        progress("comparing", 0, games)
        ours = self._revisions()
        query = f"SELECT id - {self._number * SPAN}, revision, key FROM games WHERE archive = %s"
        there = {number: rest for number, *rest in self._connection.execute(query, (self._number,)).fetchall()}
        same = {number for number, _, *rest in ours if there.get(number) == rest}
        wanted = [(number, plies) for number, plies, *_ in ours if number not in same]
        stale = sorted(there.keys() - same)
        deleted, added = {there[number][1] for number in stale}, {row[3] for row in ours if row[0] not in same}
        changed = len(deleted & added)
        published = published._replace(added=len(added) - changed, changed=changed, deleted=len(deleted) - changed)
        if dry_run:
            return published
        return self._write(published, wanted, stale, {row[0]: row[2] for row in ours}, progress)

    # --- the archive's own row

    def _refuse_foreign(self) -> None:
        """Refuse a place with tables of other programs that have the names of ours."""
        there = (
            "SELECT c.relname, n.nspname, current_database() FROM pg_class c"
            " JOIN pg_namespace n ON n.oid = c.relnamespace"
            " WHERE n.nspname = current_schema() AND c.relname = ANY(%s) ORDER BY 1 LIMIT 1"
        )
        if archive := self._connection.execute(there, (["archives", *table_columns()],)).fetchone():
            raise ExportError(
                "The schema {1} of the database {2} has a table {0} of another program: publish into an empty database "
                "or schema (CREATE SCHEMA games, and ?options=-csearch_path%3Dgames behind the URL).".format(*archive)
            )

    def _create(self) -> None:
        with self._connection.transaction():
            self._connection.execute("SELECT pg_advisory_xact_lock(hashtext('ics-recorder'))")
            if not is_there(self._connection):  # another process was quicker
                for statement in _making():
                    self._connection.execute(statement)

    def _register(self, *, dry_run: bool) -> bool:
        """Find the archive's number, or give it one; returns whether the archive is there as it is now."""
        run = self._connection.execute
        if other := run("SELECT schema FROM archives WHERE schema <> %s LIMIT 1", (SCHEMA,)).fetchone():
            raise ExportError(
                f"The shared database has the schema {other[0]}, and this program's is {SCHEMA}: "
                "publish into an empty database with one version of the program."
            )
        row = self._row()
        if row is not None and self._version is not None and row[1:] == (self._version, self._with_text):
            return True
        if not dry_run:
            self._lock()
            new = "INSERT INTO archives (archive, schema, with_text) VALUES (%s, %s, %s) RETURNING number"
            row = self._row() or run(new, (self._id, SCHEMA, self._with_text)).fetchone()
        self._number = 0 if row is None else row[0]
        return False

    def _row(self) -> Any:
        """The archive's number, version and chat there, or None. Excluded chat stays excluded unless asked for."""
        query = "SELECT number, content_version, with_text FROM archives WHERE archive = %s"
        row = self._connection.execute(query, (self._id,)).fetchone()
        self._with_text = self._asked or ("public" if row is None else row[2])
        return row

    def _lock(self) -> None:
        """Let no other process publish this archive until the connection ends."""
        from psycopg.errors import LockNotAvailable

        self._connection.execute(f"SET lock_timeout = '{_LOCK_S}s'")
        try:
            self._connection.execute("SELECT pg_advisory_lock(hashtextextended(%s, 0))", (self._id,))
        except LockNotAvailable as error:
            raise ExportError("Another process is publishing this archive: try again later.") from error
        self._connection.execute("SET lock_timeout = 0")

    # --- comparing

    def _revisions(self) -> list[tuple[int, int, str, str]]:
        """Row number, number of plies, revision and key of each game."""
        stamps = {number: (plies, stamp) for number, plies, stamp in self._reader.stamps()}
        hashes = {number: hashlib.blake2b(stamp.encode(), digest_size=16) for number, (_, stamp) in stamps.items()}
        for number, *row in self._driver.execute(_DEPENDS):
            hashes[number].update(marshal.dumps(row, 2))  # later formats note which objects are one
        for number, other, *row in self._driver.execute(_LINKS):
            hashes[number].update(marshal.dumps((stamps.get(other), row), 2))
        last = f"{self._with_text} {SCHEMA} {version('ics-recorder')}".encode()
        for digest in hashes.values():
            digest.update(last)
        keys = self._driver.execute("SELECT id, key FROM games WHERE merged_into IS NULL ORDER BY id")
        return [(number, stamps[number][0], hashes[number].hexdigest(), key) for number, key in keys]

    # --- writing

    def _write(
        self,
        total: Published,
        wanted: Sequence[tuple[int, int]],
        stale: Sequence[int],
        revisions: Mapping[int, str],
        progress: Progress,
    ) -> Published:
        """Return what was copied."""
        from exporters.dataset_parts import choose, register_matches
        from exporters.tables.filling import in_pieces
        from exporters.tables.tables import GamesTables, fill
        from storage.read.store import new_database

        run, done = self._connection.execute, 0
        with new_database() as database, TemporaryDirectory(prefix="ics-recorder-") as folder:
            register_matches(self._archive, database, wanted=bool(wanted))
            batches = in_pieces(wanted, BATCH_PLIES)
            for number, games in enumerate(chain([next(batches, [])], batches)):
                with self._connection.transaction():
                    if number == 0:
                        asked = "UPDATE archives SET content_version = NULL, with_text = %s WHERE number = %s"
                        run(asked, (self._with_text, self._number))
                        self._delete(stale)
                        self._replace_sources()
                    if games:
                        fill(database, self._reader, games)
                        choose(GamesTables(database, self._reader, games), games)
                        plies, analyses = self._copy(database, Path(folder, "rows.csv"), games, revisions)
                        total = total._replace(plies=total.plies + plies, analyses=total.analyses + analyses)
                done += len(games)
                progress("copying", done, len(wanted))
        finished = "UPDATE archives SET content_version = %s, published_at = now() WHERE number = %s"
        run(finished, (self._version, self._number))
        if done >= _AT_ONCE:
            run("ANALYZE")
        return total

    def _delete(self, stale: Sequence[int]) -> None:
        for begin in range(0, len(stale), _AT_ONCE):
            some = [number + self._number * SPAN for number in stale[begin : begin + _AT_ONCE]]
            for table, columns in table_columns().items():
                if name := "id" if _NUMBER in columns else "game" if _GAME in columns else None:
                    self._connection.execute(f"DELETE FROM {table} WHERE {name} = ANY(%s)", (some,))

    def _replace_sources(self) -> None:
        self._connection.execute("DELETE FROM sources WHERE archive = %s", (self._number,))
        rows = self._driver.execute("SELECT id, sha256, name, kind, size_bytes FROM sources").fetchall()
        self._copy_rows("sources", rows)

    def _copy_rows(self, table: str, rows: Sequence[tuple[Any, ...]]) -> None:
        """Copy rows without the number of the archive, which begin with a row number of the archive."""
        with self._connection.cursor() as cursor, cursor.copy(_into(table, "text")) as copy:
            for number, *row in rows:
                copy.write_row((self._number, number + self._number * SPAN, *map(_without_nul, row)))

    def _copy(
        self, run: Any, path: Path, games: Sequence[tuple[int, int]], revisions: Mapping[int, str]
    ) -> tuple[int, int]:
        """Copy the games of the view ``chosen``; return how many plies and analyses these are."""
        from exporters.dataset_parts import selects

        ids = [number for number, _ in games]
        shift = self._number * SPAN
        sources = dict(self._rows(f"SELECT g.id, g.source_id + {shift} FROM {{}}", ids))
        members = self._rows(
            f"SELECT g.id, w.key, w.source_id + {shift}, w.me FROM {{}} JOIN games w ON w.merged_into = g.id", ids
        )
        analyses = self._rows(
            "SELECT g.id, a.id, a.engine, a.protocol, published_settings(a.settings), p.ply, p.fen, l.seq, l.depth,"
            " CASE WHEN p.ply % 2 THEN -l.score_cp ELSE l.score_cp END, CASE WHEN p.ply % 2 THEN -l.mate ELSE l.mate"
            " END, l.time_ms, l.nodes, l.pv FROM {} JOIN games w ON (w.id = g.id OR w.merged_into = g.id)"
            " JOIN analyses a ON a.game_key = w.key AND w.source_id IS NOT NULL"
            " JOIN analysed_positions p ON p.analysis_id = a.id AND p.stands"
            " JOIN analysis_lines l ON l.position_id = p.id",
            ids,
        )
        run.execute("CREATE OR REPLACE TABLE own (id BIGINT, revision VARCHAR, source BIGINT)")
        run.executemany("INSERT INTO own VALUES (?, ?, ?)", [(one, revisions[one], sources.get(one)) for one in ids])
        number = {"archive": str(self._number)}
        copied = 0
        for table, (texts, rows, order) in selects(published_events(self._with_text, "e")).items():
            own = number | {"id" if table == "games" else "game": f"g.id + {shift}"}
            if table == "games":
                own |= {"revision": "own.revision", "source": "own.source"}
                rows += " JOIN own ON own.id = g.id"
            elif table == "events":
                own |= {"line": "e.number"}
            columns = table_columns()[table]
            texts = {**texts, **own}
            named = {
                one.name: f"replace({texts[one.name]}, chr(0), chr(65533))" if one.kind == "text" else texts[one.name]
                for one in columns
            }
            ((count,),) = run.execute(
                f"COPY (SELECT {selected(named)} {rows} ORDER BY {order}) TO '{path}' (FORMAT csv, HEADER FALSE)"
            ).fetchall()
            with self._connection.cursor() as cursor, path.open("rb") as file, cursor.copy(_into(table)) as copy:
                while data := file.read(1 << 16):
                    copy.write(data)
            copied = count if table == "plies" else copied
        self._copy_rows("members", members)
        self._copy_rows("analyses", [(one, *row) for one, _, *row in analyses])
        return copied, len({(one, analysis) for one, analysis, *_ in analyses})

    def _rows(self, query: str, ids: Sequence[int]) -> list[tuple[Any, ...]]:
        games = "json_each(?) wanted CROSS JOIN games g ON g.id = wanted.value"
        return self._driver.execute(query.format(games), (json.dumps(ids),)).fetchall()


def _into(table: str, form: str = "csv") -> str:
    names = ", ".join(f'"{column.name}"' for column in table_columns()[table])
    return f"COPY {table} ({names}) FROM STDIN (FORMAT {form})"


def _without_nul(value: Any) -> Any:
    """PostgreSQL stores no NUL character."""
    return value.replace("\0", "\N{REPLACEMENT CHARACTER}") if isinstance(value, str) else value


_DEPENDS: Final = """
SELECT coalesce(w.merged_into, w.id), w.key, w.source_id, w.me, e.kind, e.detail, e.ply, e.actor, e.value, e.text,
  e.white_clock_ms, e.black_clock_ms, e.at_ms
FROM games w CROSS JOIN observations o ON o.game_id = w.id LEFT JOIN events e ON e.observation_id = o.id
"""
"""What else the rows of games depend on: events and the games of single sources."""
_LINKS: Final = (
    "SELECT l.game_id, l.other_game_id, l.evidence FROM games g JOIN game_links l ON l.game_id = g.id"
    " WHERE g.merged_into IS NULL AND l.kind = 'partner' ORDER BY 1, 2"
)
