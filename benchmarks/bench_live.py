"""What a recorder costs while it records: how late a move is safe and in the archive, how much it takes, its memory.

Run: ``python -m benchmarks.bench_live [--small] [--only NAME…] [-o FILE]``. A server in a process of its own sends
generated traffic on loopback to ``ics-recorder record``, which keeps its archive as it always does. When a sync of the
journal and a commit of the archive have returned is noted in the memory of the processes that do them: nobody else
takes a processor meanwhile. Times are those of one clock that all processes read.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import re
import signal
import socket
import sqlite3
import statistics
import struct
import subprocess
import sys
import tempfile
import threading
import time
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks import generate
from benchmarks.run import ENVIRONMENT, import_log
from recorder.events import Chunk
from recorder.journal import JournalReader, find_part, part_blocks
from recorder.live.manners import FICS
from recorder.model import Game
from recorder.sources.journal import JournalDecoder
from recorder.wire import LineReader

GOALS = {
    "at 50/s, p50 ms": (1.0, "≤"),
    "at 50/s, p99 ms": (10.0, "≤"),
    "at 1000/s, p50 ms": (1.0, "≤"),
    "at 1000/s, p99 ms": (10.0, "≤"),
    "throughput / import": (0.8, "≥"),
    "memory at 10x the traffic": (1.05, "≤"),
}
_RATES = (50, 1000)
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
        if command[-1] == "recorder.cli.archiving":
            command = (command[0], "-m", "benchmarks.bench_live", "--archive", str(_commits_of(times)))
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
    from recorder.cli import archiving
    from storage import living

    noted = bytearray()

    class Noting(living.LivingSource):
        _place = _noted = -1

        def _comes(self, place: int) -> None:
            self._place = max(self._place, place)

        @contextmanager
        def transaction(self) -> Iterator[None]:
            with super().transaction():
                yield
            if self._place > self._noted:
                noted.extend(_NOTE.pack(time.monotonic_ns(), self._place))
                self._noted = self._place

        def add_games(self, games: Sequence[Game]) -> None:
            super().add_games(games)
            self._comes(max(game.last_offset for game in games))

        def show(self, game: Game, goes_on: int | None, before: living.Place | None) -> living.Place:
            self._comes(game.last_offset)
            return super().show(game, goes_on, before)

        def gain(self, place: living.Place, observation: int, *what: Any) -> None:
            super().gain(place, observation, *what)
            self._comes(what[3])

    living.LivingSource = Noting  # type: ignore[misc]  # as above
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
        self._journals = folder / "journals"
        self._times = folder / "syncs"
        self._log = log
        self._server = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.bench_live", "--serve", log],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        port = self._answer()
        started = ["-m", "benchmarks.bench_live", "--record", str(self._times)] if noted else ["-m", "recorder"]
        self._recorder = subprocess.Popen(
            [
                *(sys.executable, *started, "record", f"127.0.0.1:{port}", "--guest", "--observe", "rating > 9000"),
                *("--sync", sync, "--journal-dir", str(self._journals), "--db", str(self.archive), "--quiet"),
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
        found = {"record": _resident_kib(main)}
        for number, child in enumerate(Path(f"/proc/{main}/task/{main}/children").read_text().split()):
            found[f"child {number + 1}"] = _resident_kib(int(child))
        return found

    def end(self) -> None:
        """Stop both."""
        self._recorder.send_signal(signal.SIGINT)
        assert self._recorder.stderr is not None
        said = self._recorder.stderr.read().decode()
        assert self._recorder.wait() == 0, said
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
        (path,) = {find_part(path) for path in self._journals.iterdir() if not path.name.startswith(".")}
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


def _resident_kib(process: int) -> int:
    found = re.search(r"^VmRSS:\s+(\d+) kB$", Path(f"/proc/{process}/status").read_text(), re.MULTILINE)
    return int(found[1]) if found else 0


def read_only(archive: Path) -> sqlite3.Connection:
    """The archive as any other program may look at it meanwhile."""
    return sqlite3.connect(f"file:{archive}?mode=ro", uri=True, isolation_level=None, check_same_thread=False)


# -- what is measured -----------------------------------------------------------------------------------------------


class Delay(NamedTuple):
    """Milliseconds from the byte sent until the journal's disk has it, the row is committed, and both are so."""

    safe: float
    committed: float
    both: float


