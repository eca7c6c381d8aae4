"""The tables and views of a shared database, from those of an archive (``storage.schema``).

A shared database holds several archives. Each has a number, and each row names it in ``archive``. A row number of an
archive is moved by ``number × SPAN``, so that row numbers differ between archives and joins are those of an archive.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any, Final

from sqlalchemy import BigInteger, Boolean, Column, DateTime, Index, Integer, LargeBinary, MetaData, Table, Text
from sqlalchemy.dialects import postgresql
from sqlalchemy.schema import CreateIndex, CreateTable, SetColumnComment, SetTableComment
from sqlalchemy.types import TypeEngine

from storage.maintenance.private import PRIVATE_COLUMNS
from storage.publish.connection import POSTGRES
from storage.read.query import DATED_MS
from storage.schema import tables as stored
from storage.schema.meanings import comment_on
from storage.schema.views import views

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
