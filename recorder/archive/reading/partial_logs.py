"""Partial logs: a file that is the beginning of a log in the archive has nothing new."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, cast

from recorder.archive.reading.kept_bytes import source_blocks
from recorder.errors import SourceError
from recorder.live.secrets.logs import scrubbed
from recorder.sources import FILLER, SourceKind, read_blocks
from recorder.sources.redaction import Forgotten, Redactor

if TYPE_CHECKING:
    from storage import ArchiveStore, SourceRow

_HEAD_BYTES = 4096
_STEP_BYTES = 4096
_LONGEST_LINE = 1 << 22


class PartialLogs:
    """Finds the source of which a file is an earlier part.

    What the archive keeps is compared, secrets replaced in both; for a log that is not kept, its file if that is
    still what was imported. The beginnings of sources are remembered from one file to the next, and hashes of longer
    ones where many logs begin alike: for those each is read about as far as it has something in common with another.
    """

    def __init__(self, archive: ArchiveStore, forgotten: Forgotten) -> None:
        self._archive = archive
        self._forgotten = forgotten
        self._heads: dict[str, bytes] = {}
        self._marks: dict[str, _Marks] = {}

    def whole_of(
        self, scrubbed_as: Callable[[SourceKind], Iterator[bytes]], size: int, head: bytes
    ) -> SourceRow | None:
        """The longest source that begins with a file's ``size`` bytes, scrubbed as its kind of log, and goes on."""
        rows, head = [row for row in self._archive.sources() if row.size_bytes > size], head[:_HEAD_BYTES]
        missing = {row.sha256 for row in rows if row.kept_bytes and not row.lacks_player} - self._heads.keys()
        if missing:
            self._heads |= self._archive.beginnings(missing, _HEAD_BYTES)
        alike = [row for row in rows if self._alike(head, self._head_of(row)[:size], SourceKind(row.kind))]
        marks: dict[SourceKind, _Marks] = {}

        def file_blocks(kind: SourceKind) -> Generator[bytes, None, None]:
            return self._redacted(scrubbed_as(kind), kind)

        for row in sorted(alike, key=lambda row: (-row.size_bytes, row.sha256)):
            kind = SourceKind(row.kind)
            if kind not in marks:
                marks[kind] = _Marks(partial(file_blocks, kind))
            # One alone is compared at once: that ends where they differ.
            if len(alike) > 1 and row.kept and not _agree(marks[kind], self._marks_of(row)):
                continue
            kept = row.kept_bytes >= size and not row.lacks_player
            blocks = self._archive.read_source(row.id, 0, size) if kept else source_blocks(self._archive, row)
            if blocks is not None:
                with closing(self._redacted(blocks, kind)) as stored:
                    if _same(file_blocks(kind), stored):
                        return row
        return None

    def _marks_of(self, row: SourceRow) -> _Marks:
        if row.sha256 not in self._marks:
            kind = SourceKind(row.kind)
            self._marks[row.sha256] = _Marks(
                lambda: self._redacted(source_blocks(self._archive, row) or iter(()), kind)
            )
        return self._marks[row.sha256]

    def begins(self, row: SourceRow, others: PartialLogs, other: SourceRow) -> bool:
        """Whether a source is the beginning of a longer one in another archive; False if that is unknown."""
        if not 0 < row.size_bytes < other.size_bytes:
            return False
        kind = SourceKind(row.kind)
        if not self._alike(self._head_of(row), others._head_of(other)[: row.size_bytes], kind):
            return False
        if row.kept and other.kept and not _agree(self._marks_of(row), others._marks_of(other)):
            return False
        part, whole = source_blocks(self._archive, row), source_blocks(others._archive, other)
        if part is None or whole is None:
            return False
        with closing(self._redacted(whole, kind)) as stored:
            return _same(self._redacted(part, kind), stored)

    def _redacted(self, blocks: Iterator[bytes], kind: SourceKind) -> Generator[bytes, None, None]:
        return cast("Generator[bytes, None, None]", Redactor(self._forgotten, kind).all(blocks))

    def _alike(self, ours: bytes, theirs: bytes, kind: SourceKind) -> bool:
        """Whether two beginnings may be of one log; a line that is cut may have been redacted otherwise than whole."""
        if self._forgotten:
            end = max(min(ours.rfind(b"\n"), theirs.rfind(b"\n")), 0)
            if not end:
                return True
            ours, theirs = (b"".join(self._redacted(iter([head[:end]]), kind)) for head in (ours, theirs))
        return _alike(ours, theirs)

    def _head_of(self, row: SourceRow) -> bytes:
        if row.sha256 not in self._heads:
            kept = self._archive.beginnings({row.sha256}, _HEAD_BYTES) if row.kept_bytes else {}
            of_file = _head_of_file(row) if row.lacks_player or not kept else b""
            self._heads[row.sha256] = of_file or kept.get(row.sha256, b"")
        return self._heads[row.sha256]


