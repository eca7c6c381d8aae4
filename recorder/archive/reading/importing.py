"""One way in: a source is opened, hashed, looked up in the archive, read and stored (``Import.take``).

The first reading of a file hashes its decompressed bytes, noting the running hash at the sizes of sources that may
have grown into it; a small file is held from then on, a large one read again. Secrets are replaced before the pipeline
reads and the archive keeps the bytes: no line, shape or event can hold a password. Each source is one transaction: an
import that is killed leaves the sources that were finished.
"""

from __future__ import annotations

import datetime
import hashlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

from recorder.archive.reading.inputs import Input
from recorder.archive.reading.kept_bytes import hash_at
from recorder.archive.reading.partial_logs import PartialLogs
from recorder.archive.reading.workers import WorkerDiedError
from recorder.containment import contain, failures_sentence
from recorder.corrections import stated
from recorder.errors import JournalError, SourceError
from recorder.journal.parts import find_part, is_being_written
from recorder.live.secrets.logs import scrubbed
from recorder.model import SAVED_KINDS, AnomalyKind, ImportStatus, SourceReport, site_of
from recorder.pipeline import PARSER_VERSION
from recorder.progress import no_progress
from recorder.reading import AnyPipeline, joined_games, make_pipeline
from recorder.sources import (
    HEAD_BYTES,
    SourceKind,
    detect,
    find_timing,
    is_journal,
    is_own_export,
    log_files,
    read_blocks,
    read_head,
    why_not_a_log,
)
from recorder.sources.name_dates import check_format, date_in_name
from recorder.sources.redaction import Forgotten, Redactor
from recorder.times import parse_zone, refuse_future

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recorder.model import Game
    from recorder.progress import Progress
    from storage import ArchiveStore, ForgottenSource, SourceRow

_HEAD_BYTES: Final = 4096
_HELD_BYTES: Final = 8 << 20

STORED: Final = (ImportStatus.NEW, ImportStatus.GROWN, ImportStatus.REPLACED)
"""``Outcome.status`` of the logs of which an import has stored something."""


_CHATS = ("none", "public", "own", "all")


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How a log is read; see ``reading_options``. None: not given."""

    kind: SourceKind | None = None
    server: str | None = None
    date: datetime.date | None = None
    tz: str | None = None
    chat: str | None = None
    timing: bytes | None = None
    forgotten: Forgotten | None = None
    date_from_name: str | None = None

    def of(self, source: Input, **more: Any) -> ReadOptions:
        """The options of one source: with the date of its name and its timing file."""
        day = None if self.date_from_name is None else date_in_name(Path(source.name).name, self.date_from_name)
        return replace(self, date=day or self.date, timing=timing_of(source), **more)

    @classmethod
    def from_json(cls, values: dict[str, Any], timing: bytes | None) -> ReadOptions:
        """Invert ``to_json``; ``timing`` are the bytes of the timing file, of which it has only the hash."""
        kind, day = values.get("kind"), values.get("date")
        return cls(
            None if kind is None else SourceKind(kind),
            values.get("server"),
            None if day is None else datetime.date.fromisoformat(day),
            values.get("tz"),
            values.get("chat"),
            timing,
        )

    def to_json(self) -> dict[str, Any]:
        """What a later continuation of the same source must be read with."""
        return {
            "kind": None if self.kind is None else self.kind.value,
            "server": self.server,
            "date": None if self.date is None else self.date.isoformat(),
            "tz": self.tz,
            "chat": self.chat,
            "timing_sha256": None if self.timing is None else hashlib.sha256(self.timing).hexdigest(),
        }

    def stated(self) -> dict[str, str]:
        """What these options state of all games, by the fields of ``recorder.corrections``; a file's name does not."""
        day = None if self.date is None or self.date_from_name else self.date.isoformat().replace("-", ".")
        return {field: value for field, value in (("Date", day), ("Site", self.server)) if value}

    def over(self, older: ReadOptions) -> ReadOptions:
        """These options, and the older ones where these do not say."""
        return replace(older, **{one.name: value for one in fields(self) if (value := getattr(self, one.name))})

    def pipeline(self, kind: SourceKind, **more: Any) -> AnyPipeline:
        """``more``: other arguments of it."""
        return make_pipeline(
            kind,
            server=self.server,
            date=self.date,
            tz=None if self.tz is None else parse_zone(self.tz),
            chat=self.chat or "public",
            timing=self.timing,
            forgotten=self.forgotten,
            **more,
        )


