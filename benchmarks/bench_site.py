"""How long the pages of the site take over an archive: wall and processor milliseconds.

Run: ``python -m benchmarks.bench_site ARCHIVE [--rounds N] [--only WORD]``. The site runs in this process, answers one
request at a time, and keeps no answer. Each address is asked once to warm up, then N times; printed are the medians,
the size of the page and how many games it states. Positions need the index that ``ics-recorder db positions --build``
makes. Insights are asked for until they are computed, once.
"""

from __future__ import annotations

import argparse
import re
import resource
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import quote_plus

from starlette.testclient import TestClient

from recorder.web.live_feed import LiveFeed
from recorder.web.server import Access, SiteArchive, make_app
from recorder.web.work import Work
from storage.read.listing import SORTS

_HOST = "127.0.0.1:8000"
_INSIGHTS = (
    "measure=usage&by=phase&then=side", "measure=usage&by=player", "measure=profile&by=opponent", "measure=lag&by=hour",
)  # fmt: skip


def addresses(archive: Path) -> Iterator[tuple[str, str]]:
    """What is measured: a name and an address. Names of players are those with the most games."""
    with closing(sqlite3.connect(archive)) as connection:
        most = "SELECT white, black, count(*) FROM games GROUP BY white_id, black_id ORDER BY 3 DESC LIMIT 1"
        white, black, _ = connection.execute(most).fetchone()
        (key,) = connection.execute("SELECT key FROM games ORDER BY id LIMIT 1 OFFSET 500").fetchone()
    player, opponent = quote_plus(white), quote_plus(black)
    yield "games: first page", "/"
    yield from ((f"games: sorted by {name}", f"/?sort={name}") for name in SORTS)
    for name, query in (
        ("player", f"player={player}"),
        ("two players", f"player={player}&opponent={opponent}"),
        ("result", "result=1-0"),
        ("time control", "time=180%2B0"),
        ("variant", "variant=crazyhouse"),
        ("ended by", "reason=time"),
        ("dates", "since=2020-01-01&until=2030-01-01"),
        ("ratings", "rating_from=1500&rating_to=1700"),
        ("plies", "plies_from=60&plies_to=80"),
        ("duration", "lasts_from=5&lasts_to=10"),
        ("clock below 10 s", "clock_below=10"),
        ("clock below 0 s", "clock_below=0"),
        ("lead 30 s", "lead=30"),
        ("ECO code", "eco=B9"),
        ("opening", "opening=najdorf"),
        ("position", "moves=e4+c5+Nf3+d6"),
        ("position and next move", "moves=e4&next=c5"),
        *((f"with {name}", f"event={name}") for name in ("takeback", "time-added", "disconnection", "gap", "kibitz")),
        ("no guests", "guests=no"),
        ("complete", "complete=yes"),
    ):
        yield f"games: {name}", f"/?{query}"
    yield "game", f"/game/{key}?sort=date"
    yield "player", f"/player/{player}"
    yield "explorer: start", "/explorer"
    yield "explorer: 1. e4 c5 2. Nf3", "/explorer?moves=e4+c5+Nf3"
    yield "live without games", "/live"
    yield "handles", "/players.json?q=a"
    yield "insights: form", "/insights"
    yield from ((f"insights: {query}", f"/insights?{query}") for query in _INSIGHTS)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.bench_site", description=__doc__)
    parser.add_argument("archive", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default="", help="only pages whose name contains this")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        access = Access(hosts=frozenset({"127.0.0.1"}), private=True)
        feed = LiveFeed(Path(folder), with_chat=True)
        site = SiteArchive(str(given.archive))
        site.work = Work()
        app = make_app(site, access, feed)
        client = TestClient(app, base_url=f"http://{_HOST}", follow_redirects=False)
        print(f"{'page':<44}{'wall ms':>10}{'processor ms':>14}{'kB':>8}  games")
        for name, address in addresses(given.archive):
            if given.only in name:
                _measure(client, name, address, given.rounds)
    print(f"peak memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024} MiB")


def _measure(client: TestClient, name: str, address: str, rounds: int) -> None:
    computed = "measure=" in address
    if not computed:
        client.get(address)
    times = []
    for _ in range(1 if computed else rounds):
        begun, used = time.perf_counter(), time.process_time()
        while (answer := client.get(address)).status_code == 202:
            time.sleep(1)
        times.append((time.perf_counter() - begun, time.process_time() - used))
    wall_ms, processor_ms = (1000 * statistics.median(one) for one in zip(*times, strict=True))
    found = re.search(r"[0-9,]+ games?", answer.text)
    words = found[0] if found and answer.status_code == 200 else f"status {answer.status_code}"
    print(f"{name:<44}{wall_ms:>10.0f}{processor_ms:>14.0f}{len(answer.content) // 1000:>8}  {words}", flush=True)


if __name__ == "__main__":
    main()
