"""The process that keeps the archive up to date while ``record`` or ``proxy`` writes journals.

It reads from standard input, a line each: first how (``Orders``), then journals to take; it looks for what is new in
them twice a second. When standard input ends, the recorder is done or dead: the last bytes are read, and this ends
too. So it needs no signal; a ``Watchdog`` ends it when it makes no progress, or is too busy to see that end. What there
is to tell goes to standard error as JSON lines.
"""

from __future__ import annotations

import json
import os
import select
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from recorder.archive.following.event_lines import EventLineWriter, EventPipe
from recorder.archive.following.finished_games import FinishedGames
from recorder.archive.following.following import LogUpdater
from recorder.archive.following.outlets import Outlet
from recorder.archive.following.watchdog import Unwatched, Watchdog
from recorder.archive.locate import open_archive
from recorder.archive.reading.inputs import ReadOptions
from recorder.archive.recording.recording import Orders, plain_name
from recorder.errors import ExitCode, JournalError, RecorderError
from recorder.journal.format import NOTE_OUTLETS
from recorder.journal.parts import find_part, is_being_written, part_blocks
from recorder.sources import is_journal, log_files
from recorder.sources.journal import JournalDecoder

if TYPE_CHECKING:
    from collections.abc import Iterable

_LOOK_MS: Final = 500
_END_S: Final = 3.0  # how long what fails is tried again at the end
_ORDERS_BYTES: Final = 1 << 16


class _Taken:
    """One journal."""

    def __init__(
        self, orders: Orders, path: Path, left: bool, pipe: EventPipe | None, watchdog: Unwatched, *, last: bool
    ) -> None:
        from exporters.pgn.exporter import PgnOptions

        self.path = path
        self.again = False  # it was done, but for games that it left open
        self.left = left  # no process writes it any more
        self.reported: str | None = None
        # Games of an earlier run go to that run's outputs; its events are not printed.
        pgn, events = outlets_of(path) if left else (orders.pgn, orders.events)
        self.ours = pgn == orders.pgn
        self.finished = None
        if pgn is not None:
            self.finished = FinishedGames(
                pgn, PgnOptions(), shares=lambda other: outlets_of(find_part(other))[0] == pgn, defer=not last
            )
        event_lines = EventLineWriter(pipe) if events and pipe is not None else None
        outlets: Iterable[Outlet | None] = (self.finished, event_lines)
        self.updater = LogUpdater(
            orders.where,
            path,
            ReadOptions(chat=orders.chat),
            keep=False,
            outlets=tuple(outlet for outlet in outlets if outlet is not None),
            named=not left,  # what was taken out of the archive does not come back by itself
            watchdog=watchdog,
        )

    @property
    def problem(self) -> str | None:
        """Why something is missing, or None."""
        return self.updater.problem or (None if self.finished is None else self.finished.problem)


