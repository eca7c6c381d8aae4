"""Reading logs into an archive: which bytes are new, and from where reading goes on.

A file is read twice. The first pass hashes its decompressed bytes, noting the running hash at the sizes of sources
that may have grown into it. The second replaces secrets, then feeds the pipeline and keeps the same bytes: no line,
shape or event can hold a password. Each source is one transaction: an import that is killed leaves the sources that
were finished.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recorder.archive.copies import Copies
from recorder.archive.erasing import forgotten_in, holds
from recorder.archive.inputs import Fingerprint, Input, LogReading, ReadOptions, fingerprint, timing_of
from recorder.containment import contain, failures_sentence
from recorder.errors import JournalError, SourceError
from recorder.journal.parts import find_part, is_being_written
from recorder.model import SAVED_KINDS, AnomalyKind, SourceReport
from recorder.pipeline import PARSER_VERSION, AnyPipeline, Pipeline
from recorder.sources import (
    Scrubbing,
    SourceKind,
    detect,
    is_journal,
    is_own_export,
    log_files,
    scrubbed,
    why_not_a_log,
)
from recorder.sources.redaction import Forgotten, Redactor, redacted
from storage.read.sources import UNFINISHED

if TYPE_CHECKING:
    from recorder.model import Game
    from recorder.progress import Progress
    from storage import ArchiveStore, SourceRow, SourceWriter

__all__ = ["Begun", "NothingYetError", "Outcome", "import_source", "marked", "tell_kind"]


_AT_ONCE = 8 << 20
"""Of a log that is followed only so much is imported in one transaction: the rest comes in blocks, in flat memory."""


class NothingYetError(SourceError):
    """A log that is followed has not even one whole line."""


@dataclass(slots=True)
class Begun:
    """A log that was read so far.

    Attributes:
        pipeline, scrubbing: what has read it. size, running: of the bytes that the archive knows of, and their hash.
        held: the bytes behind them: ``scrubbing`` waits for the end of their line.
        mark: stands in the source's row as long as nobody else changes it.
        behind: there is more of it, not looked at yet.
    """

    pipeline: Pipeline
    scrubbing: Scrubbing
    size: int
    running: hashlib._Hash
    held: bytes
    mark: str
    behind: bool


@dataclass(slots=True)
class Outcome:
    """What became of one log.

    Attributes:
        status: ``new``, ``known``, ``grown``, ``replaced``, ``forgotten`` (was taken out, and is not asked for by its
            name), ``exported`` (lies in a folder, and this program wrote it), ``log`` (only looked at),
            ``not-a-log`` or ``failed``.
        message: why not all of it was read, one sentence, or None.
        games, plies, undated: what this import added; ``undated`` games have no known date.
        flawed: the archive has anomalies of it, found now or by an earlier import.
        named: as ``Input.named``.
        part_of: the log in the archive that begins with all of this one, or None.
        read_up_to: games that begin before this place are final; None: nothing was stored.
        begun: what a followed log is read on with; None: it is not followed, or there is nothing to follow yet.
    """

    name: str
    status: str
    message: str | None = None
    kind: str | None = None
    sha256: str | None = None
    size_bytes: int = 0
    games: int = 0
    plies: int = 0
    undated: int = 0
    report: SourceReport | None = None
    flawed: bool = False
    named: bool = True
    part_of: str | None = None
    read_up_to: int | None = None
    begun: Begun | None = None

    @property
    def unreadable(self) -> bool:
        """Whether something asked for could not be read; a stray file in a folder was not asked for."""
        return self.message is not None and (self.named or self.status != "not-a-log")

    def count(self, games: list[Game]) -> None:
        """Add games that were stored."""
        self.games += len(games)
        for game in games:
            self.plies += game.ply_count
            self.undated += game.day is None


def tell_kind(source: Input, options: ReadOptions) -> Outcome:
    """What a file is, without storing anything."""
    if source.error is not None:
        return Outcome(source.name, "failed", source.error)
    try:
        seen = fingerprint(source)
    except SourceError as error:
        return Outcome(source.name, "failed", str(error))
    outcome = Outcome(source.name, "log", seen.damage, sha256=seen.sha256, size_bytes=seen.size, named=source.named)
    kind = _kind_of(seen, options)
    if kind is None:
        return _no_log(outcome, seen)
    outcome.kind = kind.value
    if _was_exported(source, seen, kind):
        outcome.status = "exported"
    return outcome


def _was_exported(source: Input, seen: Fingerprint, kind: SourceKind) -> bool:
    """Whether nobody named it, and its games came from logs: they would be there twice."""
    return not source.named and kind in SAVED_KINDS and is_own_export(seen.head)


def _kind_of(seen: Fingerprint, options: ReadOptions) -> SourceKind | None:
    return (options.kind or detect(seen.head)) if seen.size else None


def _no_log(outcome: Outcome, seen: Fingerprint) -> Outcome:
    outcome.status = "not-a-log"
    outcome.message = f"{outcome.name} {why_not_a_log(seen.head, nameable=True)}"
    return outcome


def import_source(
    archive: ArchiveStore,
    source: Input,
    options: ReadOptions,
    *,
    copies: Copies,
    keep: bool = True,
    progress: Progress | None = None,
    living: bool = False,
    on_games: Callable[[list[Game]], None] | None = None,
) -> Outcome:
    """Read one log into the archive, in one transaction.

    A source that an earlier parser version read, that was read with other options than are given now, or that an error
    of this program kept from being read whole, is read again as a whole; options that are not given now are those it
    was read with. An earlier part of a source has nothing new, however it is read. A source that was forgotten comes
    back only if the user names it. Of a source that is no longer where it was the archive learns where it is now.

    Args:
        archive: open for writing.
        source: the log.
        options: how it is read.
        copies: finds out whether it is an earlier part of a log in the archive.
        keep: whether its bytes are kept; those of a journal never are.
        progress: told after each block.
        living: the log is followed: what is not over stays open, see ``Outcome.begun``.
        on_games: is given the games that are stored, before they are committed.
    Returns:
        What became of it; a log that cannot be read is ``failed``, not an exception.
    Raises:
        StorageError: the archive cannot be written.
    """
    if source.error is not None:
        return Outcome(source.name, "failed", source.error)
    candidates, forgotten = archive.growth_candidates(), archive.forgotten_sources()
    sizes = [*(size for size, _ in candidates), *(row.size_bytes for row in forgotten)]
    try:
        seen = fingerprint(source, sizes)
        before = _continued(archive, candidates, seen)
    except SourceError as error:
        return Outcome(source.name, "failed", str(error))
    outcome = Outcome(source.name, "new", seen.damage, sha256=seen.sha256, size_bytes=seen.size, named=source.named)
    forgotten = [row for row in forgotten if row.size_bytes and seen.marks.get(row.size_bytes) == row.sha256]
    if forgotten and not source.named:
        told = _kind_of(seen, options)
        outcome.status, outcome.kind = "forgotten", None if told is None else told.value
        return outcome
    if seen.size and (before is None or before.sha256 != seen.sha256):
        part = _known_part(copies, source, seen, outcome)
        if part is not None:
            return part
    options = replace(options, timing=timing_of(source), forgotten=forgotten_in(archive))
    lost = None if before is not None else _longer(archive, source, seen)
    before = before or lost
    if before is not None:
        same = lost is None and _is_read_alike(archive, before, options)
        options = options.over(ReadOptions.from_json(before.options, archive.source_timing(before.id)))
        if same and before.sha256 == seen.sha256 and not (living or before.unfinished):
            outcome.status, outcome.kind = "known", before.kind
            _note_place(archive, before, source)
            outcome.flawed = bool(archive.anomaly_kinds(seen.sha256))
            return outcome
        outcome.status = "grown" if same else "replaced"
        if not same:
            before = replace(before, read_up_to=0, restart_state={})
    kind = SourceKind(before.kind) if before and options.kind is None else _kind_of(seen, options)
    if kind is None:
        return _no_log(outcome, seen)
    outcome.kind = kind.value
    if before is None and _was_exported(source, seen, kind):
        outcome.status = "exported"
        return outcome
    reading = _Reading(archive, source, seen, kind, options, before, keep, progress, living, on_games)
    failed = _try_writing(reading, outcome)
    if failed is not None:
        return failed
    if outcome.report is not None:
        outcome.message = outcome.message or failures_sentence(outcome.report, source.name)
    for row in forgotten:
        archive.recall_source(row.sha256)
    outcome.flawed = bool(archive.anomaly_kinds(outcome.sha256 or seen.sha256))
    return outcome


def _known_part(copies: Copies, source: Input, seen: Fingerprint, outcome: Outcome) -> Outcome | None:
    """What becomes of an earlier part of a log that the archive has; None: it is none."""
    try:
        whole = copies.whole_of(source, seen.size, seen.head)
    except SourceError as error:
        return Outcome(source.name, "failed", str(error))
    if whole is None:
        return None
    outcome.status, outcome.kind, outcome.part_of = "known", whole.kind, whole.name
    return outcome


def _is_read_alike(archive: ArchiveStore, before: SourceRow, options: ReadOptions) -> bool:
    """Whether what the archive has of a source was read as it would be read now, and without an internal error."""
    given = {name: value for name, value in options.to_json().items() if value is not None}
    same = before.parser_version == PARSER_VERSION and before.options | given == before.options
    return same and AnomalyKind.INTERNAL_ERROR not in archive.anomaly_kinds(before.sha256)


def _note_place(archive: ArchiveStore, before: SourceRow, source: Input) -> None:
    """Note where a known source is now, if it is no longer where it was."""
    gone = before.path is not None and not find_part(Path(before.path)).exists()
    if gone and (place := _path(source, SourceKind(before.kind), forgotten_in(archive))) is not None:
        archive.move_source(before.sha256, place)


def _continued(archive: ArchiveStore, candidates: list[tuple[int, str]], seen: Fingerprint) -> SourceRow | None:
    """The longest source that a file's bytes begin with."""
    sha256 = next((sha256 for size, sha256 in reversed(candidates) if seen.marks.get(size) == sha256), None)
    return None if sha256 is None else archive.source(sha256)


