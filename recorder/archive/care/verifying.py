"""``verify`` and ``db rebuild``: read sources again; compare games, counts and clocks, or make a new archive."""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from recorder.archive.pages.related import match_findings
from recorder.archive.reading.import_paths import CopiedSource
from recorder.archive.reading.importing import (
    Outcome,
    SourceReading,
    facts_of,
    forgotten_in,
    read_kept,
    store,
    whole_blocks,
)
from recorder.archive.reading.kept_bytes import reads_kept, source_blocks, source_timing
from recorder.archive.reading.reading_ahead import ReadParts, write_parts
from recorder.archive.reading.workers import Run, WorkerDiedError, Workers, in_order, jobs_for, running
from recorder.containment import contain, failures_sentence
from recorder.corrections import recorded
from recorder.errors import SourceError
from recorder.events import Chunk, CutLines, EngineLine
from recorder.journal.parts import session_parts
from recorder.ledger import Cause, ledger
from recorder.model import SAVED_KINDS, Disposition, Game, GameKind, ImportStatus
from recorder.movetext import move_number
from recorder.pipeline import PARSER_VERSION
from recorder.progress import of_several
from recorder.relating.bughouse import pair_bughouse
from recorder.relating.match import board_order
from recorder.sources import SourceKind, make_decoder
from recorder.sources.redaction import Forgotten
from recorder.text import plural
from recorder.wire.controls import TelnetFilter
from storage import EVERY_GAME, ArchiveStore, SourceRow, storage_errors

if TYPE_CHECKING:
    from recorder.ledger import LedgerEntry
    from recorder.model import Ply
    from recorder.progress import Progress
    from storage.write.analyses import AnalysisCounts

_Digest = dict[str, bytes]


_Place = tuple[int, int | None, str, str]


PartsByPlace = dict[_Place, list[_Digest]]  # both boards of a match without names can begin at one offset


class TagCounter:
    """Counts tags in the bytes that the server sent, without the code that reads lines."""

    def __init__(self, kind: SourceKind) -> None:
        self._decoder = None if kind in SAVED_KINDS else make_decoder(kind)
        self._telnet = TelnetFilter()
        self._counts = {"<12>": 0, "<b1>": 0}
        self._rest = b""

    def receive(self, block: bytes) -> None:
        if self._decoder is not None:
            self._count(self._decoder.receive(block))

    def finish(self) -> dict[str, int]:
        if self._decoder is not None:
            self._count(self._decoder.finish())
        return self._counts

    def _count(self, chunks: Sequence[Chunk | CutLines | EngineLine]) -> None:
        for chunk in chunks:
            if isinstance(chunk, EngineLine):
                continue
            if not chunk.data:
                self._rest = b""  # a gap: the bytes before it do not continue after it
                continue
            data = chunk.data
            if isinstance(chunk, Chunk):
                data = b"".join(piece for piece, _ in self._telnet.receive(data, chunk.offset))
            data = self._rest + data
            for tag in self._counts:
                self._counts[tag] += data.count(tag.encode())
            self._rest = data[-3:]  # a tag has four bytes, so none is counted twice


def compare_counts(
    tag: str, stored: Mapping[Disposition, int], reread: Mapping[Disposition, int], counted: int
) -> Iterable[str]:
    """Differences in the dispositions of ``<12>`` or ``<b1>``, which occurs ``counted`` times in the bytes."""
    if sum(stored.values()) != counted:
        yield f"{tag} occurs {counted:,} times in the decoded bytes; {sum(stored.values()):,} dispositions are stored."
    for kind in sorted({*stored, *reread}, key=lambda kind: kind.value):
        before, now = stored.get(kind, 0), reread.get(kind, 0)
        if before != now:
            yield f"{tag} {kind.value}: {before:,} stored, {now:,} read again."


def _place(game: Game) -> _Place:
    return game.first_offset, game.game_no, game.white.handle, game.black.handle


def note_games(by_place: PartsByPlace, games: Iterable[Game]) -> None:
    for game in games:
        by_place.setdefault(_place(game), []).append(game_parts(game))


_NO_HEADERS = frozenset(
    ("key", "observations", "segments", "links", "merged_from", "evidence", "analyses", "corrections", "found_opening")
)
"""Fields of a game that are no facts of its log; its opening follows from the moves and a table that may change."""


