"""Reading logs into an archive: which bytes are new, and from where reading continues.

A file is read twice. The first pass hashes its decompressed bytes, noting the running hash at the sizes of sources
that may have grown into it. The second replaces secrets, then feeds the pipeline and keeps the same bytes: no line,
shape or event can hold a password. Each source is one transaction: an import that is killed leaves the sources that
were finished.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from recorder.archive.erasing import forgotten_in
from recorder.archive.inputs import Fingerprint, GameReader, Input, ReadOptions, fingerprint, was_exported
from recorder.archive.partial_logs import PartialLogs
from recorder.archive.spool import take_over
from recorder.archive.storing import (
    NothingYetError,
    Outcome,
    SourceReading,
    store_source,
    stored_path,
    writing_source,
)
from recorder.containment import contain, failures_sentence
from recorder.errors import JournalError, SourceError
from recorder.journal.parts import find_part
from recorder.model import AnomalyKind
from recorder.pipeline import PARSER_VERSION
from recorder.sources import (
    SourceKind,
    detect,
    is_journal,
    why_not_a_log,
)

if TYPE_CHECKING:
    from recorder.archive.pieces import Pieces
    from recorder.archive.reading_ahead import ReadAhead
    from recorder.model import Game
    from recorder.progress import Progress
    from storage import ArchiveStore, ForgottenSource, SourceRow


__all__ = [
    "identify",
    "import_source",
    "is_internal",
    "kind_of",
    "read_identified",
    "why_failed",
    "try_storing",
]


def identify(
    source: Input, options: ReadOptions, marks: Sequence[int] = (), progress: Progress | None = None
) -> Outcome:
    """Identify a file without storing anything.

    Args:
        source: the file. options: how it is read.
        marks: sizes at which the outcome has the hash of the bytes so far. progress: called after each block.
    """
    if source.error is not None:
        return Outcome(source.name, "failed", source.error)
    try:
        seen = fingerprint(source, marks, progress)
    except SourceError as error:
        return Outcome(source.name, "failed", str(error))
    outcome = Outcome(source.name, "log", seen.damage, sha256=seen.sha256, size_bytes=seen.size, named=source.named)
    outcome.marks = seen.marks
    kind = kind_of(seen, options)
    if kind is None:
        return _no_log(outcome, seen)
    outcome.kind = kind.value
    if was_exported(source, seen.head, kind):
        outcome.status = "exported"
    return outcome


def read_identified(source: Input, options: ReadOptions, outcome: Outcome, progress: Progress) -> None:
    """Read a log without storing anything.

    Args:
        source: the log. options: how it is read. progress: called after each block.
        outcome: as ``identify`` returns it; gets the report and the numbers of games.
    """
    if outcome.status != "log" or outcome.kind is None:
        return
    reader = GameReader(source, replace(options, kind=SourceKind(outcome.kind)), progress, outcome.size_bytes)
    try:
        for game in reader:
            outcome.count([game])
    except Exception as error:
        outcome.status, outcome.message = "failed", why_failed(error, source.name)
        return
    outcome.report, outcome.flawed = reader.report, bool(reader.report.anomalies)
    outcome.message = outcome.message or failures_sentence(reader.report, source.name)


def why_failed(error: Exception, name: str) -> str:
    """Why a log cannot be read."""
    if isinstance(error, SourceError):
        return str(error)
    if not is_internal(error):
        return f"{name}: {error}"
    return f"{name}: an error of this program, please report it: {contain(error)}"


def is_internal(error: Exception) -> bool:
    """Whether an error that ended the reading of a log is one of this program, and not of the file."""
    return not isinstance(error, SourceError | JournalError)


def kind_of(seen: Fingerprint, options: ReadOptions) -> SourceKind | None:
    """As what kind of log a file is read; None: it is none."""
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
    partial_logs: PartialLogs,
    keep: bool = True,
    progress: Progress | None = None,
    followed: bool = False,
    on_games: Callable[[list[Game]], None] | None = None,
    ahead: ReadAhead | None = None,
    pieces: Pieces | None = None,
) -> Outcome:
    """Read one log into the archive, in one transaction.

    A source that an earlier parser version read, that was read with other options than are given now, or that an error
    of this program kept from being read whole, is read again as a whole; options that are not given now are those it
    was read with. An earlier part of a source has nothing new, however it is read. A source that was forgotten comes
    back only if the user names it. Of a source that is no longer where it was the archive learns where it is now.

    Args:
        archive: open for writing. source: the log. options: how it is read.
        partial_logs: finds out whether it is an earlier part of a log in the archive.
        keep: whether its bytes are kept; those of a journal never are. progress: called after each block.
        followed: games without an end stay open, see ``Outcome.begun``.
        on_games: is given the games that are stored, before they are committed.
        ahead: what another process read of it. pieces: reads it in several processes, if it can be divided.
    Returns:
        What became of it; a log that cannot be read is ``failed``, not an exception.
    Raises:
        StorageError: the archive cannot be written.
        WorkerDiedError: a process that read a piece of it died; nothing of it is stored.
    """
    if source.error is not None:
        return Outcome(source.name, "failed", source.error)
    known = _sizes(archive.growth_candidates(), archive.erasures.forgotten_sources())
    look = partial(_look, archive, source, options, partial_logs, followed, progress)
    try:
        seen = fingerprint(source, sorted(known), progress) if ahead is None else ahead.seen
        with archive.snapshot():
            version = archive.content_version()
            found = look(seen, known)
        if isinstance(found, Outcome):
            return found
        with archive.transaction():
            if version is None or archive.content_version() != version:  # another process may have stored the same log
                found = look(found.seen, known)
                if isinstance(found, Outcome):
                    return found
            seen, outcome = found.seen, found.outcome
            reading = SourceReading(archive, source, seen, *found.plan, keep, progress, followed, on_games, pieces)
            if (failed := _store(reading, ahead, outcome)) is not None:
                return failed
            for row in found.forgotten:
                archive.erasures.recall_source(row.sha256)
    except Exception as error:  # in what is made of the games before the commit
        return Outcome(source.name, "failed", why_failed(error, source.name))
    outcome.flawed = bool(archive.anomaly_kinds(outcome.sha256 or seen.sha256))
    return outcome


_Plan = tuple[SourceKind, ReadOptions, "SourceRow | None"]
"""As what kind and with which options a log is read, and the source that it continues."""


class _Found(NamedTuple):
    """A log that is to be read.

    Attributes:
        seen: of the log. outcome: what is to become of it. plan: how it is read.
        forgotten: sources that were forgotten, with which it begins.
    """

    seen: Fingerprint
    outcome: Outcome
    plan: _Plan
    forgotten: list[ForgottenSource]


def _sizes(candidates: list[tuple[int, str]], forgotten: list[ForgottenSource]) -> set[int]:
    """Sizes of sources with which a log may begin."""
    return {*(size for size, _ in candidates), *(row.size_bytes for row in forgotten)}


def _look(
    archive: ArchiveStore,
    source: Input,
    options: ReadOptions,
    partial_logs: PartialLogs,
    followed: bool,
    progress: Progress | None,
    seen: Fingerprint,
    hashed: Collection[int],
) -> _Found | Outcome:
    """Find out what the archive has of a log: in a transaction, or in a snapshot.

    Args:
        archive, source, options, partial_logs, followed, progress: as for ``import_source``.
        seen: of the log. hashed: sizes at which it has the hash.
    Returns:
        What became of the log, if nothing is to be read.
    Raises:
        SourceError: the log cannot be read.
    """
    candidates, forgotten = archive.growth_candidates(), archive.erasures.forgotten_sources()
    sizes = {size for size in _sizes(candidates, forgotten).difference(hashed) if size <= seen.size}
    if sizes:  # of sources that other processes have stored since
        seen = replace(seen, marks=seen.marks | fingerprint(source, sorted(sizes), progress).marks)
    forgotten = [row for row in forgotten if row.size_bytes and seen.marks.get(row.size_bytes) == row.sha256]
    before = _continued(archive, candidates, seen)
    outcome = Outcome(source.name, "new", seen.damage, sha256=seen.sha256, size_bytes=seen.size, named=source.named)
    if not source.named and forgotten:
        kind = kind_of(seen, options)
        outcome.status, outcome.kind = "forgotten", None if kind is None else kind.value
        return outcome
    changed = before is None or before.sha256 != seen.sha256
    if changed and _is_known_part(partial_logs, source, seen, outcome):
        return outcome
    plan = _plan(archive, source, seen, options, before, outcome, followed=followed)
    return outcome if plan is None else _Found(seen, outcome, plan, forgotten)


def _plan(
    archive: ArchiveStore,
    source: Input,
    seen: Fingerprint,
    options: ReadOptions,
    before: SourceRow | None,
    outcome: Outcome,
    *,
    followed: bool,
) -> _Plan | None:
    """Decide as what kind, with which options and from where a source is read.

    Args:
        options: those of this import. before: the source that this file continues. outcome: its status is set.
    Returns:
        None if nothing is to be read; ``outcome`` has the reason.
    """
    options = options.of(source, forgotten=forgotten_in(archive))
    cut = None if before is not None else _longer(archive, source, seen)
    before = before or cut
    if before is not None:
        same = cut is None and _is_read_alike(archive, before, options)
        options = options.over(ReadOptions.from_json(before.options, archive.source_timing(before.id)))
        if same and before.sha256 == seen.sha256 and not (followed or before.unfinished):
            outcome.status, outcome.kind = "known", before.kind
            _note_place(archive, before, source)
            outcome.flawed = bool(archive.anomaly_kinds(seen.sha256))
            return None
        outcome.status = "grown" if same else "replaced"
        if not same:
            before = replace(before, read_up_to=0)
    kind = SourceKind(before.kind) if before and options.kind is None else kind_of(seen, options)
    if kind is None:
        _no_log(outcome, seen)
        return None
    outcome.kind = kind.value
    if before is None and was_exported(source, seen.head, kind):
        outcome.status = "exported"
        return None
    return kind, options, before


def _is_known_part(partial_logs: PartialLogs, source: Input, seen: Fingerprint, outcome: Outcome) -> bool:
    """Whether a log is an earlier part of one that the archive has; then ``outcome`` says of which."""
    whole = partial_logs.whole_of(source, seen.size, seen.head) if seen.size else None
    if whole is not None:
        outcome.status, outcome.kind, outcome.part_of = "known", whole.kind, whole.name
    return whole is not None


def _is_read_alike(archive: ArchiveStore, before: SourceRow, options: ReadOptions) -> bool:
    """Whether what the archive has of a source was read as it would be read now, and without an internal error."""
    given = {name: value for name, value in options.to_json().items() if value is not None}
    same = before.parser_version == PARSER_VERSION and before.options | given == before.options
    return same and AnomalyKind.INTERNAL_ERROR not in archive.anomaly_kinds(before.sha256)


def _note_place(archive: ArchiveStore, before: SourceRow, source: Input) -> None:
    """Note where a known source is now, if it is no longer where it was."""
    gone = before.path is not None and not find_part(Path(before.path)).exists()
    if gone and (place := stored_path(source, SourceKind(before.kind), forgotten_in(archive))) is not None:
        archive.move_source(before.sha256, place)


def _continued(archive: ArchiveStore, candidates: list[tuple[int, str]], seen: Fingerprint) -> SourceRow | None:
    """The longest source that a file's bytes begin with; None: no source is one.

    Args:
        candidates: size in bytes and SHA-256 of sources, the shortest first.
    """
    sha256 = next((sha256 for size, sha256 in reversed(candidates) if seen.marks.get(size) == sha256), None)
    return None if sha256 is None else archive.source(sha256)


def _longer(archive: ArchiveStore, source: Input, seen: Fingerprint) -> SourceRow | None:
    """The source that was this journal before a power cut took its end, but not the archive's; the journal counts.

    Returns:
        None: the source is no journal, or the archive has no longer one of this path.
    """
    if not is_journal(source.path):
        return None
    path = str(source.path.absolute())
    longer = [row for row in archive.sources() if row.size_bytes > seen.size and row.path == path and row.unfinished]
    return min(longer, key=lambda row: (row.size_bytes, row.sha256), default=None)


def _store(reading: SourceReading, ahead: ReadAhead | None, outcome: Outcome) -> Outcome | None:
    """As ``try_storing``; what another process read as it is read here is not read again.

    Args:
        ahead: the reading by another process; None: it was not read ahead.
    Returns:
        As ``try_storing``.
    """
    read = None if ahead is None else ahead.outcome
    here = (reading.kind, reading.options, reading.before)
    if ahead is None or ahead.spool is None or read is None or here != (ahead.kind, ahead.options, None):
        return try_storing(reading, outcome)
    if read.status == "failed":
        return read
    with writing_source(reading) as writer:
        take_over(ahead.spool, writer)
    outcome.games, outcome.plies, outcome.undated = read.games, read.plies, read.undated
    outcome.report, outcome.read_up_to, outcome.message = read.report, read.read_up_to, read.message
    return None


def try_storing(reading: SourceReading, outcome: Outcome) -> Outcome | None:
    """Do the second pass of a log.

    Args:
        reading: of it. outcome: the games are counted in it.
    Returns:
        What became of a log that cannot be read, else None.
    """
    name, seen = reading.source.name, reading.seen
    try:
        if reading.pieces is None or not reading.pieces.store(reading, outcome):
            store_source(reading, outcome)
    except NothingYetError as error:
        return Outcome(name, "not-a-log", str(error))
    except Exception as error:
        return Outcome(name, "failed", why_failed(error, name), outcome.kind, seen.sha256, seen.size)
    if outcome.report is not None:
        outcome.message = outcome.message or failures_sentence(outcome.report, name)
    return None
