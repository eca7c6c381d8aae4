"""Data sets made by a cluster of Dask: equal to those of one process, also when a worker is killed."""

import gzip
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from recorder.archive.sharing import cluster
from recorder.errors import ExitCode
from storage.dataset.files import open_folder
from tests.support.cli import GUESTS, SERVER, WATCHER, Cli
from tests.support.dask_cluster import DaskCluster, dask_cluster
from tests.support.s3server import s3_server
from tests.support.webserver import web_server

LOGS = (
    WATCHER,
    GUESTS,
    SERVER / "a03_crazyhouse" / "observer_GuestObsD.raw.gz",
    SERVER / "a11_adjourn_disconnect" / "observer_GuestAda.raw",
    SERVER / "b06_bughouse" / "observer_GuestXo.raw.gz",
    SERVER / "b01_standard" / "observer_GuestXa.raw.gz",
    SERVER.parent / "pgn" / "ics-client-saved-2009.pgn",
)
KILLED = """
import os, signal
from exporters import dataset_parts

sources = []
write = dataset_parts._write_step

def write_or_die(*how):
    sources.append(how)
    if len(sources) == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    write(*how)

dataset_parts._write_step = write_or_die
"""


@pytest.fixture(scope="module")
def bucket() -> Iterator[str]:
    with s3_server({"logs/a.log.gz": gzip.compress(WATCHER.read_bytes())}) as url:
        yield url


@pytest.fixture(scope="module")
def dask(tmp_path_factory: pytest.TempPathFactory, bucket: str) -> Iterator[DaskCluster]:
    """A cluster whose workers reach the bucket."""
    with dask_cluster(tmp_path_factory.mktemp("dask")) as running:
        yield running


def contents(where: Path | str) -> dict[str, bytes]:
    folder = open_folder(str(where))
    found = {}
    for name in folder.files():
        with folder.open(name) as file:
            found[name] = file.read()
    return found


@pytest.mark.long
@pytest.mark.usefixtures("divided")
def test_a_killed_worker_changes_nothing(cli: Cli, tmp_path: Path, dask: DaskCluster) -> None:
    dies = tmp_path / "dies.py"
    dies.write_text(KILLED)
    dask.start_worker("--preload", dies)
    one, two = tmp_path / "one", tmp_path / "two"
    cli("convert", *LOGS, "--dataset", one, "--jobs", 1)
    with cluster.cluster_client(dask.address) as client:
        client.wait_for_workers(2, 600)
        cli("convert", *LOGS, "--dataset", two, "--dask", dask.address)
    assert dask.workers[-1].wait(600) == -signal.SIGKILL
    assert contents(two) == contents(one)
    assert "unchanged" in cli("convert", *LOGS, "--dataset", two, "--update", "--dask", dask.address).stdout


