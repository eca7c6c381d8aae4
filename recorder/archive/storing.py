"""Storing one source: the second pass of an import, which parses its bytes and stores its games in one transaction."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, cast

from recorder.archive.inputs import Fingerprint, Input, LogReading, ReadOptions
from recorder.errors import SourceError
from recorder.journal.parts import is_being_written
from recorder.live.secrets.logs import Scrubbing
from recorder.model import SAVED_KINDS, SourceReport
from recorder.pipeline import PARSER_VERSION, Pipeline
from recorder.reading import AnyPipeline
from recorder.sources import (
    SourceKind,
    log_files,
)
from recorder.sources.redaction import Forgotten, Redactor

if TYPE_CHECKING:
    from recorder.archive.pieces import Pieces
    from recorder.archive.spool import Spool, SpoolWriter
    from recorder.model import Game
    from recorder.progress import Progress
    from storage import ArchiveStore, SourceRow, SourceWriter


__all__ = [
    "Begun",
    "NothingYetError",
    "Outcome",
    "SourceReading",
    "store_source",
    "stored_path",
    "writing_source",
]


_AT_ONCE = 8 << 20
"""Of a log that is followed only so much is imported in one transaction: the rest comes in blocks, in flat memory."""


class NothingYetError(SourceError):
    """A log that is followed has not even one whole line."""


@dataclass(slots=True)
class Begun:
    """A log that was read so far.

    Attributes:
        pipeline, scrubbing: what has read it. size, running: of the bytes that the archive knows of, and their hash.
        unread: the bytes behind them: ``scrubbing`` waits for the end of their line.
        mark: is in the source's row until another process changes it.
        behind: there is more of it, not looked at yet.
    """

    pipeline: Pipeline
    scrubbing: Scrubbing
    size: int
    running: hashlib._Hash
    unread: bytes
    mark: str
    behind: bool


@dataclass(slots=True)
class Outcome:
    """What became of one log.

    Attributes:
        status: ``new``, ``known``, ``grown``, ``replaced``, ``forgotten`` (removed from the archive earlier, and found
            in a folder), ``exported`` (written by this program, and found in a folder), ``log`` (identified in a dry
            run), ``not-a-log`` or ``failed``.
        message: why it could not be read, or not completely, one sentence; None: it was read.
        games, plies, undated: what this import added; ``undated`` games have no known date.
        flawed: the archive has anomalies of this log, found now or by an earlier import.
        named: the user named this file, and not only a folder that contains it.
        part_of: the log in the archive of which this one is the beginning, or None.
        read_up_to: an offset; games that begin before it are final. None: nothing was stored.
        marks: size → hash of the bytes up to there, where ``identify`` was asked for it.
        begun: the state with which ``follow`` continues; None: the log is not followed, or has no lines yet.
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
    marks: dict[int, str] = field(default_factory=dict)
    begun: Begun | None = None

    @property
    def unreadable(self) -> bool:
        """Whether a log could not be read; False for files of a folder that are not logs."""
        return self.message is not None and (self.named or self.status != "not-a-log")

    def count(self, games: list[Game]) -> None:
        """Add games that were stored.

        Args:
            games: all games of this log, each once.
        """
        self.games += len(games)
        for game in games:
            self.plies += game.ply_count
            self.undated += game.day is None


def _stored_name(source: Input, kind: SourceKind, forgotten: Forgotten) -> str:
    """What the archive calls a log; a journal is called the same before and after it is compressed."""
    if source.spooled:
        return forgotten.name(source.name)
    name = forgotten.name(Path(source.name).name)
    return name.removesuffix(".zst") if kind is SourceKind.JOURNAL else name


def stored_path(source: Input, kind: SourceKind, forgotten: Forgotten) -> str | None:
    """The path of a log as the archive stores it; None: it would contain the handle of a forgotten player."""
    path = str(source.path.absolute())
    names_player = kind is not SourceKind.JOURNAL and forgotten.name(path) != path
    return None if source.spooled or names_player else path


@dataclass(slots=True, frozen=True)
class SourceReading:
    """The second pass over a source: ``before`` is what the archive has of it, the rest as for ``import_source``.

    ``archive`` is a spool in a process that reads for another one.
    """

    archive: ArchiveStore | Spool
    source: Input
    seen: Fingerprint
    kind: SourceKind
    options: ReadOptions
    before: SourceRow | None
    keep: bool
    progress: Progress | None
    followed: bool
    on_games: Callable[[list[Game]], None] | None
    pieces: Pieces | None = None


class _Intake:
    """Takes the clean bytes of a source: keeps them, and stores the games that the pipeline makes of them.

    Args:
        writer, pipeline: of the source.
        outcome: counts the games.
        on_games: as for ``import_source``.
        keep_from: the place from which bytes are kept; None: none are.
        stored_up_to: games that begin before this place are in the archive.
    Attributes:
        done: the place of the next byte.
    """

    def __init__(
        self,
        writer: SourceWriter | SpoolWriter,
        pipeline: AnyPipeline,
        outcome: Outcome,
        on_games: Callable[[list[Game]], None] | None,
        keep_from: int | None,
        stored_up_to: int,
    ) -> None:
        self.done = 0
        self._writer = writer
        self._pipeline = pipeline
        self._outcome = outcome
        self._on_games = on_games
        self._keep_from = keep_from
        self._stored_up_to = stored_up_to

    def store(self, games: list[Game]) -> None:
        """Store games."""
        games = [game for game in games if game.first_offset >= self._stored_up_to]
        self._writer.add_games(games)
        self._outcome.count(games)
        if self._on_games is not None:
            self._on_games(games)

    def take(self, clean: bytes) -> None:
        """Take the next bytes."""
        if self._keep_from is not None:
            self._writer.keep(clean[max(self._keep_from - self.done, 0) :])
        self.store(self._pipeline.receive(clean))
        self.done += len(clean)


