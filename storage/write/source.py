"""Writing one source: its bytes, games and report, in one transaction."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, insert, select, update

from recorder.errors import StorageError
from recorder.model import Disposition, Game, SourceReport
from storage.files import driver_of
from storage.maintenance.removal import delete_games, delete_unused_players
from storage.mapping import ANOMALIES, SHAPES, Row
from storage.read.sources import ELSEWHERE, drop_kept, unpacked
from storage.schema import tables as models
from storage.write.chunks import ChunkCutter
from storage.write.corrections import rename_corrections
from storage.write.games import GameRows
from storage.write.rows import insert_sql

_CORRECTED = (
    "SELECT first_offset, key FROM games WHERE source_id = ? AND first_offset >= ?"
    " AND key IN (SELECT game_key FROM corrections)"
)
_INSERT_CHUNK = insert_sql("source_chunks")


class SourceWriter:
    """What ``Archive.write_source`` gives: everything one source has to say goes through here.

    Nothing is visible to others before the ``with`` block ends without an exception. ``keep_from`` is the offset at
    which ``keep`` goes on.
    """

    def __init__(
        self, connection: Connection, row_id: int, *, size_bytes: int, keep: bool, chunk_offset: int, rest: bytes
    ) -> None:
        self._connection = connection
        self._driver = driver = driver_of(connection)
        self.row_id = row_id
        self.keep_from = chunk_offset + len(rest)
        self._size_bytes = size_bytes
        self._keep = keep
        self._cutter = ChunkCutter(rest)
        self._chunk_offset = chunk_offset
        self._rows = GameRows(driver, row_id)
        self._finished = False
        self.corrected: list[tuple[int, str]] = []

    def resize(self, sha256: str, size_bytes: int) -> None:
        """The source is only so long: what comes behind is not taken yet."""
        self._size_bytes = size_bytes
        if self._keep:
            kept = self._cutter.rest
            while self._chunk_offset > size_bytes:
                self._chunk_offset, before = reopen_last_chunk(self._connection, self.row_id)
                kept = before + kept
            self._cutter = ChunkCutter(kept[: size_bytes - self._chunk_offset])
        self._driver.execute(  # ``finish`` stores how many are kept
            "UPDATE sources SET sha256 = ?, size_bytes = ?, kept_bytes = 0 WHERE id = ?",
            (sha256, size_bytes, self.row_id),
        )

    def keep(self, block: bytes) -> None:
        """Store the next bytes of the source, secrets already replaced. Does nothing if they are not to be kept.

        Blocks follow each other from ``keep_from`` on.
        """
        if self._keep:
            for chunk in self._cutter.receive(block):
                self.keep_chunk(*chunk)

    def keep_chunk(self, size_bytes: int, zstd: bytes) -> None:
        """Store the next bytes of the source, as a ``ChunkCutter`` gives them."""
        self._driver.execute(_INSERT_CHUNK, (self.row_id, self._chunk_offset, size_bytes, zstd))
        self._chunk_offset += size_bytes

    def keep_nothing(self) -> None:
        """Do not store the source's bytes after all, nor those that were stored before."""
        self._keep = False
        drop_kept(self._driver, self.row_id)

    def add_games(self, games: Sequence[Game]) -> None:
        """Store games of this source, each with all its observations.

        Of games with one key, that of the source with the least sha256 has it and the others have its successors in
        that order, whichever came first. Journals follow in the order of their names.
        """
        self._rows.add(games)

    def flush(self) -> None:
        """Insert what is held back."""
        self._rows.flush()

    def read_up_to(self, offset: int, unfinished: str | None) -> None:
        """Note that every game that begins before this offset is final; ``unfinished`` is as in ``SourceRow``."""
        self._driver.execute(
            "UPDATE sources SET read_up_to = ?, unfinished = ? WHERE id = ?", (offset, unfinished, self.row_id)
        )

    def finish(self, report: SourceReport) -> None:
        """Store what the pass found besides games, in place of an earlier report.

        StorageError: other bytes were kept than the source's size says.
        """
        if self._keep:
            for chunk in self._cutter.finish():
                self.keep_chunk(*chunk)
        self.flush()
        if self._keep and self._chunk_offset != self._size_bytes:
            raise StorageError(
                f"The source's size was given as {self._size_bytes} bytes, but {self._chunk_offset} were kept."
            )
        # By the driver: the row of a followed log changes every second or so.
        run = self._driver.execute
        run(
            "UPDATE sources SET server = ?, dialect = ?, me = ?, time_basis = ?, line_count = ?, warnings = ?, "
            "kept_bytes = coalesce(?, kept_bytes) WHERE id = ?",
            (
                report.server,
                report.dialect,
                report.me,
                report.time_basis.value,
                report.line_count,
                json.dumps(list(report.warnings)),
                self._chunk_offset if self._keep else None,
                self.row_id,
            ),
        )
        run("DELETE FROM source_counts WHERE source_id = ?", (self.row_id,))
        run("DELETE FROM source_shapes WHERE source_id = ?", (self.row_id,))
        run("DELETE FROM anomalies WHERE source_id = ?", (self.row_id,))
        self._insert(
            "source_counts",
            [
                *self._counts("<12>", report.frames),
                *self._counts("<b1>", report.holdings),
                *[(self.row_id, ELSEWHERE, what, count) for what, count in report.elsewhere.items()],
            ],
        )
        self._insert("source_shapes", [SHAPES.row(shape, self.row_id, seq) for seq, shape in enumerate(report.shapes)])
        self._insert(
            "anomalies",
            [ANOMALIES.row(found, self.row_id, seq) for seq, found in enumerate(report.anomalies)],
        )
        self._finished = True

    def _counts(self, tag: str, counts: dict[Disposition, int]) -> list[Row]:
        return [(self.row_id, tag, disposition.value, count) for disposition, count in counts.items()]

    def _insert(self, table: str, rows: list[Row]) -> None:
        if rows:
            self._driver.executemany(insert_sql(table), rows)

    def close(self) -> None:
        """Check at the end of the ``with`` block, before the commit, that ``finish`` was called."""
        if not self._finished:
            raise StorageError("A source was written without its report: call finish before the block ends.")
        if self.corrected:  # another server, for example, gives the games of a PGN other keys
            found = dict(
                self._driver.execute("SELECT first_offset, key FROM games WHERE source_id = ?", (self.row_id,))
            )
            there = set(found.values())
            keys = {old: found[offset] for offset, old in self.corrected if offset in found and old not in there}
            rename_corrections(self._driver, lambda key: keys.get(key, key))
        self._rows.touch()


