"""Importing what a user names: logs, folders of logs, and other archives.

The games of another archive are taken as they were read; their bytes are parsed again only where each archive says
something else of a log that the other does not know: its date, server, zone, kind or timing file. The archive gets what
importing all logs of both would give it. So a source that both have is there once; where one has more of a log than the
other, the longer one counts; what was forgotten here stays out, and a player whom one of them forgets is
forgotten.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from itertools import islice, repeat
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, NamedTuple

from recorder.archive.care.erasing import forget_handles
from recorder.archive.locate import archive_file, open_archive
from recorder.archive.reading.importing import (
    STORED,
    Found,
    Import,
    Outcome,
    Outcomes,
    Part,
    ReadBefore,
    ReadOptions,
    facts_of,
    forgotten_in,
    identify,
    read_identified,
    read_kept,
    store,
)
from recorder.archive.reading.inputs import Input, open_inputs
from recorder.archive.reading.kept_bytes import hash_at, source_blocks, source_timing
from recorder.archive.reading.partial_logs import PartialLogs
from recorder.archive.reading.reading_ahead import read_ahead
from recorder.archive.reading.workers import WorkerDiedError
from recorder.corrections import recorded
from recorder.errors import SourceError, StorageError
from recorder.live.status import is_state_file
from recorder.model import ImportStatus
from recorder.pipeline import PARSER_VERSION
from recorder.progress import Progress, of_several
from recorder.sources.redaction import Forgotten, ForgottenHandle
from recorder.text import plural
from storage import EVERY_GAME, ArchiveStore, ForgottenSource, SourceRow, is_database, reading_other

_GAMES = 200
_BLOCK_BYTES = 1 << 20
_FAILURES_SHOWN = 5


@dataclass(frozen=True, slots=True)
class _Step:
    """What is to become of a source of another archive; without ``options`` its games are taken as they were read."""

    row: SourceRow
    status: ImportStatus
    ours: SourceRow | None = None  # whose place it takes
    part_of: str | None = None  # the name of a longer one that is here
    options: dict[str, Any] | None = None


class Merged(NamedTuple):
    """What importing another archive did, or would do.

    Attributes:
        name: the other archive, as the user named it.
        outcomes: what became of each source of the other archive.
        players: how many players the other archive has erased and this one had not; only hashes of their handles are
            known.
        games: how many games of these players were removed from this archive.
        analyses: how many analyses were copied. homeless: how many were not, because this archive has no such games.
    """

    name: str
    outcomes: list[Outcome]
    players: int
    games: int
    analyses: int = 0
    homeless: int = 0

    def __repr__(self) -> str:
        states = Counter(outcome.status.replace("-", " ") for outcome in self.outcomes)
        inner = ", ".join(f"{count:,} {status}" for status, count in sorted(states.items()))
        games = sum(outcome.games for outcome in self.outcomes)
        return f"Merge of {plural(len(self.outcomes), 'log')}{f' ({inner})' if inner else ''} · {plural(games, 'game')}"


def merge(archive: ArchiveStore | None, other: ArchiveStore, name: str, *, dry_run: bool, progress: Progress) -> Merged:
    """Take what another archive has and this one has not, in one transaction; ``archive`` None: it is not there yet."""
    theirs = set(other.erasures.forgotten_handles())
    if archive is None:
        return Merged(name, [_outcome(name, _Step(row, ImportStatus.NEW)) for row in other.sources()], len(theirs), 0)
    if dry_run:
        return Merged(name, [_outcome(name, step) for step in _plan(archive, other)], *_going(archive, theirs))
    with archive.transaction():
        players, games = _going(archive, theirs)
        wanted = other.successors()
        handles = {*archive.erasures.forgotten_handles(), *theirs}
        outcomes: list[Outcome] = []
        for step in _plan(archive, other):
            outcomes.append(_outcome(name, step))
            if step.status in STORED:
                _take_source(archive, other, step, wanted, outcomes[-1])
                progress(step.row.name, step.row.size_bytes, step.row.size_bytes)
        archive.duplicates.take_over_decisions(other.duplicates)
        archive.corrections.take_over(other.corrections)
        analyses, homeless = archive.analyses.take_over(other.analyses)
        if handles:
            forget_handles(archive, sorted(handles), progress)
            left = {row.sha256: row.games for row in archive.sources()}
            for outcome in outcomes:
                if outcome.games:
                    outcome.games = left.get(outcome.sha256 or "", 0)
    return Merged(name, outcomes, players, games, analyses, homeless)


def _take_source(
    archive: ArchiveStore, other: ArchiveStore, step: _Step, wanted: dict[str, str], outcome: Outcome
) -> None:
    """Take a source as it was read, or read it again with what both archives say of it."""
    row, mine, options = step.row, step.ours, step.options
    same = mine if mine is not None and mine.sha256 == row.sha256 else row
    continues = None if mine is None else replace(mine, read_up_to=0)
    named = {"name": same.name, "path": same.path}
    if mine is None or options is None:
        facts, copied = facts_of(row, other.source_timing(row.id), **named), CopiedSource(other, row, wanted)
        store(archive, facts, copied, outcome, keep=row.kept or None, continues=continues)
    else:
        timing = _timing_of(archive, other, row, mine, options.get("timing_sha256") or "")
        read = replace(row, options=options, kind=options.get("kind") or row.kind, parser_version=PARSER_VERSION)
        with TemporaryFile() as spool:
            for block in _bytes_of(archive, other, row, mine) or ():  # writing drops what this archive keeps
                spool.write(block)
            spool.seek(0)
            blocks = iter(lambda: spool.read(_BLOCK_BYTES), b"")
            reading = read_kept(read, blocks, timing, forgotten_in(archive))
            keep = row.kept or same.kept
            store(archive, facts_of(read, timing, **named), reading, outcome, keep=keep, continues=continues)
    outcome.flawed = outcome.report is not None and bool(outcome.report.anomalies)


def _going(archive: ArchiveStore, theirs: set[ForgottenHandle]) -> tuple[int, int]:
    """How many players are forgotten here, too, from now on, and how many games go with them."""
    handles = theirs.difference(archive.erasures.forgotten_handles())
    if not handles:
        return 0, 0
    new = Forgotten(handles)
    games = archive.games(replace(EVERY_GAME, per_source=True))
    return len(handles), sum(game.white.handle in new or game.black.handle in new for game in games)


def _outcome(name: str, step: _Step) -> Outcome:
    row = step.row
    return Outcome(
        f"{name}: {row.name}",
        step.status,
        kind=row.kind,
        sha256=row.sha256,
        size_bytes=row.size_bytes,
        games=row.games if step.status in STORED else 0,
        part_of=step.part_of,
    )


def _plan(archive: ArchiveStore, other: ArchiveStore) -> list[_Step]:
    ours, forgotten = archive.sources(), archive.erasures.forgotten_sources()
    by_hash = {row.sha256: row for row in ours}
    forgotten_players = Forgotten({*archive.erasures.forgotten_handles(), *other.erasures.forgotten_handles()})
    here, there = PartialLogs(archive, forgotten_players), PartialLogs(other, forgotten_players)
    ours.sort(key=lambda row: -row.size_bytes)
    steps: list[_Step] = []
    for row in other.sources():
        if (mine := by_hash.get(row.sha256)) is not None:
            steps.append(_of_both(archive, other, row, mine))
        elif _was_forgotten(other, row, forgotten):
            steps.append(_Step(row, ImportStatus.FORGOTTEN))
        elif (whole := next((mine for mine in ours if there.begins(row, here, mine)), None)) is not None:
            steps.append(_Step(row, ImportStatus.KNOWN, part_of=whole.name))
        else:
            before = next((mine for mine in ours if here.begins(mine, there, row)), None)
            if before is not None:
                ours.remove(before)  # another version of it goes on differently and is a log of its own
            if before is None:
                steps.append(_Step(row, ImportStatus.NEW))
            else:
                steps.append(_Step(row, ImportStatus.GROWN, before, options=_to_read_with(archive, other, row, before)))
    return steps


def _of_both(archive: ArchiveStore, other: ArchiveStore, row: SourceRow, mine: SourceRow) -> _Step:
    if mine.lacks_player and mine.kept and not row.kept:
        return _Step(
            row, ImportStatus.KNOWN, mine
        )  # its games would have bytes without them; the kept ones may be all that is left
    if (row.parser_version == PARSER_VERSION) != (mine.parser_version == PARSER_VERSION):
        better = row.parser_version == PARSER_VERSION
    else:
        better = row.kept and not mine.kept
    either = _given(_of_either(row, mine))
    if not better and either == _given(mine.options):
        return _Step(row, ImportStatus.KNOWN, mine)
    options = _to_read_with(archive, other, row, mine)
    if options is None and not better and either != _given(row.options):
        return _Step(row, ImportStatus.KNOWN, mine)  # what this archive says would be lost
    return _Step(row, ImportStatus.REPLACED, mine, options=options)


def _of_either(row: SourceRow, mine: SourceRow) -> dict[str, Any]:
    """What the archives say of a log; where both say something, this one counts, and which chat is kept it decides."""
    return row.options | _given(mine.options) | {"chat": mine.options.get("chat")}


def _given(options: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}


def _to_read_with(archive: ArchiveStore, other: ArchiveStore, row: SourceRow, mine: SourceRow) -> dict[str, Any] | None:
    """The options with which a source is read again; None: it is taken as it was read, or its bytes are gone."""
    options = _of_either(row, mine)
    read_well = row.parser_version == PARSER_VERSION or mine.parser_version != PARSER_VERSION
    if (read_well and _given(options) == _given(row.options)) or _bytes_of(archive, other, row, mine) is None:
        return None
    wanted = options.get("timing_sha256")
    return options if wanted is None or _timing_of(archive, other, row, mine, wanted) is not None else None


def _bytes_of(archive: ArchiveStore, other: ArchiveStore, row: SourceRow, mine: SourceRow) -> Iterator[bytes] | None:
    blocks = source_blocks(other, row)
    return source_blocks(archive, mine) if blocks is None and mine.sha256 == row.sha256 else blocks


def _timing_of(
    archive: ArchiveStore, other: ArchiveStore, row: SourceRow, mine: SourceRow, wanted: str
) -> bytes | None:
    """The timing file that a typescript is read with, by its hash; None: neither archive has it."""
    for store_of, of in ((archive, mine), (other, row)):
        if of.options.get("timing_sha256") == wanted:
            with suppress(SourceError):
                return source_timing(store_of, of)
    return None


def _was_forgotten(other: ArchiveStore, row: SourceRow, forgotten: list[ForgottenSource]) -> bool:
    """Whether a source, or the beginning of it, was taken out here."""
    if any(row.sha256 == gone.sha256 for gone in forgotten):
        return True
    marks = [gone for gone in forgotten if 0 < gone.size_bytes < row.size_bytes]
    _, hashes = hash_at((marks and source_blocks(other, row)) or (), [gone.size_bytes for gone in marks])
    return any(hashes.get(gone.size_bytes) == gone.sha256 for gone in marks)


class CopiedSource:
    """Gives a source of another archive with its games as they were read. It is a ``SourceReading``."""

    found: Found

    def __init__(self, other: ArchiveStore, row: SourceRow, wanted: dict[str, str]) -> None:
        self._other = other
        self._row = row
        self._wanted = wanted

    def __iter__(self) -> Iterator[Part]:
        other, row = self._other, self._row
        for block in other.read_source(row.sha256) if row.kept else ():
            yield Part(block, [])
        games = other.games(replace(EVERY_GAME, source=row.sha256, per_source=True))
        while some := list(islice(games, _GAMES)):
            yield Part(b"", [replace(recorded(game), key=self._wanted.get(game.key, game.key)) for game in some])
        self.found = Found(other.report(row.sha256), row.read_up_to, False, row.unfinished)


@dataclass(slots=True, repr=False)
class ImportReport(Outcomes):
    """What an import did.

    Attributes:
        outcomes: what became of each log, also of logs in other archives, in the order of the paths.
        merged: the result for each other archive.
        skipped: files in folders that were not opened, because of their names.
    """

    merged: list[Merged] = field(default_factory=list)
    skipped: list[Path] = field(default_factory=list)

    def __repr__(self) -> str:
        states = Counter(outcome.status.replace("-", " ") for outcome in self.outcomes)
        inner = ", ".join(f"{count:,} {status}" for status, count in sorted(states.items()))
        files = f"{plural(len(self.outcomes), 'file')}{f' ({inner})' if inner else ''}"
        lines = [f"Import of {files} · {plural(self.games, 'game')} · {plural(self.plies, 'ply', 'plies')}"]
        failures = self.failures
        lines += [f"  {outcome.message or outcome.name}" for outcome in failures[:_FAILURES_SHOWN]]
        if len(failures) > _FAILURES_SHOWN:
            lines.append(f"  and {len(failures) - _FAILURES_SHOWN} more: see `failures`")
        return "\n".join(lines)


def import_paths(
    archive: ArchiveStore | None,
    where: str,
    paths: Sequence[str],
    options: ReadOptions,
    *,
    keep: bool = True,
    read: bool = False,
    jobs: int | None = None,
    progress: Progress,
    on_file: Callable[[Outcome | Merged, bool], object] | None = None,
) -> ImportReport:
    """Without an archive nothing is stored, and the report says what each file is; with ``read`` logs are also read."""
    report = ImportReport()
    importing = None if archive is None else Import(archive, options, keep=keep)
    with ExitStack() as stack:
        sources = list(stack.enter_context(open_inputs(paths, report.skipped, progress)))
        ahead: Iterator[ReadBefore | WorkerDiedError | None] = repeat(None)
        if importing is not None:
            ahead = stack.enter_context(read_ahead(importing, sources, jobs=jobs, progress=progress))
        for number, (source, before) in enumerate(zip(sources, ahead, strict=False), 1):
            of_file = of_several(progress, number, len(sources))
            result: Outcome | Merged
            if source.named and is_database(source.path):
                result = merge_file(archive, where, source, of_file)
                report.merged.append(result)
                report.outcomes += result.outcomes
            else:
                if importing is None:
                    result = identify(source, options, progress=of_file)
                    if read:
                        read_identified(source, options, result, of_file)
                else:
                    result = importing.take(source, of_file, before)
                report.outcomes.append(result)
            if on_file is not None:
                on_file(result, len(sources) == 1)
    report.skipped = [path for path in report.skipped if not is_state_file(path)]  # of recorders that run now
    return report


def merge_file(archive: ArchiveStore | None, where: str, source: Input, progress: Progress) -> Merged:
    """Merge another archive, or say what would come. One that cannot be read gives one ``failed`` outcome."""
    ours = archive_file(where)
    with ExitStack() as stack:
        try:
            if ours.exists() and source.path.samefile(ours):
                raise StorageError(f"{source.name} is the archive itself.")
            other = stack.enter_context(reading_other(source.path))
        except StorageError as error:
            return Merged(source.name, [Outcome(source.name, ImportStatus.FAILED, str(error))], 0, 0)
        if archive is not None or not ours.exists():
            return merge(archive, other, source.name, dry_run=archive is None, progress=progress)
        with open_archive(where) as reading:
            return merge(reading, other, source.name, dry_run=True, progress=progress)
