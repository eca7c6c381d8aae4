"""Erase players from an archive, and secrets from a saved log or a journal."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from exporters.base import open_output
from recorder.archive.locate import archive_file, open_archive
from recorder.archive.reading.kept_bytes import reading, session_files
from recorder.errors import JournalError, SourceError, StorageError
from recorder.events import Chunk, EngineLine
from recorder.journal import JournalHeader, Record
from recorder.live.secrets.logs import scrubbed
from recorder.model import SAVED_KINDS
from recorder.sources import SourceKind, detect, log_files, make_decoder, read_blocks, read_head, why_not_a_log
from recorder.sources.detect import HEAD_BYTES
from recorder.sources.redaction import Forgotten, ForgottenHandle, Redactor, hash_handle, silenced
from recorder.wire import LineReader

if TYPE_CHECKING:
    from recorder.live.secrets.logs import JournalCleaner
    from recorder.progress import Progress
    from storage import ArchiveStore, SourceRow


def kind_of(file: str) -> SourceKind | None:
    return detect(_head(file))


def write_clean(file: str, output: str, force: bool, kind: SourceKind | None) -> tuple[SourceKind, int]:
    """Write a log, decompressed, with filler of equal length for its secrets: return how many bytes are filler now."""
    head = _head(file)
    if (log_kind := kind or detect(head)) is None:
        raise SourceError(f"{file} {why_not_a_log(head, nameable=True)}.")
    replaced = 0
    read: list[bytes] = []  # and not compared yet

    def noted(blocks: Iterable[bytes]) -> Iterator[bytes]:
        for block in blocks:
            read.append(block)
            yield block

    with (
        open_output(output, force, log_files(Path(file)), private=True) as out,
        closing(read_blocks(file)) as blocks,
    ):
        for clean in scrubbed(noted(blocks), log_kind):
            replaced += _differing(read, clean)
            out.write(clean)
        if blocks.problem is not None:
            raise blocks.problem
    return log_kind, replaced


def write_clean_journal(file: str, output: str, force: bool) -> tuple[JournalCleaner, int]:
    """Write all parts as one, with filler for secrets; also return how many corrupt bytes were dropped."""
    from recorder.live.secrets.logs import JournalCleaner

    excluded: dict[str, int] = {}

    def values() -> Iterator[JournalHeader | Record]:
        for name, reader, entries in session_files(file):
            yield from (entry.value for entry in entries)
            lost = (*reader.damage, *([reader.torn] if reader.torn else []))
            excluded[name] = sum(damage.size_bytes for damage in lost)

    for _ in values():  # what is no journal is said before the copy is begun
        break
    with reading(file):
        paths = log_files(Path(file))
    cleaner = JournalCleaner(values)
    with open_output(output, force, paths, private=True) as out:
        for line in cleaner.lines():
            out.write(line)
    return cleaner, sum(excluded.values())


def _head(file: str) -> bytes:
    with closing(read_blocks(file, HEAD_BYTES)) as blocks:
        return read_head(blocks)[0]


def _differing(read: list[bytes], clean: bytes) -> int:
    """How many bytes differ from those that were read, which are taken away."""
    whole = b"".join(read)
    read[:] = [whole[len(clean) :]]
    first = whole[: len(clean)]
    return 0 if first == clean else sum(a != b for a, b in zip(first, clean, strict=True))


@dataclass(slots=True)
class ErasureReport:
    """What was taken out; ``games``, ``chats`` and ``texts`` as in ``storage.HandleReport``."""

    games: int = 0
    chats: int = 0
    texts: int = 0
    redacted: list[str] = field(default_factory=list)  # logs in whose kept bytes something was replaced
    dropped: list[str] = field(default_factory=list)  # logs not kept any more: the handle cannot be replaced


def forget_handles(
    archive: ArchiveStore, handles: Iterable[ForgottenHandle], progress: Progress, names: Iterable[str] = ()
) -> ErasureReport:
    """Take players out of the archive, in ``transaction``, and remember their hashes; ``names`` are those known."""
    wanted = list(handles)
    forgotten = Forgotten(wanted, names)
    report = archive.erasures.forget_handles(wanted, forgotten)
    erased = ErasureReport(report.games, report.chats, report.texts)
    for row in archive.sources():
        if row.kept_bytes:
            _redact(archive, row, forgotten, erased)
            progress(row.name, row.size_bytes, row.size_bytes)
    return erased


def erase_handles(
    archive: ArchiveStore, handles: Sequence[str], progress: Progress, *, dry_run: bool
) -> tuple[ErasureReport, list[Path]]:
    """Also return the files that still hold a handle; a dry run undoes all at the end, and returns none."""
    wanted = [hash_handle(handle) for handle in handles]
    before = Forgotten(archive.erasures.forgotten_handles())
    new = [entry for handle, entry in zip(handles, wanted, strict=True) if handle not in before]
    # The archive may not know afterwards where they are.
    left = [] if dry_run else files_with(archive, Forgotten(wanted, handles))
    with archive.transaction(undo=dry_run):
        earlier = [entry for entry in archive.erasures.forgotten_handles() if _names(entry, handles)]
        return forget_handles(archive, [*earlier, *new], progress, handles), left


def _names(entry: ForgottenHandle, handles: Iterable[str]) -> bool:
    return any(hash_handle(handle, entry[0]) == entry for handle in handles)


def clear_free_places(where: str, report: Callable[[str], object]) -> list[Path]:
    """Clear what was taken out from unused pages; return older archives beside the file, which may hold a handle."""
    path = archive_file(where)
    with open_archive(where, read_only=False) as archive:
        try:
            archive.vacuum()
        except StorageError as error:
            report(
                f"Erased text may remain in unused pages of {path}: {error} Repeat this when no program "
                f"uses the archive."
            )
    return sorted(
        file for word in ("before-rebuild", "before-upgrade") for file in path.parent.glob(f"{path.name}.{word}*")
    )


def _redact(archive: ArchiveStore, row: SourceRow, forgotten: Forgotten, erased: ErasureReport) -> None:
    kind = SourceKind(row.kind)
    changed = archive.erasures.redact_source(row.sha256, lambda blocks: Redactor(forgotten, kind).all(blocks))
    if holds(archive.read_source(row.sha256), kind, forgotten) if row.kept else changed:
        archive.erasures.drop_kept(row.sha256)
        erased.dropped.append(row.name)
    elif changed:
        erased.redacted.append(row.name)


def holds(blocks: Iterable[bytes], kind: SourceKind, forgotten: Forgotten) -> bool:
    """Whether a log's lines contain a handle, or chat of its player."""
    if kind in SAVED_KINDS:
        redactor = Redactor(forgotten, kind)
        return any(redactor.replaced for _ in redactor.all(blocks))
    decoder = make_decoder(kind)
    reader = LineReader()
    stream = iter(blocks)
    while True:
        block = next(stream, None)
        chunks = decoder.finish() if block is None else decoder.receive(block)
        for chunk in chunks:
            if isinstance(chunk, EngineLine):
                if forgotten.text(chunk.text) is not chunk.text:
                    return True
                continue
            lines = reader.receive(chunk) if not isinstance(chunk, Chunk) or chunk.data else reader.finish()
            if any(_shows(line.text, forgotten) for line in lines):
                return True
        if block is None:
            return any(_shows(line.text, forgotten) for line in reader.finish())


