"""Writing one source: its bytes, games and report, in one transaction."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any

import zstandard
from sqlalchemy import Connection, delete, func, insert, select, update

from recorder.errors import StorageError
from recorder.model import Disposition, Game, SourceReport
from storage import models
from storage.gamerows import GameRows
from storage.mapping import Row, insert_sql
from storage.removal import delete_games, delete_unused_players, drop_kept

__all__ = [
    "CHUNK_BYTES",
    "SourceWriter",
    "continue_source",
    "reopen_last_chunk",
    "start_source",
]

CHUNK_BYTES = 1 << 20
"""Most decompressed bytes in one stored chunk."""

_INSERT_CHUNK = insert_sql(models.source_chunks)


class SourceWriter:
    """What ``Archive.write_source`` gives: everything one source has to say goes through here.

    Nothing is visible to others before the ``with`` block ends without an exception.

    Attributes:
        row_id: the source's row number.
        keep_from: offset at which ``keep`` goes on.
    """

    def __init__(
        self, connection: Connection, row_id: int, *, size_bytes: int, keep: bool, chunk_offset: int, rest: bytes
    ) -> None:
        self._connection = connection
        driver = connection.connection.driver_connection  # for what is done once a game or more often
        assert isinstance(driver, sqlite3.Connection)
        self._driver = driver
        self.row_id = row_id
        self.keep_from = chunk_offset + len(rest)
        self._size_bytes = size_bytes
        self._keep = keep
        self._pending = [rest] if rest else []
        self._pending_size = len(rest)
        self._chunk_offset = chunk_offset
        self._compressor = zstandard.ZstdCompressor(level=1)  # level 3: 1 % smaller, 40 % slower
        self._rows = GameRows(driver, row_id)
        self._finished = False

    def resize(self, sha256: str, size_bytes: int) -> None:
        """The source is only so long: what comes behind is not taken yet."""
        self._size_bytes = size_bytes
        values = {"sha256": sha256, "size_bytes": size_bytes, "kept_bytes": 0}  # ``finish`` tells how many
        if self._keep:
            kept = b"".join(self._pending)
            while self._chunk_offset > size_bytes:
                self._chunk_offset, before = reopen_last_chunk(self._connection, self.row_id)
                kept = before + kept
            self._pending = [kept[: size_bytes - self._chunk_offset]]
            self._pending_size = len(self._pending[0])
        self._connection.execute(update(models.sources).where(models.sources.c.id == self.row_id).values(values))

    def keep(self, block: bytes) -> None:
        """Store the next bytes of the source, secrets already replaced. Does nothing if they are not to be kept.

        Args:
            block: any length; blocks follow each other from ``keep_from`` on.
        """
        if not self._keep:
            return
        self._pending.append(block)
        self._pending_size += len(block)
        if self._pending_size >= CHUNK_BYTES:
            self._store_chunks(CHUNK_BYTES)

    def _store_chunks(self, least: int) -> None:
        """Store what is pending but for a rest of fewer than ``least`` bytes."""
        data = memoryview(b"".join(self._pending))
        done = 0
        while len(data) - done >= least and done < len(data):
            chunk = data[done : done + CHUNK_BYTES]
            self._driver.execute(
                _INSERT_CHUNK, (self.row_id, self._chunk_offset, len(chunk), self._compressor.compress(chunk))
            )
            done += len(chunk)
            self._chunk_offset += len(chunk)
        self._pending = [bytes(data[done:])]
        self._pending_size = len(data) - done

    def keep_nothing(self) -> None:
        """Do not store the source's bytes after all, nor those that were stored before."""
        self._keep = False
        self._pending.clear()
        drop_kept(self._driver, self.row_id)

    def add_games(self, games: Sequence[Game]) -> None:
        """Store games of this source, each with all its observations.

        Of games with one key, that of the source with the least sha256 has it and the others have its successors in
        that order, whichever came first.
        """
        self._rows.add(games)

    def flush(self) -> None:
        """Insert what is held back."""
        self._rows.flush()

    def restart(self, offset: int, state: dict[str, Any]) -> None:
        """Note where reading goes on when the source has grown.

        Args:
            offset: every game that begins before it is final; reading starts again there.
            state: what is needed to start there, as JSON values.
        """
        self._connection.execute(
            update(models.sources)
            .where(models.sources.c.id == self.row_id)
            .values(read_up_to=offset, restart_state=state)
        )

    def finish(self, report: SourceReport) -> None:
        """Store what the pass found besides games.

        It replaces an earlier report, so its counts must speak of all bytes; of the anomalies those before
        ``report.anomalies_from`` stay.
        """
        self._store_chunks(1)
        self.flush()
        connection, sources = self._connection, models.sources
        kept_bytes = {"kept_bytes": self._chunk_offset} if self._keep else {}
        if self._keep and self._chunk_offset != self._size_bytes:
            raise StorageError(
                f"The source's size was given as {self._size_bytes} bytes, but {self._chunk_offset} were kept."
            )
        connection.execute(
            update(sources)
            .where(sources.c.id == self.row_id)
            .values(
                server=report.server,
                dialect=report.dialect,
                me=report.me,
                time_basis=report.time_basis.value,
                line_count=report.line_count,
                warnings=list(report.warnings),
                **kept_bytes,
            )
        )
        for table in (models.source_counts, models.source_shapes):
            connection.execute(delete(table).where(table.c.source_id == self.row_id))
        of_source = models.anomalies.c.source_id == self.row_id
        connection.execute(
            delete(models.anomalies).where(of_source, models.anomalies.c.offset >= report.anomalies_from)
        )
        kept = connection.scalar(select(func.max(models.anomalies.c.seq)).where(of_source))
        first_seq = 0 if kept is None else kept + 1
        self._insert(
            models.source_counts, [*self._counts("<12>", report.frames), *self._counts("<b1>", report.holdings)]
        )
        self._insert(models.source_shapes, [(self.row_id, seq, *shape) for seq, shape in enumerate(report.shapes)])
        self._insert(
            models.anomalies,
            [(self.row_id, seq, found.kind.value, *found[1:]) for seq, found in enumerate(report.anomalies, first_seq)],
        )
        self._finished = True

    def _counts(self, tag: str, counts: dict[Disposition, int]) -> list[Row]:
        return [(self.row_id, tag, disposition.value, count) for disposition, count in counts.items()]

    def _insert(self, table: Any, rows: list[Row]) -> None:
        if rows:
            self._connection.exec_driver_sql(insert_sql(table), rows)

    def close(self) -> None:
        """Called at the end of the ``with`` block, before the commit.

        Raises:
            StorageError: ``finish`` was not called.
        """
        if not self._finished:
            raise StorageError("A source was written without its report: call finish before the block ends.")


