"""Connecting, and messages about failed connections."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import socket
import threading
import time

import pytest

from recorder.live.net.sockets import Address, connect, failure_reason, prepare, why_no_connection
from tests.support.live import in_loop

SERVER = Address("chess.example", 5000)


@in_loop
async def test_connects_to_the_address_that_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    listener = socket.create_server(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    real = socket.getaddrinfo

    def two(*_: object, **__: object) -> list[object]:
        return [*real("127.0.0.2", port, type=socket.SOCK_STREAM), *real("127.0.0.1", port, type=socket.SOCK_STREAM)]

    monkeypatch.setattr(socket, "getaddrinfo", two)
    with listener, await connect(Address("two.example", port)) as connection:
        assert connection.getpeername() == ("127.0.0.1", port)


@in_loop
async def test_an_address_without_an_answer_does_not_hide_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    with contextlib.ExitStack() as sockets:
        silent = sockets.enter_context(socket.socket())
        silent.bind(("127.0.0.1", 0))
        silent.listen(0)
        for _ in range(4):  # its queue is full: new connections are not even refused
            waiting = sockets.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(silent.getsockname())
        answers = sockets.enter_context(socket.create_server(("127.0.0.1", 0)))
        numbers = [silent.getsockname(), answers.getsockname()]

        def two(*_: object, **__: object) -> list[object]:
            return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", where) for where in numbers]

        monkeypatch.setattr(socket, "getaddrinfo", two)
        monkeypatch.setattr("recorder.live.net.sockets.CONNECT_S", 10)
        with await connect(SERVER) as connection:
            assert connection.getpeername() == answers.getsockname()
        numbers.pop()
        monkeypatch.setattr("recorder.live.net.sockets.CONNECT_S", 0.5)
        with pytest.raises(TimeoutError) as caught:
            await connect(SERVER)
        assert why_no_connection(SERVER, caught.value) == "chess.example:5000 does not answer"


@in_loop
async def test_a_port_without_a_listener_is_refused() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(ConnectionRefusedError) as caught:
        await connect(Address("127.0.0.1", port))
    message = why_no_connection(SERVER, caught.value)
    assert message == "chess.example:5000 refuses the connection; no server listens there"


@pytest.mark.parametrize("host", ["a" * 70 + ".example", "a..example"])
@in_loop
async def test_an_invalid_host_name_is_refused(host: str) -> None:
    with pytest.raises(socket.gaierror) as caught:
        await connect(Address(host, 5000))
    assert why_no_connection(Address(host, 5000), caught.value).startswith(f"The name {host} cannot be looked up (")


def test_a_silent_name_server_does_not_delay_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = threading.Event()

    def silent(*_: object, **__: object) -> list[object]:
        asked.wait(60)
        return []

    monkeypatch.setattr(socket, "getaddrinfo", silent)

    async def give_up() -> None:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(connect(SERVER), 0.05)

    begin = time.monotonic()
    asyncio.run(give_up())
    assert time.monotonic() - begin < 30
    asked.set()


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (TimeoutError(), "chess.example:5000 does not answer"),
        (socket.gaierror(-2, "Name or service not known"),
         "The name chess.example cannot be looked up (Name or service not known)"),
        (OSError(errno.ENETUNREACH, "Connect call failed ('1.2.3.4', 1)"),
         "chess.example:5000 cannot be reached (Network is unreachable)"),
        (OSError("has no address"), "chess.example:5000 cannot be reached (has no address)"),
    ],
)  # fmt: skip
def test_reasons(error: OSError, message: str) -> None:
    assert why_no_connection(SERVER, error) == message


def test_a_reset_has_the_systems_words() -> None:
    assert failure_reason(ConnectionResetError(errno.ECONNRESET, "x")) == "Connection reset by peer"
    assert failure_reason(OSError()) == "OSError"


def test_the_system_detects_a_dead_connection() -> None:
    with socket.socket() as connection:
        prepare(connection, patience_ms=120_000)
        assert connection.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
        assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        if hasattr(socket, "TCP_USER_TIMEOUT"):
            assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) == 120_000
