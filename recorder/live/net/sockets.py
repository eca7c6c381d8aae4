"""Addresses, connecting to a host, listening for clients, and calls that may block."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import os
import re
import socket
import threading
from asyncio.staggered import staggered_race
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any, Final, NamedTuple, TypeVar, cast

from recorder.errors import ListenError

_FORM: Final = re.compile(r"(?:\[(?P<literal>[^\[\]\s]+)\]|(?P<name>[^\[\]\s:]+))(?::(?P<port>[0-9]{1,5}))?")
_MAX_PORT: Final = 65535


class Address(NamedTuple):
    host: str
    port: int


def parse_address(text: str, default_port: int | None = None, default_host: str | None = None) -> Address:
    """Parse ``chess.example:5000``, ``chess.example``, ``[::1]:5000``, ``::1`` or ``5000``."""
    host: str
    port: int | None
    if text.isascii() and text.isdigit():
        if default_host is None:
            raise ValueError(f"{text!r} is a port without a host; write HOST:{text}.")
        host, port = default_host, int(text)
    elif _is_ipv6(text):
        host, port = text, default_port
    elif match := _FORM.fullmatch(text):
        host = match["literal"] or match["name"]
        port = default_port if match["port"] is None else int(match["port"])
    else:
        raise ValueError(f"{text!r} is not an address; write HOST:PORT or [IPV6]:PORT.")
    if port is None:
        raise ValueError(f"{text!r} has no port; write HOST:PORT.")
    if port > _MAX_PORT:
        raise ValueError(f"{text!r} has port {port}; ports go up to {_MAX_PORT}.")
    return Address(host, port)


def format_address(address: Address) -> str:
    """The inverse of ``parse_address``, always with the port."""
    host = f"[{address.host}]" if ":" in address.host else address.host
    return f"{host}:{address.port}"


def _is_ipv6(text: str) -> bool:
    try:
        socket.inet_pton(socket.AF_INET6, text)
    except (OSError, ValueError):
        return False
    return True


_Result = TypeVar("_Result")


async def in_thread(work: Callable[[], _Result], too_late: Callable[[_Result], object] = lambda _late: None) -> _Result:
    """Run what may never return without delaying the program's end; ``too_late`` gets a result after a cancel."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[_Result] = loop.create_future()

    def settle(result: _Result | None, error: Exception | None) -> None:
        if done.cancelled():
            if result is not None:
                threading.Thread(target=too_late, args=(result,), daemon=True).start()
        elif error is not None:
            done.set_exception(error)
        else:
            done.set_result(cast(_Result, result))

    def run() -> None:
        result, error = None, None
        try:
            result = work()
        except Exception as failure:  # raised in the loop, whatever it is
            error = failure
        with suppress(RuntimeError):  # the loop has ended meanwhile
            loop.call_soon_threadsafe(settle, result, error)

    threading.Thread(target=run, daemon=True).start()
    return await done


CONNECT_S: Final = 30.0
_NEXT_S: Final = 0.25
_KEEPALIVE: Final = (("TCP_KEEPIDLE", 60), ("TCP_KEEPINTVL", 15), ("TCP_KEEPCNT", 4))
"""The system reports a dead connection after two minutes."""


async def connect(address: Address) -> socket.socket:
    """OSError: no address answers, within half a minute; ``socket.gaierror``: the name has none."""
    async with asyncio.timeout(CONNECT_S):
        attempts = [partial(_dial, *number) for number in await _look_up(address)]
        # Where one does not answer, as where IPv6 is not routed, the next is tried a moment later (RFC 8305, "Happy
        # Eyeballs").
        connection, _, failures = await staggered_race(attempts, _NEXT_S)
    if connection is None:
        raise next(filter(None, reversed(failures)), OSError(f"{address.host} has no address"))
    return cast(socket.socket, connection)


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
    """A sentence without full stop; None: it is known, or that is not certain."""
    try:
        await _look_up(address)
    except socket.gaierror as error:
        return None if error.errno == socket.EAI_AGAIN else why_no_connection(address, error)
    except OSError:
        return None
    return None


