"""Following one log: reading what is new into the archive, and reporting what happens."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from recorder.archive.event_lines import EventPipe
from recorder.archive.finished_games import FinishedGames
from recorder.archive.following import LogUpdater
from recorder.errors import ExportError, SourceError, StorageError
from recorder.model import SAVED_KINDS
from recorder.sources import HEAD_BYTES, detect, read_blocks
from recorder.text import clean, plural

__all__ = ["Follower", "holds_saved_games"]


def holds_saved_games(path: Path) -> bool:
    """Whether a file is PGN or BPGN, which cannot be followed."""
    with closing(read_blocks(path, size=HEAD_BYTES)) as blocks:
        return detect(next(blocks, b"")) in SAVED_KINDS


class Follower:
    """Reads what is new in a log, and reports what happens.

    Args:
        path: of the log. updater: reads it. finished, pipe: where its games and its events go besides.
        notify: called with sentences for people.

    Attributes:
        left: whether the reader of the events went away.
    """

    def __init__(
        self,
        path: Path,
        updater: LogUpdater,
        finished: FinishedGames | None,
        pipe: EventPipe | None,
        notify: Callable[[str], object],
    ) -> None:
        self._path = path
        self._name = clean(str(path))
        self._updater = updater
        self._finished = finished
        self._pipe = pipe
        self._notify = notify
        self._reported: str | None = None
        self.left = False
        self._moved: str | None = None
        self._followed = False  # a log that has ended

    def step(self) -> None:
        """Read what is new."""
        updater = self._updater
        updater.look()
        self._report_state()
        if updater.replaced is not None:
            self._followed, self._moved = True, None
            self._notify(f"{self._name} {clean(updater.replaced)}: continuing with the new content.")
            self.step()
        elif updater.moved != self._moved:
            self._moved = updater.moved
            if self._moved is not None:
                self._notify(f"{self._name} {clean(self._moved)}: reading on in it until there is a new one.")

    def finish(self) -> None:
        """Read the last bytes."""
        self.step()
        self._updater.finish()
        if self._pipe is not None:
            self._pipe.close()
        self._report_state()

    def _report_state(self) -> None:
        """Report a problem once, and its end."""
        updater, finished, pipe = self._updater, self._finished, self._pipe
        waiting = None if updater.waiting is None else f"{updater.waiting}; waiting for more."
        problem = updater.problem or waiting or (finished.problem if finished is not None else None)
        if problem != self._reported:
            if problem is not None:
                self._notify(clean(problem))
            elif self._reported is not None:
                self._notify("The archive is writable again; updates resumed.")
            self._reported = problem
        if pipe is not None and pipe.lost is not None and not self.left:
            self.left = True
            self._notify(f"{pipe.lost}: none is printed from here on. The archive goes on.")

    def report(self) -> None:
        """Report how many games were read.

        Raises:
            SourceError: there was no log. StorageError, ExportError: something is still missing in the archive, or in
                the PGN.
        """
        updater, finished = self._updater, self._finished
        if updater.waiting is not None and not (self._followed or updater.known):
            raise SourceError(f"{updater.waiting}.")
        self._notify(f"{self._name}: {plural(updater.games, 'game')} read.")
        if finished is not None:
            self._notify(f"{plural(finished.games, 'game')} appended.")
        if updater.problem is not None:
            raise StorageError(f"{updater.problem} What is missing is read by the next import of {self._name}.")
        if finished is not None and finished.problem is not None:
            raise ExportError(finished.problem)
