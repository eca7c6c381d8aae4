"""What the page of running recordings costs while many clients show it: its delay and memory, and the recorder's.

Run: ``python -m benchmarks.bench_live_page [--clients 50] [--seconds 600] [--rate 20] [-o FILE]``. A server in a
process of its own sends generated traffic to ``ics-recorder record``; ``ics-recorder web`` reads the journal.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import platform
import statistics
import subprocess
import sys
import threading
import time
import urllib.parse
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks import generate
from benchmarks.bench_live import latency
from benchmarks.live_session import Session, messages, resident_kib
from benchmarks.run import ENVIRONMENT

_SAMPLE_S = 5.0


class Watching:
    """The site and its clients.

    Args:
        journals: the folder of the recorder's journals. archive: that the site serves. clients: how many.
    Attributes:
        delays_ms: from a board's arrival at the recorder until a client had it, of all clients.
        memory_kib: of the site, every five seconds. processor_s: that the site took.
        wholes: how often a client got the whole state.
    """

    def __init__(self, journals: Path, archive: Path, clients: int) -> None:
        self.delays_ms: list[float] = []
        self.memory_kib: list[int] = []
        self.processor_s = 0.0
        self.wholes = 0
        self._clients = clients
        words = ["web", "--db", str(archive), "--journal-dir", str(journals), "--port", "0"]
        self._site = subprocess.Popen(
            [sys.executable, "-m", "recorder", *words], stdout=subprocess.PIPE, env=ENVIRONMENT, text=True
        )
        assert self._site.stdout is not None
        self._url = urllib.parse.urlsplit(self._site.stdout.readline().strip())
        self._over = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._watch()))

    def start(self) -> None:
        """Let the clients connect."""
        self._thread.start()

    def end(self) -> None:
        """Stop all."""
        self._over.set()
        self._thread.join()
        words = Path(f"/proc/{self._site.pid}/stat").read_text().rpartition(")")[2].split()
        self.processor_s = (int(words[11]) + int(words[12])) / 100
        self._site.terminate()
        self._site.wait()

    async def _watch(self) -> None:
        tasks = [asyncio.create_task(self._client()) for _ in range(self._clients)]
        while not self._over.is_set():
            await asyncio.sleep(_SAMPLE_S)
            self.memory_kib.append(resident_kib(self._site.pid))
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _client(self) -> None:
        reader, writer = await asyncio.open_connection(self._url.hostname, self._url.port, limit=1 << 24)
        writer.write(f"GET /live/events HTTP/1.1\r\nHost: {self._url.netloc}\r\n\r\n".encode())
        seen: dict[str, int] = {}
        name = b""
        while line := await reader.readline():
            if line.startswith(b"event: "):
                name = line[7:].strip()
            elif line.startswith(b"data: "):
                now_ms = time.time() * 1000
                self.wholes += name == b"whole"
                for board in json.loads(line[6:])["data"].get("boards", ()):
                    if name == b"change" and seen.get(board["id"]) != board["at_ms"]:
                        self.delays_ms.append(now_ms - board["at_ms"])
                    seen[board["id"]] = board["at_ms"]
        writer.close()


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.bench_live_page", description="Measure the live page.")
    parser.add_argument("--clients", type=int, default=50, help="that show the page (default: 50)")
    parser.add_argument("--seconds", type=int, default=600, help="of traffic with clients (default: 600)")
    parser.add_argument("--alone", type=int, default=60, help="seconds of traffic without the site (default: 60)")
    parser.add_argument("--rate", type=int, default=20, help="boards a second (default: 20)")
    parser.add_argument("-o", "--output", type=Path, help="also write the figures as JSON")
    options = parser.parse_args()
    games = 1 + options.rate * options.seconds // 40
    log = generate.cached(games).log
    print(f"{games:,} games, {len(messages(log.read_bytes())):,} messages, Python {platform.python_version()}")
    figures: dict[str, float] = {}

    def tell(name: str, value: float) -> None:
        figures[name] = value
        print(f"{name:44} {value:12.3f}", flush=True)

    def tell_spread(name: str, values: list[float]) -> None:
        cuts = statistics.quantiles(values, n=100, method="inclusive")
        for word, value in (("p50", cuts[49]), ("p99", cuts[98]), ("max", max(values))):
            tell(f"{name}, {word} ms", value)

    found: list[Watching] = []

    @contextmanager
    def watched(running: Session) -> Iterator[None]:
        watching = Watching(running.journals, running.archive, options.clients)
        found.append(watching)
        watching.start()
        try:
            yield
        finally:
            watching.end()

    alone = latency(log, options.rate, options.alone)
    beside = latency(log, options.rate, options.seconds, watched)
    (watching,) = found
    tell_spread("journal durable, no site", [delay.safe for delay in alone])
    tell_spread(f"journal durable, {options.clients} clients", [delay.safe for delay in beside])
    tell_spread("row committed, no site", [delay.committed for delay in alone])
    tell_spread(f"row committed, {options.clients} clients", [delay.committed for delay in beside])
    tell("boards that clients got", len(watching.delays_ms))
    tell("whole states that clients got", watching.wholes)
    tell_spread("from arrival to a client", watching.delays_ms)
    size = len(watching.memory_kib)
    for share in (0.1, 0.25, 0.5, 0.75, 1.0):
        tell(f"site, MiB after {share:.0%}", watching.memory_kib[min(size - 1, int(size * share))] / 1024)
    tell("site, processor s a minute", watching.processor_s * 60 / options.seconds)
    if options.output is not None:
        options.output.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
