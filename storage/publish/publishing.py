"""Publishing an archive: find what differs from the shared database, delete and copy it, in batches.

Each game has a revision in the shared database, a hash of its row and of all rows below it; so has each analysis. A
game that is not there, or has another revision, is copied; one that is no longer in the archive is deleted. A batch is
one transaction, and the first one also deletes, so that readers see the old or the new rows of few changed games. What
an interrupted run has copied is found by its revisions.
"""

from __future__ import annotations

import json
import marshal
import sqlite3
from array import array
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from hashlib import blake2b
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from sqlalchemy import BigInteger, Boolean, Column, DateTime, Index, Integer, LargeBinary, MetaData, Table, Text
from sqlalchemy.dialects import postgresql
from sqlalchemy.schema import CreateIndex, CreateTable, SetColumnComment, SetTableComment
from sqlalchemy.types import TypeEngine

from recorder.errors import ExportError
from recorder.progress import Progress
from storage.files import reading
from storage.maintenance.check import require_sound
from storage.maintenance.private import PRIVATE_COLUMNS, published_events, published_settings
from storage.publish.connection import POSTGRES, connected, is_there
from storage.read.columns import pieces
from storage.read.query import DATED_MS
from storage.schema import tables as stored
from storage.schema.tables import comment_on
from storage.schema.upgrade import HEAD
from storage.schema.views import views
from storage.settings import archive_id, content_version, secret_of

if TYPE_CHECKING:
    from psycopg import Connection

SPAN: Final = 1 << 40
"""Row numbers of an archive, which may be negative, are less than half of this."""

PUBLISHED: Final = (
    stored.players,
    stored.sources,
    stored.games,
    stored.game_evidence,
    stored.game_links,
    stored.observations,
    stored.segments,
    stored.ply_lines,
    stored.plies,
    stored.anchors,
    stored.holdings,
    stored.events,
    stored.thinking,
    stored.analyses,
    stored.analysed_positions,
    stored.analysis_lines,
)

_metadata: Final = MetaData()

ARCHIVES: Final = Table(
    "archives",
    _metadata,
    Column("number", Integer, primary_key=True, autoincrement=True, comment="as in the column archive of all tables"),
    Column("archive", Text, nullable=False, unique=True, comment="the archive's id, the same in its copies"),
    Column("schema", Text, nullable=False, comment="schema of the archive's tables"),
    Column("with_text", Text, nullable=False, comment="chat that is published: none or public"),
    Column("content_version", Text, comment="of the archive as it is here; null while it is being published"),
    Column("published_at", DateTime(timezone=True), comment="when it was published last"),
    comment="archives that ics-recorder publish has written here",
)

_ADDED: Final[dict[str, tuple[tuple[str, type[TypeEngine[Any]], str, str], ...]]] = {
    "games": (
        ("dated_ms", BigInteger, DATED_MS, "milliseconds since 1970: start, or first moment of the day that is known"),
        *(
            (
                f"{side}_guest",
                Boolean,
                f"is_guest(g.{side}, g.{side}_rating_text, g.{side}_titles, g.{side}_registered)",
                "whether the player is not registered",
            )
            for side in ("white", "black")
        ),
        *(
            (
                f"{side}_computer",
                Boolean,
                f"is_computer(g.{side}_titles)",
                "whether titles mark the player as a computer",
            )
            for side in ("white", "black")
        ),
    ),
}
"""Columns that an archive computes when they are asked for: name, type, SQLite's expression, comment."""

_WITH_REVISION: Final = ("games", "analyses")
_BITS: Final = {("plies", "move"), ("plies", "flags"), ("plies", "quality")}
"""Numbers of few bits, of which views take parts; all others may be as large as a log prints them."""

_INDEXES: Final[dict[str, tuple[tuple[str, ...], ...]]] = {
    "players": (("handle_folded",), ("archive",)),
    "sources": (("archive",), ("sha256",)),
    "games": (
        ("archive", "id"),
        ("key",),
        ("dated_ms",),
        ("source_id",),
        ("white_id",),
        ("black_id",),
        ("merged_into",),
    ),
    "observations": (("game_id", "seq"),),
    "game_links": (("other_game_id",), ("archive",)),
    "analyses": (("archive", "id"), ("game_key",)),
    "analysed_positions": (("analysis_id",),),
}


