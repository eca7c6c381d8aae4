"""The bytes of a connection, handed over as soon as they are read."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Callable
from typing import Final

__all__ = ["Incoming", "open_connection"]

_REST_BYTES: Final = 1 << 16


class Incoming(asyncio.Protocol):
    """Hands over all bytes that came before the connection ended or failed; nothing before ``resume``.

    When writing fails, asyncio reports the failure without the bytes that the system still holds: they are read here.

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
        self._rest = connected.dup()  # still readable when the transport has failed
        self._take = take
        self._on_end = ended
        self._early: list[bytes] | None = []  # what came before ``resume``

    def resume(self) -> None:
        """Hand over what arrives from now on, and what has arrived."""
        early, self._early = self._early, None
        for data in early or ():
            self._take(data)

    def data_received(self, data: bytes) -> None:
        """Called by asyncio."""
        if self._early is None:
            self._take(data)
        else:
            self._early.append(data)

    def eof_received(self) -> bool:
        """Called by asyncio; what we say may still arrive at the other side."""
        self._end(None)
        return True

    def connection_lost(self, exc: Exception | None) -> None:
        """Called by asyncio."""
        if exc is not None:
            with contextlib.suppress(OSError):
                while data := self._rest.recv(_REST_BYTES):
                    self.data_received(data)
        self._rest.close()
        self._end(exc)
        self.closed.set_result(None)

    def _end(self, failure: Exception | None) -> None:
        if failure is not None:
            self.failure = failure
        if not self.ended:
            self.ended = True
            self._on_end()


async def open_connection(connected: socket.socket, incoming: Incoming) -> asyncio.Transport:
    """A transport for a socket that does not block."""
    loop = asyncio.get_running_loop()
    transport, _ = await loop.create_connection(lambda: incoming, sock=connected)
    return transport
