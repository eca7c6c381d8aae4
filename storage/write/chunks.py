"""The bytes of a source, cut into compressed chunks."""

from __future__ import annotations

from collections.abc import Iterator

import zstandard

CHUNK_BYTES = 1 << 20


class ChunkCutter:
    """``rest`` begins the first chunk."""

    def __init__(self, rest: bytes = b"") -> None:
        self._pending = [rest]
        self._size = len(rest)
        self._compressor = zstandard.ZstdCompressor(level=1, write_checksum=True)  # level 3: 1 % smaller, 40 % slower

    @property
    def rest(self) -> bytes:
        return b"".join(self._pending)

    def receive(self, block: bytes) -> Iterator[tuple[int, bytes]]:
        """Yields the size of each full chunk, and the chunk compressed."""
        self._pending.append(block)
        self._size += len(block)
        if self._size >= CHUNK_BYTES:
            yield from self._cut(CHUNK_BYTES)

    def finish(self) -> Iterator[tuple[int, bytes]]:
        return self._cut(1)

    def _cut(self, least: int) -> Iterator[tuple[int, bytes]]:
        data = memoryview(self.rest)
        done = 0
        while len(data) - done >= least:
            chunk = data[done : done + CHUNK_BYTES]
            yield len(chunk), self._compressor.compress(chunk)
            done += len(chunk)
        self._pending = [bytes(data[done:])]
        self._size = len(data) - done
