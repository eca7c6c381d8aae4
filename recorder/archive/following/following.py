"""Keeping an archive up to date with one log or journal that is being written.

The strategy: what is new is read once, by a pipeline that stays, and committed at once: games that are over as an
import stores them, games that go on as they stand (``storage.write.in_progress``). Now and then, and at the end, the
source's row records how far that was (``settle``). After any error all of it is dropped and read again from that
row, as a growing log is imported: what the archive holds at last is what one import of the whole log gives.
"""

from __future__ import annotations

import hashlib
import secrets
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Final

from recorder.archive.following.outlets import OVER, Outlet
from recorder.archive.following.tail import BLOCK, State, Tail, open_tail, state_of
from recorder.archive.following.watchdog import Unwatched
from recorder.archive.locate import open_archive
from recorder.archive.reading.importing import STORED, Found, Import, LogReading, NothingYetError, Part, Plan
from recorder.archive.reading.inputs import Input, ReadOptions, timing_of
from recorder.containment import contain
from recorder.errors import ExportError, RecorderError, SourceError, StorageError
from recorder.live.secrets.logs import Scrubbing
from recorder.model import SAVED_KINDS
from recorder.sources import HEAD_BYTES, SourceKind, detect, is_journal, read_blocks
from recorder.sources.redaction import Forgotten, Redactor
from recorder.text import clean, plural
from storage.write.in_progress import OvertakenError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recorder.archive.following.event_lines import EventPipe
    from recorder.archive.following.finished_games import FinishedGames
    from recorder.model import Game
    from recorder.progress import Progress
    from storage.write.in_progress import SourceInProgress


_SETTLE_S: Final = 1.5
_TIMED_S: Final = 5.0
_AGAIN_S: Final = 2.0
"""How long to wait before what failed is tried again."""
_LONGEST_PAUSE_S: Final = 60.0
_OVERTAKEN: Final = 3
_OVERTAKEN_S: Final = 30.0
"""Who is overtaken so often within this has another beside it that does the same."""


_AT_ONCE: Final = 8 << 20
"""Only so much of a log is imported in one transaction: the rest comes in blocks, in flat memory."""


class FollowedLog:
    """A log that is being written, as far as it was read. First it is the ``SourceReading`` of an import.

    Args:
        plan: how it is read. progress: called after each block of the import.
    Attributes:
        found: as of a ``SourceReading``. pipeline, scrubbing: what reads it.
        size, running: of the bytes that the archive knows of, and their hash.
        unread: the bytes behind them: ``scrubbing`` waits for the end of their line.
        mark: is in the source's row until another process changes it.
        behind: there is more of it, not looked at yet.
        games: those that the import stored.
    Raises:
        SourceError: it has saved games, or, while it is read, it cannot be read.
        NothingYetError: while it is read: it has no whole line yet.
    """

    found: Found

    def __init__(self, plan: Plan, progress: Progress) -> None:
        name, kind, size = plan.source.name, plan.kind, plan.seen.size
        if kind in SAVED_KINDS:
            raise SourceError(
                f"{name} contains saved games, and only logs can be followed; import it when it has grown."
            )
        self.pipeline = plan.options.followed_pipeline(kind)
        self.scrubbing = Scrubbing(kind, redactor=Redactor(plan.options.forgotten or Forgotten(), kind))
        self.size = 0
        self.running = hashlib.sha256()
        self.unread = b""
        self.mark = secrets.token_hex(8)
        self.games: list[Game] = []
        self._plan = plan
        known = 0 if plan.before is None else plan.before.size_bytes
        self._end = size if kind is SourceKind.TYPESCRIPT else min(size, max(_AT_ONCE, known))
        self.behind = self._end < size
        self._blocks = LogReading(plan.source, progress, size=self._end) if self._end else ()

    def __iter__(self) -> Iterator[Part]:
        plan, name = self._plan, self._plan.source.name
        for block in self._blocks:
            clean = self.scrubbing.receive(block)
            games = self.pipeline.receive(clean)
            self.games += [game for game in games if game.first_offset >= plan.read_up_to]
            self.advance(block, len(clean))
            yield Part(clean, games)
        if self.size + len(self.unread) != self._end:
            raise SourceError(f"{name}: the file was truncated while being read; import it again")
        if not self.size:
            raise NothingYetError(f"{name} has no whole line yet")
        pipeline, bytes_read = self.pipeline, (self.running.hexdigest(), self.size)
        self.found = Found(pipeline.report, pipeline.read_up_to, pipeline.unredacted, self.mark, bytes_read)

    def advance(self, data: bytes, whole: int) -> None:
        """Bytes were read.

        Args:
            data: the next ones. whole: of all that are not in ``size`` yet, so many are in whole lines now.
        """
        self.unread += data
        self.running.update(self.unread[:whole])
        self.unread = self.unread[whole:]
        self.size += whole


