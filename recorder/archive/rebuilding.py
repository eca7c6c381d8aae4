"""Rebuilding an archive from its journals and kept logs, and what that changes."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from recorder.archive.erasing import forgotten_in
from recorder.archive.import_paths import copy_source
from recorder.archive.inputs import ReadOptions
from recorder.archive.kept_bytes import reads_kept, source_blocks, source_timing
from recorder.archive.storing import marked
from recorder.archive.verifying import game_parts
from recorder.containment import contain, failures_sentence
from recorder.errors import SourceError
from recorder.journal.parts import session_parts
from recorder.pipeline import PARSER_VERSION
from recorder.progress import of_several
from recorder.sources import SourceKind
from recorder.sources.redaction import Forgotten, redacted
from recorder.text import plural
from storage import ArchiveStore, GameFilter, SourceRow

if TYPE_CHECKING:
    from recorder.model import Game
    from recorder.progress import Progress
    from storage.write.analyses import AnalysisCounts

__all__ = ["RebuildChanges", "Unread", "compare", "read_again"]

_EVERYTHING = GameFilter(kinds=frozenset(), min_plies=0, per_source=True)


class Unread(NamedTuple):
    """A source that could not be read again.

    Attributes:
        row: of the old archive. why: one clause.
        is_there: its bytes are, but an error of this program ended the reading.
    """

    row: SourceRow
    why: str
    is_there: bool


@dataclass(slots=True)
class RebuildChanges:
    """How the games of two archives differ.

    Attributes:
        games: of the new one. added, gone: games that only the new one has, or only the old one.
        differing: games of both with the parts in which they differ.
        analyses: what the new one has of them.
    """

    games: int = 0
    added: list[Game] = field(default_factory=list)
    gone: list[Game] = field(default_factory=list)
    differing: list[tuple[Game, list[str]]] = field(default_factory=list)
    analyses: AnalysisCounts | None = None


def read_again(
    old: ArchiveStore, new: ArchiveStore, progress: Progress, *, carry_over: bool = False
) -> tuple[list[Unread], list[str]]:
    """Read every source of an archive into an empty one, which gets the analyses, too.

    What is read is what was read then, with the same options: bytes that a journal got since wait for its next import.

    Args:
        old: the archive. new: an empty one.
        progress: called after each block.
        carry_over: sources that cannot be read again are copied as they are.
    Returns:
        The sources that could not be read again, and a sentence about each other one that errors of this program kept
        from being read whole.
    Raises:
        StorageError: an archive cannot be read or written.
        SourceError: the bytes of a source became fewer while they were read.
    """
    missing: list[Unread] = []
    unread: list[str] = []
    wanted = old.successors() if carry_over else {}
    rows = old.sources()
    for number, row in enumerate(rows, 1):
        blocks = source_blocks(old, row)
        try:
            timing = source_timing(old, row)
        except SourceError:
            blocks = timing = None
        if blocks is None:
            why = _why_unreadable(row)
        else:
            try:
                failures = _read(new, row, blocks, timing, of_several(progress, number, len(rows)))
            except Exception as error:
                why = f"is not read because of an error of this program, please report it: {contain(error)}"
            else:
                unread += [] if failures is None else [failures]
                continue
        missing.append(Unread(row, why, blocks is not None))
        if carry_over:
            copy_source(new, old, row, wanted)
    if carry_over or not missing:
        new.order_equal_keys(old)
        new.duplicates.take_over_decisions(old.duplicates)
        new.analyses.take_over(old.analyses, homeless=True)
    return missing, unread


def _read(
    new: ArchiveStore, row: SourceRow, blocks: Iterator[bytes], timing: bytes | None, progress: Progress
) -> str | None:
    """Read one source. Returns a sentence about what errors of this program kept from being read, or None."""
    options = replace(ReadOptions.from_json(row.options, timing), forgotten=forgotten_in(new))
    kind = SourceKind(row.kind)
    pipeline = options.pipeline(kind)
    with new.write_source(
        sha256=row.sha256,
        size_bytes=row.size_bytes,
        name=row.name,
        path=row.path,
        kind=row.kind,
        keep=row.kept_bytes > 0,
        # Who is not in what is kept is still to be read.
        parser_version=row.parser_version if row.lacks_player and reads_kept(row) else PARSER_VERSION,
        options=row.options,
        timing=timing,
    ) as writer:
        done = 0
        for block in redacted(blocks, options.forgotten or Forgotten(), kind):
            writer.keep(block)
            writer.add_games(pipeline.receive(block))
            done += len(block)
            progress(row.name, done, row.size_bytes)
        if done != row.size_bytes:
            raise SourceError(f"{row.name}: the file was truncated while being read.")
        offset, state = pipeline.restart()
        writer.restart(offset, marked(state, row.unfinished))  # the next start still looks for more of it
        writer.add_games(pipeline.finish())
        if pipeline.unredacted and row.kept_bytes:
            writer.keep_nothing()
        writer.finish(pipeline.report)
    return failures_sentence(pipeline.report, row.name)


def _why_unreadable(row: SourceRow) -> str:
    """Why a source cannot be read again, one clause."""
    if row.path is None:
        return "is not kept in the archive, nor is its place known"
    path = Path(row.path)
    if row.kind == SourceKind.JOURNAL.value and path.parent.is_dir():
        there = session_parts(path)
        lost = [str(number) for number in range(1, max(there, default=0)) if number not in there]
        if lost:
            parts = plural(len(lost), "part")
            return f"is a journal of which {parts} ({', '.join(lost)}) {'is' if len(lost) == 1 else 'are'} gone"
    return "is not kept in the archive, and gone or changed"


def compare(old: ArchiveStore, new: ArchiveStore) -> RebuildChanges:
    """Compare all games by their keys.

    Raises:
        StorageError: an archive cannot be read.
    """
    before = {game.key: _digest(game) for game in old.games(_EVERYTHING)}
    found = RebuildChanges()
    for game in new.games(_EVERYTHING):
        found.games += 1
        digest = before.pop(game.key, None)
        if digest is None:
            found.added.append(game)
        elif digest != _digest(game):
            theirs, ours = game_parts(old.game(game.key)), game_parts(game)
            found.differing.append((game, [name for name in ours if ours[name] != theirs[name]]))
    found.gone = [old.game(key) for key in before]
    found.analyses = new.analyses.count()
    return found


def _digest(game: Game) -> bytes:
    return hashlib.sha256(b"".join(game_parts(game).values())).digest()[:16]
