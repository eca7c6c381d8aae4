"""What the replay server costs with many clients: processor time, memory, and how late its boards come.

Run: ``python -m benchmarks.bench_replay [--small] [--clients N …] [--speed N]``. A generated connection with
32 games at once, one board a recorded second, is served to clients of this process that observe all of it. A board is
late by the time from when it was due to when its bytes were read; what is due is reckoned from the board of the same
client that came earliest, so that a delay that all boards have is not seen.
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import selectors
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from benchmarks import generate
from benchmarks.live_session import messages
from recorder.journal.format import VERSION, JournalHeader, Record, RecordKind, format_header, format_record

_FRAME = re.compile(rb"^<12> .*", re.M)
_GAMES = 40
_RECORDED_NS = 1_000_000_000  # between two boards
_BETWEEN_STARTS_S = 0.01
_MODES = {
    "games, own clocks": ("--as-games", "--observe"),
    "games, shared clock": ("--as-games", "--observe", "--shared"),
    "bytes, own clocks": (),
}


class Heard(NamedTuple):
    """What one client read, and when, in seconds."""

    at_s: list[float]
    data: list[bytes]


class Measured(NamedTuple):
    """One mode's figures."""

    boards: int
    seconds: float
    processor_s: float
    begin_kib: int
    end_kib: int
    peak_kib: int
    late_ms: list[float]


def _key(frame: bytes) -> bytes:
    """The fields that identify a board of the recording, independent of how its clocks are printed."""
    words = frame.split()
    return b" ".join([*words[1:10], *words[17:19], words[26]])


def journal(log: Path, path: Path, most: int) -> dict[bytes, float]:
    """Write a journal with so many boards, one a second; when each board that comes once is recorded, in seconds."""
    header = JournalHeader(VERSION, "0123456789abcdef", 1, "record", "freechess.org", 5000, 0, "benchmark")
    at_s: dict[bytes, float] = {}
    count: Counter[bytes] = Counter()
    with path.open("wb") as file:
        file.write(format_header(header) + b"\n")
        for number, piece in enumerate(messages(log.read_bytes())[:most]):
            at_ns = number * _RECORDED_NS
            file.write(format_record(Record(at_ns, RecordKind.RECEIVED, piece)) + b"\n")
            for frame in _FRAME.findall(piece.replace(b"\r", b"")):
                count[_key(frame)] += 1
                at_s[_key(frame)] = at_ns / 1e9
    return {key: at for key, at in at_s.items() if count[key] == 1}


