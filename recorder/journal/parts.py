"""The files of a session: their names, how they are made, appended to, compressed and read."""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
import time
from collections.abc import Generator
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, Protocol

import zstandard

from recorder.errors import JournalError
from recorder.files import is_locked, lock, sync_folder
from recorder.journal.format import JournalHeader, RecordKind, parse_note, parse_record
from recorder.text import later

_sync = getattr(os, "fdatasync", os.fsync)  # the size is synced, too, as far as it takes to read the bytes again


class AppendedFile:
    """A file that is appended to; this object closes it. Every method raises ``OSError``."""

    def __init__(self, name: str, fd: int) -> None:
        self._name = name
        self._fd = fd

    def write(self, data: bytes, /) -> int:
        """Pass bytes to the operating system; return how many it has taken, perhaps fewer than all."""
        return os.write(self._fd, data)

    def sync(self) -> None:
        """Return when the disk has what was written."""
        _sync(self._fd)

    def check(self) -> None:
        """Fail if the file has been removed: what is written to it would be lost unseen."""
        if os.fstat(self._fd).st_nlink == 0:
            raise FileNotFoundError(None, "it was removed while it was being written", self._name)

    def close(self) -> None:
        """Close the file."""
        os.close(self._fd)


SUFFIX: Final = ".journal"
COMPRESSED: Final = ".journal.zst"

_MODE: Final = 0o600
_UNSAFE: Final = later(r"[^a-z0-9.-]")
_LONGEST_HOST: Final = 80
_NAME: Final = later(r"(?P<session>.+)_(?P<part>\d{5,})\.journal(?:\.zst)?")
_LAST_LINE_BYTES: Final = 4096
_LOCK_TRIES: Final = 200
_LOCK_PAUSE_S: Final = 0.001
_LEVEL: Final = 6
_WINDOW_LOG: Final = 17  # lines repeat those shortly before; more takes memory and gains nothing
_BLOCK: Final = 1 << 16
_PACKED_BLOCK: Final = 1 << 13
_FRAME_HEADER_BYTES: Final = 18
_ZSTD: Final = b"\x28\xb5\x2f\xfd"


class PartFile(Protocol):
    """A file that is being appended to. Every method raises ``OSError``."""

    def write(self, data: bytes, /) -> int:
        """Pass bytes to the operating system; return how many it has taken, perhaps fewer than all."""
        ...

    def sync(self) -> None:
        """Return when the disk has what was written."""
        ...

    def check(self) -> None:
        """Fail if the file has been removed: what is written to it would be lost unseen."""
        ...

    def close(self) -> None:
        """Close the file."""
        ...


def _lock(fd: int) -> None:
    """Lock a file for ``is_being_written``, where the file system has locks."""
    for _ in range(_LOCK_TRIES):
        try:
            lock(fd)
        except BlockingIOError:
            time.sleep(_LOCK_PAUSE_S)  # another process checks the new file, which takes microseconds
        except OSError:
            return
        else:
            return


def _create(path: Path, flags: int = 0) -> int:
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | flags, _MODE)


def new_part(path: Path) -> PartFile:
    """Create and lock a file that only its owner may read; OSError: it exists."""
    fd = _create(path, os.O_APPEND)
    _lock(fd)
    return AppendedFile(str(path), fd)


def is_being_written(path: Path) -> bool:
    """Whether a running process appends to a part.

    False also where the file is missing or the file system has no locks.
    """
    try:
        with path.open("rb") as file:
            return is_locked(file)
    except OSError:
        return False


