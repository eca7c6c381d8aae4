"""The bytes of a log as they arrive: those behind a place, and then what is appended."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing
from itertools import chain
from pathlib import Path

from recorder.errors import JournalError, SourceError
from recorder.journal.format import RecordKind, parse_note, parse_record
from recorder.journal.parts import part_blocks, session_parts
from recorder.sources import is_journal, log_files, read_blocks

State = tuple[int, int, int, int, int]
"""How many files a log consists of; of the last one device, inode, size, time of change."""

BLOCK = 1 << 18
"""What is read at once of a plain file: a reader that gets so much is behind."""
_FIRST = 1 << 13
"""What is asked for first: a block is memory that the system clears and takes back, which costs more than a line."""
_COMPARED = 4096
_END_NOTE = b'"end"'


def state_of(path: Path) -> State | None:
    """What changes whenever a log grows or is replaced; None: it is not there."""
    try:
        files = log_files(path)
        about = files[-1].stat()
    except OSError:
        return None
    return len(files), about.st_dev, about.st_ino, about.st_size, about.st_mtime_ns


class Tail:
    """A plain file that grows; every method raises SourceError if it cannot be read.

    ``replaced`` is why nothing more comes; it is set only after all was read. ``moved`` is where the file has gone if
    nothing is in its place.
    """

    def __init__(self, path: Path, offset: int) -> None:
        self.replaced: str | None = None
        self.moved: str | None = None
        self._path = path
        self._place = offset
        try:
            self._file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
            self._last = os.pread(self._file, min(offset, _COMPARED), max(offset - _COMPARED, 0))
        except OSError as error:
            raise _unreadable(path, error) from error

    def read(self) -> bytes:
        """Return what comes next, at most ``BLOCK`` bytes; nothing: there is no more now."""
        try:
            last = self._last
            if os.pread(self._file, len(last), self._place - len(last)) != last:
                shorter = os.fstat(self._file).st_size < self._place
                self.replaced = "became shorter" if shorter else "was replaced"
                return b""
            data = os.pread(self._file, _FIRST, self._place)
            if len(data) == _FIRST:
                data += os.pread(self._file, BLOCK - _FIRST, self._place + _FIRST)
            if not data:
                self._look_for_another()
        except OSError as error:
            raise _unreadable(self._path, error) from error
        self._place += len(data)
        self._last = (last + data)[-_COMPARED:] if len(data) < _COMPARED else data[-_COMPARED:]
        return data

    def _look_for_another(self) -> None:
        """Another log has its name; as long as none has, its writer may go on with this one.

        A file that is still empty is none: logrotate creates it before the writer closes the old one.
        """
        ours = os.fstat(self._file)
        try:
            there: os.stat_result | None = self._path.stat()
        except FileNotFoundError:
            there = None
        if there is not None and (there.st_dev, there.st_ino) == (ours.st_dev, ours.st_ino):
            self.moved = None
            return
        if there is not None and not there.st_size:
            there = None
        if there is not None or self.moved is None:
            entries = self._path.parent.iterdir() if self._path.parent.is_dir() else ()
            found = next((entry for entry in entries if entry != self._path and _is(entry, ours)), None)
            what = "was removed" if there is None else "was replaced"
            self.moved = what if found is None else f"was renamed to {found.name}"
        if there is not None:
            self.replaced = self.moved

    @property
    def ended(self) -> bool:
        """Whether what was read last tells that nothing more comes."""
        return False

    def close(self) -> None:
        """Let go of the file."""
        os.close(self._file)


class _PackedTail(Tail):
    """A compressed file: read again from its beginning whenever it has changed."""

    def __init__(self, path: Path, offset: int) -> None:
        super().__init__(path, 0)
        self._offset = offset
        self._blocks: Iterator[bytes] = iter(())
        self._state: State | None = None

    def read(self) -> bytes:
        for block in self._blocks:
            self._offset += len(block)
            return block
        state = state_of(self._path)
        if state == self._state:
            return b""
        if self._state is not None and (state is None or state[1:3] != self._state[1:3]):
            self._look_for_another()
            return b""
        self._state = state
        with closing(read_blocks(self._path, offset=self._offset)) as blocks:
            self._blocks = iter(list(blocks))
        return self.read()


class _JournalTail(Tail):
    """The parts of a journal's session, one after the other, compressed or not. A part that is read stays open."""

    def __init__(self, path: Path, offset: int, first_part: int = 0) -> None:
        self.replaced = self.moved = None
        self._path = path
        self._number = first_part - 1  # of the part that is read
        self._file = -1
        self._packed: Iterator[bytes] | None = None
        self._last = b""
        self._more: list[bytes] = []  # what was read since
        self._looked = False  # for the next part, since something was read
        try:
            while self._next_part():
                offset -= self._skip(offset)
                if not offset:
                    break
        except OSError as error:
            raise _unreadable(path, error) from error
        if self._file < 0 and self._packed is None:
            raise SourceError(f"{path}: cannot be read: the file no longer exists")
        if self._packed is None:
            place = os.lseek(self._file, 0, os.SEEK_CUR)
            self._last = os.pread(self._file, min(place, _COMPARED), max(place - _COMPARED, 0))

    def read(self) -> bytes:
        """As ``Tail.read``, part after part."""
        try:
            while not (data := self._here()):
                # Looking into the folder costs more than all else: after what is no part's end it can wait.
                if not self._looked and _END_NOTE not in self._last_line():
                    self._looked = True
                    return b""
                self._looked = True
                if not self._has_next():
                    return b""
                if data := self._here():  # the last that its writer wrote before it began the next part
                    break
                self._next_part()
        except OSError as error:
            raise _unreadable(self._path, error) from error
        self._looked = False
        if len(data) >= _COMPARED:
            self._more.clear()
        self._more.append(data)  # joined when asked for, because the reader waits for these bytes
        return data

    def _last_line(self) -> bytes:
        """The last line, if it has come whole."""
        if self._more:
            self._last = b"".join((self._last, *self._more))[-_COMPARED:]
            self._more.clear()
        return self._last[:-1].rpartition(b"\n")[2] if self._last.endswith(b"\n") else b""

    @property
    def ended(self) -> bool:
        if self._packed is not None:
            return True  # no other part is compressed than one that was closed
        line = self._last_line()
        if _END_NOTE not in line:
            return False
        try:
            record = parse_record(line)
            note = parse_note(record.data) if record.kind is RecordKind.NOTE else {}
        except JournalError:
            return False
        return note.get("kind") == "end" and not note.get("more")

    def _here(self) -> bytes:
        if self._packed is not None:
            return next((block for block in self._packed if block), b"")
        if self._file < 0:
            return b""
        data = os.read(self._file, _FIRST)
        return data if len(data) < _FIRST else data + os.read(self._file, BLOCK - _FIRST)

    def _has_next(self) -> bool:
        try:
            return any(number > self._number for number in session_parts(self._path))
        except FileNotFoundError:  # its folder was removed; the part that is open can be read to its end
            return False

    def _next_part(self) -> bool:
        found = [entry for entry in session_parts(self._path).items() if entry[0] > self._number]
        if not found:
            return False
        number, path = found[0]
        self.close()
        if path.suffix == ".zst":
            self._packed = part_blocks(path)
        else:
            try:
                self._file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
            except FileNotFoundError:  # it is just being compressed
                self._packed = part_blocks(path.with_name(f"{path.name}.zst"))
        self._number = number
        return True

    def _skip(self, count: int) -> int:
        """Pass over bytes of this part; how many it had."""
        if self._packed is None:
            return os.lseek(self._file, min(count, os.fstat(self._file).st_size), os.SEEK_SET)
        done = 0
        while done < count and (block := self._here()):
            done += len(block)
            if done > count:
                self._packed = chain((block[len(block) - (done - count) :],), self._packed)
                return count
        return done

    def close(self) -> None:
        if self._file >= 0:
            os.close(self._file)
        self._file, self._packed = -1, None


def open_tail(path: Path, offset: int, *, first_part: int = 0) -> Tail:
    """The bytes of a log of any kind from a place on, counted in decompressed bytes.

    Parts with numbers below ``first_part`` are skipped, and not counted.
    """
    if is_journal(path):
        return _JournalTail(path, offset, first_part)
    with closing(read_blocks(path)) as blocks:
        packed = blocks.compression is not None
    return _PackedTail(path, offset) if packed else Tail(path, offset)


def _is(entry: Path, ours: os.stat_result) -> bool:
    about = entry.lstat()
    return (about.st_dev, about.st_ino) == (ours.st_dev, ours.st_ino)


def _unreadable(path: Path, error: OSError) -> SourceError:
    return SourceError(f"{path}: cannot be read: {error.strerror or error}")
