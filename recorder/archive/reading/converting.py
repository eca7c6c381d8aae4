"""``convert``: logs to one file of games, without an archive that stays."""

from __future__ import annotations

import shutil
import tempfile
from collections import Counter
from collections.abc import Generator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

from exporters.base import ExportReport, open_output, refuse_protected
from exporters.selection import Selection
from recorder.archive.reading.importing import GameReader, NoLogError, Outcome, ReadOptions
from recorder.archive.reading.inputs import Input
from recorder.archive.reading.workers import WorkerDiedError, Workers, in_order, jobs_for
from recorder.containment import failures_sentence
from recorder.errors import JournalError, NoGamesError, SourceError
from recorder.model import ImportStatus
from recorder.progress import of_several
from recorder.sources import HEAD_BYTES, is_own_export

if TYPE_CHECKING:
    from exporters.base import GameExporter
    from exporters.bpgn import BpgnOptions
    from exporters.pgn.exporter import PgnOptions
    from recorder.progress import Progress


@dataclass(frozen=True, slots=True)
class Conversion:
    """The class of ``writing`` is the format."""

    reading: ReadOptions
    writing: PgnOptions | BpgnOptions
    complete: bool = False
    guests: bool = True
    computers: bool = True
    include: frozenset[str] = frozenset()

    def selection(self) -> Selection:
        return Selection(self.complete, self.guests, self.computers, self.include)

    def exporter(self) -> GameExporter:
        from exporters.pgn.exporter import PgnExporter, PgnOptions

        if isinstance(self.writing, PgnOptions):
            return PgnExporter(self.writing)
        from exporters.bpgn import BpgnExporter

        return BpgnExporter(self.writing)


class Converted(NamedTuple):
    """What became of a log, what was written of it, and by reason its games that were not selected."""

    log: Outcome
    written: ExportReport
    excluded: Counter[str]


def convert_logs(
    sources: Sequence[Input],
    conversion: Conversion,
    output: str,
    *,
    force: bool = False,
    jobs: int | None = None,
    progress: Progress,
) -> list[Converted]:
    """Write one log after the other, in this order whatever ``jobs`` is; without games there is no output file."""
    if output != "-":
        sources = [source for source in sources if source.named or not _is_earlier_output(source.path, Path(output))]
        for source in sources:
            refuse_protected(Path(output), source.files())
    processes = jobs_for([0 if source.error else source.path.stat().st_size for source in sources], jobs)
    with suppress(_NoGames), open_output(output, force) as out:
        if processes > 1:
            with closing(_convert_in_processes(sources, conversion, out, processes, progress)) as done:
                converted = list(done)
        else:
            converted = [
                _convert(source, conversion, out, of_several(progress, number, len(sources)))
                for number, source in enumerate(sources, 1)
            ]
        if not any(log.written.games for log in converted):
            raise _NoGames
    return converted


class _NoGames(Exception):  # noqa: N818 -- no error: it keeps the output file from getting its name
    """No game was written."""


def _is_earlier_output(path: Path, output: Path) -> bool:
    """Whether a file of a folder is the output, written by this program before."""
    with suppress(OSError):  # the output is not there
        if path.samefile(output):
            with path.open("rb") as file:
                return is_own_export(file.read(HEAD_BYTES))
    return False


def _convert(source: Input, conversion: Conversion, out: BinaryIO, progress: Progress) -> Converted:
    selection, exporter = conversion.selection(), conversion.exporter()
    log = Outcome(source.name, ImportStatus.NEW, named=source.named)
    if source.error is not None:
        log.status, log.message = ImportStatus.FAILED, source.error
        return Converted(log, exporter.report, selection.excluded)
    reader = GameReader(source, conversion.reading, progress)
    try:
        exporter.write(selection.select(reader), out)
    except (SourceError, JournalError) as error:
        log.status = ImportStatus.NOT_A_LOG if isinstance(error, NoLogError) else ImportStatus.FAILED
        log.message = str(error)
    else:
        log.report, log.message = reader.report, reader.damage or failures_sentence(reader.report, source.name)
    return Converted(log, exporter.report, selection.excluded)


def convert_unique(
    paths: Sequence[str],
    skipped: list[Path],
    conversion: Conversion,
    output: str,
    *,
    force: bool,
    jobs: int | None,
    progress: Progress,
) -> list[Converted]:
    """Write a game of several logs once, as an archive of them has it. The last entry is about the games of all."""
    from exporters.pgn.exporter import PgnOptions
    from exporters.selection import make_filter
    from recorder.archive.exporting import count_excluded, export_bpgn, export_pgn, named_games
    from recorder.archive.reading.import_paths import import_paths
    from storage import ArchiveStore

    chosen = make_filter(
        {
            "complete": conversion.complete,
            "guests": conversion.guests,
            "computers": conversion.computers,
            "include": conversion.include,
        }
    )
    with tempfile.TemporaryDirectory(prefix="ics-recorder-convert-") as folder:
        where = str(Path(folder) / "logs.sqlite")
        with closing(ArchiveStore.open(where, create=True, read_only=False)) as archive:
            read = import_paths(archive, where, paths, conversion.reading, keep=False, jobs=jobs, progress=progress)
            skipped += read.skipped
            unique = named_games(archive, replace(chosen, unique=True))
            written, excluded = ExportReport(), Counter(count_excluded(archive, unique))
            try:
                if isinstance(conversion.writing, PgnOptions):
                    written = export_pgn(archive, unique, conversion.writing, output, force=force)
                else:
                    written = export_bpgn(archive, unique, conversion.writing, output, force=force)
            except NoGamesError:
                if not isinstance(conversion.writing, PgnOptions):
                    written.excluded["not bughouse"] += archive.count(unique)
    converted = [Converted(log, ExportReport(), Counter()) for log in read.outcomes]
    return [*converted, Converted(Outcome("", ImportStatus.NEW), written, excluded)]


@dataclass(frozen=True, slots=True)
class _Task:
    source: Input
    conversion: Conversion
    number: int
    count: int
    part: Path


def _convert_in_processes(
    sources: Sequence[Input], conversion: Conversion, out: BinaryIO, processes: int, progress: Progress
) -> Generator[Converted, None, None]:
    with tempfile.TemporaryDirectory(prefix="ics-recorder-convert-") as folder, Workers(processes) as workers:
        tasks = [
            _Task(source, conversion, number, len(sources), Path(folder) / str(number))
            for number, source in enumerate(sources, 1)
        ]
        for task, done in zip(tasks, in_order(workers, _convert_apart, tasks, progress), strict=True):
            try:
                converted = done()
            except WorkerDiedError as error:
                problem = f"{task.source.name}: the process that read it {error}. Convert it again."
                failed = Outcome(task.source.name, ImportStatus.FAILED, problem)
                yield Converted(failed, ExportReport(), Counter())
                continue
            with task.part.open("rb") as part:
                shutil.copyfileobj(part, out)
            task.part.unlink()
            yield converted


def _convert_apart(task: _Task, progress: Progress) -> Converted:
    with task.part.open("wb") as part:
        return _convert(task.source, task.conversion, part, of_several(progress, task.number, task.count))
