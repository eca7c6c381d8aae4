"""What came before a connection was reset is read, whatever was being done meanwhile."""

from __future__ import annotations

import asyncio
import socket
import struct

import pytest

from recorder.live.connection import open_connection
from tests.support.live import in_loop


def _pair() -> tuple[socket.socket, socket.socket]:
    """Two ends of a connection on loopback; ours does not block."""
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
async def test_all_that_came_before_a_reset_is_read_then_its_reason(talks: bool) -> None:
    ours, theirs = _pair()
    reader, writer = await open_connection(ours)
    said = bytes(range(256)) * 150
    theirs.sendall(said)
    _reset(theirs)
    if talks:
        writer.write(b"x")  # fails at once, while the system holds all that came
    heard = bytearray()
    while data := await reader.read(1 << 12):
        heard += data
        await asyncio.sleep(0.001)  # somebody is slow
    assert heard == said
    assert isinstance(reader.failure, ConnectionError)
    writer.close()
    with pytest.raises(ConnectionError):
        await writer.wait_closed()


@in_loop
async def test_an_end_is_no_failure() -> None:
    ours, theirs = _pair()
    reader, writer = await open_connection(ours)
    theirs.sendall(b"bye")
    theirs.close()
    assert await reader.read(10) == b"bye"
    assert await reader.read(10) == b""
    assert reader.failure is None
    writer.close()
    await writer.wait_closed()