def writing_source(
    reading: SourceReading, *, keep: bool | None = None
) -> AbstractContextManager[SourceWriter | SpoolWriter]:
    """The transaction in which a source is stored.

    Args:
        reading: of the source.
        keep: whether its bytes are kept; None: as ``reading`` says.
    """
    forgotten = reading.options.forgotten or Forgotten()
    return reading.archive.write_source(
        sha256=reading.seen.sha256,
        size_bytes=reading.seen.size,
        name=_stored_name(reading.source, reading.kind, forgotten),
        path=stored_path(reading.source, reading.kind, forgotten),
        kind=reading.kind.value,
        keep=reading.keep if keep is None else keep,
        parser_version=PARSER_VERSION,
        options=reading.options.to_json(),
        timing=reading.options.timing,
        continues=reading.before,
    )


def store_source(reading: SourceReading, outcome: Outcome) -> None:
    """The second pass: read a log again and store its games, in one transaction.

    Args:
        outcome: gets counts, report and how far the log was read.
    Raises:
        SourceError: the log cannot be read, or has changed since the first pass.
    """
    source, seen, kind, options = reading.source, reading.seen, reading.kind, reading.options
    before, followed = reading.before, reading.followed
    forgotten = options.forgotten or Forgotten()
    keep = reading.keep and kind is not SourceKind.JOURNAL
    if followed and kind in SAVED_KINDS:
        raise SourceError(
            f"{source.name} contains saved games, and only logs can be followed; import it when it has grown."
        )
    with writing_source(reading, keep=keep) as writer:
        if not keep:
            writer.keep_nothing()  # nor what was kept before
        keep_from = writer.keep_from if keep else None
        following = options.followed_pipeline(kind) if followed else None
        pipeline: AnyPipeline = following or options.pipeline(kind)
        intake = _Intake(
            writer, pipeline, outcome, reading.on_games, keep_from, 0 if before is None else before.read_up_to
        )
        scrubbing = Scrubbing(kind, redactor=Redactor(forgotten, kind))
        end = seen.size
        if followed and kind is not SourceKind.TYPESCRIPT:
            end = min(end, _AT_ONCE if before is None else max(_AT_ONCE, before.size_bytes))
        unread = _read_blocks(reading, intake, scrubbing, end)
        if following is not None:
            outcome.begun = _begin(source, seen, writer, following, scrubbing, end, unread)
            outcome.sha256, outcome.size_bytes = outcome.begun.running.hexdigest(), outcome.begun.size
        else:
            intake.take(scrubbing.finish())
        outcome.read_up_to = pipeline.read_up_to
        mark = None
        if outcome.begun is not None:
            mark = outcome.begun.mark
        elif kind is SourceKind.JOURNAL and is_being_written(log_files(source.path)[-1]):
            mark = "import"
        writer.read_up_to(outcome.read_up_to, mark)
        if not followed:
            intake.store(pipeline.finish(unfinished=mark is not None))
        if keep and pipeline.unredacted:
            writer.keep_nothing()
        outcome.report = pipeline.report
        writer.finish(outcome.report)


def _read_blocks(reading: SourceReading, intake: _Intake, scrubbing: Scrubbing, end: int) -> bytes:
    """Read a source up to the byte ``end``.

    Returns:
        The last bytes, whose line has no end yet.
    Raises:
        SourceError: the file is shorter now.
    """
    read, unread = 0, b""
    for block in LogReading(reading.source, reading.progress, size=end) if end else ():
        read += len(block)
        intake.take(scrubbing.receive(block))
        left = read - intake.done
        unread = (block if left <= len(block) else unread + block)[-left:] if left else b""
    if read != end:
        raise SourceError(f"{reading.source.name}: the file was truncated while being read; import it again")
    return unread


def _begin(
    source: Input,
    seen: Fingerprint,
    writer: SourceWriter | SpoolWriter,
    pipeline: Pipeline,
    scrubbing: Scrubbing,
    end: int,
    unread: bytes,
) -> Begun:
    """What a log is followed with; the archive then knows of it only what was read and has come whole.

    Args:
        end: bytes that were read. unread: the last of them, whose line has no end yet.
    Raises:
        NothingYetError: no line is complete.
    """
    size, running = end - len(unread), seen.running
    assert running is not None  # a followed log is read in one process
    if not size:
        raise NothingYetError(f"{source.name} has no whole line yet")
    if size != seen.size:
        running = hashlib.sha256()
        for block in LogReading(source, size=size):
            running.update(block)
        cast("SourceWriter", writer).resize(running.hexdigest(), size)
    return Begun(pipeline, scrubbing, size, running, unread, secrets.token_hex(8), end < seen.size)
