"""What every decoder of a saved log does."""

from __future__ import annotations

from enum import Enum
from typing import Protocol

from recorder.events import Chunk
from recorder.model import TimeBasis

_UTF8_MARK = b"\xef\xbb\xbf"

__all__ = ["Decoder", "LineSplitter", "RawDecoder", "SourceKind"]


class SourceKind(Enum):
    """Kinds of saved logs. The value is the word that ``--kind`` takes."""

    RAW = "raw"
    TYPESCRIPT = "typescript"
    XBOARD = "xboard"
    PYCHESS = "pychess"
    STAMPED = "stamped"


class Decoder(Protocol):
    """Turns a log's bytes into the bytes that the server sent. Pure: how the log is cut into blocks never matters.

    ``time_basis`` says what ``Chunk.at_ms`` means; it is ``NONE`` until a time was read.
    """

    @property
    def time_basis(self) -> TimeBasis: ...

    def receive(self, block: bytes) -> list[Chunk]:
        """Read the next bytes of the (decompressed) log."""
        ...

    def finish(self) -> list[Chunk]:
        """Return what is left at the log's end."""
        ...


class RawDecoder:
    """A log of the server's own bytes (``tee``, a pasted fragment). A UTF-8 mark at the beginning is left out."""

    time_basis = TimeBasis.NONE

    def __init__(self) -> None:
        self._offset = 0
        self._mark: bytes | None = b""  # what may be the mark's beginning; None: the beginning is over

    def receive(self, block: bytes) -> list[Chunk]:
        if self._mark is not None:
            block = self._mark + block
            if len(block) < len(_UTF8_MARK) and _UTF8_MARK.startswith(block):
                self._mark = block
                return []
            self._mark = None
            if block.startswith(_UTF8_MARK):
                block = block[len(_UTF8_MARK) :]
                self._offset = len(_UTF8_MARK)
        offset = self._offset
        self._offset += len(block)
        return [Chunk(block, offset)] if block else []

    def finish(self) -> list[Chunk]:
        block, self._mark = self._mark, None
        return [Chunk(block, 0)] if block else []


class LineSplitter:
    """Cuts blocks into a log's physical lines with their offsets, in bounded memory.

    Args:
        max_bytes: a longer line is given in pieces of about this size, the first of them as if it were the line.
    """

    def __init__(self, max_bytes: int = 1 << 20) -> None:
        self._max = max_bytes
        self._rest = b""
        self._offset = 0

    def receive(self, block: bytes) -> list[tuple[bytes, int]]:
        """Complete lines without their ``\\n``, each with the offset of its first byte."""
        data = self._rest + block
        lines = data.split(b"\n")
        self._rest = lines.pop()
        out: list[tuple[bytes, int]] = []
        for line in lines:
            out.append((line, self._offset))
            self._offset += len(line) + 1
        if len(self._rest) > self._max:
            out.append((self._rest, self._offset))
            self._offset += len(self._rest)
            self._rest = b""
        return out

    def finish(self) -> list[tuple[bytes, int]]:
        """The last line, if it has no line end."""
        line, self._rest = self._rest, b""
        return [(line, self._offset)] if line else []
