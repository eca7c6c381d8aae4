"""``convert``: logs to one file of games, without an archive."""

from __future__ import annotations

import shutil
import tempfile
from collections import Counter
from collections.abc import Generator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from exporters.base import ExportReport, open_output, refuse_protected
from exporters.selection import Selection
from recorder.archive.inputs import GameReader, Input, ReadOptions
from recorder.archive.workers import Channel, WorkerDiedError, Workers, in_order, jobs_for
from recorder.containment import failures_sentence
from recorder.errors import SourceError
from recorder.progress import of_several

if TYPE_CHECKING:
    from exporters.base import Exporter
    from exporters.bpgn import BpgnOptions
    from exporters.pgn.exporter import PgnOptions
    from recorder.progress import Progress

__all__ = ["Conversion", "Converted", "convert_logs"]


@dataclass(frozen=True, slots=True)
class Conversion:
    """How logs are converted.

    Attributes:
        reading: how they are read. writing: the format, by the class of its options.
        complete, guests, computers, include: as for ``Selection``.
    """

    reading: ReadOptions
    writing: PgnOptions | BpgnOptions
    complete: bool = False
    guests: bool = True
    computers: bool = True
    include: frozenset[str] = frozenset()

    def selection(self) -> Selection:
        """Selects the games of one log."""
        return Selection(self.complete, self.guests, self.computers, self.include)

    def exporter(self) -> Exporter:
        """Writes the games of one log."""
        from exporters.pgn.exporter import PgnExporter, PgnOptions

        if isinstance(self.writing, PgnOptions):
            return PgnExporter(self.writing)
        from exporters.bpgn import BpgnExporter

        return BpgnExporter(self.writing)


@dataclass(slots=True)
class Converted:
    """What became of one log.

    Attributes:
        name: of the log. written: of its games. excluded: reason → how many of its games were not selected.
        anomalies: how many it has. damaged: whether it could not be read to its end.
        notes: sentences about the log: warnings, and why it could not be read to its end.
        unread: what an error of this program kept from being read, one sentence, or None.
    """

    name: str
    written: ExportReport
    excluded: Counter[str]
    anomalies: int = 0
    damaged: bool = False
    notes: list[str] = field(default_factory=list)
    unread: str | None = None


def convert_logs(
    sources: Sequence[Input],
    conversion: Conversion,
    output: str,
    *,
    force: bool = False,
    jobs: int | None = None,
    progress: Progress,
) -> list[Converted]:
    """Write the games of logs, one log after the other; without games there is no output file.

    Args:
        sources: the logs.
        conversion: how they are read and written.
        output, force: as for ``open_output``.
        jobs: how many processes read logs; None: one for each core. The output is the same.
        progress: called after each block.
    Returns:
        What became of each log, in their order.
    Raises:
        SourceError: a log cannot be read; then there is no output file.
        ExportError: the output is a log, or cannot be written.
    """
    for source in sources:
        if source.error is not None:
            raise SourceError(source.error)
        if output != "-":
            refuse_protected(Path(output), source.files())
    processes = jobs_for([source.path.stat().st_size for source in sources], jobs)
    with suppress(_NoGames), open_output(output, force) as out:
        if processes > 1:
            with closing(_convert_in_processes(sources, conversion, out, processes, progress)) as done:
                found = list(done)
        else:
            found = [
                _convert(source, conversion, out, of_several(progress, number, len(sources)))
                for number, source in enumerate(sources, 1)
            ]
        if not any(one.written.games for one in found):
            raise _NoGames
    return found


class _NoGames(Exception):  # noqa: N818 -- no error: it keeps the output file from getting its name
    """No game was written."""


def _convert(source: Input, conversion: Conversion, out: BinaryIO, progress: Progress) -> Converted:
    selection = conversion.selection()
    reader = GameReader(source, conversion.reading, progress)
    written = conversion.exporter().write(selection.select(reader), out)
    found = Converted(source.name, written, selection.excluded, len(reader.report.anomalies))
    found.notes += reader.report.warnings
    found.damaged = reader.damage is not None
    found.notes += [reader.damage] if reader.damage else []
    found.unread = failures_sentence(reader.report, source.name)
    return found


@dataclass(frozen=True, slots=True)
class _Task:
    """A log for one process: the number among all logs is from 1; the text is written to ``part``."""

    source: Input
    conversion: Conversion
    number: int
    count: int
    part: Path


def _convert_in_processes(
    sources: Sequence[Input], conversion: Conversion, out: BinaryIO, processes: int, progress: Progress
) -> Generator[Converted, None, None]:
    """Convert logs in other processes; their texts are joined in the order of the logs.

    Yields:
        What became of each log.
    Raises:
        SourceError: a process died, or could not read its log at all.
    """
    with tempfile.TemporaryDirectory(prefix="ics-recorder-convert-") as folder, Workers(processes) as workers:
        tasks = [
            _Task(source, conversion, number, len(sources), Path(folder) / str(number))
            for number, source in enumerate(sources, 1)
        ]
        for task, future in zip(tasks, in_order(workers, _convert_apart, tasks, progress), strict=True):
            try:
                found = future.result()
            except WorkerDiedError as error:
                raise SourceError(f"{task.source.name}: the process that read it {error}. Convert it again.") from error
            with task.part.open("rb") as part:
                shutil.copyfileobj(part, out)
            task.part.unlink()
            yield found


def _convert_apart(task: _Task, channel: Channel) -> Converted:
    """Convert one log; runs in a process of its own."""
    with task.part.open("wb") as part:
        return _convert(task.source, task.conversion, part, of_several(channel.progress, task.number, task.count))
