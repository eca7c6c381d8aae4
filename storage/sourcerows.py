"""The rows of ``sources`` as the rest of the program sees them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, func, select, true

from recorder.errors import StorageError
from recorder.model import Anomaly, AnomalyKind, TimeBasis
from storage import models

__all__ = ["ID_DIGITS", "READ_AGAIN", "SourceRow", "anomalies_of", "one_source", "row_number", "source_rows"]

ID_DIGITS = 12
READ_AGAIN = "again"
"""As a source's parser version: somebody was left out of it who is wanted now."""


@dataclass(frozen=True)
class SourceRow:
    """A source as the archive knows it.

    Attributes:
        id: the first 12 digits of ``sha256``; a source that grows gets another one.
        sha256, size_bytes: of the decompressed bytes read so far.
        name, path: the file's name, and where it was found (None in shared archives).
        options: what ``--date``, ``--tz``, ``--kind`` … said when it was imported.
        parser_version: what read it, or ``READ_AGAIN``.
        read_up_to, restart_state: where reading goes on when it has grown, and what is needed for it.
        kept_bytes: how many of its bytes, from the first on, are in the archive.
        games: how many games it gave.
    """

    id: str
    sha256: str
    size_bytes: int
    name: str
    path: str | None
    kind: str
    server: str | None
    dialect: str | None
    me: str | None
    time_basis: TimeBasis
    options: dict[str, Any]
    parser_version: str
    read_up_to: int
    restart_state: dict[str, Any]
    kept_bytes: int
    line_count: int
    warnings: tuple[str, ...]
    games: int

    @property
    def kept(self) -> bool:
        """Whether all its bytes are in the archive."""
        return self.kept_bytes == self.size_bytes


def source_rows(connection: Connection, beginning: str = "") -> list[SourceRow]:
    """The sources whose sha256 begins so, by name and then by sha256."""
    wanted = models.sources.c.sha256.startswith(beginning, autoescape=True) if beginning else true()
    counted = select(models.games.c.source_id, func.count()).group_by(models.games.c.source_id)
    if beginning:
        numbers = select(models.sources.c.id).where(wanted)
        counted = counted.where(models.games.c.source_id.in_(numbers))
    games: dict[int, int] = {row[0]: row[1] for row in connection.execute(counted)}
    columns = [column for column in models.sources.c if column.name != "timing"]  # megabytes that few ask for
    rows = connection.execute(select(*columns).where(wanted).order_by(models.sources.c.name, models.sources.c.sha256))
    found: list[SourceRow] = []
    for row in rows.mappings():
        values = dict(row)
        number = values.pop("id")
        values["time_basis"] = TimeBasis(values["time_basis"])
        values["warnings"] = tuple(values["warnings"])
        found.append(SourceRow(id=values["sha256"][:ID_DIGITS], games=games.get(number, 0), **values))
    return found


def one_source(connection: Connection, source_id: str) -> SourceRow:
    """The source whose id begins with ``source_id``.

    Raises:
        StorageError: there is none, or several.
    """
    found = source_rows(connection, source_id.lower()) if source_id else []
    if not found:
        raise StorageError(f"No source has an id that begins with {source_id!r}: `ics-recorder sources` lists them.")
    if len(found) > 1:
        raise StorageError(
            f"{source_id} is the beginning of several ids: {', '.join(f'{row.id} ({row.name})' for row in found)}."
        )
    return found[0]


def row_number(connection: Connection, sha256: str) -> int:
    """The row of a source.

    Raises:
        StorageError: it is no longer there.
    """
    number = connection.scalar(select(models.sources.c.id).where(models.sources.c.sha256 == sha256))
    if number is None:
        raise StorageError(f"The source {sha256[:ID_DIGITS]} is no longer in the archive.")
    return int(number)


def anomalies_of(connection: Connection, source: int) -> Iterator[tuple[int, Anomaly]]:
    """What was wrong in the source of this row, with its number, in the order found."""
    table = models.anomalies
    for row in connection.execute(select(table).where(table.c.source_id == source).order_by(table.c.seq)):
        yield row[1], Anomaly(AnomalyKind(row[2]), *row[3:])
