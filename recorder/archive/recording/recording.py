"""The archive's process as ``record`` and ``proxy`` use it: started, given journals to take, and waited for.

The recorder never waits for it: the process looks by itself at the journals that it was given. If it ends
before its time it is started again, and reads on from where the archive is. If it made no progress on a journal, that
one is set aside.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from recorder.archive.following.watchdog import STUCK_SIGNALS, read_name
from recorder.archive.locate import import_command
from recorder.errors import ExitCode, JournalError
from recorder.journal import close_left_open, open_sessions
from recorder.journal.format import NOTE_OUTLETS
from recorder.journal.parts import find_part
from recorder.live import PASSWORD_VARIABLE
from recorder.live.net.sockets import in_thread
from recorder.sources import log_files
from recorder.text import clean, plural

if TYPE_CHECKING:
    from recorder.journal.writer import JournalWriter

_END_S: Final = 60.0
_STUCK_S: Final = 30.0
"""How long the process may take for one block of a journal."""
_KILLED_S: Final = 5.0
_GLANCE_S: Final = 0.1
_LONGEST_PAUSE_S: Final = 60.0
_LONGEST_LINE: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Orders:
    """How journals are taken.

    Attributes:
        where: the archive, as ``--db`` names it. pgn: as ``--pgn``, or None. events: whether they are printed.
        chat: as ``--chat``, or None.
        limit_s, name_fd: as for ``Watchdog``. aside: journals that are not taken, by
            ``plain_name``.
    """

    where: str
    pgn: str | None
    events: bool
    chat: str | None
    limit_s: float
    name_fd: int = -1
    aside: tuple[str, ...] = ()

    def to_line(self) -> str:
        """As the process reads it."""
        return json.dumps(asdict(self))


class ArchiveChild:
    """Keeps an archive up to date with journals that this process writes.

    Args:
        where, pgn, events, chat: as for ``Orders``.
        notify: gets a sentence when something is wrong, or over.
        done: gets a journal when all of it is in the archive, and how many games it gave.

    Attributes:
        state: how far the archive is, in words. left: the event reader has gone. appended: games in the PGN.
    """

    def __init__(
        self,
        where: str,
        notify: Callable[[str], None],
        *,
        pgn: str | None = None,
        events: bool = False,
        chat: str | None = None,
        done: Callable[[Path, int], None] = lambda _path, _games: None,
    ) -> None:
        self.state = "begins"
        self.left = False
        self.appended = 0
        self._orders = Orders(where, None if pgn is None else _absolute(pgn), events, chat, _STUCK_S)
        self._notify = notify
        self._done = done
        self._wanted: dict[Path, bool] = {}  # journals that are not done; whether they are no longer written
        self._aside: list[Path] = []  # journals on which the process made no progress, by ``plain_name``
        self._loop: asyncio.AbstractEventLoop | None = None
        self._problem = False
        self._given_up = False
        self._ending = asyncio.Event()
        self._changed = asyncio.Event()
        self._running: asyncio.Task[None] | None = None
        self._process: asyncio.subprocess.Process | None = None
        self._stuck_on: Path | None = None  # the journal on which the last process made no progress

    # --- called by the recorder

    def sign(self, journal: JournalWriter) -> None:
        """Note the other outputs of its games in a new journal, for the process that takes it after a crash.

        Raises:
            JournalError: it cannot be written.
        """
        if self._orders.pgn is not None or self._orders.events:
            journal.note(NOTE_OUTLETS, pgn=self._orders.pgn, events=self._orders.events)

    def take(self, journal: Path) -> None:
        """Take a journal that is being written; to be called in any thread."""
        path = _first_part(journal)
        if self._loop is None:
            self._want(path, left=False)
        else:
            with contextlib.suppress(RuntimeError):  # the loop has ended
                self._loop.call_soon_threadsafe(lambda: self._want(path, left=False))

    async def import_journals(self, journals: Sequence[Path]) -> bool:
        """Take journals that are no longer written; returns whether the archive has them in the end."""
        paths = [_first_part(path) for path in journals]
        for path in paths:
            self._want(path, left=True)
        while any(path in self._wanted for path in paths):
            if self._ending.is_set() and (self._running is None or self._running.done()):
                return False
            self._changed.clear()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._changed.wait(), 1.0)
        return not any(plain_name(path) in self._aside for path in paths)

    def start(self) -> None:
        """Begin; to be called in the loop."""
        self._loop = asyncio.get_running_loop()
        self._running = asyncio.create_task(self._run())

    async def finish(self, hurry: asyncio.Event | None = None, taking: asyncio.Task[None] | None = None) -> list[Path]:
        """Wait until everything that was written is in the archive, or ``hurry`` is set.

        Args:
            hurry: set to end the wait.
            taking: takes what a crash left; it is waited for as long as the archive can be written, and cancelled.
        Returns:
            The journals that are not.
        """
        if taking is not None:
            await self._let_take(taking, hurry)
        self._ending.set()
        if self._running is not None:
            await asyncio.sleep(0)  # what ``take`` has asked for comes first
            self._close_orders()
            waiting = {self._running}
            hurrying = None if hurry is None else asyncio.create_task(hurry.wait())
            await asyncio.wait(
                waiting if hurrying is None else {*waiting, hurrying},
                timeout=_END_S,
                return_when=asyncio.FIRST_COMPLETED,
            )
            self._given_up = True
            if self._process is not None and self._process.returncode is None:
                self._process.kill()
                await asyncio.wait({self._running}, timeout=_KILLED_S)  # the loop must not end before it
            for task in (self._running, hurrying):
                if task is not None:
                    task.cancel()
                    await asyncio.gather(task, return_exceptions=True)
        self._changed.set()
        return [*self._aside, *self._wanted]

    async def _let_take(self, taking: asyncio.Task[None], hurry: asyncio.Event | None) -> None:
        """The process gets a journal that was just ended while it still listens.

        Args:
            taking: is waited for, then cancelled. hurry: ends the wait when it is set; None: nothing does.
        """
        loop = asyncio.get_running_loop()
        end_s = loop.time() + _END_S
        while loop.time() < end_s and not self._problem and (hurry is None or not hurry.is_set()):
            if self._process is not None and self._process.returncode is not None:
                break
            if (await asyncio.wait({taking}, timeout=_GLANCE_S))[0]:
                break
        taking.cancel()
        await asyncio.gather(taking, return_exceptions=True)

    # --- the process

    @property
    def _could_not_write(self) -> bool:
        return self._process is not None and self._process.returncode == ExitCode.ARCHIVE

    async def _run(self) -> None:
        failures = 0
        once_more = True
        while True:
            began = asyncio.get_running_loop().time()
            why = await self._live()
            if self._stuck_on is not None:
                self._set_aside(self._stuck_on)
                if self._ending.is_set() and not self._wanted:
                    return
                continue
            if self._ending.is_set():
                reported = self._could_not_write and bool(self._wanted)  # why, by itself
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
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._ending.wait(), pause_s)
            if self._ending.is_set() and not self._wanted:
                return

    async def _live(self) -> str | None:
        """One process from its start to its end; what is wrong with it, or None. Whatever it is, recording goes on."""
        self._stuck_on = None
        with contextlib.ExitStack() as files:
            try:
                name_fd = files.enter_context(tempfile.TemporaryFile()).fileno()
                process = await self._start(name_fd)
            except Exception as error:
                return f"cannot be started ({getattr(error, 'strerror', None) or type(error).__name__})"
            failure = await self._read_messages(process)
            status = await process.wait()
            if -status in STUCK_SIGNALS:
                self._stuck_on = read_name(name_fd)
        return failure or (f"has ended (status {status})" if status else None)

    async def _read_messages(self, process: asyncio.subprocess.Process) -> str | None:
        """Listen to a process until it has said all; what is wrong with what it says, or None."""
        try:
            await self._listen(process)
        except Exception as error:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            assert process.stderr is not None
            while await process.stderr.read(_LONGEST_LINE):
                pass  # else its end is not seen
            return f"is not understood ({type(error).__name__}: a bug)"
        return None

    def _set_aside(self, journal: Path) -> None:
        self._aside.append(plain_name(journal))
        self._wanted = {path: left for path, left in self._wanted.items() if plain_name(path) not in self._aside}
        chat = [] if self._orders.chat is None else ["--chat", self._orders.chat]
        self.state = self._what_is_aside()
        part = find_part(journal)
        self._notify(
            f"The archive made no progress on {part} for {self._orders.limit_s:g} s or longer: it is set aside, and "
            f"the archive goes on without it. Import it later: {import_command(part, self._orders.where, *chat)}"
        )
        self._changed.set()

    async def _start(self, name_fd: int) -> asyncio.subprocess.Process:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", "recorder.archive.following.process"),
            env={name: value for name, value in os.environ.items() if name != PASSWORD_VARIABLE},
            stdin=asyncio.subprocess.PIPE,
            stdout=None if self._orders.events else asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
            pass_fds=(name_fd,),
            start_new_session=True,  # Ctrl-C on the terminal is for us, not for it
            limit=_LONGEST_LINE,
        )
        assert process.stdin is not None
        orders = replace(self._orders, name_fd=name_fd, aside=tuple(map(str, self._aside)))
        process.stdin.write(f"{orders.to_line()}\n".encode())
        for path, left in self._wanted.items():
            process.stdin.write(_order(path, left))
        self._process = process
        self.state = self._what_is_aside() or "follows the journal"
        if self._ending.is_set():
            self._close_orders()
        return process

    def _close_orders(self) -> None:
        """Send no more orders: the process ends when it has carried out those that it has."""
        if self._process is not None:
            assert self._process.stdin is not None
            self._process.stdin.close()

    async def _listen(self, process: asyncio.subprocess.Process) -> None:
        assert process.stderr is not None
        while True:
            try:
                line = await process.stderr.readline()
            except ValueError:  # longer than any that it says
                continue
            if not line:
                return
            try:
                facts = json.loads(line)
            except ValueError:
                facts = None
            if isinstance(facts, dict):
                self._take_message(facts)
            else:  # what Python itself says
                self._notify(clean(line.decode(errors="replace").rstrip("\n")))

    def _take_message(self, facts: dict[str, Any]) -> None:
        if "done" in facts:
            path = Path(facts["done"])
            self._wanted.pop(path, None)
            self.appended += facts["appended"]
            self._done(path, facts["games"])
            self._changed.set()
        elif "appended" in facts:
            self.appended += facts["appended"]
        elif facts.get("left"):
            self.left = True
            self._notify(f"{facts['left']}: none is printed from here on. Recording goes on.")
        elif "problem" in facts:
            self._problem = facts["problem"] is not None
            if self._problem:
                self._notify(clean(facts["problem"]))
            elif facts["over"]:
                self._notify("The archive is writable again; updates resumed.")
        self.state = "is behind" if self._problem else self._what_is_aside() or "is up to date"

    def _what_is_aside(self) -> str:
        return f"lacks {plural(len(self._aside), 'journal')} set aside" if self._aside else ""

    def _want(self, path: Path, *, left: bool) -> None:
        if path in self._wanted or plain_name(path) in self._aside:
            return
        self._wanted[path] = left
        stdin = None if self._process is None else self._process.stdin
        if stdin is not None and not stdin.is_closing():  # else the next process gets it
            stdin.write(_order(path, left))


def _first_part(journal: Path) -> Path:
    try:
        return log_files(journal)[0]
    except OSError:
        return journal


def plain_name(part: Path) -> Path:
    """What a journal's part is called before it is compressed."""
    return part.with_suffix("") if part.suffix == ".zst" else part


def _order(journal: Path, left: bool) -> bytes:
    return f"{json.dumps({'journal': str(journal), 'left': left})}\n".encode()


def _absolute(target: str) -> str:
    return f"{Path.cwd()}{os.sep}{target}" if not target.startswith(os.sep) else target  # a slash at the end stays


async def import_left_open(
    journals: Path,
    import_them: Callable[[list[Path]], Awaitable[bool]] | None,
    report: Callable[[str], object],
    later: str,
) -> None:
    """Import the journals of a folder that are neither closed nor being written, then end them.

    They are found only once. What could not be imported stays for the next start.

    Args:
        journals: the folder; it need not exist.
        import_them: brings the archive up to date with journals, and says what keeps it from that; None: nothing is
            imported. Whether it could.
        report: gets one sentence if there were any.
        later: the command that imports them.
    """

    def look() -> list[Path]:
        return [found.path for found in open_sessions(journals) if not found.written]

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
    with contextlib.suppress(OSError, JournalError):  # it stays as it was: the next start finds it
        return close_left_open(path)
    return False
