"""What arrives on a connection, handed over the moment it is read."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Callable
from typing import Final, cast

__all__ = ["Incoming", "open_connection"]

_READ_BYTES: Final = 1 << 16


class Incoming(asyncio.BufferedProtocol):
    """Hands over all that came before the connection ended or failed.

    asyncio's streams give it to a task some turns of the loop later, which on a processor that was asleep takes longer
    than the journal does; and when the connection fails they give the failure first and leave what the system holds.
    What is read stands in one buffer that stays: asyncio's own takes 256 KiB of memory for each read.

    Args:
        connected: the socket. take: gets what arrives, never nothing; must not raise. ended: called when no more comes.

    Attributes:
        ended: no more comes. failure: why not, if the other side did not end it.
        closed: done when the socket is closed.
    """

    def __init__(
        self, connected: socket.socket, take: Callable[[bytes], None], ended: Callable[[], None] = lambda: None
    ) -> None:
        self.ended = False
        self.failure: Exception | None = None
        self.closed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._connected = connected
        self._buffer = bytearray(_READ_BYTES)
        self._take = take
        self._tell_end = ended

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Read nothing before everybody is ready: ``resume_reading`` of the transport begins."""
        cast(asyncio.Transport, transport).pause_reading()

    def get_buffer(self, sizehint: int) -> bytearray:
        """Where to read to."""
        return self._buffer

    def buffer_updated(self, nbytes: int) -> None:
        """Hand over what was read."""
        self._take(bytes(memoryview(self._buffer)[:nbytes]))

    def eof_received(self) -> bool:
        """The other side says no more; what we say may still arrive there."""
        self._end()
        return True

    def connection_lost(self, exc: Exception | None) -> None:
        """Read what the system still holds if it was writing that failed."""
        if exc is not None:
            self.failure = exc
            with contextlib.suppress(OSError):
                while data := self._connected.recv(_READ_BYTES):
                    self._take(data)
        self._end()
        self.closed.set_result(None)

    def _end(self) -> None:
        if not self.ended:
            self.ended = True
            self._tell_end()


async def open_connection(connected: socket.socket, incoming: Incoming) -> asyncio.Transport:
    """A transport for a socket that does not block; it reads nothing before ``resume_reading``."""
    loop = asyncio.get_running_loop()
    transport, _ = await loop.create_connection(lambda: incoming, sock=connected)
    return transport
