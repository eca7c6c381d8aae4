"""Games of a log that grows into PGN files, each when it is over and once.

The strategy: what a file holds is known by the keys in it. A game that is over is in the archive before it is in the
file, and the archive learns that its source came to its end only when the disk has the file: a process that begins with
a source that did not come so far looks for the games that the file does not have. A game that a crash has cut is
recognised by its text and written again.

A recorder that loses its connection begins a new journal, and the archive finds out which games of both are one. Such a
game is written as all journals of this file give it. What is open when a journal ends may go on in the next one, so it
is written as ``*`` only when the recorder ends; if it goes on after that, its entry is replaced.

Other programs may add games to the file, too: a game is appended in one call that returns when the disk has it. An
entry is found by its key tag, and is the lines from its first tag to the blank line after its moves, where a comment
may have blank lines; to replace it the file is written under another name and renamed, other bytes unchanged. A process
that waited for the lock meanwhile opens the new file.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import replace
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final, NamedTuple

from exporters.base import SPLIT_WORDS, keys_in, refuse_protected, replacing
from exporters.pgn.exporter import PgnExporter, PgnOptions
from recorder.archive.exporting import chosen_games, protected
from recorder.archive.following.follower import Outlet, is_over
from recorder.archive.locate import open_archive
from recorder.errors import ExportError, RecorderError
from recorder.files import lock, sync_folder
from recorder.model import GameEnd, GameKind
from storage import EVERY_GAME, GameFilter
from storage.write.games import successor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from recorder.model import Game
    from storage import ArchiveStore

_LAST_BYTES: Final = 1 << 20
_BLOCK: Final = 1 << 20
_TAG: Final = re.compile(rb'\[[A-Za-z][^"\r\n]*"[^\r\n]*"\]\r?\n?')
_OPEN_RESULT: Final = b'[Result "*"'
_MARK_OF_UTF8: Final = b"\xef\xbb\xbf"
_BRACES: Final = re.compile(rb"[{};]")


class PgnEntry(NamedTuple):
    """A game in a file, or one part of it, between two places in bytes. ``open``: its result is ``*``."""

    begin: int
    end: int
    key: str
    open: bool


class ReadPosition(NamedTuple):
    """How much of which file was read."""

    inode: int = -1
    size: int = 0


class PgnFile:
    """A PGN file, or where a link leads, locked while it is open, and made if missing. Methods raise ``OSError``."""

    def __init__(self, path: Path) -> None:
        self._path = path
        there = path.exists()
        while True:
            self._file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o666)
            with suppress(OSError):  # a file system without locks
                lock(self._file, wait=True)
            with suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(self._file), path.stat()):
                    break
            os.close(self._file)  # it was replaced while this waited
        if not there:
            sync_folder(path.resolve().parent)  # its name, too, must outlive a power cut
        size = self.seen.size
        self._last = os.pread(self._file, _LAST_BYTES, max(size - _LAST_BYTES, 0))

    @property
    def seen(self) -> ReadPosition:
        status = os.fstat(self._file)
        return ReadPosition(status.st_ino, status.st_size)

    @property
    def torn(self) -> bool:
        """Whether its last game lacks its end: a crash has cut it, or a user has edited the file."""
        return bool(self._last) and not self._last.endswith(b"\n\n")

    def written_of(self, text: bytes) -> int:
        """How many bytes of a game's text are at the file's end, if it ends in the middle of the game."""
        if not self.torn:
            return 0
        begin = self._last.rfind(b"\n\n[Event ")
        torn = self._last[begin + 2 :] if begin >= 0 else self._last
        index = text.find(torn)
        while index >= 0:  # a game in several parts may be cut in any of them
            if self._last.endswith(text[: index + len(torn)]):
                return index + len(torn)
            index = text.find(torn, index + 1)
        return 0

    def append(self, text: bytes) -> None:
        """Write a game, all of it or nothing, and wait until the disk has it."""
        size = self.seen.size
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

    def entries(self, mark: str, keys: Collection[str]) -> list[PgnEntry]:
        """In the order of the file; a line with a key begins with ``mark``."""
        if not self.seen.size:
            return []
        with mmap(self._file, 0, access=ACCESS_READ) as data:
            return sorted(entry for key in keys for entry in _entries(data, f'{mark}{key}"]'.encode(), key))

    def replace(self, entries: list[PgnEntry], text: bytes) -> ReadPosition:
        """Write a game in the place of the first of these ordered entries, drop the others, and close the file."""
        with mmap(self._file, 0, access=ACCESS_READ) as data:
            if b"".join(data[entry.begin : entry.end] for entry in entries) == text:
                return self.seen
            if data[entries[0].begin : entries[0].end].endswith(b"\r\n"):
                text = text.replace(b"\n", b"\r\n")
            with replacing(self._path) as out:
                os.fchmod(out.fileno(), stat.S_IMODE(os.fstat(self._file).st_mode))
                begin = 0
                for entry in entries:
                    _copy(data, begin, entry.begin, out)
                    out.write(text)
                    text, begin = b"", entry.end
                _copy(data, begin, len(data), out)
                out.flush()
                status = os.fstat(out.fileno())
        sync_folder(self._path.resolve().parent)
        self.close()
        return ReadPosition(status.st_ino, status.st_size)

    def close(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


def _copy(data: mmap, begin: int, end: int, out: BinaryIO) -> None:
    for offset in range(begin, end, _BLOCK):
        out.write(data[offset : min(offset + _BLOCK, end)])


def _entries(data: mmap, line: bytes, key: str) -> Iterator[PgnEntry]:
    index = data.find(line)
    while index >= 0:
        if not index or data[index - 1] == 0x0A:
            yield _entry(data, index, key)
        index = data.find(line, index + 1)


def _entry(data: mmap, offset: int, key: str) -> PgnEntry:
    """The entry to which the tag at a place belongs."""
    begin, first = offset, len(_MARK_OF_UTF8) if data[: len(_MARK_OF_UTF8)] == _MARK_OF_UTF8 else 0
    while begin > first and data[begin : begin + 7] != b"[Event ":
        before = max(data.rfind(b"\n", 0, begin - 1) + 1, first)
        if not _TAG.fullmatch(data[before:begin]):
            break
        begin = before
    end, left = begin, False
    while _TAG.fullmatch(line := _line(data, end)) and (end == begin or not line.startswith(b"[Event ")):
        left = left or line.startswith(_OPEN_RESULT)
        end += len(line)
    while (line := _line(data, end)) and not line.strip():
        end += len(line)
    comment = False
    while (line := _line(data, end)) and not line.startswith(b"[Event "):
        end += len(line)
        if not (comment or line.strip()):
            break
        comment = _ends_in_comment(line, comment)
    return PgnEntry(begin, end, key, left)


def _ends_in_comment(line: bytes, comment: bool) -> bool:
    """Whether a comment in braces goes on after a line of moves; ``comment``: whether one went on before it."""
    if line.startswith(b"%"):
        return comment
    for brace in _BRACES.finditer(line):
        if brace[0] == b"}":
            comment = False
        elif brace[0] == b"{":
            comment = True
        elif not comment:
            break  # the rest of the line is a comment
    return comment


def _line(data: mmap, begin: int) -> bytes:
    end = data.find(b"\n", begin)
    return data[begin : len(data) if end < 0 else end + 1]


_COPIES = 10  # of one log, that continue differently: more are not expected


def refuse_unwritable(target: str, protect: Iterable[Path] = ()) -> None:
    """Make sure, before anything else is done, that games can be appended."""
    path = Path(target)
    refuse_protected(path, list(protect))
    try:
        if _is_folder(target):
            path.mkdir(parents=True, exist_ok=True)
            if not os.access(path, os.W_OK | os.X_OK):
                raise ExportError(f"{target} cannot be written: this folder is not writable.")
            return
        if path.exists() and not path.is_file():
            raise ExportError(f"{target} is not a file that games can be appended to.")
        # Another recorder may append to it just now, so a file that is made here stays.
        os.close(os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o666))
        folder = path.resolve().parent
        if not os.access(folder, os.W_OK | os.X_OK):
            raise ExportError(
                f"{target} cannot be written: replacing the entry of a game that continues needs a new file, "
                f"and {folder} is not writable."
            )
    except OSError as error:
        raise ExportError(f"{target} cannot be written: {error.strerror}.") from error


def _is_folder(target: str) -> bool:
    return target.endswith(os.sep) or Path(target).is_dir()


def _before(wanted: str, keys: set[str]) -> str | None:
    """The key under which a game was appended, if a copy of its log has moved it on since, or made its own free."""
    chain = (successor(wanted, number) for number in range(2, _COPIES))
    return next((key for key in (wanted, *chain) if key in keys), None)


class FinishedGames(Outlet):
    """Writes what is over into a file, or into one file a day in a folder.

    ``shares`` says whether the games of a journal go into this target, too; None: no other source's games do.
    ``defer``: games that a journal leaves open are not written when it ends: they may go on in another one.
    """

    looks_back = True

    def __init__(
        self,
        target: str,
        options: PgnOptions,
        *,
        shares: Callable[[Path], bool] | None = None,
        defer: bool = False,
    ) -> None:
        self.defer = defer
        self._target = Path(target)
        self._split = _is_folder(target)
        self._exporter = PgnExporter(options)
        assert self._exporter.key_mark is not None, "a format without keys cannot be appended to"
        self._mark = self._exporter.key_mark
        self._shares = shares
        self._where = ""
        self._given: dict[str, int] = {}  # keys that were given, and may be given again
        self._seen: dict[Path, ReadPosition] = {}  # how much of each file was looked at
        self._later = False  # a missing game may have an entry under the key of a part that is being read again
        self._others: set[str] = set()  # keys of entries that may have to be looked at
        self.games = 0
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="pgn")  # a disk may be slow

    def begin(self, where: str, source: str) -> None:
        self._where = where
        self._catch_up(where, source)

    def take(self, games: list[Game]) -> None:
        self._give(games)

    def look(self, games: list[Game]) -> None:
        self._give([game for game in games if game.end.is_over])

    def settle(self, where: str, source: str, read_up_to: int) -> None:
        """What could not be written is tried again."""
        self._given = {key: first for key, first in self._given.items() if first >= read_up_to}
        if self.problem is not None:
            self._catch_up(where, source)

    def end(self, where: str, source: str, games: list[Game], final: bool) -> None:
        """Games that are open may have to wait."""
        self.owes = final and self.defer and any(not game.end.is_over and _is_played(game) for game in games)
        final = final and not self.defer
        self._give([game for game in games if is_over(game.end, game.first_offset, 0, final)])
        self.wait()
        if self.problem is not None or self._later:
            self._catch_up(where, source, final, ended=True)

    def wait(self) -> None:
        self._thread.submit(int).result()

    def _give(self, games: list[Game]) -> None:
        games = [game for game in games if _is_played(game) and game.key not in self._given]
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
            with open_archive(self._where) as archive:
                for game in games:
                    self._put(archive, game)
        except (RecorderError, OSError) as error:
            self._failed(error)

    def _put(self, archive: ArchiveStore, game: Game) -> None:
        """Write a game unless the file has it; an entry from before it went on is replaced."""
        same, key = archive.source_paths(game.key), game.key
        game, paths = self._joined(archive, game, same)
        if not game.corrections and archive.corrections.concern(key):
            game = archive.game(key)
        path = self._path_of(game)
        for other in dict.fromkeys(paths):
            if other != path and other.exists() and self._put_into(other, archive, game, same, add=False):
                return
        path.parent.mkdir(parents=True, exist_ok=True)
        self._put_into(path, archive, game, same, add=True)

    def _joined(self, archive: ArchiveStore, game: Game, same: dict[str, str | None]) -> tuple[Game, list[Path]]:
        """A game as this source and those that share the target give it, and the files in which its entry may be."""
        if len(same) < 2:
            return game, []
        from recorder.relating.merge import merge_games

        every = replace(EVERY_GAME, keys=frozenset(same), per_source=True)
        with chosen_games(archive, every) as games:
            candidates = list(games)
        paths = [self._path_of(candidate) for candidate in candidates]
        ours = [part for part in candidates if part.key == game.key or self._is_ours(same[part.key], same[game.key])]
        if len(ours) < 2:
            return game, paths
        keys = {part.key for part in ours}
        joined = next((part for part in merge_games(ours) if keys == set(part.merged_from)), None)
        return joined or archive.game(game.key), paths  # if only another source tells that they are one

    def _is_ours(self, path: str | None, own: str | None) -> bool:
        return path is not None and (path == own or (self._shares is not None and self._shares(Path(path))))

    def _put_into(
        self, path: Path, archive: ArchiveStore, game: Game, same: dict[str, str | None], *, add: bool
    ) -> bool:
        """Without ``add``, only an entry is replaced; return whether the file has the game. ``same``: paths by keys."""
        with closing(PgnFile(path)) as file:
            # Another recorder's process may look after the same journal, if the one that wrote it was killed.
            before, now = self._seen.get(path, ReadPosition()), file.seen
            if before != now:
                begin = before.size if before.inode == now.inode and before.size < now.size else 0
                self._others |= keys_in(path, self._mark, begin)[0]
            if not (text := self._text(game)):
                return False  # no position of it is known
            looked = len(same) > 1 or game.key in self._others
            entries = file.entries(self._mark, {game.key, *same}) if looked and not file.written_of(text) else []
            if not (entries or add):
                return False
            if not entries:
                file.append(text)
                self.games += 1
                self._seen[path] = file.seen
            elif all(entry.open for entry in entries):
                known_as = {game.key, *game.merged_from}
                if any(entry.key not in known_as for entry in entries):
                    text = self._text(archive.game(game.key))  # what another source gave of it is in its entry
                self._seen[path] = file.replace(entries, text)
            else:
                self._seen[path] = file.seen
            return True

    def _text(self, game: Game) -> bytes:
        return self._exporter.game_text(game).encode("utf-8", "replace")

    def _failed(self, error: RecorderError | OSError) -> None:
        why = str(error) if isinstance(error, RecorderError) else f"{self._target} cannot be written: {error.strerror}."
        self.problem = why

    # --- while the thread has nothing to do

    def _catch_up(self, where: str, source: str, final: bool = False, *, ended: bool = False) -> None:
        self.wait()
        self._later = False
        try:
            with open_archive(where) as archive, archive.snapshot():
                self._append_missing(archive, source, final, ended)
        except (RecorderError, OSError) as error:
            self._failed(error)
        else:
            self.problem = None

    def _append_missing(self, archive: ArchiveStore, source: str, final: bool, ended: bool) -> None:
        """Write the games that the file lacks; one that cannot be written does not keep the others out."""
        failure: ExportError | OSError | None = None
        keys: dict[Path, tuple[set[str], set[str]]] = {}
        own: set[str] = set()  # keys that this source's games have, or had when they were written
        playing: set[frozenset[str]] = set()
        wanted: dict[str, str] | None = None
        self._given = {}  # what the file has is known by it alone
        self._others.clear()
        if not self._split:
            self._look_at(self._target, keys)
        refuse_protected(self._target, protected(archive))
        # StorageError: another process has continued the source, which has another hash now.
        read_up_to = archive.source(source).read_up_to
        every = GameFilter(source=source, per_source=True)  # the games of this log alone
        for only_torn in (True, False):
            with chosen_games(archive, every, whole_plies=self._exporter.options.whole_plies) as games:
                for game in games:
                    path = self._path_of(game)
                    if path not in keys:
                        self._look_at(path, keys)
                    there = game.key in keys[path][0]
                    if only_torn:
                        own.add(game.key)
                    elif not there:
                        wanted = archive.successors() if wanted is None else wanted
                        before = _before(wanted.get(game.key, game.key), keys[path][0] - own)
                        there = before is not None
                        own.update([before] if before else [])
                    over = is_over(game.end, game.first_offset, read_up_to, final)
                    pair = frozenset((game.white.handle.lower(), game.black.handle.lower()))
                    if not (over or ended):
                        playing.add(pair)
                    # A game in progress may go on with it, and which entries are one game is not known yet: it has to
                    # wait.
                    elif not only_torn and not there and pair in playing:
                        self._later = True
                        continue
                    left = game.key in keys[path][1]  # its entry says that it went on
                    if not (over or there) or (left and not over):
                        continue
                    # A game that the file has already is not written again, whichever program wrote it.
                    self._given[game.key] = game.first_offset
                    try:
                        if only_torn and path.exists() and self._is_torn(archive, path, game):
                            self._put(archive, game)
                            keys[path][0].add(game.key)
                        elif not only_torn and (
                            not there
                            or (left and (game.end is GameEnd.RESULT or len(archive.source_paths(game.key)) > 1))
                        ):
                            self._put(archive, game)  # its entry, if there is one, may lack something
                    except (ExportError, OSError) as error:
                        failure = failure or error
        if failure is not None:
            raise failure

    def _look_at(self, path: Path, keys: dict[Path, tuple[set[str], set[str]]]) -> None:
        status = path.stat() if path.exists() and not self._split else None
        # A file of a day is read later than the archive: what was appended in between is looked for when it is written.
        self._seen[path] = ReadPosition() if status is None else ReadPosition(status.st_ino, status.st_size)
        keys[path] = keys_in(path, self._mark)
        # The archive need not have all of them: a log that is read again gives its games again, one by one.
        self._others |= keys[path][0]

    def _is_torn(self, archive: ArchiveStore, path: Path, game: Game) -> bool:
        with closing(PgnFile(path)) as file:
            if not file.torn:
                return False
            joined, _ = self._joined(archive, game, archive.source_paths(game.key))
            return file.written_of(self._text(joined)) > 0


def _is_played(game: Game) -> bool:
    return game.kind is GameKind.PLAYED and bool(game.segments)
