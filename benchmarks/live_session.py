"""A recorder that listens to a server of generated traffic, both in processes of their own, for measurements.

When a sync of the journal and a commit of the archive have returned is noted in the memory of the processes that do
them: the processors are otherwise idle. Times are those of one clock that all processes read. Those processes are
this module, called with ``--serve``, ``--record`` or ``--archive``.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import socket
import sqlite3
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from benchmarks.run import ENVIRONMENT
from recorder.journal import find_part, part_blocks
from recorder.model import Game
from tests.support.testserver import FICS

__all__ = ["Session", "messages", "read_only", "resident_kib", "session"]

_PATIENCE_S = 120.0
_SLICE = 1 << 16
_PROMPT = b"fics% "
_NOTE = struct.Struct("<qq")


# -- the server -----------------------------------------------------------------------------------------------------


def messages(data: bytes) -> list[bytes]:
    """Traffic cut behind prompts, so that no piece but the last has more than one board of a game that goes on."""
    ends = [found.end() for found in re.finditer(re.escape(_PROMPT), data)]
    pieces: list[bytes] = []
    begin = done = 0
    for end in [*ends, len(data)]:
        if b"\n\r<12> " in data[done:end]:
            pieces.append(data[begin:end])
            begin = end
        done = end
    return [*pieces, data[begin:]] if begin < len(data) else pieces


def serve(log: Path) -> None:
    """Let one client in as a guest, then send what is ordered on standard input and answer when each piece went.

    An order is ``first last rate``: numbers of messages, and how many a second, 0 for as many as can be.
    """
    pieces = messages(log.read_bytes())
    with socket.create_server(("127.0.0.1", 0)) as listener:
        print(listener.getsockname()[1], flush=True)
        client, _ = listener.accept()
    with client:
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        client.sendall(FICS.encode(FICS.banner + FICS.login))
        client.recv(1024)
        client.sendall(FICS.encode(FICS.guest, name="GuestABCD"))
        client.recv(1024)
        client.sendall(FICS.encode(FICS.welcome + FICS.prompt, name="GuestABCD", mark="(U)"))
        threading.Thread(target=_drain, args=(client,), daemon=True).start()
        for order in sys.stdin:
            first, last, rate = map(int, order.split())
            print(json.dumps(_send(client, pieces[first:last], rate)), flush=True)


def _send(client: socket.socket, pieces: list[bytes], rate: int) -> list[int]:
    begun = time.monotonic_ns()
    if not rate:
        data = b"".join(pieces)
        for begin in range(0, len(data), _SLICE):
            client.sendall(data[begin : begin + _SLICE])
        return [begun]
    sent = []
    for number, piece in enumerate(pieces):
        due = begun + number * 1_000_000_000 // rate
        while (wait := due - time.monotonic_ns()) > 0:
            time.sleep(wait / 1e9)
        sent.append(time.monotonic_ns())
        client.sendall(piece)
    return sent


def _drain(client: socket.socket) -> None:
    while client.recv(4096):
        pass


# -- the recorder ---------------------------------------------------------------------------------------------------


def record(times: Path, words: list[str]) -> None:
    """``ics-recorder`` with the time of every sync, and how long the file was, noted in memory."""
    from recorder.cli import main
    from recorder.journal import parts

    sync, start, noted = parts._sync, asyncio.create_subprocess_exec, bytearray()

    def noting(fd: int) -> None:
        size = os.fstat(fd).st_size
        sync(fd)
        noted.extend(_NOTE.pack(time.monotonic_ns(), size))

    async def starting(*command: str, **how: Any) -> asyncio.subprocess.Process:
        if command[-1] == "recorder.archive.recording.archiving":
            command = (command[0], "-m", "benchmarks.live_session", "--archive", str(_commits_of(times)))
        return await start(*command, **how)

    parts._sync = noting
    asyncio.create_subprocess_exec = starting  # type: ignore[assignment]  # the benchmark puts itself in between
    sys.argv[1:] = words
    try:
        main()
    finally:
        times.write_bytes(noted)


def archive(times: Path) -> int:
    """The archive's process with the time of every commit, and the place of the last board in it, noted in memory."""
    from recorder.archive.recording import archiving
    from storage.write import source as living

    noted = bytearray()

    class Noting(living.SourceInProgress):
        _place = _noted = -1

        def _comes(self, place: int) -> None:
            self._place = max(self._place, place)

        def commit(self) -> None:
            super().commit()
            if self._place > self._noted:
                noted.extend(_NOTE.pack(time.monotonic_ns(), self._place))
                self._noted = self._place

        def add_games(self, games: Sequence[Game]) -> None:
            super().add_games(games)
            self._comes(max((game.last_offset for game in games), default=-1))

        def replace(self, games: Sequence[tuple[int | None, Game]]) -> list[int]:
            self._comes(max((game.last_offset for _, game in games), default=-1))
            return super().replace(games)

    living.SourceInProgress = Noting  # type: ignore[misc]  # the benchmark notes what is stored
    try:
        return archiving.main()
    finally:
        times.write_bytes(noted)


