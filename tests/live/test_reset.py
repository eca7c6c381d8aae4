"""All bytes received before a connection reset are read."""

import asyncio
import socket
import struct

import pytest

from recorder.live.net.connection import Incoming, open_connection
from tests.support.live import in_loop


def _pair() -> tuple[socket.socket, socket.socket]:
    """Return both ends of a connection on loopback; ours does not block."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        ours = socket.create_connection(listener.getsockname())
        theirs, _ = listener.accept()
    ours.setblocking(False)
    return ours, theirs


def _reset(theirs: socket.socket) -> None:
    theirs.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    theirs.close()


@pytest.mark.parametrize("talks", [False, True], ids=["listening", "talking"])
@in_loop
async def test_all_bytes_before_a_reset_are_read_before_its_reason(talks: bool) -> None:
    ours, theirs = _pair()
    heard = bytearray()
    ended = asyncio.Event()
    incoming = Incoming(ours, heard.extend, ended.set)
    transport = await open_connection(ours, incoming)
    data = bytes(range(256)) * 150
    theirs.sendall(data)
    _reset(theirs)
    if talks:
        transport.write(b"x")  # fails at once, while the system still has the received bytes
    else:
        await asyncio.sleep(0.01)
        assert not heard, "no byte is passed on before it is requested"
    transport.resume_reading()
    await ended.wait()
    assert heard == data
    assert isinstance(incoming.failure, ConnectionError)
    transport.close()
    await incoming.closed


@in_loop
async def test_a_normal_end_is_no_failure() -> None:
    ours, theirs = _pair()
    heard = bytearray()
    ended = asyncio.Event()
    incoming = Incoming(ours, heard.extend, ended.set)
    transport = await open_connection(ours, incoming)
    transport.resume_reading()
    theirs.sendall(b"bye")
    theirs.close()
    await ended.wait()
    assert heard == b"bye"
    assert incoming.ended
    assert incoming.failure is None
    transport.close()
    await incoming.closed


@in_loop
async def test_no_byte_is_passed_on_before_it_is_requested() -> None:
    ours, theirs = _pair()
    heard = bytearray()
    incoming = Incoming(ours, heard.extend)
    transport = await open_connection(ours, incoming)
    theirs.sendall(b"log")
    await asyncio.sleep(0.05)
    assert not heard
    theirs.sendall(b"in: ")
    transport.resume_reading()
    await asyncio.sleep(0.05)
    assert heard == b"login: "
    transport.close()
    await incoming.closed
    theirs.close()