def read_options(
    kind: str | SourceKind | None,
    server: str | None,
    date: str | datetime.date | None,
    tz: str | None,
    chat: str | None,
    date_from_name: str | None = None,
) -> ReadOptions:
    """The options as ``Archive.import_logs`` describes them; SourceError: one has an unknown value."""
    if chat not in (None, *_CHATS):
        raise SourceError(f"chat is one of {', '.join(_CHATS)}, not {chat!r}.")
    try:
        kind = None if kind is None else SourceKind(kind)
    except ValueError as error:
        words = ", ".join(source_kind.value for source_kind in SourceKind)
        raise SourceError(f"{kind!r} is no kind of log; there are {words}.") from error
    if isinstance(date, str):
        try:
            date = datetime.date.fromisoformat(date)
        except ValueError as error:
            raise SourceError(f"{date!r} is not a date; write it as 2020-01-31.") from error
    try:
        if tz is not None:
            parse_zone(tz)
        if date is not None:
            refuse_future(date)
    except ValueError as error:
        raise SourceError(str(error)) from error
    form = None if date_from_name is None else check_format(date_from_name)
    return ReadOptions(kind, site_of(server), date, tz, chat, date_from_name=form)


def timing_of(source: Input) -> bytes | None:
    path = None if source.spooled else find_timing(source.path)
    return None if path is None else path.read_bytes()


def forgotten_in(archive: ArchiveStore) -> Forgotten:
    return Forgotten(archive.erasures.forgotten_handles())


class NothingYetError(SourceError):
    """A log that is followed has not even one whole line."""


class NoLogError(SourceError):
    """A file that is no log, or of a folder, and written by this program: a folder may have such files."""


@dataclass(slots=True)
class Outcome:
    """What became of one log.

    Attributes:
        status: ``new``, ``known``, ``grown``, ``replaced``, ``forgotten`` (removed from the archive earlier, and found
            in a folder), ``exported`` (written by this program, and found in a folder), ``log`` (identified in a dry
            run), ``empty`` (a journal without a byte), ``not-a-log`` or ``failed``.
        message: why it could not be read, or not completely, one sentence; None: it was read.
        games, plies, undated: what this import added; ``undated`` games have no known date.
        corrected: how many games of the source had another date or server than the options state.
        flawed: the archive has anomalies of this log, found now or by an earlier import.
        named: the user named this file, and not only a folder that contains it.
        part_of: the log in the archive of which this one is the beginning, or None.
        marks: size → hash of the bytes up to there, where ``identify`` was asked for it.
    """

    name: str
    status: ImportStatus
    message: str | None = None
    kind: str | None = None
    sha256: str | None = None
    size_bytes: int = 0
    games: int = 0
    plies: int = 0
    undated: int = 0
    corrected: int = 0
    report: SourceReport | None = None
    flawed: bool = False
    named: bool = True
    part_of: str | None = None
    marks: dict[int, str] = field(default_factory=dict)

    @property
    def unreadable(self) -> bool:
        """Whether a log could not be read; False for files of a folder that are not logs."""
        stray = self.status == ImportStatus.EMPTY or (self.status == ImportStatus.NOT_A_LOG and not self.named)
        return self.message is not None and not stray

    def count(self, games: list[Game]) -> None:
        """Add games that were stored.

        Args:
            games: all games of this log, each once.
        """
        self.games += len(games)
        for game in games:
            self.plies += game.ply_count
            self.undated += game.day is None


@dataclass(slots=True, repr=False)
class Outcomes:
    outcomes: list[Outcome] = field(default_factory=list)

    @property
    def games(self) -> int:
        """How many games were written; a game in several logs counts once per log."""
        return sum(outcome.games for outcome in self.outcomes)

    @property
    def plies(self) -> int:
        """How many half-moves were written."""
        return sum(outcome.plies for outcome in self.outcomes)

    @property
    def failures(self) -> list[Outcome]:
        """Files that could not be read, or not to their end; ``Outcome.message`` says why."""
        return [outcome for outcome in self.outcomes if outcome.unreadable]


