"""The archive as the rest of the program sees it: its games and sources, what it forgets, which games are one."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from itertools import combinations, product
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, NamedTuple, ParamSpec, Protocol, TypeVar, Unpack

from recorder.corrections import shown_value
from recorder.errors import StorageError
from recorder.files import Closing
from recorder.model import AnalysedPosition, Analysis, Anomaly, Game
from storage import settings
from storage.database import Database
from storage.files import drop_copy, open_sqlite, storage_errors
from storage.positions import PositionIndex
from storage.read import listing, query
from storage.read import sources as of_sources
from storage.read.games import analysts, current_plies, has_analyses, load_games, stored_analyses
from storage.read.query import game_ids, game_keys, resolve
from storage.read.sources import (
    READ_AGAIN,
    SourceRow,
    anomalies_of,
    drop_kept,
    one_source,
    packed_timing,
    read_kept,
    row_number,
    source_rows,
)
from storage.read.store import ALL_PLAYED, GameFilter
from storage.settings import (
    ForgottenSource,
    decide,
    load_decided,
    note_handle,
    note_source,
    recall_handle,
    recall_source,
    take_over_decisions,
)
from storage.write.analyses import count_analyses, settle_analyses, shown_games, store_positions
from storage.write.corrections import corrections_of, decide_corrections, take_over_corrections
from storage.write.games import closing_up, find_successors, order_of_sources, restore_order
from storage.write.merged import candidate_groups, load_feeds, relate, stale, touch_keys

if TYPE_CHECKING:
    from recorder.relating.duplicates import DuplicateGroup
    from storage.maintenance.removal import ForgetReport, HandleReport, HandleText
    from storage.read.columns import ColumnReader
    from storage.read.store import GameParts
    from storage.write.source import SourceWriter

_P = ParamSpec("_P")
_R = TypeVar("_R")


class _Reader(Protocol):
    def reading(self) -> AbstractContextManager[sqlite3.Connection]: ...


def _reads(read: Callable[Concatenate[sqlite3.Connection, _P], _R]) -> Callable[Concatenate[_Reader, _P], _R]:

    def method(self: _Reader, /, *args: _P.args, **options: _P.kwargs) -> _R:
        with self.reading() as driver:
            return read(driver, *args, **options)

    return method


class _Part:
    def __init__(self, database: Database) -> None:
        self.path, self.reading, self.writing = database.path, database.reading, database.writing


class ArchiveAnalyses(_Part):
    def analysed_plies(self, game: Game, analysis: Analysis) -> set[int]:
        with self.reading() as driver:
            return current_plies(driver, (game.key, *game.merged_from), analysis)

    engines = _reads(analysts)

    def add(
        self, key: str, analysis: Analysis, positions: Collection[AnalysedPosition], *, again: bool = False
    ) -> None:
        """The analysis's own lines are ignored; ``again`` replaces stored analyses of the same positions."""
        with self.writing() as driver:
            store_positions(driver, key, analysis, positions, replace=again)
            settle_analyses(driver, shown_games(driver, key))

    def take_over(self, other: ArchiveAnalyses, *, homeless: bool = False) -> tuple[int, int]:
        """How many were copied, and how many are of games that are not here; ``homeless``: these are copied, too."""
        with other.reading() as theirs, self.writing() as driver:
            return _take_over(theirs, driver, homeless=homeless)

    count = _reads(count_analyses)


def _take_over(theirs: sqlite3.Connection, driver: sqlite3.Connection, *, homeless: bool) -> tuple[int, int]:
    """Copy analyses from another archive. If both have analysed a position, the analysis here stays.

    A game is found by its source and key. If that fails, by its source and offset, because a newer parser may read its
    start differently; or by its key alone, unless several games of the other archive share that key, because a longer
    log may have replaced its source.
    """
    if not has_analyses(theirs):
        return 0, 0
    find_key = keys_here(theirs, driver)
    taken = missing = 0
    numbers: set[int] = set()
    for stored in stored_analyses(theirs):
        key = find_key(stored.key)
        missing += key is None
        if key is None and not homeless:
            continue
        taken += 1
        store_positions(driver, key or stored.key, stored.analysis, stored.positions)
        numbers.update(shown_games(driver, key or stored.key))
    settle_analyses(driver, numbers)
    return taken, missing