async def _look_up(address: Address) -> list[Any]:
    """The IP addresses of a host, in a thread: asyncio's own look-up delays the program's end until it is answered."""

    def ask() -> list[Any]:
        try:
            return list(socket.getaddrinfo(*address, type=socket.SOCK_STREAM))
        except UnicodeError as error:  # a part of the name that is empty or too long
            raise socket.gaierror(socket.EAI_NONAME, "it is not a valid host name") from error

    return await in_thread(ask)


def failure_reason(error: BaseException) -> str:
    """The system's words: asyncio adds addresses, and the error for an unknown name has no errno."""
    if isinstance(error, TimeoutError) and not getattr(error, "errno", None):
        return "no answer"
    if isinstance(error, OSError) and error.errno and not isinstance(error, socket.gaierror):
        return os.strerror(error.errno)
    return getattr(error, "strerror", None) or str(error) or type(error).__name__


def why_no_connection(address: Address, error: BaseException) -> str:
    where = format_address(address)
    if isinstance(error, socket.gaierror):
        return f"The name {address.host} cannot be looked up ({failure_reason(error)})"
    if isinstance(error, ConnectionRefusedError):
        return f"{where} refuses the connection; no server listens there"
    if isinstance(error, TimeoutError):
        return f"{where} does not answer"
    return f"{where} cannot be reached ({failure_reason(error)})"


def prepare(connection: socket.socket, *, patience_ms: int | None = None) -> None:
    """Send without delay, and detect a dead connection: bytes without an answer for ``patience_ms``."""
    connection.setblocking(False)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    options = _KEEPALIVE if patience_ms is None else (*_KEEPALIVE, ("TCP_USER_TIMEOUT", patience_ms))
    for name, value in options:
        if hasattr(socket, name):
            connection.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


MAX_CLIENTS: Final = 64
"""How many clients a proxy serves at a time; each takes three file descriptors and two threads."""

_READ_BYTES: Final = 1 << 16
_FAREWELL_S: Final = 1
_OWN_HOST: Final = {"0.0.0.0": "127.0.0.1", "::": "::1"}


def listen(address: Address, option: str = "--listen") -> list[socket.socket]:
    """Listen on every IP address of a host; none of the sockets blocks."""
    sockets: list[socket.socket] = []
    try:
        found = socket.getaddrinfo(*address, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        for family, *_, where in dict.fromkeys(found):
            sockets.append(socket.create_server(where[:2], family=family, backlog=16))
            sockets[-1].setblocking(False)
    except OSError as error:
        for opened in sockets:
            opened.close()
        why = os.strerror(error.errno) if error.errno and error.errno > 0 else error.strerror or str(error)
        raise ListenError(
            f"Cannot listen on {format_address(address)} ({why}): choose another address with {option}."
        ) from error
    return sockets


def client_command(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"xboard -ics -icshost {_OWN_HOST.get(host, host)} -icsport {port}"


def is_loopback(listener: socket.socket) -> bool:
    return ipaddress.ip_address(listener.getsockname()[0].partition("%")[0]).is_loopback


async def say_farewell(client: socket.socket, sentence: str) -> None:
    """Send a line, read for a second, and close: unread bytes would reset the connection before it has the line."""
    loop = asyncio.get_running_loop()
    with client, contextlib.suppress(OSError, TimeoutError):
        async with asyncio.timeout(_FAREWELL_S):
            await loop.sock_sendall(client, f"\r\n{sentence}\r\n".encode())
            client.shutdown(socket.SHUT_WR)
            while await loop.sock_recv(client, _READ_BYTES):
                pass


def first_words(host: str, port: int, limit_s: float = 10.0) -> bytes:
    """Empty: it closes the connection at once."""
    with socket.create_connection((host, port), limit_s) as connection:
        return connection.recv(4096)