def _shows(text: str, forgotten: Forgotten) -> bool:
    return forgotten.text(text) is not text or silenced(text) is False


def files_with(archive: ArchiveStore, forgotten: Forgotten) -> list[Path]:
    """The logs and journals of the archive that are still where they were and hold a handle or are called by it."""
    files: list[Path] = []
    for row in archive.sources():
        if row.path is not None and (has_handle := _file_holds(row, forgotten)) is not None:
            files += [
                file for file in log_files(Path(row.path)) if has_handle or forgotten.name(str(file)) != str(file)
            ]
    return files


def _file_holds(row: SourceRow, forgotten: Forgotten) -> bool | None:
    path = None if row.path is None else Path(row.path)
    if path is None or not log_files(path)[0].exists():
        return None
    try:
        with closing(read_blocks(path)) as blocks:
            return holds(blocks, SourceKind(row.kind), forgotten)
    except (SourceError, JournalError, OSError):
        return None


def recall(archive: ArchiveStore, handle: str) -> bool:
    """Take a player off the list, and have logs that may contain the player read again; False: none was on it."""
    entries = [entry for entry in archive.erasures.forgotten_handles() if hash_handle(handle, entry[0]) == entry]
    for entry in entries:
        archive.erasures.recall_handle(entry)
    if entries:
        forgotten = Forgotten(entries)
        for row in archive.sources():
            if _file_holds(row, forgotten) is not False:
                archive.erasures.read_again(row.sha256)
    return bool(entries)
