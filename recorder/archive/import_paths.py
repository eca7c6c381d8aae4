"""Importing what a user names: logs, folders of logs, and other archives."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from recorder.archive.copies import Copies
from recorder.archive.importing import Outcome, import_source, tell_kind
from recorder.archive.inputs import Input, ReadOptions, open_inputs
from recorder.archive.locate import archive_file, open_archive
from recorder.archive.merging import Merged, merge
from recorder.errors import StorageError
from recorder.live.status import is_state_file
from recorder.progress import Progress, of_several
from recorder.text import plural
from storage import is_database, reading_other

if TYPE_CHECKING:
    from storage import ArchiveStore

__all__ = ["STORED", "ImportReport", "import_paths", "merge_file"]

STORED = ("new", "grown", "replaced")
"""``Outcome.status`` of the logs of which an import has stored something."""


@dataclass(slots=True, repr=False)
class ImportReport:
    """What an import did.

    Attributes:
        outcomes: what became of each log, also of those in other archives, in their order.
        merged: what came from other archives, one entry each.
        skipped: files in folders that were not opened, because of their names.
    """

    outcomes: list[Outcome] = field(default_factory=list)
    merged: list[Merged] = field(default_factory=list)
    skipped: list[Path] = field(default_factory=list)

    def __repr__(self) -> str:
        states = Counter(outcome.status.replace("-", " ") for outcome in self.outcomes)
        inner = ", ".join(f"{count:,} {status}" for status, count in sorted(states.items()))
        files = f"{plural(len(self.outcomes), 'file')}{f' ({inner})' if inner else ''}"
        return f"Import of {files} · {plural(self.games, 'game')} · {plural(self.plies, 'ply', 'plies')}"

    @property
    def games(self) -> int:
        """How many games were stored; one that several logs witness counts once for each."""
        return sum(outcome.games for outcome in self.outcomes)

    @property
    def plies(self) -> int:
        """How many half-moves were stored."""
        return sum(outcome.plies for outcome in self.outcomes)

    @property
    def failures(self) -> list[Outcome]:
        """Files that could not be read, or not to their end; ``Outcome.message`` says why."""
        return [outcome for outcome in self.outcomes if outcome.unreadable]


def import_paths(
    archive: ArchiveStore | None,
    where: str,
    paths: Sequence[str],
    options: ReadOptions,
    *,
    keep: bool = True,
    progress: Progress,
    on_file: Callable[[Outcome | Merged, bool], object] | None = None,
) -> ImportReport:
    """Read files, folders with all below them and other archives into an archive.

    Args:
        archive: open for writing; None: nothing is stored, and the report says what each file is.
        where: the archive, as ``--db`` names it.
        paths: what to read; ``-`` is standard input.
        options: how logs are read.
        keep: whether the bytes of logs are kept, too.
        progress: called after each block.
        on_file: called after each file, with whether it is the only one.
    Raises:
        StorageError: the archive cannot be written.
    """
    report = ImportReport()
    copies = None if archive is None else Copies(archive)
    with open_inputs(paths, report.skipped) as inputs:
        sources = list(inputs)
        for number, source in enumerate(sources, 1):
            of_file = of_several(progress, number, len(sources))
            found: Outcome | Merged
            if source.named and is_database(source.path):
                found = merge_file(archive, where, source, of_file)
                report.merged.append(found)
                report.outcomes += found.outcomes
            else:
                if archive is None or copies is None:
                    found = tell_kind(source, options)
                else:
                    found = import_source(archive, source, options, copies=copies, keep=keep, progress=of_file)
                report.outcomes.append(found)
            if on_file is not None:
                on_file(found, len(sources) == 1)
    report.skipped = [path for path in report.skipped if not is_state_file(path)]  # of recorders that run now
    return report


def merge_file(archive: ArchiveStore | None, where: str, source: Input, progress: Progress) -> Merged:
    """Merge another archive's file into an archive.

    Args:
        archive: open for writing; None: nothing is stored, and the result says what would come.
        where: the archive, as ``--db`` names it.
        source: the other archive.
        progress: called after each of its sources.
    Returns:
        Also where the other archive cannot be read: then its only outcome is ``failed``.
    """
    ours = archive_file(where)
    with ExitStack() as stack:
        try:
            if ours.exists() and source.path.samefile(ours):
                raise StorageError(f"{source.name} is the archive itself.")
            other = stack.enter_context(reading_other(source.path))
        except StorageError as error:
            return Merged(source.name, [Outcome(source.name, "failed", str(error))], 0, 0)
        if archive is not None or not ours.exists():
            return merge(archive, other, source.name, dry_run=archive is None, progress=progress)
        with open_archive(where) as reading:
            return merge(reading, other, source.name, dry_run=True, progress=progress)
