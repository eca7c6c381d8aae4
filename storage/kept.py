"""The kept bytes of sources: compressed blocks, each with its place."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterator
from typing import Final

from recorder.errors import StorageError
from storage.sourcerows import SourceRow, row_number

__all__ = ["beginnings_of", "drop_kept", "packed_timing", "read_kept", "timing_of", "unpacked"]

_ONE_BLOCK = 140_000  # bytes that hold the first compressed block: at most 128 KiB and its header
_BLOCK: Final = 1 << 20
_MOST_BYTES: Final = 1 << 28  # no timing file is as large, nor is any chunk


def unpacked(data: object, place: str, *, cut: bool = False) -> bytes:
    """What a BLOB of zstd holds.

    Args:
        data: the value as it is in the row. place: names its table and row in the error.
        cut: only its beginning is given.
    Raises:
        StorageError: it is no BLOB, no zstd, not whole, or holds more than ``_MOST_BYTES``.
    """
    import zstandard  # who asks for games needs none

    if not isinstance(data, bytes):
        raise StorageError(f"{place} is no BLOB.")
    blocks, size = [], 0
    try:
        with zstandard.ZstdDecompressor().stream_reader(data) as reader:
            while block := reader.read(_BLOCK):
                blocks.append(block)
                size += len(block)
                if size > _MOST_BYTES:
                    raise StorageError(f"{place} holds more than {_MOST_BYTES >> 20} MiB.")
        whole = cut or zstandard.frame_content_size(data) == size
    except zstandard.ZstdError as error:
        raise StorageError(f"{place} cannot be decompressed: {error}.") from error
    if not whole:
        raise StorageError(f"{place} is cut.")
    return b"".join(blocks)


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
        'SELECT source_id, "offset", size_bytes, zstd FROM source_chunks'
        ' WHERE source_id = ? AND "offset" < ? AND "offset" + size_bytes > ? ORDER BY "offset"'
    )
    for number, start, size, compressed in driver.execute(query, (row_number(driver, row.sha256), end, offset)):
        place = f"zstd in the row of source_chunks with source_id {number}, offset {start} ({row.name})"
        block = unpacked(compressed, place)
        if len(block) != size:
            raise StorageError(f"{place} holds {len(block)} bytes, not {size}.")
        yield block[max(offset - start, 0) : end - start]


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
            place = f"zstd in the row of source_chunks with offset 0 of the source {sha256[:12]}"
            found[sha256] = unpacked(first[0], place, cut=True)[:length]
    return found


def timing_of(driver: sqlite3.Connection, row: SourceRow) -> bytes | None:
    """The timing file of a kept typescript; None where there was none or the source is not kept."""
    (timing,) = driver.execute("SELECT timing FROM sources WHERE sha256 = ?", (row.sha256,)).fetchone() or (None,)
    return None if timing is None else unpacked(timing, f"timing in the row of sources with sha256 {row.sha256}")


def packed_timing(timing: bytes) -> bytes:
    """What ``timing_of`` unpacks."""
    import zstandard

    return zstandard.ZstdCompressor(level=6, write_checksum=True).compress(timing)


def drop_kept(driver: sqlite3.Connection, row_id: int) -> None:
    """Keep nothing of a source's bytes; its games stay."""
    driver.execute("DELETE FROM source_chunks WHERE source_id = ?", (row_id,))
    driver.execute("UPDATE sources SET kept_bytes = 0, timing = NULL WHERE id = ?", (row_id,))
