"""All games of one source: the pipeline of its kind, and the parts of resumed games joined."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from recorder.errors import SourceError
from recorder.model import SAVED_KINDS, Game
from recorder.pipeline import Pipeline
from recorder.saved.pipeline import SavedPipeline
from recorder.sources import HEAD_BYTES, SourceKind, detect, find_timing, read_blocks, scrubbed, why_not_a_log
from recorder.sources.redaction import Forgotten

__all__ = ["AnyPipeline", "joined_games", "make_pipeline", "read_games"]

AnyPipeline = Pipeline | SavedPipeline


def make_pipeline(
    kind: SourceKind,
    *,
    server: str | None = None,
    date: datetime.date | None = None,
    tz: datetime.tzinfo | None = None,
    chat: str = "public",
    timing: bytes | None = None,
    resume: dict[str, Any] | None = None,
    offset: int = 0,
    forgotten: Forgotten | None = None,
) -> AnyPipeline:
    """Make the pipeline that reads a source of a kind: a log or saved games.

    Args:
        kind: of the source.
        server, date, tz, chat, timing, resume, offset, forgotten: as for ``Pipeline``.
    Returns:
        A pipeline that has read nothing.
    """
    if kind in SAVED_KINDS:
        return SavedPipeline(
            kind, server=server, date=date, tz=tz, chat=chat, resume=resume, offset=offset, forgotten=forgotten
        )
    return Pipeline(
        kind,
        server=server,
        date=date,
        tz=tz,
        chat=chat,
        timing=timing,
        resume=resume,
        offset=offset,
        forgotten=forgotten,
    )


def joined_games(pipeline: AnyPipeline, blocks: Iterable[bytes]) -> Iterator[Game]:
    """Read a source to its end; the parts of a resumed game are one game.

    Saved games pass unchanged: nothing in a file shows that one continues another.

    Args:
        pipeline: of the source's kind.
        blocks: all bytes of the source, cut anywhere.
    Yields:
        Games as they are finished.
    """
    if isinstance(pipeline, SavedPipeline):
        for block in blocks:
            yield from pipeline.receive(block)
        yield from pipeline.finish()
        return
    from recorder.relating.joining import HalfJoiner  # importing a log into an archive joins there

    joiner = HalfJoiner(pipeline.failures)
    for block in blocks:
        for game in pipeline.receive(block):
            yield from joiner.take(game)
    for game in pipeline.finish():
        yield from joiner.take(game)
    yield from joiner.finish()


def read_games(
    path: str | Path,
    *,
    kind: SourceKind | str | None = None,
    server: str | None = None,
    date: datetime.date | None = None,
    tz: datetime.tzinfo | None = None,
    chat: str = "public",
) -> Iterator[Game]:
    """Read the games of a log or of a PGN file, one after another; memory use does not grow with the file.

    The parts of an adjourned game that was resumed are returned as one game. An adjourned game is therefore returned
    only when it was resumed or the log ends.

    Passwords are masked before anything is parsed. The timing file of a typescript is found by its name.

    Args:
        path: of the log, which may be compressed with gzip, bzip2, xz or zstd; ``-`` is standard input.
        kind: of the log; None: recognised by its content.
        server, date, tz, chat: as for ``Pipeline``.
    Yields:
        Each game when it is finished.
    Raises:
        SourceError: the file cannot be read, or is no log. If it can be read in part, the error follows the last game.
    """
    blocks = read_blocks(path)
    head = b""
    ahead: list[bytes] = []
    while len(head) < HEAD_BYTES and (block := next(blocks, None)) is not None:
        ahead.append(block)
        head += block
    known = SourceKind(kind) if isinstance(kind, str) else kind or detect(head)
    if known is None:
        raise SourceError(f"{path}: {why_not_a_log(head)}")
    beside = None if str(path) == "-" else find_timing(Path(path))
    timing = None if beside is None else beside.read_bytes()
    pipeline = make_pipeline(known, server=server, date=date, tz=tz, chat=chat, timing=timing)
    yield from joined_games(pipeline, scrubbed(chain(ahead, blocks), known))
    if blocks.problem is not None:
        raise blocks.problem
