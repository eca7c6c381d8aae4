"""Games of a log that grows into PGN files, each when it is over and once.

The strategy: a file is only appended to, a game in one call that returns when the disk has it. What a file holds is
told by the keys in it. A game that is over is in the archive before it is in the file, and the archive learns that its
source came to its end only when the disk has the file: whoever begins with a source that did not come so far looks
for the games that the file does not have. A game that a crash has cut is recognised by its text and written again.
"""

from __future__ import annotations

import fcntl
import os
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from exporters.output import SPLIT_WORDS, known_keys, refuse_protected
from exporters.pgn import PgnExporter, PgnOptions
from recorder.cli.exporting import chosen_games, protected
from recorder.cli.options import open_archive
from recorder.errors import ExportError, RecorderError
from recorder.model import GameKind
from storage import GameFilter
from storage.equalkeys import successor

if TYPE_CHECKING:
    from collections.abc import Iterable

    from recorder.model import Game
    from recorder.tracking.living import Changes
    from storage import Archive

__all__ = ["FinishedGames", "is_over", "refuse_unwritable"]

_OVER = frozenset(("result", "adjourned", "aborted"))
_LAST_BYTES = 1 << 20
_COPIES = 10  # of one log, that go on differently: nobody has more


def is_over(end: str, first_offset: int, read_up_to: int, final: bool = False) -> bool:
    """Whether nothing that the log says later can go on with a game: only such games are appended.

    Args:
        end, first_offset: of the game. read_up_to: of its source: what begins before it is final.
        final: the log never goes on, so neither does any of its games.
    """
    return final or end in _OVER or (end != "log-ends" and first_offset < read_up_to)


def refuse_unwritable(target: str, protect: Iterable[Path] = ()) -> None:
    """Make sure, before anything else is done, that games can be appended.

    Raises:
        ExportError: they cannot.
    """
    path = Path(target)
    refuse_protected(path, list(protect))
    try:
        if _is_folder(target):
            path.mkdir(parents=True, exist_ok=True)
            if not os.access(path, os.W_OK | os.X_OK):
                raise ExportError(f"{target} cannot be written: no file can be made in this folder.")
            return
        was_there = path.exists()
        if was_there and not path.is_file():
            raise ExportError(f"{target} is no file that games can be appended to.")
        os.close(os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o666))
        if not was_there:
            path.unlink()
    except OSError as error:
        raise ExportError(f"{target} cannot be written: {error.strerror}.") from error


def _is_folder(target: str) -> bool:
    return target.endswith(os.sep) or Path(target).is_dir()


class _File:
    """A PGN file that is appended to, and by nobody else meanwhile. Every method raises ``OSError``."""

    def __init__(self, path: Path) -> None:
        there = path.exists()
        self._file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o666)
        if not there:
            folder = os.open(path.parent, os.O_RDONLY)
            os.fsync(folder)  # its name, too, must outlive a power cut
            os.close(folder)
        with suppress(OSError):  # a file system without locks
            fcntl.flock(self._file, fcntl.LOCK_EX)
        size = self.size
        self._last = os.pread(self._file, _LAST_BYTES, max(size - _LAST_BYTES, 0))

    @property
    def size(self) -> int:
        """In bytes, as it is now."""
        return os.fstat(self._file).st_size

    @property
    def torn(self) -> bool:
        """Whether its last game lacks its end: a crash has cut it, or somebody has edited the file."""
        return bool(self._last) and not self._last.endswith(b"\n\n")

    def written_of(self, text: bytes) -> int:
        """How many bytes of a game's text stand at its end, if it ends in the middle of the game."""
        if not self.torn:
            return 0
        begin = max(self._last.rfind(b"\n\n[Event ") + 2, 0)
        if begin == 1:
            begin = 0
        torn = self._last[begin:]
        at = text.find(torn)
        while at >= 0:  # a game in several parts may be cut in any of them
            if self._last.endswith(text[: at + len(torn)]):
                return at + len(torn)
            at = text.find(torn, at + 1)
        return 0

    def append(self, text: bytes) -> None:
        """Write a game, all of it or nothing, and wait until the disk has it."""
        size = self.size
        if self.torn:
            if written := self.written_of(text):
                size -= written
                os.ftruncate(self._file, size)
            else:
                text = (b"\n" if self._last.endswith(b"\n") else b"\n\n") + text
        try:
            done = 0
            while done < len(text):
                done += os.write(self._file, text[done:])
            os.fsync(self._file)
        except OSError:
            os.ftruncate(self._file, size)
            raise
        self._last = text[-2:]

    def close(self) -> None:
        os.close(self._file)


def _before(wanted: str, found: set[str]) -> str | None:
    """The key under which a game was appended, if a copy of its log has moved it on since, or made its own free."""
    chain = (successor(wanted, number) for number in range(2, _COPIES))
    return next((key for key in (wanted, *chain) if key in found), None)