def start_source(connection: Connection, values: dict[str, Any]) -> int:
    """Insert a source's row and return its number."""
    row = {
        "time_basis": "none",
        "read_up_to": 0,
        "restart_state": {},
        "kept_bytes": 0,
        "line_count": 0,
        "warnings": [],
        **values,
    }
    return int(connection.execute(insert(models.sources).values(**row).returning(models.sources.c.id)).scalar_one())


def continue_source(connection: Connection, row_id: int, read_up_to: int, values: dict[str, Any]) -> None:
    """Prepare a source's row for its grown bytes: games that began after the restart mark are read again."""
    connection.execute(update(models.sources).where(models.sources.c.id == row_id).values(**values))
    games = models.games.c
    delete_games(connection, select(games.id).where(games.source_id == row_id, games.first_offset >= read_up_to))
    delete_unused_players(connection)


def reopen_last_chunk(connection: Connection, row_id: int) -> tuple[int, bytes]:
    """Take the last kept chunk out to be continued, so that a growing log does not leave many small ones.

    Returns:
        Its offset and bytes; 0 and none if nothing was kept.
    """
    chunks = models.source_chunks.c
    query = select(chunks.offset, chunks.zstd).where(chunks.source_id == row_id).order_by(chunks.offset.desc()).limit(1)
    last = connection.execute(query).first()
    if last is None:
        return 0, b""
    connection.execute(delete(models.source_chunks).where(chunks.source_id == row_id, chunks.offset == last.offset))
    return last.offset, zstandard.ZstdDecompressor().decompress(last.zstd)
