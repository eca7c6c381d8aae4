"""The contract of an exporter, and its output file: complete under its name, or absent."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import sys
import tempfile
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import BinaryIO

from recorder.errors import ExportError
from recorder.model import Game
from recorder.text import plural


@dataclass(slots=True, repr=False)
class ExportReport:
    """What an export wrote.

    Attributes:
        games: games written; a game in several parts counts once. plies: half-moves written.
        excluded: how many games or plies were excluded, by reason; the reason says what was counted.
    """

    games: int = 0
    plies: int = 0
    excluded: Counter[str] = field(default_factory=Counter)

    def __repr__(self) -> str:
        excluded = "".join(
            f" · excluded: {number:,} {reason}" for reason, number in sorted(self.excluded.items()) if number
        )
        return f"Export of {plural(self.games, 'game')} · {plural(self.plies, 'ply', 'plies')}{excluded}"


class GameExporter(ABC):
    """Every game is a text of its own; ``key_mark``: what a line begins with before a key, None: there are no keys."""

    suffix: str
    key_mark: str | None
    report: ExportReport

    def write(self, games: Iterable[Game], out: BinaryIO) -> ExportReport:
        """With one game in memory at a time."""
        text, write = self.game_text, out.write
        for game in games:
            write(text(game).encode("utf-8", "replace"))
        return self.report

    @abstractmethod
    def game_text(self, game: Game) -> str:
        """With its separator from the next; counts it in ``report``."""


_UNSAFE = re.compile(rb"[^A-Za-z0-9_-]")
# Device names of Windows, with any suffix.
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)", re.IGNORECASE)
_LONGEST_STEM = 100


@contextmanager
def open_output(
    path: str | Path, force: bool = False, protect: Collection[Path] = (), *, private: bool = False
) -> Iterator[BinaryIO]:
    """``-`` is standard output. A file gets its name when the block ends without exception; never in ``protect``."""
    if str(path) == "-":
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    target = Path(path)
    if target.exists() and not target.is_file() and not target.is_dir():
        try:
            with target.open("wb") as device:
                yield device
        except BrokenPipeError:
            raise
        except OSError as error:
            if error.filename not in (None, str(target)):
                raise
            raise ExportError(f"{target} cannot be written: {error.strerror}.") from error
        return
    refuse_protected(target, protect)
    _refuse(target, force)
    with replacing(target, private=private) as out:
        yield out


def write_file(
    path: str | Path,
    games: Iterable[Game],
    exporter: GameExporter,
    force: bool = False,
    append: bool = False,
    protect: Collection[Path] = (),
) -> ExportReport:
    """``append`` those whose key it does not hold yet; ``excluded["already in the file"]`` counts the others."""
    target, keys = Path(path), set[str]()
    if append:
        refuse_protected(target, protect)
        keys = known_keys(target, exporter)
    with replacing(target, keep=True) if append else open_output(path, force, protect) as out:
        for game in games:
            if not keys.isdisjoint((game.key, *game.merged_from)):
                exporter.report.excluded["already in the file"] += 1
                continue
            if append:
                keys.add(game.key)
            out.write(exporter.game_text(game).encode("utf-8", "replace"))
    return exporter.report


def known_keys(path: Path, exporter: GameExporter) -> set[str]:
    if exporter.key_mark is None:
        raise ExportError("This format has no game keys, so games cannot be appended; write a new file.")
    try:
        return keys_in(path, exporter.key_mark)[0]
    except OSError as error:
        raise ExportError(f"{path} cannot be read: {error.strerror}.") from error


def keys_in(path: Path, mark: str, begin: int = 0) -> tuple[set[str], set[str]]:
    """Keys of the games from ``begin`` on, and of those whose result is ``*``; the file need not be there."""
    keys: set[str] = set()
    left: set[str] = set()
    if not path.exists() or path.stat().st_size <= begin:
        return keys, left
    tags = re.compile(rb'^(?:(\[Event )|\[Result "([^"\r\n]*)|' + re.escape(mark.encode()) + rb'([^"\r\n]*)")', re.M)
    key, is_open = "", False  # of the entry being read
    with path.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as data:
        for event, result, value in (match.groups() for match in tags.finditer(data, begin)):
            if event is not None:
                key, is_open = "", False
            elif result is not None:
                is_open = result == b"*"
            else:
                key = value.decode("ascii", "replace")
                keys.add(key)
            if is_open and key:
                left.add(key)
    return keys, left


def write_split(
    directory: str | Path,
    games: Iterable[Game],
    exporter: GameExporter,
    by: str,
    force: bool = False,
    append: bool = False,
    protect: Collection[Path] = (),
) -> ExportReport:
    """A game is in the files of both players, and counts once. After an ExportError no file has changed."""
    if by not in SPLIT_WORDS:
        raise ExportError(f"Games cannot be split by {by!r}; use one of {', '.join(SPLIT_WORDS)}.")
    names = SPLIT_WORDS[by]
    folder = Path(directory)
    files: dict[Path, tuple[Path, set[str]]] = {}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for game in games:
            text: bytes | None = None
            for name in dict.fromkeys(names(game)):
                target = folder / f"{name}{exporter.suffix}"
                if target not in files:
                    refuse_protected(target, protect)
                    files[target] = _begin(target, exporter, force, append)
                unfinished, keys = files[target]
                if not keys.isdisjoint((game.key, *game.merged_from)):
                    continue
                text = exporter.game_text(game).encode("utf-8", "replace") if text is None else text
                with unfinished.open("ab") as out:
                    out.write(text)
            if text is None:
                exporter.report.excluded["already in the file"] += 1
        for target, (unfinished, _) in files.items():
            unfinished.replace(target)
    except OSError as error:
        raise ExportError(f"{error.filename or folder} cannot be written: {error.strerror}.") from error
    finally:
        for unfinished, _ in files.values():
            unfinished.unlink(missing_ok=True)
    return exporter.report


def file_stem(text: str) -> str:
    """A file name for any text, the same on every system.

    Lower case, because handles and many file systems ignore case. Bytes other than letters, digits, ``_`` and ``-``
    are written as ``%2e``, so that different texts get different names; so is the first letter of a device's name.
    """
    stem = _UNSAFE.sub(lambda byte: b"%%%02x" % byte[0][0], text.lower().encode("utf-8", "replace")).decode()
    if _RESERVED.fullmatch(stem):
        stem = f"%{ord(stem[0]):02x}{stem[1:]}"
    if len(stem) > _LONGEST_STEM:
        stem = f"{stem[:_LONGEST_STEM]}%{hashlib.sha256(stem.encode()).hexdigest()[:16]}"
    return stem or "%"


SPLIT_WORDS: dict[str, Callable[[Game], list[str]]] = {
    "day": lambda game: [f"{game.day:%Y-%m-%d}" if game.day else "undated"],
    "player": lambda game: [file_stem(game.white.handle), file_stem(game.black.handle)],
    "variant": lambda game: [file_stem(game.variant) if game.variant else "unknown"],
}


def refuse_protected(target: Path, protected: Collection[Path]) -> None:
    """Also through a link."""
    try:
        real, there = target.resolve(), target.exists()
        for path in protected:
            if path.resolve() == real or (there and path.exists() and path.samefile(target)):
                raise ExportError(f"{target} is the archive or a log; name another file.")
    except (OSError, RuntimeError) as error:  # RuntimeError: links in a circle
        raise ExportError(f"{target} cannot be written: {getattr(error, 'strerror', None) or error}.") from error


def refuse_existing(path: str | Path, force: bool) -> None:
    """Refuse an output that ``open_output`` would refuse because it is there, before anything is computed for it."""
    target = Path(path)
    if str(path) != "-" and (target.is_file() or target.is_dir()):
        _refuse(target, force)


def _refuse(target: Path, force: bool) -> None:
    if target.is_dir():
        raise ExportError(f"{target} is a folder; name a file in it.")
    if target.exists() and not force:
        raise ExportError(f"{target} already exists; use --force to replace it.")


def _begin(target: Path, exporter: GameExporter, force: bool, append: bool) -> tuple[Path, set[str]]:
    """With the old content if it is appended to."""
    keys = known_keys(target, exporter) if append else set()
    _refuse(target, force or append)
    unfinished = _unfinished(target)
    with unfinished.open("wb") as out:
        if append:
            _copy_old(target, out)
    return unfinished, keys


@contextmanager
def replacing(target: Path, keep: bool = False, *, private: bool = False) -> Iterator[BinaryIO]:
    """It replaces the file, or that a link leads to, when the block ends without exception; ``keep``: its text too."""
    target = target.resolve()
    unfinished = _unfinished(target)
    try:
        with unfinished.open("wb") as out:
            if private:
                unfinished.chmod(0o600)
            if keep:
                _copy_old(target, out)
            yield out
            out.flush()
            os.fsync(out.fileno())
        unfinished.replace(target)
    except OSError as error:
        if error.filename not in (None, str(unfinished), str(target)):
            raise
        raise ExportError(f"{target} cannot be written: {error.strerror}.") from error
    finally:
        unfinished.unlink(missing_ok=True)


@contextmanager
def new_folder(folder: Path) -> Iterator[Path]:
    """It becomes the folder when the block ends without an exception; the one that it is in must be there."""
    target = folder.absolute()
    try:
        scratch = Path(tempfile.mkdtemp(prefix=".", suffix=".part", dir=target.parent))
    except OSError as error:
        raise ExportError(f"{folder} cannot be written: {error.strerror}.") from error
    unfinished, old = scratch / "new", scratch / "old"
    try:
        unfinished.mkdir()
        yield unfinished
        if target.exists():
            target.rename(old)
        try:
            unfinished.rename(target)
        except OSError:
            if old.exists():
                old.rename(target)
            raise
        shutil.rmtree(old, ignore_errors=True)
    except OSError as error:
        raise ExportError(f"{folder} cannot be written: {error.strerror}.") from error
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
        with suppress(OSError):
            scratch.rmdir()  # the old folder is still in it if it could not be moved back


def _unfinished(target: Path) -> Path:
    digest = hashlib.sha256(target.name.encode("utf-8", "surrogateescape")).hexdigest()[:12]
    return target.with_name(f".{digest}.{os.getpid()}.part")


def _copy_old(target: Path, out: BinaryIO) -> None:
    if not target.exists():
        return
    with target.open("rb") as old:
        shutil.copyfileobj(old, out)
        old.seek(max(old.tell() - 1, 0))
        if old.read(1) not in (b"", b"\n"):
            out.write(b"\n")