def _is_row_number(column: Column[Any]) -> bool:
    return (column.name == "id" and column.primary_key) or bool(column.foreign_keys) or column.name == "first_ply_id"


def _kept(table: Table) -> list[Column[Any]]:
    """The stored columns that are for others, in their order."""
    private = PRIVATE_COLUMNS.get(table.name, {})
    return [column for column in table.columns if column.name not in private]


def columns_of(table: Table) -> list[str]:
    """The names of the columns of a published table, in the order of ``selected``; a revision is the last one."""
    added = [name for name, *_ in _ADDED.get(table.name, ())]
    revision = ["revision"] if table.name in _WITH_REVISION else []
    return ["archive", *(column.name for column in _kept(table)), *added, *revision]


def selected(table: Table, number: int) -> str:
    """The expressions of a SELECT from an archive that gives the rows of a published table, without the revision.

    The table's alias in the SELECT is ``g`` for games, else ``t``.
    """
    row = "g" if table.name == "games" else "t"
    found = [str(number)]
    for column in _kept(table):
        name = f'{row}."{column.name}"'
        if _is_row_number(column):
            name = f"{name} + {number * SPAN}"
        elif (table.name, column.name) == ("analyses", "settings"):
            name = f"published_settings({name})"
        found.append(name)
    return ", ".join((*found, *(expression for _, _, expression, _ in _ADDED.get(table.name, ()))))


def _published(table: Table) -> Table:
    """The table in PostgreSQL. Its keys are the archive's; it has no foreign keys, which would make COPY slow."""
    columns: list[Column[Any]] = [
        Column("archive", Integer, nullable=False, comment="number of the archive in archives")
    ]
    for column in _kept(table):
        kind: Any = column.type
        if isinstance(kind, Integer | BigInteger):
            kind = Integer() if (table.name, column.name) in _BITS else BigInteger()
        columns.append(
            Column(
                column.name,
                kind,
                primary_key=column.primary_key,
                nullable=column.nullable,
                autoincrement=False,
                comment=comment_on(column),
            )
        )
    columns += [Column(name, kind, comment=comment) for name, kind, _, comment in _ADDED.get(table.name, ())]
    if table.name in _WITH_REVISION:
        columns.append(Column("revision", LargeBinary, nullable=False, comment="hash of the row and of those below it"))
    found = Table(table.name, _metadata, *columns)
    for names in _INDEXES.get(table.name, ()):
        Index(f"ix_{table.name}_{'_'.join(names)}", *(found.c[name] for name in names))
    return found


@cache
def statements() -> tuple[str, ...]:
    """The statements that make tables, comments, indexes and views in an empty database."""
    tables = [ARCHIVES, *map(_published, PUBLISHED)]
    made = [statement for table in tables for statement in _making(table)]
    dialect: Any = postgresql.dialect()  # type: ignore[no-untyped-call]  # SQLAlchemy leaves it untyped
    return (*(str(statement.compile(dialect=dialect)) for statement in made), *views(POSTGRES))


def _making(table: Table) -> Iterator[Any]:
    yield CreateTable(table)
    if table.comment:
        yield SetTableComment(table)
    yield from (SetColumnComment(column) for column in table.columns if column.comment)
    yield from (CreateIndex(index) for index in sorted(table.indexes, key=lambda index: str(index.name)))


BATCH_PLIES: Final = 100_000
"""About so many plies, or analyses, are in one transaction."""

_LOCK_S: Final = 10
"""How long to wait until another process has published the same archive."""

_Row = tuple[Any, ...]


