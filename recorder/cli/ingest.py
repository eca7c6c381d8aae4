"""Reading logs into an archive: which bytes are new, and from where reading goes on.

A file is read twice. The first pass hashes its decompressed bytes, noting the running hash at the sizes of sources
that may have grown into it. The second feeds the pipeline and keeps the scrubbed bytes. Each source is one
transaction: an import that is killed leaves the sources that were finished.
"""

from __future__ import annotations

import base64
import hashlib
import shutil
import sys
import tempfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from dataclasses import dataclass, replace
from datetime import date
from itertools import chain
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from recorder.cli.zones import parse_zone
from recorder.errors import SourceError
from recorder.model import SourceReport, TimeBasis
from recorder.pipeline import PARSER_VERSION, Pipeline
from recorder.sources import (
    HEAD_BYTES,
    Scrubber,
    SourceKind,
    detect,
    find_logs,
    find_timing,
    read_blocks,
    why_not_a_log,
)

if TYPE_CHECKING:
    from recorder.cli.terminal import Progress
    from recorder.model import Game
    from storage import Archive, SourceRow

__all__ = [
    "Fingerprint",
    "GameReader",
    "Input",
    "Outcome",
    "ReadOptions",
    "Reading",
    "fingerprint",
    "import_source",
    "open_inputs",
    "read_options",
    "tell_kind",
]


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How a log is read; see ``reading_options``. None: not given. ``timing``: a typescript's timing file."""

    kind: SourceKind | None = None
    server: str | None = None
    date: date | None = None
    tz: str | None = None
    chat: str | None = None
    timing: bytes | None = None

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> ReadOptions:
        """The inverse of ``to_json``."""
        kind, day, timing = values.get("kind"), values.get("date"), values.get("timing")
        return cls(
            None if kind is None else SourceKind(kind),
            values.get("server"),
            None if day is None else date.fromisoformat(day),
            values.get("tz"),
            values.get("chat"),
            None if timing is None else zlib.decompress(base64.b64decode(timing)),
        )

    def to_json(self) -> dict[str, Any]:
        """What a later continuation of the same source must be read with."""
        return {
            "kind": None if self.kind is None else self.kind.value,
            "server": self.server,
            "date": None if self.date is None else self.date.isoformat(),
            "tz": self.tz,
            "chat": self.chat,
            "timing": None if self.timing is None else base64.b64encode(zlib.compress(self.timing)).decode(),
        }

    def over(self, older: ReadOptions) -> ReadOptions:
        """These options, and the older ones where these do not say."""
        return ReadOptions(
            self.kind or older.kind,
            self.server or older.server,
            self.date or older.date,
            self.tz or older.tz,
            self.chat or older.chat,
            self.timing or older.timing,
        )

    def pipeline(self, kind: SourceKind, *, resume: dict[str, Any] | None = None, offset: int = 0) -> Pipeline:
        """The pipeline that reads a log of this kind with these options; ``resume`` starts it at ``offset``."""
        return Pipeline(
            kind,
            server=self.server,
            date=self.date,
            tz=None if self.tz is None else parse_zone(self.tz),
            chat=self.chat or "public",
            timing=self.timing,
            resume=resume,
            offset=offset,
        )


def read_options(
    kind: str | None, server: str | None, date: date | None, tz: str | None, chat: str | None
) -> ReadOptions:
    """What ``reading_options`` hands to a command."""
    return ReadOptions(None if kind is None else SourceKind(kind), server, date, tz, chat)


@dataclass(frozen=True, slots=True)
class Input:
    """One log to read.

    Attributes:
        name: what the user is told. path: what is opened. spooled: it is a copy of standard input or of a pipe.
        named: the user named this file, not a folder in which it is.
        error: why there is nothing to read, one sentence, or None.
    """

    name: str
    path: Path
    spooled: bool = False
    named: bool = True
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """What the first pass learns.

    Attributes:
        sha256, size: of the decompressed bytes. head: their first 64 KiB.
        marks: size → hexadecimal hash of the bytes up to there.
        damage: why the file could not be read to its end, or None.
    """

    sha256: str
    size: int
    head: bytes
    marks: dict[int, str]
    damage: str | None


