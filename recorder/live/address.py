"""``HOST:PORT`` as people type it."""

from __future__ import annotations

import re
import socket
from typing import Final, NamedTuple

__all__ = ["Address", "format_address", "parse_address"]

_FORM: Final = re.compile(r"(?:\[(?P<literal>[^\[\]\s]+)\]|(?P<name>[^\[\]\s:]+))(?::(?P<port>[0-9]{1,5}))?")
_MAX_PORT: Final = 65535


class Address(NamedTuple):
    """Where to connect or to listen: a host's name or number without brackets, and a TCP port."""

    host: str
    port: int


def parse_address(text: str, default_port: int | None = None, default_host: str | None = None) -> Address:
    """Read ``chess.example:5000``, ``chess.example``, ``[::1]:5000``, ``::1`` or ``5000``.

    Args:
        text: what was typed.
        default_port: if none is typed; None: one must be.
        default_host: if a number alone is typed, it is a port there; None: a host must be typed.
    Raises:
        ValueError: it has another form; the text says what to write.
    """
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
        raise ValueError(f"{text!r} is no address; write HOST:PORT or [IPV6]:PORT.")
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