@contextmanager
def served(*words: object) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """The server's process and its port."""
    command = [sys.executable, "-m", "recorder", "replay", "server", "--listen", "0", *map(str, words)]
    with subprocess.Popen(command, text=True, stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if "Connect a client" in line:
                break
        try:
            yield process, int(line.split()[-1])
        finally:
            process.terminate()
            process.stderr.read()


def _status_kib(pid: int, name: str) -> int:
    match = re.search(rf"^{name}:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text(), re.M)
    assert match is not None
    return int(match[1])


def _processor_s(pid: int) -> float:
    words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def _log_in(port: int, number: int) -> socket.socket:
    letters = "".join(chr(ord("a") + number // 26**place % 26) for place in range(3))
    client = socket.create_connection(("127.0.0.1", port))
    client.sendall(f"Client{letters}\n\niset ms 1\niset nowrap 1\n".encode())
    heard = b""
    while b"nowrap set." not in heard and b"observe" not in heard and b"Starting" not in heard:
        heard += client.recv(1 << 16)
    client.setblocking(False)
    return client


def _listen(clients: list[socket.socket], heard: list[Heard], until_s: float, selector: selectors.BaseSelector) -> None:
    while (left := until_s - time.perf_counter()) > 0:
        for key, _ in selector.select(left):
            data = clients[key.data].recv(1 << 16)
            assert data, "the server has sent a client away"
            heard[key.data].at_s.append(time.perf_counter())
            heard[key.data].data.append(data)


def late(heard: Heard, recorded_s: dict[bytes, float], speed: int, begin_s: float) -> list[float]:
    """Milliseconds by which each board came late that was read after ``begin_s``."""
    found: list[tuple[float, float]] = []
    rest = b""
    for at_s, data in zip(heard.at_s, heard.data, strict=True):
        *lines, rest = (rest + data.replace(b"\r", b"")).split(b"\n")
        for line in lines:
            if line.startswith(b"<12> ") and (due_s := recorded_s.get(_key(line))) is not None:
                found.append((at_s, at_s - due_s / speed))
    earliest = min((ahead for at_s, ahead in found if at_s >= begin_s), default=0.0)
    return [(ahead - earliest) * 1000 for at_s, ahead in found if at_s >= begin_s]


def measure(source: Path, recorded_s: dict[bytes, float], mode: str, count: int, speed: int, seconds: int) -> Measured:
    """Serve the given number of clients for the given time, once all of them have begun."""
    with served(source, "--speed", speed, *_MODES[mode]) as (process, port), selectors.DefaultSelector() as selector:
        clients = [_log_in(port, number) for number in range(count)]
        heard = [Heard([], []) for _ in clients]
        for number, client in enumerate(clients):
            selector.register(client, selectors.EVENT_READ, number)
            client.sendall(b"set style 12\n")
            _listen(clients, heard, time.perf_counter() + _BETWEEN_STARTS_S, selector)
        _listen(clients, heard, time.perf_counter() + 1, selector)
        begin_s, used_s, begin_kib = time.perf_counter(), _processor_s(process.pid), _status_kib(process.pid, "VmRSS")
        _listen(clients, heard, begin_s + seconds, selector)
        used_s, taken_s = _processor_s(process.pid) - used_s, time.perf_counter() - begin_s
        end_kib, peak_kib = _status_kib(process.pid, "VmRSS"), _status_kib(process.pid, "VmHWM")
        for client in clients:
            client.close()
    times = [ms for one in heard for ms in late(one, recorded_s, speed, begin_s)]
    return Measured(len(times), taken_s, used_s, begin_kib, end_kib, peak_kib, times)


def main() -> None:
    """Measure and print a table."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--clients", type=int, nargs="+", default=[1, 100])
    options.add_argument("--speed", type=int, default=50, help="boards a second to each client (default: 50)")
    options.add_argument("--seconds", type=int, default=10, help="of each run (default: 10)")
    options.add_argument("--small", action="store_true", help="5 clients, a second: only shows that it runs")
    given = options.parse_args()
    counts, speed, seconds = ([5], 20, 1) if given.small else (given.clients, given.speed, given.seconds)
    log = generate.cached(_GAMES).log
    print(f"Python {platform.python_version()}, {os.cpu_count()} processors, speed {speed}")
    print(f"{'':22}{'clients':>8}{'boards/s':>10}{'CPU %':>8}{'µs/board':>10}", end="")
    print(f"{'peak MiB':>10}{'growth KiB':>12}{'late ms p50':>13}{'p99':>8}{'max':>8}")
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "session.journal"
        recorded_s = journal(log, source, speed * (seconds + max(counts) // 50 + 8))
        for mode in _MODES:
            for count in counts:
                found = measure(source, recorded_s, mode, count, speed, seconds)
                cuts = statistics.quantiles(found.late_ms, n=100, method="inclusive")
                print(
                    f"{mode:22}{count:8}{found.boards / found.seconds:10.0f}"
                    f"{found.processor_s / found.seconds * 100:8.1f}{found.processor_s / found.boards * 1e6:10.0f}"
                    f"{found.peak_kib / 1024:10.1f}{found.end_kib - found.begin_kib:12}"
                    f"{cuts[49]:13.2f}{cuts[98]:8.2f}{max(found.late_ms):8.2f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
