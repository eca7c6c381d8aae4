"""Reports of the recorder to the service manager."""

import asyncio
import os
import socket
import time
from pathlib import Path

import pytest

from recorder.live.service import ServiceManager
from tests.support.live import in_loop


def _waiting(manager: socket.socket) -> list[bytes]:
    states = []
    while True:
        try:
            states.append(manager.recv(100))
        except BlockingIOError:
            return states


@pytest.mark.parametrize("abstract", [False, True])
@in_loop
async def test_reports_go_to_the_socket_in_order(abstract: bool, tmp_path: Path) -> None:
    name = f"@ics-recorder-test-{os.getpid()}-{time.time_ns()}" if abstract else str(tmp_path / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as socket_of_manager:
        socket_of_manager.bind("\0" + name[1:] if abstract else name)
        socket_of_manager.setblocking(False)
        problems: list[str] = []
        environment = {"NOTIFY_SOCKET": name, "WATCHDOG_USEC": "200000", "WATCHDOG_PID": str(os.getpid()), "HOME": "/"}
        manager = ServiceManager(environment, problems.append)
        assert environment == {"HOME": "/"}
        recording = False
        stop = asyncio.Event()
        running = asyncio.create_task(manager.run(lambda: recording, stop))
        await asyncio.sleep(0.35)
        before = _waiting(socket_of_manager)
        assert len(before) >= 2
        assert set(before) == {b"WATCHDOG=1"}
        recording = True
        await asyncio.sleep(0.35)
        assert _waiting(socket_of_manager).count(b"READY=1") == 1
        stop.set()
        await asyncio.sleep(0.15)
        manager.stopping()
        assert _waiting(socket_of_manager).count(b"STOPPING=1") == 1
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        assert problems == []


@in_loop
async def test_a_stop_before_recording_does_not_report_readiness(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as socket_of_manager:
        socket_of_manager.bind(str(tmp_path / "notify"))
        socket_of_manager.setblocking(False)
        manager = ServiceManager({"NOTIFY_SOCKET": str(tmp_path / "notify")}, print)
        recording = False
        running = asyncio.create_task(manager.run(lambda: recording, asyncio.Event()))
        await asyncio.sleep(0.05)
        manager.stopping()
        recording = True
        await asyncio.sleep(0.25)
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        assert _waiting(socket_of_manager) == [b"STOPPING=1"]


@pytest.mark.parametrize(
    ("address", "why"),
    [("/nowhere/at/all", "No such file"), ("vsock:2:1234", "neither an absolute path nor"), ("/x" * 100, "too long")],
)
def test_a_socket_that_accepts_nothing_is_reported_once(address: str, why: str) -> None:
    problems: list[str] = []
    manager = ServiceManager({"NOTIFY_SOCKET": address}, problems.append)
    assert not manager._send("READY=1")
    manager.stopping()
    (problem,) = problems
    assert why in problem


@pytest.mark.parametrize(
    "environment",
    [{}, {"WATCHDOG_USEC": "1000"}, {"NOTIFY_SOCKET": ""}],
)
@in_loop
async def test_without_a_service_manager_nothing_is_done(environment: dict[str, str]) -> None:
    problems: list[str] = []
    manager = ServiceManager(environment, problems.append)
    await manager.run(lambda: True, asyncio.Event())
    manager.stopping()
    assert (problems, environment) == ([], {})


@pytest.mark.parametrize("words", [{"WATCHDOG_USEC": "soon"}, {"WATCHDOG_USEC": "1000", "WATCHDOG_PID": "1"}])
@in_loop
async def test_the_watchdog_of_another_process_gets_no_reports(words: dict[str, str], tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as socket_of_manager:
        socket_of_manager.bind(str(tmp_path / "notify"))
        socket_of_manager.setblocking(False)
        manager = ServiceManager({"NOTIFY_SOCKET": str(tmp_path / "notify")} | words, print)
        stop = asyncio.Event()
        stop.set()
        await manager.run(lambda: True, stop)
        assert set(_waiting(socket_of_manager)) == {b"READY=1", b"STOPPING=1"}
