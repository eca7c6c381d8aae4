"""Sockets: addresses, connecting, listening, and the last message to a client."""

import asyncio
import contextlib
import errno
import socket
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recorder.errors import ListenError
from recorder.live.net.sockets import (
    Address,
    connect,
    format_address,
    listen,
    parse_address,
    say_farewell,
    why_no_connection,
)
from tests.support.live import in_loop

PAIRS = [
    ("freechess.org:5000", Address("freechess.org", 5000)),
    ("127.0.0.1:0", Address("127.0.0.1", 0)),
    ("[::1]:5001", Address("::1", 5001)),
]


@pytest.mark.parametrize(("text", "address"), PAIRS)
def test_reads_and_writes(text: str, address: Address) -> None:
    assert parse_address(text) == address
    assert format_address(address) == text


@pytest.mark.parametrize("text", ["chess.example", "::1", "[::1]"])
def test_the_port_may_be_omitted_if_there_is_a_default(text: str) -> None:
    assert parse_address(text, 5000) == Address(text.strip("[]"), 5000)
    with pytest.raises(ValueError, match="has no port"):
        parse_address(text)


def test_a_number_alone_is_a_port_if_there_is_a_default_host() -> None:
    assert parse_address("6124", None, "127.0.0.1") == Address("127.0.0.1", 6124)
    with pytest.raises(ValueError, match="'6124' is a port without a host; write HOST:6124"):
        parse_address("6124", 5000)
    with pytest.raises(ValueError, match="ports go up to 65535"):
        parse_address("65536", None, "127.0.0.1")


@pytest.mark.parametrize("text", ["", ":5000", "a b:1", "host:", "host:x", "host:65536", "[::1:5", "a:b:c", "[]:1"])
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"write HOST:PORT|ports go up"):
        parse_address(text, 5000)


@given(st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        address = parse_address(text, 5000)
    except ValueError:
        return
    assert parse_address(format_address(address)) == address


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
    asked, answered = threading.Event(), list[bool]()

    def silent(*_: object, **__: object) -> list[object]:
        answered.append(asked.wait(600))
        return []

    monkeypatch.setattr(socket, "getaddrinfo", silent)

    async def give_up() -> None:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(connect(SERVER), 0.05)

    asyncio.run(give_up())
    assert not answered, "the server was waited for"
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


def test_all_addresses_of_a_name_are_bound_or_none() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(ListenError, match="in use"):
        listen(Address("127.0.0.1", taken.getsockname()[1]))
    listeners = listen(Address("localhost", 0))
    assert listeners
    for listener in listeners:
        assert not listener.getblocking()
        listener.close()


@in_loop
async def test_the_last_message_arrives_although_the_clients_input_was_not_read() -> None:
    (listener,) = listen(Address("127.0.0.1", 0))
    with listener:
        reader, writer = await asyncio.open_connection("127.0.0.1", listener.getsockname()[1])
        writer.write(b"Ann\n" * 1000)
        client, _ = await asyncio.get_running_loop().sock_accept(listener)
        with client:
            saying = asyncio.create_task(say_farewell(client, "No server is there."))
            assert await reader.read(-1) == b"\r\nNo server is there.\r\n"
            writer.close()
            await saying
