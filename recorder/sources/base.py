"""The interface of the decoders of saved logs, and the parts that they share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from recorder.events import Chunk, CutLines, EngineLine
from recorder.model import TimeBasis

_UTF8_MARK = b"\xef\xbb\xbf"
_LOOKED_AT = 1 << 16
_SWAP = bytes.maketrans(b"\r\n", b"\n\r")


class Decoder(Protocol):
    """The result does not depend on the blocks' sizes; ``time_basis`` is ``NONE`` until a time was read."""

    @property
    def time_basis(self) -> TimeBasis: ...

    def receive(self, block: bytes) -> Sequence[Chunk | CutLines | EngineLine]:
        """What the server sent; ``CutLines`` where bytes are missing."""
        ...

    def finish(self) -> Sequence[Chunk | CutLines | EngineLine]: ...


class LineEnds:
    """Swaps ``\\r`` and ``\\n`` in a log whose lines end with ``\\r`` alone, so that every offset stays.

    Old Macs and some terminals write such logs. The first 64 KiB decide; until they or a ``\\n`` have arrived, no bytes
    are returned. ``begun``: the beginning was read before and has ``\\n``.
    """

    def __init__(self, begun: bool = False) -> None:
        self.decided = begun
        self.swapped = False
        self._waiting = b""

    def receive(self, block: bytes) -> bytes:
        if not self.decided:
            block = self._waiting + block
            if b"\n" not in block[:_LOOKED_AT] and len(block) < _LOOKED_AT:
                self._waiting = block
                return b""
            self._decide(block)
        return self.swap(block) if self.swapped else block

    def finish(self) -> bytes:
        """At most 64 KiB."""
        rest = self._waiting
        if not self.decided:
            self._decide(rest)
        return self.swap(rest)

    def _decide(self, block: bytes) -> None:
        head = block[:_LOOKED_AT]
        self.decided, self._waiting = True, b""
        self.swapped = b"\n" not in head and b"\r" in head

    def swap(self, block: bytes) -> bytes:
        r"""Swap ``\r`` and ``\n`` if this log needs it; swapping twice restores the bytes."""
        return block.translate(_SWAP) if self.swapped else block


class RawDecoder:
    """A log of the server's own bytes (``tee``, a pasted fragment). A UTF-8 mark at the beginning is skipped."""

    time_basis = TimeBasis.NONE

    def __init__(self) -> None:
        self._ends = LineEnds()
        self._offset = 0
        self._mark: bytes | None = b""  # perhaps its beginning; None: it was read

    @property
    def decoded(self) -> int:
        return self._offset

    def receive(self, block: bytes) -> list[Chunk]:
        return self._read(self._ends.receive(block))

    def _read(self, block: bytes) -> list[Chunk]:
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
        chunks = self._read(self._ends.finish())
        block, self._mark = self._mark, None
        return [*chunks, Chunk(block, 0)] if block else chunks


class LineSplitter:
    """In bounded memory: a line longer than ``max_bytes`` comes in pieces of about this size."""

    def __init__(self, max_bytes: int = 1 << 20) -> None:
        self._max = max_bytes
        self._ends = LineEnds()
        self._rest = b""
        self._offset = 0

    def receive(self, block: bytes) -> list[tuple[bytes, int]]:
        return self._split(self._ends.receive(block))

    def _split(self, block: bytes) -> list[tuple[bytes, int]]:
        data = self._rest + block
        if not self._offset and data.startswith(_UTF8_MARK):
            data = data[len(_UTF8_MARK) :]
            self._offset = len(_UTF8_MARK)
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
        lines = self._split(self._ends.finish())
        line, self._rest = self._rest, b""
        return [*lines, (line, self._offset)] if line else lines