class _Marks:
    """Hashes of a text's beginnings, each 4 KiB longer than the one before, found as far as they are asked for."""

    def __init__(self, blocks: Callable[[], Generator[bytes, None, None]]) -> None:
        self._blocks = blocks
        self._found: list[bytes] = []
        self._whole = False  # the text has no more

    def at(self, number: int) -> bytes | None:
        """The hash of as many times 4 KiB and once more; None: there are not so many whole lines."""
        if number >= len(self._found) and not self._whole:
            self._find(max(number + 1, 2 * len(self._found)))
        return self._found[number] if number < len(self._found) else None

    def _find(self, count: int) -> None:
        """Find so many: twice what there were, so that all reading is only twice the last one."""
        self._found = []
        running, rest = blake2b(digest_size=16), b""
        with closing(self._blocks()) as blocks:
            for block in blocks:
                rest += block
                # A cut line may have been scrubbed otherwise than whole; one so long is not scrubbed.
                end, done = len(rest) if len(rest) > _LONGEST_LINE else rest.rfind(b"\n") + 1, 0
                while end - done >= _STEP_BYTES and len(self._found) < count:
                    running.update(rest[done : done + _STEP_BYTES])
                    self._found.append(running.digest())
                    done += _STEP_BYTES
                rest = rest[done:]
                if len(self._found) == count:
                    return
        self._whole = True


def _agree(part: _Marks, whole: _Marks) -> bool:
    """Whether a text may be the beginning of another one: as far as it has whole lines."""
    number = 0
    while (mark := part.at(number)) is not None:
        if mark != (other := whole.at(number)):
            return other is None  # a line too long to compare yet
        number += 1
    return True


def _head_of_file(row: SourceRow) -> bytes:
    """The beginning of a log that is not kept, whatever its file holds now."""
    try:
        if row.path is not None:
            with closing(read_blocks(Path(row.path))) as blocks:
                block = next(scrubbed(blocks, SourceKind(row.kind)), b"")
                return block[:_HEAD_BYTES]
    except (SourceError, OSError):
        pass
    return b""


def _same(blocks: Iterator[bytes], stored: Iterator[bytes]) -> bool:
    """Whether the stored bytes begin with the blocks; a cut last line may have been scrubbed otherwise than whole."""
    rest = b""
    cut = False
    for block in blocks:
        while len(rest) < len(block) and (more := next(stored, None)) is not None:
            rest += more
        if cut or len(rest) < len(block):
            return False
        same, rest = rest[: len(block)], rest[len(block) :]
        if block != same:
            if b"\n" in block or not _alike(block, same):
                return False
            cut = True
    return True


def _alike(ours: bytes, theirs: bytes) -> bool:
    """Whether texts differ only where one of them is filled, as far as both go."""
    length = min(len(ours), len(theirs))
    if ours[:length] == theirs[:length]:
        return length > 0
    return all(a == b or FILLER[0] in (a, b) for a, b in zip(ours, theirs, strict=False))
