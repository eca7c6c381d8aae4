"""The rows of ``sources`` as the rest of the program sees them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, func, or_, select, true

from recorder.errors import StorageError
from recorder.model import Anomaly, AnomalyKind, Disposition, Shape, SourceReport, TimeBasis
from storage import models

__all__ = [
    "ELSEWHERE",
    "report_of",
    "sources_of_game",
    "ID_DIGITS",
    "READ_AGAIN",
    "SourceRow",
    "anomalies_of",
    "one_source",
    "row_number",
    "source_rows",
]

ELSEWHERE = "elsewhere"
"""The tag under which the counts of a report's ``elsewhere`` are kept."""
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

    @property
    def lacks_player(self) -> bool:
        """Whether somebody was left out of it, and of what is kept of it, who is wanted now."""
        return self.parser_version == READ_AGAIN


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


def report_of(connection: Connection, row: SourceRow) -> SourceReport:
    """The report of a source as it was stored when it was written."""
    number = row_number(connection, row.sha256)
    report = SourceReport(row.kind, row.server, row.dialect, row.me, row.time_basis, row.size_bytes, row.line_count)
    counts, shapes = models.source_counts.c, models.source_shapes.c
    for tag, word, count in connection.execute(
        select(counts.tag, counts.disposition, counts["count"]).where(counts.source_id == number)
    ):
        if tag == ELSEWHERE:
            report.elsewhere[word] = count
        else:
            (report.frames if tag == "<12>" else report.holdings)[Disposition(word)] = count
    report.shapes = [
        Shape(*found)
        for found in connection.execute(
            select(shapes.shape, shapes.lines, shapes.first_offset)
            .where(shapes.source_id == number)
            .order_by(shapes.seq)
        )
    ]
    report.anomalies = [found for _, found in anomalies_of(connection, number)]
    report.warnings = list(row.warnings)
    return report


def sources_of_game(connection: Connection, game_id: int) -> list[SourceRow]:
    """The sources that witness a game, first the one its offsets are in."""
    seen, games, sources = models.observations.c, models.games.c, models.sources.c
    members = select(games.id).where(or_(games.id == game_id, games.merged_into == game_id))
    leads = select(games.source_id).where(games.id.in_(members), games.source_id.is_not(None))
    first = connection.scalar(leads.order_by(games.key).limit(1))
    numbers = {first, *connection.scalars(select(seen.source_id).where(seen.game_id.in_(members)))}
    hashes = dict(connection.execute(select(sources.sha256, sources.id).where(sources.id.in_(numbers))).fetchall())
    rows = [row for row in source_rows(connection) if row.sha256 in hashes]
    return sorted(rows, key=lambda row: hashes[row.sha256] != first)
