"""The logs that a command is given, and those in the usual places of clients for chess servers."""

from __future__ import annotations

import hashlib
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final, NamedTuple

from recorder.errors import RecorderError, SourceError
from recorder.sources import detect, find_logs, find_timing, is_own_export, path_kind, read_blocks
from recorder.urls import INPUT_SCHEMES, check_url, download, is_url, shown_url

if TYPE_CHECKING:
    from recorder.progress import Progress


@dataclass(frozen=True, slots=True)
class Input:
    """One log to read; ``name`` is as messages call it, ``path`` what is opened."""

    name: str
    path: Path
    spooled: bool = False  # a copy of standard input, of a pipe or of the file of a URL
    named: bool = True  # the user named this file, not a folder in which it is
    error: str | None = None  # why there is nothing to read
    on_block: Callable[[], None] | None = None  # called after each block that is read of it, in every pass
    url: str | None = None  # of a log that ``local_copy`` is to copy first

    @property
    def size_bytes(self) -> int:
        """Of the file on this computer."""
        return self.path.stat().st_size if self.path.is_file() else 0

    def files(self) -> list[Path]:
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

    Standard input, pipes and URLs can be read only once, but a log is read twice: they are copied to a file that lives
    as long as the context; URLs are left to ``local_copy`` if ``copy_urls`` is false.
    """
    with tempfile.TemporaryDirectory(prefix="ics-recorder-") as folder:

        def inputs() -> Iterator[Input]:
            yielded: set[Path] = set()
            for path in paths:
                if is_url(path):
                    copy = Path(folder) / hashlib.sha256(path.encode()).hexdigest()
                    if copy not in yielded:
                        yielded.add(copy)
                        source = _of_url(path, copy)
                        yield _downloaded(source, progress) if copy_urls else source
                    continue
                try:
                    kind = "pipe" if path == "-" else path_kind(path)
                except SourceError as error:
                    yield Input(path, Path(path), error=str(error))
                    continue
                if kind == "pipe":
                    copy = Path(folder) / str(len(yielded))
                    yielded.add(copy)
                    yield _copied(path, copy)
                    continue
                count = 0
                try:
                    for log in find_logs([path], skipped):
                        count += 1
                        if log in yielded:
                            continue
                        yielded.add(log)
                        yield Input(str(log), log, named=kind != "folder")
                except SourceError as error:
                    yield Input(path, Path(path), error=str(error))
                else:
                    if not count:
                        yield Input(path, Path(path), error=f"{path}: no file in this folder can be a log")

        yield inputs()


def _copied(path: str, copy: Path) -> Input:
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
    """A log on this computer: itself, or a copy of its URL that lives as long as the context."""
    if source.url is None:
        yield source
        return
    with tempfile.TemporaryDirectory(prefix="ics-recorder-") as folder:
        yield _downloaded(replace(source, path=Path(folder) / "log"))


def _stream(path: str) -> AbstractContextManager[IO[bytes]]:
    return nullcontext(sys.stdin.buffer) if path == "-" else Path(path).open("rb")


CLIENTS: Final = {
    "xboard": ("HOME/*.debug", "HOME/.xboard/*", "HOME/xboard/*", "DOCUMENTS/xboard/*"),
    "WinBoard": ("PROGRAMS/WinBoard*/**/*", "APPDATA/WinBoard*/**/*", "DOCUMENTS/WinBoard*/**/*"),
    "PyChess": ("XDG_DATA/pychess/*", "HOME/*.pgn"),
    "Jin": ("HOME/.jin/**/*", "HOME/jin/**/*", "SUPPORT/Jin/**/*", "APPDATA/Jin/**/*", "DOCUMENTS/Jin/**/*"),
    "BabasChess": ("PROGRAMS/BabasChess*/**/*", "APPDATA/BabasChess*/**/*", "DOCUMENTS/BabasChess*/**/*"),
    "Raptor": ("HOME/.raptor/**/*", "SUPPORT/Raptor/**/*", "APPDATA/Raptor/**/*"),
    "eboard": ("HOME/.eboard/*",),
    "Scid": ("HOME/.scid*/**/*", "HOME/scid*/**/*", "SUPPORT/Scid*/**/*", "DOCUMENTS/Scid*/**/*"),
}
"""By client: where its files are, below a place of ``_places``, as patterns of ``Path.glob``."""
_SUFFIXES: Final = frozenset((".debug", ".log", ".pgn", ".bpgn", ".txt", ".gz", ".bz2", ".xz", ".zst"))


class ClientLog(NamedTuple):
    client: str
    path: str
    size_bytes: int


def find_client_logs(environment: Mapping[str, str], home: Path) -> Iterator[ClientLog]:
    """In the usual places, each once, but not what this program wrote. Their beginnings are read."""
    places, known = _places(environment, home), set[Path]()
    for client, patterns in CLIENTS.items():
        for root, _, pattern in (pattern.partition("/") for pattern in patterns):
            for folder in places[root]:
                for path in sorted(_files(folder, pattern)):
                    if path not in known and _is_log(path):
                        yield ClientLog(client, str(path), path.stat().st_size)
                    known.add(path)


def _places(environment: Mapping[str, str], home: Path) -> dict[str, list[Path]]:
    def named(*names: str) -> list[Path]:
        return [Path(environment[name]) for name in names if environment.get(name)]

    return {
        "HOME": [home],
        "DOCUMENTS": [home / "Documents"],
        "SUPPORT": [home / "Library" / "Application Support"],
        "XDG_DATA": named("XDG_DATA_HOME") or [home / ".local" / "share"],
        "APPDATA": named("APPDATA", "LOCALAPPDATA"),
        "PROGRAMS": [*named("ProgramFiles", "ProgramFiles(x86)"), *(drive / "/" for drive in named("SystemDrive"))],
    }


def _files(folder: Path, pattern: str) -> Iterator[Path]:
    with suppress(OSError):  # a folder that may not be read has nothing to import
        for path in folder.glob(pattern):
            if path.suffix.lower() in _SUFFIXES and path.is_file():
                yield path.resolve()


def _is_log(path: Path) -> bool:
    with suppress(SourceError, OSError), closing(read_blocks(path)) as blocks:
        head = next(iter(blocks), b"")
        return detect(head) is not None and not is_own_export(head)
    return False