class Published(NamedTuple):
    """What publishing changed, or would change.

    Attributes:
        archive: the archive's id in the shared database.
        unchanged: the archive was published before and has not changed since: nothing was compared.
        games: how many games the archive has; a game of several sources counts once.
        added, changed, deleted: games, counted in the same way.
        plies: half-moves that were copied, all lines of all sources.
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


class _Part(NamedTuple):
    """A table with rows of a root; ``source``: where they are for a row number ``wanted.value`` of the root."""

    table: Table
    source: str


def _below_observations(table: Table) -> _Part:
    return _Part(
        table,
        f"observations o ON o.game_id = wanted.value CROSS JOIN {table.name} t ON t.observation_id = o.id",
    )


_LINES: Final = "observations o ON o.game_id = wanted.value CROSS JOIN ply_lines l ON l.observation_id = o.id"
_GAMES: Final = (
    _Part(stored.games, "games g ON g.id = wanted.value"),
    _Part(stored.game_evidence, "game_evidence t ON t.game_id = wanted.value"),
    _Part(stored.segments, "segments t ON t.game_id = wanted.value"),
    _Part(stored.observations, "observations t ON t.game_id = wanted.value"),
    *map(_below_observations, (stored.ply_lines, stored.anchors, stored.holdings, stored.events, stored.thinking)),
    _Part(
        stored.plies, f"{_LINES} CROSS JOIN plies t ON t.id BETWEEN l.first_ply_id AND l.first_ply_id + l.ply_count - 1"
    ),
)
"""A game and what is below it. CROSS JOIN makes SQLite read in this order: equal rows have equal hashes."""

_ANALYSES: Final = (
    _Part(stored.analyses, "analyses t ON t.id = wanted.value"),
    _Part(stored.analysed_positions, "analysed_positions t ON t.analysis_id = wanted.value"),
    _Part(
        stored.analysis_lines,
        "analysed_positions p ON p.analysis_id = wanted.value CROSS JOIN analysis_lines t ON t.position_id = p.id",
    ),
)

_WHOLE: Final = (stored.players, stored.sources, stored.game_links)
"""Small tables, compared row by row."""

_DELETIONS: Final = {
    "games": (
        "DELETE FROM plies p USING observations o, ply_lines l WHERE o.game_id = ANY(%s) AND l.observation_id = o.id"
        " AND p.id BETWEEN l.first_ply_id AND l.first_ply_id + l.ply_count - 1",
        *(
            f"DELETE FROM {name} t USING observations o WHERE o.game_id = ANY(%s) AND t.observation_id = o.id"
            for name in ("ply_lines", "anchors", "holdings", "events", "thinking")
        ),
        *(f"DELETE FROM {name} WHERE game_id = ANY(%s)" for name in ("observations", "segments", "game_evidence")),
        "DELETE FROM games WHERE id = ANY(%s)",
    ),
    "analyses": (
        "DELETE FROM analysis_lines t USING analysed_positions p"
        " WHERE p.analysis_id = ANY(%s) AND t.position_id = p.id",
        "DELETE FROM analysed_positions WHERE analysis_id = ANY(%s)",
        "DELETE FROM analyses WHERE id = ANY(%s)",
    ),
}
_DELETED_AT_ONCE: Final = 1000


class _Batch(NamedTuple):
    """Rows by table, as they are copied, and the revision of each root row, by its row number in the archive."""

    rows: dict[str, list[_Row]]
    revisions: dict[int, bytes]


class _Differences(NamedTuple):
    """Row numbers of a root table: to be deleted (as in the shared database), to be copied (as in the archive)."""

    stale: array[int]
    wanted: array[int]


def publish(
    path: Path, url: str, *, with_text: str | None = None, dry_run: bool = False, progress: Progress
) -> Published:
    """Make a shared database equal to what of an archive is for others (``storage.maintenance.private``).

    ``with_text`` says which chat is published: ``public`` (kibitz and whisper) or ``none``; None: as when the archive
    was published before, else ``public``.
    """
    with connected(url, ExportError) as connection, reading(path, read_only=True) as driver:
        version = content_version(driver)  # the first read: all others are of the same moment
        publisher = _Publisher(driver, connection, with_text, version)
        return publisher.run(path, dry_run=dry_run, progress=progress)


class _Publisher:
    def __init__(
        self, driver: sqlite3.Connection, connection: Connection[Any], with_text: str | None, version: str | None
    ) -> None:
        self._driver = driver
        self._connection = connection
        self._asked = with_text
        self._with_text = with_text or "public"
        self._version = version
        self._archive = archive_id(driver)
        self._number = 0
        secret = secret_of(driver)  # a share has none, and no settings to be replaced
        driver.create_function(
            "published_settings", 1, lambda text: text if secret is None else published_settings(text, secret)
        )

    def run(self, path: Path, *, dry_run: bool, progress: Progress) -> Published:
        (games,) = self._driver.execute("SELECT count(*) FROM games WHERE merged_into IS NULL").fetchone()
        if not is_there(self._connection):
            self._refuse_foreign()
            if dry_run:
                return Published(self._archive, False, games, added=games, with_text=self._with_text)
            self._create()
        if self._register(dry_run=dry_run):
            return Published(self._archive, True, games, with_text=self._with_text)
        require_sound(path)
        differing = self._differences(_GAMES, "SELECT id, ply_count FROM games ORDER BY id", progress)
        analyses = self._differences(_ANALYSES, "SELECT id, 1 FROM analyses ORDER BY id", _silent)
        added, changed, deleted = self._count(differing)
        counts = (games, added, changed, deleted)
        found = Published(self._archive, False, *counts, analyses=len(analyses.wanted), with_text=self._with_text)
        if dry_run:
            return found
        return found._replace(plies=self._write(differing, analyses, progress))

    # --- the archive's own row

    def _refuse_foreign(self) -> None:
        """Refuse a place with tables of other programs that have the names of ours."""
        names = ["archives", *(table.name for table in PUBLISHED)]
        there = (
            "SELECT c.relname, n.nspname, current_database() FROM pg_class c"
            " JOIN pg_namespace n ON n.oid = c.relnamespace"
            " WHERE n.nspname = current_schema() AND c.relname = ANY(%s) ORDER BY 1 LIMIT 1"
        )
        if found := self._connection.execute(there, (names,)).fetchone():
            raise ExportError(
                "The schema {1} of the database {2} has a table {0} of another program: publish into an empty database "
                "or schema (CREATE SCHEMA games, and ?options=-csearch_path%3Dgames behind the URL).".format(*found)
            )

    def _create(self) -> None:
        with self._connection.transaction():
            self._connection.execute("SELECT pg_advisory_xact_lock(hashtext('ics-recorder'))")
            if not is_there(self._connection):  # another process was quicker
                for statement in statements():
                    self._connection.execute(statement)

    def _register(self, *, dry_run: bool) -> bool:
        """Find the archive's number, or give it one; returns whether the archive is there as it is now."""
        run = self._connection.execute
        if other := run("SELECT schema FROM archives WHERE schema <> %s LIMIT 1", (HEAD,)).fetchone():
            raise ExportError(
                f"The shared database has the schema {other[0]}, and this program's is {HEAD}: "
                "publish into an empty database with one version of the program."
            )
        row = self._row()
        if row is not None and self._version is not None and row[1:] == (self._version, self._with_text):
            return True
        if not dry_run:
            self._lock()
            row = (
                self._row()
                or run(
                    "INSERT INTO archives (archive, schema, with_text) VALUES (%s, %s, %s) RETURNING number",
                    (self._archive, HEAD, self._with_text),
                ).fetchone()
            )
        self._number = 0 if row is None else row[0]
        return False

    def _row(self) -> _Row | None:
        """The archive's number, version and chat in the shared database; None: it is not there yet.

        Chat that was excluded before stays excluded unless it is asked for.
        """
        query = "SELECT number, content_version, with_text FROM archives WHERE archive = %s"
        row = self._connection.execute(query, (self._archive,)).fetchone()
        self._with_text = self._asked or ("public" if row is None else row[2])
        return row

    def _lock(self) -> None:
        """Let no other process publish this archive until the connection ends."""
        from psycopg.errors import LockNotAvailable

        self._connection.execute(f"SET lock_timeout = '{_LOCK_S}s'")
        try:
            self._connection.execute("SELECT pg_advisory_lock(hashtextextended(%s, 0))", (self._archive,))
        except LockNotAvailable as error:
            raise ExportError("Another process is publishing this archive: try again later.") from error
        self._connection.execute("SET lock_timeout = 0")

    # --- comparing

    def _differences(self, parts: tuple[_Part, ...], query: str, progress: Progress) -> _Differences:
        """Compare revisions, by ranges of row numbers that together are all."""
        root = parts[0].table.name
        shift = self._number * SPAN
        rows = self._driver.execute(query).fetchall()
        found = _Differences(array("q"), array("q"))
        low, done = shift - SPAN // 2, 0
        batches = [*_batches(rows), []]
        for place, ids in enumerate(batches):
            high = shift + (ids[-1] if place < len(batches) - 1 else SPAN // 2)
            known = dict(
                self._connection.execute(
                    f"SELECT id, revision FROM {root} WHERE archive = %s AND id > %s AND id <= %s",
                    (self._number, low, high),
                ).fetchall()
            )
            low = high
            common = [number for number in ids if number + shift in known]
            now = self._read(parts, common).revisions if common else {}
            for number in ids:
                revision = known.pop(number + shift, None)
                if revision is None:
                    found.wanted.append(number)
                elif revision != now[number]:
                    found.stale.append(number + shift)
                    found.wanted.append(number)
            found.stale.extend(sorted(known))
            done += len(ids)
            progress("comparing", done, len(rows))
        return found

    def _read(self, parts: tuple[_Part, ...], ids: Sequence[int]) -> _Batch:
        """What is published of some root rows, with their revisions."""
        wanted = json.dumps(list(ids))
        hashes = {number: blake2b(digest_size=16) for number in ids}
        rows: dict[str, list[_Row]] = {}
        for table, source in parts:
            select = f"SELECT wanted.value, {selected(table, self._number)} FROM json_each(?) wanted"
            where = f" WHERE {published_events(self._with_text, 't')}" if table is stored.events else ""
            texts = _text_places(table)
            of_table = rows[table.name] = []
            found = self._driver.execute(f"{select} CROSS JOIN {source}{where}", (wanted,))
            for number, of_root in groupby(found, itemgetter(0)):
                mine = [row[1:] for row in of_root]
                if any("\0" in row[place] for place in texts for row in mine if row[place]):
                    mine = [tuple(map(_without_nul, row)) for row in mine]
                # Format 2 of marshal gives equal bytes for equal values: later ones note which objects are one.
                hashes[number].update(marshal.dumps((str(table.name), mine), 2))
                of_table += mine
        revisions = {number: one.digest() for number, one in hashes.items()}
        root = parts[0].table.name
        rows[root] = [(*row, revisions[row[1] - self._number * SPAN]) for row in rows[root]]
        return _Batch(rows, revisions)

    def _count(self, games: _Differences) -> tuple[int, int, int]:
        """How many games are added, changed and deleted."""
        shown = "SELECT key FROM games WHERE merged_into IS NULL AND"
        stale = {
            key
            for ids in _slices(games.stale)
            for (key,) in self._connection.execute(f"{shown} id = ANY(%s)", (list(ids),)).fetchall()
        }
        changed = sum(
            self._driver.execute(
                f"SELECT count(*) FROM ({shown} key IN (SELECT value FROM json_each(?)))", (json.dumps(list(keys)),)
            ).fetchone()[0]
            for keys in _slices(sorted(stale))
        )
        wanted = sum(
            self._driver.execute(
                f"SELECT count(*) FROM ({shown} id IN (SELECT value FROM json_each(?)))", (json.dumps(list(ids)),)
            ).fetchone()[0]
            for ids in _slices(games.wanted)
        )
        return wanted - changed, changed, len(stale) - changed

    # --- writing

    def _write(self, games: _Differences, analyses: _Differences, progress: Progress) -> int:
        """Delete and copy; returns how many plies were copied."""
        plies = 0
        sizes = self._sizes(games.wanted)
        with self._connection.transaction():
            self._connection.execute(
                "UPDATE archives SET content_version = NULL, with_text = %s WHERE number = %s",
                (self._with_text, self._number),
            )
            self._delete("games", games.stale)
            self._delete("analyses", analyses.stale)
            for table in _WHOLE:
                self._equalise(table)
            first: Sequence[int] = next(sizes, [])
            plies += self._copy(_GAMES, first)
        progress("copying", done := len(first), len(games.wanted))
        for batch in sizes:
            with self._connection.transaction():
                plies += self._copy(_GAMES, batch)
            done += len(batch)
            progress("copying", done, len(games.wanted))
        for ids in _slices(analyses.wanted):
            with self._connection.transaction():
                self._copy(_ANALYSES, ids)
        self._connection.execute(
            "UPDATE archives SET content_version = %s, published_at = now() WHERE number = %s",
            (self._version, self._number),
        )
        if done >= _DELETED_AT_ONCE:
            self._connection.execute("ANALYZE games, observations, segments, ply_lines, plies, events, players")
        return plies

    def _sizes(self, wanted: array[int]) -> Iterator[list[int]]:
        """Batches of games by their plies."""
        query = "SELECT g.id, g.ply_count FROM json_each(?) wanted CROSS JOIN games g ON g.id = wanted.value"
        rows = (row for ids in _slices(wanted) for row in self._driver.execute(query, (json.dumps(list(ids)),)))
        return _batches(rows)

    def _delete(self, root: str, stale: array[int]) -> None:
        for ids in _slices(stale):
            for statement in _DELETIONS[root]:
                self._connection.execute(statement, (list(ids),))

    def _equalise(self, table: Table) -> None:
        """Make a small table equal: rows that differ are deleted and copied."""
        names = columns_of(table)
        query = f"SELECT {selected(table, self._number)} FROM {table.name} t"
        ours = {tuple(map(_without_nul, row)) for row in self._driver.execute(query)}
        quoted = ", ".join(f'"{name}"' for name in names)
        there = set(
            self._connection.execute(
                f"SELECT {quoted} FROM {table.name} WHERE archive = %s", (self._number,)
            ).fetchall()
        )
        keys = [column.name for column in table.primary_key.columns]
        places = [names.index(name) for name in keys]
        condition = " AND ".join(f'"{name}" = %s' for name in keys)
        with self._connection.cursor() as cursor:
            cursor.executemany(
                f"DELETE FROM {table.name} WHERE {condition}",
                [tuple(row[place] for place in places) for row in there - ours],
            )
        self._copy_rows(table, sorted(ours - there, key=lambda row: [row[place] for place in places]))

    def _copy(self, parts: tuple[_Part, ...], ids: Sequence[int]) -> int:
        """Copy root rows and what is below them; returns how many plies these are."""
        if not ids:
            return 0
        rows = self._read(parts, ids).rows
        for table, _ in parts:
            self._copy_rows(table, rows[table.name])
        return len(rows.get("plies", ()))

    def _copy_rows(self, table: Table, rows: list[_Row]) -> None:
        if not rows:
            return
        names = ", ".join(f'"{name}"' for name in columns_of(table))
        with self._connection.cursor() as cursor, cursor.copy(f"COPY {table.name} ({names}) FROM STDIN") as copy:
            for row in rows:
                copy.write_row(row)


def _batches(rows: Iterable[tuple[int, int]]) -> Iterator[list[int]]:
    """Row numbers in runs of about ``BATCH_PLIES``; ``rows``: row numbers and sizes, which may be 0."""
    return pieces(((number, size + 1) for number, size in rows), BATCH_PLIES)


def _slices(values: Sequence[Any]) -> Iterator[Sequence[Any]]:
    return (values[first : first + _DELETED_AT_ONCE] for first in range(0, len(values), _DELETED_AT_ONCE))


def _text_places(table: Table) -> list[int]:
    """Where a row of ``selected`` has texts."""
    texts = {column.name for column in table.columns if column.type.python_type is str}
    return [place for place, name in enumerate(columns_of(table)) if name in texts]


def _without_nul(value: Any) -> Any:
    """PostgreSQL stores no NUL character."""
    return value.replace("\0", "\N{REPLACEMENT CHARACTER}") if isinstance(value, str) and "\0" in value else value


def _silent(name: str, done: int, total: int | None) -> None:
    """Show no progress."""
