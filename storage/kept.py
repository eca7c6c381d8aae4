"""The kept bytes of sources: compressed blocks, each with its place."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from recorder.errors import StorageError
from storage.sourcerows import SourceRow, row_number

if TYPE_CHECKING:
    import zstandard

__all__ = ["beginnings_of", "drop_kept", "packed_timing", "read_kept", "timing_of"]

_ONE_BLOCK = 140_000  # bytes that hold the first compressed block: at most 128 KiB and its header


def _decompressor() -> zstandard.ZstdDecompressor:
    import zstandard  # who asks for games needs none

    return zstandard.ZstdDecompressor()


def read_kept(
    driver: sqlite3.Connection, row: SourceRow, offset: int = 0, length: int | None = None
) -> Iterator[bytes]:
    """The kept bytes of a source, in order, in blocks of at most 1 MiB.

    Args:
        row: the source. offset: of the first byte wanted. length: how many; None: to the end.
    Raises:
        StorageError: the bytes are not all kept.
    """
    end = row.size_bytes if length is None else min(offset + length, row.size_bytes)
    if end > row.kept_bytes:
        raise StorageError(
            f"The bytes of {row.name} ({row.id}) are not in the archive: it was imported with --no-keep-source."
        )
    query = (
        'SELECT "offset", zstd FROM source_chunks'
        ' WHERE source_id = ? AND "offset" < ? AND "offset" + size_bytes > ? ORDER BY "offset"'
    )
    decompressor = _decompressor()
    for start, compressed in driver.execute(query, (row_number(driver, row.sha256), end, offset)):
        yield decompressor.decompress(compressed)[max(offset - start, 0) : end - start]


def beginnings_of(driver: sqlite3.Connection, hashes: Collection[str], length: int) -> dict[str, bytes]:
    """The first kept bytes of several sources; of those of which nothing is kept, none.

    Args:
        hashes: their SHA-256. length: how many bytes of each, at most 64 KiB.
    """
    query = (
        "SELECT substr(c.zstd, 1, ?) FROM source_chunks c JOIN sources s ON s.id = c.source_id"
        ' WHERE s.sha256 = ? AND c."offset" = 0'
    )
    found: dict[str, bytes] = {}
    for sha256 in sorted(hashes):
        first = driver.execute(query, (_ONE_BLOCK, sha256)).fetchone()
        if first is not None:
            reader = _decompressor().stream_reader(first[0])
            found[sha256] = reader.read(length)
    return found


def timing_of(driver: sqlite3.Connection, row: SourceRow) -> bytes | None:
    """The timing file of a kept typescript; None where there was none or the source is not kept."""
    (timing,) = driver.execute("SELECT timing FROM sources WHERE sha256 = ?", (row.sha256,)).fetchone() or (None,)
    return None if timing is None else _decompressor().decompress(timing)


def packed_timing(timing: bytes) -> bytes:
    """What ``timing_of`` unpacks."""
    import zstandard

    return zstandard.ZstdCompressor(level=6).compress(timing)


def drop_kept(driver: sqlite3.Connection, row_id: int) -> None:
    """Keep nothing of a source's bytes; its games stay."""
    driver.execute("DELETE FROM source_chunks WHERE source_id = ?", (row_id,))
    driver.execute("UPDATE sources SET kept_bytes = 0, timing = NULL WHERE id = ?", (row_id,))
