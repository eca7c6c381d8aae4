"""An archive made anew from its journals and kept logs, and what that changes."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from recorder.cli.audit import game_parts
from recorder.cli.inputs import ReadOptions
from recorder.cli.kept import source_blocks, source_timing
from recorder.errors import SourceError
from recorder.pipeline import PARSER_VERSION
from recorder.sources import SourceKind
from storage import Archive, GameFilter, SourceRow

if TYPE_CHECKING:
    from recorder.cli.terminal import Progress
    from recorder.model import Game

__all__ = ["Changes", "compare", "read_again"]

_EVERYTHING = GameFilter(kinds=frozenset(), min_plies=0)


@dataclass(slots=True)
class Changes:
    """How the games of two archives differ.

    Attributes:
        games: of the new one. added, gone: games that only the new one has, or only the old one.
        differing: games of both with the parts in which they differ.
    """

    games: int = 0
    added: list[Game] = field(default_factory=list)
    gone: list[Game] = field(default_factory=list)
    differing: list[tuple[Game, list[str]]] = field(default_factory=list)


def read_again(old: Archive, new: Archive, progress: Progress) -> list[SourceRow]:
    """Read every source of an archive into an empty one.

    What is read is what was read then, with the same options: bytes that a journal got since wait for its next import.

    Returns:
        The sources whose bytes are neither kept nor where they were.
    Raises:
        StorageError: an archive cannot be read or written.
        SourceError: the bytes of a source became fewer while they were read.
    """
    missing: list[SourceRow] = []
    for row in old.sources():
        blocks = source_blocks(old, row)
        try:
            timing = source_timing(old, row)
        except SourceError:
            blocks = timing = None
        if blocks is None:
            missing.append(row)
        else:
            _read(new, row, blocks, timing, progress)
    return missing


def _read(new: Archive, row: SourceRow, blocks: Iterator[bytes], timing: bytes | None, progress: Progress) -> None:
    pipeline = ReadOptions.from_json(row.options, timing).pipeline(SourceKind(row.kind))
    with new.write_source(
        sha256=row.sha256,
        size_bytes=row.size_bytes,
        name=row.name,
        path=row.path,
        kind=row.kind,
        keep=row.kept_bytes > 0,
        parser_version=PARSER_VERSION,
        options=row.options,
        timing=timing,
    ) as writer:
        done = 0
        for block in blocks:
            writer.keep(block)
            writer.add_games(pipeline.receive(block))
            done += len(block)
            progress(row.name, done, row.size_bytes)
        if done != row.size_bytes:
            raise SourceError(f"{row.name}: it became shorter while it was read.")
        writer.restart(*pipeline.restart())
        writer.add_games(pipeline.finish())
        writer.finish(pipeline.report)


def compare(old: Archive, new: Archive) -> Changes:
    """Compare all games by their keys.

    Raises:
        StorageError: an archive cannot be read.
    """
    before = {game.key: _digest(game) for game in old.games(_EVERYTHING)}
    found = Changes()
    for game in new.games(_EVERYTHING):
        found.games += 1
        digest = before.pop(game.key, None)
        if digest is None:
            found.added.append(game)
        elif digest != _digest(game):
            theirs, ours = game_parts(old.game(game.key)), game_parts(game)
            found.differing.append((game, [name for name in ours if ours[name] != theirs[name]]))
    found.gone = [old.game(key) for key in before]
    return found


def _digest(game: Game) -> bytes:
    return hashlib.sha256(b"".join(game_parts(game).values())).digest()[:16]
