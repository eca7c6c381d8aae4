"""The bytes of logs: those that an archive keeps or a file still has, and all files of a journal."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from functools import cache, partial
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, NamedTuple

from recorder.dialects.style12 import FRAME_TAG
from recorder.errors import JournalError, RecorderError, SourceError, StorageError
from recorder.events import Chunk, CutLines, Line
from recorder.journal import (
    Damage,
    JournalEntry,
    JournalReader,
    NewerJournalError,
    Survey,
    find_part,
    part_blocks,
)
from recorder.journal.format import MAX_LINE_BYTES
from recorder.live.secrets.logs import scrubbed
from recorder.model import SAVED_KINDS, Game
from recorder.sources import SourceKind, find_logs, find_timing, is_journal, log_files, path_kind, read_blocks
from recorder.sources.journal import JournalDecoder
from recorder.wire.lines import LineReader

if TYPE_CHECKING:
    from recorder.replay.boards import Lines
    from recorder.sources import BlockReader
    from storage import ArchiveStore, SourceRow


_LONGEST_LINE = 1 << 16


def short_names(rows: Iterable[SourceRow]) -> dict[str, str]:
    """Name each source, by its id, with as many of its folders as distinguish it, and else with its id."""
    parts = {row.id: PurePath(row.path).parts if row.path else (row.name,) for row in rows}
    names = {row_id: "/".join(of[-1:]) for row_id, of in parts.items()}
    for depth in range(2, max(map(len, parts.values()), default=0) + 1):
        counts = Counter(names.values())
        names = {
            row_id: str(PurePath(*parts[row_id][-depth:])) if counts[name] > 1 else name
            for row_id, name in names.items()
        }
    counts = Counter(names.values())
    return {row_id: f"{name} ({row_id})" if counts[name] > 1 else name for row_id, name in names.items()}


def source_blocks(archive: ArchiveStore, row: SourceRow, offset: int = 0) -> Iterator[bytes] | None:
    """Decompressed, secrets replaced; None: they are not kept, and the file is gone or no longer the same."""
    if reads_kept(row):
        return archive.read_source(row.id, offset)
    path = file_of(row)
    if path is None:
        return None
    return _from(scrubbed(_file_blocks(path, row.size_bytes), SourceKind(row.kind)), offset)


def reads_kept(row: SourceRow) -> bool:
    """Whether a source is read from the archive: all is kept, and its file has no player that the kept bytes lack."""
    return row.kept and (not row.lacks_player or file_of(row) is None)


def source_timing(archive: ArchiveStore, row: SourceRow) -> bytes | None:
    """The timing file a source was read with; SourceError: it is not kept, and is gone or has changed."""
    wanted = row.options.get("timing_sha256")
    if wanted is None:
        return None
    timing = archive.source_timing(row.id)
    if timing is None and row.path is not None:
        beside = find_timing(Path(row.path))
        timing = None if beside is None else beside.read_bytes()
    if timing is None or hashlib.sha256(timing).hexdigest() != wanted:
        raise SourceError(f"{row.name}: the timing file it was read with is gone or has changed")
    return timing


def file_of(row: SourceRow) -> Path | None:
    """The file that a source was read from, read again: None unless it begins with those bytes (it may have grown)."""
    if row.path is None:
        return None
    try:
        sha256, _ = hash_at(_file_blocks(Path(row.path), row.size_bytes))
    except (SourceError, OSError):
        return None
    return Path(row.path) if sha256 == row.sha256 else None


def hash_at(blocks: Iterable[bytes], marks: Iterable[int] = ()) -> tuple[str, dict[int, str]]:
    """The hash of all bytes, and of those up to each mark that is not behind the end."""
    running, size = hashlib.sha256(), 0
    hashes: dict[int, str] = {}
    wanted = sorted(mark for mark in set(marks) if mark > 0)
    for block in blocks:
        start = 0
        while wanted and wanted[0] <= size + len(block):
            mark = wanted.pop(0)
            running.update(block[start : mark - size])
            start = mark - size
            hashes[mark] = running.hexdigest()
        running.update(block[start:])
        size += len(block)
    return running.hexdigest(), hashes


def _file_blocks(path: Path, end: int) -> Iterator[bytes]:
    done = 0
    with closing(read_blocks(path)) as blocks:
        for block in blocks:
            yield block[: end - done]
            done += len(block)
            if done >= end:
                return


def _from(blocks: Iterable[bytes], offset: int) -> Iterator[bytes]:
    done = 0
    for block in blocks:
        yield block[max(offset - done, 0) :]
        done += len(block)


def lines_at(blocks: Iterable[bytes], start: int, offsets: Sequence[int]) -> Iterator[tuple[int, bytes]]:
    """Physical lines that begin at these ascending offsets, without their ends; 64 KiB of a longer one."""
    wanted = iter(offsets)
    offset = next(wanted, None)
    buffer = b""
    stream = iter(blocks)
    ended = False
    while offset is not None:
        skip = offset - start
        if skip > 0:
            cut = min(skip, len(buffer))
            buffer, start = buffer[cut:], start + cut
        at_line = start == offset
        end = min((index for mark in (b"\n", b"\r") if (index := buffer.find(mark)) >= 0), default=-1)
        if at_line and (end >= 0 or ended or len(buffer) >= _LONGEST_LINE):
            yield offset, buffer[: end if end >= 0 else _LONGEST_LINE]
            offset = next(wanted, None)
        elif ended:
            return
        else:
            block = next(stream, None)
            if block is None:
                ended = True
            else:
                buffer += block


class GameLine(NamedTuple):
    """A line of a log about a game, each byte as a letter."""

    offset: int
    ply: int | None  # the half-move that it shows, or the last one before it; None: of the game as a whole
    text: str


def lines_of_game(archive: ArchiveStore, row: SourceRow, game: Game) -> Iterator[GameLine]:
    """The lines from which a game was read, in the order of the log."""
    plies: dict[int, int | None] = {game.first_offset: None}
    for observation in game.observations:
        plies |= dict.fromkeys([observation.offset, *([observation.start.offset] if observation.start else [])])
        plies |= {anchor.offset: anchor.ply for anchor in observation.anchors}
        plies |= {change.offset: change.ply for change in observation.holdings}
        plies |= {event.offset: event.ply for event in observation.events}
        plies |= {thought.offset: thought.ply for thought in observation.thinking}
        plies |= {ply.offset: ply.ply for line in observation.lines for ply in line.plies}
    first = min(plies)
    blocks = source_blocks(archive, row, first)
    if blocks is None:
        raise StorageError(
            f"The lines are not available: {row.name} is not kept, and its file is missing or has changed."
        )
    for offset, line in lines_at(blocks, first, sorted(plies)):
        yield GameLine(offset, plies[offset], line.decode("latin-1"))


def find_journals(file: str) -> Iterator[tuple[str, Path]]:
    """The journals that an argument names, each with the first file of its session."""
    if file == "-" or path_kind(file) != "folder":
        with reading(file):
            yield file, Path(file) if file == "-" else log_files(Path(file))[0]
        return
    journals = [path for path in find_logs([file]) if is_journal(path)]
    if not journals:
        raise SourceError(f"{file}: the folder contains no journal.")
    yield from ((str(path), path) for path in journals)


def session_files(file: str) -> Iterator[tuple[str, JournalReader, Iterator[JournalEntry]]]:
    """Yield each file of a journal's session: its name, its reader and its entries, which must be read in turn."""
    if file != "-" and path_kind(file) == "folder":
        raise SourceError(f"{file} is a folder: name one of the journals in it.")
    with reading(file):
        paths = [Path("-")] if file == "-" else log_files(Path(file))
    has_entries = False

    def entries(reader: JournalReader, path: Path) -> Iterator[JournalEntry]:
        nonlocal has_entries
        stream = read_blocks("-") if str(path) == "-" else None
        try:
            with reading(str(path)):
                for entry in reader.read(part_blocks(find_part(path)) if stream is None else stream):
                    has_entries = True
                    yield entry
            if stream is not None and stream.problem is not None:
                raise JournalError(str(stream.problem))
        except NewerJournalError:
            raise
        except JournalError as error:  # what follows cannot be decompressed
            has_entries = True
            yield from reader.finish()
            why = str(error).rpartition(": ")[2]
            reader.damage.append(Damage(reader.size_bytes, 0, f"what follows cannot be decompressed: {why}"))

    for path in paths:
        reader = JournalReader()
        yield str(path), reader, entries(reader, path)
    if not has_entries and not (is_journal(Path(file)) and all(path.stat().st_size == 0 for path in paths)):
        raise JournalError(f"{file} is no journal.")


