"""Saved logs of every kind → chunks of the bytes that the server sent: here the files, found, opened, decompressed."""

from __future__ import annotations

import bz2
import lzma
import re
import stat
import sys
import zlib
from collections.abc import Callable, Generator, Iterable, Iterator
from io import SEEK_END, BufferedReader
from itertools import chain
from os import PathLike
from pathlib import Path
from typing import Final, Literal, Protocol, cast

import zstandard

from recorder.errors import SourceError
from recorder.journal.parts import COMPRESSED, SUFFIX, find_part, session_parts
from recorder.model.observations import SourceKind as SourceKind
from recorder.sources.base import Decoder as Decoder
from recorder.sources.detect import HEAD_BYTES as HEAD_BYTES
from recorder.sources.detect import detect as detect
from recorder.sources.detect import is_own_export as is_own_export
from recorder.sources.detect import make_decoder as make_decoder
from recorder.sources.detect import why_not_a_log as why_not_a_log
from recorder.sources.secrets import FILLER as FILLER
from recorder.sources.secrets import Scrubber as Scrubber
from recorder.sources.stamps import looks_like_timing

PathKind = Literal["file", "folder", "pipe", "other"]

_MAGIC: Final = (
    (re.compile(rb"\x1f\x8b"), "gzip"),
    (re.compile(rb"BZh"), "bzip2"),
    (re.compile(rb"\xfd7zXZ\x00"), "xz"),
    (re.compile(rb"\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18"), "zstd"),  # or a frame to be skipped, as pzstd writes
)
_MAGIC_BYTES: Final = 6
# Files of this program and its database that contain no readable games.
_OURS: Final = (".db", ".db-wal", ".db-shm", ".db-journal", ".sqlite", ".csv", ".parquet")
_TIMING_SUFFIXES: Final = (".timing", ".tm", ".time")
_STDIN: Final = "-"
_KINDS: Final[dict[PathKind, Callable[[int], bool]]] = {
    "file": stat.S_ISREG,
    "folder": stat.S_ISDIR,
    "pipe": stat.S_ISFIFO,
}
_FRAME_HEADER_BYTES: Final = 18
_COMPRESSED_BYTES: Final = 256
_MOST_AT_ONCE: Final = 1 << 20
_WINDOW_BYTES: Final = 128 << 20  # of the data before that a decompressor has to keep; `xz -9` wants 65 MiB
_DAMAGE: Final = (EOFError, OSError, zlib.error, lzma.LZMAError, zstandard.ZstdError)


class _Readable(Protocol):
    def read1(self, size: int, /) -> bytes: ...


class BlockReader:
    """``problem`` says after the last block why the rest could not be read; the first bytes show ``compression``."""

    def __init__(self, path: str | PathLike[str], size: int = 1 << 20, offset: int = 0) -> None:
        self.problem: SourceError | None = None
        self.compression: str | None = None
        self._name = "standard input" if str(path) == _STDIN else str(path)
        self._skip = offset
        try:
            self._parts = [Path(_STDIN)] if str(path) == _STDIN else log_files(Path(path))
            raw = self._open(self._parts[0])
        except OSError as error:
            raise SourceError(f"{self._name}: cannot be read: {error.strerror or error}") from error
        self._raw = raw
        self._parts_bytes = 0
        self._blocks = self._read(raw, size)

    def _open(self, path: Path) -> BufferedReader:
        if str(path) == _STDIN:
            raw = cast(BufferedReader, sys.stdin.buffer)
        else:
            try:
                raw = path.open("rb")
            except FileNotFoundError:
                raw = find_part(path).open("rb")  # it is just being compressed
        self.compression = _compression_of(raw.peek(8))
        return raw

    def __iter__(self) -> Iterator[bytes]:
        return self._blocks

    def __next__(self) -> bytes:
        return next(self._blocks)

    @property
    def place(self) -> tuple[int, int | None]:
        """How many bytes of the files, as they are on disk, were read and how many there are; None: unknown."""
        try:
            done = self._parts_bytes + (0 if self._raw.closed else self._raw.tell())
            return done, sum(part.stat().st_size for part in self._parts)
        except OSError:  # standard input, or a part that is just being compressed
            return 0, None

    def close(self) -> None:
        self._blocks.close()
        self._raw.close()  # a generator that has not begun closes nothing

    def _read(self, raw: BufferedReader, size: int) -> Generator[bytes, None, None]:
        done = 0
        try:
            for part in self._parts:
                if part is not self._parts[0]:
                    self._name = str(part)
                    raw = self._raw = self._open(part)
                with raw:
                    if self._skip and part is not self._parts[-1] and self.compression == "zstd":
                        # A closed part is one frame, whose header has its size.
                        length = zstandard.get_frame_parameters(raw.peek(_FRAME_HEADER_BYTES)).content_size
                        if 0 < length <= self._skip:
                            self._skip -= length
                            continue
                    elif self._skip and self.compression is None and raw.seekable():
                        length = raw.seek(0, SEEK_END)
                        raw.seek(min(self._skip, length))
                        self._skip = max(self._skip - length, 0)
                    for block in _blocks_of(raw, self.compression, size):
                        done += len(block)
                        skip = min(self._skip, len(block))
                        self._skip -= skip
                        if skip < len(block):
                            yield block[skip:]
                    self._parts_bytes += raw.tell() if raw.seekable() else 0
        except _DAMAGE as error:
            what = f"the {self.compression} data" if self.compression else "the file"
            detail = "it is cut short" if isinstance(error, EOFError) else str(error)
            self.problem = SourceError(f"{self._name}: {what} can be read only up to byte {done}: {detail}")