def _longer(archive: ArchiveStore, source: Input, seen: Fingerprint) -> SourceRow | None:
    """The source that was this journal before a power cut took its end, but not the archive's; the journal counts."""
    if not is_journal(source.path):
        return None
    path = str(source.path.absolute())
    longer = [row for row in archive.sources() if row.size_bytes > seen.size and row.path == path and row.unfinished]
    return min(longer, key=lambda row: (row.size_bytes, row.sha256), default=None)


def _name(source: Input, kind: SourceKind, forgotten: Forgotten) -> str:
    """What the archive calls a log; a journal is called the same before and after it is compressed."""
    if source.spooled:
        return forgotten.name(source.name)
    name = forgotten.name(Path(source.name).name)
    return name.removesuffix(".zst") if kind is SourceKind.JOURNAL else name


def _path(source: Input, kind: SourceKind, forgotten: Forgotten) -> str | None:
    """Where the archive says that a log is; None: it would tell of somebody who is forgotten, and can do without."""
    path = str(source.path.absolute())
    told = kind is not SourceKind.JOURNAL and forgotten.name(path) != path
    return None if source.spooled or told else path


@dataclass(slots=True, frozen=True)
class _Reading:
    """The second pass over a source: ``before`` is what the archive has of it, the rest as for ``import_source``."""

    archive: ArchiveStore
    source: Input
    seen: Fingerprint
    kind: SourceKind
    options: ReadOptions
    before: SourceRow | None
    keep: bool
    progress: Progress | None
    living: bool
    on_games: Callable[[list[Game]], None] | None