def game_parts(game: Game) -> dict[str, bytes]:
    """Hash each part of a game, so that a long log needs a few hundred bytes a game. The key is no part."""
    headers = [(name, getattr(game, name)) for name in game.__dataclass_fields__ if name not in _NO_HEADERS]
    views = game.observations
    parts: dict[str, object] = {
        "headers": headers,
        "segments": game.segments,
        "plies": [[tuple(ply) for ply in line.plies] for view in views for line in view.lines],
        "lines": [(line.number, line.kind, line.parent, line.parent_ply) for view in views for line in view.lines],
        "positions": [[tuple(anchor) for anchor in view.anchors] for view in views],
        # Without their numbers, because erasing a player's chat leaves gaps between them.
        "holdings": [[tuple(change)[1:] for change in view.holdings] for view in views],
        "events": [[tuple(event)[1:] for event in view.events] for view in views],
        "thinking": [[tuple(thought) for thought in view.thinking] for view in views],
    }
    return {name: hashlib.sha256(json.dumps(part, default=str).encode()).digest() for name, part in parts.items()}


def compare_games(stored: PartsByPlace, reread: PartsByPlace) -> Iterable[str]:
    for key in sorted({*stored, *reread}, key=lambda key: (key[0], key[2], key[3])):
        offset, number, white, black = key
        name = f"Game {number} {white} vs. {black} at {offset}"
        before = sorted(stored.get(key, ()), key=_sort_key)
        now = sorted(reread.get(key, ()), key=_sort_key)
        for kept, other in zip_longest(before, now):
            if other is None:
                yield f"{name} is stored, but not in the log."
            elif kept is None:
                yield f"{name} is in the log, but not stored."
            elif differing := [part for part, digest in other.items() if kept[part] != digest]:
                yield f"{name} differs in its {', '.join(differing)}."


def _sort_key(parts: _Digest) -> list[bytes]:
    return list(parts.values())


class UnexplainedClock(NamedTuple):
    """A move whose clock no line or board explains (docs/explanation/clocks-and-lag.md)."""

    game: str
    ply: int
    san: str
    white: bool
    before_ms: int | None  # None: the clock was seen only while it ran
    elapsed_ms: int | None
    increment_ms: int | None
    after_ms: int | None
    residual_ms: int  # after_ms - (before_ms - elapsed_ms + increment_ms)

    @classmethod
    def of(cls, game: Game, ply: Ply, entry: LedgerEntry) -> UnexplainedClock:
        assert entry.residual_ms is not None
        return cls(
            game.key, entry.ply, ply.san, entry.white, entry.before_ms, entry.elapsed_ms, entry.increment_ms,
            entry.after_ms, entry.residual_ms,
        )  # fmt: skip

    def __str__(self) -> str:
        side, more = ("White" if self.white else "Black"), ("more" if self.residual_ms > 0 else "less")
        move = f"{move_number(self.ply)} {self.san}"
        return (
            f"Game {self.game[:8]}, ply {self.ply} ({move}): {side}'s clock is {abs(self.residual_ms)} ms {more} than"
            " clock before - elapsed + increment; nothing explains it"
        )

    def to_json(self) -> dict[str, Any]:
        values = self._asdict()
        del values["white"]
        return {"game": values.pop("game"), "side": "white" if self.white else "black", **values}


@dataclass(slots=True)
class Audit:
    """What the audit of one source found.

    Attributes:
        read: whether its bytes could be read again.
        games, frames, holdings: compared games, and ``<12>`` and ``<b1>`` counted in the decoded bytes.
        findings: differences, one sentence each.
        unfinished: the source is still being written, or its writer was killed: games that can continue were not
            compared.
        clocks: moves of its played games by the cause that explains the mover's clock
            (docs/explanation/clocks-and-lag.md).
        clocks_not_known: moves of its played games without enough clocks to add up.
        unexplained: moves whose clock no line or board explains.
        unread: which part was not read because of an error in this program, one sentence; None: none.
        conflicts: contradictions between its games and other sources. They do not count as findings, because either
            source may be right.
    """

    id: str
    name: str
    read: bool = True
    games: int = 0
    frames: int = 0
    holdings: int = 0
    findings: list[str] = field(default_factory=list)
    unfinished: bool = False
    clocks: Counter[Cause] = field(default_factory=Counter)
    clocks_not_known: int = 0
    unexplained: list[UnexplainedClock] = field(default_factory=list)
    conflicts: list[str] = field(default_factory=list)
    unread: str | None = None

    def summary(self) -> str:
        """Say what was found.

        Returns:
            One phrase, without the log's name.
        """
        if not self.read and self.unread is not None:
            return "not audited, an error of this program"
        if not self.read:
            return "not audited: its bytes are not kept, and the file is gone or has changed"
        verdict = plural(len(self.findings), "difference") if self.findings else "agrees"
        if self.unfinished:
            final = plural(self.games, "game that is final", "games that are final")
            return f"{verdict} in {final}; it is being written, or was left so"
        boards = f", {plural(self.frames, 'board')}" if self.frames else ""
        holdings = f", {plural(self.holdings, 'line')} of holdings" if self.holdings else ""
        return f"{verdict}; {plural(self.games, 'game')}{boards}{holdings}"

    def to_json(self) -> dict[str, Any]:
        """Convert the audit to JSON values.

        Returns:
            The object that ``verify --json`` prints for a log.
        """
        return {
            "id": self.id,
            "name": self.name,
            "read": self.read,
            "games": self.games,
            "frames": self.frames,
            "holdings": self.holdings,
            "findings": self.findings,
            "clocks": {cause.value: self.clocks[cause] for cause in Cause},
            "clocks_not_known": self.clocks_not_known,
            "unexplained_clocks": [clock.to_json() for clock in self.unexplained],
            "conflicts": self.conflicts,
            "being_written": self.unfinished,
            "unread": self.unread,
        }