def survey_session(file: str) -> tuple[Survey, list[str]]:
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
    """Failures to read a file are a ``SourceError``."""
    try:
        yield
    except OSError as error:
        raise SourceError(f"{file}: cannot be read: {error.strerror or error}") from error


class RecordedLines:
    """Finds the ``<12>`` lines of games in their logs. How a log is read is looked up once."""

    def __init__(self, log: Callable[[str], Log | None]) -> None:
        self._log = cache(log)

    def of(self, game: Game) -> Lines:
        """A game's lines by log and offset, as far as they are there."""
        texts: dict[tuple[str, int], str] = {}
        for sha256, offsets in _offsets(game).items():
            try:
                log = self._log(sha256)
                if log is not None:
                    texts |= {(sha256, offset): text for offset, text in _frames(log, offsets)}
            except RecorderError:  # removed during the replay: its boards are formatted from the game
                continue
        return texts


class Log(NamedTuple):
    kind: SourceKind
    read: Callable[[int], Generator[bytes, None, None] | BlockReader]


def log_in_archive(archive: ArchiveStore, sha256: str) -> Log | None:
    """A log that the archive keeps, or whose file is still what was imported; None: neither."""
    row = archive.source(sha256)
    kind = SourceKind(row.kind)
    if kind in SAVED_KINDS:
        return None
    if row.kept:
        return Log(kind, partial(archive.read_source, sha256))
    path = file_of(row)
    return None if path is None else log_in_file(path, kind)


