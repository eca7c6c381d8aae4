"""Keeping an archive up to date with a log or journal that grows while somebody writes it.

Each step is one import of what is new. What the archive holds never depends on when the steps were: it is what one
import of the whole log gives.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from recorder.cli.copies import Copies
from recorder.cli.ingest import Outcome, import_source
from recorder.cli.inputs import Hashed, Input, ReadOptions
from recorder.cli.options import open_archive
from recorder.errors import RecorderError
from recorder.sources import is_journal, log_files, read_blocks

if TYPE_CHECKING:
    from recorder.model import Game

__all__ = ["CatchUp", "State", "state_of"]

State = tuple[int, int, int, int, int]
"""How many files a log consists of; of the last one device, inode, size, time of change."""


def state_of(path: Path) -> State | None:
    """What changes whenever a log grows or is replaced; None: it is not there."""
    try:
        files = log_files(path)
        about = files[-1].stat()
    except OSError:
        return None
    return len(files), about.st_dev, about.st_ino, about.st_size, about.st_mtime_ns


class CatchUp:
    """Brings an archive up to date with one log, as often as it is asked to.

    Args:
        where: the archive, as ``--db`` names it; made if it is not there.
        path: of the log; any part of a journal's session.
        options: how it is read. keep: whether its bytes are kept in the archive.

    Attributes:
        problem: why the last step failed, one sentence, or None. What is new then waits for the next step.
        replaced: why the last step ended with what was read so far, or None. The next step begins with the new file.
        done: the state of the log that the archive is up to date with.
    """

    def __init__(self, where: str, path: Path, options: ReadOptions, *, keep: bool = True) -> None:
        self.problem: str | None = None
        self.replaced: str | None = None
        self.done: State | None = None
        self._where = where
        self._path = path
        self._options = options
        self._keep = keep
        self._hashed = Hashed()
        self._last: State | None = None

    def step(self, on_games: Callable[[list[Game]], None] | None = None) -> Outcome | None:
        """Import what is new.

        It never raises: whoever records must go on, whatever the archive is unable to do.

        Args:
            on_games: as for ``import_source``.
        Returns:
            What became of the log; None if nothing is new, or if the archive cannot be written now (``problem``).
        """
        self.replaced = None
        state, before = state_of(self._path), self._last
        renamed = before is not None and (state is None or before[1:3] != state[1:3]) and not is_journal(self._path)
        if state == self.done or (state is None and not renamed):
            return None
        try:
            self._last = state
            if before is not None and renamed:
                outcome = self._finish_renamed(before, on_games)
            elif self._hashed.size and (why := self._why_another()):
                self._begin_anew(why)
                return None
            else:
                outcome = self._import(self._path, on_games)
        except RecorderError as error:
            self.problem = str(error)
        except Exception as error:  # a bug of ours must not end a recording
            self.problem = f"{type(error).__name__}: {error}"
        else:
            if outcome is None or outcome.status != "failed":
                self.problem = None
                self.done = state if self.replaced is None else None
                return outcome
            self.problem = outcome.message
        self.done, self._last = None, before
        return None

    def _finish_renamed(self, before: State, on_games: Callable[[list[Game]], None] | None) -> Outcome | None:
        """Read the rest of a file that has a successor, if it is still in the folder."""
        moved = _moved_to(self._path, before)
        outcome = None if moved is None else self._import(moved, on_games)
        if outcome is None or outcome.status != "failed":
            self._begin_anew("was replaced" if moved is None else f"was renamed to {moved.name}")
        return outcome

    def _begin_anew(self, why: str) -> None:
        self.replaced, self.done = why, None
        self._hashed.forget()

    def _import(self, path: Path, on_games: Callable[[list[Game]], None] | None) -> Outcome:
        source = Input(str(path), path)
        with open_archive(self._where, create=True, read_only=False) as archive:
            return import_source(
                archive,
                source,
                self._options,
                copies=Copies(archive),
                keep=self._keep,
                hashed=self._hashed,
                on_games=on_games,
            )

    def _why_another(self) -> str | None:
        """Why the file is not the one that was read before, grown; None: it is."""
        tail, size = self._hashed.tail, self._hashed.size
        found = b""
        with closing(read_blocks(self._path, len(tail), offset=size - len(tail))) as blocks:
            for block in blocks:
                found += block
                if len(found) >= len(tail):
                    break
        if len(found) < len(tail):
            return "became shorter"
        return None if found.startswith(tail) else "was replaced"


def _moved_to(path: Path, before: State) -> Path | None:
    """Where a file now is, if it is still in its folder: ``session.log.1`` after a rotation."""
    for entry in path.parent.iterdir():
        about = entry.lstat()
        if (about.st_dev, about.st_ino) == before[1:3] and entry != path:
            return entry
    return None
