"""Rebuilding an archive from its journals and kept logs, and what that changes."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from recorder.archive.comparing import game_parts
from recorder.archive.erasing import forgotten_in
from recorder.archive.import_paths import copy_source
from recorder.archive.inputs import ReadOptions
from recorder.archive.kept_bytes import reads_kept, source_blocks, source_timing
from recorder.archive.spool import Spool, SpoolWriter, take_over
from recorder.archive.workers import Channel, WorkerDiedError, Workers, batches, in_order, jobs_for
from recorder.containment import contain, failures_sentence
from recorder.errors import SourceError
from recorder.journal.parts import session_parts
from recorder.pipeline import PARSER_VERSION
from recorder.progress import of_several
from recorder.sources import SourceKind
from recorder.sources.redaction import Forgotten, redacted
from recorder.text import plural
from storage import ArchiveStore, GameFilter, SourceRow

if TYPE_CHECKING:
    from concurrent.futures import Future

    from recorder.model import Game
    from recorder.progress import Progress
    from storage import SourceWriter
    from storage.write.analyses import AnalysisCounts

__all__ = ["RebuildChanges", "Unread", "compare", "read_again"]

_EVERYTHING = GameFilter(kinds=frozenset(), min_plies=0, per_source=True)


class Unread(NamedTuple):
    """A source that could not be read again.

    Attributes:
        row: of the old archive. why: one clause.
        is_there: its bytes are, but an error of this program ended the reading.
    """

    row: SourceRow
    why: str
    is_there: bool


@dataclass(slots=True)
class RebuildChanges:
    """How the games of two archives differ.

    Attributes:
        games: of the new one. added, gone: games that only the new one has, or only the old one.
        differing: games of both with the parts in which they differ.
        analyses: what the new one has of them.
    """

    games: int = 0
    added: list[Game] = field(default_factory=list)
    gone: list[Game] = field(default_factory=list)
    differing: list[tuple[Game, list[str]]] = field(default_factory=list)
    analyses: AnalysisCounts | None = None


@dataclass(frozen=True, slots=True)
class _Batch:
    """Sources for one process.

    Attributes:
        old: the archive in which they are. rows: each with its number among all sources, from 1. count: of all sources.
        forgotten: players that the new archive forgets. folder: for spools.
    """

    old: Path
    rows: list[tuple[int, SourceRow]]
    count: int
    forgotten: Forgotten
    folder: Path

    def spool(self, number: int) -> Path:
        """Where a process writes down what is to be stored of source number ``number``."""
        return self.folder / f"{number}.spool"


def read_again(
    old: ArchiveStore, new: ArchiveStore, progress: Progress, *, carry_over: bool = False, jobs: int | None = None
) -> tuple[list[Unread], list[str]]:
    """Read every source of an archive into an empty one, which gets the analyses, too.

    What is read is what was read then, with the same options: bytes that a journal got since wait for its next import.

    Args:
        old: the archive. new: an empty one.
        progress: called after each block.
        carry_over: sources that cannot be read again are copied as they are.
        jobs: how many processes read sources; None: one for each core. The new archive is the same.
    Returns:
        The sources that could not be read again, and a sentence about each other one that errors of this program kept
        from being read whole.
    Raises:
        StorageError: an archive cannot be read or written.
        SourceError: the bytes of a source became fewer while they were read.
    """
    missing: list[Unread] = []
    unread: list[str] = []
    wanted = old.successors() if carry_over else {}
    rows = old.sources()
    for row, found in zip(rows, _read_all(old, new, rows, progress, jobs), strict=True):
        if isinstance(found, Unread):
            missing.append(found)
            if carry_over:
                copy_source(new, old, row, wanted)
        elif found is not None:
            unread.append(found)
    if carry_over or not missing:
        new.order_equal_keys(old)
        new.duplicates.take_over_decisions(old.duplicates)
        new.analyses.take_over(old.analyses, homeless=True)
    return missing, unread


def _read_all(
    old: ArchiveStore, new: ArchiveStore, rows: list[SourceRow], progress: Progress, jobs: int | None
) -> Iterator[Unread | str | None]:
    """Read sources into the new archive, one after the other.

    Args:
        jobs: how many processes read; None: one for each core.
    Yields:
        For each source in order, as ``_read_source``.
    """
    forgotten = forgotten_in(new)
    processes = jobs_for([row.size_bytes for row in rows], jobs)
    if processes < 2:
        for number, row in enumerate(rows, 1):
            yield _read_source(old, new, row, forgotten, of_several(progress, number, len(rows)))
        return
    with tempfile.TemporaryDirectory(prefix="ics-recorder-rebuild-") as folder, Workers(processes) as workers:
        groups = [
            _Batch(old.path, [(n + 1, rows[n]) for n in numbers], len(rows), forgotten, Path(folder))
            for numbers in batches([row.size_bytes for row in rows])
        ]
        for batch, future in zip(groups, in_order(workers, _read_apart, groups, progress), strict=True):
            yield from _take_over(old, new, batch, future, workers, progress)


def _take_over(
    old: ArchiveStore,
    new: ArchiveStore,
    batch: _Batch,
    future: Future[list[Unread | str | None]],
    workers: Workers,
    progress: Progress,
) -> Iterator[Unread | str | None]:
    """Store what another process read. If it died, each of its sources is read alone: only one is to blame.

    Yields:
        For each source of the batch, as ``_read_source``.
    """
    try:
        results = future.result()
    except WorkerDiedError as error:
        if len(batch.rows) == 1:
            yield Unread(batch.rows[0][1], f"is not read, since the process that read it {error}", True)
            return
        alone = [replace(batch, rows=[numbered]) for numbered in batch.rows]
        for one, again in zip(alone, in_order(workers, _read_apart, alone, progress), strict=True):
            yield from _take_over(old, new, one, again, workers, progress)
        return
    for (number, row), found in zip(batch.rows, results, strict=True):
        if not isinstance(found, Unread):
            with _writing(new, row, source_timing(old, row)) as writer:
                take_over(batch.spool(number), writer)
        yield found


def _read_apart(batch: _Batch, channel: Channel) -> list[Unread | str | None]:
    """Read sources; runs in a process of its own.

    Returns:
        For each source of the batch, as ``_read_source``.
    """
    with ArchiveStore.open(str(batch.old), read_only=True) as old:
        return [
            _read_source(
                old, Spool(batch.spool(number)), row, batch.forgotten, of_several(channel.progress, number, batch.count)
            )
            for number, row in batch.rows
        ]


def _read_source(
    old: ArchiveStore, new: ArchiveStore | Spool, row: SourceRow, forgotten: Forgotten, progress: Progress
) -> Unread | str | None:
    """Read one source.

    Args:
        old: where it is. forgotten: players that are not stored.
        new: where it is stored, a spool in a process that reads for another one.
    Returns:
        That it could not be read, a sentence about what errors of this program kept from being read, or None.
    """
    blocks = source_blocks(old, row)
    try:
        timing = source_timing(old, row)
    except SourceError:
        blocks = timing = None
    if blocks is None:
        return Unread(row, _why_unreadable(row), False)
    try:
        return _read(new, row, blocks, timing, forgotten, progress)
    except Exception as error:
        why = f"is not read because of an error of this program, please report it: {contain(error)}"
        return Unread(row, why, True)


def _read(
    new: ArchiveStore | Spool,
    row: SourceRow,
    blocks: Iterator[bytes],
    timing: bytes | None,
    forgotten: Forgotten,
    progress: Progress,
) -> str | None:
    """Read the bytes of one source and store its games.

    Args:
        timing: the timing file of a typescript; None: there is none.
    Returns:
        A sentence about what was not read because of an error in this program; None: all was read.
    Raises:
        SourceError: the bytes cannot be read.
    """
    options = replace(ReadOptions.from_json(row.options, timing), forgotten=forgotten)
    kind = SourceKind(row.kind)
    pipeline = options.pipeline(kind)
    with _writing(new, row, timing) as writer:
        done = 0
        for block in redacted(blocks, forgotten, kind):
            writer.keep(block)
            writer.add_games(pipeline.receive(block))
            done += len(block)
            progress(row.name, done, row.size_bytes)
        if done != row.size_bytes:
            raise SourceError(f"{row.name}: the file was truncated while being read.")
        writer.read_up_to(pipeline.read_up_to, row.unfinished)  # the next start still looks for more of it
        writer.add_games(pipeline.finish())
        if pipeline.unredacted and row.kept_bytes:
            writer.keep_nothing()
        writer.finish(pipeline.report)
    return failures_sentence(pipeline.report, row.name)


def _writing(
    new: ArchiveStore | Spool, row: SourceRow, timing: bytes | None
) -> AbstractContextManager[SourceWriter | SpoolWriter]:
    """The transaction in which a source is stored."""
    return new.write_source(
        sha256=row.sha256,
        size_bytes=row.size_bytes,
        name=row.name,
        path=row.path,
        kind=row.kind,
        keep=row.kept_bytes > 0,
        # Who is not in what is kept is still to be read.
        parser_version=row.parser_version if row.lacks_player and reads_kept(row) else PARSER_VERSION,
        options=row.options,
        timing=timing,
    )


def _why_unreadable(row: SourceRow) -> str:
    """Why a source cannot be read again, one clause."""
    if row.path is None:
        return "is not kept in the archive, nor is its place known"
    path = Path(row.path)
    if row.kind == SourceKind.JOURNAL.value and path.parent.is_dir():
        there = session_parts(path)
        lost = [str(number) for number in range(1, max(there, default=0)) if number not in there]
        if lost:
            parts = plural(len(lost), "part")
            return f"is a journal of which {parts} ({', '.join(lost)}) {'is' if len(lost) == 1 else 'are'} gone"
    return "is not kept in the archive, and gone or changed"


def compare(old: ArchiveStore, new: ArchiveStore) -> RebuildChanges:
    """Compare all games by their keys.

    Raises:
        StorageError: an archive cannot be read.
    """
    before = {game.key: _digest(game) for game in old.games(_EVERYTHING)}
    found = RebuildChanges()
    for game in new.games(_EVERYTHING):
        found.games += 1
        digest = before.pop(game.key, None)
        if digest is None:
            found.added.append(game)
        elif digest != _digest(game):
            theirs, ours = game_parts(old.game(game.key)), game_parts(game)
            found.differing.append((game, [name for name in ours if ours[name] != theirs[name]]))
    found.gone = [old.game(key) for key in before]
    found.analyses = new.analyses.count()
    return found


def _digest(game: Game) -> bytes:
    return hashlib.sha256(b"".join(game_parts(game).values())).digest()[:16]