@pytest.mark.long
def test_without_workers_the_command_waits_a_while_and_ends(
    cli: Cli, tmp_path: Path, dask: DaskCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker that starts in time continues; as of an editable installation, it must load the program first."""
    run = cluster._run

    def end_workers(*words: Any) -> Any:
        for worker in dask.workers:
            worker.kill()
        return run(*words)

    def replace_workers(*words: Any) -> Any:
        monkeypatch.setattr(cluster, "_run", run)
        found = end_workers(*words)
        dask.start_worker()
        return found

    where = ("--dataset", tmp_path / "set", "--dask", dask.address)
    monkeypatch.setattr(cluster, "_run", replace_workers)
    monkeypatch.setattr(cluster, "_ABSENT_S", 600)  # a machine with much work starts a worker late
    cli("convert", WATCHER, *where)
    monkeypatch.setattr(cluster, "_LOOK_S", 0.2)
    monkeypatch.setattr(cluster, "_ABSENT_S", 1)
    monkeypatch.setattr(cluster, "_run", end_workers)
    said = cli("convert", WATCHER, "--update", *where, code=ExitCode.INPUT).stderr
    assert f"{dask.address}: the scheduler has had no workers for 1 s; start them with `dask worker" in said
    dask.start_worker()


@pytest.mark.long
def test_measures_are_equal_on_the_cluster(cli: Cli, tmp_path: Path, dask: DaskCluster, bucket: str) -> None:
    here, there = tmp_path / "here", f"{bucket}/measured"
    for where in (here, there):
        cli("convert", *LOGS[:3], "--dataset", where)
    for where, *words in ((there, "--by", "phase"), (here, "--table", "longest", "--player", "Steinitz")):
        wanted = cli("clocks", "--json", "--dataset", here, *words).output
        assert cli("clocks", "--json", "--dataset", where, *words).output == wanted
        assert cli("clocks", "--json", "--dataset", where, "--dask", dask.address, *words).output == wanted


@pytest.mark.long
def test_logs_and_data_set_may_be_urls(cli: Cli, tmp_path: Path, dask: DaskCluster, bucket: str) -> None:
    with web_server(log=GUESTS.read_bytes()) as web:
        logs = (f"{bucket}/logs/a.log.gz", f"{web.url}/log", f"{web.url}/nothing")
        here = cli("convert", *logs, "--dataset", tmp_path / "here", code=ExitCode.INPUT)
        there = cli("convert", *logs, "--dataset", f"{bucket}/there/", "--dask", dask.address, code=ExitCode.INPUT)
    assert there.stdout == here.stdout
    assert "nothing: cannot be read: there is no such file" in there.stderr
    assert contents(f"{bucket}/there") == contents(tmp_path / "here")


@pytest.mark.long
def test_what_a_worker_does_not_reach_is_one_sentence(
    cli: Cli, tmp_path: Path, dask: DaskCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Links whose place depends on the process stand for a folder that only this computer has."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    Path("x.log").write_bytes(WATCHER.read_bytes())
    log, folder = tmp_path / "log", tmp_path / "folder"
    log.symlink_to("/proc/self/cwd/x.log")
    folder.symlink_to("/proc/self/cwd")
    how = ("--dask", dask.address)
    said = cli("convert", log, "--dataset", tmp_path / "set", *how, code=ExitCode.INPUT).stderr
    assert f"this worker does not reach {log}; put logs and data set into a folder that all computers share" in said
    said = cli("convert", WATCHER, "--dataset", folder / "set", *how, code=ExitCode.INPUT).stderr
    assert f"this worker does not reach {folder / 'set'}, or cannot write there" in said
    said = cli("convert", "-", "--dataset", tmp_path / "set", *how, code=ExitCode.INPUT, input=b"x").stderr
    assert "standard input cannot be read by the workers of a cluster" in said
    cli("convert", WATCHER, "--dataset", "set")
    words = ("--by", "phase", "--dataset", folder / "set", *how)
    said = cli("clocks", *words, code=ExitCode.INPUT).stderr
    assert f"this worker does not reach {folder / 'set'} (there is no such file" in said
    monkeypatch.setattr(cluster, "PARSER_VERSION", 0)
    said = cli("convert", WATCHER, "--dataset", tmp_path / "set", *how, code=ExitCode.INPUT).stderr
    assert "not the same program" in said
    assert not list((tmp_path / "set").iterdir())


def test_a_cluster_that_is_not_there_is_one_sentence(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "_CONNECT_S", 0.1)
    for address in ("tcp://127.0.0.1:1", "nonsense"):
        said = cli("convert", WATCHER, "--dataset", tmp_path / "x", "--dask", address, code=ExitCode.INPUT).stderr
        assert f"{address}: no scheduler of Dask answers there" in said
    assert not (tmp_path / "x").exists()
    for words in (("--dask", "tcp://h:1"), ("--dataset", tmp_path / "x", "--dask", "tcp://h:1", "--jobs", 2)):
        assert "--dask" in cli("convert", WATCHER, *words, code=ExitCode.USAGE).stderr
    assert "'--dask': it is empty." in cli("convert", WATCHER, "--dask", "", code=ExitCode.USAGE).stderr
    assert "'x' is not a valid whole number." in cli("convert", WATCHER, "-j", "x", code=ExitCode.USAGE).stderr
