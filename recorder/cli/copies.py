"""Older copies: a file that is the beginning of a log in the archive has nothing new to say."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, cast

from recorder.cli.forgetting import forgotten_in
from recorder.cli.inputs import Input, Reading
from recorder.cli.kept import source_blocks
from recorder.errors import SourceError
from recorder.sources import FILLER, SourceKind, read_blocks, scrubbed
from recorder.sources.forgotten import Forgotten, redacted

if TYPE_CHECKING:
    from storage import Archive, SourceRow

__all__ = ["Copies"]

_HEAD_BYTES = 4096


class Copies:
    """Finds the source of which a file is an earlier part.

    What the archive keeps is compared, secrets replaced in both; for a log that is not kept, its file if that is
    still what was imported. The beginnings of sources are remembered from one file to the next.

    Args:
        archive: in which they are.
        forgotten: handles that may be replaced in what is kept; None: those of the archive.
    """

    def __init__(self, archive: Archive, forgotten: Forgotten | None = None) -> None:
        self._archive = archive
        self._forgotten = forgotten_in(archive) if forgotten is None else forgotten
        self._heads: dict[str, bytes] = {}

    def whole_of(self, source: Input, size: int, head: bytes) -> SourceRow | None:
        """The longest source that begins with a file's bytes and goes on.

        Args:
            source: the file. size: of it, in decompressed bytes. head: the first of them.
        Raises:
            SourceError: the file cannot be read.
        """
        rows = [row for row in self._archive.sources() if row.size_bytes > size]
        missing = {row.sha256 for row in rows if row.kept_bytes} - self._heads.keys()
        if missing:
            self._heads |= self._archive.beginnings(missing, _HEAD_BYTES)
        for row in sorted(rows, key=lambda row: (-row.size_bytes, row.sha256)):
            begins_alike = self._alike(head[:_HEAD_BYTES], self._head_of(row)[:size], SourceKind(row.kind))
            if begins_alike and self._is_beginning(source, size, row):
                return row
        return None

    def begins(self, row: SourceRow, others: Copies, other: SourceRow) -> bool:
        """Whether a source is the beginning of a longer one in another archive; False if nobody can tell.

        Args:
            row: of this archive. others: of the other archive. other: of that.
        """
        if not 0 < row.size_bytes < other.size_bytes:
            return False
        kind = SourceKind(row.kind)
        if not self._alike(self._head_of(row), others._head_of(other)[: row.size_bytes], kind):
            return False
        part, whole = source_blocks(self._archive, row), source_blocks(others._archive, other)
        if part is None or whole is None:
            return False
        with closing(self._redacted(whole, kind)) as stored:
            return _same(self._redacted(part, kind), stored)

    def _redacted(self, blocks: Iterator[bytes], kind: SourceKind) -> Generator[bytes, None, None]:
        return cast("Generator[bytes, None, None]", redacted(blocks, self._forgotten, kind))

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
            self._heads[row.sha256] = kept.get(row.sha256) or _head_of_file(row)
        return self._heads[row.sha256]

    def _is_beginning(self, source: Input, size: int, row: SourceRow) -> bool:
        kept = row.kept_bytes >= size
        blocks = self._archive.read_source(row.id, 0, size) if kept else source_blocks(self._archive, row)
        if blocks is None:
            return False
        with closing(self._redacted(blocks, SourceKind(row.kind))) as stored:
            kind = SourceKind(row.kind)
            return _same(self._redacted(scrubbed(Reading(source, size=size), kind), kind), stored)


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
