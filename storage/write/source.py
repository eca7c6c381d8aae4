"""Writing one source: its bytes, games and report, in one transaction, or again and again while it grows.

``SourceWriter`` is for a source that is read to its end. ``SourceInProgress`` is for one that is being written: games
that are over are stored as an import stores them and never touched again. A game in progress is stored as it stands, by
the same writer; when it has changed, its rows are deleted and it is stored again under the same row number of
``games``. Its observations and plies have row numbers below 0, so that the rows of games that are over have no gaps
between them. When it is over, its rows are deleted and it is stored like any other.

Until ``settle`` the source's row contains fewer bytes than its games: a program that continues from there deletes those
games and reads them again.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import Any, Final

import zstandard

from recorder.errors import StorageError
from recorder.model import Game, SourceReport
from storage.files import identity_of, open_to_write, storage_error, storage_errors
from storage.maintenance.removal import delete_games, delete_rows, delete_unused_players
from storage.mapping import ANOMALIES, SHAPES, Row
from storage.read.sources import ELSEWHERE, drop_kept, unpacked
from storage.settings import FORGOTTEN, mark_changed
from storage.write.corrections import rename_corrections
from storage.write.games import GameRows
from storage.write.merged import relate, touch
from storage.write.rows import insert_sql

CHUNK_BYTES = 1 << 20


class ChunkCutter:
    """``rest`` begins the first chunk."""

    def __init__(self, rest: bytes = b"") -> None:
        self._pending = [rest]
        self._size = len(rest)
        self._compressor = zstandard.ZstdCompressor(level=1, write_checksum=True)  # level 3: 1 % smaller, 40 % slower

    @property
    def rest(self) -> bytes:
        return b"".join(self._pending)

    def receive(self, block: bytes) -> Iterator[tuple[int, bytes]]:
        """Yields the size of each full chunk, and the chunk compressed."""
        self._pending.append(block)
        self._size += len(block)
        if self._size >= CHUNK_BYTES:
            yield from self._cut(CHUNK_BYTES)

    def finish(self) -> Iterator[tuple[int, bytes]]:
        return self._cut(1)

    def _cut(self, least: int) -> Iterator[tuple[int, bytes]]:
        data = memoryview(self.rest)
        done = 0
        while len(data) - done >= least:
            chunk = data[done : done + CHUNK_BYTES]
            yield len(chunk), self._compressor.compress(chunk)
            done += len(chunk)
        self._pending = [bytes(data[done:])]
        self._size = len(data) - done


_CORRECTED = (
    "SELECT first_offset, key FROM games WHERE source_id = ? AND first_offset >= ?"
    " AND key IN (SELECT game_key FROM corrections)"
)
_INSERT_CHUNK = insert_sql("source_chunks")


class SourceWriter:
    """Nothing is visible to others before the block ends; ``keep_from`` is where ``keep`` goes on."""

    def __init__(
        self, driver: sqlite3.Connection, row_id: int, *, size_bytes: int, keep: bool, chunk_offset: int, rest: bytes
    ) -> None:
        self._driver = driver
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
        """What comes behind is not taken yet."""
        self._size_bytes = size_bytes
        if self._keep:
            kept = self._cutter.rest
            while self._chunk_offset > size_bytes:
                self._chunk_offset, before = reopen_last_chunk(self._driver, self.row_id)
                kept = before + kept
            self._cutter = ChunkCutter(kept[: size_bytes - self._chunk_offset])
        self._driver.execute(  # ``finish`` stores how many are kept
            "UPDATE sources SET sha256 = ?, size_bytes = ?, kept_bytes = 0 WHERE id = ?",
            (sha256, size_bytes, self.row_id),
        )

    def keep(self, block: bytes) -> None:
        """Secrets are replaced already; blocks follow each other from ``keep_from`` on."""
        if self._keep:
            for chunk in self._cutter.receive(block):
                self.keep_chunk(*chunk)

    def keep_chunk(self, size_bytes: int, zstd: bytes) -> None:
        self._driver.execute(_INSERT_CHUNK, (self.row_id, self._chunk_offset, size_bytes, zstd))
        self._chunk_offset += size_bytes

    def keep_nothing(self) -> None:
        """Nor those that were stored before."""
        self._keep = False
        drop_kept(self._driver, self.row_id)

    def add_games(self, games: Sequence[Game]) -> None:
        """Of games with one key, that of the source with the least sha256 has it; the others have its successors."""
        self._rows.add(games)

    def flush(self) -> None:
        self._rows.flush()

    def finish(self, report: SourceReport, read_up_to: int = 0, unfinished: str | None = None) -> None:
        """In place of an earlier report; StorageError: other bytes were kept than the source's size says."""
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
            "read_up_to = ?, unfinished = ?, kept_bytes = coalesce(?, kept_bytes) WHERE id = ?",
            (
                report.server,
                report.dialect,
                report.me,
                report.time_basis.value,
                report.line_count,
                json.dumps(list(report.warnings)),
                read_up_to,
                unfinished,
                self._chunk_offset if self._keep else None,
                self.row_id,
            ),
        )
        tables: dict[str, list[Row]] = {
            "source_counts": [
                *((self.row_id, "<12>", what.value, count) for what, count in report.frames.items()),
                *((self.row_id, "<b1>", what.value, count) for what, count in report.holdings.items()),
                *((self.row_id, ELSEWHERE, line, count) for line, count in report.elsewhere.items()),
            ],
            "source_shapes": [SHAPES.row(shape, self.row_id, seq) for seq, shape in enumerate(report.shapes)],
            "anomalies": [ANOMALIES.row(anomaly, self.row_id, seq) for seq, anomaly in enumerate(report.anomalies)],
        }
        for table, rows in tables.items():
            run(f"DELETE FROM {table} WHERE source_id = ?", (self.row_id,))
            if rows:
                self._driver.executemany(insert_sql(table), rows)
        self._finished = True

    def close(self) -> None:
        """Before the commit."""
        if not self._finished:
            raise StorageError("A source was written without its report: call finish before the block ends.")
        if self.corrected:  # another server, for example, gives the games of a PGN other keys
            numbers = dict(
                self._driver.execute("SELECT first_offset, key FROM games WHERE source_id = ?", (self.row_id,))
            )
            there = set(numbers.values())
            keys = {old: numbers[offset] for offset, old in self.corrected if offset in numbers and old not in there}
            rename_corrections(self._driver, lambda key: keys.get(key, key))
        self._rows.touch()