class LogReading:
    """Blocks of one log up to ``size`` bytes; damage at its end is noted in ``damage`` after all before it was read."""

    def __init__(self, source: Input, progress: Progress | None = None, size: int | None = None) -> None:
        self.damage: str | None = None
        self._source = source
        self._progress = progress
        self._size = size

    def __iter__(self) -> Iterator[bytes]:
        done = 0
        try:
            blocks = read_blocks(self._source.path)
        except SourceError as error:
            raise self._by_name(error) from error
        with closing(blocks):
            for block in blocks:
                if self._size is not None:
                    block = block[: self._size - done]  # what a running client appends meanwhile waits for next time
                done += len(block)
                if self._source.on_block is not None:
                    self._source.on_block()
                if self._progress is not None:
                    self._progress(self._source.name, *(blocks.place if self._size is None else (done, self._size)))
                yield block
                if done == self._size:
                    return
        if blocks.problem is not None:
            if not done:
                raise self._by_name(blocks.problem)
            self.damage = str(self._by_name(blocks.problem))

    def _by_name(self, error: SourceError) -> SourceError:
        """An error that begins with a path, with the name instead; in the case of a journal, of any of its parts."""
        path, name = str(self._source.path), self._source.name
        if name.endswith(own := self._source.path.name):
            path, name = path.removesuffix(own), name.removesuffix(own)
        text = str(error)
        return SourceError(name + text.removeprefix(path)) if text.startswith(path) else error


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """What the first pass learns of the decompressed bytes; ``marks``: sizes → hash of the bytes up to there."""

    sha256: str
    size: int
    head: bytes
    marks: dict[int, str]
    damage: str | None
    held: list[bytes] | None = None  # all bytes of a small file; None: it is read again

    def blocks(self, source: Input) -> Iterable[bytes]:
        """The bytes that were hashed; what a running client appends meanwhile waits for next time."""
        return LogReading(source, size=self.size) if self.held is None else self.held


def fingerprint(source: Input, marks: Sequence[int] = (), progress: Progress | None = None) -> Fingerprint:
    """Hash a file's decompressed bytes, and the bytes up to each of ``marks``."""
    head, size = bytearray(), 0
    held: list[bytes] | None = []
    # It has another name, because reading the games is another operation, which begins at 0 again.
    reading = LogReading(source, progress and (lambda name, done, total: progress(f"{name} (hash)", done, total)))

    def noted() -> Iterator[bytes]:
        nonlocal size, held
        for block in reading:
            if len(head) < HEAD_BYTES:
                head.extend(block[: HEAD_BYTES - len(head)])
            size += len(block)
            if held is not None:
                held.append(block)
                held = held if size <= _HELD_BYTES else None
            yield block

    sha256, hashes = hash_at(noted(), marks)
    return Fingerprint(sha256, size, bytes(head), hashes, reading.damage, held)


def was_exported(source: Input, head: bytes, kind: SourceKind) -> bool:
    """Whether the file was found in a folder and its games came from logs: they would be there twice."""
    return not source.named and kind in SAVED_KINDS and is_own_export(head)


def clean_blocks(
    source: Input, hashed: Fingerprint, kind: SourceKind, options: ReadOptions, progress: Progress
) -> Iterator[bytes]:
    """Return the bytes of a log, secrets and forgotten handles replaced; SourceError: the file is shorter now."""
    blocks = whole_blocks(hashed.blocks(source), source.name, hashed.size, progress)
    return scrubbed(blocks, kind, Redactor(options.forgotten or Forgotten(), kind))


def whole_blocks(blocks: Iterable[bytes], name: str, size: int, progress: Progress) -> Iterator[bytes]:
    """SourceError: together they are not of this size."""
    done = 0
    for block in blocks:
        done += len(block)
        progress(name, done, size)
        yield block
    if done != size:
        raise SourceError(f"{name}: the file was truncated while being read; import it again")


class Part(NamedTuple):
    """The next bytes of a source, cleaned, or the ``chunks`` of them, and finished games."""

    clean: bytes
    games: list[Game]
    chunks: Sequence[tuple[int, bytes]] = ()


@dataclass(frozen=True, slots=True)
class Found:
    """What was found in all of a source; games that begin before ``read_up_to`` are final."""

    report: SourceReport
    read_up_to: int
    unredacted: bool  # as of ``Pipeline``: its bytes are not kept
    unfinished: str | None = None
    resized: tuple[str, int] | None = None  # hash and size of the bytes that were read, where more are there


class SourceReading(Protocol):
    """Gives a source part by part. Then ``found`` says what was found in all of it."""

    found: Found

    def __iter__(self) -> Iterator[Part]:
        """The parts, in their order."""


