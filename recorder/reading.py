"""All games of one source: the pipeline of its kind, and the parts of resumed games joined."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from recorder.containment import Failures
from recorder.errors import SourceError
from recorder.live.secrets.logs import scrubbed
from recorder.model import SAVED_KINDS, Game, GameEnd, GameKind, SourceName, site_of
from recorder.pipeline import Pipeline
from recorder.saved.pipeline import SavedPipeline
from recorder.sources import SourceKind, detect, find_timing, is_journal, read_blocks, read_head, why_not_a_log

AnyPipeline = Pipeline | SavedPipeline
_OPEN_ENDS: Final = (GameEnd.ADJOURNED, GameEnd.LOST_FEED)
_MOST_HALVES: Final = 32  # of the same players; more do not wait
_ONE_LOG: Final = SourceName("", "-")  # merging asks whether one log saw both halves


def make_pipeline(kind: SourceKind, *, timing: bytes | None = None, **how: Any) -> AnyPipeline:
    if kind in SAVED_KINDS:
        return SavedPipeline(kind, **how)
    return Pipeline(kind, timing=timing, **how)


def joined_games(pipeline: AnyPipeline, blocks: Iterable[bytes]) -> Iterator[Game]:
    """Read a source to its end. Saved games pass unchanged: nothing in a file shows that one continues another."""
    if isinstance(pipeline, SavedPipeline):
        for block in blocks:
            yield from pipeline.receive(block)
        yield from pipeline.finish()
        return

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
        server: the site, if the log does not contain it; ``freechess.org`` and ``FICS`` mean ``FICS freechess.org``.
        date, tz, chat: as for ``Pipeline``.
    Yields:
        Each game when it is finished.
    Raises:
        SourceError: the file cannot be read, or is no log. If it can be read in part, the error follows the last game.
    """
    blocks = read_blocks(path)
    head, stream = read_head(blocks)
    source_kind = SourceKind(kind) if isinstance(kind, str) else kind or detect(head)
    if source_kind is None:
        if not head and is_journal(Path(path)):
            return  # its recorder could not write the first line
        raise SourceError(f"{path}: {why_not_a_log(head)}")
    beside = None if str(path) == "-" else find_timing(Path(path))
    timing = None if beside is None else beside.read_bytes()
    pipeline = make_pipeline(source_kind, server=site_of(server), date=date, tz=tz, chat=chat, timing=timing)
    yield from joined_games(pipeline, scrubbed(stream, source_kind))
    if blocks.problem is not None:
        raise blocks.problem


class HalfJoiner:
    """Takes the games of one log in their order and returns them, halves of adjourned games joined.

    Only games that may be resumed wait: adjourned ones and those whose connection was lost, until the game that
    continues them or the log ends. All other games pass at once.
    """

    def __init__(self, failures: Failures) -> None:
        self._failures = failures
        self._waiting: dict[tuple[str, str], list[Game]] = {}

    def take(self, game: Game) -> list[Game]:
        """Returns the games that nothing later in the log can change."""
        if game.kind is not GameKind.PLAYED:
            return [game]
        players = game.white.handle.lower(), game.black.handle.lower()
        waiting = self._waiting.setdefault(players, [])
        waiting.append(game)
        if game.end in _OPEN_ENDS:
            return [waiting.pop(0)] if len(waiting) > _MOST_HALVES else []
        whole = next((merged for merged in self._joined(waiting) if game.key in merged.merged_from), None)
        members = (game.key,) if whole is None else whole.merged_from
        left = [other for other in waiting if other.key not in members]
        if left:
            self._waiting[players] = left
        else:
            del self._waiting[players]
        return [game if whole is None else whole]

    def finish(self) -> list[Game]:
        games: list[Game] = []
        for waiting in self._waiting.values():
            joined = self._joined(waiting)
            members = {key for merged in joined for key in merged.merged_from}
            games += joined + [other for other in waiting if other.key not in members]
        self._waiting.clear()
        return sorted(games, key=lambda game: game.first_offset)

    def _joined(self, games: list[Game]) -> list[Game]:
        if len(games) < 2:
            return []
        from recorder.relating.merge import merge_games  # importing a log into an archive joins there

        last = games[-1]
        try:
            return [_of(game, None) for game in merge_games(_of(game, _ONE_LOG) for game in games)]
        except Exception as error:  # a bug: the game is counted, the others follow
            text = f"{last.white.handle} - {last.black.handle}"
            self._failures.note(error, last.first_offset, last.game_no, text)
            return []


def _of(game: Game, source: SourceName | None) -> Game:
    return replace(game, observations=[replace(observation, source=source) for observation in game.observations])