def start_source(driver: sqlite3.Connection, values: dict[str, Any]) -> int:
    """Returns its number."""
    row = {"time_basis": "none", "read_up_to": 0, "kept_bytes": 0, "line_count": 0, "warnings": "[]", **_stored(values)}
    into = f"INSERT INTO sources ({', '.join(row)}) VALUES ({', '.join('?' * len(row))}) RETURNING id"
    return int(driver.execute(into, list(row.values())).fetchone()[0])


def _stored(values: dict[str, Any]) -> dict[str, Any]:
    return values | {"options": json.dumps(values["options"])}


def continue_source(
    driver: sqlite3.Connection, row_id: int, read_up_to: int, values: dict[str, Any]
) -> list[tuple[int, str]]:
    """Games from ``read_up_to`` on are stored again; returns offset and key of those that a person corrected."""
    corrected = driver.execute(_CORRECTED, (row_id, read_up_to)).fetchall()
    changes = ", ".join(f"{name} = ?" for name in values)
    driver.execute(f"UPDATE sources SET {changes} WHERE id = ?", (*_stored(values).values(), row_id))
    query = "SELECT id FROM games WHERE source_id = ? AND first_offset >= ?"
    delete_games(driver, [number for (number,) in driver.execute(query, (row_id, read_up_to))])
    delete_unused_players(driver)
    return corrected


def reopen_last_chunk(driver: sqlite3.Connection, row_id: int) -> tuple[int, bytes]:
    """So that a growing log does not leave many small ones; 0 and no bytes if nothing was kept."""
    last = driver.execute(
        'SELECT "offset", zstd FROM source_chunks WHERE source_id = ? ORDER BY "offset" DESC LIMIT 1', (row_id,)
    ).fetchone()
    if last is None:
        return 0, b""
    driver.execute('DELETE FROM source_chunks WHERE source_id = ? AND "offset" = ?', (row_id, last[0]))
    return last[0], unpacked(last[1], f"zstd in the row of source_chunks with source_id {row_id}, offset {last[0]}")


_WAIT_MS: Final = 5_000  # for another writer; who waits longer comes again
_MANY_COMMITS: Final = 100  # a journal's sync waits behind what the disk is given at once: this takes it a moment
_MARK: Final = "SELECT unfinished FROM sources WHERE id = ?"
_FORGOTTEN: Final = f"SELECT name FROM settings WHERE name GLOB '{FORGOTTEN}*' ORDER BY name"
_GAMES: Final = "SELECT id FROM games WHERE source_id = ?"


class OvertakenError(StorageError):
    """Another program has changed this source or replaced the archive: read the source again."""


class _RowsInProgress(GameRows):
    def __init__(self, driver: sqlite3.Connection, source_id: int, games: Sequence[Game]) -> None:
        super().__init__(driver, source_id)
        views = [observation for game in games for observation in game.observations]
        self._next_observation = self._below("observations", len(views))
        self._next_ply = self._below("plies", sum(len(line.rows) for view in views for line in view.lines))

    def _below(self, table: str, count: int) -> int:
        """The number behind them is below 0, too."""
        (lowest,) = self._driver.execute(f"SELECT min(id) FROM {table}").fetchone()
        return min(lowest or 0, 0) - 1 - count

    def add_as(self, game: Game, game_id: int | None) -> int:
        """Return its row number, which is a new one if ``game_id`` is None."""
        self._learn_players([game])
        if game_id is None:
            game_id = self._next_game
            self._next_game += 1
        self._add(game, game_id)
        return game_id


