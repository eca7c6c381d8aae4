"""All files of a journal's session, read and surveyed, whichever of them is named."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from recorder.errors import JournalError, SourceError
from recorder.journal import (
    Damage,
    JournalEntry,
    JournalReader,
    NewerJournalError,
    Survey,
    find_part,
    part_blocks,
)
from recorder.sources import find_logs, is_journal, log_files, path_kind, read_blocks

__all__ = ["find_journals", "reading", "session_files", "survey_session"]


def find_journals(file: str) -> Iterator[tuple[str, Path]]:
    """The journals that an argument names, each with the first file of its session.

    Raises:
        SourceError: it cannot be read, or is a folder without journals.
    """
    if file == "-" or path_kind(file) != "folder":
        with reading(file):
            yield file, Path(file) if file == "-" else log_files(Path(file))[0]
        return
    found = [path for path in find_logs([file]) if is_journal(path)]
    if not found:
        raise SourceError(f"{file}: the folder contains no journal.")
    yield from ((str(path), path) for path in found)


def session_files(file: str) -> Iterator[tuple[str, JournalReader, Iterator[JournalEntry]]]:
    """Each file of a journal's session: its name, its reader and its entries, which are to be read in turn.

    Args:
        file: any of them, or - for standard input.

    Raises:
        SourceError: a file cannot be read. JournalError: there is no journal in any of them.
    """
    if file != "-" and path_kind(file) == "folder":
        raise SourceError(f"{file} is a folder: name one of the journals in it.")
    with reading(file):
        paths = [Path("-")] if file == "-" else log_files(Path(file))
    found = False

    def entries(reader: JournalReader, path: Path) -> Iterator[JournalEntry]:
        nonlocal found
        stream = read_blocks("-") if str(path) == "-" else None
        try:
            with reading(str(path)):
                for entry in reader.read(part_blocks(find_part(path)) if stream is None else stream):
                    found = True
                    yield entry
            if stream is not None and stream.problem is not None:
                raise JournalError(str(stream.problem))
        except NewerJournalError:
            raise
        except JournalError as error:  # what follows cannot be decompressed
            found = True
            yield from reader.finish()
            why = str(error).rpartition(": ")[2]
            reader.damage.append(Damage(reader.size_bytes, 0, f"what follows cannot be decompressed: {why}"))

    for path in paths:
        reader = JournalReader()
        yield str(path), reader, entries(reader, path)
    if not found:
        raise JournalError(f"{file} is no journal.")


def survey_session(file: str) -> tuple[Survey, list[str]]:
    """What all parts of a journal's session hold, and the names of the files.

    Raises:
        SourceError: a file cannot be read. JournalError: there is no journal in any of them.
    """
    survey, names = Survey(), []
    for name, reader, entries in session_files(file):
        names.append(name)
        survey.begin(name)
        for entry in entries:
            survey.feed(entry)
        survey.end(reader)
    survey.finish()
    return survey, names


@contextmanager
def reading(file: str) -> Iterator[None]:
    """Failures to read a file, as a ``SourceError``."""
    try:
        yield
    except OSError as error:
        raise SourceError(f"{file}: cannot be read: {error.strerror or error}") from error
