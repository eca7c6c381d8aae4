"""The process that keeps the archive up to date while ``record`` or ``proxy`` writes journals, seen from both sides.

The recorder never waits for it: no error there costs a byte. If it ends before its time it is started again, and reads
on from where the archive is. It looks twice a second for what is new in the journals that it was given. When its
standard input ends, the recorder is done or dead: the last bytes are read, and it ends too.

The protocol has JSON objects, one a line. Standard input: ``Orders``, then journals to take (``journal``, ``left``).
Standard error: the journal in work (``at``); a journal that is done (``done``, ``games``, ``appended``); why something
is missing, or null (``problem``), and whether its disk is full (``full``); sentences (``say``); events for hooks
(``game``); that the reader of the events has gone (``left``). Other lines are what Python itself says.

The kernel ends a process that makes no progress, even while it is stuck in C code: a timer of processor time and one of
elapsed time run, with the default action of their signals, and each step sets them again. Its journal is set aside.

Source: setitimer(2) of the Linux manual.
"""

from __future__ import annotations

import asyncio
import json
import os
import select
import signal
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, closing, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from recorder.archive.locate import import_command, open_archive
from recorder.errors import ExitCode, JournalError, RecorderError
from recorder.journal import close_left_open, open_sessions
from recorder.journal.format import NoteKind
from recorder.journal.parts import find_part, is_being_written, part_blocks
from recorder.live import child_environment
from recorder.live.net.sockets import in_thread
from recorder.sources import is_journal, log_files
from recorder.sources.journal import JournalDecoder
from recorder.text import clean, plural

if TYPE_CHECKING:
    from recorder.archive.following.events import EventLineWriter
    from recorder.archive.following.live_pgn import LiveGames
    from recorder.journal.writer import JournalWriter
    from recorder.live.hooks import Hooks

_END_S: Final = 60.0
_STUCK_S: Final = 30.0
"""How much processor time the process may take for one block of a journal."""
_LONG: Final = 10
"""How many times longer it may wait, or take for what reads no bytes."""
_ALONE: Final = 1 / 3
"""What is left of this when the recorder has ended."""
_KILLED_S: Final = 5.0
_LONGEST_PAUSE_S: Final = 60.0
_LONGEST_LINE: Final = 1 << 16
_LOOK_MS: Final = 500
_RETRY_S: Final = 3.0  # how long what fails is tried again at the end
_STUCK_SIGNALS: Final = frozenset(number for number in signal.Signals if number.name in ("SIGALRM", "SIGPROF"))
"""A process that one of these has ended made no progress. Windows has none of them."""


@dataclass(frozen=True, slots=True)
class Orders:
    """How journals are taken, as the options of the command say."""

    where: str
    pgn: str | None
    events: bool
    chat: str | None
    limit_s: float
    aside: tuple[str, ...] = ()  # journals that are not taken, by ``_plain_name``
    live: tuple[str | None, float, tuple[str, ...]] = (None, 0.0, ())  # path, delay_s, players of ``LiveGames``
    thinks_s: tuple[float, ...] | None = None


def _message(**facts: Any) -> bytes:
    return json.dumps(facts).encode() + b"\n"


class _Lines:
    """Cuts what arrives into lines; of one that is too long only the end is kept."""

    def __init__(self) -> None:
        self._rest = b""

    def receive(self, data: bytes) -> list[bytes]:
        *lines, rest = (self._rest + data).split(b"\n")
        self._rest = rest[-_LONGEST_LINE:]
        return lines


# --- the recorder's side