def start_source(connection: Connection, values: dict[str, Any]) -> int:
    """Insert a source's row and return its number."""
    row = {
        "time_basis": "none",
        "read_up_to": 0,
        "kept_bytes": 0,
        "line_count": 0,
        "warnings": [],
        **values,
    }
    return int(connection.execute(insert(models.sources).values(**row).returning(models.sources.c.id)).scalar_one())


def continue_source(
    connection: Connection, row_id: int, read_up_to: int, values: dict[str, Any]
) -> list[tuple[int, str]]:
    """Prepare a source's row for its grown bytes: games from ``read_up_to`` on are not final and are stored again.

    Return offset and key of those that a person corrected.
    """
    corrected = driver_of(connection).execute(_CORRECTED, (row_id, read_up_to)).fetchall()
    connection.execute(update(models.sources).where(models.sources.c.id == row_id).values(**values))
    games = models.games.c
    delete_games(connection, select(games.id).where(games.source_id == row_id, games.first_offset >= read_up_to))
    delete_unused_players(connection)
    return corrected


def reopen_last_chunk(connection: Connection, row_id: int) -> tuple[int, bytes]:
    """Take the last kept chunk out to be continued, so that a growing log does not leave many small ones.

    Return its offset and bytes; 0 and none if nothing was kept.
    """
    driver = driver_of(connection)
    last = driver.execute(
        'SELECT "offset", zstd FROM source_chunks WHERE source_id = ? ORDER BY "offset" DESC LIMIT 1', (row_id,)
    ).fetchone()
    if last is None:
        return 0, b""
    driver.execute('DELETE FROM source_chunks WHERE source_id = ? AND "offset" = ?', (row_id, last[0]))
    return last[0], unpacked(last[1], f"zstd in the row of source_chunks with source_id {row_id}, offset {last[0]}")
