"""One fault run: a folder, a server in this process, the command as processes of their own, and what they leave."""

import asyncio
import contextlib
import fcntl
import os
import random
import re
import secrets
import signal
import struct
import sys
import termios
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from tests.faults import checks
from tests.faults.reader import Session, read_folder
from tests.faults.traffic import OBSERVE
from tests.support.testserver import Connection, ScriptedServer

LIMIT_S = 90.0
"""A machine with other work is slow; the command is not."""
_POLL_S = 0.004
_MARK = "ICS_FAULT_RUN"


class Troubles(Exception):  # noqa: N818 — several, reported together
    """What is not as it should be after a run."""


def delivered(connection: Connection) -> int:
    """How many of the server's bytes the other side's system has acknowledged: it holds them, whatever comes."""
    transport = connection._writer.transport
    unacknowledged = struct.pack("i", 0)
    number = transport.get_extra_info("socket").fileno()
    (waiting,) = struct.unpack("i", fcntl.ioctl(number, termios.TIOCOUTQ, unacknowledged))
    return len(connection.written) - transport.get_write_buffer_size() - int(waiting)


class Run:
    """The command as a process; what it says goes to a file, so that no child can hold us up."""

    def __init__(self, process: asyncio.subprocess.Process, talk: Path, mark: str) -> None:
        self.process = process
        self._talk = talk
        self.mark = mark

    @property
    def talk(self) -> str:
        """What it and its children have printed so far."""
        return self._talk.read_text(encoding="utf-8", errors="replace")

    async def says(self, text: str) -> None:
        """Wait until it has printed a text."""
        await until(lambda: text in self.talk or self.ended, f"it never printed {text!r}")
        if text not in self.talk:
            raise Troubles(f"it ended with {self.process.returncode} and never printed {text!r}: {self.talk}")

    @property
    def ended(self) -> bool:
        """Whether it is over."""
        return self.process.returncode is not None

    def signal(self, number: int) -> None:
        """Send a signal if it still runs. Not by the process object: that would take its exit status from the loop."""
        if not self.ended:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.process.pid, number)

    async def pause(self) -> None:
        """Stop it and wait until it stands still: a thread that is writing just now ends that first."""
        self.signal(signal.SIGSTOP)
        threads = Path(f"/proc/{self.process.pid}/task")
        await until(lambda: all(map(_stands, threads.glob("*/stat"))), "it continues after SIGSTOP")

    def family(self) -> dict[int, str]:
        """All running processes of this run by number, whatever their parent is now."""
        found = {}
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                if f"{_MARK}={self.mark}".encode() in (folder / "environ").read_bytes().split(b"\0"):
                    found[int(folder.name)] = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode().strip()
            except OSError:  # it has ended, or is another user's
                continue
        return found

    def children(self) -> dict[int, str]:
        """The family without the process itself."""
        return {number: words for number, words in self.family().items() if number != self.process.pid}

    async def end(self, number: int | None = None, *, status: int | tuple[int, ...] = 0) -> None:
        """Wait for the end, after a signal if one is given: its status, its last children, no traceback.

        Raises:
            Troubles: one of these is not as it should be.
        """
        if number is not None:
            self.signal(number)
        try:
            code = await asyncio.wait_for(self.process.wait(), LIMIT_S)
        except TimeoutError:
            family = self.family()
            raise Troubles(f"it did not end within {LIMIT_S:.0f} s, {family}: {self.talk}") from None
        wanted = status if isinstance(status, tuple) else (status,)
        if code not in wanted:
            raise Troubles(f"exit status {code}, not {wanted}: {self.talk}")
        try:
            await until(lambda: not self.family(), "", 30, poll_s=0.02)  # all processes are looked through
        except Troubles:
            raise Troubles(f"it left these behind: {self.family()}") from None
        if "Traceback" in self.talk or "Exception ignored" in self.talk:
            raise Troubles(f"it shows its insides: {self.talk}")

    def kill_all(self) -> None:
        """Whatever is left."""
        for number in self.family():
            with contextlib.suppress(ProcessLookupError):
                os.kill(number, signal.SIGKILL)


