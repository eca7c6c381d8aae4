"""Writing one source: its bytes, games and report, in one transaction."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterable
from typing import Any

import zstandard
from sqlalchemy import Connection, delete, func, insert, select, update

from recorder.errors import StorageError
from recorder.model import Disposition, Game, Player, SourceReport
from storage import models
from storage.mapping import Row, game_row, insert_sql, observation_row, rows_of_observation
from storage.plyrows import add_values, insert_plies
from storage.query import fold
from storage.removal import delete_games, delete_unused_players

__all__ = [
    "BATCH_EVENTS",
    "BATCH_VALUES",
    "CHUNK_BYTES",
    "KNOWN_PLAYERS",
    "SourceWriter",
    "continue_source",
    "reopen_last_chunk",
    "start_source",
]

CHUNK_BYTES = 1 << 20
"""Most decompressed bytes in one stored chunk."""

BATCH_VALUES = 120_000
"""Values of plies (12 each) held back before they are inserted."""

BATCH_EVENTS = 10_000
"""Events held back at most."""

KNOWN_PLAYERS = 20_000
"""Players whose row numbers are remembered."""

_TABLES = (
    "players",
    "games",
    "observations",
    "ply_lines",
    "anchors",
    "holdings",
    "events",
    "segments",
)  # parents first
_INSERTS = {name: insert_sql(models.metadata.tables[name]) for name in _TABLES}
_INSERT_CHUNK = insert_sql(models.source_chunks)
_FIND_PLAYER = "SELECT id FROM players WHERE server = ? AND handle_folded = ?"
_FIND_KEY = "SELECT games.id, sha256 FROM games JOIN sources ON sources.id = source_id WHERE key = ?"
_SHA256 = "SELECT sha256 FROM sources WHERE id = ?"


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
        self._batches: dict[str, list[Row]] = {name: [] for name in _TABLES}
        self._ply_values: list[Any] = []
        self._pending_keys: set[str] = set()
        self._next_game = self._next_id(models.games)
        self._next_observation = self._next_id(models.observations)
        self._next_ply = self._next_id(models.plies)
        self._next_player = self._next_id(models.players)
        self._players: dict[tuple[str, str], int] = {}
        self._finished = False

    def _next_id(self, table: Any) -> int:
        return (self._connection.scalar(select(func.max(table.c.id))) or 0) + 1

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

    def add_games(self, games: Iterable[Game]) -> None:
        """Store games of this source, each with all its observations.

        Until witnesses are merged, two sources of one game are two games: of games with one key, that of the source
        with the least sha256 has it and the others have its successors in that order, whichever came first.
        """
        batches = self._batches
        for game in games:
            key = self._key(game.key)
            game_id = self._next_game
            self._next_game += 1
            white, black = self._player(game.server, game.white), self._player(game.server, game.black)
            batches["games"].append(game_row(game, key, game_id, white, black, self.row_id))
            first = self._next_observation
            for seq, seen in enumerate(game.observations):
                row_id = self._next_observation
                self._next_observation += 1
                batches["observations"].append(observation_row(seen, row_id, self.row_id, game_id, seq))
                for name, rows in rows_of_observation(seen, row_id, self._next_ply):
                    batches[name] += rows
                for line in seen.lines:
                    add_values(self._ply_values, line.plies, seen.started_at_ms or 0, seen.offset)
                    self._next_ply += len(line.plies)
            batches["segments"] += [
                (game_id, seq, part.from_ply, part.to_ply, first + part.observation)
                for seq, part in enumerate(game.segments)
            ]
            if len(self._ply_values) >= BATCH_VALUES or len(batches["events"]) >= BATCH_EVENTS:
                self.flush()

    def flush(self) -> None:
        """Insert what is held back."""
        for name, rows in self._batches.items():
            self._driver.executemany(_INSERTS[name], rows)
            rows.clear()
        insert_plies(self._driver, self._ply_values)
        self._ply_values.clear()
        self._pending_keys.clear()
        if len(self._players) > KNOWN_PLAYERS:
            self._players.clear()

    def _key(self, wanted: str) -> str:
        """The key for a game; games of other sources may have to move up to a later successor."""
        key = wanted
        if key in self._pending_keys or self._driver.execute(_FIND_KEY, (key,)).fetchone():
            self.flush()
            (mine,) = self._driver.execute(_SHA256, (self.row_id,)).fetchone()
            later: list[tuple[int, str]] = []
            number = 1
            while found := self._driver.execute(_FIND_KEY, (key,)).fetchone():
                if later or found[1] > mine:
                    later.append((found[0], key))
                number += 1
                key = hashlib.sha256(f"{wanted}:{number}".encode()).hexdigest()[: len(wanted)]
            for game_id, its in reversed(later):
                self._driver.execute("UPDATE games SET key = ? WHERE id = ?", (key, game_id))
                key = its
        self._pending_keys.add(key)
        return key

    def _player(self, server: str | None, player: Player) -> int:
        place = (server or "", fold(player.handle))
        known = self._players.get(place)
        if known is not None:
            return known
        row = self._driver.execute(_FIND_PLAYER, place).fetchone()
        if row is None:
            row = (self._next_player,)
            self._next_player += 1
            self._batches["players"].append((*row, place[0], player.handle, place[1]))
        self._players[place] = number = int(row[0])
        return number

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
        self.flush()
        self._store_chunks(1)
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
