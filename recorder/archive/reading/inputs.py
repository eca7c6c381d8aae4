"""The logs that a command is given: which there are, and how they are read."""

from __future__ import annotations

import hashlib
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from recorder.errors import RecorderError, SourceError
from recorder.model import site_of
from recorder.pipeline import Pipeline
from recorder.reading import AnyPipeline, make_pipeline
from recorder.saved.pipeline import SavedPipeline
from recorder.sources import (
    SourceKind,
    find_logs,
    find_timing,
    path_kind,
)
from recorder.sources.name_dates import check_format, date_in_name
from recorder.sources.redaction import Forgotten
from recorder.times import parse_zone
from recorder.urls import INPUT_SCHEMES, check_url, download, is_url, shown_url

if TYPE_CHECKING:
    from recorder.progress import Progress
    from storage import ArchiveStore


_CHATS = ("none", "public", "own", "all")


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How a log is read; see ``reading_options``. None: not given.

    ``date_from_name`` is the format of the dates in the names of logs; it is not stored with a source, whose date is.
    ``forgotten`` are players that the archive forgets; they are not stored either.
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
        """Invert ``to_json``; ``timing`` are the bytes of the timing file, of which it has only the hash."""
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
    """The options of a caller of the Python interface, as ``Archive.import_logs`` describes them."""
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
    """One log to read; ``name`` is as messages call it, ``path`` what is opened.

    ``spooled``: it is a copy of standard input, of a pipe or of the file of a URL. ``named``: the user named this file,
    not a folder in which it is. ``error`` is why there is nothing to read. ``url`` is that of a log that ``local_copy``
    is to copy first. ``on_block`` is called after each block that is read of it, in every pass.
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

    It has an ``error`` if it cannot be copied.
    """
    if source.url is None:
        yield source
        return
    with tempfile.TemporaryDirectory(prefix="ics-recorder-") as folder:
        yield _downloaded(replace(source, path=Path(folder) / "log"))


def _stream(path: str) -> AbstractContextManager[IO[bytes]]:
    return nullcontext(sys.stdin.buffer) if path == "-" else Path(path).open("rb")


def timing_of(source: Input) -> bytes | None:
    """The content of the timing file beside a typescript; None: there is no such file."""
    path = None if source.spooled else find_timing(source.path)
    return None if path is None else path.read_bytes()


def forgotten_in(archive: ArchiveStore) -> Forgotten:
    """The players that an archive forgets."""
    return Forgotten(archive.erasures.forgotten_handles())