class FinishedGames:
    """Appends what is over to a file, or to one file a day in a folder. It is an ``Outlet``.

    Args:
        target: a file, or a folder: one that is there, or a name that ends with a slash.
        options: how the PGN looks.

    Attributes:
        games: how many were appended.
        problem: why the last attempt failed, or None; what was to be appended then waits for the next.
    """

    looks_back = True

    def __init__(self, target: str, options: PgnOptions) -> None:
        self.problem: str | None = None
        self._target = Path(target)
        self._split = _is_folder(target)
        self._exporter = PgnExporter(options)
        self._given: dict[str, int] = {}  # keys that were given, and may be given again
        self._seen: dict[Path, int] = {}  # how much of each file was looked at
        self._others: set[str] = set()  # keys that another program has appended meanwhile
        self.games = 0
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="pgn")  # a disk may be slow

    def begin(self, where: str, source: str) -> None:
        """Append what is over of a source and not in the file."""
        self._catch_up(where, source)

    def take(self, games: list[Game]) -> None:
        """Append games that were given out."""
        self._give(games)

    def look(self, changes: Changes) -> None:
        """Append games whose end was told."""
        self._give([game for _, game in changes.anew if game.end in _OVER])

    def settle(self, where: str, source: str, read_up_to: int) -> None:
        """Forget what is never given again; what could not be appended is tried again."""
        self._given = {key: first for key, first in self._given.items() if first >= read_up_to}
        if self.problem is not None:
            self._catch_up(where, source)

    def end(self, where: str, source: str, games: list[Game], final: bool) -> None:
        """Append the games that the log ended with, if it never goes on."""
        self._give([game for game in games if is_over(game.end, game.first_offset, 0, final)])
        self.wait()
        if self.problem is not None:
            self._catch_up(where, source, final)

    def wait(self) -> None:
        """Return when the disk has everything that could be appended."""
        self._thread.submit(int).result()

    def _give(self, games: list[Game]) -> None:
        games = [
            game for game in games if game.kind is GameKind.PLAYED and game.segments and game.key not in self._given
        ]
        if games:
            self._given.update((game.key, game.first_offset) for game in games)
            self._thread.submit(self._write, games)

    def _path_of(self, game: Game) -> Path:
        return self._target / f"{SPLIT_WORDS['day'](game)[0]}{self._exporter.suffix}" if self._split else self._target

    # --- in the thread

    def _write(self, games: list[Game]) -> None:
        if self.problem is not None:
            return  # it will be found missing
        try:
            for game in games:
                self._append(game)
        except (RecorderError, OSError) as error:
            self._failed(error)

    def _append(self, game: Game) -> None:
        path = self._path_of(game)
        path.parent.mkdir(parents=True, exist_ok=True)
        file = _File(path)
        try:
            text = self._text(game)
            # Another recorder's process may look after the same journal, if the one that wrote it was killed.
            if (seen := self._seen.get(path, 0)) < file.size:
                self._others |= known_keys(path, self._exporter, seen)
            if game.key not in self._others or file.written_of(text):
                file.append(text)
                self.games += 1
            self._seen[path] = file.size
        finally:
            file.close()

    def _text(self, game: Game) -> bytes:
        return self._exporter.game_text(game).encode("utf-8", "replace")

    def _failed(self, error: RecorderError | OSError) -> None:
        why = str(error) if isinstance(error, RecorderError) else f"{self._target} cannot be written: {error.strerror}."
        self.problem = why

    # --- while the thread has nothing to do

    def _catch_up(self, where: str, source: str, final: bool = False) -> None:
        self.wait()
        try:
            with open_archive(where) as archive:
                self._append_missing(archive, source, final)
        except (RecorderError, OSError) as error:
            self._failed(error)
        else:
            self.problem = None

    def _append_missing(self, archive: Archive, source: str, final: bool) -> None:
        keys: dict[Path, set[str]] = {}
        own: set[str] = set()  # keys that this source's games have, or had when they were appended
        wanted: dict[str, str] | None = None
        self._given = {}  # what the file has is known by it alone
        self._others.clear()
        if not self._split:
            self._look_at(self._target, keys)
        refuse_protected(self._target, protected(archive))
        read_up_to = archive.source(source).read_up_to
        every = GameFilter(source=source, witnesses=True)  # what this log tells: nothing else can be told at once
        for only_torn in (True, False):
            with chosen_games(archive, every, whole_plies=self._exporter.options.whole_plies) as games:
                for game in games:
                    path = self._path_of(game)
                    if path not in keys:
                        self._look_at(path, keys)
                    there = game.key in keys[path]
                    if only_torn:
                        own.add(game.key)
                    elif not there:
                        wanted = archive.successors() if wanted is None else wanted
                        before = _before(wanted.get(game.key, game.key), keys[path] - own)
                        there = before is not None
                        own.update([before] if before else [])
                    over = is_over(game.end, game.first_offset, read_up_to, final)
                    if not (over or there):
                        continue  # what is there is not appended when it is given out, whoever wrote it
                    self._given[game.key] = game.first_offset
                    if only_torn and path.exists() and self._is_torn(path, game):
                        self._append(game)
                        keys[path].add(game.key)
                    elif not (only_torn or there):
                        self._append(game)

    def _look_at(self, path: Path, keys: dict[Path, set[str]]) -> None:
        self._seen[path] = path.stat().st_size if path.exists() else 0
        keys[path] = known_keys(path, self._exporter)

    def _is_torn(self, path: Path, game: Game) -> bool:
        file = _File(path)
        try:
            return file.torn and file.written_of(self._text(game)) > 0
        finally:
            file.close()