class ArchiveChild:
    """Keeps an archive up to date with journals that this process writes; ``done`` gets those it has all of."""

    def __init__(
        self,
        where: str,
        notify: Callable[[str], None],
        *,
        pgn: str | None = None,
        events: bool = False,
        chat: str | None = None,
        live: tuple[str | None, float, tuple[str, ...]] = (None, 0.0, ()),
        hooks: Hooks | None = None,
        done: Callable[[Path, int], None] = lambda _path, _games: None,
    ) -> None:
        self.state = "begins"  # how far the archive is, in words
        self.left = False  # the event reader has gone
        self.appended = 0  # games in the PGN
        thinks_s, live = None if hooks is None else hooks.thinks_s, (_absolute(live[0]), *live[1:])
        self._orders = Orders(where, _absolute(pgn), events, chat, _STUCK_S, live=live, thinks_s=thinks_s)
        self._hooks = hooks
        self._notify = notify
        self._done = done
        self._wanted: dict[Path, bool] = {}  # journals that are not done; whether they are no longer written
        self._aside: list[Path] = []  # journals on which the process made no progress, by ``_plain_name``
        self._loop: asyncio.AbstractEventLoop | None = None
        self._problem = False
        self._leaving = False  # only journals that a crash left are waited for
        self._ending = asyncio.Event()  # the process gets no more journals
        self._given_up = False
        self._changed = asyncio.Event()
        self._running: asyncio.Task[None] | None = None
        self._process: asyncio.subprocess.Process | None = None
        self._at: Path | None = None  # the journal in work

    def sign(self, journal: JournalWriter) -> None:
        """Note the other outputs of its games in a new journal, for the process that takes it after a crash."""
        if self._orders.pgn is not None or self._orders.events:
            journal.note(NoteKind.OUTLETS, pgn=self._orders.pgn, events=self._orders.events)

    def take(self, journal: Path) -> None:
        """To be called in any thread."""
        path = _first_part(journal)
        if self._loop is None:
            self._want(path, left=False)
        else:
            with suppress(RuntimeError):  # the loop has ended
                self._loop.call_soon_threadsafe(lambda: self._want(path, left=False))

    async def import_journals(self, journals: Sequence[Path]) -> bool:
        """Take journals that are no longer written; return whether the archive has them in the end."""
        paths = [_first_part(path) for path in journals]
        for path in paths:
            self._want(path, left=True)
        while any(path in self._wanted for path in paths):
            died = self._process is not None and self._process.returncode is not None
            over = self._ending.is_set() and (self._running is None or self._running.done())
            if over or (self._leaving and (self._problem or died)):
                return False
            self._changed.clear()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._changed.wait(), 1.0)
        return not any(_plain_name(path) in self._aside for path in paths)

    def start(self) -> None:
        """To be called in the loop."""
        self._loop = asyncio.get_running_loop()
        self._running = asyncio.create_task(self._run())

    async def finish(self, hurry: asyncio.Event | None = None, taking: asyncio.Task[None] | None = None) -> list[Path]:
        """Wait until the archive has everything that was written; return the journals that are not in it."""
        hurrying = asyncio.create_task((hurry or asyncio.Event()).wait())

        async def wait(task: asyncio.Task[None]) -> None:
            await asyncio.wait({task, hurrying}, timeout=_END_S, return_when=asyncio.FIRST_COMPLETED)

        # What a crash left is taken as long as the archive can be written.
        if taking is not None:  # the process gets a journal that was just ended while it still listens
            self._leaving = True
            self._changed.set()
            await wait(taking)
            await cancel(taking)
        self._ending.set()
        if self._running is not None:
            await asyncio.sleep(0)  # what ``take`` has asked for comes first
            self._close_orders()
            await wait(self._running)
            self._given_up = True
            if self._process is not None and self._process.returncode is None:
                self._process.kill()
                await asyncio.wait({self._running}, timeout=_KILLED_S)  # the loop must not end before it
            await cancel(self._running)
        await cancel(hurrying)
        self._changed.set()
        return [*self._aside, *self._wanted]

    async def _run(self) -> None:
        failures = 0
        once_more = True
        while True:
            began = asyncio.get_running_loop().time()
            why, stuck = await self._live()
            self._changed.set()
            if stuck:
                if self._ending.is_set() and not self._wanted:
                    return
                continue
            if self._ending.is_set():
                status = None if self._process is None else self._process.returncode
                reported = status == ExitCode.ARCHIVE and bool(self._wanted)  # why, by itself
                if why is not None and not self._given_up and not reported:
                    self._notify(f"The archive's process {why}.")
                # One that was killed would have gone on.
                if why is None or not self._wanted or self._given_up or reported or not once_more:
                    return
                once_more = False
                continue
            failures = 1 if asyncio.get_running_loop().time() - began > _LONGEST_PAUSE_S else failures + 1
            pause_s = min(2.0**failures, _LONGEST_PAUSE_S)
            why = why or "has ended (status 0)"
            self.state = f"is behind: its process {why}"
            self._notify(f"The archive's process {why}; it is started again in {pause_s:.0f} s.")
            with suppress(TimeoutError):
                await asyncio.wait_for(self._ending.wait(), pause_s)
            if self._ending.is_set() and not self._wanted:
                return

    async def _live(self) -> tuple[str | None, bool]:
        """One process from its start to its end: what is wrong with it, or None; whether a journal was set aside."""
        self._at = None
        try:
            process = await self._start()
        except Exception as error:  # recording goes on without an archive
            return f"cannot be started ({getattr(error, 'strerror', None) or type(error).__name__})", False
        assert process.stderr is not None
        lines, failure = _Lines(), None
        while data := await process.stderr.read(_LONGEST_LINE):  # to the end, else that is not seen
            try:
                for line in lines.receive(data) if failure is None else ():
                    self._hear(line)
            except Exception as error:  # a bug here may cost no byte of the journal
                failure = f"is not understood ({type(error).__name__}: a bug)"
                with suppress(ProcessLookupError):
                    process.kill()
        status = await process.wait()
        if -status in _STUCK_SIGNALS and self._at is not None:
            self._set_aside(self._at)
            return None, True
        return failure or (f"has ended (status {status})" if status else None), False

    async def _start(self) -> asyncio.subprocess.Process:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", __name__),
            env=child_environment(),
            stdin=asyncio.subprocess.PIPE,
            stdout=None if self._orders.events else asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,  # Ctrl-C on the terminal is for us, not for it
        )
        assert process.stdin is not None
        process.stdin.write(_message(**asdict(replace(self._orders, aside=tuple(map(str, self._aside))))))
        for path, left in self._wanted.items():
            process.stdin.write(_message(journal=str(path), left=left))
        self._process = process
        self.state = self._what_is_aside() or "follows the journal"
        if self._ending.is_set():
            self._close_orders()
        return process

    def _close_orders(self) -> None:
        if self._process is not None:
            assert self._process.stdin is not None
            self._process.stdin.close()

    def _want(self, path: Path, *, left: bool) -> None:
        if path in self._wanted or _plain_name(path) in self._aside:
            return
        self._wanted[path] = left
        stdin = None if self._process is None else self._process.stdin
        if stdin is not None and not stdin.is_closing():  # else the next process gets it
            stdin.write(_message(journal=str(path), left=left))

    def _hear(self, line: bytes) -> None:
        try:
            facts = json.loads(line)
        except ValueError:
            facts = None
        if not isinstance(facts, dict):
            self._notify(clean(line.decode(errors="replace")))
            return
        if "at" in facts:
            self._at = Path(facts["at"])
            return
        self.appended += facts.get("appended", 0)
        if "done" in facts:
            path = Path(facts["done"])
            self._wanted.pop(path, None)
            self._done(path, facts["games"])
        if "left" in facts:
            self.left = True
            self._notify(f"{facts['left']}: none is printed from here on. Recording goes on.")
        if "say" in facts:
            self._notify(clean(facts["say"]))
        if "game" in facts and self._hooks is not None:
            self._hooks.game(facts["game"])
        if "problem" in facts:
            self._problem = facts["problem"] is not None
            self._notify(clean(facts["problem"] or "The archive is writable again; updates resumed."))
            if facts["full"] and self._hooks is not None:
                self._hooks.fire("disk-full", facts["problem"])
        self.state = "is behind" if self._problem else self._what_is_aside() or "is up to date"
        self._changed.set()

    def _set_aside(self, journal: Path) -> None:
        self._aside.append(_plain_name(journal))
        self._wanted = {path: left for path, left in self._wanted.items() if _plain_name(path) not in self._aside}
        chat = [] if self._orders.chat is None else ["--chat", self._orders.chat]
        self.state = self._what_is_aside()
        part = find_part(journal)
        self._notify(
            f"The archive made no progress on {part} for {self._orders.limit_s:g} s or longer: it is set aside, and "
            f"the archive goes on without it. Import it later: {import_command(part, self._orders.where, *chat)}"
        )

    def _what_is_aside(self) -> str:
        return f"lacks {plural(len(self._aside), 'journal')} set aside" if self._aside else ""