def _try_writing(reading: _Reading, outcome: Outcome) -> Outcome | None:
    """Do the second pass; return what became of a log that cannot be read, else None."""
    name, seen = reading.source.name, reading.seen
    try:
        _write(reading, outcome)
    except NothingYetError as error:
        return Outcome(name, "not-a-log", str(error))
    except SourceError as error:
        return Outcome(name, "failed", str(error), outcome.kind, seen.sha256, seen.size)
    except JournalError as error:
        return Outcome(name, "failed", f"{name}: {error}", outcome.kind, seen.sha256, seen.size)
    except Exception as error:
        message = f"{name}: an error of this program, please report it: {contain(error)}"
        return Outcome(name, "failed", message, outcome.kind, seen.sha256, seen.size)
    return None


class _Intake:
    """Takes the clean bytes of a source: keeps them, and stores the games that the pipeline makes of them.

    Args:
        writer, pipeline: of the source.
        outcome: counts the games.
        on_games: as for ``import_source``.
        start: the place from which the pipeline reads. keep_from: that from which bytes are kept; None: none are.
        done: the place of the first byte to come.
    """

    def __init__(
        self,
        writer: SourceWriter,
        pipeline: AnyPipeline,
        outcome: Outcome,
        on_games: Callable[[list[Game]], None] | None,
        *,
        start: int,
        keep_from: int | None,
        done: int,
    ) -> None:
        self.done = done
        self._writer = writer
        self._pipeline = pipeline
        self._outcome = outcome
        self._on_games = on_games
        self._start = start
        self._keep_from = keep_from

    def store(self, games: list[Game]) -> None:
        """Store games."""
        self._writer.add_games(games)
        self._outcome.count(games)
        if self._on_games is not None:
            self._on_games(games)

    def take(self, clean: bytes) -> None:
        """Take the next bytes."""
        if self._keep_from is not None:
            self._writer.keep(clean[max(self._keep_from - self.done, 0) :])
        if self.done + len(clean) > self._start:
            self.store(self._pipeline.receive(clean[max(self._start - self.done, 0) :]))
        self.done += len(clean)


