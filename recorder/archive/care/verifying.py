"""``verify``: read sources again and compare their games, counts and clocks with the archive."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from recorder.archive.care.comparing import PartsByPlace, TagCounter, compare_counts, compare_games, note_games
from recorder.archive.pages.related import match_findings
from recorder.archive.reading.importing import read_kept
from recorder.archive.reading.inputs import forgotten_in
from recorder.archive.reading.kept_bytes import source_blocks, source_timing
from recorder.archive.reading.workers import Channel, WorkerDiedError, Workers, in_order, jobs_for
from recorder.containment import contain, failures_sentence
from recorder.errors import SourceError
from recorder.ledger import Cause, ledger
from recorder.model import Game, GameKind
from recorder.pipeline import PARSER_VERSION
from recorder.progress import of_several
from recorder.relating.bughouse import pair_bughouse
from recorder.relating.match import board_order
from recorder.sources import SourceKind
from recorder.text import plural
from storage import ArchiveStore, GameFilter, storage_errors

if TYPE_CHECKING:
    from pathlib import Path

    from recorder.ledger import LedgerEntry
    from recorder.model import Ply
    from recorder.progress import Progress
    from storage import SourceRow
    from storage.write.analyses import AnalysisCounts


class UnexplainedClock(NamedTuple):
    """A move whose clock no line or board explains (docs/explanation/clocks-and-lag.md).

    ``residual_ms`` is ``after_ms - (before_ms - elapsed_ms + increment_ms)``. ``before_ms`` is None where the clock was
    seen only while it ran.
    """

    game: str
    ply: int
    san: str
    white: bool
    before_ms: int | None
    elapsed_ms: int | None
    increment_ms: int | None
    after_ms: int | None
    residual_ms: int

    @classmethod
    def of(cls, game: Game, ply: Ply, entry: LedgerEntry) -> UnexplainedClock:
        """The ply of a game whose entry has the cause ``UNEXPLAINED``."""
        assert entry.residual_ms is not None
        return cls(
            game.key, entry.ply, ply.san, entry.white, entry.before_ms, entry.elapsed_ms, entry.increment_ms,
            entry.after_ms, entry.residual_ms,
        )  # fmt: skip

    def __str__(self) -> str:
        side, more = ("White" if self.white else "Black"), ("more" if self.residual_ms > 0 else "less")
        move = f"{(self.ply + 1) // 2}.{'' if self.white else '..'} {self.san}"
        return (
            f"Game {self.game[:8]}, ply {self.ply} ({move}): {side}'s clock is {abs(self.residual_ms)} ms {more} than"
            " clock before - elapsed + increment; nothing explains it"
        )

    def to_json(self) -> dict[str, Any]:
        """All of it as JSON values."""
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
        return f"{verdict}; {plural(self.games, 'game')}, {self.frames:,} <12>, {self.holdings:,} <b1>"

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
            "unexplained_clocks": [one.to_json() for one in self.unexplained],
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
    """Read sources again and compare them with the archive.

    Args:
        archive: where they are.
        source_ids: which ones, by the beginnings of their ids; none: all.
        progress: called after each block.
        jobs: how many processes read sources; None: one for each core. The result is the same.
    Raises:
        StorageError: the archive cannot be read, or has no such source.
    """
    with archive.watch_changes() as changed, archive.snapshot():  # a source that is being written changes its id
        rows = [archive.source(one) for one in source_ids] if source_ids else archive.sources()
        processes = jobs_for([row.size_bytes for row in rows], jobs)
        if processes > 1:
            with Workers(processes) as workers:
                audits = _audit_in_processes(archive, rows, progress, workers, changed)
        else:
            audits = [
                audit_source(archive, row, of_several(progress, number, len(rows)))
                for number, row in enumerate(rows, 1)
            ]
        stale = archive.stale_games() if not source_ids and any(audit.read for audit in audits) else []
        return VerifyReport(audits, stale, None if source_ids else archive.analyses.count())


def _audit_in_processes(
    archive: ArchiveStore,
    rows: list[SourceRow],
    progress: Progress,
    workers: Workers,
    changed: Callable[[], bool],
) -> list[Audit]:
    """Audit sources in other processes, which see the archive as it is in this snapshot.

    Args:
        changed: whether another program has written since the snapshot began: then what the other processes found may
            be of later, and the sources that follow are audited here.
    """
    tasks = [(archive.path, row, number, len(rows)) for number, row in enumerate(rows, 1)]
    audits: list[Audit] = []
    done = in_order(workers, _audit_apart, tasks, progress)
    for number, (row, future) in enumerate(zip(rows, done, strict=True), 1):
        try:
            audit = None if changed() else future.result()
        except WorkerDiedError as error:
            audit = Audit(row.id, row.name, read=False)
            audit.unread = f"{row.name}: the process that read it {error}. Verify it again."
        audits.append(audit or audit_source(archive, row, of_several(progress, number, len(rows))))
    return audits


def _audit_apart(task: tuple[Path, SourceRow, int, int], channel: Channel) -> Audit:
    """Audit one source in a process of its own."""
    path, row, number, count = task
    with ArchiveStore.open(str(path), read_only=True) as archive, archive.snapshot():
        return audit_source(archive, row, of_several(channel.progress, number, count))


def audit_source(archive: ArchiveStore, row: SourceRow, progress: Progress) -> Audit:
    """Read one source again, count and compare.

    Raises:
        StorageError: the archive cannot be read.
    """
    try:
        with storage_errors(archive.path):
            return _audit(archive, row, progress)
    except Exception as error:
        unread = f"{row.name}: an error of this program, please report it: {contain(error)}"
        return Audit(row.id, row.name, read=False, unread=unread)


def _audit(archive: ArchiveStore, row: SourceRow, progress: Progress) -> Audit:
    audit = Audit(row.id, row.name)
    blocks = source_blocks(archive, row)
    try:
        timing = source_timing(archive, row)
    except SourceError:
        blocks = timing = None
    if blocks is None:
        audit.read = False
        return audit
    reading = read_kept(row, blocks, timing, forgotten_in(archive))
    counter = TagCounter(SourceKind(row.kind))
    found: PartsByPlace = {}
    done = 0
    for clean, games, _ in reading:
        counter.receive(clean)
        note_games(found, games)
        done += len(clean)
        progress(row.name, done, row.size_bytes)
    unfinished, report = row.unfinished is not None, reading.found.report
    audit.unread = failures_sentence(report, row.name)
    if unfinished:
        found = {place: parts for place, parts in found.items() if place[0] < row.read_up_to}
    audit.games, audit.unfinished = sum(map(len, found.values())), unfinished
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
    everything = GameFilter(source=row.sha256, kinds=frozenset(), min_plies=0, per_source=True)
    bughouse: list[Game] = []
    for game in archive.games(everything):
        if not unfinished or game.first_offset < row.read_up_to:
            note_games(kept, [game])
        if game.variant == "bughouse":
            bughouse.append(game)
        if game.kind is GameKind.PLAYED:
            _add_clocks(audit, game)
    audit.findings += compare_games(kept, found)
    audit.findings += _compare_boards(bughouse)
    audit.conflicts = [f"Game {key[:8]}, sources differ: {text}" for key, text in archive.conflicts(row.sha256)]
    return audit


def _add_clocks(audit: Audit, game: Game) -> None:
    """Count the causes of the differences of a game's clocks, and keep the moves without a cause."""
    entries = ledger(game)
    known = [entry.cause for entry in entries if entry.cause is not None]
    audit.clocks.update(known)
    audit.clocks_not_known += len(entries) - len(known)
    if Cause.UNEXPLAINED in known:
        audit.unexplained += [
            UnexplainedClock.of(game, ply, entry)
            for ply, entry in zip(game.plies, entries, strict=True)
            if entry.cause is Cause.UNEXPLAINED
        ]


def _compare_boards(games: list[Game]) -> Iterable[str]:
    """Contradictions between the two boards of each match of a log."""
    by_key = {game.key: game for game in games}
    for one, other, _ in pair_bughouse(games):
        for finding in match_findings(board_order(by_key[one], by_key[other])):
            yield f"Bughouse match of {one[:8]} and {other[:8]}: {finding}"
