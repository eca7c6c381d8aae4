"""What another process reads of a source, on its way into the archive: a file of the calls that store it.

A process that reads for another one has no archive. It writes down what it would call, and the process that has the
archive makes these calls when the source's turn comes: so the archive is the same, however many processes there are.
"""

from __future__ import annotations

import copyreg
import pickle
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any, Final

from recorder.model.plies import PlyLine
from storage.write.chunks import ChunkCutter

if TYPE_CHECKING:
    from pathlib import Path

    from recorder.model import Game, SourceReport
    from storage import SourceWriter

__all__ = ["Spool", "SpoolWriter", "read_spool", "take_over"]


def _without_names(line: PlyLine) -> tuple[type[PlyLine], tuple[Any, ...]]:
    """How a line is pickled: plies as plain tuples take a quarter of the time."""
    return PlyLine, (line.number, line.kind, line.parent, line.parent_ply, [tuple(row) for row in line.rows])


_REDUCED: Final = {**copyreg.dispatch_table, PlyLine: _without_names}


class SpoolWriter:
    """Takes what a ``SourceWriter`` takes.

    Args:
        file: gets the calls. keep: whether the source's bytes are kept.
    """

    keep_from = 0

    def __init__(self, file: IO[bytes], *, keep: bool) -> None:
        self._file = file
        self._cutter = ChunkCutter() if keep else None

    def keep(self, block: bytes) -> None:
        """As ``SourceWriter.keep``."""
        if self._cutter is not None:
            self._keep(self._cutter.receive(block))

    def keep_nothing(self) -> None:
        """As ``SourceWriter.keep_nothing``."""
        self._cutter = None
        self._note("keep_nothing")

    def add_games(self, games: Sequence[Game]) -> None:
        """As ``SourceWriter.add_games``."""
        if games:
            self._note("add_games", games)

    def read_up_to(self, offset: int, unfinished: str | None) -> None:
        """As ``SourceWriter.read_up_to``."""
        self._note("read_up_to", offset, unfinished)

    def finish(self, report: SourceReport) -> None:
        """As ``SourceWriter.finish``."""
        if self._cutter is not None:
            self._keep(self._cutter.finish())
        self._note("finish", report)

    def _keep(self, chunks: Iterator[tuple[int, bytes]]) -> None:
        for chunk in chunks:
            self._note("keep_chunk", *chunk)

    def _note(self, *call: object) -> None:
        pickler = pickle.Pickler(self._file, pickle.HIGHEST_PROTOCOL)
        pickler.dispatch_table = _REDUCED
        pickler.dump(call)


class Spool:
    """Takes the place of an archive in a process that reads one source for another process.

    Args:
        path: of the new file.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    @contextmanager
    def write_source(self, *, keep: bool, **_facts: object) -> Iterator[SpoolWriter]:
        """As ``ArchiveStore.write_source``; who makes the calls knows the other facts."""
        with self._path.open("wb") as file:
            yield SpoolWriter(file, keep=keep)


def read_spool(path: Path) -> Iterator[tuple[str, list[Any]]]:
    """The calls in a file, as names of methods and their arguments, in their order."""
    with path.open("rb") as file:
        while True:
            try:
                name, *arguments = pickle.load(file)
            except EOFError:
                return
            yield name, arguments


def take_over(path: Path, writer: SourceWriter | SpoolWriter) -> None:
    """Store a source as another process read it, and remove the file.

    Args:
        path: of the file. writer: of the source in the archive.
    """
    for name, arguments in read_spool(path):
        getattr(writer, name)(*arguments)
    path.unlink()
