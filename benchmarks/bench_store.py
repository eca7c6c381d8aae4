"""How fast the archive takes plies, against raw ``sqlite3.executemany`` of the same rows; bytes per ply.

Run: ``python benchmarks/bench_store.py [games] [rounds]``. Rounds are interleaved, the ratio is the median.
"""

from __future__ import annotations

import hashlib
import random
import sqlite3
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from recorder.model import (
    Game,
    GameEnd,
    GameKind,
    LineKind,
    Observation,
    ObservationKind,
    Player,
    Ply,
    PlyLine,
    Segment,
    SourceReport,
    TimeBasis,
)
from storage import ArchiveStore, GameFilter
from storage.mapping import COLUMNS
from storage.write.rows import add_plies, insert_sql

SANS = ("e4", "Nf3", "Bxc6", "O-O", "Rfe1", "Qxd7+", "a6", "Nbd2", "exd5", "Kh1")


def make_games(count: int, seed: int = 7) -> list[Game]:
    """Games of about 68 plies with millisecond clocks, lag and arrival times, 32 interleaved in a 193 B/ply log."""
    dice = random.Random(seed)
    return [_game(dice, number) for number in range(count)]


def _game(dice: random.Random, number: int) -> Game:
    start_ms = 1_600_000_000_000 + number * 9_000
    offset, at_ms = number * 13_000, start_ms
    clocks = [180_000, 180_000]
    plies: list[Ply] = []
    for ply in range(1, max(4, int(dice.lognormvariate(4.1, 0.5)))):
        elapsed = min(int(dice.lognormvariate(7.5, 1.1)), 60_000)
        side = 1 - ply % 2
        clocks[side] -= elapsed
        at_ms += elapsed
        offset += 193 * 32
        move = dice.randrange(64) + 64 * dice.randrange(64)
        lag = int(dice.lognormvariate(4.5, 1.0))
        san = dice.choice(SANS)
        flags = 15 if ply < 20 else 0
        plies.append(Ply(ply, move, san, clocks[0], clocks[1], elapsed, lag, at_ms, flags, ply % 6, 1, 0, 1, offset))
    line = PlyLine(0, LineKind.MAIN, None, None, plies)
    white, black = (Player(f"Player{dice.randrange(2_000)}", "1500", 1500) for _ in range(2))
    seen = Observation(
        ObservationKind.LIVE, number % 500, white.handle, black.handle, 0, number * 13_000, offset, start_ms, at_ms,
        None, lines=[line],
    )  # fmt: skip
    return Game(
        key=hashlib.sha256(b"%d" % number).hexdigest()[:20],
        kind=GameKind.PLAYED,
        server="FICS",
        dialect="fics",
        game_no=number % 500,
        white=white,
        black=black,
        rated=True,
        variant="chess",
        category="blitz",
        base_s=180,
        increment_s=0,
        black_base_s=180,
        black_increment_s=0,
        base_inferred=False,
        variant_inferred=False,
        start_fen=None,
        start_ply=0,
        result="1-0",
        reason=f"{black.handle} resigns",
        reason_key="resign",
        termination="normal",
        end=GameEnd.RESULT,
        started_at_ms=start_ms,
        ended_at_ms=at_ms,
        time_basis=TimeBasis.UTC,
        date_text=None,
        complete=True,
        continued=False,
        partner_game_no=None,
        me=None,
        observations=[seen],
        segments=[Segment(1, plies[-1].ply, 0)],
        first_offset=number * 13_000,
        last_offset=offset,
    )


def raw_seconds(games: list[Game], folder: Path) -> float:
    """Only the plies, rows ready, one transaction, the same table."""
    values: list[Any] = []
    for game in games:
        (seen,) = game.observations
        add_plies(values, seen.lines[0].plies, seen.started_at_ms or 0, seen.offset)
    width = len(COLUMNS["plies"]) - 1
    rows = [(number, *values[at : at + width]) for number, at in enumerate(range(0, len(values), width), 1)]
    path = folder / "raw.db"
    with ArchiveStore.open(str(path), create=True):
        pass
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA synchronous=NORMAL")
    began = time.perf_counter()
    connection.execute("BEGIN")
    connection.executemany(insert_sql("plies"), rows)
    connection.execute("COMMIT")
    seconds = time.perf_counter() - began
    connection.close()
    return seconds


def archive_seconds(games: list[Game], folder: Path) -> tuple[float, float, int]:
    """Everything: seconds to write all tables and to read the games back, and the file's bytes."""
    path = folder / "archive.db"
    with ArchiveStore.open(str(path), create=True) as archive:
        began = time.perf_counter()
        with archive.write_source(
            sha256="0" * 64, size_bytes=0, name="x", path=None, kind="raw", keep=False, parser_version="1", options={}
        ) as writer:
            for start in range(0, len(games), 50):
                writer.add_games(games[start : start + 50])
            writer.finish(SourceReport())
        written = time.perf_counter() - began
        began = time.perf_counter()
        read = sum(len(game.plies) for game in archive.games(GameFilter()))
        assert read == sum(len(game.plies) for game in games)
        return written, time.perf_counter() - began, path.stat().st_size


def main() -> None:
    """Print the figures."""
    count, rounds = (int(word) for word in (sys.argv[1:] + ["3000", "5"][len(sys.argv) - 1 :]))
    games = make_games(count)
    plies = sum(len(game.plies) for game in games)
    ratios: list[float] = []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as folder:
            raw = raw_seconds(games, Path(folder))
            written, read, size = archive_seconds(games, Path(folder))
        ratios.append(raw / written)
        print(
            f"raw {plies / raw:9,.0f} plies/s   archive {plies / written:9,.0f} plies/s ({raw / written:.2f})"
            f"   read {plies / read:9,.0f} plies/s   {size / plies:.1f} B/ply"
        )
    print(f"{count} games, {plies} plies: archive/raw median {statistics.median(ratios):.2f}")


if __name__ == "__main__":
    main()