@dataclass(slots=True, repr=False)
class VerifyReport:
    """What comparing an archive with its sources found.

    Attributes:
        audits: what was found in each source.
        stale: keys of merged games that differ from what their sources give now.
        analyses: the analyses of the archive; None: only some sources were verified.
    """

    audits: list[Audit]
    stale: list[str]
    analyses: AnalysisCounts | None

    def __repr__(self) -> str:
        count = len(self.audits)
        return f"Verification of {plural(count, 'log')} · {self.read:,} read again · {plural(self.findings, 'finding')}"

    @property
    def findings(self) -> int:
        """How many differences were found; 0: the archive agrees with every log that could be read."""
        wrong = 0 if self.analyses is None else len(self.analyses.wrong)
        return sum(len(audit.findings) for audit in self.audits) + len(self.stale) + wrong

    @property
    def read(self) -> int:
        """How many logs could be read again."""
        return sum(audit.read for audit in self.audits)

    @property
    def failures(self) -> list[str]:
        """One sentence for each log that was not read completely because of an error in this program."""
        return [audit.unread for audit in self.audits if audit.unread is not None]


def verify_archive(
    archive: ArchiveStore, source_ids: Sequence[str], progress: Progress, *, jobs: int | None = None
) -> VerifyReport:
    with archive.watch_changes() as changed, archive.snapshot():  # a source that is being written changes its id
        rows = [archive.source(source_id) for source_id in source_ids] if source_ids else archive.sources()
        with running([row.size_bytes for row in rows], jobs) as run:
            audits = _audit_all(archive, rows, progress, run, changed)
        stale = archive.stale_games() if not source_ids and any(audit.read for audit in audits) else []
        return VerifyReport(audits, stale, None if source_ids else archive.analyses.count())


def _audit_all(
    archive: ArchiveStore, rows: list[SourceRow], progress: Progress, run: Run, changed: Callable[[], bool]
) -> list[Audit]:
    """Each source has a connection of its own; once the archive has ``changed``, the snapshot is read instead."""
    tasks = [(archive.path, row, number, len(rows)) for number, row in enumerate(rows, 1)]
    audits: list[Audit] = []
    for number, (row, done) in enumerate(zip(rows, run(_audit_apart, tasks, progress), strict=True), 1):
        try:
            result = None if changed() else done()
            audit = None if changed() else result
        except WorkerDiedError as error:
            audit = Audit(row.id, row.name, read=False)
            audit.unread = f"{row.name}: the process that read it {error}. Verify it again."
        audits.append(audit or audit_source(archive, row, of_several(progress, number, len(rows))))
    return audits


def _audit_apart(task: tuple[Path, SourceRow, int, int], progress: Progress) -> Audit:
    path, row, number, count = task
    with ArchiveStore.open(str(path), read_only=True) as archive, archive.snapshot():
        return audit_source(archive, row, of_several(progress, number, count))


def audit_source(archive: ArchiveStore, row: SourceRow, progress: Progress) -> Audit:
    try:
        with storage_errors(archive.path):
            return _audit(archive, row, progress)
    except Exception as error:  # the other sources are still verified
        unread = f"{row.name}: an error of this program, please report it: {contain(error)}"
        return Audit(row.id, row.name, read=False, unread=unread)


