"""A cluster of ``dask.distributed`` that has tasks done: checked before the first of them, and used as ``Run``.

A worker that dies costs the tasks that it had: another one does them again, and writes the same files.
"""

from __future__ import annotations

import secrets
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from itertools import accumulate
from pathlib import Path
from threading import Event, Thread
from time import monotonic
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

from recorder.archive.reading.inputs import Input, local_copy
from recorder.archive.reading.workers import Run, WorkerDiedError
from recorder.errors import RecorderError
from recorder.pipeline import PARSER_VERSION
from recorder.progress import no_progress
from recorder.urls import file_system, is_url, reason
from storage.dataset.files import DATASET_SCHEMA, DataFolder

if TYPE_CHECKING:
    from distributed import Client

    from recorder.archive.sharing.dataset_making import SourceTask
    from recorder.progress import Progress

_Result = TypeVar("_Result")
_PACKAGE: Final = "ics-recorder"
_CONNECT_S: Final = 10
_WORKERS_S: Final = 10
_ABSENT_S: Final = 30
"""For so long there may be no worker: a worker that is started again continues."""
_LOOK_S: Final = 2
_TASKS_AHEAD: Final = 4
"""How many tasks wait for each thread of the cluster, the one that runs included."""
_RETRIES: Final = 2


@contextmanager
def cluster_client(address: str) -> Iterator[Client]:
    """Connect to a cluster whose workers have this version of the program: ``tcp://host:8786``."""
    try:
        from distributed import Client, KilledWorker
    except ImportError as error:
        raise RecorderError(f"--dask needs Dask: pip install '{_PACKAGE}[dask]'.") from error
    try:
        client = Client(address, timeout=_CONNECT_S)  # type: ignore[no-untyped-call]  # Dask has no types
    except (OSError, ValueError, TypeError) as error:
        raise RecorderError(
            f"{address}: no scheduler of Dask answers there; start it with `dask scheduler` and give its address, "
            "as in tcp://host:8786."
        ) from error
    with client, _watched(client, address):
        try:
            client.wait_for_workers(1, timeout=_WORKERS_S)
        except TimeoutError as error:
            raise RecorderError(
                f"{address}: the scheduler has no workers; start them with `dask worker {address}`."
            ) from error
        _check_versions(client)
        try:
            yield client
        except KilledWorker as error:
            raise RecorderError(
                f"A task ended {error.allowed_failures + 1} workers, one after another. It may need more memory than a "
                "worker has: start fewer workers on each computer."
            ) from error


@contextmanager
def _watched(client: Client, address: str) -> Iterator[None]:
    """Close the connection, which ends all waiting, when there has been no worker for a while."""
    ended, closed = Event(), Event()
    watch = Thread(target=_watch, args=(client, ended, closed), daemon=True)
    watch.start()
    try:
        yield
    except Exception as error:  # explained if the workers have gone, else raised again
        if closed.is_set():
            raise RecorderError(
                f"{address}: the scheduler has had no workers for {_ABSENT_S} s; start them with "
                f"`dask worker {address}` and repeat the command, `convert` with --update."
            ) from error
        if isinstance(error, CancelledError):
            raise RecorderError(f"{address}: the scheduler does not answer any more.") from error
        raise
    finally:
        ended.set()
        watch.join(_LOOK_S)


def _watch(client: Client, ended: Event, closed: Event) -> None:
    seen_s = monotonic()
    while not ended.wait(_LOOK_S):
        with suppress(Exception):  # the scheduler is gone: the waiting ends by itself
            if client.nthreads():  # type: ignore[no-untyped-call]  # Dask has no types
                seen_s = monotonic()
        if monotonic() - seen_s > _ABSENT_S:
            closed.set()
            client.close()  # type: ignore[no-untyped-call]
            return


def _check_versions(client: Client) -> None:
    """Refuse workers with another version of the program."""
    ours = version(_PACKAGE)
    for worker, theirs in client.run(version, _PACKAGE, on_error="return").items():
        if isinstance(theirs, OSError):
            continue  # it has just ended
        if isinstance(theirs, PackageNotFoundError):
            raise RecorderError(f"{worker}: {_PACKAGE} is not installed on this worker; install version {ours} there.")
        if theirs != ours:
            raise RecorderError(
                f"{worker}: this worker has version {theirs} of {_PACKAGE}, and this computer has {ours}: "
                "install the same version on all."
            )
    _load(client)
    for worker, facts in client.run(_facts, on_error="return").items():
        if isinstance(facts, BaseException):
            raise RecorderError(f"{worker}: {_PACKAGE} cannot be loaded on this worker ({facts}); install it there.")
        if facts != _facts():
            raise RecorderError(
                f"{worker}: {_PACKAGE} is version {ours} on this worker, too, but not the same program: "
                "install the same build on all."
            )


def _load(client: Client) -> None:
    """Have each worker load the program, also those that start later."""
    from distributed import WorkerPlugin

    # Dask puts the worker's own folder on sys.path, and the folder "storage" in it hides the package of an editable
    # installation. The class is local: Dask sends its source, which needs nothing of this program.
    class Loading(WorkerPlugin):
        def setup(self, worker: Any) -> None:
            import sys
            from importlib import import_module

            path = sys.path[:]
            sys.path[:] = [folder for folder in path if folder != worker.local_directory]
            try:
                import_module("recorder.archive.sharing.cluster")
            finally:
                sys.path[:] = path

    try:
        with suppress(OSError):  # a worker has just ended
            client.register_plugin(Loading(), name=_PACKAGE)
    except ImportError as error:
        raise RecorderError(f"{_PACKAGE} cannot be loaded on a worker ({error}); install it there.") from error


