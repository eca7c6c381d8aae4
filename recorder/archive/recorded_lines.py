"""The boards of games as their logs print them, for a replay that sends what was recorded."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from recorder.archive.kept_bytes import file_of, lines_at
from recorder.dialects.style12 import FRAME_TAG
from recorder.errors import RecorderError
from recorder.events import Chunk, CutLines, Line
from recorder.journal.format import MAX_LINE_BYTES
from recorder.model import SAVED_KINDS, Game, SourceKind
from recorder.replay.boards import SHOWN_WITH, Lines
from recorder.sources import read_blocks
from recorder.sources.journal import JournalDecoder
from recorder.wire.lines import LineReader
from recorder.wire.prompts import strip_prompts

if TYPE_CHECKING:
    from storage import ArchiveStore

__all__ = ["Log", "RecordedLines", "log_in_archive", "log_in_file"]


_Blocks = Generator[bytes, None, None]


class RecordedLines:
    """Finds the ``<12>`` lines of games in their logs. How a log is read is looked up once.

    Args:
        log: gives a log by its SHA-256; None: it is not to be had, or has no such lines.
    """

    def __init__(self, log: Callable[[str], Log | None]) -> None:
        self._log = cache(log)

    def of(self, game: Game) -> Lines:
        """A game's lines by log and offset, as far as they are there."""
        found: dict[tuple[str, int], str] = {}
        for sha256, offsets in _offsets(game).items():
            try:
                log = self._log(sha256)
                if log is not None:
                    found |= {(sha256, offset): text for offset, text in _frames(log, offsets)}
            except RecorderError:  # gone while it is replayed: its boards are printed anew
                continue
        return found


class Log(NamedTuple):
    """A log's kind, and what gives its bytes from a place on."""

    kind: SourceKind
    read: Callable[[int], _Blocks]


def log_in_archive(archive: ArchiveStore, sha256: str) -> Log | None:
    """A log that the archive keeps, or whose file is still what was imported; None: neither."""
    row = archive.source(sha256)
    kind = SourceKind(row.kind)
    if kind in SAVED_KINDS:
        return None
    if row.kept:

        def read(offset: int) -> _Blocks:
            yield from archive.read_source(sha256, offset)

        return Log(kind, read)
    path = file_of(row)
    return None if path is None else log_in_file(path, kind)


def log_in_file(path: Path, kind: SourceKind) -> Log | None:
    """A log that is a file; None: it holds saved games."""

    def read(offset: int) -> _Blocks:
        with closing(read_blocks(path, offset=offset)) as blocks:
            yield from blocks

    return None if kind in SAVED_KINDS else Log(kind, read)


def _offsets(game: Game) -> Mapping[str, list[int]]:
    """Where lines of the game's boards may stand, by log; ascending."""
    found: dict[str, set[int]] = {}
    for seen in game.observations:
        mine = found.setdefault(seen.source.sha256 if seen.source else "", set())
        mine |= {ply.offset for line in seen.lines for ply in line.plies}
        mine |= {event.offset for event in seen.events if event.kind in SHOWN_WITH}
        mine |= {seen.start.offset} if seen.start else set()
    return {log: sorted(offsets) for log, offsets in found.items() if offsets}


def _frames(log: Log, offsets: list[int]) -> Iterator[tuple[int, str]]:
    """The frames that begin at these places, as they stand there."""
    journal = log.kind is SourceKind.JOURNAL
    begin = max(offsets[0] - MAX_LINE_BYTES, 0) if journal else offsets[0]
    wanted = set(offsets)
    with closing(log.read(begin)) as blocks:
        for line in _journal_lines(blocks, begin, offsets[-1]) if journal else _log_lines(blocks, offsets):
            text, _ = strip_prompts(line.text)
            if line.offset in wanted and text.startswith(FRAME_TAG):
                yield line.offset, text


def _log_lines(blocks: Iterable[bytes], offsets: list[int]) -> Iterator[Line]:
    """The lines at some places alone: one that goes on in a second line is cut."""
    for offset, line in lines_at(blocks, offsets[0], offsets):
        yield from LineReader().receive(Chunk(line + b"\n\n", offset, None))


def _journal_lines(blocks: Iterable[bytes], begin: int, last: int) -> Iterator[Line]:
    """All lines from the first whole record on to a place: what a journal holds came in pieces, and they are joined.

    Args:
        blocks: the journal from ``begin`` on. last: offset of the last line wanted.
    """
    decoder, lines = JournalDecoder(), LineReader()
    skips = begin > 0  # the rest of a record
    for block in blocks:
        if skips:
            end = block.find(b"\n") + 1
            begin += end or len(block)
            block, skips = block[end or len(block) :], not end
        for chunk in decoder.receive(block):
            if isinstance(chunk, CutLines):
                found = lines.receive(chunk.moved(begin))
            elif chunk.data:
                found = lines.receive(chunk._replace(offset=chunk.offset + begin))
            else:  # nothing goes on behind this place
                found = lines.finish()
            yield from found
            if found and found[-1].offset > last:
                return
    yield from lines.finish()
