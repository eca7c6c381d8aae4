"""Makes transcripts of interleaved legal games for benchmarks, with the truth as PGN.

``python -m benchmarks.generate --games 1000 --seed 1 -o DIR [--timing]``

The same version, seed and size give the same bytes. One connection observes 32 boards at once with milliseconds on;
server numbers are reused as soon as they are free. Besides plain games there are crazyhouse (5 %), takebacks, lost
and cut frames, observations that end early or are resumed, flags with the last board resent, lag stalls, examined
games, and chat that imitates frames.

In the PGN, ``Seen`` names the plies that the log shows where these are not all, and the moves are always the whole
game; taken-back plies are not in it.
"""

from __future__ import annotations

import argparse
import heapq
import random
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, TextIO

from benchmarks.played import Out, play

VERSION = 1
OBSERVED_AT_ONCE = 32
START_MS = 1_272_880_800_000  # 3 May 2010, 10:00 UTC


class Made(NamedTuple):
    """The files of one generated log. ``timing`` is None where no arrival times were asked for."""

    log: Path
    truth: Path
    timing: Path | None


def log_lines(games: int, seed: int, truth: TextIO) -> Iterator[tuple[int, str]]:
    """The whole log.

    Args:
        games: how many games are played.
        seed: of everything random.
        truth: gets the games' PGN in the order in which they end.
    Yields:
        Milliseconds since ``START_MS`` and the text received then.
    """
    chance = random.Random(f"{VERSION}:{seed}:{games}")
    free = list(range(1, OBSERVED_AT_ONCE + 9))
    heapq.heapify(free)
    queue: list[tuple[int, int, int, str, Iterator[Out]]] = []
    yield 0, "\n\r**** Starting FICS session as GuestLog(U) ****\n\r\n\rfics% Style 12 set.\n\rfics% ms set.\n\rfics% "
    begun = 0
    now = 1000
    while begun < min(OBSERVED_AT_ONCE, games):
        _begin(queue, free, begun, now + chance.randrange(60_000), random.Random(f"{seed}:{begun}"), truth)
        begun += 1
    while queue:
        now, index, number, text, more = heapq.heappop(queue)
        if text:
            yield now, f"\n\r{text}\n\rfics% "
        following = next(more, None)
        if following is not None:
            heapq.heappush(queue, (now + following.wait_ms, index, number, following.text, more))
            continue
        heapq.heappush(free, number)
        if begun < games:
            _begin(queue, free, begun, now + chance.randrange(5000), random.Random(f"{seed}:{begun}"), truth)
            begun += 1
    yield now, "\n\rLogging you out.\n\r"


def _begin(
    queue: list[tuple[int, int, int, str, Iterator[Out]]],
    free: list[int],
    index: int,
    at_ms: int,
    chance: random.Random,
    truth: TextIO,
) -> None:
    number = heapq.heappop(free)
    heapq.heappush(queue, (at_ms, index, number, "", play(number, index, chance, truth)))


def make(folder: Path, games: int, seed: int, timing: bool = False) -> Made:
    """Write ``session.log``, ``truth.pgn`` and, if asked for, ``session.timing`` (classic typescript timing).

    With timing the log has the first and last line of a typescript.
    """
    folder.mkdir(parents=True, exist_ok=True)
    log = folder / "session.log"
    truth = folder / "truth.pgn"
    times = folder / "session.timing"
    last = 0
    with log.open("wb") as out, truth.open("w", encoding="ascii", newline="\n") as pgn, times.open("w") as waits:
        if timing:
            out.write(b"Script started on 2010-05-03 10:00:00+00:00\n")
        for at_ms, text in log_lines(games, seed, pgn):
            data = text.encode("ascii")
            out.write(data)
            if timing:
                waits.write(f"{(at_ms - last) / 1000:.6f} {len(data)}\n")
            last = at_ms
        if timing:
            out.write(b"\nScript done on 2010-05-03 22:00:00+00:00\n")
    if not timing:
        times.unlink()
    return Made(log, truth, times if timing else None)


def cached(games: int, seed: int = 1, timing: bool = False) -> Made:
    """The files of a log from the cache in the system's temporary folder, made if they are not there."""
    name = f"v{VERSION}-seed{seed}-games{games}{'-timing' if timing else ''}"
    folder = Path(tempfile.gettempdir()) / "ics-recorder-benchmarks" / name
    done = folder / "done"
    if not done.exists():
        make(folder, games, seed, timing)
        done.touch()
    return Made(folder / "session.log", folder / "truth.pgn", folder / "session.timing" if timing else None)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description="Make a transcript of interleaved games and its truth as PGN.")
    parser.add_argument("--games", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--timing", action="store_true", help="write a typescript and its timing file")
    parser.add_argument("-o", "--output", type=Path, help="folder; default: a cache in the temporary folder")
    options = parser.parse_args()
    if options.output is None:
        made = cached(options.games, options.seed, options.timing)
    else:
        made = make(options.output, options.games, options.seed, options.timing)
    for path in made:
        if path is not None:
            print(f"{path}  {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
