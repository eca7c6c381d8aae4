"""The logs that a command is given: which there are, how they are read, their bytes and games."""

from __future__ import annotations

import hashlib
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from dataclasses import dataclass, replace
from datetime import date
from itertools import chain
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from recorder.errors import RecorderError, SourceError
from recorder.live.secrets.logs import Scrubbing, scrubbed
from recorder.model import SAVED_KINDS, SourceReport, site_of
from recorder.pipeline import Pipeline
from recorder.reading import AnyPipeline, joined_games, make_pipeline
from recorder.saved.pipeline import SavedPipeline
from recorder.sources import (
    HEAD_BYTES,
    SourceKind,
    detect,
    find_logs,
    find_timing,
    is_own_export,
    path_kind,
    read_blocks,
    why_not_a_log,
)
from recorder.sources.name_dates import check_format, date_in_name
from recorder.sources.redaction import Forgotten, Redactor
from recorder.times import parse_zone
from recorder.urls import INPUT_SCHEMES, check_url, download, is_url, shown_url

if TYPE_CHECKING:
    from recorder.model import Game
    from recorder.progress import Progress


_CHATS = ("none", "public", "own", "all")


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How a log is read; see ``reading_options``. None: not given.

    Attributes:
        date_from_name: format of the dates in the names of logs; not stored with a source, whose date is.
        timing: a typescript's timing file.
        forgotten: players that the archive forgets; not stored with the source.
    """

    kind: SourceKind | None = None
    server: str | None = None
    date: date | None = None
    tz: str | None = None
    chat: str | None = None
    timing: bytes | None = None
    forgotten: Forgotten | None = None
    date_from_name: str | None = None

    def of(self, source: Input, **more: Any) -> ReadOptions:
        """The options of one source: with the date of its name and its timing file. ``more``: other values."""
        day = None if self.date_from_name is None else date_in_name(Path(source.name).name, self.date_from_name)
        return replace(self, date=day or self.date, timing=timing_of(source), **more)

    @classmethod
    def from_json(cls, values: dict[str, Any], timing: bytes | None) -> ReadOptions:
        """The inverse of ``to_json``.

        Args:
            timing: bytes of the timing file, of which ``to_json`` has only the hash; None: there is none.
        """
        kind, day = values.get("kind"), values.get("date")
        return cls(
            None if kind is None else SourceKind(kind),
            values.get("server"),
            None if day is None else date.fromisoformat(day),
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

    def over(self, older: ReadOptions) -> ReadOptions:
        """These options, and the older ones where these do not say."""
        return ReadOptions(
            self.kind or older.kind,
            self.server or older.server,
            self.date or older.date,
            self.tz or older.tz,
            self.chat or older.chat,
            self.timing or older.timing,
            self.forgotten or older.forgotten,
            self.date_from_name or older.date_from_name,
        )

    def pipeline(self, kind: SourceKind) -> AnyPipeline:
        """The pipeline that reads a source of this kind with these options."""
        return make_pipeline(kind, **self._how())

    def followed_pipeline(self, kind: SourceKind) -> Pipeline:
        """As ``pipeline``, for a log that is followed."""
        return Pipeline(kind, **self._how(), in_progress=True)

    def piece_pipeline(self, offset: int) -> SavedPipeline:
        """As ``pipeline``, for a piece of a PGN file that begins with a game at ``offset``."""
        how = self._how()
        del how["timing"]
        return SavedPipeline(SourceKind.PGN, **how, offset=offset)

    def _how(self) -> dict[str, Any]:
        return {
            "server": self.server,
            "date": self.date,
            "tz": None if self.tz is None else parse_zone(self.tz),
            "chat": self.chat or "public",
            "timing": self.timing,
            "forgotten": self.forgotten,
        }


def read_options(
    kind: str | None,
    server: str | None,
    date: date | None,
    date_from_name: str | None,
    tz: str | None,
    chat: str | None,
) -> ReadOptions:
    """The options of ``reading_options`` as one value."""
    known = None if kind is None else SourceKind(kind)
    return ReadOptions(known, site_of(server), date, tz, chat, date_from_name=date_from_name)


def checked_options(
    kind: str | SourceKind | None,
    server: str | None,
    day: str | date | None,
    tz: str | None,
    chat: str | None,
    date_from_name: str | None = None,
) -> ReadOptions:
    """The options of a caller of the Python interface, as ``Archive.import_logs`` describes them.

    Args:
        kind, server, tz, chat, date_from_name: as there. day: as a date or ``2020-01-31``.
    Raises:
        SourceError: a value is not known.
    """
    if chat not in (None, *_CHATS):
        raise SourceError(f"chat is one of {', '.join(_CHATS)}, not {chat!r}.")
    try:
        kind = None if kind is None else SourceKind(kind)
    except ValueError as error:
        words = ", ".join(one.value for one in SourceKind)
        raise SourceError(f"{kind!r} is no kind of log; there are {words}.") from error
    if isinstance(day, str):
        try:
            day = date.fromisoformat(day)
        except ValueError as error:
            raise SourceError(f"{day!r} is not a date; write it as 2020-01-31.") from error
    if tz is not None:
        try:
            parse_zone(tz)
        except ValueError as error:
            raise SourceError(str(error)) from error
    form = None if date_from_name is None else check_format(date_from_name)
    return ReadOptions(kind, site_of(server), day, tz, chat, date_from_name=form)


@dataclass(frozen=True, slots=True)
class Input:
    """One log to read.

    Attributes:
        name: as messages call it.
        path: what is opened. spooled: it is a copy of standard input, of a pipe or of the file of a URL.
        named: the user named this file, not a folder in which it is.
        error: why there is nothing to read, one sentence, or None.
        url: of a log that ``local_copy`` is to copy first; else None.
        on_block: called after each block that is read of it, in every pass.
    """

    name: str
    path: Path
    spooled: bool = False
    named: bool = True
    error: str | None = None
    on_block: Callable[[], None] | None = None
    url: str | None = None

    @property
    def size_bytes(self) -> int:
        """Of the file on this computer; 0: there is none."""
        return self.path.stat().st_size if self.path.is_file() else 0

    def files(self) -> list[Path]:
        """The files that the log is read from."""
        if self.spooled:
            return [Path("/dev/stdin")] if self.name == "standard input" else []
        timing = find_timing(self.path)
        return [self.path, *([timing] if timing else [])]


@contextmanager
def open_inputs(
    paths: Sequence[str],
    skipped: list[Path] | None = None,
    progress: Progress | None = None,
    *,
    copy_urls: bool = True,
) -> Iterator[Iterator[Input]]:
    """The logs that the arguments of a command name: files, folders with all below, URLs, ``-`` for standard input.

    A path without a log is an ``Input`` with an ``error``. Standard input, pipes and URLs can be read only once, but a
    log is read twice: they are copied to a file that lives as long as the context. ``skipped`` is as for ``find_logs``;
    ``progress`` is called while a URL is copied. ``copy_urls=False``: they are left to ``local_copy``.
    """
    with tempfile.TemporaryDirectory(prefix="ics-recorder-") as folder:

        def inputs() -> Iterator[Input]:
            given: set[Path] = set()
            for path in paths:
                if is_url(path):
                    copy = Path(folder) / hashlib.sha256(path.encode()).hexdigest()
                    if copy not in given:
                        given.add(copy)
                        source = _of_url(path, copy)
                        yield _downloaded(source, progress) if copy_urls else source
                    continue
                try:
                    kind = "pipe" if path == "-" else path_kind(path)
                except SourceError as error:
                    yield Input(path, Path(path), error=str(error))
                    continue
                if kind == "pipe":
                    copy = Path(folder) / str(len(given))
                    given.add(copy)
                    yield _copied(path, copy)
                    continue
                found = 0
                try:
                    for log in find_logs([path], skipped):
                        found += 1
                        if log in given:
                            continue
                        given.add(log)
                        yield Input(str(log), log, named=kind != "folder")
                except SourceError as error:
                    yield Input(path, Path(path), error=str(error))
                else:
                    if not found:
                        yield Input(path, Path(path), error=f"{path}: no file in this folder can be a log")

        yield inputs()


def _copied(path: str, copy: Path) -> Input:
    """Copy standard input or a pipe."""
    name, error = "standard input" if path == "-" else path, None
    try:
        with copy.open("wb") as out, _stream(path) as stream:
            shutil.copyfileobj(stream, out)
    except OSError as failed:
        reason = failed.strerror or str(failed)
        error = f"{name}: cannot be copied to {copy.parent}: {reason}; TMPDIR chooses another folder"
    return Input(name, copy, spooled=True, error=error)


def _of_url(url: str, copy: Path) -> Input:
    try:
        check_url(url, INPUT_SCHEMES)
    except SourceError as error:
        return Input(shown_url(url), copy, spooled=True, error=str(error))
    return Input(url, copy, spooled=True, url=url)


def _downloaded(source: Input, progress: Progress | None = None) -> Input:
    if source.url is None:
        return source
    try:
        download(source.url, source.path, progress)
    except RecorderError as error:
        return replace(source, error=str(error), url=None)
    return replace(source, url=None)


@contextmanager
def local_copy(source: Input) -> Iterator[Input]:
    """A log on this computer: itself, or a copy of its URL that lives as long as the context.

    Args:
        source: as ``open_inputs`` gives it.
    Yields:
        With an ``error`` if it cannot be copied.
    """
    if source.url is None:
        yield source
        return
    with tempfile.TemporaryDirectory(prefix="ics-recorder-") as folder:
        yield _downloaded(replace(source, path=Path(folder) / "log"))


def _stream(path: str) -> AbstractContextManager[IO[bytes]]:
    return nullcontext(sys.stdin.buffer) if path == "-" else Path(path).open("rb")


class LogReading:
    """Blocks of one log, at most up to ``size`` bytes of it.

    Damage at its end (a truncated gzip) is noted in ``damage`` after all before it has been read.
    """

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


def clean_blocks(
    source: Input, kind: SourceKind, options: ReadOptions, size_bytes: int, progress: Progress | None
) -> Iterator[bytes]:
    """The bytes of a log, secrets and forgotten handles replaced.

    Args:
        source: the log, of this kind. options: how it is read.
        size_bytes: of the log, decompressed. progress: called after each block.
    Raises:
        SourceError: the file is shorter now.
    """
    scrubbing = Scrubbing(kind, redactor=Redactor(options.forgotten or Forgotten(), kind))
    read = 0
    for block in LogReading(source, progress, size=size_bytes):
        read += len(block)
        yield scrubbing.receive(block)
    if read != size_bytes:
        raise SourceError(f"{source.name}: the file was truncated while being read; import it again")
    yield scrubbing.finish()


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


def fingerprint(source: Input, marks: Sequence[int] = (), progress: Progress | None = None) -> Fingerprint:
    """Hash a file's decompressed bytes.

    Args:
        source: the log.
        marks: sizes at which the hash of the bytes so far is wanted.
        progress: called after each block, with bytes of the file as it is on disk; its name ends in ``(hash)``,
            because reading the games is another operation, which begins at 0 again.
    Raises:
        SourceError: the file cannot be opened, or nothing of it can be decompressed.
    """
    running = hashlib.sha256()
    size, head = 0, b""
    found: dict[int, str] = {}
    wanted = sorted(mark for mark in set(marks) if mark > 0)
    named = progress and (lambda name, done, total: progress(f"{name} (hash)", done, total))
    reading = LogReading(source, named)
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


def was_exported(source: Input, head: bytes, kind: SourceKind) -> bool:
    """Whether the file was found in a folder and its games came from logs: they would be there twice."""
    return not source.named and kind in SAVED_KINDS and is_own_export(head)


def timing_of(source: Input) -> bytes | None:
    """The content of the timing file beside a typescript; None: there is no such file."""
    path = None if source.spooled else find_timing(source.path)
    return None if path is None else path.read_bytes()


class NoLogError(SourceError):
    """A file that is no log, or of a folder, and written by this program: a folder may have such files."""


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
            raise NoLogError(f"{name} {why_not_a_log(head, nameable=True)}")
        if was_exported(self._source, head, kind):
            raise NoLogError(f"{name}: ics-recorder wrote it; name it to convert it")
        pipeline = self._options.of(self._source).pipeline(kind)
        yield from joined_games(pipeline, scrubbed(chain(ahead, blocks), kind))
        self.report = pipeline.report