def read_blocks(path: str | PathLike[str], size: int = 1 << 20, offset: int = 0) -> BlockReader:
    """Decompressed, with all parts of a journal's session, whichever is named; ``problem`` says why it ends early."""
    return BlockReader(path, size, offset)


def read_head(blocks: Iterator[bytes]) -> tuple[bytes, Iterator[bytes]]:
    """With all blocks again."""
    ahead: list[bytes] = []
    size = 0
    for block in blocks:
        ahead.append(block)
        size += len(block)
        if size >= HEAD_BYTES:
            break
    return b"".join(ahead)[:HEAD_BYTES], chain(ahead, blocks)


def path_kind(path: str | PathLike[str]) -> PathKind | None:
    """Links followed; None: there is none. SourceError: the path is empty, invalid or cannot be read."""
    if path == "":
        raise SourceError("The path is empty.")
    try:
        mode = Path(path).stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise SourceError(f"{path}: cannot be read: {error.strerror or error}") from error
    return next((kind for kind, is_one in _KINDS.items() if is_one(mode)), "other")


def log_files(path: Path) -> list[Path]:
    """The parts of a journal's session in order, else the file itself, which need not exist."""
    return (list(session_parts(path).values()) if is_journal(path) else []) or [path]


def is_journal(path: Path) -> bool:
    """By its name; the file need not exist."""
    return path.name.endswith((SUFFIX, COMPRESSED))


def _compression_of(head: bytes) -> str | None:
    return next((name for magic, name in _MAGIC if magic.match(head)), None)


def _blocks_of(raw: BufferedReader, compression: str | None, size: int) -> Iterator[bytes]:
    reader: _Readable = raw if compression is None else _FrameReader(raw, compression)
    parts: list[bytes] = []  # a decompressor gives a few kilobytes at a time
    length = 0
    while True:
        try:
            part = reader.read1(size)
        except _DAMAGE:
            yield from _cut(parts, size)
            raise
        if part:
            parts.append(part)
            length += len(part)
        if length >= size or not part:
            yield from _cut(parts, size)
            parts.clear()
            length = 0
        if not part:
            return


def _cut(parts: list[bytes], size: int) -> Iterator[bytes]:
    block = b"".join(parts)
    for begin in range(0, len(block), size):
        yield block[begin : begin + size]


class _Decoder(Protocol):
    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    @property
    def decompress(self) -> Callable[..., bytes]: ...


_DECODERS: Final[dict[str, Callable[[], _Decoder]]] = {
    "gzip": lambda: zlib.decompressobj(zlib.MAX_WBITS | 16),
    "bzip2": bz2.BZ2Decompressor,
    "xz": lambda: lzma.LZMADecompressor(memlimit=_WINDOW_BYTES),
    "zstd": lambda: zstandard.ZstdDecompressor(max_window_size=_WINDOW_BYTES).decompressobj(),
}