class _Archiving:
    """Takes journals."""

    def __init__(self, orders: Orders, watchdog: Unwatched) -> None:
        self._orders = orders
        self._taken: dict[Path, _Taken] = {}
        self._owed: list[Path] = []  # journals that have ended; games that they left open may go on in another one
        self._pipe = EventPipe() if orders.events else None
        self._left = False
        self._watchdog = watchdog

    def obey(self, line: bytes) -> None:
        """Do what a line says."""
        order = json.loads(line)
        self._take(Path(order["journal"]), left=order["left"])

    def take_unfinished(self) -> None:
        """Take the journals that an earlier process like this one could not take to their end."""
        try:
            with open_archive(self._orders.where) as archive:
                rows = [row for row in archive.sources() if row.unfinished and row.path is not None]
        except RecorderError:
            return  # there is none yet, or the problem is reported when it is written
        for path in (find_part(Path(row.path or "")) for row in rows):
            if is_journal(path) and path.exists() and not is_being_written(log_files(path)[-1]):
                self._take(path, left=True)

    def _take(self, path: Path, *, left: bool) -> None:
        if path not in self._taken and str(plain_name(path)) not in self._orders.aside:
            self._taken[path] = _Taken(self._orders, path, left, self._pipe, self._watchdog, last=False)

    def _take_again(self, path: Path) -> None:
        """Take a journal that is done for the games that it left open: nothing goes on with them any more."""
        path = find_part(path)
        self._taken[path] = taken = _Taken(self._orders, path, True, None, self._watchdog, last=True)
        taken.again = True

    def look(self) -> None:
        """Read what is new in all journals."""
        for taken in list(self._taken.values()):
            self._watchdog.begin(taken.path)
            taken.updater.look()
            if (taken.updater.ended or taken.left) and not taken.updater.resting:
                self._finish(taken)
            self._report_taken(taken)
        self._watchdog.end()

    def finish(self) -> bool:
        """Read the last bytes; returns whether everything is in the archive and in the PGN."""
        for taken in self._taken.values():
            if taken.finished is not None:
                taken.finished.defer = False
        self._take_rest()
        for path in self._owed:
            self._take_again(path)
        self._take_rest()
        self._watchdog.end()
        if self._pipe is not None:
            self._pipe.close()
            self._report_lost()
        return not self._taken

    def _take_rest(self) -> None:
        """Read all journals to their end; what fails is tried again for a while."""
        end_s = time.monotonic() + _END_S
        while self._taken:
            for taken in list(self._taken.values()):
                self._watchdog.begin(taken.path)
                self._finish(taken)
                self._report_taken(taken)
            if self._taken:
                if time.monotonic() > end_s:
                    break
                time.sleep(0.5)

    def _finish(self, taken: _Taken) -> None:
        # A PGN of an earlier run that cannot be written delays nothing: the archive records that it lacks games.
        if taken.updater.finish() and (taken.problem is None or not taken.ours):
            self._report_taken(taken)
            del self._taken[taken.path]
            appended = taken.finished.games if taken.finished is not None and taken.ours else 0
            if taken.finished is not None and taken.finished.owes:
                self._owed.append(taken.path)
            if taken.again:
                _say(appended=appended)
            else:
                _say(done=str(taken.path), games=taken.updater.games, appended=appended)

    def _report_taken(self, taken: _Taken) -> None:
        """Say what is wrong once, and that it is over."""
        if taken.problem != taken.reported:
            over = taken.problem is None and taken.reported is not None
            taken.reported = taken.problem
            _say(problem=taken.problem, over=over)
        self._report_lost()

    def _report_lost(self) -> None:
        if self._pipe is not None and self._pipe.lost is not None and not self._left:
            self._left = True
            _say(left=self._pipe.lost)


def outlets_of(journal: Path) -> tuple[str | None, bool]:
    """Where the games of a journal were to go besides the archive: the PGN, or None, and whether events were wanted."""
    decoder = JournalDecoder()
    try:
        with closing(part_blocks(log_files(journal)[0])) as blocks:
            decoder.receive(next(blocks, b""))
    except (OSError, JournalError):
        return None, False
    note = next((note for note in decoder.opening if note["kind"] == NOTE_OUTLETS), {})
    pgn = note.get("pgn")
    return pgn if isinstance(pgn, str) else None, note.get("events") is True


def _say(**facts: Any) -> None:
    try:
        sys.stderr.write(json.dumps(facts) + "\n")
        sys.stderr.flush()
    except OSError:
        pass  # the recorder has ended


def main() -> int:
    """Do it; returns the exit status."""
    waiting = select.poll()
    waiting.register(0, select.POLLIN)
    rest = b""
    archiving: _Archiving | None = None
    while True:
        if waiting.poll(_LOOK_MS):
            data = os.read(0, _ORDERS_BYTES)
            if not data:
                break
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                if archiving is None:
                    orders = Orders(**json.loads(line))
                    archiving = _Archiving(orders, Watchdog(orders.limit_s, orders.name_fd))
                    archiving.take_unfinished()
                else:
                    archiving.obey(line)
        if archiving is not None:
            archiving.look()
    return ExitCode.OK if archiving is None or archiving.finish() else ExitCode.ARCHIVE


if __name__ == "__main__":
    sys.exit(main())
