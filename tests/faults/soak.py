"""``python -m tests.faults.soak``: every fault many times, each time at another moment; a table of the results.

``--kind reset --seed 17`` repeats one run and keeps its folder; ``--write docs/reliability.md`` puts the table there.
"""

import argparse
import asyncio
import multiprocessing
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import NamedTuple

from tests.faults.kinds import KINDS
from tests.faults.world import Troubles, World

HEADING = "\n## Soak of faults\n"
"""The table of a soak stands behind it."""


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
    except Exception:  # whatever it is, its seed must be reported, and the other worlds continue
        return Failure(kind, seed, traceback.format_exc())
    finally:
        world.close()
    shutil.rmtree(folder, ignore_errors=True)
    return None


async def _all(kind: str, seeds: Iterable[int], folder: Path, at_once: int, end_s: float) -> tuple[int, list[Failure]]:
    gate = asyncio.Semaphore(at_once)
    done = 0
    failures: list[Failure] = []

    async def run(seed: int) -> None:
        nonlocal done
        async with gate:
            if time.monotonic() < end_s:
                failure = await _one(kind, seed, folder / f"{kind}-{seed}", _pool())
                done += 1
                failures.extend([failure] if failure else [])

    await asyncio.gather(*map(run, seeds))
    return done, sorted(failures)


@cache
def _pool() -> ProcessPoolExecutor:
    """Where all kinds are checked: what a process has imported for one it need not import for the next."""
    return ProcessPoolExecutor(2, multiprocessing.get_context("spawn"))


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


class Row(NamedTuple):
    """The results of one kind."""

    kind: str
    runs: int
    failed: int
    seconds: float


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description="Every fault many times, and a table of the results.")
    parser.add_argument("--kind", choices=KINDS, action="append", help="only this fault; may be given again")
    parser.add_argument("--seed", type=int, help="only this run")
    parser.add_argument("--runs", type=int, default=200, help="of each kind; default: 200")
    parser.add_argument("--first", type=int, default=1000, help="the first seed; default: 1000, CI has those from 0")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="share so much time among the kinds")
    parser.add_argument("--at-once", type=int, default=4, help="runs beside each other; default: 4")
    parser.add_argument("--folder", type=Path, help="where runs leave what they wrote; default: a new one")
    parser.add_argument("--write", type=Path, metavar="FILE", help="a document that has a place for the table")
    options = parser.parse_args()
    folder = options.folder or Path(tempfile.mkdtemp(prefix="ics-faults-"))
    kinds = options.kind or list(KINDS)
    seeds = range(options.first, options.first + options.runs) if options.seed is None else [options.seed]
    end_s = time.monotonic() + options.minutes * 60
    place = _place()
    rows: list[Row] = []
    for number, kind in enumerate(kinds):
        began_s = time.monotonic()
        share_s = (end_s - began_s) / (len(kinds) - number)
        done, failures = failures_of(kind, seeds, folder, at_once=options.at_once, end_s=began_s + share_s)
        rows.append(Row(kind, done, len(failures), time.monotonic() - began_s))
        print(f"{kind:14} {done:4} runs  {len(failures):3} failed  {rows[-1].seconds:6.0f} s", flush=True)
        for failure in failures:
            print(f"{kind} {failure.seed}: {failure}", file=sys.stderr, flush=True)
    if options.write is not None:
        _write(options.write, f"{place}\n\n{format_rows(rows)}")
    failed = any(row.failed for row in rows)
    if failed or options.seed is not None:
        print(f"What the runs left: {folder}", file=sys.stderr)
    return int(failed)


def _place() -> str:
    """When, of what and where the runs are made."""
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip()
    return (
        f"Last soak: {datetime.now(UTC):%Y-%m-%d %H:%M} UTC, commit {commit or 'unknown'}, {os.cpu_count()} cores, "
        f"{platform.system()} {platform.release().partition('-')[0]}, Python {platform.python_version()}."
    )


def format_rows(rows: Iterable[Row]) -> str:
    """The table of a document."""
    lines = [
        "| fault | runs | failed | seconds |",
        "| --- | ---: | ---: | ---: |",
        *(f"| {row.kind} | {row.runs} | {row.failed} | {row.seconds:.0f} |" for row in rows),
    ]
    return "\n".join(lines)


def _write(document: Path, table: str) -> None:
    """Put the table where the last one stands: behind the heading, up to the end."""
    text = document.read_text(encoding="utf-8")
    before, heading, _ = text.partition(HEADING)
    if not heading:
        raise SystemExit(f"{document} has no place for the table: no line {HEADING.strip()!r}")
    document.write_text(f"{before}{heading}\n{table}\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
