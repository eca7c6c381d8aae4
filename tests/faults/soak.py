"""``python -m tests.faults.soak``: every fault many times, each time at another moment; a table of what came of it.

``--kind reset --seed 17`` repeats one run and keeps its folder.
"""

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
import shutil
import sys
import tempfile
import time
import traceback
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import NamedTuple

from tests.faults.kinds import KINDS
from tests.faults.world import Troubles, World

__all__ = ["Failure", "failures_of"]


_LONGEST = 1500


class Failure(NamedTuple):
    """A run that went wrong."""

    kind: str
    seed: int
    what: str

    def __str__(self) -> str:
        what = self.what if len(self.what) <= _LONGEST else f"{self.what[:_LONGEST]} …"
        return f"{what}\n  again: python -m tests.faults.soak --kind {self.kind} --seed {self.seed}"


async def _one(kind: str, seed: int, folder: Path, pool: ProcessPoolExecutor) -> Failure | None:
    folder.mkdir(parents=True)
    world = World(kind, seed, folder, pool)
    try:
        await asyncio.wait_for(KINDS[kind](world), 300)
    except (Troubles, AssertionError, OSError) as error:
        return Failure(kind, seed, f"{type(error).__name__}: {error}")
    except Exception:
        return Failure(kind, seed, traceback.format_exc())
    finally:
        world.close()
    shutil.rmtree(folder, ignore_errors=True)
    return None


async def _all(kind: str, seeds: Iterable[int], folder: Path, at_once: int, end_s: float) -> tuple[int, list[Failure]]:
    gate = asyncio.Semaphore(at_once)
    done = 0
    failures: list[Failure] = []

    with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool:

        async def run(seed: int) -> None:
            nonlocal done
            async with gate:
                if time.monotonic() < end_s:
                    failure = await _one(kind, seed, folder / f"{kind}-{seed}", pool)
                    done += 1
                    failures.extend([failure] if failure else [])

        await asyncio.gather(*map(run, seeds))
    return done, sorted(failures)


def failures_of(
    kind: str, seeds: Iterable[int], folder: Path, *, at_once: int = 3, end_s: float = float("inf")
) -> tuple[int, list[Failure]]:
    """Run a fault once for each seed.

    Args:
        folder: what the runs leave stays there if they fail. at_once: how many run beside each other.
        end_s: no run begins later, on the monotonic clock.
    Returns:
        How many were run, and which failed.
    """
    return asyncio.run(_all(kind, seeds, folder, at_once, end_s))


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description="Every fault many times, and a table of what came of it.")
    parser.add_argument("--kind", choices=KINDS, action="append", help="only this fault; may be given again")
    parser.add_argument("--seed", type=int, help="only this run")
    parser.add_argument("--runs", type=int, default=200, help="of each kind; default: 200")
    parser.add_argument("--first", type=int, default=1000, help="the first seed; default: 1000, CI has those from 0")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="share so much time among the kinds")
    parser.add_argument("--at-once", type=int, default=4, help="runs beside each other; default: 4")
    parser.add_argument("--folder", type=Path, help="where runs leave what they wrote; default: a new one")
    options = parser.parse_args()
    folder = options.folder or Path(tempfile.mkdtemp(prefix="ics-faults-"))
    kinds = options.kind or list(KINDS)
    seeds = range(options.first, options.first + options.runs) if options.seed is None else [options.seed]
    failed = False
    for kind in kinds:
        began_s = time.monotonic()
        share_s = options.minutes * 60 / len(kinds)
        done, failures = failures_of(kind, seeds, folder, at_once=options.at_once, end_s=began_s + share_s)
        print(f"{kind:14} {done:4} runs  {len(failures):3} failed  {time.monotonic() - began_s:6.0f} s", flush=True)
        for failure in failures:
            failed = True
            print(f"{kind} {failure.seed}: {failure}", file=sys.stderr, flush=True)
    if failed or options.seed is not None:
        print(f"What the runs left: {folder}", file=sys.stderr)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