def _audit(archive: ArchiveStore, row: SourceRow, progress: Progress) -> Audit:
    audit = Audit(row.id, row.name)
    reading = _open(archive, row, forgotten_in(archive), progress)
    if isinstance(reading, Unread):
        audit.read = False
        return audit
    counter = TagCounter(SourceKind(row.kind))
    reread: PartsByPlace = {}
    for clean, games, _ in reading:
        counter.receive(clean)
        note_games(reread, games)
    unfinished, report = row.unfinished is not None, reading.found.report
    audit.unread = failures_sentence(report, row.name)
    if unfinished:
        reread = {place: parts for place, parts in reread.items() if place[0] < row.read_up_to}
    audit.games, audit.unfinished = sum(map(len, reread.values())), unfinished
    if row.lacks_player:
        audit.findings.append("A player who is excluded from it is no longer erased: import it again.")
    elif row.parser_version != PARSER_VERSION:
        audit.findings.append(
            f"Parser version {row.parser_version} read it, this is {PARSER_VERSION}: import it again to renew it."
        )
    counted = counter.finish()
    audit.frames, audit.holdings = counted["<12>"], counted["<b1>"]
    if not unfinished:
        stored = archive.report(row.id)
        for tag, dispositions, again in (
            ("<12>", stored.frames, report.frames),
            ("<b1>", stored.holdings, report.holdings),
        ):
            audit.findings += compare_counts(tag, dispositions, again, counted[tag])
    kept: PartsByPlace = {}
    everything = replace(EVERY_GAME, source=row.sha256, per_source=True)
    bughouse: list[Game] = []
    for game in archive.games(everything):
        if game.variant == "bughouse":
            bughouse.append(game)
        if game.kind is GameKind.PLAYED:
            _add_clocks(audit, game)
        if not unfinished or game.first_offset < row.read_up_to:
            note_games(kept, [recorded(game)])
    audit.findings += compare_games(kept, reread)
    audit.findings += _compare_boards(bughouse)
    audit.conflicts = [f"Game {key[:8]}, sources differ: {text}" for key, text in archive.conflicts(row.sha256)]
    return audit


def _add_clocks(audit: Audit, game: Game) -> None:
    entries = ledger(game)
    causes = [entry.cause for entry in entries if entry.cause is not None]
    audit.clocks.update(causes)
    audit.clocks_not_known += len(entries) - len(causes)
    if Cause.UNEXPLAINED in causes:
        audit.unexplained += [
            UnexplainedClock.of(game, ply, entry)
            for ply, entry in zip(game.plies, entries, strict=True)
            if entry.cause is Cause.UNEXPLAINED
        ]


def _compare_boards(games: list[Game]) -> Iterable[str]:
    """Contradictions between the two boards of each match of a log."""
    by_key = {game.key: game for game in games}
    for key, other, _ in pair_bughouse(games):
        for finding in match_findings(board_order(by_key[key], by_key[other])):
            yield f"Bughouse match of {key[:8]} and {other[:8]}: {finding}"


_EVERYTHING = replace(EVERY_GAME, per_source=True)


class Unread(NamedTuple):
    """A source that could not be read again; ``why`` is one clause."""

    row: SourceRow
    why: str
    is_there: bool  # an error of this program ended the reading


@dataclass(slots=True)
class RebuildChanges:
    games: int = 0
    added: list[Game] = field(default_factory=list)
    gone: list[Game] = field(default_factory=list)
    differing: list[tuple[Game, list[str]]] = field(default_factory=list)  # with the parts that differ
    analyses: AnalysisCounts | None = None


def read_again(
    old: ArchiveStore, new: ArchiveStore, progress: Progress, *, carry_over: bool = False, jobs: int | None = None
) -> tuple[list[Unread], list[str]]:
    """Read all into an empty archive; return what cannot be read, and a sentence about each broken source."""
    missing: list[Unread] = []
    unread: list[str] = []
    wanted = old.successors() if carry_over else {}
    rows = old.sources()
    for row, result in zip(rows, _read_all(old, new, rows, progress, jobs), strict=True):
        if isinstance(result, Unread):
            missing.append(result)
            if carry_over:
                facts, copied = facts_of(row, old.source_timing(row.id)), CopiedSource(old, row, wanted)
                store(new, facts, copied, Outcome(row.name, ImportStatus.NEW), keep=row.kept or None)
        elif result is not None:
            unread.append(result)
    if carry_over or not missing:
        new.order_equal_keys(old)
        new.duplicates.take_over_decisions(old.duplicates)
        new.corrections.take_over(old.corrections)
        new.analyses.take_over(old.analyses, homeless=True)
    return missing, unread