class SourcePass:
    """Reads a source in this process; ``unfinished`` says after the last bytes whether more may come."""

    found: Found

    def __init__(
        self, clean: Iterable[bytes], pipeline: AnyPipeline, unfinished: Callable[[], str | None] = lambda: None
    ) -> None:
        self._clean = clean
        self._pipeline = pipeline
        self._unfinished = unfinished

    def __iter__(self) -> Iterator[Part]:
        pipeline = self._pipeline
        for block in self._clean:
            yield Part(block, pipeline.receive(block))
        mark, read_up_to = self._unfinished(), pipeline.read_up_to
        yield Part(b"", pipeline.finish(unfinished=mark is not None))
        self.found = Found(pipeline.report, read_up_to, pipeline.unredacted, mark)


@dataclass(frozen=True, slots=True)
class Plan:
    """How a log is read; ``before`` is the source that it continues, ``forgotten`` are sources with which it begins."""

    source: Input
    hashed: Fingerprint
    kind: SourceKind
    options: ReadOptions
    before: SourceRow | None = None
    forgotten: tuple[ForgottenSource, ...] = ()

    @property
    def read_up_to(self) -> int:
        return 0 if self.before is None else self.before.read_up_to

    def reading(self, progress: Progress) -> SourceReading:
        source, kind, options = self.source, self.kind, self.options
        return SourcePass(
            clean_blocks(source, self.hashed, kind, options, progress), options.pipeline(kind), self._unfinished
        )

    def _unfinished(self) -> str | None:
        written = self.kind is SourceKind.JOURNAL and is_being_written(log_files(self.source.path)[-1])
        return "import" if written else None

    def facts(self) -> dict[str, Any]:
        source, kind, forgotten = self.source, self.kind, self.options.forgotten or Forgotten()
        name = forgotten.name(source.name if source.spooled else Path(source.name).name)
        if kind is SourceKind.JOURNAL and not source.spooled:  # called the same before and after it is compressed
            name = name.removesuffix(".zst")
        return {
            "sha256": self.hashed.sha256,
            "size_bytes": self.hashed.size,
            "name": name,
            "path": _stored_path(source, kind, forgotten),
            "kind": kind.value,
            "parser_version": PARSER_VERSION,
            "options": self.options.to_json(),
            "timing": self.options.timing,
        }


@dataclass(frozen=True, slots=True)
class ReadBefore:
    """What another process found out about a log before its turn came; without ``reading`` nothing was read."""

    hashed: Fingerprint
    kind: SourceKind | None = None
    options: ReadOptions | None = None
    reading: SourceReading | None = None

    def of(self, plan: Plan) -> SourceReading | None:
        """What was read, if it is what is to be read."""
        return self.reading if (self.kind, self.options, None) == (plan.kind, plan.options, plan.before) else None


