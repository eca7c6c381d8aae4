"""Mask the secrets in saved logs of every kind but journals, whose writers have masked them. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from recorder.sources import Scrubber, SourceKind
from recorder.sources.base import LineEnds

if TYPE_CHECKING:
    from recorder.live.secrets.client_logs import ClientLogScrubber
    from recorder.sources.redaction import Redactor


def scrubbed(blocks: Iterable[bytes], kind: SourceKind) -> Iterator[bytes]:
    """A log's bytes with its secrets masked: the same number of bytes, in other blocks.

    The bytes of a journal are unchanged: its writer has masked its secrets. ``blocks`` must begin with the log's first
    byte: whether a line is a password depends on earlier lines. Yielded blocks end with a complete line; the last need
    not.
    """
    scrubbing = Scrubbing(kind)
    for block in blocks:
        if clean := scrubbing.receive(block):
            yield clean
    if rest := scrubbing.finish():
        yield rest


class Scrubbing:
    """Masks as ``scrubbed`` does, block by block; ``redactor`` changes complete lines without changing their length."""

    def __init__(self, kind: SourceKind, redactor: Redactor | None = None) -> None:
        self._scrubber = None if kind is SourceKind.JOURNAL else _scrubber(kind)
        self._ends = LineEnds()
        self._redactor = redactor

    def receive(self, block: bytes) -> bytes:
        """Process the next bytes; return those of the lines that are complete now, masked."""
        if self._scrubber is None:
            return block
        clean = self._scrubber.receive(self._ends.receive(block))
        return self._ends.swap(clean if self._redactor is None else self._redactor.receive(clean))

    def finish(self) -> bytes:
        """Return the bytes of lines that were not complete before the end, masked."""
        if self._scrubber is None:
            return b""
        rest = self._scrubber.receive(self._ends.finish()) + self._scrubber.finish()
        if self._redactor is not None:
            rest = self._redactor.receive(rest) + self._redactor.finish()
        return self._ends.swap(rest)


def _scrubber(kind: SourceKind) -> Scrubber | ClientLogScrubber:
    if kind in (SourceKind.XBOARD, SourceKind.PYCHESS):
        from recorder.live.secrets.client_logs import ClientLogScrubber

        return ClientLogScrubber(kind)
    return Scrubber(kind)
