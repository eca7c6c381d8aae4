"""Where clients connect to: sockets that listen, and a last word to a client that cannot be served."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import socket
from typing import Final

from recorder.live.address import Address

__all__ = ["MAX_CLIENTS", "is_loopback", "listen", "say_farewell"]

MAX_CLIENTS: Final = 64
"""How many clients a proxy serves at a time; each takes three file descriptors and two threads."""

_READ_BYTES: Final = 1 << 16
_FAREWELL_S: Final = 1


def listen(address: Address) -> list[socket.socket]:
    """Listen on every number that a host's name stands for.

    Raises:
        OSError: one of them cannot be had.
    """
    found = socket.getaddrinfo(*address, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    sockets: list[socket.socket] = []
    try:
        for family, *_, where in dict.fromkeys(found):
            sockets.append(socket.create_server(where[:2], family=family, backlog=16))
            sockets[-1].setblocking(False)
    except OSError:
        for opened in sockets:
            opened.close()
        raise
    return sockets


def is_loopback(listener: socket.socket) -> bool:
    """Whether only this machine reaches a listening socket."""
    return ipaddress.ip_address(listener.getsockname()[0].partition("%")[0]).is_loopback


async def say_farewell(client: socket.socket, sentence: str) -> None:
    """Send a line, then wait until the client has seen it: what it sent and nobody read would take the line with it."""
    loop = asyncio.get_running_loop()
    with contextlib.suppress(OSError, TimeoutError):
        async with asyncio.timeout(_FAREWELL_S):
            await loop.sock_sendall(client, f"\r\n{sentence}\r\n".encode())
            client.shutdown(socket.SHUT_WR)
            while await loop.sock_recv(client, _READ_BYTES):
                pass