class LogUpdater:
    """Brings an archive up to date with one log, as often as it is asked to. No method raises.

    Args:
        where: the archive, as ``--db`` names it; made if it is not there.
        path: of the log; any part of a journal's session.
        options: how it is read. keep: whether its bytes are kept in the archive; a journal's never are.
        outlets: get what was committed.
        named: the user named this log: if the archive forgets it, it comes back.
        watchdog: is called at each step of progress.
    Attributes:
        problem: why the archive is not up to date, one sentence, or None: the next ``look`` tries again.
        waiting: why there is nothing to read yet, or None. known: because the archive has all of it.
        replaced: why the last ``look`` came to the end of what is now another log, or None.
        games: how many are over; open: how many are not.
    """

    def __init__(
        self,
        where: str,
        path: Path,
        options: ReadOptions,
        *,
        keep: bool = True,
        outlets: tuple[Outlet, ...] = (),
        named: bool = True,
        watchdog: Unwatched | None = None,
    ) -> None:
        self.problem: str | None = None
        self.waiting: str | None = None
        self.known = False
        self.replaced: str | None = None
        self.games = 0
        self._where = where
        self._path = path
        self._options = options
        self._keep = keep and not is_journal(path)
        self._outlets = outlets
        self._named = named
        self._watchdog = watchdog or Unwatched()
        self._tail: Tail | None = None
        self._log: FollowedLog | None = None
        self._source: SourceInProgress | None = None
        self._kept: list[bytes] = []
        self._final: dict[str, int] = {}  # games that were counted and may be read again
        self._known = 0  # games of before
        self._unsettled = False
        self._lagging: list[Outlet] = []  # what is begun when all of a long log is in the archive
        self._timed = False
        self._settled_s = 0.0
        self._failed_s: float | None = None
        self._pause_s = _AGAIN_S
        self._overtaken_s: list[float] = []  # when another program has changed the source, the last times
        self._seen: State | None = None

    @property
    def open(self) -> int:
        """Games that are not over."""
        return 0 if self._source is None else len(self._source.in_progress)

    @property
    def ended(self) -> bool:
        """Whether the log tells itself that nothing more comes."""
        return self._tail is not None and self._tail.ended

    @property
    def moved(self) -> str | None:
        """Where the log has gone while nothing is in its place, or None."""
        return None if self._tail is None else self._tail.moved

    @property
    def resting(self) -> bool:
        """Whether something has failed just now and is not tried again yet."""
        return self._failed_s is not None and time.monotonic() - self._failed_s < self._pause_s

    def look(self, *, settle: bool = False) -> bool:
        """Read what is new and write it.

        Args:
            settle: let the archive know now how far it was read; else it is done every now and then.
        Returns:
            Whether anything was new.
        """
        self.replaced = None
        if self.resting and not settle:
            return False
        return self._attempt(self._look, settle)

    def finish(self) -> bool:
        """Read the last bytes; games without an end end with the log.

        Returns:
            Whether the archive has everything.
        """
        done = self._attempt(self._finish)
        self.close()
        if any(outlet.problem for outlet in self._outlets):
            self._failed_s = time.monotonic()  # what comes next is the whole log again
            self._pause_s = min(2 * self._pause_s, _LONGEST_PAUSE_S)
        return done and self.problem is None

    def close(self) -> None:
        """Let go of the log and the archive, as if this program were killed."""
        tail, source = self._tail, self._source
        self._tail = self._log = self._source = None
        self._kept = []
        self._lagging = []
        self._unsettled = False
        if tail is not None:
            tail.close()
        if source is not None:
            source.close()

    def _attempt(self, step: Callable[..., bool], *how: bool) -> bool:
        try:
            try:
                found = step(*how)
            except OvertakenError:
                self.close()  # another process changed the source: start from its state
                self._leave_it_to_another()
                found = step(*how)
        except RecorderError as error:
            self.problem = str(error)
        except (MemoryError, OSError, sqlite3.Error) as error:
            self.problem = f"{type(error).__name__}: {error}"
        except Exception as error:  # a bug of ours must not end a recording
            self.problem = contain(error)
        else:
            self.problem = self._failed_s = None
            return found
        self.close()
        self._failed_s = time.monotonic()
        return False

    def _leave_it_to_another(self) -> None:
        """Wait longer and longer while another process follows this log: two would undo each other's work for ever.

        Raises:
            SourceError: another process follows it.
        """
        now = time.monotonic()
        self._overtaken_s = [at for at in self._overtaken_s if now - at < _OVERTAKEN_S + self._pause_s] + [now]
        if len(self._overtaken_s) >= _OVERTAKEN:
            self._overtaken_s.clear()
            self._pause_s = min(2 * self._pause_s, _LONGEST_PAUSE_S)
            raise SourceError(f"Another program is importing {self._path} too; waiting for it to end.")

    # --- steps

    def _look(self, settle: bool) -> bool:
        if self._source is None:
            state = state_of(self._path)
            if state is None or (state == self._seen and (self.waiting is not None or self._timed)):
                return False
            if self._timed and not settle and time.monotonic() - self._settled_s < _TIMED_S:
                return False
            self._seen = state
            if not self._begin():
                return False
        found = self._read_on()
        if self._tail is not None and self._tail.replaced is not None:
            self.replaced = self._tail.replaced
            self._end()
            return True
        if any(outlet.problem for outlet in self._outlets):
            self._unsettled = True
        if self._unsettled and (settle or self._timed or time.monotonic() - self._settled_s >= _SETTLE_S):
            self._settle()
        if self._timed:
            self.close()
        return found

    def _finish(self) -> bool:
        if self._source is not None or (state_of(self._path) is not None and self._begin()):
            self._read_on()
            self._end()
        return True

    def _begin(self) -> bool:
        """Import the log so far, and keep it open.

        Returns:
            Whether it can be followed from now on.
        Raises:
            SourceError: the log cannot be read.
        """
        from storage.write.in_progress import SourceInProgress

        source = Input(str(self._path), self._path, named=self._named, on_block=self._watchdog.progress)
        self._watchdog.pause()
        with open_archive(self._where, create=True, read_only=False) as archive:
            importing = Import(archive, self._options, keep=self._keep, again=True)
            importing.opened = self._open
            outcome = importing.take(source)
            path = archive.path
            self._watchdog.pause()
        if outcome.status == "failed":
            raise SourceError(outcome.message or f"{self._path} cannot be read")
        if outcome.status == "forgotten":
            self.waiting = f"{self._path} was taken out of the archive"
            return False
        log = self._log
        if outcome.status not in STORED or outcome.sha256 is None or log is None:
            self._log = None
            self.known = outcome.message is None
            self.waiting = outcome.message or (
                f"{self._path} holds only the beginning of a log that the archive has: {outcome.part_of}"
            )
            return False
        self.waiting, self.known = None, False
        self._source = SourceInProgress(path, outcome.sha256, log.mark)
        self._tail = open_tail(self._path, log.size + len(log.unread))
        # A typescript's times come in a file of their own, which is read as a whole.
        self._timed = outcome.kind == SourceKind.TYPESCRIPT.value and timing_of(source) is not None
        self._keep = self._keep and outcome.kind != SourceKind.JOURNAL.value and not log.pipeline.unredacted
        self._settled_s = time.monotonic()
        given, log.games = log.games, []
        self._count(given)
        changed = self._write([])
        self._unsettled = True  # games that go on are stored now
        self._lagging = [outlet for outlet in self._outlets if outlet.looks_back and log.behind]
        for outlet in self._current():
            outlet.begin(self._where, outcome.sha256)  # when the archive has all that they look for
        self._report_games(given, changed)
        return True

    def _open(self, plan: Plan, progress: Progress) -> FollowedLog:
        self._log = FollowedLog(plan, progress)
        return self._log

    def _read_on(self) -> bool:
        """Read to the present end of the log."""
        log, tail = self._log, self._tail
        assert log is not None
        assert tail is not None
        found = False
        while data := tail.read():
            found = self._unsettled = True
            self._watchdog.understand()
            clean = log.scrubbing.receive(data)
            games = log.pipeline.receive(clean) if clean else []
            self._watchdog.progress()
            # Who is behind shows games only when they are over: the quickest way to catch up.
            self._commit(games, behind=len(data) >= BLOCK)
            log.advance(data, len(clean))  # what a row can do without comes behind its commit
            if self._keep and clean:
                self._kept.append(clean)
            if time.monotonic() - self._settled_s >= _SETTLE_S:
                self._settle()
        if self._lagging:
            self._watchdog.pause()
            self._settle()
            lagging, self._lagging = self._lagging, []
            for outlet in lagging:
                outlet.begin(self._where, log.running.hexdigest())
        return found

    def _current(self) -> list[Outlet]:
        """The outlets that are given what comes."""
        return [outlet for outlet in self._outlets if outlet not in self._lagging]

    def _commit(self, games: list[Game], behind: bool = False) -> None:
        """Write finished games and changed games in progress; then pass them on."""
        changed = self._write(games, behind)
        self._count(games)
        self._report_games(games, changed)

    def _write(self, games: list[Game], behind: bool = False) -> list[Game]:
        """Write finished games and, unless there is more to read, the games in progress that have changed.

        Returns:
            The latter.
        """
        log, source = self._log, self._source
        assert log is not None
        assert source is not None
        living = log.pipeline.in_progress
        changed = [] if behind else living.changed()
        gone = living.gone()
        if not (games or gone or changed):
            return []
        with source.transaction():
            for row in gone:
                source.remove(row)
            source.add_games(games)
            rows = source.replace([(shown.row, game) for shown, game in changed])
            for (shown, _), row in zip(changed, rows, strict=True):
                shown.row = row
            if not behind and (games or gone or any(game.end in OVER for _, game in changed)):
                source.relate()  # before the outlets get them
        return [game for _, game in changed]

    def _count(self, games: list[Game]) -> None:
        self._final.update((game.key, game.first_offset) for game in games)
        self.games = self._known + len(self._final)

    def _report_games(self, games: list[Game], changed: list[Game]) -> None:
        for outlet in self._current():
            if games:
                outlet.take(games)
            if changed:
                outlet.look(changed)

    def _settle(self) -> None:
        """Record in the source's row how far its log was read."""
        log = self._log
        assert log is not None
        self._store(log.pipeline.read_up_to, log.mark)

    def _store(self, offset: int, mark: str | None) -> None:
        """Commit what was read, and how far.

        Args:
            offset: ``Pipeline.read_up_to``.
            mark: of the reader that can continue; None: the log is over, and all games are final.
        """
        log, source = self._log, self._source
        assert log is not None
        assert source is not None
        drop = self._keep and log.pipeline.unredacted  # bytes with a forgotten player
        self._keep = self._keep and not drop
        source.settle(
            sha256=log.running.hexdigest(),
            size_bytes=log.size,
            kept=self._kept if self._keep else None,
            drop=drop,
            read_up_to=offset,
            unfinished=mark,
            report=log.pipeline.report,
        )
        self._settled(None if mark is None else offset, log.running.hexdigest())
        source.checkpoint()

    def _settled(self, offset: int | None, source: str) -> None:
        """Report to the outlets which games are final.

        Args:
            offset: games that begin before it are; None: all are.
            source: the source's sha256.
        """
        self._kept = []
        self._unsettled = False
        self._settled_s = time.monotonic()
        over = [key for key, first in self._final.items() if offset is None or first < offset]
        self._known += len(over)
        for key in over:
            del self._final[key]
        if offset is not None:
            for outlet in self._current():
                outlet.settle(self._where, source, offset)

    def _end(self) -> None:
        """The log has ended: what is open ends with it."""
        log, source = self._log, self._source
        assert log is not None
        assert source is not None
        tail = self._tail
        assert tail is not None
        self._watchdog.pause()
        final = tail.ended or tail.replaced is not None
        rest = log.scrubbing.finish()
        log.advance(b"", len(rest))
        if self._keep and rest:
            self._kept.append(rest)
        self._commit(log.pipeline.receive(rest) if rest else [])
        offset = log.pipeline.read_up_to
        games = log.pipeline.finish()
        self._write(games)
        self._count(games)
        if self._outlets:
            self._store(offset, log.mark)  # they find in the archive what they lack
        for outlet in self._outlets:
            outlet.end(self._where, log.running.hexdigest(), games, final)
        # What an outlet lacks, the next one that takes this source finds.
        lacking = any(outlet.problem or outlet.owes for outlet in self._outlets)
        self._store(offset, log.mark if lacking else None)
        self.close()


