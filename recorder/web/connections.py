"""The limits of connections, and the web server that has them: no client keeps others from reading the site."""

from __future__ import annotations

import asyncio
import itertools
import logging
from typing import TYPE_CHECKING, Any, Final

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable

    from recorder.web.server import Guard

REQUEST_S: Final = 10.0
"""In which a request is there, with its body, from the connection or its first byte on."""
IDLE_S: Final = 5
STALLED_S: Final = 60.0
"""In which a client takes some of its answer."""
CLIENT_CONNECTIONS: Final = 64
CONNECTIONS: Final = 512
"""Most connections of one client, and of all: another one closes the oldest that waits for a request, or is refused."""
ENDING_S: Final = 1
"""How long answers that are being sent may take when the site ends."""

_FULL: Final = b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 3\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
_numbers: Final = itertools.count()


class Connection(H11Protocol):
    """A connection with limits. ``number`` rises from one to the next; the ``host`` of all may be a proxy's."""

    host = ""
    _due: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        """Make room for it, or refuse it."""
        super().connection_made(transport)
        self.number = next(_numbers)
        self.host = self.client[0] if self.client else ""
        others = [one for one in self.connections if isinstance(one, Connection) and one is not self]
        mine = [one for one in others if one.host == self.host]
        full = mine if len(mine) >= self._most_of_client else others if len(others) >= CONNECTIONS else []
        idle = min((one for one in full if one.waits), key=lambda one: one.number, default=None)
        if full and idle is None:
            transport.write(_FULL)
            transport.close()
            return
        if idle is not None:
            idle.transport.abort()
            idle.connections.discard(idle)
        self._limit(REQUEST_S)

    _most_of_client = CLIENT_CONNECTIONS

    @property
    def waits(self) -> bool:
        """Whether no whole request is here."""
        return self.cycle is None or self.cycle.more_body or self.cycle.response_complete

    def data_received(self, data: bytes) -> None:
        """Read some of a request."""
        super().data_received(data)
        if not self.waits:
            self._limit(None)
        elif self._due is None:
            self._limit(REQUEST_S)

    def pause_writing(self) -> None:
        """The client does not take its answer."""
        super().pause_writing()
        self._limit(STALLED_S)

    def resume_writing(self) -> None:
        """The client takes its answer."""
        super().resume_writing()
        self._limit(None)

    def timeout_keep_alive_handler(self) -> None:
        """Close it, though the client may not have taken all of the last answer."""
        super().timeout_keep_alive_handler()
        self._limit(STALLED_S)

    def connection_lost(self, exc: Exception | None) -> None:
        """It is closed."""
        self._limit(None)
        super().connection_lost(exc)

    def _limit(self, seconds: float | None) -> None:
        if self._due is not None:
            self._due.cancel()
        self._due = None if seconds is None else self.loop.call_later(seconds, self.transport.abort)


class OfProxy(Connection):
    """A connection of the proxy in front of the site, which is all clients."""

    _most_of_client = CONNECTIONS


def make_server(app: Guard, *, behind_proxy: bool, end: Callable[[], None]) -> uvicorn.Server:
    """Make the web server of a site; ``end`` is called when it begins to end, because events never do."""
    logging.getLogger().addHandler(logging.NullHandler())  # what libraries log is for no reader of a terminal
    connection: Any = OfProxy if behind_proxy else Connection
    config = uvicorn.Config(
        app, http=connection, ws="none", lifespan="off", log_config=None, access_log=False, server_header=False,
        proxy_headers=False, timeout_keep_alive=IDLE_S, timeout_graceful_shutdown=ENDING_S,
    )  # fmt: skip
    server = uvicorn.Server(config)
    shutdown = server.shutdown

    async def ending_first(sockets: list[socket.socket] | None = None) -> None:
        end()
        await shutdown(sockets)

    server.shutdown = ending_first  # type: ignore[method-assign]  # uvicorn calls nothing of ours at this moment
    return server
