"""A PGN file that games are added to while other programs may do so, too.

The strategy: a game is appended in one call that returns when the disk has it. An entry is found by its key tag, and is
the lines from its first tag to the blank line after its moves, where a comment may have blank lines; to replace it the
file is written under another name and renamed, other bytes unchanged. A process that waited for the lock
meanwhile opens the new file.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Collection, Iterator
from contextlib import suppress
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Final, NamedTuple

from exporters.base import replacing
from recorder.files import lock, sync_folder

__all__ = ["PgnEntry", "PgnFile", "ReadPosition", "keys_in"]

_LAST_BYTES: Final = 1 << 20
_BLOCK: Final = 1 << 20
_TAG: Final = re.compile(rb'\[[A-Za-z][^"\r\n]*"[^\r\n]*"\]\r?\n?')
_RESULT: Final = b'[Result "'
_OPEN: Final = b"*"
_MARK_OF_UTF8: Final = b"\xef\xbb\xbf"
_BRACES: Final = re.compile(rb"[{};]")


class PgnEntry(NamedTuple):
    """A game in a file, or one part of it. ``begin``, ``end``: its place in bytes. ``open``: its result is ``*``."""

    begin: int
    end: int
    key: str
    open: bool


class ReadPosition(NamedTuple):
    """How much of which file was read: its inode and a size in bytes."""

    inode: int = -1
    size: int = 0


class PgnFile:
    """A PGN file, locked while it is open; made if it is not there. Every method raises ``OSError``.

    Args:
        path: the file; of a link the file that it leads to.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        there = path.exists()
        while True:
            self._file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o666)
            with suppress(OSError):  # a file system without locks
                lock(self._file, wait=True)
            with suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(self._file), path.stat()):
                    break
            os.close(self._file)  # it was replaced while this waited
        if not there:
            sync_folder(path.resolve().parent)  # its name, too, must outlive a power cut
        size = self.seen.size
        self._last = os.pread(self._file, _LAST_BYTES, max(size - _LAST_BYTES, 0))

    @property
    def seen(self) -> ReadPosition:
        """The file as it is now."""
        status = os.fstat(self._file)
        return ReadPosition(status.st_ino, status.st_size)

    @property
    def torn(self) -> bool:
        """Whether its last game lacks its end: a crash has cut it, or a user has edited the file."""
        return bool(self._last) and not self._last.endswith(b"\n\n")

    def written_of(self, text: bytes) -> int:
        """How many bytes of a game's text are at the file's end, if it ends in the middle of the game."""
        if not self.torn:
            return 0
        begin = max(self._last.rfind(b"\n\n[Event ") + 2, 0)
        if begin == 1:
            begin = 0
        torn = self._last[begin:]
        at = text.find(torn)
        while at >= 0:  # a game in several parts may be cut in any of them
            if self._last.endswith(text[: at + len(torn)]):
                return at + len(torn)
            at = text.find(torn, at + 1)
        return 0

    def append(self, text: bytes) -> None:
        """Write a game, all of it or nothing, and wait until the disk has it."""
        size = self.seen.size
        if self.torn:
            if written := self.written_of(text):
                size -= written
                os.ftruncate(self._file, size)
            else:
                text = (b"\n" if self._last.endswith(b"\n") else b"\n\n") + text
        try:
            done = 0
            while done < len(text):
                done += os.write(self._file, text[done:])
            os.fsync(self._file)
        except OSError:
            os.ftruncate(self._file, size)
            raise
        self._last = text[-2:]

    def entries(self, mark: str, keys: Collection[str]) -> list[PgnEntry]:
        """The entries of games by their keys, in the order of the file; a game in several parts has several.

        Args:
            mark: what a line with a key begins with.
        """
        if not self.seen.size:
            return []
        with mmap(self._file, 0, access=ACCESS_READ) as data:
            return sorted(entry for key in keys for entry in _entries(data, f'{mark}{key}"]'.encode(), key))

    def replace(self, entries: list[PgnEntry], text: bytes) -> ReadPosition:
        """Write a game in the place of the first of these entries, and drop the others; then close the file.

        Args:
            entries: at least one, in the order of the file.
            text: of the game; it gets the line ends of the first entry. If it is what they are, nothing is done.
        Returns:
            The new file.
        """
        with mmap(self._file, 0, access=ACCESS_READ) as data:
            if b"".join(data[entry.begin : entry.end] for entry in entries) == text:
                return self.seen
            return self._replace(data, entries, text)

    def _replace(self, data: mmap, entries: list[PgnEntry], text: bytes) -> ReadPosition:
        with replacing(self._path) as out:
            os.fchmod(out.fileno(), stat.S_IMODE(os.fstat(self._file).st_mode))
            begin = 0
            for number, entry in enumerate(entries):
                for at in range(begin, entry.begin, _BLOCK):
                    out.write(data[at : min(at + _BLOCK, entry.begin)])
                if not number:
                    crlf = data[entry.begin : entry.end].endswith(b"\r\n")
                    out.write(text.replace(b"\n", b"\r\n") if crlf else text)
                begin = entry.end
            for at in range(begin, len(data), _BLOCK):
                out.write(data[at : at + _BLOCK])
            out.flush()
            status = os.fstat(out.fileno())
        sync_folder(self._path.resolve().parent)
        self.close()
        return ReadPosition(status.st_ino, status.st_size)

    def close(self) -> None:
        """Let go of the file; it may be closed already."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


def keys_in(path: Path, mark: str, begin: int = 0) -> tuple[set[str], set[str]]:
    """Keys of the games in a file, and those of its entries whose result is ``*``.

    Args:
        path: the file, which need not be there. mark: what a line with a key begins with.
        begin: the place, where a game begins, from which on they are wanted.
    Raises:
        OSError: the file cannot be read.
    """
    keys: set[str] = set()
    left: set[str] = set()
    if not path.exists():
        return keys, left
    start = mark.encode()
    key: str | None = None  # of the entry being read
    is_open = False
    with path.open("rb") as file:
        file.seek(begin)
        for line in file:
            if line.startswith(b"[Event "):
                key, is_open = None, False
            elif line.startswith(_RESULT):
                is_open = _value(line, _RESULT) == _OPEN
            elif line.startswith(start) and b'"' in line[len(start) :]:
                key = _value(line, start).decode("ascii", "replace")
                keys.add(key)
            else:
                continue
            if is_open and key is not None:
                left.add(key)
    return keys, left


def _value(line: bytes, start: bytes) -> bytes:
    """The value of a tag; ``start``: what its line begins with, up to the quotation mark."""
    return line[len(start) :].partition(b'"')[0]


def _entries(data: mmap, line: bytes, key: str) -> Iterator[PgnEntry]:
    """The entries with a line that begins so."""
    at = data.find(line)
    while at >= 0:
        if not at or data[at - 1] == 0x0A:
            yield _entry(data, at, key)
        at = data.find(line, at + 1)


def _entry(data: mmap, at: int, key: str) -> PgnEntry:
    """The entry to which the tag at a place belongs."""
    begin, first = at, len(_MARK_OF_UTF8) if data[: len(_MARK_OF_UTF8)] == _MARK_OF_UTF8 else 0
    while begin > first and data[begin : begin + 7] != b"[Event ":
        before = max(data.rfind(b"\n", 0, begin - 1) + 1, first)
        if not _TAG.fullmatch(data[before:begin]):
            break
        begin = before
    end, left = begin, False
    while _TAG.fullmatch(line := _line(data, end)) and (end == begin or not line.startswith(b"[Event ")):
        left = left or (line.startswith(_RESULT) and _value(line, _RESULT) == _OPEN)
        end += len(line)
    while (line := _line(data, end)) and not line.strip():
        end += len(line)
    comment = False
    while (line := _line(data, end)) and not line.startswith(b"[Event "):
        end += len(line)
        if not (comment or line.strip()):
            break
        comment = _ends_in_comment(line, comment)
    return PgnEntry(begin, end, key, left)


def _ends_in_comment(line: bytes, comment: bool) -> bool:
    """Whether a comment in braces goes on after a line of moves; ``comment``: whether one went on before it."""
    if line.startswith(b"%"):
        return comment
    for found in _BRACES.finditer(line):
        if found[0] == b"}":
            comment = False
        elif found[0] == b"{":
            comment = True
        elif not comment:
            break  # the rest of the line is a comment
    return comment


def _line(data: mmap, begin: int) -> bytes:
    """The line that begins at a place, with its end; empty at the end of the file."""
    end = data.find(b"\n", begin)
    return data[begin : len(data) if end < 0 else end + 1]