def keys_here(theirs: sqlite3.Connection, driver: sqlite3.Connection) -> Callable[[str], str | None]:
    """None: the game is not here."""
    shared = {key: wanted for wanted, chain in find_successors(theirs).items() for key in chain}
    here = find_successors(driver)
    query = (
        "SELECT s.sha256, g.first_offset FROM games g JOIN sources s ON s.id = g.source_id"
        " WHERE g.key = ? AND g.source_id IS NOT NULL"
    )

    def find_key(key: str) -> str | None:
        wanted = shared.get(key, key)
        sha256, offset = theirs.execute(query, (key,)).fetchone() or (None, None)
        return _find_key(driver, sha256, offset, here.get(wanted, [wanted]), alone=key not in shared)

    return find_key


def _find_key(
    driver: sqlite3.Connection, sha256: str | None, offset: int | None, keys: list[str], *, alone: bool
) -> str | None:
    """By source and offset, else by the equal ``keys``; ``alone``: no other game of that archive has equal facts."""
    query = "SELECT g.key, s.sha256 FROM games g JOIN sources s ON s.id = g.source_id WHERE g.key = ?"
    hashes = {key: its for wanted in keys for key, its in driver.execute(query, (wanted,))}
    same = [key for key, its in hashes.items() if its == sha256]
    if not same:
        query = (
            "SELECT g.key FROM games g JOIN sources s ON s.id = g.source_id WHERE s.sha256 = ? AND g.first_offset = ?"
        )
        placed = [key for (key,) in driver.execute(query, (sha256, offset))]
        same = placed if len(placed) == 1 else list(hashes) if alone else []
    return same[0] if same else None


_SHOWN = "SELECT coalesce(merged_into, id) FROM games WHERE id = ?"
_KEYS = "SELECT key FROM games WHERE source_id IS NOT NULL AND (id = :row OR merged_into = :row) ORDER BY key"