def part_name(header: JournalHeader) -> str:
    """The file name of a part; names sort by the time of the session and by part.

    Characters of the host that are not safe in file names become ``_``:
    ``20260101T120000000Z_freechess.org_5000_0123456789abcdef_00001.journal``.
    """
    begun = datetime.fromtimestamp(header.anchor_utc_ns // 1_000_000_000, UTC)
    ms = header.anchor_utc_ns // 1_000_000 % 1000
    server = header.host if header.port is None else f"{header.host}_{header.port}"
    safe = _UNSAFE().sub("_", server.lower())[:_LONGEST_HOST]
    return f"{begun:%Y%m%dT%H%M%S}{ms:03}Z_{safe}_{header.session}_{header.part:05}{SUFFIX}"


def find_part(path: Path) -> Path:
    """The file of a part now: its name changes when it is compressed or decompressed.

    If neither form exists, ``path`` is returned.
    """
    other = path.with_suffix("") if path.name.endswith(COMPRESSED) else path.with_name(f"{path.name}.zst")
    return other if not path.exists() and other.exists() else path


def session_parts(path: Path) -> dict[int, Path]:
    """The parts of a file's session in its folder, by number; compressed ones before plain ones.

    A file whose name does not have the form of ``part_name`` is part 0, alone.
    """
    name = _NAME().fullmatch(path.name)
    if name is None:
        return {0: path}
    found: dict[int, Path] = {}
    for entry in sorted(path.parent.iterdir()):  # x.journal before x.journal.zst
        match = _NAME().fullmatch(entry.name)
        if match is not None and match["session"] == name["session"]:
            found[int(match["part"])] = entry
    return dict(sorted(found.items()))


def is_unfinished(path: Path) -> bool:
    """Whether a file is, by its name, one that ``compress_part`` has begun to write.

    True also for a file whose process is still writing it.
    """
    return path.name.startswith(".") and f"{SUFFIX}." in path.name and path.suffix == ".part"


def session_name(name: str) -> str | None:
    """The text with which the names of all parts of a session begin. None: it is not the name of a part."""
    match = _NAME().fullmatch(name)
    return None if match is None else match["session"]


def session_sizes(folder: Path) -> dict[str, int]:
    """Return decompressed sizes by ``session_name``, the oldest first; a file that cannot be read counts nothing."""
    parts: dict[tuple[str, str], Path] = {}
    for entry in sorted(folder.iterdir()):  # x.journal before x.journal.zst
        if match := _NAME().fullmatch(entry.name):
            parts[match["session"], match["part"]] = entry
    sizes: dict[str, int] = {}
    for (session, _), path in parts.items():
        with contextlib.suppress(OSError, zstandard.ZstdError):
            sizes[session] = sizes.get(session, 0) + _part_size(path)
    return sizes


def _part_size(path: Path) -> int:
    with path.open("rb") as file:
        head = file.read(_FRAME_HEADER_BYTES)
        if head.startswith(_ZSTD):
            return max(zstandard.frame_content_size(head), 0)  # a closed part is one frame, whose header has its size
        return os.fstat(file.fileno()).st_size


def compress_part(path: Path) -> Path:
    """Replace a closed part by its compressed form.

    The compressed file gets its name only when it is on the disk and was read again, and only then the plain one is
    removed: after a crash at any point one of them is whole, and where both are there they hold the same. After an
    error the plain file is as it was.
    """
    target = path.with_name(f"{path.name}.zst")
    unfinished = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")  # several may do this at once
    try:
        with path.open("rb") as plain, os.fdopen(_create(unfinished), "wb") as out:
            size = os.fstat(plain.fileno()).st_size
            how = zstandard.ZstdCompressionParameters.from_level(
                _LEVEL, source_size=size, window_log=_WINDOW_LOG, hash_log=_WINDOW_LOG - 1, chain_log=_WINDOW_LOG - 1,
                write_checksum=True,
            )  # fmt: skip
            zstandard.ZstdCompressor(compression_params=how).copy_stream(plain, out, size=size)
            out.flush()
            os.fsync(out.fileno())
        if _digest(path) != _digest(unfinished):
            raise JournalError(f"{target} would not hold the same bytes")
        unfinished.replace(target)
        sync_folder(path.parent)
        path.unlink(missing_ok=True)
        sync_folder(path.parent)
    except FileNotFoundError:
        if path.exists() or not target.exists():  # else another has done it
            raise
    finally:
        with contextlib.suppress(OSError):
            unfinished.unlink(missing_ok=True)
    return target


def _digest(path: Path) -> bytes:
    running = hashlib.sha256()
    for block in part_blocks(path):
        running.update(block)
    return running.digest()


def part_blocks(path: Path) -> Generator[bytes, None, None]:
    """The bytes of one part, decompressed if it is compressed; no block is empty.

    JournalError: what was compressed is damaged; all bytes before were yielded.
    """
    with path.open("rb") as file:
        if not file.peek(len(_ZSTD)).startswith(_ZSTD):
            while block := file.read(_BLOCK):
                yield block
            return
        done = 0
        decoder = zstandard.ZstdDecompressor().decompressobj()
        try:
            while not decoder.eof and (packed := file.read(_PACKED_BLOCK)):
                if block := decoder.decompress(packed):  # else it needs more
                    yield block
                    done += len(block)
        except zstandard.ZstdError as error:
            raise JournalError(f"{path} can be decompressed only up to byte {done}: {error}") from error
        if not decoder.eof or decoder.unused_data or file.read(1):
            what = "more follows the compressed data" if decoder.eof else "it is cut short"
            raise JournalError(f"{path} can be decompressed only up to byte {done}: {what}")


def is_closed(path: Path) -> bool:
    """Whether a part ends with the note ``end``; another process may still write a part without it.

    False also if the file cannot be read. The part is not compressed.
    """
    try:
        with path.open("rb") as file:
            file.seek(-min(_LAST_LINE_BYTES, path.stat().st_size), os.SEEK_END)
            tail = file.read()
        if not tail.endswith(b"\n"):
            return False
        record = parse_record(tail[:-1].rpartition(b"\n")[2])
        return record.kind is RecordKind.NOTE and parse_note(record.data)["kind"] == "end"
    except (OSError, JournalError):
        return False
