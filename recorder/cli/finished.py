"""Games of a followed log into PGN files, each when it is over and once.

What a file holds is told by the keys in it, so a step that was killed is simply taken again.
"""

from __future__ import annotations

import os
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

from exporters.output import append_games, write_split
from exporters.pgn import PgnExporter, PgnOptions
from recorder.cli.exporting import chosen_games, protected
from recorder.cli.options import open_archive
from recorder.errors import RecorderError
from recorder.model import GameKind
from storage import GameFilter

if TYPE_CHECKING:
    from recorder.model import Game

__all__ = ["FinishedGames", "is_over"]

_OVER = frozenset(("result", "adjourned", "aborted"))
_MANY = 100


def is_over(end: str, first_offset: int, read_up_to: int) -> bool:
    """Whether nothing that the log says later can go on with a game.

    Args:
        end, first_offset: of the game. read_up_to: of its source: what begins before it is final.
    """
    return end in _OVER or (end != "log-ends" and first_offset < read_up_to)


class FinishedGames:
    """Appends what is over to a file, or to one file a day in a folder.

    Args:
        where: the archive. target: a file, or a folder: one that is there, or a name that ends with a slash.
        options: how the PGN looks.

    Attributes:
        games: how many were appended. open: games of the log that are not over.
        problem: why the last attempt failed, or None; what was to be appended then waits for the next.
    """

    def __init__(self, where: str, target: str, options: PgnOptions) -> None:
        self.games = 0
        self.problem: str | None = None
        self._where = where
        self._target = target
        self._split = target.endswith(os.sep) or Path(target).is_dir()
        self._options = options
        self._whole = True  # nobody knows what an earlier run has appended
        self._known: dict[str, tuple[int, str]] = {}  # key → first offset and end, while the game may change
        self._appended: set[str] = set()

    @property
    def open(self) -> int:
        """Games that may still go on."""
        return len(self._known.keys() - self._appended)

    def take(self, games: list[Game]) -> None:
        """Note games that are being stored."""
        for game in games:
            if game.kind is GameKind.PLAYED and game.segments:
                self._known[game.key] = game.first_offset, game.end

    def forget(self) -> None:
        """The log has a successor: what was not over will not be."""
        self._known.clear()
        self._appended.clear()

    def append(self, source: str) -> None:
        """Append what is over of a source whose games were stored; never raises.

        Args:
            source: its id.
        """
        try:
            self._append(source)
        except (RecorderError, OSError) as error:
            self.problem, self._whole = str(error), True
        else:
            self.problem, self._whole = None, False

    def _append(self, source: str) -> None:
        with open_archive(self._where) as archive:
            read_up_to = archive.source(source).read_up_to
            over = {key for key, (first, end) in self._known.items() if is_over(end, first, read_up_to)}
            wanted = over - self._appended
            if wanted or self._whole:
                some = not self._whole and len(wanted) <= _MANY
                self._write(source, wanted if some else frozenset(), read_up_to)
        self._known = {key: found for key, found in self._known.items() if found[0] >= read_up_to}
        self._appended = over & self._known.keys()

    def _write(self, source: str, keys: Collection[str], read_up_to: int) -> None:
        exporter = PgnExporter(self._options)
        with open_archive(self._where) as archive:
            keep = protected(archive)
            where = GameFilter(source=source, keys=frozenset(keys))
            with chosen_games(archive, where, whole_plies=self._options.whole_plies) as games:
                chosen = (game for game in games if is_over(game.end, game.first_offset, read_up_to))
                if self._split:
                    write_split(self._target, chosen, exporter, "day", append=True, protect=keep)
                else:
                    append_games(self._target, chosen, exporter, keep)
        self.games += exporter.report.games
