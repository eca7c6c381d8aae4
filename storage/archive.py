"""The archive as the rest of the program sees it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, Self

from recorder.files import Closing
from recorder.model import Anomaly, AnomalyKind, Game, SourceReport
from storage.analyses import ArchiveAnalyses
from storage.database import Database
from storage.duplicates import DuplicateGames
from storage.erasures import Erasures
from storage.files import driver_of
from storage.maintenance.malformed import storage_errors
from storage.positions import PositionIndex
from storage.read.game_filter import ALL_PLAYED, GameFilter
from storage.read.games import load_games
from storage.read.listing import ListedGame, ListOrder, ListPlace, list_games, place_of, rank_of, results_of, within
from storage.read.query import (
    count_by_handle,
    count_each,
    count_games,
    count_outcomes,
    count_unknown,
    game_ids,
    resolve,
)
from storage.read.sources import (
    SourceRow,
    anomalies_of,
    beginnings_of,
    conflicts_of,
    count_games_of,
    count_serverless,
    drop_kept,
    one_source,
    packed_timing,
    read_kept,
    report_of,
    row_number,
    source_paths,
    source_rows,
    sources_of_game,
    timing_of,
    unended_games_of,
)
from storage.settings import content_version, recall_source
from storage.write.games import find_successors, order_of_sources, restore_order
from storage.write.merged import stale

if TYPE_CHECKING:
    from storage.read.columns import ColumnReader
    from storage.write.source import SourceWriter


class ArchiveStore(Closing):
    """Games and their sources in one SQLite file. No connection stays open between reads and transactions."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.path = database.path
        self.analyses = ArchiveAnalyses(database)
        self.duplicates = DuplicateGames(database)
        self.erasures = Erasures(database)
        self.positions = PositionIndex(database)

    @classmethod
    def open(cls, where: str, *, create: bool = False, read_only: bool = False) -> Self:
        """Open an archive. ``create`` makes it (mode 0600) if it is not there."""
        return cls(Database.open(where, create=create, read_only=read_only))

    def snapshot(self) -> AbstractContextManager[None]:
        """What is read in the block is of one moment, even while another program writes."""
        return self._database.snapshot()

    def watch_changes(self) -> AbstractContextManager[Callable[[], bool]]:
        """Watch for transactions of other connections.

        The function says whether one was committed since the block began. Any thread may call it. It also counts those
        before a snapshot that begins later.
        """
        return self._database.watch_changes()

    def transaction(self) -> AbstractContextManager[None]:
        """What is read and written in the block is one transaction: undone when it raises."""
        return self._database.transaction()

    def vacuum(self) -> None:
        """Rewrite the file: afterwards no deleted data is in it or in its write-ahead log."""
        self._database.vacuum()

    @contextmanager
    def columns(self, *, arrow: bool = True) -> Iterator[ColumnReader]:
        """Main lines as arrays, all of one moment, and so is what is read of the archive in the block.

        ``arrow`` uses ADBC if the extra ``arrow`` is installed; the answers are the same without it.
        """
        from storage.read.columns import column_reader

        with (
            storage_errors(self.path),
            column_reader(self.path, read_only=self._database.read_only, arrow=arrow) as (driver, reader),
            self._database.reading_from(driver),
        ):
            yield reader

    # --- sources

    def sources(self) -> list[SourceRow]:
        """All sources, by name and then by sha256."""
        with self._database.reading() as driver:
            return source_rows(driver)

    def source(self, source_id: str) -> SourceRow:
        """The source whose id begins with ``source_id``."""
        with self._database.reading() as driver:
            return one_source(driver, source_id)

    def growth_candidates(self) -> list[tuple[int, str]]:
        """Size and SHA-256 of each known source that is not empty: a file whose first bytes have it continues it.

        They are ascending, without the rest of the rows, since every file that is imported asks for them.
        """
        with self._database.reading() as driver:
            query = "SELECT size_bytes, sha256 FROM sources WHERE size_bytes > 0 ORDER BY size_bytes, sha256"
            return driver.execute(query).fetchall()

    def content_version(self) -> str | None:
        """A word that differs after each change of the archive; None: not known."""
        with self._database.reading() as driver:
            return content_version(driver)

    def report(self, source_id: str) -> SourceReport:
        """The report that ``SourceWriter.finish`` stored."""
        with self._database.reading() as driver:
            row = one_source(driver, source_id)
            return report_of(driver, row)

    def anomalies(self, source_id: str | None = None) -> Iterator[tuple[SourceRow, Anomaly]]:
        """What was wrong, with the source it is in, by source and then in the order found."""
        with self._database.reading() as driver:
            rows = source_rows(driver) if source_id is None else [one_source(driver, source_id)]
            for row in rows:
                for _, found in anomalies_of(driver, row_number(driver, row.sha256)):
                    yield row, found

    def anomaly_kinds(self, sha256: str) -> frozenset[AnomalyKind]:
        """Kinds of the anomalies of a source; empty if there is no such source."""
        query = "SELECT DISTINCT kind FROM anomalies WHERE source_id = (SELECT id FROM sources WHERE sha256 = ?)"
        with self._database.reading() as driver:
            return frozenset(AnomalyKind(kind) for (kind,) in driver.execute(query, (sha256,)))

    def game_sources(self, key: str) -> list[SourceRow]:
        """The sources of a game (``key`` as stored), first the one its offsets are in."""
        with self._database.reading() as driver:
            return sources_of_game(driver, resolve(driver, key))

    def read_source(self, source_id: str, offset: int = 0, length: int | None = None) -> Iterator[bytes]:
        """The kept bytes of a source, in order, in blocks of at most 1 MiB."""
        with self._database.reading() as driver:
            row = one_source(driver, source_id)
            yield from read_kept(driver, row, offset, length)

    def beginnings(self, hashes: Collection[str], length: int) -> dict[str, bytes]:
        """Return the first kept bytes, at most 64 KiB, of several sources by SHA-256.

        Those without kept bytes are missing.
        """
        with self._database.reading() as driver:
            return beginnings_of(driver, hashes, length)

    def source_timing(self, source_id: str) -> bytes | None:
        """The timing file a kept typescript was read with; None where there was none or the source is not kept."""
        with self._database.reading() as driver:
            row = one_source(driver, source_id)
            return timing_of(driver, row)

    def move_source(self, sha256: str, path: str) -> None:
        """A source's file stands elsewhere now, an absolute path."""
        with self._database.writing() as connection:
            driver_of(connection).execute("UPDATE sources SET path = ? WHERE sha256 = ?", (path, sha256))

    def successors(self) -> dict[str, str]:
        """Keys that games have because another game has theirs, with the keys that they would have alone."""
        with self._database.reading() as driver:
            chains = find_successors(driver)
            return {key: wanted for wanted, chain in chains.items() for key in chain[1:]}

    def order_equal_keys(self, other: ArchiveStore) -> None:
        """Give games with equal keys the order that they have in an archive of the same sources.

        It depends on what those sources were when the games were read, if they have grown since.
        """
        with other._database.reading() as driver:
            wanted = order_of_sources(driver)
        with self._database.writing() as connection:
            restore_order(driver_of(connection), wanted)

    @contextmanager
    def write_source(
        self,
        *,
        sha256: str,
        size_bytes: int,
        name: str,
        path: str | None,
        kind: str,
        keep: bool,
        parser_version: str,
        options: dict[str, Any],
        timing: bytes | None = None,
        continues: SourceRow | None = None,
    ) -> Iterator[SourceWriter]:
        """Write one source in one transaction: committed when the block ends, undone when it raises.

        ``sha256`` and ``size_bytes`` are of all its decompressed bytes. ``kind`` is the word ``--kind`` takes.
        ``continues`` is the source of which this is a longer version: its games that began at or after its
        ``read_up_to`` are deleted, to be added again, and ``keep`` goes on at ``SourceWriter.keep_from``: at its first
        byte if it is read as a whole, since handles may have been replaced in what was kept.
        """
        from storage.write.source import SourceWriter, continue_source, reopen_last_chunk, start_source

        values: dict[str, Any] = {
            "sha256": sha256,
            "size_bytes": size_bytes,
            "name": name,
            "path": path,
            "kind": kind,
            "parser_version": parser_version,
            "options": options,
            "timing": packed_timing(timing) if keep and timing is not None else None,
        }
        with self._database.writing() as connection:
            recall_source(driver_of(connection), sha256)
            chunk_offset, rest = 0, b""
            if continues is None:
                row_id = start_source(connection, values)
            else:
                row_id = row_number(driver_of(connection), continues.sha256)
                if keep and not continues.read_up_to:
                    drop_kept(driver_of(connection), row_id)
                continue_source(connection, row_id, continues.read_up_to, values)
                if keep:
                    chunk_offset, rest = reopen_last_chunk(connection, row_id)
            writer = SourceWriter(
                connection, row_id, size_bytes=size_bytes, keep=keep, chunk_offset=chunk_offset, rest=rest
            )
            yield writer
            writer.close()

    # --- games

    def games(
        self,
        where: GameFilter = ALL_PLAYED,
        *,
        with_events: bool = True,
        with_holdings: bool = True,
        with_lines: bool = True,
        with_thinking: bool = True,
        whole_plies: bool = True,
    ) -> Iterator[Game]:
        """The games that match, streaming.

        They come by start (undated games last), then by the source's SHA-256 and the place in it: an order that depends
        on what was imported, not on when. Without thinking there are no analyses either; without lines, no taken-back
        ones. Without ``whole_plies`` only what PGN shows of proved plies is read (SAN, the mover's clock, elapsed time,
        proof); their other fields are None.
        """
        with self._database.reading() as driver:
            ids = game_ids(driver, where)
            yield from load_games(
                driver,
                ids,
                with_events=with_events,
                with_holdings=with_holdings,
                with_lines=with_lines,
                with_thinking=with_thinking,
                whole_plies=whole_plies,
            )

    def game(self, spec: str) -> Game:
        """The game whose key begins with ``spec``; or ``last``, ``last~2`` among played games."""
        with self._database.reading() as driver:
            return next(load_games(driver, [resolve(driver, spec)]))

    def source_paths(self, key: str) -> dict[str, str | None]:
        """The games merged with a game, by their keys as stored, each with its source's path if that is known."""
        with self._database.reading() as driver:
            return source_paths(driver, key)

    def count(self, where: GameFilter = ALL_PLAYED, *, limit_s: float | None = None) -> int:
        """How many games match."""
        with self._database.reading() as driver, nullcontext() if limit_s is None else within(driver, limit_s):
            return count_games(driver, where)

    def count_each(self, wheres: Sequence[GameFilter]) -> list[int]:
        """How many games match each filter, which asks all that the one before asks, in one reading."""
        with self._database.reading() as driver:
            return count_each(driver, wheres)

    def count_outcomes(self, where: GameFilter, limit_s: float) -> dict[str, int]:
        """How many games match, and how many one of their players won, drew and lost, in one reading."""
        with self._database.reading() as driver, within(driver, limit_s):
            return count_outcomes(driver, where)

    def results_of(self, where: GameFilter) -> dict[str, tuple[str, int | None, int | None]]:
        """Result and both ratings, White's first, of the games that match, by their keys."""
        with self._database.reading() as driver:
            return results_of(driver, where)

    def list_games(
        self,
        where: GameFilter,
        order: ListOrder,
        count: int,
        *,
        after: ListPlace | None = None,
        before: ListPlace | None = None,
        limit_s: float = 10,
    ) -> list[ListedGame]:
        """Part of a sorted list of games; see ``storage.read.listing.list_games``."""
        with self._database.reading() as driver, within(driver, limit_s):
            return list_games(driver, where, order, count, after=after, before=before)

    def place_of(self, key: str, order: ListOrder) -> ListPlace | None:
        """The place of a game, by its key as stored, in a sorted list; None: there is no such game."""
        with self._database.reading() as driver:
            return place_of(driver, key, order)

    def rank_of(self, where: GameFilter, order: ListOrder, place: ListPlace) -> int:
        """How many games of a sorted list are in front of a place."""
        with self._database.reading() as driver:
            return rank_of(driver, where, order, place)

    def count_unknown(self, where: GameFilter) -> dict[str, int]:
        """How many games one filter excludes only because what it asks for is unknown, by what that is."""
        with self._database.reading() as driver:
            return count_unknown(driver, where)

    def count_by_handle(self) -> dict[str, int]:
        """How many played games each player has, by handle."""
        with self._database.reading() as driver:
            return count_by_handle(driver)

    def count_of_sources(self, sources: Collection[str]) -> int:
        """How many games these sources, by their sha256, contain; a game of several counts once."""
        with self._database.reading() as driver:
            return count_games_of(driver, sources)

    def count_serverless(self, sources: Collection[str]) -> int:
        """How many games without a server may be those of others: as ``storage.read.sources.count_serverless``."""
        with self._database.reading() as driver:
            return count_serverless(driver, sources)

    def unended(self, sources: Collection[str]) -> frozenset[str]:
        """Keys of games without an end in these sources, by their sha256, and in all others."""
        with self._database.reading() as driver:
            return unended_games_of(driver, sources)

    def conflicts(self, sha256: str) -> list[tuple[str, str]]:
        """Contradictions between this source and other sources of its games: key and words."""
        with self._database.reading() as driver:
            return conflicts_of(driver, sha256)

    def stale_games(self) -> list[str]:
        """Keys of merged games that differ from what their sources give now: none, if all is well."""
        with self._database.reading() as driver:
            return stale(driver)
