"""The kept bytes of sources: compressed blocks, each with its place."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import zstandard
from sqlalchemy import Connection, func, select

from recorder.errors import StorageError
from storage import models
from storage.sourcerows import SourceRow, row_number

__all__ = ["beginnings_of", "read_kept", "timing_of"]

_ONE_BLOCK = 140_000  # bytes that hold the first compressed block: at most 128 KiB and its header


def read_kept(connection: Connection, row: SourceRow, offset: int = 0, length: int | None = None) -> Iterator[bytes]:
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
    chunks = models.source_chunks.c
    query = (
        select(chunks.offset, chunks.zstd)
        .where(
            chunks.source_id == row_number(connection, row.sha256),
            chunks.offset < end,
            chunks.offset + chunks.size_bytes > offset,
        )
        .order_by(chunks.offset)
    )
    decompressor = zstandard.ZstdDecompressor()
    for start, compressed in connection.execute(query):
        yield decompressor.decompress(compressed)[max(offset - start, 0) : end - start]


def beginnings_of(connection: Connection, hashes: Collection[str], length: int) -> dict[str, bytes]:
    """The first kept bytes of several sources; of those of which nothing is kept, none.

    Args:
        hashes: their SHA-256. length: how many bytes of each, at most 64 KiB.
    """
    chunks, sources = models.source_chunks.c, models.sources.c
    found: dict[str, bytes] = {}
    for sha256 in sorted(hashes):
        query = select(func.substr(chunks.zstd, 1, _ONE_BLOCK)).join(models.sources, sources.id == chunks.source_id)
        compressed = connection.scalar(query.where(sources.sha256 == sha256, chunks.offset == 0))
        if compressed is not None:
            reader = zstandard.ZstdDecompressor().stream_reader(compressed)
            found[sha256] = reader.read(length)
    return found


def timing_of(connection: Connection, row: SourceRow) -> bytes | None:
    """The timing file of a kept typescript; None where there was none or the source is not kept."""
    column = models.sources.c
    timing = connection.scalar(select(column.timing).where(column.sha256 == row.sha256))
    return None if timing is None else zstandard.ZstdDecompressor().decompress(timing)
