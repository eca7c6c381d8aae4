"""Sockets that listen, and the last word to a client."""

from __future__ import annotations

import asyncio
import socket

import pytest

from recorder.errors import ListenError
from recorder.live.net.sockets import Address, is_loopback, listen, say_farewell
from tests.support.live import in_loop


def test_tells_loopback_from_elsewhere() -> None:
    for host, here in (("127.0.0.1", True), ("0.0.0.0", False)):
        for listener in listen(Address(host, 0)):
            assert is_loopback(listener) is here
            listener.close()


def test_a_name_may_stand_for_several_numbers_and_all_are_had_or_none() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(ListenError, match="in use"):
        listen(Address("127.0.0.1", taken.getsockname()[1]))
    listeners = listen(Address("localhost", 0))
    assert listeners
    for listener in listeners:
        assert not listener.getblocking()
        listener.close()


@in_loop
async def test_the_last_word_arrives_though_nobody_read_what_the_client_said() -> None:
    (listener,) = listen(Address("127.0.0.1", 0))
    with listener:
        reader, writer = await asyncio.open_connection("127.0.0.1", listener.getsockname()[1])
        writer.write(b"Ann\n" * 1000)
        client, _ = await asyncio.get_running_loop().sock_accept(listener)
        with client:
            saying = asyncio.create_task(say_farewell(client, "Nobody is there."))
            assert await reader.read(-1) == b"\r\nNobody is there.\r\n"
            writer.close()
            await saying


@in_loop
async def test_a_client_that_stays_is_waited_for_only_a_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recorder.live.net.sockets._FAREWELL_S", 0.1)
    (listener,) = listen(Address("127.0.0.1", 0))
    with listener:
        _, writer = await asyncio.open_connection("127.0.0.1", listener.getsockname()[1])
        client, _ = await asyncio.get_running_loop().sock_accept(listener)
        with client:
            await say_farewell(client, "Nobody is there.")
        writer.close()