def _commits_of(times: Path) -> Path:
    return times.with_name(f"{times.name}-archive")


class Session:
    """A server and a recorder that listens to it.

    Args:
        folder: where everything is. log: the traffic. sync: as ``--sync``. noted: whether syncs are noted.
    """

    def __init__(self, folder: Path, log: Path, sync: str, *, noted: bool) -> None:
        self.archive = folder / "archive.sqlite"
        self.journals = folder / "journals"
        self._times = folder / "syncs"
        self._log = log
        self._server = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.live_session", "--serve", log],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        port = self._answer()
        started = ["-m", "benchmarks.live_session", "--record", str(self._times)] if noted else ["-m", "recorder"]
        self._recorder = subprocess.Popen(
            [
                *(sys.executable, *started, "record", f"127.0.0.1:{port}", "--guest", "--observe", "rating > 9000"),
                *("--sync", sync, "--journal-dir", str(self.journals), "--db", str(self.archive), "--quiet"),
            ],
            stderr=subprocess.PIPE,
            env=ENVIRONMENT,
        )

    def _answer(self) -> Any:
        assert self._server.stdout is not None
        line = self._server.stdout.readline()
        assert line, "the server ended"
        return json.loads(line)

    def order(self, first: int, last: int, rate: int) -> None:
        """Let the server send some of its messages."""
        assert self._server.stdin is not None
        self._server.stdin.write(f"{first} {last} {rate}\n")
        self._server.stdin.flush()

    def sent(self) -> list[int]:
        """When the messages of the last order went."""
        found: list[int] = self._answer()
        return found

    def wait(self, ready: Callable[[sqlite3.Connection], object]) -> None:
        """Look into the archive until something is true of it."""
        ends = time.monotonic() + _PATIENCE_S
        while time.monotonic() < ends:
            assert self._recorder.poll() is None, self._recorder.stderr and self._recorder.stderr.read()
            try:
                with closing(read_only(self.archive)) as connection:
                    while time.monotonic() < ends and not ready(connection):
                        time.sleep(0.005)
                return
            except sqlite3.OperationalError:  # not there yet
                time.sleep(0.05)
        raise SystemExit("the archive did not get there in time")

    def memory_kib(self) -> dict[str, int]:
        """Resident memory of the recorder and of its child."""
        main = self._recorder.pid
        found = {"record": resident_kib(main)}
        for number, child in enumerate(Path(f"/proc/{main}/task/{main}/children").read_text().split()):
            found[f"child {number + 1}"] = resident_kib(int(child))
        return found

    def end(self) -> None:
        """Stop both."""
        self._recorder.send_signal(signal.SIGINT)
        assert self._recorder.stderr is not None
        messages = self._recorder.stderr.read().decode()
        assert self._recorder.wait() == 0, messages
        assert self._server.stdin is not None
        self._server.stdin.close()
        self._server.wait()

    def kill(self) -> None:
        """Stop both, whatever they do."""
        for process in (self._recorder, self._server):
            if process.poll() is None:
                process.kill()
                process.wait()

    @property
    def journal(self) -> bytes:
        """What was recorded, once it has ended."""
        (path,) = {find_part(path) for path in self.journals.iterdir() if not path.name.startswith(".")}
        return b"".join(part_blocks(path))

    @property
    def syncs(self) -> list[tuple[int, int]]:
        """When the disk had how much of the journal, in order."""
        return list(_NOTE.iter_unpack(self._times.read_bytes()))

    @property
    def commits(self) -> list[tuple[int, int]]:
        """When the archive had the plies up to which place, in order."""
        return list(_NOTE.iter_unpack(_commits_of(self._times).read_bytes()))


@contextmanager
def session(log: Path, sync: str, *, noted: bool = False) -> Iterator[Session]:
    """A session in a folder that is removed when it is over."""
    with tempfile.TemporaryDirectory() as folder:
        running = Session(Path(folder), log, sync, noted=noted)
        try:
            yield running
        finally:
            running.kill()


def resident_kib(process: int) -> int:
    """Resident memory of a process."""
    found = re.search(r"^VmRSS:\s+(\d+) kB$", Path(f"/proc/{process}/status").read_text(), re.MULTILINE)
    return int(found[1]) if found else 0


def read_only(archive: Path) -> sqlite3.Connection:
    """The archive as any other program may look at it meanwhile."""
    return sqlite3.connect(f"file:{archive}?mode=ro", uri=True, isolation_level=None, check_same_thread=False)


if __name__ == "__main__":
    role, place, *words = sys.argv[1:]
    if role == "--serve":
        serve(Path(place))
    elif role == "--record":
        record(Path(place), words)
    else:
        sys.exit(archive(Path(place)))
