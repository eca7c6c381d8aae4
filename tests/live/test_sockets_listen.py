"""Listening sockets, and the last message to a client."""

from __future__ import annotations

import asyncio
import socket

import pytest

from recorder.errors import ListenError
from recorder.live.net.sockets import Address, is_loopback, listen, say_farewell
from tests.support.live import in_loop


def test_loopback_addresses_are_recognised() -> None:
    for host, here in (("127.0.0.1", True), ("0.0.0.0", False)):
        for listener in listen(Address(host, 0)):
            assert is_loopback(listener) is here
            listener.close()


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


@in_loop
async def test_the_wait_for_a_client_to_leave_is_short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recorder.live.net.sockets._FAREWELL_S", 0.1)
    (listener,) = listen(Address("127.0.0.1", 0))
    with listener:
        _, writer = await asyncio.open_connection("127.0.0.1", listener.getsockname()[1])
        client, _ = await asyncio.get_running_loop().sock_accept(listener)
        with client:
            await say_farewell(client, "No server is there.")
        writer.close()