class _FrameReader:
    """Frames that follow each other, decompressed in memory that does not depend on what is in them.

    A few compressed bytes can stand for megabytes, so a decoder gets few of them at a time. In bzip2 they can stand for
    gigabytes, of which its decoder returns a part.
    """

    def __init__(self, raw: BufferedReader, compression: str) -> None:
        self._raw = raw
        self._compression = compression
        self._limit = {"max_length": _MOST_AT_ONCE} if compression == "bzip2" else {}
        self._decoder: _Decoder | None = None
        self._rest = b""

    def read1(self, size: int, /) -> bytes:
        """Empty at the end. EOFError: the last frame is cut short. OSError: what follows a frame is none."""
        while True:
            data = self._rest
            needs_input = self._decoder is None or getattr(self._decoder, "needs_input", True)
            if not data and needs_input:
                data = self._raw.read1(min(size, _COMPRESSED_BYTES))
            if not data and needs_input:
                if self._decoder is not None:
                    raise EOFError
                return b""
            if self._decoder is None:
                self._rest = data = data.lstrip(b"\0")  # there may be zeros between two streams
                if not data:
                    continue
                while len(data) < _MAGIC_BYTES and (more := self._raw.read1(_MAGIC_BYTES - len(data))):
                    data += more
                if _compression_of(data) != self._compression:
                    raise OSError("other data follows it")
                self._decoder = _DECODERS[self._compression]()
            part = self._decoder.decompress(data, **self._limit)
            self._rest = b""
            if self._decoder.eof:
                self._rest = self._decoder.unused_data
                self._decoder = None
            if part:
                return part


def find_logs(paths: Iterable[str | PathLike[str]], skipped: list[Path] | None = None) -> Iterator[Path]:
    """Files that may be logs, each once: those named, and all in the folders named, sorted by name.

    Of a journal's session only the first part is returned: ``read_blocks`` reads the others with it.

    In folders, hidden files, timing files of typescripts, tables and databases are skipped. ``skipped`` gets the files
    that are skipped by their name.
    """
    given: set[Path] = set()
    for name in paths:
        path = Path(name)
        # A journal that was closed meanwhile may be compressed by now: its name is still good.
        kind = "file" if str(path) == _STDIN else path_kind(path)
        if kind is None and not (is_journal(path) and find_part(path).exists()):
            raise SourceError(f"{path}: no such file or folder")
        found = _walk(path, [] if skipped is None else skipped, named=True) if kind == "folder" else (path,)
        for file in found:
            file = _first_part(file)
            if file not in given:
                given.add(file)
                yield file


def _first_part(path: Path) -> Path:
    try:
        return log_files(path)[0]
    except OSError:
        return path  # opening it reports the error


def _walk(folder: Path, skipped: list[Path], *, named: bool) -> Iterator[Path]:
    try:
        entries = sorted(folder.iterdir())
    except OSError as error:
        if named:
            raise SourceError(f"{folder}: cannot be listed: {error.strerror or error}") from error
        yield folder  # opening it reports the error, and the others are read
        return
    for entry in entries:
        hidden = entry.name.startswith(".")
        try:
            is_folder, is_file = entry.is_dir(), entry.is_file()
        except OSError:
            is_folder, is_file = False, True  # a link to an unreadable place: opening it reports the error
        if is_folder:
            if not hidden and not entry.is_symlink():
                yield from _walk(entry, skipped, named=False)
        elif is_file and (hidden or entry.name.lower().endswith(_OURS)):
            skipped.append(entry)
        elif is_file and not _is_timing(entry):
            yield entry


def find_timing(path: Path) -> Path | None:
    """``x.timing``, ``x.tm``, ``x.time`` or ``timing``, by name and content."""
    names = [path.name + suffix for suffix in _TIMING_SUFFIXES]
    names += [path.stem + suffix for suffix in _TIMING_SUFFIXES]
    if path.stem == "typescript":
        names += ["timing", "timingfile"]
    for name in names:
        candidate = path.with_name(name)
        if candidate != path and candidate.is_file() and _is_timing(candidate):
            return candidate
    return None


def _is_timing(path: Path) -> bool:
    if not (path.suffix in _TIMING_SUFFIXES or path.name in ("timing", "timingfile")):
        return False
    try:
        with path.open("rb") as file:
            return looks_like_timing(file.read(4096))
    except OSError:
        return False