class World:
    """What one run of a fault has.

    Args:
        kind, seed: name it; everything random follows from them.
        folder: an empty one.
        pool: where checks run.

    Attributes:
        chance: the source of everything random.
        journals, archive, pgn: where the command writes.
    """

    def __init__(self, kind: str, seed: int, folder: Path, pool: ProcessPoolExecutor) -> None:
        self.seed = seed
        self.chance = random.Random(f"{kind}/{seed}")
        self.folder = folder
        self.journals = folder / "journals"
        self.archive = folder / "archive.sqlite"
        self.pgn = folder / "games.pgn"
        self.sync = self.chance.choice(("always", "interval", "os"))
        self._pool = pool
        self._runs: list[Run] = []

    def turn(self, *ways: str) -> str:
        """One of a fault's ways: with enough seeds in a row, all of them come."""
        return ways[self.seed % len(ways)]

    # -- processes -----------------------------------------------------------------------------------------------

    async def record(self, server: ScriptedServer, *words: object, **how: Any) -> Run:
        """Start ``record`` as a guest with everything that it can write."""
        return await self.run(
            *("record", f"127.0.0.1:{server.port}", "--guest", "--observe", OBSERVE, "--sync", self.sync),
            *("--journal-dir", self.journals, "--pgn", self.pgn, *words),
            **how,
        )

    async def run(
        self,
        *words: object,
        env: dict[str, str] | None = None,
        before: Callable[[], None] | None = None,
        program: tuple[str, ...] = ("-m", "recorder"),
    ) -> Run:
        """Start the command.

        Args:
            env: variables besides those that keep it in the folder. before: done in the process before it begins.
            program: for the interpreter.
        """
        mark = secrets.token_hex(8)
        talk = self.folder / f"talk{len(self._runs)}"
        variables = {
            **{name: value for name, value in os.environ.items() if not name.startswith("ICS_RECORDER")},
            "ICS_RECORDER_DB": str(self.archive),
            "XDG_DATA_HOME": str(self.folder),
            _MARK: mark,
            **(env or {}),
        }
        with talk.open("wb") as out:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, *program, *map(str, words)),
                env=variables,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                preexec_fn=before,
            )
        self._runs.append(Run(process, talk, mark))
        return self._runs[-1]

    def close(self) -> None:
        """End what still runs."""
        for run in self._runs:
            run.kill_all()

    # -- moments -------------------------------------------------------------------------------------------------

    async def written(self, connection: Connection, count: int, run: Run | None = None) -> None:
        """Wait until a server has written so many bytes, or is done, or the run has ended."""
        await until(
            lambda: len(connection.written) >= count or connection.done.is_set() or (run is not None and run.ended),
            f"the server never wrote {count:,} bytes",
        )

    async def journalled(self, connection: Connection, folder: Path | None = None) -> int:
        """Wait until all that a server has written up to now is in its journal; how many bytes these are."""
        count = len(connection.written)
        where = folder or self.journals

        def has_all() -> bool:  # reading journals takes time from the servers that talk meanwhile
            with contextlib.suppress(FileNotFoundError):  # one is compressed just now
                if sum(path.stat().st_size for path in where.glob("*.journal*")) < count and not _packed(where):
                    return False
            return len(self.session_of(connection, folder).received) >= count

        await until(has_all, f"{count:,} bytes are not journalled", poll_s=0.03)
        return count

    # -- what is left --------------------------------------------------------------------------------------------

    def session_of(self, connection: Connection, folder: Path | None = None) -> Session:
        """A connection's journal, found by the banner that no other connection has; an empty one if there is none."""
        name = re.match(rb"\s*This is connection \S+\.", bytes(connection.written))
        for session in read_folder(folder or self.journals):
            if name is not None and session.received.startswith(name[0]):
                return session
        return Session({})

    def check_received(self, connection: Connection, at_least: int, folder: Path | None = None) -> Session:
        """The journal holds a beginning of what a server wrote, up to the sync point at least.

        Raises:
            Troubles: it does not.
        """
        session = self.session_of(connection, folder)
        sent, received = bytes(connection.written), bytes(session.received)
        if not sent.startswith(received):
            place = next(at for at, pair in enumerate(zip(sent, received, strict=False)) if pair[0] != pair[1])
            raise Troubles(f"the journal's byte {place:,} is not what the server wrote")
        if len(received) < at_least:
            raise Troubles(f"{at_least - len(received):,} of {at_least:,} bytes before the sync point are missing")
        return session

    async def check_archive(self, *journals: Path, words: tuple[str, ...] = (), loosely: bool = False) -> None:
        """The archive is what one import of the journals gives, nothing is in it twice.

        Raises:
            Troubles: it is not.
        """
        where = list(journals) or [self.journals]
        work = self.folder / "fresh"
        work.mkdir(exist_ok=True)
        await self._ask(checks.archive_problems, self.archive, where, work, words, loosely)

    async def check_pgn(self, pgn: Path | None = None, *, all_of_them: bool = True) -> None:
        """The PGN has every game that is over once.

        Raises:
            Troubles: it has not.
        """
        await self._ask(checks.pgn_problems, pgn or self.pgn, self.archive, all_of_them)

    async def check_status(self, *, written: int, left_open: int) -> None:
        """``status`` reports these numbers of journals.

        Raises:
            Troubles: it reports other numbers.
        """
        rows = await asyncio.get_running_loop().run_in_executor(self._pool, checks.status_of, self.journals)
        counts = sum(bool(row["written"]) for row in rows), sum(not row["written"] for row in rows)
        if counts != (written, left_open):
            raise Troubles(f"status reports {counts[0]} written and {counts[1]} left open, not {written}, {left_open}")

    async def do(self, *words: object, status: int = 0) -> None:
        """Run a command to its end, in the pool.

        Raises:
            Troubles: its exit status is another.
        """
        await self._ask(checks.command_problems, self.archive, tuple(map(str, words)), status)

    async def _ask(self, check: Callable[..., list[str]], *values: object) -> None:
        problems = await asyncio.get_running_loop().run_in_executor(self._pool, check, *values)
        if problems:
            raise Troubles("; ".join(problems))


def _stands(stat: Path) -> bool:
    """Whether a thread is stopped, or is no more."""
    try:
        return stat.read_bytes().rpartition(b")")[2].split()[0] in (b"T", b"Z", b"X")
    except OSError:
        return True


def _packed(folder: Path) -> bool:
    return any(folder.glob("*.zst"))


async def until(ready: Callable[[], bool], otherwise: str, limit_s: float = LIMIT_S, poll_s: float = _POLL_S) -> None:
    """Wait for something.

    Raises:
        Troubles: it did not come to pass.
    """
    loop = asyncio.get_running_loop()
    end_s = loop.time() + limit_s
    while not ready():
        if loop.time() > end_s:
            raise Troubles(otherwise)
        await asyncio.sleep(poll_s)


def one_sentence(talk: str, *words: str) -> None:
    """A message of one line that contains these words was printed once.

    Raises:
        Troubles: it was not printed, or not once.
    """
    lines = [line for line in talk.splitlines() if all(word in line for word in words)]
    if len(lines) != 1:
        raise Troubles(f"{len(lines)} lines, not one, contain {words}: {talk}")