class SourceInProgress:
    """``in_progress``: rows of games stored as they stand. After a StorageError, close it and start again."""

    def __init__(self, path: Path, sha256: str, mark: str) -> None:
        self._path = path
        self._where = str(path)
        self._mark = mark
        with storage_errors(path), ExitStack() as opened:
            self._driver = opened.enter_context(closing(open_to_write(path)))
            self._driver.execute(f"PRAGMA busy_timeout={_WAIT_MS}")
            self._driver.execute("PRAGMA wal_autocheckpoint=0")
            row = self._driver.execute("SELECT id FROM sources WHERE sha256 = ?", (sha256,)).fetchone()
            if row is None:
                raise OvertakenError(f"The source {sha256[:12]} is no longer in {path}.")
            opened.pop_all()
        self._row_id: int = row[0]
        self._file = identity_of(path)
        self._version = -1
        self._forgotten: list[Any] = []  # players and sources that the archive forgets
        self._rows: GameRows | None = None  # in a transaction
        self.in_progress: set[int] = set()
        self._commits = 0  # since the last checkpoint
        self._removed = False  # a game in progress was removed: players of it may be left over

    def close(self) -> None:
        self._driver.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        try:
            self._begin()
            yield
            self.commit()
        except BaseException as error:  # Ctrl-C, too, must not leave a transaction open
            if self._driver.in_transaction:
                with storage_errors(self._path):
                    self._driver.execute("ROLLBACK")
            if (failure := storage_error(self._path, error)) is not None:
                raise failure from error
            raise
        finally:
            self._rows = None

    def _begin(self) -> None:
        """OvertakenError: another program has changed the source."""
        self._driver.execute("BEGIN IMMEDIATE")
        (version,) = self._driver.execute("PRAGMA data_version").fetchone()
        if identity_of(self._where) != self._file:
            raise OvertakenError(f"{self._path} was replaced by another archive.")
        if version != self._version:
            self._look_around(version)
        self._rows = GameRows(self._driver, self._row_id)

    def commit(self) -> None:
        self._open_rows.touch()
        mark_changed(self._driver)
        self._driver.execute("COMMIT")
        self._commits += 1
        if self._commits >= _MANY_COMMITS:
            self.checkpoint()

    def _look_around(self, version: int) -> None:
        """``version`` counts commits of other connections."""
        mark = self._driver.execute(_MARK, (self._row_id,)).fetchone()
        there = {number for (number,) in self._driver.execute(_GAMES, (self._row_id,))} if self.in_progress else set()
        forgotten = self._driver.execute(_FORGOTTEN).fetchall()
        if self._version < 0:
            self._forgotten = forgotten
        if mark != (self._mark,) or not there >= self.in_progress or forgotten != self._forgotten:
            raise OvertakenError(f"Another program has changed the source {self._mark} in {self._path}.")
        self._version = version

    @property
    def _open_rows(self) -> GameRows:
        assert self._rows is not None, "outside a transaction"
        return self._rows

    # --- in a transaction

    def add_games(self, games: Sequence[Game]) -> None:
        self._open_rows.add(games)

    def replace(self, games: Sequence[tuple[int | None, Game]]) -> list[int]:
        """Each with its row number if it was stored before; returns the row numbers."""
        if not games:
            return []
        self._open_rows.touch()
        rows = _RowsInProgress(self._driver, self._row_id, [game for _, game in games])
        for number, _ in games:
            if number is not None:
                self._delete(number)
        numbers = [rows.add_as(game, number) for number, game in games]
        rows.flush()
        for number in numbers:
            touch(self._driver, "VALUES (?)", (number,))
        self.in_progress.update(numbers)
        self._rows = GameRows(self._driver, self._row_id)
        return numbers

    def remove(self, number: int) -> None:
        self._delete(number)
        self._driver.execute("DELETE FROM game_links WHERE game_id = ? OR other_game_id = ?", (number, number))
        self.in_progress.discard(number)

    def _delete(self, number: int) -> None:
        delete_rows(self._driver, [number])
        self._removed = True

    def relate(self) -> None:
        self._open_rows.touch()
        relate(self._driver)

    # --- by itself

    def settle(
        self,
        *,
        sha256: str,
        size_bytes: int,
        kept: Sequence[bytes] | None,
        drop: bool = False,
        read_up_to: int,
        unfinished: str | None,
        report: SourceReport,
    ) -> None:
        """``kept``: bytes since the last time, None: not kept; ``drop``: those that were kept are kept no more."""
        with self.transaction():
            driver = self._driver
            driver.execute(
                "UPDATE sources SET sha256 = ?, size_bytes = ? WHERE id = ?", (sha256, size_bytes, self._row_id)
            )
            offset, rest = (0, b"") if kept is None else reopen_last_chunk(driver, self._row_id)
            writer = SourceWriter(
                driver, self._row_id, size_bytes=size_bytes, keep=kept is not None, chunk_offset=offset, rest=rest
            )
            for block in kept or ():
                writer.keep(block)
            if drop:
                writer.keep_nothing()
            writer.finish(report, read_up_to, unfinished)
            if self._removed and not self.in_progress:
                delete_unused_players(driver)
            self.relate()

    def checkpoint(self) -> None:
        """Have what was committed brought into the archive's file, as far as no reader needs it as it was."""
        self._commits = 0
        with suppress(sqlite3.Error):  # the next one does it
            self._driver.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