async def cancel(task: asyncio.Task[Any]) -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


def _first_part(journal: Path) -> Path:
    try:
        return log_files(journal)[0]
    except OSError:
        return journal


def _plain_name(part: Path) -> Path:
    """What a journal's part is called before it is compressed."""
    return part.with_suffix("") if part.suffix == ".zst" else part


def _absolute(target: str | None) -> str | None:
    # A slash at the end stays.
    return target if target is None or target.startswith(os.sep) else f"{Path.cwd()}{os.sep}{target}"


@asynccontextmanager
async def keep_archive(
    child: ArchiveChild | None,
    journals: Path,
    hurry: asyncio.Event,
    report: Callable[[str], object],
    later: str,
) -> AsyncIterator[list[Path]]:
    """The archive gets first what a crash left; the yielded list gets, at the end, what it lacks."""
    missing: list[Path] = []
    if child is not None:
        child.start()
    taking = asyncio.create_task(
        import_left_open(journals, None if child is None else child.import_journals, report, later)
    )
    try:
        yield missing
    finally:
        if child is not None:
            missing += await child.finish(hurry, taking)
        if hurry.is_set():
            taking.cancel()
        await asyncio.gather(taking, return_exceptions=True)


async def import_left_open(
    journals: Path,
    import_them: Callable[[list[Path]], Awaitable[bool]] | None,
    report: Callable[[str], object],
    later: str,
) -> None:
    """Import and then end the journals that a crash left; what could not be imported stays for the next start."""

    def look() -> list[Path]:
        return [session.path for session in open_sessions(journals) if not session.written]

    # A long journal takes seconds, a disk that hangs longer: the connection must not wait for it.
    left = await in_thread(look)
    if not left or (import_them is not None and not await import_them(left)):
        return
    ended = await in_thread(lambda: [path for path in left if _close_left_open(path)])
    if not ended:
        return
    what = plural(len(ended), "journal was", "journals were")
    if import_them is None:
        report(f"{what} left open by a crash and ended now, and not imported: {later}")
    elif await import_them(ended):
        report(f"{what} left open by a crash; the archive has all of it now.")


