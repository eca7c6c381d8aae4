"""Rebuilding an archive from its journals and kept logs, and what that changes."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from recorder.archive.care.comparing import game_parts
from recorder.archive.reading.import_paths import CopiedSource
from recorder.archive.reading.importing import Outcome, SourceReading, facts_of, read_kept, store
from recorder.archive.reading.inputs import forgotten_in
from recorder.archive.reading.kept_bytes import reads_kept, source_blocks, source_timing
from recorder.archive.reading.reading_ahead import ReadParts, write_parts
from recorder.archive.reading.workers import Channel, WorkerDiedError, Workers, jobs_for, of_batches
from recorder.containment import contain, failures_sentence
from recorder.errors import SourceError
from recorder.journal.parts import session_parts
from recorder.pipeline import PARSER_VERSION
from recorder.progress import of_several
from recorder.sources import SourceKind
from recorder.sources.redaction import Forgotten
from recorder.text import plural
from storage import ArchiveStore, GameFilter, SourceRow

if TYPE_CHECKING:
    from recorder.model import Game
    from recorder.progress import Progress
    from storage.write.analyses import AnalysisCounts

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
class _Task:
    """How sources are read in another process.

    Attributes:
        old: the archive in which they are. forgotten: players that the new one forgets.
        folder: for files of parts. count: of all sources.
    """

    old: Path
    forgotten: Forgotten
    folder: Path
    count: int


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
                facts, copied = facts_of(row, old.source_timing(row.id)), CopiedSource(old, row, wanted)
                store(new, facts, copied, Outcome(row.name, "new"), keep=row.kept or None)
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
        For each source in order, as ``_store``.
    """
    forgotten, count = forgotten_in(new), len(rows)
    sizes = [row.size_bytes for row in rows]
    processes = jobs_for(sizes, jobs)
    if processes < 2:
        for number, row in enumerate(rows, 1):
            yield _store(old, new, row, _open(old, row, forgotten, of_several(progress, number, count)))
        return
    with tempfile.TemporaryDirectory(prefix="ics-recorder-rebuild-") as folder, Workers(processes) as workers:
        task = _Task(old.path, forgotten, Path(folder), count)
        read = of_batches(workers, _read_apart, lambda: task, list(enumerate(rows, 1)), sizes, progress)
        for row, found in zip(rows, read, strict=True):
            if isinstance(found, WorkerDiedError):
                yield Unread(row, f"is not read, since the process that read it {found}", True)
            else:
                yield _store(old, new, row, found)


def _read_apart(task: _Task, numbered: tuple[int, SourceRow], channel: Channel) -> SourceReading | Unread:
    """Read a source; runs in a process of its own.

    Args:
        numbered: the source, with its number from 1.
    """
    number, row = numbered
    with ArchiveStore.open(str(task.old), read_only=True) as old:
        reading = _open(old, row, task.forgotten, of_several(channel.progress, number, task.count))
        if isinstance(reading, Unread):
            return reading
        path = task.folder / f"{number}.parts"
        try:
            return ReadParts(path, write_parts(path, reading, keep=row.kept_bytes > 0))
        except Exception as error:
            return _broken(row, error)


def _open(old: ArchiveStore, row: SourceRow, forgotten: Forgotten, progress: Progress) -> SourceReading | Unread:
    """The reading of one source.

    Args:
        old: where it is. forgotten: players that are not stored.
    """
    blocks = source_blocks(old, row)
    try:
        timing = source_timing(old, row)
    except SourceError:
        blocks = timing = None
    if blocks is None:
        return Unread(row, _why_unreadable(row), False)
    return read_kept(row, _whole(blocks, row, progress), timing, forgotten)


def _whole(blocks: Iterator[bytes], row: SourceRow, progress: Progress) -> Iterator[bytes]:
    """The bytes of a source.

    Raises:
        SourceError: they became fewer.
    """
    done = 0
    for block in blocks:
        yield block
        done += len(block)
        progress(row.name, done, row.size_bytes)
    if done != row.size_bytes:
        raise SourceError(f"{row.name}: the file was truncated while being read.")


def _store(
    old: ArchiveStore, new: ArchiveStore, row: SourceRow, reading: SourceReading | Unread
) -> Unread | str | None:
    """Store one source.

    Returns:
        That it could not be read, a sentence about what errors of this program kept from being read, or None.
    """
    if isinstance(reading, Unread):
        return reading
    try:
        # Who is not in what is kept is still to be read.
        version = row.parser_version if row.lacks_player and reads_kept(row) else PARSER_VERSION
        facts = facts_of(row, source_timing(old, row), parser_version=version)
        found = store(new, facts, reading, Outcome(row.name, "new"), keep=row.kept_bytes > 0)
    except Exception as error:
        return _broken(row, error)
    return failures_sentence(found.report, row.name)


def _broken(row: SourceRow, error: Exception) -> Unread:
    """That an error ended the reading of a source.

    Raises:
        Exception: the error, if it is none of this program.
    """
    return Unread(row, f"is not read because of an error of this program, please report it: {contain(error)}", True)


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