def log_in_file(path: Path, kind: SourceKind) -> Log | None:
    """A log that is a file; None: it holds saved games."""
    return None if kind in SAVED_KINDS else Log(kind, lambda offset: read_blocks(path, offset=offset))


def _offsets(game: Game) -> Mapping[str, list[int]]:
    """Where lines of the game's boards may be, by log; ascending."""
    from recorder.replay.boards import SHOWN_WITH  # loads the rules

    by_log: dict[str, set[int]] = {}
    for observation in game.observations:
        mine = by_log.setdefault(observation.source.sha256 if observation.source else "", set())
        mine |= {ply.offset for line in observation.lines for ply in line.plies}
        mine |= {event.offset for event in observation.events if event.kind in SHOWN_WITH}
        mine |= {observation.start.offset} if observation.start else set()
    return {log: sorted(offsets) for log, offsets in by_log.items() if offsets}


def _frames(log: Log, offsets: list[int]) -> Iterator[tuple[int, str]]:
    journal = log.kind is SourceKind.JOURNAL
    begin = max(offsets[0] - MAX_LINE_BYTES, 0) if journal else offsets[0]
    wanted = set(offsets)
    with closing(log.read(begin)) as blocks:
        for line in _journal_lines(blocks, begin, offsets[-1]) if journal else _log_lines(blocks, offsets):
            begin = line.text.find(FRAME_TAG)  # behind prompts
            if line.offset in wanted and begin >= 0:
                yield line.offset, line.text[begin:]


def _log_lines(blocks: Iterable[bytes], offsets: list[int]) -> Iterator[Line]:
    """The lines at some places alone: one that goes on in a second line is cut."""
    for offset, line in lines_at(blocks, offsets[0], offsets):
        yield from LineReader().receive(Chunk(line + b"\n\n", offset, None))


def _journal_lines(blocks: Iterable[bytes], begin: int, last: int) -> Iterator[Line]:
    """All lines from the first whole record up to ``last``, joined from the pieces in which they came."""
    decoder, lines = JournalDecoder(), LineReader()
    skips = begin > 0  # the rest of a record
    for block in blocks:
        if skips:
            end = block.find(b"\n") + 1
            begin += end or len(block)
            block, skips = block[end or len(block) :], not end
        for chunk in decoder.receive(block):
            if isinstance(chunk, CutLines):
                whole = lines.receive(chunk.moved(begin))
            elif chunk.data:
                whole = lines.receive(chunk._replace(offset=chunk.offset + begin))
            else:  # nothing goes on behind this place
                whole = lines.finish()
            yield from whole
            if whole and whole[-1].offset > last:
                return
    yield from lines.finish()