def _close_left_open(path: Path) -> bool:
    with suppress(OSError, JournalError):  # it stays as it was: the next start finds it
        return close_left_open(path)
    return False


# --- the process's side, whose other modules the recorder does not load


class _Watch:
    """Ends this process when a step takes too long, or soon after the recorder has ended."""

    def __init__(self, limit_s: float) -> None:
        self._limit_s = limit_s
        self._parent = os.getppid()
        self._alone = False
        self._at: Path | None = None
        for number in _STUCK_SIGNALS:
            signal.signal(number, signal.SIG_DFL)

    def step(self, journal: Path, long: bool) -> None:
        """A step begins. Waiting for a lock, or for the disk, takes no processor time; ``long``: as of ``Follower``."""
        if journal != self._at:
            self._at = journal
            _say(at=str(journal))
        signal.setitimer(signal.ITIMER_PROF, (_LONG if long else 1) * self._limit_s)
        if not self._alone:
            self._alone = os.getppid() != self._parent
            signal.setitimer(signal.ITIMER_REAL, (_ALONE if self._alone else _LONG) * self._limit_s)

    def rest(self) -> None:
        """Nothing is in work: this process may wait, or be stopped, for ever."""
        signal.setitimer(signal.ITIMER_PROF, self._limit_s)
        if not self._alone:
            signal.setitimer(signal.ITIMER_REAL, 0)


class _Taken:
    """One journal; ``left``: no process writes it any more. ``last``: it was done, but for games that it left open."""

    def __init__(
        self,
        orders: Orders,
        path: Path,
        writer: EventLineWriter | None,
        live: LiveGames | None,
        watch: _Watch | None,
        *,
        left: bool,
        last: bool,
    ) -> None:
        from exporters.pgn.exporter import PgnOptions
        from recorder.archive.following.follower import Follower
        from recorder.archive.following.game_events import GameEvents
        from recorder.archive.following.pgn import FinishedGames
        from recorder.archive.reading.importing import ReadOptions

        self.path, self.left, self.last = path, left, last
        # Games of an earlier run go to that run's outputs.
        pgn, events = outlets_of(path) if left else (orders.pgn, orders.events)
        self.ours = pgn == orders.pgn
        self.finished = None
        if pgn is not None:
            self.finished = FinishedGames(
                pgn, PgnOptions(), shares=lambda other: outlets_of(find_part(other))[0] == pgn, defer=not last
            )
        live_games = None if left or live is None else live.outlet()
        self.events = None
        if not left and orders.thinks_s is not None:
            self.events = GameEvents(lambda game: _say(game=game), str(_plain_name(path)), orders.thinks_s)
        outlets = (self.finished, writer if events else None, live_games, self.events)
        self.follower = Follower(
            orders.where,
            path,
            ReadOptions(chat=orders.chat),
            keep=False,
            outlets=[outlet for outlet in outlets if outlet is not None],
            named=not left,  # what was taken out of the archive does not come back by itself
            step=(lambda _long: None) if watch is None else lambda long: watch.step(path, long),
        )

    @property
    def problem(self) -> str | None:
        return self.follower.problem or (None if self.finished is None else self.finished.problem)