class DuplicateGames(_Part):
    def probable_duplicates(self) -> list[DuplicateGroup]:
        with self.reading() as driver:
            return list(_duplicate_groups(driver))

    def folded(self, where: GameFilter) -> frozenset[str]:
        """Games that match and are probable duplicates of another one, which stays; ``last`` does not count."""
        with self.reading() as driver:
            groups = list(_duplicate_groups(driver))
            if not groups:
                return frozenset()
            from recorder.relating.duplicates import fold

            return frozenset(fold(groups, game_keys(driver, replace(where, last=None))))

    decisions = _reads(settings.decisions)

    def merge(self, one: str, other: str, *, dry_run: bool = False) -> list[Game]:
        """Whatever was decided or found before; the games in place of these."""
        return self._decide(partial(_to_merge, one=one, other=other), same=True, dry_run=dry_run)

    def merge_all(self, *, dry_run: bool = False) -> list[Game]:
        """All probable duplicates, as ``folded`` counts them; the games in place of them."""
        return self._decide(_to_merge_all, same=True, dry_run=dry_run)

    def split(self, spec: str, *, dry_run: bool = False) -> list[Game]:
        """What was merged by hand falls apart as it was; else a game of one observation, or all of a merged one."""
        return self._decide(partial(_to_split, spec=spec), same=False, dry_run=dry_run)

    def _decide(
        self, find: Callable[[sqlite3.Connection], list[tuple[str, str]]], *, same: bool, dry_run: bool
    ) -> list[Game]:
        """Record decisions about the pairs of keys that ``find`` gives."""
        with self.writing(undo=dry_run) as driver:
            pairs = find(driver)
            decide(driver, pairs, same=same, now_ms=time.time_ns() // 1_000_000)
            keys = sorted({key for pair in pairs for key in pair})
            touch_keys(driver, keys)
            relate(driver)
            games = load_feeds(driver, sorted({resolve(driver, key) for key in keys}))
        return sorted(games, key=lambda game: game.key)

    def take_over_decisions(self, other: DuplicateGames) -> int:
        """Of two about the same games the later one counts; returns how many were taken."""
        with other.reading() as theirs, self.writing() as driver:
            taken = take_over_decisions(theirs, driver, keys_here(theirs, driver))
            touch_keys(driver, {key for decision in taken for key in (decision.key, decision.other)})
            return len(taken)


def _duplicate_groups(driver: sqlite3.Connection) -> Iterator[DuplicateGroup]:
    decided = load_decided(driver)
    for group in list(candidate_groups(driver, decided)):
        shown = {number: driver.execute(_SHOWN, (number,)).fetchone()[0] for number in group}
        listed = sorted(set(shown.values()))
        if len(listed) < 2:
            continue
        from recorder.relating.duplicates import find_duplicates

        games = dict(zip(listed, load_feeds(driver, listed), strict=True))
        members = dict(zip(group, load_feeds(driver, group), strict=True))
        alike = find_duplicates(list(members.values()), {members[row].key: games[shown[row]] for row in group}, decided)
        if alike.pairs:
            yield alike


def _keys(driver: sqlite3.Connection, row: int) -> list[str]:
    return [key for (key,) in driver.execute(_KEYS, {"row": row})]


def _to_merge(driver: sqlite3.Connection, one: str, other: str) -> list[tuple[str, str]]:
    from recorder.relating.duplicates import why_never_one
    from recorder.relating.grouping import pair_of

    rows = [resolve(driver, one), resolve(driver, other)]
    if rows[0] == rows[1]:
        raise StorageError(f"{one} and {other} are already one game.")
    games = load_feeds(driver, sorted(rows))
    why = why_never_one(*games)
    if why is not None:
        raise StorageError(f"{one} and {other} cannot be one game: {why}.")
    return [pair_of(*pair) for pair in product(_keys(driver, rows[0]), _keys(driver, rows[1]))]


def _to_merge_all(driver: sqlite3.Connection) -> list[tuple[str, str]]:
    from recorder.relating.duplicates import fold
    from recorder.relating.grouping import pair_of

    groups = list(_duplicate_groups(driver))
    chosen = {key for group in groups for pair in group.pairs for key in (pair.key, pair.other)}
    rows = {key: resolve(driver, key) for key in chosen}
    return [
        pair_of(*pair)
        for kept, other in fold(groups, chosen).items()
        for pair in product(_keys(driver, rows[kept]), _keys(driver, rows[other]))
    ]


def _to_split(driver: sqlite3.Connection, spec: str) -> list[tuple[str, str]]:
    from recorder.relating.grouping import pair_of

    row = resolve(driver, spec)
    keys = _keys(driver, row)
    named = [key for key in keys if key.startswith(spec.lower())]
    key = named[0] if len(named) == 1 else keys[0]
    same = load_decided(driver).same
    by_hand = [other for other in keys if pair_of(key, other) in same]
    if by_hand:
        return [pair_of(*pair) for pair in product((key for key in keys if key not in by_hand), by_hand)]
    if len(keys) > 1 and key != keys[0]:
        return [pair_of(key, other) for other in keys if other != key]
    if len(keys) > 1:
        return list(combinations(keys, 2))
    (own_key,) = driver.execute("SELECT key FROM games WHERE id = ?", (row,)).fetchone()
    others = {
        other
        for group in _duplicate_groups(driver)
        for pair in group.pairs
        if own_key in (pair.key, pair.other)
        for other in _keys(driver, resolve(driver, pair.other if pair.key == own_key else pair.key))
    }
    if not others:
        raise StorageError(f"{spec} is a game of one source without probable duplicates: there is nothing to split.")
    return [pair_of(key, other) for other in sorted(others)]


_OF_SOURCE = """SELECT g.key, iif(m.id IS NULL, g.server, m.server) FROM games g JOIN sources s ON s.id = g.source_id
LEFT JOIN games m ON m.id = g.merged_into WHERE s.sha256 = ? AND g.kind = 'played' ORDER BY g.id"""


class EditedGame(NamedTuple):
    """A game before and after an edit, without moves; ``joined`` are keys of games that it became one with."""

    before: Game
    after: Game
    joined: tuple[str, ...]


class GameCorrections(_Part):
    def edit(self, keys: Iterable[str], values: Mapping[str, str] | None, *, dry_run: bool = False) -> list[EditedGame]:
        """Record what a person corrected of games, in one transaction; ``values`` as ``recorder.corrections`` has them.

        None: nothing is corrected any more. Return the games that this changes. StorageError: a game that is to get a
        time has no date, or none has a correction to undo.
        """
        edited: list[EditedGame] = []
        with self.writing(undo=dry_run) as driver:
            rows = sorted({resolve(driver, key) for key in keys})
            members = {row: _keys(driver, row) for row in rows}
            earlier = dict(zip(rows, load_feeds(driver, rows), strict=True))
            if values is None and not any(game.corrections for game in earlier.values()):
                raise StorageError("There is nothing to undo: no correction of these games is recorded.")
            if values is not None and "Time" in values and "Date" not in values:
                _require_days(earlier.values())
            now_ms = time.time_ns() // 1_000_000
            for row, mine in members.items():
                if values is None or _changes(earlier[row], values):
                    for key in mine:
                        decide_corrections(driver, key, values, now_ms)
                    touch_keys(driver, mine)
            relate(driver)
            for row, mine in members.items():
                now = resolve(driver, mine[0])
                (after,) = load_feeds(driver, [now])
                joined = tuple(key for key in _keys(driver, now) if key not in mine)
                if (after.corrections, joined) != (earlier[row].corrections, ()):
                    edited.append(EditedGame(earlier[row], after, joined))
        return edited

    def edit_source(self, sha256: str, values: Mapping[str, str], older: Mapping[str, str]) -> int:
        """Returns how many changed. What a person gave one of them stays, unless it is the source's ``older`` value."""
        edited: set[str] = set()
        with self.writing() as driver:
            relate(driver)
            decided = {(correction.key, correction.field): correction.value for correction in corrections_of(driver)}
            games = driver.execute(_OF_SOURCE, (sha256,)).fetchall()
            for field, value in values.items():
                others = [key for key, server in games if field != "Site" or server != value]  # nearly all have it
                wanted = [key for key in others if decided.get((key, field)) in (None, older.get(field))]
                edited.update(game.after.key for game in self.edit(wanted, {field: value}))
        return len(edited)

    def concern(self, key: str) -> bool:
        with self.reading() as driver:
            return driver.execute("SELECT 1 FROM corrections WHERE game_key = ?", (key,)).fetchone() is not None

    def take_over(self, other: GameCorrections) -> None:
        """Of two corrections of one field the later one counts."""
        with other.reading() as theirs, self.writing() as driver:
            touch_keys(driver, take_over_corrections(theirs, driver, keys_here(theirs, driver)))


def _changes(game: Game, values: Mapping[str, str]) -> bool:
    there = {correction.field: correction.value for correction in game.corrections}
    return any(there.get(field, shown_value(game, field)) != value for field, value in values.items())


def _require_days(games: Iterable[Game]) -> None:
    for game in games:
        if game.day is None:
            raise StorageError(f"Game {game.key[:8]} has no date: give it one together with the time.")


class Erasures(_Part):
    def forget_source(self, source_id: str) -> ForgetReport:
        """Remember that; games that had successors of its games' keys get the keys that are free then."""
        from storage.maintenance.removal import delete_source

        with self.writing() as driver, closing_up(driver):
            row = one_source(driver, source_id)
            note_source(driver, ForgottenSource(row.sha256, row.size_bytes, row.name))
            report = delete_source(driver, row_number(driver, row.sha256))
        drop_copy(self.path)
        return report

    forgotten_sources = _reads(settings.forgotten_sources)

    def recall_source(self, sha256: str) -> None:
        with self.writing() as driver:
            recall_source(driver, sha256)

    forgotten_handles = _reads(settings.forgotten_handles)

    def forget_handles(self, handles: Collection[tuple[str, int, str]], words: HandleText) -> HandleReport:
        """All but the kept logs; the hashes of their handles are remembered."""
        from storage.maintenance.removal import redact_rows

        with self.writing() as driver:
            for handle in handles:
                note_handle(driver, handle)
            report = redact_rows(driver, words)
        drop_copy(self.path)
        return report

    def recall_handle(self, handle: tuple[str, int, str]) -> None:
        """What is gone stays gone."""
        with self.writing() as driver:
            recall_handle(driver, handle)

    def read_again(self, sha256: str) -> None:
        """When it is imported next, as after a newer parser."""
        with self.writing() as driver:
            driver.execute("UPDATE sources SET parser_version = ? WHERE sha256 = ?", (READ_AGAIN, sha256))

    def redact_source(self, source_id: str, redact: Callable[[Iterable[bytes]], Iterator[bytes]]) -> bool:
        """By others of equal length; whether anything was replaced."""
        from storage.maintenance.removal import redact_kept

        with self.writing() as driver:
            return redact_kept(driver, row_number(driver, one_source(driver, source_id).sha256), redact)

    def drop_kept(self, source_id: str) -> None:
        """Its games stay."""
        with self.writing() as driver:
            drop_kept(driver, row_number(driver, one_source(driver, source_id).sha256))


class ArchiveStore(Closing, Database):
    """No connection stays open between reads and transactions."""

    def __init__(self, path: Path, *, read_only: bool) -> None:
        super().__init__(path, read_only=read_only)
        self.analyses = ArchiveAnalyses(self)
        self.duplicates = DuplicateGames(self)
        self.corrections = GameCorrections(self)
        self.erasures = Erasures(self)
        self.positions = PositionIndex(self)

    def vacuum(self) -> None:
        """Rewrite the file: afterwards no deleted data is in it or in its write-ahead log."""
        connection = open_sqlite(self.path)
        with storage_errors(self.path), closing(connection):
            connection.execute("VACUUM")
            (busy, _, _) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            if busy:
                raise StorageError(f"{self.path} is being read by another program.")
        self.positions.drop()  # it has the moves of games that were deleted
        drop_copy(self.path)

    @contextmanager
    def columns(self, *, arrow: bool = True) -> Iterator[ColumnReader]:
        """All of one moment, as what is read in the block; ``arrow`` uses ADBC, which changes no answer."""
        from storage.read.columns import column_reader

        with (
            storage_errors(self.path),
            column_reader(self.path, read_only=self.read_only, arrow=arrow) as (driver, reader),
            self.reading_from(driver),
        ):
            yield reader

    # --- sources

    sources = _reads(of_sources.source_rows)
    source = _reads(of_sources.one_source)

    growth_candidates = _reads(of_sources.growth_candidates)
    content_version = _reads(settings.content_version)

    report = _reads(of_sources.report_of)

    def anomalies(self, source_id: str | None = None) -> Iterator[tuple[SourceRow, Anomaly]]:
        with self.reading() as driver:
            rows = source_rows(driver) if source_id is None else [one_source(driver, source_id)]
            for row in rows:
                for _, anomaly in anomalies_of(driver, row_number(driver, row.sha256)):
                    yield row, anomaly

    anomaly_kinds = _reads(of_sources.anomaly_kinds_of)

    game_sources = _reads(of_sources.sources_of_game)

    def read_source(self, source_id: str, offset: int = 0, length: int | None = None) -> Generator[bytes, None, None]:
        """In order, in blocks of at most 1 MiB."""
        with self.reading() as driver:
            row = one_source(driver, source_id)
            yield from read_kept(driver, row, offset, length)

    beginnings = _reads(of_sources.beginnings_of)

    source_timing = _reads(of_sources.timing_of)

    def move_source(self, sha256: str, path: str) -> None:
        with self.writing() as driver:
            driver.execute("UPDATE sources SET path = ? WHERE sha256 = ?", (path, sha256))

    def successors(self) -> dict[str, str]:
        """Keys that games have because another game has theirs, with the keys that they would have alone."""
        with self.reading() as driver:
            chains = find_successors(driver)
            return {key: wanted for wanted, chain in chains.items() for key in chain[1:]}

    def order_equal_keys(self, other: ArchiveStore) -> None:
        """It depends on what those sources were when the games were read, if they have grown since."""
        with other.reading() as driver:
            wanted = order_of_sources(driver)
        with self.writing() as driver:
            restore_order(driver, wanted)

    @contextmanager
    def write_source(
        self, *, keep: bool, timing: bytes | None = None, continues: SourceRow | None = None, **facts: Any
    ) -> Iterator[SourceWriter]:
        """Write one source in one transaction: committed when the block ends, undone when it raises.

        ``facts`` are columns of its row: ``sha256`` and ``size_bytes`` of all its decompressed bytes, ``name``,
        ``path``, ``kind``, ``parser_version``, ``options``. ``continues`` is the source of which this is a longer
        version: its games that began at or after its ``read_up_to`` are deleted, to be added again, and ``keep`` goes
        on at ``SourceWriter.keep_from``: at its first byte if it is read as a whole, since handles may have been
        replaced in what was kept.
        """
        from storage.write.source import SourceWriter, continue_source, reopen_last_chunk, start_source

        values = facts | {"timing": packed_timing(timing) if keep and timing is not None else None}
        with self.writing() as driver:
            recall_source(driver, facts["sha256"])
            chunk_offset, rest, corrected = 0, b"", []
            if continues is None:
                row_id = start_source(driver, values)
            else:
                row_id = row_number(driver, continues.sha256)
                if keep and not continues.read_up_to:
                    drop_kept(driver, row_id)
                corrected = continue_source(driver, row_id, continues.read_up_to, values)
                if keep:
                    chunk_offset, rest = reopen_last_chunk(driver, row_id)
            size_bytes: int = facts["size_bytes"]
            writer = SourceWriter(
                driver, row_id, size_bytes=size_bytes, keep=keep, chunk_offset=chunk_offset, rest=rest
            )
            writer.corrected = corrected
            yield writer
            writer.close()

    # --- games

    def games(self, where: GameFilter = ALL_PLAYED, **parts: Unpack[GameParts]) -> Iterator[Game]:
        """By start (undated last), then by the source's SHA-256 and the place in it: whenever they were imported."""
        with self.reading() as driver:
            yield from load_games(driver, game_ids(driver, where), **parts)

    def game(self, spec: str) -> Game:
        """``spec`` begins its key, or is ``last``, ``last~2`` among played games."""
        with self.reading() as driver:
            return next(load_games(driver, [resolve(driver, spec)]))

    source_paths = _reads(of_sources.source_paths)

    def count(self, where: GameFilter = ALL_PLAYED, *, limit_s: float | None = None) -> int:
        with self.reading() as driver, nullcontext() if limit_s is None else query.within(driver, limit_s):
            return query.count_games(driver, where)

    count_each = _reads(query.count_each)
    count_outcomes = _reads(query.count_outcomes)
    list_games = _reads(listing.list_games)
    place_of = _reads(listing.place_of)
    rank_of = _reads(listing.rank_of)
    count_unknown = _reads(query.count_unknown)
    count_by = _reads(query.count_by)

    def count_players(self) -> int:
        """Handles on several servers count once."""
        with self.reading() as driver:
            (count,) = driver.execute("SELECT count(DISTINCT handle_folded) FROM players").fetchone()
        return int(count)

    count_of_sources = _reads(of_sources.count_games_of)
    count_serverless = _reads(of_sources.count_serverless)
    unended = _reads(of_sources.unended_games_of)
    conflicts = _reads(of_sources.conflicts_of)
    stale_games = _reads(stale)