class Import:
    """Imports logs into an archive, each in one transaction.

    A source that an earlier parser version read, that was read with other options than are given now, or that an error
    of this program kept from being read whole, is stored again as a whole; options that are not given now are those it
    was read with. Of one that has grown, the games that are final stay. An earlier part of a source has nothing new,
    however it is read. A source that was forgotten comes back only if the user names it. Of a source that is no longer
    where it was the archive learns where it is now. ``keep``: the bytes of logs are kept; those of journals never are.
    ``again``: a log that has not changed is read, too. ``opened`` returns the reading of a log that is to be read.
    """

    def __init__(self, archive: ArchiveStore, options: ReadOptions, *, keep: bool = True, again: bool = False) -> None:
        self.archive = archive
        self.options = options
        self.keep = keep
        self.opened: Callable[[Plan, Progress], SourceReading] = Plan.reading
        self._again = again
        self._partial_logs = PartialLogs(archive, forgotten_in(archive))
        self._heads: dict[str, bytes] = {}  # how the logs of this import begin, by their hash

    def take(
        self, source: Input, progress: Progress = no_progress, before: ReadBefore | WorkerDiedError | None = None
    ) -> Outcome:
        """Import a log; one that cannot be read is ``failed``, not an exception."""
        if source.error is not None:
            return Outcome(source.name, ImportStatus.FAILED, source.error)
        archive, outcome = self.archive, Outcome(source.name, ImportStatus.NEW, named=source.named)
        try:
            if isinstance(before, WorkerDiedError):
                raise before
            sizes = [size for size, _ in self.beginnings()] if before is None else []
            hashed = fingerprint(source, sizes, progress) if before is None else before.hashed
            with archive.snapshot():
                version = archive.content_version()
                plan = self._plan(source, hashed, outcome, progress)
            if plan is None:
                return outcome
            with archive.transaction():
                if version is None or archive.content_version() != version:  # another process may have stored the log
                    plan = self._plan(source, plan.hashed, outcome, progress)
                if plan is None:
                    return outcome
                reading = (before and before.of(plan)) or self.opened(plan, progress)
                keep = self.keep and plan.kind is not SourceKind.JOURNAL
                found = store(archive, plan.facts(), reading, outcome, keep=keep, continues=plan.before)
                outcome.sha256, outcome.size_bytes = found.resized or (plan.hashed.sha256, plan.hashed.size)
                self._correct(plan, outcome)
                for row in plan.forgotten:
                    archive.erasures.recall_source(row.sha256)
        except NothingYetError as error:
            return Outcome(source.name, ImportStatus.NOT_A_LOG, str(error))
        except Exception as error:  # one source that cannot be read costs no other
            why = why_failed(error, source.name)
            return Outcome(source.name, ImportStatus.FAILED, why, outcome.kind, outcome.sha256, outcome.size_bytes)
        outcome.message = outcome.message or failures_sentence(found.report, source.name)
        outcome.flawed = bool(archive.anomaly_kinds(outcome.sha256))
        return outcome

    def _correct(self, plan: Plan, outcome: Outcome) -> None:
        """Give all games the date and the server that the user states, as ``edit`` does."""
        if (values := self.options.stated()) and outcome.sha256 is not None:
            older = ReadOptions() if plan.before is None else ReadOptions.from_json(plan.before.options, None)
            outcome.corrected = self.archive.corrections.edit_source(outcome.sha256, values, older.stated())
            outcome.undated = 0 if "Date" in values else outcome.undated

    def beginnings(self) -> list[tuple[int, str]]:
        """Size and hash of sources with which a log may begin, or which it may be."""
        forgotten = self.archive.erasures.forgotten_sources()
        return [*self.archive.growth_candidates(), *((row.size_bytes, row.sha256) for row in forgotten)]

    def _plan(self, source: Input, hashed: Fingerprint, outcome: Outcome, progress: Progress) -> Plan | None:
        """Find out what the archive has of a log, in a transaction or a snapshot; None: nothing is to be read."""
        archive = self.archive
        hashed = self._hashed(source, hashed, progress)
        self._heads[hashed.sha256] = hashed.head[:_HEAD_BYTES]
        outcome.status, outcome.message = ImportStatus.NEW, hashed.damage
        outcome.sha256, outcome.size_bytes = hashed.sha256, hashed.size
        gone = archive.erasures.forgotten_sources()
        forgotten = [row for row in gone if row.size_bytes and hashed.marks.get(row.size_bytes) == row.sha256]
        if forgotten and not source.named:
            kind = kind_of(hashed, self.options)
            outcome.status, outcome.kind = ImportStatus.FORGOTTEN, None if kind is None else kind.value
            return None
        before = self._continued(hashed)
        changed = before is None or before.sha256 != hashed.sha256
        whole = None
        if changed and hashed.size:
            blocks = hashed.blocks
            whole = self._partial_logs.whole_of(lambda kind: scrubbed(blocks(source), kind), hashed.size, hashed.head)
        if whole is not None:
            outcome.status, outcome.kind, outcome.part_of = ImportStatus.KNOWN, whole.kind, whole.name
            return None
        options = self.options.of(source, forgotten=forgotten_in(archive))
        cut = None if before is not None else self._longer(source, hashed)
        before = before or cut
        if before is not None:
            same = cut is None and self._is_read_alike(before, options)
            options = options.over(ReadOptions.from_json(before.options, archive.source_timing(before.id)))
            if same and not changed and not (self._again or before.unfinished):
                outcome.status, outcome.kind = ImportStatus.KNOWN, before.kind
                self._note_place(before, source)
                outcome.flawed = bool(archive.anomaly_kinds(hashed.sha256))
                return None
            outcome.status = ImportStatus.GROWN if same else ImportStatus.REPLACED
            if not same:
                before = replace(before, read_up_to=0)
        kind = SourceKind(before.kind) if before and options.kind is None else kind_of(hashed, options)
        if kind is None:
            _no_log(outcome, source, hashed)
            return None
        outcome.kind = kind.value
        if before is None and was_exported(source, hashed.head, kind):
            outcome.status = ImportStatus.EXPORTED
            return None
        return Plan(source, hashed, kind, options, before, tuple(forgotten))

    def _hashed(self, source: Input, hashed: Fingerprint, progress: Progress) -> Fingerprint:
        """Add the hashes at the sizes of sources that were stored since then, if the log may begin with them."""
        sizes = {
            size
            for size, sha256 in self.beginnings()
            if size <= hashed.size and size not in hashed.marks and hashed.head.startswith(self._heads.get(sha256, b""))
        }
        if not sizes - {0}:
            return hashed
        return replace(hashed, marks=hashed.marks | fingerprint(source, sorted(sizes), progress).marks)

    def _continued(self, hashed: Fingerprint) -> SourceRow | None:
        """The longest source that a file's bytes begin with; None: no source is one."""
        for size, sha256 in reversed(self.archive.growth_candidates()):
            if hashed.marks.get(size) == sha256:
                return self.archive.source(sha256)
        return None

    def _longer(self, source: Input, hashed: Fingerprint) -> SourceRow | None:
        """The source that was this journal before a power cut took its end, but not the archive's."""
        if not is_journal(source.path):
            return None
        path, rows = str(source.path.absolute()), self.archive.sources()
        longer = [row for row in rows if row.size_bytes > hashed.size and row.path == path and row.unfinished]
        return min(longer, key=lambda row: (row.size_bytes, row.sha256), default=None)

    def _is_read_alike(self, before: SourceRow, options: ReadOptions) -> bool:
        """Whether what the archive has of a source was read as it would be now, and without an internal error."""
        given = {name: value for name, value in options.to_json().items() if value is not None}
        same = before.parser_version == PARSER_VERSION and before.options | given == before.options
        return same and AnomalyKind.INTERNAL_ERROR not in self.archive.anomaly_kinds(before.sha256)

    def _note_place(self, before: SourceRow, source: Input) -> None:
        """Note where a known source is now, if it is no longer where it was."""
        if before.path is not None and not find_part(Path(before.path)).exists():
            path = _stored_path(source, SourceKind(before.kind), forgotten_in(self.archive))
            if path is not None:
                self.archive.move_source(before.sha256, path)