def _facts() -> tuple[str, int]:
    """What two builds of one version may differ in."""
    return PARSER_VERSION, DATASET_SCHEMA


@contextmanager
def cluster_run(address: str, folder: DataFolder, sources: Sequence[Input]) -> Iterator[Run]:
    with cluster_client(address) as client:
        _check_places(client, folder, sources)
        ends = list(accumulate(source.size_bytes for source in sources))
        yield cast("Run", partial(_run, client, ends))


def _check_places(client: Client, folder: DataFolder, sources: Sequence[Input]) -> None:
    """Look from each worker at the logs, and write a file to the folder."""
    for source in sources:
        if source.spooled and source.url is None:
            raise RecorderError(f"{source.name} cannot be read by the workers of a cluster; name a file or a URL.")
    files = [
        (source.name, str(source.path), source.path.stat().st_size)
        for source in sources
        if source.error is None and source.url is None
    ]
    hosts = {source.url.split("/")[2]: source.url for source in sources if source.url is not None}
    trial = replace(folder, name=f"{folder.name}/.check-{secrets.token_hex(8)}")
    token = secrets.token_bytes(16)
    try:
        with trial.create("client") as out:
            out.write(token)
        answers = client.run(partial(_look_around, files, list(hosts.values()), trial, token), on_error="return")
        written = set(trial.files())
        for worker, answer in answers.items():
            if isinstance(answer, OSError):
                continue  # it has just ended
            if isinstance(answer, BaseException):
                raise RecorderError(f"{worker}: this worker cannot be asked what it reaches: {answer}") from answer
            problem, name = answer
            if problem is None and name not in written:
                problem = f"what it writes to {folder.name} does not arrive there"
            if problem is not None:
                raise RecorderError(
                    f"{worker}: {problem}; put logs and data set into a folder that all computers share, or on s3://."
                )
    finally:
        trial.remove_all()


def check_reading(client: Client, folder: str, files: Sequence[str]) -> None:
    """Look from each worker at files of a data set, which messages call ``folder``."""
    for worker, problem in client.run(partial(_try_reading, files), on_error="return").items():
        if problem is not None:
            raise RecorderError(
                f"{worker}: this worker does not reach {folder} ({problem}); put the data set into a folder that all "
                "computers share, or on s3://."
            )


def _try_reading(files: Sequence[str]) -> str | None:
    for path in files:
        try:
            with file_system(path).open(path, "rb") if is_url(path) else Path(path).open("rb") as file:
                file.read(4)
        except Exception as error:  # as in storage.dataset.files
            return reason(error)
    return None


def _look_around(
    files: list[tuple[str, str, int]], urls: list[str], trial: DataFolder, token: bytes
) -> tuple[str | None, str]:
    """On the worker: find what it does not reach; return the problem, and the name of the file that it wrote."""
    name = f"worker-{secrets.token_hex(8)}"
    for log, path, size in files:
        try:
            if Path(path).stat().st_size != size:
                return f"{log} is another file on this worker", name
        except OSError:
            return f"this worker does not reach {log}", name
    for url in urls:
        try:
            with suppress(FileNotFoundError):  # the log is reported when its turn comes
                file_system(url).info(url)
        except Exception as error:  # as in storage.dataset.files
            return f"this worker does not reach {url} ({reason(error)})", name
    folder = trial.name.rpartition("/")[0]
    try:
        with trial.open("client") as file:
            if file.read() != token:
                return f"{folder} is another folder on this worker", name
        with trial.create(name) as out:
            out.write(token)
    except (OSError, RecorderError) as error:
        why = f" ({error})" if isinstance(error, RecorderError) else ""
        return f"this worker does not reach {folder}, or cannot write there{why}", name
    return None, name


def _work(function: Callable[[Any, Progress], _Result], task: Any) -> _Result:
    """Do a task; runs on the worker, which reports no progress: the files that are done are counted."""
    with local_copy(task.source) as source:
        return function(replace(task, source=source), no_progress)


def _run(
    client: Client,
    ends: Sequence[int],
    function: Callable[[SourceTask, Progress], _Result],
    tasks: Iterable[SourceTask],
    progress: Progress,
) -> Iterator[Callable[[], _Result]]:
    """As ``Run``; ``ends``: the bytes of each source and all before it."""
    submitted: deque[Callable[[], _Result]] = deque()
    for task in tasks:
        number, count = task.place
        words = f"{number:,} of {count:,} files {'identified' if task.outcome is None else 'written'}"
        key = f"{_PACKAGE}-{secrets.token_hex(8)}"
        remote = client.submit(_work, function, task, key=key, pure=False, retries=_RETRIES)
        show = partial(progress, words, ends[number - 1], ends[-1] or None)
        submitted.append(partial(_result_of, remote, show))
        threads: dict[str, int] = client.nthreads()  # type: ignore[no-untyped-call]  # Dask has no types
        while len(submitted) >= _TASKS_AHEAD * max(sum(threads.values()), 1):
            yield submitted.popleft()
    yield from submitted


def _result_of(remote: Any, show: Callable[[], object]) -> Any:
    """Wait for a task."""
    from distributed import KilledWorker

    try:
        return remote.result()
    except KilledWorker as error:
        died = f"died on {error.allowed_failures + 1} workers, one after another"
        raise WorkerDiedError(died) from error
    finally:
        show()
