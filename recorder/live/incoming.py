"""What arrives on a connection, handed over the moment it is read."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Callable
from typing import Final

from recorder.live.prompt import unwatch, watch
from recorder.live.watched import Reading

__all__ = ["Incoming", "open_connection"]

_REST_BYTES: Final = 1 << 16


class Incoming(asyncio.Protocol):
    """Hands over all that came before the connection ended or failed; nothing before ``resume``.

    asyncio's streams give it to a task some turns of the loop later, which on a processor that was asleep takes longer
    than the journal does; and when the connection fails they give the failure first and leave what the system holds.
    So asyncio only writes here.

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
        self._heard = connected.dup()  # the loop lets nobody else look at a transport's own
        self._read = Reading(self._heard, take, self._end).read
        self._reads = False
        self._take = take
        self._tell_end = ended
        self._early: list[bytes] = []

    def resume(self) -> None:
        """Read what arrives."""
        if not self._reads and not self.ended:
            self._reads = True
            early, self._early = self._early, []
            for data in early:
                self._take(data)
            watch(self._heard.fileno(), self._read)

    def pause(self) -> None:
        """Read no more."""
        if self._reads:
            self._reads = False
            unwatch(self._heard.fileno())

    def data_received(self, data: bytes) -> None:
        """Keep what asyncio has read before it could be told not to."""
        if self._reads:
            self._take(data)
        else:
            self._early.append(data)

    def connection_lost(self, exc: Exception | None) -> None:
        """Read what the system still holds if it was writing that failed."""
        self.pause()
        if exc is not None:
            with contextlib.suppress(OSError):
                while data := self._heard.recv(_REST_BYTES):
                    self._take(data)
        self._heard.close()
        self._end(exc)
        self.closed.set_result(None)

    def _end(self, failure: Exception | None) -> None:
        """No more comes; what we say may still arrive at the other side."""
        self.pause()
        if failure is not None:
            self.failure = failure
        if not self.ended:
            self.ended = True
            self._tell_end()


async def open_connection(connected: socket.socket, incoming: Incoming) -> asyncio.Transport:
    """A transport for a socket that does not block, for what is to be written.

    It is told to read nothing only when it is there: Python 3.11.2, which is Debian 12's, forgets it when it is told in
    ``connection_made``.
    """
    loop = asyncio.get_running_loop()
    transport, _ = await loop.create_connection(lambda: incoming, sock=connected)
    transport.pause_reading()
    return transport
