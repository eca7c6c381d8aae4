"""A source whose games are written while they go on: a row is there as soon as its line was read.

The strategy: games that are over are stored as an import stores them and never touched again. A game that goes on is
stored as it stands, and a ply more is one row more and a few numbers changed. Plies of such games have row numbers
below 0, each line with room to grow, so that the others stand close together as ever. When the game is over its rows
are deleted and it is stored like any other: nothing of how it came to be is left.

Until ``settle`` the source's row tells of fewer bytes than its games: whoever goes on from there deletes those games
and reads them again.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from recorder.errors import StorageError
from recorder.model import Game, GameEvent, HoldingsChange, PlyRow, SourceReport
from storage.files import driver_of, identity_of, make_engine, open_sqlite
from storage.maintenance.malformed import storage_error, storage_errors
from storage.maintenance.removal import delete_unused_players
from storage.mapping import EVENTS, HOLDINGS, PLY_LINES, SEGMENTS, game_row, observation_row, rows_of_observation
from storage.read.sources import UNFINISHED
from storage.settings import FORGOTTEN
from storage.write.games import GameRows
from storage.write.merged import dissolve, relate
from storage.write.rows import add_plies, insert_numbered, insert_sql
from storage.write.source import SourceWriter, reopen_last_chunk

__all__ = ["LivingSource", "OvertakenError", "GameProgress"]

_WAIT_MS: Final = 5_000  # for another writer; who waits longer comes again
_ROOM: Final = 128
_MANY_PAGES: Final = 8_000  # in the write-ahead log, which is begun anew then
_MANY_COMMITS: Final = 100  # a journal's sync waits behind what the disk is given at once: this takes it a moment
_MARK: Final = f"SELECT json_extract(restart_state, '$.{UNFINISHED}') FROM sources WHERE id = ?"
_FORGOTTEN: Final = f"SELECT name FROM settings WHERE name GLOB '{FORGOTTEN}*' ORDER BY name"
_GAMES: Final = "SELECT id FROM games WHERE source_id = ?"
_INSERT_EVENT: Final = insert_sql("events")
_INSERT_HOLDINGS: Final = insert_sql("holdings")
_OF_OBSERVATION: Final = ("events", "holdings", "thinking", "anchors", "ply_lines")


class OvertakenError(StorageError):
    """Another program has changed this source or replaced the archive: begin anew."""


@dataclass(slots=True)
class GameProgress:
    """Where a game that goes on stands.

    Attributes:
        game_id: its row. observations: rows of its observations. plies: first row number and count of every line.
        first, count, room: of the line that goes on. base_ms, base_offset: of its observation.
        at: which of ``plies`` it is. segment: its number in the game.
    """

    game_id: int
    observations: list[int]
    plies: list[tuple[int, int]] = field(default_factory=list)
    first: int = 0
    count: int = 0
    room: int = 0
    at: int = 0
    base_ms: int = 0
    base_offset: int = 0
    segment: int = -1


class _LivingRows(GameRows):
    """Rows of games that go on, besides those of games that are over."""

    def __init__(self, driver: sqlite3.Connection, source_id: int) -> None:
        super().__init__(driver, source_id)
        (lowest,) = driver.execute("SELECT min(id) FROM plies").fetchone()
        self._lowest = min(lowest or 0, 0)

    def show(self, game: Game, goes_on: int | None) -> GameProgress:
        """Take a game as it stands; ``goes_on``: the observation that plies will be added to."""
        batches = self._batches
        self._learn_players([game])
        place = GameProgress(self._next_game, [])
        self._next_game += 1
        white, black = self._player(game.server, game.white), self._player(game.server, game.black)
        batches["games"].append(game_row(game, place.game_id, white, black, self._source_id))
        self._held.append(game)
        for seq, seen in enumerate(game.observations):
            row_id = self._next_observation
            self._next_observation += 1
            place.observations.append(row_id)
            batches["observations"].append(observation_row(seen, row_id, self._source_id, place.game_id, seq))
            for name, rows in rows_of_observation(seen, row_id, 0):
                if name != "ply_lines":
                    batches[name] += rows
            base_ms = seen.started_at_ms or 0
            for line in seen.lines:
                count = len(line.plies)
                living = seq == goes_on and line.number == 0
                room = count + max(_ROOM, count) if living else count
                self._lowest -= room
                first = self._lowest
                values: list[Any] = []
                add_plies(values, line.plies, base_ms, seen.offset)
                insert_numbered(self._driver, values, first)
                batches["ply_lines"].append(PLY_LINES.row(line, row_id, first, count))
                place.plies.append((first, count))
                if living:
                    place.first, place.count, place.room = first, count, room
                    place.at = len(place.plies) - 1
                    place.base_ms, place.base_offset = base_ms, seen.offset
        for seq, part in enumerate(game.segments):
            batches["segments"].append(SEGMENTS.row(part, place.game_id, seq, place.observations[part.observation]))
            if part.observation == goes_on:
                place.segment = seq
        return place


class _Transaction:
    """A block of statements of a ``LivingSource``. A context manager of its own: one of ``contextlib`` costs thrice."""

    def __init__(self, source: LivingSource) -> None:
        self._source = source

    def __enter__(self) -> None:
        self._source.begin()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if error is None:
            self._source.commit()
        else:
            self._source.undo(error)


class LivingSource:
    """Writes one source that is in the archive already, again and again.

    Args:
        path: of the archive. sha256: of the source as it is stored. mark: what stands as ``UNFINISHED`` in its row.
    Raises:
        StorageError: from every method: the archive cannot be written. Then close it and begin anew.
        OvertakenError: as it says.
    """

    def __init__(self, path: Path, sha256: str, mark: str) -> None:
        self._path = path
        self._where = str(path)
        self._mark = mark
        self._engine = make_engine(path, foreign_keys=False)
        with storage_errors(path):
            self._connection = self._engine.connect()
            self._driver = driver_of(self._connection)
            self._run = self._driver.cursor().execute  # one cursor for all: to make one takes as long as a statement
            self._driver.execute(f"PRAGMA busy_timeout={_WAIT_MS}")
            self._driver.execute("PRAGMA wal_autocheckpoint=0")
            row = self._driver.execute("SELECT id, kept_bytes FROM sources WHERE sha256 = ?", (sha256,)).fetchone()
        if row is None:
            raise OvertakenError(f"The source {sha256[:12]} is no longer in {path}.")
        self._row_id: int = row[0]
        self._file = identity_of(path)
        self._version = -1
        self._forgotten: list[Any] = []  # whom and what the archive was told to forget
        self._rows: _LivingRows | None = None
        self._places: dict[int, GameProgress] = {}
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="checkpoint")
        self._checkpoint: Future[int] | None = None
        self._commits = 0  # since a checkpoint was begun
        self._dropped = False  # a game that goes on was stored anew: players of it may be left over

    @property
    def living(self) -> int:
        """How many games go on."""
        return len(self._places)

    def close(self) -> None:
        """Let go of the archive."""
        self._thread.shutdown()
        self._connection.close()
        self._engine.dispose()

    def transaction(self) -> AbstractContextManager[None]:
        """Whatever is written in the block is committed when it ends and undone when it raises."""
        return _Transaction(self)

    def begin(self) -> None:
        """Begin a transaction. It ends with ``commit`` or ``undo``; ``transaction`` calls all three."""
        try:
            self._run("BEGIN IMMEDIATE")
            (version,) = self._run("PRAGMA data_version").fetchone()
            if identity_of(self._where) != self._file:
                raise OvertakenError(f"{self._path} was replaced by another archive.")
            if version != self._version or self._rows is None:
                self._look_around(version)
        except BaseException as error:  # Ctrl-C, too, must not leave a transaction open
            self.undo(error)
            raise

    def commit(self) -> None:
        """Insert what is held back, and commit."""
        try:
            self._open_rows.flush()
            self._run("COMMIT")
        except BaseException as error:
            self.undo(error)
            raise
        self._commits += 1
        if self._commits >= _MANY_COMMITS:
            self.checkpoint()

    def undo(self, error: BaseException) -> None:
        """Undo what was written in a transaction; raises what there is to tell of the database's own errors."""
        if self._driver.in_transaction:
            with storage_errors(self._path):
                self._run("ROLLBACK")
        if (said := storage_error(self._path, error)) is not None:
            raise said from error

    def _look_around(self, version: int) -> None:
        """Make sure that everything is as this program left it; ``version``: of the archive, as SQLite counts."""
        found = self._driver.execute(_MARK, (self._row_id,)).fetchone()
        there = {number for (number,) in self._driver.execute(_GAMES, (self._row_id,))} if self._places else set()
        forgotten = self._driver.execute(_FORGOTTEN).fetchall()
        if self._version < 0:
            self._forgotten = forgotten
        if found != (self._mark,) or not there >= self._places.keys() or forgotten != self._forgotten:
            raise OvertakenError(f"Another program has changed the source {self._mark} in {self._path}.")
        self._version = version
        if self._rows is not None:
            self._rows.touch()
        self._rows = _LivingRows(self._driver, self._row_id)

    @property
    def _open_rows(self) -> _LivingRows:
        assert self._rows is not None, "outside a transaction"
        return self._rows

    # --- in a transaction

    def add_games(self, games: Sequence[Game]) -> None:
        """Store games that are over."""
        self._open_rows.add(games)

    def flush(self) -> None:
        """Insert what is held back."""
        self._open_rows.flush()

    def show(self, game: Game, goes_on: int | None, before: GameProgress | None) -> GameProgress:
        """Store a game as it stands.

        Args:
            goes_on: which of its observations gets more; None: none.
            before: where it stands now, for the last time.
        """
        if before is not None:
            self.hide(before)
        place = self._open_rows.show(game, goes_on)
        self._places[place.game_id] = place
        return place

    def hide(self, place: GameProgress) -> None:
        """Delete a game that is stored as it stood."""
        run = self._driver.execute
        dissolve(
            self._driver,
            [number for (number,) in run("SELECT merged_into FROM games WHERE id = ?", (place.game_id,)) if number],
        )
        run("DELETE FROM game_links WHERE game_id = ? OR other_game_id = ?", (place.game_id, place.game_id))
        run("DELETE FROM segments WHERE game_id = ?", (place.game_id,))
        for first, count in place.plies:
            if count:
                run("DELETE FROM plies WHERE id >= ? AND id < ?", (first, first + count))
        for number in place.observations:
            for table in _OF_OBSERVATION:
                run(f"DELETE FROM {table} WHERE observation_id = ?", (number,))
        run("DELETE FROM observations WHERE game_id = ?", (place.game_id,))
        run("DELETE FROM games WHERE id = ?", (place.game_id,))
        self._places.pop(place.game_id, None)
        self._dropped = True

    def has_room(self, place: GameProgress, plies: int) -> bool:
        """Whether so many plies can be added."""
        return place.segment >= 0 and place.count + plies <= place.room

    def gain(
        self,
        place: GameProgress,
        observation: int,
        plies: list[PlyRow],
        events: list[GameEvent],
        holdings: list[HoldingsChange],
        end_offset: int,
        ended_at_ms: int | None,
    ) -> None:
        """Add what a game has more; of plies no more than it has room for."""
        run = self._run
        number = place.observations[observation]
        if plies:
            values: list[Any] = []
            add_plies(values, plies, place.base_ms, place.base_offset)
            insert_numbered(self._driver, values, place.first + place.count)
            place.count += len(plies)
            place.plies[place.at] = (place.first, place.count)
            run("UPDATE ply_lines SET ply_count = ? WHERE observation_id = ? AND line_no = 0", (place.count, number))
            run(
                "UPDATE segments SET to_ply = ? WHERE game_id = ? AND seq = ?",
                (plies[-1][0], place.game_id, place.segment),
            )
        for event in events:
            run(_INSERT_EVENT, EVENTS.row(event, number, base_ms=place.base_ms))
        for change in holdings:
            run(_INSERT_HOLDINGS, HOLDINGS.row(change, number, base_ms=place.base_ms))
        run("UPDATE observations SET end_offset = ?, ended_at_ms = ? WHERE id = ?", (end_offset, ended_at_ms, number))
        run(
            "UPDATE games SET ply_count = ply_count + ?, ended_at_ms = coalesce(?, ended_at_ms), "
            "last_offset = max(last_offset, ?) WHERE id = ?",
            (len(plies), ended_at_ms, end_offset, place.game_id),
        )

    def relate(self) -> None:
        """Make the games of several sources that follow from those that are over."""
        self._open_rows.touch()
        relate(self._driver)
        self._rows = _LivingRows(self._driver, self._row_id)  # relating has numbered rows itself

    # --- by itself

    def settle(
        self,
        *,
        sha256: str,
        size_bytes: int,
        kept: Sequence[bytes] | None,
        drop: bool = False,
        restart: tuple[int, dict[str, Any]],
        report: SourceReport,
    ) -> None:
        """Let the source's row tell of all that was read, in one transaction.

        Args:
            sha256, size_bytes: of all its bytes.
            kept: those that came since the last time, secrets replaced; None: they are not kept.
            drop: those that were kept are to be kept no more.
            restart, report: as for ``SourceWriter``.
        """
        with self.transaction():
            connection = self._connection
            self._driver.execute(
                "UPDATE sources SET sha256 = ?, size_bytes = ? WHERE id = ?", (sha256, size_bytes, self._row_id)
            )
            offset, rest = (0, b"") if kept is None else reopen_last_chunk(connection, self._row_id)
            writer = SourceWriter(
                connection, self._row_id, size_bytes=size_bytes, keep=kept is not None, chunk_offset=offset, rest=rest
            )
            for block in kept or ():
                writer.keep(block)
            if drop:
                writer.keep_nothing()
            writer.restart(*restart)
            writer.finish(report)
            if self._dropped and not self._places:
                delete_unused_players(connection)
            self.relate()

    def checkpoint(self) -> None:
        """Have what was committed brought into the archive's file, some time.

        It waits for the disk, so a thread does it, unasked after many commits. What is written meanwhile stays in the
        write-ahead log, and only when nothing is left in it is it begun anew: if it has become long, this does the
        little that is left.
        """
        done = self._checkpoint
        if done is not None and not done.done():
            return
        if done is not None and done.result() > _MANY_PAGES:
            with storage_errors(self._path):
                self._driver.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
        self._commits = 0
        self._checkpoint = self._thread.submit(_checkpoint, self._path)


def _checkpoint(path: Path) -> int:
    """Bring what is in the write-ahead log into the file; how many pages stood there."""
    with suppress(sqlite3.Error), closing(open_sqlite(path)) as connection:  # the next one does it
        return int(connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()[1])
    return 0