def _write(reading: _Reading, outcome: Outcome) -> None:
    """The second pass: one transaction."""
    source, seen, kind, options = reading.source, reading.seen, reading.kind, reading.options
    before, living = reading.before, reading.living
    resumed = before if before is not None and before.read_up_to else None
    start = resumed.restart_state.get("begin", resumed.read_up_to) if resumed else 0
    forgotten = options.forgotten or Forgotten()
    keep = reading.keep and kind is not SourceKind.JOURNAL
    if keep and before is not None and before.kept_bytes < start and _tells_of_forgotten(source, start, kind, options):
        keep = False  # they would be kept without the pipeline's having looked at them
    resume = resumed.restart_state if resumed else None
    if living and kind in SAVED_KINDS:
        raise SourceError(
            f"{source.name} contains saved games, and only logs can be followed; import it when it has grown."
        )
    followed = options.living_pipeline(kind, resume=resume, offset=start) if living else None
    pipeline: AnyPipeline = followed or options.pipeline(kind, resume=resume, offset=start)
    with reading.archive.write_source(
        sha256=seen.sha256,
        size_bytes=seen.size,
        name=_name(source, kind, forgotten),
        path=_path(source, kind, forgotten),
        kind=kind.value,
        keep=keep,
        parser_version=PARSER_VERSION,
        options=options.to_json(),
        timing=options.timing,
        continues=before,
    ) as writer:
        if not keep:
            writer.keep_nothing()  # nor what was kept before
        keep_from = writer.keep_from if keep else None
        # A resumed log is one of whose lines none tells of another: what is before need not be looked at again.
        first = start if keep_from is None or start <= keep_from else 0
        intake = _Intake(writer, pipeline, outcome, reading.on_games, start=start, keep_from=keep_from, done=first)
        scrubbing = Scrubbing(kind, begun=first > 0, redact=Redactor(forgotten, kind).receive)
        end = seen.size
        if living and kind is not SourceKind.TYPESCRIPT:
            end = min(end, max(start + _AT_ONCE, 0 if before is None else before.size_bytes))
        held = _read_blocks(reading, intake, scrubbing, first, end)
        if followed is not None:
            outcome.begun = _begin(source, seen, writer, followed, scrubbing, end, held)
            outcome.sha256, outcome.size_bytes = outcome.begun.running.hexdigest(), outcome.begun.size
        else:
            intake.take(scrubbing.finish())
        outcome.read_up_to, state = pipeline.restart()
        mark = None
        if outcome.begun is not None:
            mark = outcome.begun.mark
        elif kind is SourceKind.JOURNAL and is_being_written(log_files(source.path)[-1]):
            mark = "import"
        writer.restart(outcome.read_up_to, marked(state, mark))
        if not living:
            intake.store(pipeline.finish(unfinished=mark is not None))
        if keep and pipeline.unredacted:
            writer.keep_nothing()
        outcome.report = pipeline.report
        writer.finish(pipeline.report)


def _read_blocks(reading: _Reading, intake: _Intake, scrubbing: Scrubbing, first: int, end: int) -> bytes:
    """Read a source from ``first`` to ``end``; return the last bytes, whose line has no end yet."""
    read, held = first, b""
    for block in LogReading(reading.source, reading.progress, size=end, offset=first):
        read += len(block)
        intake.take(scrubbing.receive(block))
        left = read - intake.done
        held = (block if left <= len(block) else held + block)[-left:] if left else b""
    if read != end:
        raise SourceError(f"{reading.source.name}: the file was truncated while being read; import it again")
    return held


def _tells_of_forgotten(source: Input, size: int, kind: SourceKind, options: ReadOptions) -> bool:
    """Whether a handle stands among a log's first bytes where it cannot be replaced."""
    forgotten = options.forgotten
    if not forgotten:
        return False
    return holds(redacted(scrubbed(LogReading(source, size=size), kind), forgotten, kind), kind, forgotten)


def marked(state: dict[str, Any], mark: str | None) -> dict[str, Any]:
    """A restart state that tells whether more of the source may be there than the archive knows.

    Args:
        mark: of whoever left it so; None: all was read.
    """
    rest = {name: value for name, value in state.items() if name != UNFINISHED}
    return rest if mark is None else {**rest, UNFINISHED: mark}


def _begin(
    source: Input,
    seen: Fingerprint,
    writer: SourceWriter,
    pipeline: Pipeline,
    scrubbing: Scrubbing,
    end: int,
    held: bytes,
) -> Begun:
    """What a log is followed with; the archive then knows of it only what was read and has come whole."""
    size, running = end - len(held), seen.running
    if not size:
        raise NothingYetError(f"{source.name} has no whole line yet")
    if size != seen.size:
        running = hashlib.sha256()
        for block in LogReading(source, size=size):
            running.update(block)
        writer.resize(running.hexdigest(), size)
    return Begun(pipeline, scrubbing, size, running, held, secrets.token_hex(8), end < seen.size)
