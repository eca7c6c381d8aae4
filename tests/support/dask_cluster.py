"""A scheduler and workers of Dask on this computer, started by Dask's own commands."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tests.support.compiled import ROOT

_START_S = 600
_EDITABLE = f"""
import sys
from importlib.machinery import PathFinder

class Last:
    def find_spec(name, path=None, target=None):
        return PathFinder.find_spec(name, [{str(ROOT)!r}]) if path is None else None

sys.path[:] = [folder for folder in sys.path if folder != {str(ROOT)!r}]
sys.meta_path.insert(sys.meta_path.index(PathFinder) + 1, Last)
"""


class DaskCluster:
    """A scheduler and its workers.

    Attributes:
        address: of the scheduler. workers: the processes, in the order in which they were started.
    """

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self.workers: list[subprocess.Popen[bytes]] = []
        self._folder = folder
        self._stack = stack
        self._file = folder / "scheduler.json"
        self._start("scheduler", "--host", "127.0.0.1", "--port", "0", "--scheduler-file", self._file)
        self._editable = folder / "editable.py"
        self._editable.write_text(_EDITABLE)
        self.start_worker()
        from distributed import Client

        with Client(scheduler_file=str(self._file), timeout=_START_S, set_as_default=False) as client:
            client.wait_for_workers(1, _START_S)
            self.address: str = client.scheduler.address

    def start_worker(self, *words: object) -> None:
        """Start one more; it waits for the scheduler by itself. Without words, as of an editable installation."""
        options = ("--scheduler-file", self._file, "--host", "127.0.0.1", "--nthreads", "1", "--no-nanny")
        self.workers.append(self._start("worker", *options, *(words or ("--preload", self._editable))))

    def _start(self, *words: object) -> subprocess.Popen[bytes]:
        """Start a process that ends with the cluster; it runs in a folder of its own."""
        command = [sys.executable, "-m", "dask", *map(str, words), "--no-dashboard"]
        with (self._folder / f"{words[0]}.log").open("ab") as log:
            process = subprocess.Popen(
                command, cwd=self._folder, env={**os.environ, "PYTHONPATH": str(ROOT)}, stdout=log, stderr=log
            )
        self._stack.callback(process.wait)
        self._stack.callback(process.kill)
        return process


@contextmanager
def dask_cluster(folder: Path) -> Iterator[DaskCluster]:
    """A scheduler with one worker, for as long as the block."""
    with ExitStack() as stack:
        yield DaskCluster(folder, stack)
