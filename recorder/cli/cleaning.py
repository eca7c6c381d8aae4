"""A copy of a saved log without its secrets."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path

from exporters.output import open_output
from recorder.errors import SourceError
from recorder.sources import SourceKind, detect, log_files, read_blocks, scrubbed, why_not_a_log
from recorder.sources.detect import HEAD_BYTES

__all__ = ["Cleaned", "kind_of", "write_clean"]


class Cleaned:
    """What became of a log's bytes.

    Attributes:
        kind: of the log. replaced: bytes that are filler now.
    """

    def __init__(self, kind: SourceKind) -> None:
        self.kind = kind
        self.replaced = 0


def kind_of(file: str) -> SourceKind | None:
    """What a file is by its first bytes, decompressed; None: no log.

    Raises:
        SourceError: it cannot be read.
    """
    return detect(_head(file))


def write_clean(file: str, output: str, force: bool, kind: SourceKind | None) -> Cleaned:
    """Write a log, decompressed, with filler of equal length for its secrets.

    Args:
        file: any log but a journal. output: a path, or - for standard output. force: overwrite.
        kind: of the log; None: told by its content.
    Raises:
        SourceError: it cannot be read, or is no log. ExportError: the copy must not be written.
    """
    head = _head(file)
    if (found := kind or detect(head)) is None:
        raise SourceError(f"{file} {why_not_a_log(head, nameable=True)}.")
    cleaned = Cleaned(found)
    read: list[bytes] = []  # and not compared yet

    def noted(blocks: Iterable[bytes]) -> Iterator[bytes]:
        for block in blocks:
            read.append(block)
            yield block

    with open_output(output, force, log_files(Path(file))) as out, closing(read_blocks(file)) as blocks:
        if output != "-":
            os.fchmod(out.fileno(), 0o600)
        for clean in scrubbed(noted(blocks), found):
            cleaned.replaced += _differing(read, clean)
            out.write(clean)
        if blocks.problem is not None:
            raise blocks.problem
    return cleaned


def _head(file: str) -> bytes:
    head = b""
    with closing(read_blocks(file, HEAD_BYTES)) as blocks:
        for block in blocks:
            head += block
            if len(head) >= HEAD_BYTES:
                break
    return head


def _differing(read: list[bytes], clean: bytes) -> int:
    """How many bytes differ from those that were read, which are taken away."""
    whole = b"".join(read)
    read[:] = [whole[len(clean) :]]
    first = whole[: len(clean)]
    return 0 if first == clean else sum(a != b for a, b in zip(first, clean, strict=True))