def latency(log: Path, rate: int, seconds: int) -> list[Delay]:
    """Delays of all plies that came in so many seconds."""
    pieces = messages(log.read_bytes())
    warm = min(2 * rate, 200)
    count = min(rate * seconds, len(pieces) - warm)
    with session(log, "always", noted=True) as running:
        running.order(0, warm, rate)
        running.sent()
        running.wait(_has_plies(warm // 2))
        running.order(warm, warm + count, rate)
        sent = running.sent()
        time.sleep(1)
        running.end()
        with closing(read_only(running.archive)) as archive:
            plies = {place for (place,) in archive.execute('SELECT "offset" FROM v_plies')}
        went = dict(zip(range(warm, warm + count), sent, strict=True))
        boards = list(zip(_boards_sent(pieces[: warm + count]), _boards_journalled(running.journal), strict=True))
        sizes, syncs = [size for _, size in running.syncs], [at for at, _ in running.syncs]
        places, commits = [place for _, place in running.commits], [at for at, _ in running.commits]
    delays = []
    for number, (place, end) in boards:
        if number < warm or place not in plies:
            continue
        safe = syncs[bisect_left(sizes, end)]
        index = bisect_left(places, place)
        times = (safe, commits[index], max(safe, commits[index]))
        delays.append(Delay(*((at - went[number]) / 1e6 for at in times)))
    return delays


def _boards_sent(pieces: list[bytes]) -> list[int]:
    """For each board the number of the message that completed it."""
    reader = LineReader()
    lines = [line for number, piece in enumerate(pieces) for line in reader.receive(Chunk(piece, 0, number))]
    return [line.at_ms for line in lines if line.text.startswith("<12> ") and line.at_ms is not None]


def _boards_journalled(journal: bytes) -> list[tuple[int, int]]:
    """For each board its place, and the end of the record that completed it."""
    entries = [entry.offset for entry in JournalReader().read([journal])]
    reader, decoder = LineReader(), JournalDecoder()
    lines = [line for chunk in decoder.receive(journal) if chunk.data for line in reader.receive(chunk)]
    return [
        (line.offset, entries[bisect_right(entries, line.offset + len(line.text) + 1)])
        for line in lines
        if line.text.startswith("<12> ")
    ]


def _has_plies(count: int) -> Callable[[sqlite3.Connection], bool]:
    def has(archive: sqlite3.Connection) -> bool:
        (plies,) = archive.execute("SELECT sum(ply_count) FROM games").fetchone()
        return plies is not None and plies >= count

    return has


_GAMES = "SELECT white, black, server_game_no, result, ply_count FROM games ORDER BY first_offset"


def throughput(log: Path, folder: Path) -> tuple[float, float]:
    """Seconds of an import of the traffic, and from its first byte sent until the archive has all of it."""
    pieces = len(messages(log.read_bytes()))
    archive = folder / "import.sqlite"
    imported = import_log(log, archive, "--kind", "raw").seconds
    with closing(read_only(archive)) as connection:
        expected = connection.execute(_GAMES).fetchall()
    plies = sum(game[-1] for game in expected)
    with session(log, "interval") as running:
        running.wait(lambda connection: connection.execute("SELECT count(*) FROM sources").fetchone()[0])
        running.order(0, pieces, 0)
        (begun,) = running.sent()
        running.wait(_has_plies(plies))
        taken = (time.monotonic_ns() - begun) / 1e9
        running.end()
        with closing(read_only(running.archive)) as connection:
            assert connection.execute(_GAMES).fetchall() == expected, "other games than the import has"
    return imported, taken


def disk(rate: int, count: int) -> list[float]:
    """Milliseconds that the disk takes for an append of a board and a sync: nobody can be quicker."""
    with tempfile.NamedTemporaryFile() as file:
        taken = []
        begun = time.perf_counter()
        for number in range(count):
            time.sleep(max(0.0, begun + number / rate - time.perf_counter()))
            before = time.perf_counter()
            os.write(file.fileno(), bytes(230))
            os.fdatasync(file.fileno())
            taken.append((time.perf_counter() - before) * 1000)
    return taken


def memory(log: Path) -> tuple[dict[str, int], dict[str, int]]:
    """Resident KiB of each process after a tenth of the traffic, and after all of it."""
    pieces = messages(log.read_bytes())
    with session(log, "interval") as running:
        found = []
        for first, last in ((0, len(pieces) // 10), (len(pieces) // 10, len(pieces))):
            running.order(first, last, 0)
            running.sent()
            plies = sum(piece.count(b"\n\r<12> ") for piece in pieces[:last]) * 9 // 10
            running.wait(_has_plies(plies))
            time.sleep(3)
            found.append(running.memory_kib())
        running.end()
    return found[0], found[1]


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.bench_live", description="Measure a living recorder.")
    parser.add_argument("--only", nargs="+", choices=("latency", "throughput", "memory"))
    parser.add_argument("--seconds", type=int, default=20, help="of each rate (default: 20)")
    parser.add_argument(
        "--games",
        type=int,
        default=1000,
        help="of the traffic (default: 1000); memory is measured with up to ten times as many",
    )
    parser.add_argument("--rounds", type=int, default=3, help="of the throughput (default: 3)")
    parser.add_argument("--small", action="store_true", help="a few seconds: only shows that it runs")
    parser.add_argument("-o", "--output", type=Path, help="also write the figures as JSON")
    parser.add_argument("--serve", type=Path, help=argparse.SUPPRESS)
    if sys.argv[1:2] == ["--record"]:
        record(Path(sys.argv[2]), sys.argv[3:])
        return
    if sys.argv[1:2] == ["--archive"]:
        sys.exit(archive(Path(sys.argv[2])))
    options = parser.parse_args()
    if options.serve is not None:
        serve(options.serve)
        return
    seconds, games, rounds = (1, 20, 1) if options.small else (options.seconds, options.games, options.rounds)
    log = generate.cached(games).log
    only = options.only or ("latency", "throughput", "memory")
    print(f"{games:,} games, {log.stat().st_size:,} bytes, Python {platform.python_version()}")
    figures: dict[str, float] = {}

    def tell(name: str, value: float) -> None:
        figures[name] = value
        goal = f"  (goal {GOALS[name][1]} {GOALS[name][0]:g})" if name in GOALS else ""
        print(f"{name:44} {value:12.3f}{goal}", flush=True)

    def tell_spread(name: str, values: list[float]) -> None:
        cuts = statistics.quantiles(values, n=100, method="inclusive")
        for word, value in (("p50", cuts[49]), ("p99", cuts[98]), ("max", max(values))):
            tell(f"{name}{word} ms", value)

    for rate in _RATES if "latency" in only else ():
        tell_spread(f"at {rate}/s, the disk alone, ", disk(rate, min(rate * seconds, 2000)))
        delays = latency(log, rate, seconds)
        tell(f"at {rate}/s, plies", len(delays))
        tell_spread(f"at {rate}/s, journal durable, ", [delay.safe for delay in delays])
        tell_spread(f"at {rate}/s, row committed, ", [delay.committed for delay in delays])
        tell_spread(f"at {rate}/s, ", [delay.both for delay in delays])
    if "throughput" in only:
        with tempfile.TemporaryDirectory() as folder:
            times = [throughput(log, Path(folder)) for _ in range(rounds)]
        tell("import MB/s", statistics.median(log.stat().st_size / imported / 1e6 for imported, _ in times))
        tell("recording MB/s", statistics.median(log.stat().st_size / taken / 1e6 for _, taken in times))
        tell("throughput / import", statistics.median(imported / taken for imported, taken in times))
    if "memory" in only:
        before, after = memory(generate.cached(games * 10).log)
        for name, kib in before.items():
            tell(f"{name}, MiB after the traffic", kib / 1024)
            tell(f"{name}, MiB after 10x", after[name] / 1024)
        tell("memory at 10x the traffic", max(after[name] / kib for name, kib in before.items()))
    if options.output is not None:
        options.output.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
