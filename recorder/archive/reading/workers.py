"""Work in other processes: functions of this package, called with one value, that report their progress.

A process is started for each job and serves one call after another. It ends when the caller closes its pipe or dies.
Through the pipes go pickled pairs: a function and its value; then progress, and at last what it returned or raised.
"""

from __future__ import annotations

import gc
import os
import pickle
import subprocess
import sys
import traceback
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from functools import partial
from queue import Empty, SimpleQueue
from typing import IO, TYPE_CHECKING, Any, Final, Protocol, TypeVar

from recorder.errors import RecorderError
from recorder.live import child_environment

if TYPE_CHECKING:
    from recorder.progress import Progress

_Task = TypeVar("_Task")
_Result = TypeVar("_Result")
_NEW_VALUES: Final = 200_000  # as in ``recorder.cli``: to search for reference cycles more often takes longer
_ENDED_S: Final = 1.0
_WORTH_BYTES: Final = 8 << 20  # with less, the processes take longer to start than they save
TASKS_AHEAD: Final = 2
"""How many tasks wait for each process."""
_LOOK_S: Final = 0.1


class WorkerDiedError(RecorderError):
    """A process ended in the middle of a call."""


class Workers:
    """Processes that run functions. Use it as a context manager; its end kills what still runs."""

    def __init__(self, jobs: int) -> None:
        self.jobs = jobs
        self._threads = ThreadPoolExecutor(jobs)
        self._idle: SimpleQueue[subprocess.Popen[bytes]] = SimpleQueue()
        self._processes: list[subprocess.Popen[bytes]] = []
        self._closed = False

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *_error: object) -> None:
        self._closed = True
        for process in self._processes:
            process.kill()
        self._threads.shutdown(cancel_futures=True)
        for process in self._processes:
            process.wait()
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    _close(pipe)

    def submit(
        self,
        function: Callable[[_Task, Progress], _Result],
        task: _Task,
        progress: Progress,
    ) -> Future[_Result]:
        """Call a function of a module; ``progress`` is called in another thread."""
        return self._threads.submit(self._run, function, task, progress)

    def _run(self, function: Callable[[_Task, Progress], _Result], task: _Task, progress: Progress) -> _Result:
        try:
            process = self._idle.get_nowait()
        except Empty:
            process = _start()
            self._processes.append(process)
            if self._closed:
                process.kill()
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            _send(process.stdin, (function, task))
            while (message := pickle.load(process.stdout))[0] == "progress":
                progress(*message[1])
        except (EOFError, BrokenPipeError, pickle.UnpicklingError) as error:
            with suppress(subprocess.TimeoutExpired):
                process.wait(_ENDED_S)
            process.kill()
            code = process.wait()
            how = f"signal {-code}" if code < 0 else f"exit status {code}"
            raise WorkerDiedError(f"ended with {how}") from error
        self._idle.put(process)
        kind, value = message
        if kind == "raised":
            raise value
        result: _Result = value
        return result


def _send(pipe: IO[bytes], message: object) -> None:
    pickle.dump(message, pipe, pickle.HIGHEST_PROTOCOL)
    pipe.flush()


def _close(pipe: IO[bytes]) -> None:
    with suppress(OSError):  # what was to be written is for a process that was killed
        pipe.close()


def _start() -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        (sys.executable, "-P", "-m", "recorder.archive.reading.workers"),
        env=child_environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,  # Ctrl-C on the terminal is for the caller
    )


def count_of_cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def jobs_for(sizes: Sequence[int], jobs: int | None) -> int:
    """How many processes work on logs of these sizes: 1 where others would take longer to start than they save."""
    if len(sizes) < 2 or sum(sizes) < _WORTH_BYTES:
        return 1
    return min(jobs or count_of_cores(), len(sizes))


class Run(Protocol):
    """Calls a function of a module for several tasks, in this or in other processes."""

    def __call__(
        self, function: Callable[[_Task, Progress], _Result], tasks: Iterable[_Task], progress: Progress
    ) -> Iterator[Callable[[], _Result]]:
        """Give for each task, in their order, a function that returns or raises what became of it.

        Each task is made a little before its turn. WorkerDiedError: the process that did it ended.
        """


@contextmanager
def running(sizes: Sequence[int], jobs: int | None) -> Iterator[Run]:
    """Run tasks about logs of these sizes in as many processes as ``jobs`` says, or here if these are not worth it."""
    processes = jobs_for(sizes, jobs)
    if processes < 2:
        yield lambda function, tasks, progress: (partial(function, task, progress) for task in tasks)
        return
    with Workers(processes) as workers:
        yield partial(in_order, workers)


def in_order(
    workers: Workers,
    function: Callable[[_Task, Progress], _Result],
    tasks: Iterable[_Task],
    progress: Progress,
) -> Iterator[Callable[[], _Result]]:
    submitted: deque[tuple[Future[_Result], deque[tuple[str, int, int | None]]]] = deque()
    waiting = iter(tasks)
    while True:
        while len(submitted) <= TASKS_AHEAD * workers.jobs and (task := next(waiting, None)) is not None:
            steps: deque[tuple[str, int, int | None]] = deque(maxlen=1)
            submitted.append((workers.submit(function, task, lambda *step, of=steps: of.append(step)), steps))
        if not submitted:
            return
        future, steps = submitted.popleft()
        look_until_done(future, partial(_show_last, progress, steps))
        yield future.result


def _show_last(progress: Progress, steps: deque[tuple[str, int, int | None]]) -> None:
    if steps:
        progress(*steps.pop())


def look_until_done(future: Future[Any], look: Callable[[], object]) -> None:
    """Wait for what was submitted, and do something now and then, and when it is done."""
    while not wait([future], _LOOK_S).done:
        look()
    look()


def main() -> None:
    """Serve the calls that come from standard input."""
    gc.set_threshold(_NEW_VALUES)
    with os.fdopen(os.dup(1), "wb") as write:
        os.dup2(2, 1)  # what a library prints must not get between the answers

        def progress(name: str, done: int, total: int | None) -> None:
            _send(write, ("progress", (name, done, total)))

        try:
            while True:
                function, task = pickle.load(sys.stdin.buffer)
                try:
                    answer = "done", function(task, progress)
                except BrokenPipeError:
                    raise
                except Exception as error:  # it is raised again where the task was given
                    error.add_note(f"In the process that did it:\n{traceback.format_exc()}")
                    answer = "raised", error
                _send(write, answer)
        except (EOFError, BrokenPipeError):
            os._exit(0)  # the caller is gone


if __name__ == "__main__":
    main()