def store(
    archive: ArchiveStore,
    facts: dict[str, Any],
    reading: SourceReading,
    outcome: Outcome,
    *,
    keep: bool | None,
    continues: SourceRow | None = None,
) -> Found:
    """Store a source, with all that its reading gives, in one transaction; ``facts`` are its row.

    With ``keep`` None, what is kept of its bytes stays. ``continues`` is the source whose place it takes, and whose
    games stay that begin before its ``read_up_to``.
    """
    outcome.games = outcome.plies = outcome.undated = 0
    with archive.write_source(**facts, keep=bool(keep), continues=continues) as writer:
        done, kept = 0, writer.keep_from
        for clean, games, chunks in reading:
            if games:
                games = [game for game in games if continues is None or game.first_offset >= continues.read_up_to]
                writer.add_games(games)
                outcome.count(games)
            writer.keep(clean[max(kept - done, 0) :])
            done += len(clean)
            for chunk in chunks:
                writer.keep_chunk(*chunk)
        found = reading.found
        if found.resized is not None:
            writer.resize(*found.resized)
        if keep is False or found.unredacted:
            writer.keep_nothing()  # nor what was kept before
        writer.finish(found.report, found.read_up_to, found.unfinished)
    outcome.report = found.report
    return found


def facts_of(row: SourceRow, timing: bytes | None, **changes: Any) -> dict[str, Any]:
    """What ``store`` has to know of a source that an archive has."""
    names = ("sha256", "size_bytes", "name", "path", "kind", "parser_version", "options")
    return {name: getattr(row, name) for name in names} | {"timing": timing} | changes


def read_kept(row: SourceRow, blocks: Iterable[bytes], timing: bytes | None, forgotten: Forgotten) -> SourcePass:
    """Read a source of an archive with the options of its row."""
    kind = SourceKind(row.options.get("kind") or row.kind)
    pipeline = replace(ReadOptions.from_json(row.options, timing), forgotten=forgotten).pipeline(kind)
    # What is unfinished stays so: the next start still looks for more of it.
    return SourcePass(Redactor(forgotten, kind).all(blocks), pipeline, lambda: row.unfinished)