def holds_saved_games(path: Path) -> bool:
    """Whether a file is PGN or BPGN, which cannot be followed."""
    with closing(read_blocks(path, size=HEAD_BYTES)) as blocks:
        return detect(next(blocks, b"")) in SAVED_KINDS


class Follower:
    """Reads what is new in a log, and reports what happens.

    Args:
        path: of the log. updater: reads it. finished, pipe: where its games and its events go besides.
        notify: called with sentences for people.

    Attributes:
        left: whether the reader of the events went away.
    """

    def __init__(
        self,
        path: Path,
        updater: LogUpdater,
        finished: FinishedGames | None,
        pipe: EventPipe | None,
        notify: Callable[[str], object],
    ) -> None:
        self._path = path
        self._name = clean(str(path))
        self._updater = updater
        self._finished = finished
        self._pipe = pipe
        self._notify = notify
        self._reported: str | None = None
        self.left = False
        self._moved: str | None = None
        self._followed = False  # a log that has ended

    def step(self) -> None:
        """Read what is new."""
        updater = self._updater
        updater.look()
        self._report_state()
        if updater.replaced is not None:
            self._followed, self._moved = True, None
            self._notify(f"{self._name} {clean(updater.replaced)}: continuing with the new content.")
            self.step()
        elif updater.moved != self._moved:
            self._moved = updater.moved
            if self._moved is not None:
                self._notify(f"{self._name} {clean(self._moved)}: reading on in it until there is a new one.")

    def finish(self) -> None:
        """Read the last bytes."""
        self.step()
        self._updater.finish()
        if self._pipe is not None:
            self._pipe.close()
        self._report_state()

    def _report_state(self) -> None:
        """Report a problem once, and its end."""
        updater, finished, pipe = self._updater, self._finished, self._pipe
        waiting = None if updater.waiting is None else f"{updater.waiting}; waiting for more."
        problem = updater.problem or waiting or (finished.problem if finished is not None else None)
        if problem != self._reported:
            if problem is not None:
                self._notify(clean(problem))
            elif self._reported is not None:
                self._notify("The archive is writable again; updates resumed.")
            self._reported = problem
        if pipe is not None and pipe.lost is not None and not self.left:
            self.left = True
            self._notify(f"{pipe.lost}: none is printed from here on. The archive goes on.")

    def report(self) -> None:
        """Report how many games were read.

        Raises:
            SourceError: there was no log. StorageError, ExportError: something is still missing in the archive, or in
                the PGN.
        """
        updater, finished = self._updater, self._finished
        if updater.waiting is not None and not (self._followed or updater.known):
            raise SourceError(f"{updater.waiting}.")
        self._notify(f"{self._name}: {plural(updater.games, 'game')} read.")
        if finished is not None:
            self._notify(f"{plural(finished.games, 'game')} appended.")
        if updater.problem is not None:
            raise StorageError(f"{updater.problem} What is missing is read by the next import of {self._name}.")
        if finished is not None and finished.problem is not None:
            raise ExportError(finished.problem)
