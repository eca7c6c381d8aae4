"""What every decoder of a saved log does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from recorder.events import Chunk, CutLines, EngineLine
from recorder.model import SourceKind, TimeBasis

_UTF8_MARK = b"\xef\xbb\xbf"
_LOOKED_AT = 1 << 16
_SWAP = bytes.maketrans(b"\r\n", b"\n\r")

__all__ = ["Decoder", "LineEnds", "LineSplitter", "RawDecoder", "SourceKind"]


class Decoder(Protocol):
    """Turns a log's bytes into the bytes that the server sent. Pure: how the log is cut into blocks never matters.

    ``time_basis`` says what ``Chunk.at_ms`` means; it is ``NONE`` until a time was read.
    """

    @property
    def time_basis(self) -> TimeBasis: ...

    def receive(self, block: bytes) -> Sequence[Chunk | CutLines | EngineLine]:
        """Read the next bytes of the (decompressed) log."""
        ...

    def finish(self) -> Sequence[Chunk | CutLines | EngineLine]:
        """Return what is left at the log's end."""
        ...


class LineEnds:
    """Makes a log that has no ``\\n`` but ``\\r`` readable by lines: the two are swapped, so that every offset stays.

    Old Macs and some terminals end lines with ``\\r`` alone. The first 64 KiB decide; until they or a ``\\n`` have
    come, the bytes are held back.

    Args:
        begun: the beginning was read before and has ``\\n``.
    Attributes:
        decided: whether the kind of line end is known. swapped: whether the bytes given back are swapped.
    """

    def __init__(self, begun: bool = False) -> None:
        self.decided = begun
        self.swapped = False
        self._held = b""

    def receive(self, block: bytes) -> bytes:
        """The next bytes, as lines that end with ``\\n``."""
        if not self.decided:
            block = self._held + block
            if b"\n" not in block[:_LOOKED_AT] and len(block) < _LOOKED_AT:
                self._held = block
                return b""
            self._decide(block)
        return self.swap(block) if self.swapped else block

    def finish(self) -> bytes:
        """What was held back to the end."""
        held = self._held
        if not self.decided:
            self._decide(held)
        return self.swap(held)

    def _decide(self, block: bytes) -> None:
        head = block[:_LOOKED_AT]
        self.decided, self._held = True, b""
        self.swapped = b"\n" not in head and b"\r" in head

    def swap(self, block: bytes) -> bytes:
        """The bytes with the two exchanged if this log needs it; twice is not at all."""
        return block.translate(_SWAP) if self.swapped else block


class RawDecoder:
    """A log of the server's own bytes (``tee``, a pasted fragment). A UTF-8 mark at the beginning is left out.

    Args:
        begun: the bytes begin in the middle of a log whose lines end with ``\\n``.
    """

    time_basis = TimeBasis.NONE

    def __init__(self, begun: bool = False) -> None:
        self._ends = LineEnds(begun)
        self._offset = 0
        self._mark: bytes | None = None if begun else b""  # the mark's beginning, perhaps; None: that is over

    @property
    def decoded(self) -> int:
        """How many bytes were given away, what is left out at the beginning included."""
        return self._offset

    def restart(self, offset: int) -> tuple[int, dict[str, Any]] | None:
        """Where reading can begin to give what stands at ``offset``, and what ``begun`` must be then.

        Returns:
            None if only the whole log can be read: the bytes were not given as they are.
        """
        return (offset, {}) if self._ends.decided and not self._ends.swapped else None

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
    """Cuts blocks into a log's physical lines with their offsets, in bounded memory; see ``LineEnds``.

    Args:
        max_bytes: a longer line is given in pieces of about this size, the first of them as if it were the line.
    """

    def __init__(self, max_bytes: int = 1 << 20) -> None:
        self._max = max_bytes
        self._ends = LineEnds()
        self._rest = b""
        self._offset = 0

    def receive(self, block: bytes) -> list[tuple[bytes, int]]:
        """Complete lines without their ``\\n``, each with the offset of its first byte."""
        return self._split(self._ends.receive(block))

    def _split(self, block: bytes) -> list[tuple[bytes, int]]:
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
        """The last line, if it has no line end, and what was held back."""
        lines = self._split(self._ends.finish())
        line, self._rest = self._rest, b""
        return [*lines, (line, self._offset)] if line else lines
