"""A visit to a server that only logs in, asks for the table of games, and leaves."""

from __future__ import annotations

import asyncio
import contextlib
import time
from typing import Final

from recorder.errors import LoginError
from recorder.live.incoming import Incoming, open_connection
from recorder.live.net.sockets import Address, connect, failure_reason, format_address, why_no_connection
from recorder.live.policy.explain import Rehearsal
from recorder.wire.timeseal import Sealing

__all__ = ["rehearse"]

_TAKES_S: Final = 30.0
_TICK_S: Final = 1.0


async def rehearse(server: Address, rehearsal: Rehearsal, sealing: Sealing | None) -> None:
    """Connect, and exchange with the server what a rehearsal says until it is finished.

    Args:
        sealing: the time seal; None: the connection is not sealed.
    Raises:
        LoginError: no connection comes about, or the server does not let us in.
    """
    try:
        connected = await connect(server)
    except OSError as error:
        raise LoginError(f"{why_no_connection(server, error)}.") from error
    heard, woken = bytearray(), asyncio.Event()

    def take(data: bytes) -> None:
        heard.extend(data)
        woken.set()

    incoming = Incoming(connected, take, woken.set)
    transport = await open_connection(connected, incoming)
    try:
        incoming.resume()
        waiting_s = 0.0
        if sealing is not None:
            transport.write(sealing.hello(0))
        while not rehearsal.finished:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_TICK_S):
                    await woken.wait()
            woken.clear()
            data = bytes(heard)
            heard.clear()
            _answer(transport, data, rehearsal, sealing)
            waiting_s = waiting_s + _TICK_S if transport.get_write_buffer_size() and not data else 0.0
            if waiting_s >= _TAKES_S:
                raise LoginError(f"{format_address(server)} takes nothing of what is sent.")
            if incoming.ended and not rehearsal.finished:
                if incoming.failure is not None:
                    why = failure_reason(incoming.failure)
                    raise LoginError(f"The connection to {format_address(server)} was lost ({why}).")
                rehearsal.closed()
                break
        transport.close()  # good-bye is said; that the server is gone now is no failure
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(asyncio.shield(incoming.closed), _TAKES_S)
    finally:
        transport.abort()


def _answer(transport: asyncio.Transport, data: bytes, rehearsal: Rehearsal, sealing: Sealing | None) -> None:
    """Say what is due, and what the server's bytes ask for."""
    now_ms = time.monotonic_ns() // 1_000_000
    lines = b""
    if data:
        if sealing is not None:
            transport.write(sealing.answers(data, now_ms))
        lines = rehearsal.receive(data, now_ms)
    lines += rehearsal.take(now_ms)
    if lines:
        transport.write(lines if sealing is None else sealing.seal_lines(lines, now_ms))
