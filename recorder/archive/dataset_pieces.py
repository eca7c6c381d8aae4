"""One piece of a log or PGN file to Parquet files of a data set, and different keys for the games of all pieces."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, Protocol

from exporters.dataset_files import rename_keys
from exporters.dataset_parts import PartWriter
from recorder.archive.importing import identify, is_internal, why_failed
from recorder.archive.inputs import GameReader, Input, ReadOptions
from recorder.archive.pieces import NoBorderError
from recorder.archive.storing import Outcome
from recorder.containment import failures_sentence
from recorder.errors import ExportError, StorageError
from recorder.model import SourceKind, SourceReport
from recorder.progress import of_several
from storage.dataset.folder import DataFolder, Part
from storage.dataset.records import stem_of
from storage.write.games import successor

if TYPE_CHECKING:
    from recorder.model import Game

__all__ = ["Piece", "PieceMade", "Reporting", "SourceToFind", "find_source", "make_piece", "rename_doubles"]

_BLOCK_BYTES: Final = 1 << 18


class Reporting(Protocol):
    """What a task that runs somewhere has of its caller."""

    def progress(self, name: str, done: int, total: int | None) -> None:
        """Report the progress of the task."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A source, or a piece of a PGN file, to be made into part files.

    Attributes:
        folder: of the data set.
        source, sha256, kind, options: of the source, and how it is read.
        size_bytes: of the source, decompressed.
        number: of the piece, from 0. place: of the source among all of the run, from 1, and how many there are.
        data: the piece's bytes, secrets replaced; None: the source is one piece, and is read from its file.
        begin: place of the first byte. last: the source ends with the piece.
    """

    folder: DataFolder
    source: Input
    sha256: str
    kind: SourceKind
    options: ReadOptions
    size_bytes: int
    number: int = 0
    place: tuple[int, int] = (1, 1)
    data: bytes | None = None
    begin: int = 0
    last: bool = True


@dataclass(slots=True)
class PieceMade:
    """What was written of a piece.

    Attributes:
        games, plies, undated: how many.
        report: of these bytes. message: why not all could be read, or None.
        failed: why the source cannot be read, or None. internal: an error of this program is why.
        parts: the files.
        keys: of the games in their order, ten bytes each. wanted: successors → the keys whose successors they are.
    """

    games: int = 0
    plies: int = 0
    undated: int = 0
    report: SourceReport = field(default_factory=SourceReport)
    message: str | None = None
    failed: str | None = None
    internal: bool = False
    parts: list[Part] = field(default_factory=list)
    keys: bytes = b""
    wanted: dict[str, str] = field(default_factory=dict)


def make_piece(piece: Piece, reporting: Reporting) -> PieceMade | None:
    """Write the files of a piece; nothing else is changed, and doing it again gives the same files.

    Args:
        piece: what is read. reporting: gets the progress.
    Returns:
        What was written; None: no game ends with the piece, and the source must be read as one.
    Raises:
        ExportError: a file cannot be written. StorageError: a file of the data set cannot be read.
    """
    if piece.source.error is not None:
        return PieceMade(failed=piece.source.error)
    try:
        return _make_piece(piece, reporting)
    except (ExportError, StorageError):
        raise
    except NoBorderError:
        return None
    except Exception as error:
        return PieceMade(failed=why_failed(error, piece.source.name), internal=is_internal(error))


def _make_piece(piece: Piece, reporting: Reporting) -> PieceMade:
    made = PieceMade()
    keys = _Keys()
    stem = f"{stem_of(piece.sha256)}-{piece.number}"
    with PartWriter(piece.folder, stem, piece.sha256, piece.kind.value) as writer:
        if piece.data is None:
            options = replace(piece.options, kind=piece.kind)
            progress = of_several(reporting.progress, *piece.place)
            reader = GameReader(piece.source, options, progress, piece.size_bytes)
            _add(reader, writer, keys, made)
            made.report, made.message = reader.report, reader.damage
        else:
            _add(_games_of(piece, piece.data, made), writer, keys, made)
    made.games, made.plies, made.parts = writer.games, writer.plies, writer.parts
    made.keys, made.wanted = keys.given, keys.wanted
    made.message = made.message or failures_sentence(made.report, piece.source.name)
    return made


def _add(games: Iterable[Game], writer: PartWriter, keys: _Keys, made: PieceMade) -> None:
    for game in games:
        writer.add(keys.give(game))
        made.undated += game.day is None


def _games_of(piece: Piece, data: bytes, made: PieceMade) -> Iterator[Game]:
    """The games of a piece of a PGN file; ``made`` gets the report.

    Raises:
        NoBorderError: no game ends with the piece, or something was found that is reported for a file as a whole.
    """
    pipeline = piece.options.piece_pipeline(piece.begin)
    for at in range(0, len(data), _BLOCK_BYTES):
        yield from pipeline.receive(data[at : at + _BLOCK_BYTES])
    if not piece.last and pipeline.read_up_to != piece.begin + len(data):
        raise NoBorderError
    yield from pipeline.finish()
    made.report = pipeline.report
    if made.report.warnings or made.report.failures:
        raise NoBorderError


class _Keys:
    """Gives each game of a piece its own key.

    Of several games with one key, the later ones get its successors, as in an archive.

    Attributes:
        given, wanted: as in ``PieceMade``.
    """

    def __init__(self) -> None:
        self.wanted: dict[str, str] = {}
        self._given: dict[bytes, None] = {}

    @property
    def given(self) -> bytes:
        """Ten bytes for each game, in their order."""
        return b"".join(self._given)

    def give(self, game: Game) -> Game:
        """Give a game its key."""
        key, number = game.key, 1
        while bytes.fromhex(key) in self._given:
            number += 1
            key = successor(game.key, number)
        if number > 1:
            self.wanted[key] = game.key
            game.key = key
        self._given[bytes.fromhex(key)] = None
        return game


def rename_doubles(folder: DataFolder, pieces: Sequence[PieceMade]) -> None:
    """Give keys of their own to games of a piece whose keys an earlier piece has, too.

    Args:
        folder: of the data set. pieces: of one source, all of them in their order.
    """
    if len(pieces) < 2:
        return
    import numpy as np

    keys, counts = np.unique(np.frombuffer(b"".join(made.keys for made in pieces), dtype="S10"), return_counts=True)
    doubles = set(keys[counts > 1].tolist())
    if not doubles:
        return
    there = set(keys.tolist())
    used: set[bytes] = set()
    for made in pieces:
        renamed: dict[str, str] = {}
        for key in np.frombuffer(made.keys, dtype="S10").tolist():
            if key not in doubles:
                continue
            if key not in used:
                used.add(key)
                continue
            was = key.ljust(10, b"\0").hex()
            wanted = made.wanted.get(was, was)
            new, number = was, 1
            while bytes.fromhex(new).rstrip(b"\0") in there:
                number += 1
                new = successor(wanted, number)
            there.add(bytes.fromhex(new).rstrip(b"\0"))
            renamed[was] = new
        if renamed:
            made.parts = rename_keys(folder, made.parts, renamed)


@dataclass(slots=True)
class SourceToFind:
    """A source whose hash and kind a process finds, how it is read, and sizes at which its hash is wanted, too.

    ``place`` is as in ``Piece``.
    """

    source: Input
    options: ReadOptions
    marks: Sequence[int]
    place: tuple[int, int]


def find_source(task: SourceToFind, reporting: Reporting) -> Outcome:
    """Find the hash and the kind of a source; runs in a process of its own."""
    return identify(task.source, task.options, task.marks, of_several(reporting.progress, *task.place))