@dataclass(slots=True)
class Outcome:
    """What became of one log.

    Attributes:
        status: ``new``, ``known``, ``grown``, ``replaced``, ``log`` (only looked at), ``not-a-log`` or ``failed``.
        message: why not all of it was read, one sentence, or None.
        games, plies, undated: what this import added; ``undated`` games have no known date.
        named: as ``Input.named``.
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
    named: bool = True

    @property
    def unreadable(self) -> bool:
        """Whether something asked for could not be read; a stray file in a folder was not asked for."""
        return self.message is not None and (self.named or self.status != "not-a-log")

    def count(self, games: list[Game]) -> None:
        """Add games that were stored."""
        self.games += len(games)
        for game in games:
            self.plies += sum(max(segment.to_ply - segment.from_ply + 1, 0) for segment in game.segments)
            self.undated += game.started_at_ms is None or game.time_basis not in (TimeBasis.UTC, TimeBasis.LOCAL)


@contextmanager
def open_inputs(paths: Sequence[str]) -> Iterator[Iterator[Input]]:
    """The logs that the arguments of a command name: files, folders with all below, ``-`` for standard input.

    A path without a log is an ``Input`` with an ``error``. Standard input and pipes can be read only once, but a log
    is read twice: they are copied to a file that lives as long as the context.
    """
    with tempfile.TemporaryDirectory(prefix="ics-recorder-") as folder:

        def inputs() -> Iterator[Input]:
            given: set[Path] = set()
            for path in paths:
                if path == "-" or Path(path).is_fifo():
                    copy = Path(folder) / str(len(given))
                    with copy.open("wb") as out, _stream(path) as stream:
                        shutil.copyfileobj(stream, out)
                    given.add(copy)
                    yield Input("standard input" if path == "-" else path, copy, spooled=True)
                    continue
                found = 0
                try:
                    for log in find_logs([path]):
                        found += 1
                        if log in given:
                            continue
                        given.add(log)
                        yield Input(str(log), log, named=not Path(path).is_dir())
                except SourceError as error:
                    yield Input(path, Path(path), error=str(error))
                else:
                    if not found:
                        yield Input(path, Path(path), error=f"{path}: no file in this folder can be a log")

        yield inputs()


def _stream(path: str) -> AbstractContextManager[IO[bytes]]:
    return nullcontext(sys.stdin.buffer) if path == "-" else Path(path).open("rb")


class Reading:
    """Blocks of one file, at most ``size`` bytes of it.

    Damage at its end (a truncated gzip) is noted in ``damage`` after all before it has been read.
    """

    def __init__(self, source: Input, progress: Progress | None = None, size: int | None = None) -> None:
        self.damage: str | None = None
        self._source = source
        self._progress = progress
        self._size = size

    def __iter__(self) -> Iterator[bytes]:
        done = 0
        with closing(read_blocks(self._source.path)) as blocks:
            for block in blocks:
                if self._size is not None:
                    block = block[: self._size - done]  # what a running client appends meanwhile waits for next time
                done += len(block)
                if self._progress is not None:
                    self._progress(self._source.name, done, self._size)
                yield block
                if done == self._size:
                    return
        if blocks.problem is not None:
            if not done:
                raise blocks.problem
            self.damage = str(blocks.problem)


def fingerprint(source: Input, marks: Sequence[int] = ()) -> Fingerprint:
    """Hash a file's decompressed bytes.

    Args:
        source: the log.
        marks: sizes at which the hash of the bytes so far is wanted.
    Raises:
        SourceError: the file cannot be opened, or nothing of it can be decompressed.
    """
    running = hashlib.sha256()
    wanted = sorted(set(marks))
    found: dict[int, str] = {}
    head = b""
    size = 0
    reading = Reading(source)
    for block in reading:
        if len(head) < HEAD_BYTES:
            head += block[: HEAD_BYTES - len(head)]
        start = 0
        while wanted and wanted[0] <= size + len(block):
            mark = wanted.pop(0)
            running.update(block[start : mark - size])
            start = mark - size
            found[mark] = running.hexdigest()
        running.update(block[start:])
        size += len(block)
    return Fingerprint(running.hexdigest(), size, head, found, reading.damage)


class GameReader:
    """The games of one log, with no archive involved; the report and ``damage`` are complete after the last."""

    def __init__(self, source: Input, options: ReadOptions, progress: Progress | None = None) -> None:
        self._reading = Reading(source, progress)
        self._source = source
        self._options = options
        self.report = SourceReport()

    @property
    def damage(self) -> str | None:
        """Why the log could not be read to its end, or None."""
        return self._reading.damage

    def __iter__(self) -> Iterator[Game]:
        blocks = iter(self._reading)
        ahead: list[bytes] = []
        size = 0
        for block in blocks:
            ahead.append(block)
            size += len(block)
            if size >= HEAD_BYTES:
                break
        name = self._source.name
        head = b"".join(ahead)[:HEAD_BYTES]
        kind = (self._options.kind or detect(head)) if size else None
        if kind is None:
            raise SourceError(f"{name} {why_not_a_log(head)}")
        pipeline = replace(self._options, timing=_timing_of(self._source)).pipeline(kind)
        for block in chain(ahead, blocks):
            yield from pipeline.receive(block)
        yield from pipeline.finish()
        self.report = pipeline.report


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
    return outcome


def _kind_of(seen: Fingerprint, options: ReadOptions) -> SourceKind | None:
    return (options.kind or detect(seen.head)) if seen.size else None


def _no_log(outcome: Outcome, seen: Fingerprint) -> Outcome:
    outcome.status = "not-a-log"
    outcome.message = f"{outcome.name} {why_not_a_log(seen.head)}"
    return outcome


def import_source(
    archive: Archive, source: Input, options: ReadOptions, *, keep: bool = True, progress: Progress | None = None
) -> Outcome:
    """Read one log into the archive, in one transaction.

    A source that an earlier parser version read, or that was read with other options than are given now, is read
    again as a whole; options that are not given now are those it was read with.

    Args:
        archive: open for writing.
        source: the log.
        options: how it is read.
        keep: whether its bytes are kept.
        progress: told after each block.
    Returns:
        What became of it; a log that cannot be read is ``failed``, not an exception.
    Raises:
        StorageError: the archive cannot be written.
    """
    if source.error is not None:
        return Outcome(source.name, "failed", source.error)
    candidates = archive.growth_candidates()
    try:
        seen = fingerprint(source, [size for size, _, _ in candidates])
    except SourceError as error:
        return Outcome(source.name, "failed", str(error))
    outcome = Outcome(source.name, "new", seen.damage, sha256=seen.sha256, size_bytes=seen.size, named=source.named)
    before = next((row for size, sha256, row in reversed(candidates) if seen.marks.get(size) == sha256), None)
    options = replace(options, timing=_timing_of(source))
    if before is not None:
        stored = ReadOptions.from_json(before.options)
        same = before.parser_version == PARSER_VERSION and options.over(stored) == stored
        options = options.over(stored)
        if same and before.sha256 == seen.sha256:
            outcome.status, outcome.kind = "known", before.kind
            return outcome
        outcome.status = "grown" if same else "replaced"
        if not same:
            before = replace(before, read_up_to=0, restart_state={})
    kind = SourceKind(before.kind) if before and options.kind is None else _kind_of(seen, options)
    if kind is None:
        return _no_log(outcome, seen)
    outcome.kind = kind.value
    try:
        _write(archive, source, seen, kind, options, outcome, before=before, keep=keep, progress=progress)
    except SourceError as error:
        return Outcome(source.name, "failed", str(error), outcome.kind, seen.sha256, seen.size)
    return outcome


def _timing_of(source: Input) -> bytes | None:
    """What the timing file beside a typescript holds."""
    path = None if source.spooled else find_timing(source.path)
    return None if path is None else path.read_bytes()


def _write(
    archive: Archive,
    source: Input,
    seen: Fingerprint,
    kind: SourceKind,
    options: ReadOptions,
    outcome: Outcome,
    *,
    before: SourceRow | None,
    keep: bool,
    progress: Progress | None,
) -> None:
    """The second pass: one transaction."""
    resumed = before if before is not None and before.read_up_to else None
    start = resumed.read_up_to if resumed else 0
    pipeline = options.pipeline(kind, resume=resumed.restart_state if resumed else None, offset=start)
    scrubber = Scrubber(kind)
    with archive.write_source(
        sha256=seen.sha256,
        size_bytes=seen.size,
        name=source.name if source.spooled else Path(source.name).name,
        path=None if source.spooled else str(source.path.absolute()),
        kind=kind.value,
        keep=keep,
        parser_version=PARSER_VERSION,
        options=options.to_json(),
        continues=before,
    ) as writer:
        keep_from = writer.keep_from
        done = kept = 0

        def store(games: list[Game]) -> None:
            writer.add_games(games)
            outcome.count(games)

        def keep_block(block: bytes) -> None:
            # The scrubber sees all bytes from the first on: whether a line is a password depends on those before.
            nonlocal kept
            writer.keep(block[max(keep_from - kept, 0) :])
            kept += len(block)

        for block in Reading(source, progress, size=seen.size):
            if keep:
                keep_block(scrubber.receive(block))
            if done + len(block) > start:
                store(pipeline.receive(block[max(start - done, 0) :]))
            done += len(block)
        if done != seen.size:
            raise SourceError(f"{source.name}: it became shorter while it was read; import it again")
        if keep:
            keep_block(scrubber.finish())
        writer.restart(*pipeline.restart())
        store(pipeline.finish())
        outcome.report = pipeline.report
        writer.finish(pipeline.report)
