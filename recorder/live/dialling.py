"""Connecting to a host: the first of its numbers that answers, words for failures, sockets that notice a dead line."""

from __future__ import annotations

import asyncio
import os
import socket
from typing import Any, Final

from recorder.live.address import Address, format_address
from recorder.live.threads import in_thread

__all__ = ["CONNECT_S", "connect", "failure_reason", "prepare", "why_no_connection", "why_unknown"]

CONNECT_S: Final = 30.0
_NEXT_S: Final = 0.25
_KEEPALIVE: Final = (("TCP_KEEPIDLE", 60), ("TCP_KEEPINTVL", 15), ("TCP_KEEPCNT", 4))
"""A line that is dead without a word is noticed after two minutes."""


async def connect(address: Address) -> socket.socket:
    """Connect to the first of a host's numbers that answers.

    They are tried in the system's order. One that says nothing, as where IPv6 leads nowhere, does not keep the next
    from being tried (RFC 8305, "Happy Eyeballs").

    Raises:
        OSError: none does; ``TimeoutError``: not within half a minute; ``socket.gaierror``: the name stands for none.
    """
    async with asyncio.timeout(CONNECT_S):
        numbers = await _look_up(address)
        failure: OSError | None = None
        attempts: set[asyncio.Task[socket.socket]] = set()
        try:
            while numbers or attempts:
                if numbers:
                    attempts.add(asyncio.create_task(_dial(*numbers.pop(0))))
                done, _ = await asyncio.wait(
                    attempts, timeout=_NEXT_S if numbers else None, return_when=asyncio.FIRST_COMPLETED
                )
                for attempt in done:
                    error = attempt.exception()
                    if error is None:
                        attempts.discard(attempt)
                        return attempt.result()
                    if not isinstance(error, OSError):
                        raise error
                    failure = error
                attempts -= done
        finally:
            for attempt in attempts:
                attempt.cancel()
            for late in await asyncio.gather(*attempts, return_exceptions=True):
                if isinstance(late, socket.socket):  # two answered together
                    late.close()
    raise failure or OSError(f"{address.host} stands for no number")


async def _dial(
    family: int, kind: int, protocol: int, _name: str, where: tuple[str, int] | tuple[str, int, int, int]
) -> socket.socket:
    connection = socket.socket(family, kind, protocol)
    connection.setblocking(False)
    try:
        await asyncio.get_running_loop().sock_connect(connection, where)
    except BaseException:  # cancelled, too, when another attempt was quicker
        connection.close()
        raise
    return connection


async def why_unknown(address: Address) -> str | None:
    """One sentence without its full stop if nobody knows the host's name; None: it is known, or cannot be asked now."""
    try:
        await _look_up(address)
    except socket.gaierror as error:
        return None if error.errno == socket.EAI_AGAIN else why_no_connection(address, error)
    except OSError:
        return None
    return None


async def _look_up(address: Address) -> list[Any]:
    """The numbers of a host. The loop's own way makes the program's end wait for a name server that is silent."""

    def ask() -> list[Any]:
        try:
            return list(socket.getaddrinfo(*address, type=socket.SOCK_STREAM))
        except UnicodeError as error:  # a part of the name that is empty or too long
            raise socket.gaierror(socket.EAI_NONAME, "the name has no form that a host's name has") from error

    return await in_thread(ask)


def failure_reason(error: BaseException) -> str:
    """Why something of the network failed, in the system's words.

    asyncio writes addresses into its errors, and a name that is not known has no number of the system's.
    """
    if isinstance(error, TimeoutError) and not getattr(error, "errno", None):
        return "no answer"
    if isinstance(error, OSError) and error.errno and not isinstance(error, socket.gaierror):
        return os.strerror(error.errno)
    return getattr(error, "strerror", None) or str(error) or type(error).__name__


def why_no_connection(address: Address, error: BaseException) -> str:
    """One sentence without its full stop about a connection that did not come about."""
    where = format_address(address)
    if isinstance(error, socket.gaierror):
        return f"The name {address.host} cannot be looked up ({failure_reason(error)})"
    if isinstance(error, ConnectionRefusedError):
        return f"{where} refuses the connection; no server listens there"
    if isinstance(error, TimeoutError):
        return f"{where} does not answer"
    return f"{where} cannot be reached ({failure_reason(error)})"


def prepare(connection: socket.socket, *, patience_ms: int | None = None) -> None:
    """No waiting for more to send, and a dead line is noticed.

    Args:
        patience_ms: how long the other side may leave bytes of ours unacknowledged, where the system can tell;
            None: as long as the system likes.
    """
    connection.setblocking(False)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    options = _KEEPALIVE if patience_ms is None else (*_KEEPALIVE, ("TCP_USER_TIMEOUT", patience_ms))
    for name, value in options:
        if hasattr(socket, name):
            connection.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