def _stored_path(source: Input, kind: SourceKind, forgotten: Forgotten) -> str | None:
    """The path of a log as the archive stores it; None: it would contain the handle of a forgotten player."""
    path = str(source.path.absolute())
    names_player = kind is not SourceKind.JOURNAL and forgotten.name(path) != path
    return None if source.spooled or names_player else path


def identify(
    source: Input, options: ReadOptions, marks: Sequence[int] = (), progress: Progress | None = None
) -> Outcome:
    """Identify a file without storing anything; the outcome has the hashes of the bytes up to ``marks``."""
    if source.error is not None:
        return Outcome(source.name, ImportStatus.FAILED, source.error)
    try:
        hashed = fingerprint(source, marks, progress)
    except SourceError as error:
        return Outcome(source.name, ImportStatus.FAILED, str(error))
    outcome = Outcome(
        source.name, ImportStatus.LOG, hashed.damage, sha256=hashed.sha256, size_bytes=hashed.size, named=source.named
    )
    outcome.marks = hashed.marks
    kind = kind_of(hashed, options)
    if kind is None:
        return _no_log(outcome, source, hashed)
    outcome.kind = kind.value
    if was_exported(source, hashed.head, kind):
        outcome.status = ImportStatus.EXPORTED
    return outcome


def read_identified(source: Input, options: ReadOptions, outcome: Outcome, progress: Progress) -> None:
    if outcome.status != ImportStatus.LOG or outcome.kind is None:
        return
    reader = GameReader(source, replace(options, kind=SourceKind(outcome.kind)), progress, outcome.size_bytes)
    try:
        for game in reader:
            outcome.count([game])
    except Exception as error:  # as in take: it costs no other source
        outcome.status, outcome.message = ImportStatus.FAILED, why_failed(error, source.name)
        return
    outcome.report, outcome.flawed = reader.report, bool(reader.report.anomalies)
    outcome.message = outcome.message or failures_sentence(reader.report, source.name)


def why_failed(error: Exception, name: str) -> str:
    if isinstance(error, SourceError):
        return str(error)
    if isinstance(error, WorkerDiedError):
        return f"{name}: the process that read it {error}; nothing of it was stored. Import it again."
    if not is_internal(error):
        return f"{name}: {error}"
    return f"{name}: an error of this program, please report it: {contain(error)}"


def is_internal(error: Exception) -> bool:
    """Whether an error that ended the reading of a log is one of this program, and not of the file."""
    return not isinstance(error, SourceError | JournalError)


def kind_of(hashed: Fingerprint, options: ReadOptions) -> SourceKind | None:
    """As what kind of log a file is read; None: it is none."""
    return (options.kind or detect(hashed.head)) if hashed.size else None


def _no_log(outcome: Outcome, source: Input, hashed: Fingerprint) -> Outcome:
    if not hashed.size and is_journal(source.path):
        outcome.status, outcome.kind = ImportStatus.EMPTY, SourceKind.JOURNAL.value
        outcome.message = f"{outcome.name} is a journal without a byte: its recorder could not write its first line"
    else:
        outcome.status = ImportStatus.NOT_A_LOG
        outcome.message = f"{outcome.name} {why_not_a_log(hashed.head, nameable=True)}"
    return outcome


class GameReader:
    """The games of one log, with no archive involved; the report and ``damage`` are complete after the last."""

    def __init__(
        self, source: Input, options: ReadOptions, progress: Progress | None = None, size: int | None = None
    ) -> None:
        self._reading = LogReading(source, progress, size)
        self._source = source
        self._options = options
        self.report = SourceReport()

    @property
    def damage(self) -> str | None:
        return self._reading.damage

    def __iter__(self) -> Iterator[Game]:
        name = self._source.name
        head, blocks = read_head(iter(self._reading))
        kind = (self._options.kind or detect(head)) if head else None
        if kind is None:
            if not head and is_journal(self._source.path):
                return
            raise NoLogError(f"{name} {why_not_a_log(head, nameable=True)}")
        if was_exported(self._source, head, kind):
            raise NoLogError(f"{name}: ics-recorder wrote it; name it to convert it")
        pipeline, values = self._options.of(self._source).pipeline(kind), self._options.stated()
        for game in joined_games(pipeline, scrubbed(blocks, kind)):
            yield stated(game, values)
        self.report = pipeline.report