def _read_all(
    old: ArchiveStore, new: ArchiveStore, rows: list[SourceRow], progress: Progress, jobs: int | None
) -> Iterator[Unread | str | None]:
    forgotten, count = forgotten_in(new), len(rows)
    sizes = [row.size_bytes for row in rows]
    processes = jobs_for(sizes, jobs)
    if processes < 2:
        for number, row in enumerate(rows, 1):
            yield _store(old, new, row, _open(old, row, forgotten, of_several(progress, number, count)))
        return
    with tempfile.TemporaryDirectory(prefix="ics-recorder-rebuild-") as folder, Workers(processes) as workers:
        read = partial(_read_apart, old.path, forgotten, Path(folder), count)
        for row, done in zip(rows, in_order(workers, read, enumerate(rows, 1), progress), strict=True):
            try:
                yield _store(old, new, row, done())
            except WorkerDiedError as error:
                yield Unread(row, f"is not read, since the process that read it {error}", True)


def _read_apart(
    where: Path, forgotten: Forgotten, folder: Path, count: int, task: tuple[int, SourceRow], progress: Progress
) -> SourceReading | Unread:
    number, row = task
    with ArchiveStore.open(str(where), read_only=True) as old:
        reading = _open(old, row, forgotten, of_several(progress, number, count))
        if isinstance(reading, Unread):
            return reading
        path = folder / f"{number}.parts"
        try:
            return ReadParts(path, write_parts(path, reading, keep=row.kept_bytes > 0))
        except Exception as error:  # the other sources are still read
            return _broken(row, error)


def _open(old: ArchiveStore, row: SourceRow, forgotten: Forgotten, progress: Progress) -> SourceReading | Unread:
    blocks = source_blocks(old, row)
    try:
        timing = source_timing(old, row)
    except SourceError:
        blocks = timing = None
    if blocks is None:
        return Unread(row, _why_unreadable(row), False)
    # No further than then: bytes that a journal got since wait for its next import.
    return read_kept(row, whole_blocks(blocks, row.name, row.size_bytes, progress), timing, forgotten)


def _store(
    old: ArchiveStore, new: ArchiveStore, row: SourceRow, reading: SourceReading | Unread
) -> Unread | str | None:
    """Return that the source could not be read, a sentence about errors of this program, or None."""
    if isinstance(reading, Unread):
        return reading
    try:
        # Who is not in what is kept is still to be read.
        version = row.parser_version if row.lacks_player and reads_kept(row) else PARSER_VERSION
        facts = facts_of(row, source_timing(old, row), parser_version=version)
        found = store(new, facts, reading, Outcome(row.name, ImportStatus.NEW), keep=row.kept_bytes > 0)
    except Exception as error:  # as above
        return _broken(row, error)
    return failures_sentence(found.report, row.name)


def _broken(row: SourceRow, error: Exception) -> Unread:
    """Return that an error of this program ended the reading of a source, or raise any other error."""
    return Unread(row, f"is not read because of an error of this program, please report it: {contain(error)}", True)


def _why_unreadable(row: SourceRow) -> str:
    if row.path is None:
        return "is not kept in the archive, nor is its place known"
    path = Path(row.path)
    if row.kind == SourceKind.JOURNAL.value and path.parent.is_dir():
        there = session_parts(path)
        lost = [str(number) for number in range(1, max(there, default=0)) if number not in there]
        if lost:
            parts = plural(len(lost), "part")
            return f"is a journal of which {parts} ({', '.join(lost)}) {'is' if len(lost) == 1 else 'are'} gone"
    return "is not kept in the archive, and gone or changed"


def compare(old: ArchiveStore, new: ArchiveStore) -> RebuildChanges:
    before = {game.key: _digest(game) for game in old.games(_EVERYTHING)}
    changes = RebuildChanges()
    for game in new.games(_EVERYTHING):
        changes.games += 1
        digest = before.pop(game.key, None)
        if digest is None:
            changes.added.append(game)
        elif digest != _digest(game):
            theirs, ours = game_parts(old.game(game.key)), game_parts(game)
            changes.differing.append((game, [name for name in ours if ours[name] != theirs[name]]))
    changes.gone = [old.game(key) for key in before]
    changes.analyses = new.analyses.count()
    return changes


def _digest(game: Game) -> bytes:
    return hashlib.sha256(b"".join(game_parts(game).values())).digest()[:16]
