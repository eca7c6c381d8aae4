"""What the proxy adds to the time between a client's question and the server's answer on this machine.

Run: ``python -m benchmarks.bench_proxy [questions] [--sync WORD]``. The server is a process of its own and answers
each line with a board; so is the proxy. Questions go in turn to the server itself and through the proxy, so that
what else the machine does touches both alike. What is added is the difference of neighbours.
"""

from __future__ import annotations

import argparse
import os
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager

_BOARD = (
    b"\n\r<12> rnbqkbnr pppppppp -------- -------- ----P--- -------- PPPP-PPP RNBQKBNR B 4 1 1 1 1 0 1 Ann Bob 1 5 0 "
    b"39 39 300000 300000 1 P/e2-e4 (0:00.000) e4 1 1 0\n\rfics% "
)
_LOGIN = b"login: "
_IN = b"\n\r**** Starting FICS session as Ann(U) ****\n\rfics% "
_QUESTION = b"e4\n"


def _answer() -> None:
    """The server's process: let everybody in, then a board for each line."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        print(listener.getsockname()[1], flush=True)
        while True:
            client, _ = listener.accept()
            if os.fork() == 0:
                client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                client.sendall(_LOGIN)
                client.recv(1024)
                client.sendall(_IN)
                while data := client.recv(1024):
                    client.sendall(_BOARD * data.count(b"\n"))
                os._exit(0)
            client.close()


@contextmanager
def _started(*words: str, talks: str) -> Iterator[int]:
    """A process that says its port on ``stdout`` or ``stderr``."""
    out, err = (subprocess.PIPE if talks == name else None for name in ("stdout", "stderr"))
    with subprocess.Popen([sys.executable, *words], text=True, stdout=out, stderr=err) as process:
        stream = getattr(process, talks)
        line = ""
        while not (found := re.search(r"(?:^|-icsport )(\d+)$", line)):
            line = stream.readline()
            assert line, f"{words} ended"
            line = line.rstrip("\n")
        try:
            yield int(found[1])
        finally:
            process.terminate()
            stream.read()


def _client(port: int) -> socket.socket:
    client = socket.create_connection(("127.0.0.1", port))
    client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    _read(client, _LOGIN)
    client.sendall(b"guest\n")
    _read(client, _IN)
    return client


def _read(client: socket.socket, expected: bytes) -> None:
    heard = b""
    while len(heard) < len(expected):
        data = client.recv(4096)
        assert data, "the connection ended"
        heard += data
    assert heard == expected, heard


def _ask(client: socket.socket) -> int:
    begin = time.perf_counter_ns()
    client.sendall(_QUESTION)
    _read(client, _BOARD)
    return time.perf_counter_ns() - begin


def measure(questions: int, sync: str) -> tuple[list[int], list[int]]:
    """Ask in turn; nanoseconds until the answer, direct and through the proxy."""
    with (
        tempfile.TemporaryDirectory() as folder,
        _started(__file__, "--serve", talks="stdout") as server,
        _started(
            *("-m", "recorder", "proxy", f"127.0.0.1:{server}", "--listen", "127.0.0.1:0", "--no-import"),
            *("--journal-dir", folder, "--sync", sync),
            talks="stderr",
        ) as proxy,
        _client(server) as direct,
        _client(proxy) as through,
    ):
        for _ in range(100):
            _ask(direct), _ask(through)
        pairs = [(_ask(direct), _ask(through)) for _ in range(questions)]
    return [pair[0] for pair in pairs], [pair[1] for pair in pairs]


def _percentile(values: list[int], share: int) -> float:
    """In microseconds."""
    return statistics.quantiles(values, n=100, method="inclusive")[share - 1] / 1000


def main() -> None:
    """Measure and print a table."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("questions", nargs="?", type=int, default=5000)
    options.add_argument("--sync", choices=("always", "interval", "os"), action="append")
    options.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    given = options.parse_args()
    if given.serve:
        _answer()
    print(f"{given.questions} questions each, round trips in microseconds (added: two passes through the proxy)")
    print(f"{'sync':10}{'':12}{'p50':>10}{'p99':>10}")
    for sync in given.sync or ("interval", "os", "always"):
        direct, through = measure(given.questions, sync)
        added = [there - here for here, there in zip(direct, through, strict=True)]
        for name, values in (("direct", direct), ("proxy", through), ("added", added)):
            print(f"{sync:10}{name:12}{_percentile(values, 50):10.0f}{_percentile(values, 99):10.0f}")


if __name__ == "__main__":
    main()