class Archiving:
    """Takes journals; ``taken`` are those that are not done. Without ``watch`` there is no time limit."""

    def __init__(self, orders: Orders, watch: _Watch | None = None) -> None:
        from recorder.archive.following.events import EventPipe
        from recorder.archive.following.live_pgn import LiveGames

        self.taken: dict[Path, _Taken] = {}
        self._orders = orders
        self._watch = watch
        self._owed: list[Path] = []  # journals that have ended; games that they left open may go on in another one
        self._pipe = EventPipe() if orders.events else None
        self._writers: dict[Path, EventLineWriter] = {}  # what a crash left is taken twice: before and after its end
        self._live = None
        path, delay_s, players = orders.live
        if path is not None:
            self._live = LiveGames(Path(path), delay_s, lambda words: _say(say=words), players=players)
        self._left = False
        self._problem: str | None = None

    def take_unfinished(self) -> None:
        """Take the journals that an earlier process like this one could not take to their end."""
        try:
            with open_archive(self._orders.where) as archive:
                rows = [row for row in archive.sources() if row.unfinished and row.path is not None]
        except RecorderError:
            return  # there is none yet, or the problem is reported when it is written
        for path in (find_part(Path(row.path or "")) for row in rows):
            if is_journal(path) and path.exists() and not is_being_written(log_files(path)[-1]):
                self.take(path, left=True)

    def take(self, path: Path, *, left: bool, last: bool = False) -> None:
        from recorder.archive.following.events import EventLineWriter

        name, writer = _plain_name(path), None
        if path not in self.taken and str(name) not in self._orders.aside:
            if self._pipe is not None and not last:
                writer = self._writers.setdefault(name, EventLineWriter(self._pipe.write))
            self.taken[path] = _Taken(self._orders, path, writer, self._live, self._watch, left=left, last=last)

    def look(self) -> None:
        for taken in list(self.taken.values()):
            taken.follower.look()
            if taken.events is not None:
                taken.events.tick()
            if (taken.follower.ended or taken.left) and not taken.follower.resting:
                self._finish(taken)
        self._report()

    def finish(self) -> bool:
        """Return whether everything is in the archive and in the PGN."""
        for taken in self.taken.values():
            if taken.finished is not None:
                taken.finished.defer = False
        self._take_rest()
        for path in self._owed:  # nothing goes on with the games that it left open any more
            self.take(find_part(path), left=True, last=True)
        self._take_rest()
        if self._live is not None:
            self._live.write(last=True)
        if self._pipe is not None:
            self._pipe.close()
            self._report()
        return not self.taken

    def _take_rest(self) -> None:
        """Read all journals to their end; what fails is tried again for a while."""
        end_s = time.monotonic() + _RETRY_S
        while self.taken:
            for taken in list(self.taken.values()):
                self._finish(taken)
            self._report()
            if self.taken:
                if time.monotonic() > end_s:
                    break
                time.sleep(0.5)

    def _finish(self, taken: _Taken) -> None:
        # A PGN of an earlier run that cannot be written delays nothing: the archive records that it lacks games.
        if not taken.follower.finish() or (taken.problem is not None and taken.ours):
            return
        if taken.problem is not None:
            _say(say=taken.problem)
        del self.taken[taken.path]
        if not taken.left:
            self._writers.pop(_plain_name(taken.path), None)
        appended = 0
        if taken.finished is not None:
            appended = taken.finished.games if taken.ours else 0
            if taken.finished.owes:
                self._owed.append(taken.path)
        if taken.last:
            _say(appended=appended)
        else:
            _say(done=str(taken.path), games=taken.follower.games, appended=appended)

    def _report(self) -> None:
        """Say once what is wrong, and when it is over."""
        if self._live is not None:
            self._live.write()
        if self._watch is not None:
            self._watch.rest()
        problem = next((taken.problem for taken in self.taken.values() if taken.problem is not None), None)
        if problem != self._problem:
            self._problem = problem
            _say(problem=problem, full=any(taken.follower.full for taken in self.taken.values()))
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
    note = next((note for note in decoder.opening if note["kind"] == NoteKind.OUTLETS), {})
    pgn = note.get("pgn")
    return pgn if isinstance(pgn, str) else None, note.get("events") is True


def _say(**facts: Any) -> None:
    with suppress(OSError):  # the recorder has ended
        sys.stderr.buffer.write(_message(**facts))
        sys.stderr.buffer.flush()


def main() -> int:
    """Return the exit status."""
    waiting = select.poll()
    waiting.register(0, select.POLLIN)
    lines = _Lines()
    archiving: Archiving | None = None
    while True:
        if waiting.poll(_LOOK_MS):
            data = os.read(0, _LONGEST_LINE)
            if not data:
                break
            for order in map(json.loads, lines.receive(data)):
                if archiving is None:
                    orders = Orders(**order)
                    archiving = Archiving(orders, _Watch(orders.limit_s))
                    archiving.take_unfinished()
                else:
                    archiving.take(Path(order["journal"]), left=order["left"])
        if archiving is not None:
            archiving.look()
    return ExitCode.OK if archiving is None or archiving.finish() else ExitCode.ARCHIVE


if __name__ == "__main__":
    sys.exit(main())
