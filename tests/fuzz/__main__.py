"""``python -m tests.fuzz``: many cases in worker processes; a case that raises or takes too long is a finding."""

import argparse
import multiprocessing
import os
import platform
import subprocess
import sys
import time
import traceback
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from multiprocessing.connection import Connection, wait
from pathlib import Path

from recorder.containment import SWITCH
from recorder.sources import SourceKind
from tests.fuzz.checks import check_input
from tests.fuzz.inputs import KINDS, make_input

HEADING = "\n## Foreign bytes\n"
LIMIT_S = 15.0
"""A case is at most 96 kB and takes milliseconds; one that takes so long hangs."""
_MOST_FINDINGS = 20


@dataclass
class Findings:
    """Results of a run: cases and bytes by kind, and failures."""

    cases: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    size_bytes: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    slowest_s: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    failures: list[str] = field(default_factory=list)


_Check = Callable[[SourceKind, int, bytes], None]
# Not forked from the process of the tests: what its libraries and threads have in memory crashes a copy of it.
_FROM_NEW = multiprocessing.get_context("forkserver")
_FROM_NEW.set_forkserver_preload(["tests.fuzz.checks", "tests.fuzz.inputs"])


def _work(pipe: Connection, check: _Check) -> None:
    """Check the cases that are asked for; the answer is the input's length, the time and what was wrong, or None."""
    while (case := pipe.recv()) is not None:
        kind, number = case
        data = make_input(kind, number)
        began = time.perf_counter()
        problem = None
        try:
            check(kind, number, data)
        except BaseException:  # whatever it is, it is a finding
            problem = traceback.format_exc()
        pipe.send((len(data), time.perf_counter() - began, problem))


class _Worker:
    """A process that checks one case at a time; it is killed where one takes too long."""

    def __init__(self, check: _Check) -> None:
        self.pipe, theirs = multiprocessing.Pipe()
        self.process = _FROM_NEW.Process(target=_work, args=(theirs, check), daemon=True)
        self.process.start()
        theirs.close()
        self.case: tuple[SourceKind, int] | None = None
        self.began_s = 0.0

    def begin(self, case: tuple[SourceKind, int]) -> None:
        self.case, self.began_s = case, time.monotonic()
        self.pipe.send(case)

    def end(self) -> None:
        self.process.kill()
        self.process.join()
        self.pipe.close()


def fuzz(
    size_bytes: int,
    *,
    jobs: int = 2,
    first: int = 0,
    kinds: tuple[SourceKind, ...] = KINDS,
    check: _Check = check_input,
) -> Findings:
    """Check cases of all kinds in turn until their inputs have this size together.

    Args:
        first: the number of the first case of each kind.
    """
    found = Findings()
    workers = [_Worker(check) for _ in range(jobs)]
    cases = ((kind, number) for number in range(first, sys.maxsize) for kind in kinds)
    try:
        while sum(found.size_bytes.values()) < size_bytes and len(found.failures) < _MOST_FINDINGS:
            for worker in workers:
                if worker.case is None:
                    worker.begin(next(cases))
            ready = wait([worker.pipe for worker in workers], timeout=1)
            for place, worker in enumerate(workers):
                kind, number = worker.case or (KINDS[0], 0)
                command = f"python -m tests.fuzz --kind {kind.value} --case {number}"
                if worker.pipe in ready:
                    try:
                        length, took_s, problem = worker.pipe.recv()
                    except (EOFError, ConnectionResetError):
                        length, took_s, problem = 0, 0.0, "the process died"
                        workers[place] = _Worker(check)
                    worker.case = None
                    found.cases[kind.value] += 1
                    found.size_bytes[kind.value] += length
                    found.slowest_s[kind.value] = max(found.slowest_s[kind.value], took_s)
                    if problem is not None:
                        found.failures.append(f"{problem}\n  again: {command}")
                elif time.monotonic() - worker.began_s > LIMIT_S:
                    found.failures.append(f"no end within {LIMIT_S:g} s\n  again: {command}")
                    worker.end()
                    workers[place] = _Worker(check)
    finally:
        for worker in workers:
            worker.end()
    return found


def _table(found: Findings) -> str:
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=True).stdout
    lines = [
        f"Last run: {datetime.now(UTC):%Y-%m-%d %H:%M} UTC, commit {commit.strip()}, {os.cpu_count()} cores, "
        f"Python {platform.python_version()}: {sum(found.size_bytes.values()) / 1e6:.0f} MB in "
        f"{sum(found.cases.values()):,} cases, {len(found.failures)} unexpected exceptions, hangs or differences.",
        "",
        "| kind | cases | MB | slowest case, s |",
        "| --- | ---: | ---: | ---: |",
        *(
            f"| {kind} | {count:,} | {found.size_bytes[kind] / 1e6:.1f} | {found.slowest_s[kind]:.2f} |"
            for kind, count in found.cases.items()
        ),
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Run from the command line; exit status 1 with findings."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--megabytes", type=float, default=200, help="size of all inputs together (default: 200)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes (default: processors)")
    parser.add_argument("--first", type=int, default=0, help="number of the first case of each kind (default: 0)")
    parser.add_argument("--kind", choices=[kind.value for kind in KINDS], help="only this kind of log")
    parser.add_argument("--case", type=int, help="only this case, in this process; needs --kind")
    parser.add_argument("--keep", type=Path, help="write the case's bytes to this file")
    parser.add_argument("--write", type=Path, help="put the table into this document")
    options = parser.parse_args()
    os.environ[SWITCH] = "off"  # what would be contained is what we look for
    kinds = (SourceKind(options.kind),) if options.kind else KINDS
    if options.case is not None:
        data = make_input(kinds[0], options.case)
        if options.keep is not None:
            options.keep.write_bytes(data)
        check_input(kinds[0], options.case, data)
        print(f"{len(data)} bytes, nothing wrong")
        return
    found = fuzz(int(options.megabytes * 1e6), jobs=options.jobs, first=options.first, kinds=kinds)
    for failure in found.failures:
        print(failure, file=sys.stderr)
    table = _table(found)
    print(table, end="")
    if options.write is not None:
        text = options.write.read_text(encoding="utf-8")
        before, heading, after = text.partition(HEADING)
        intro = after.partition("\nLast run: ")[0]
        rest = after.partition("\n## ")
        options.write.write_text(
            f"{before}{heading}{intro}\n{table}{rest[1]}{rest[2]}" if heading else f"{text}{HEADING}\n{table}",
            encoding="utf-8",
        )
    raise SystemExit(bool(found.failures))


if __name__ == "__main__":
    main()
