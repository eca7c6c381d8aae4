"""The sockets of a replay server: bytes to and from ``ReplayClients``, timers, and bounds for everybody."""

from __future__ import annotations

import asyncio
import socket
import traceback
from collections.abc import Callable, Sequence
from pathlib import PurePath
from time import monotonic_ns
from typing import Final, cast

from recorder.live.net.sockets import Address, client_command, format_address, is_loopback, listen
from recorder.live.service import heed_signals
from recorder.replay.server.clients import ReplayClients
from recorder.replay.server.login import LoginDialogue

_NS: Final = 1_000_000_000
_SLICE: Final = 512
"""Of one client one line is looked at, or so many bytes, before it is another's turn."""
_MOST_WAITING: Final = 1 << 20
_MOST_HELD: Final = 1 << 16
"""Of a replay that is so fast that ends of games wait for each other, so many bytes wait."""
_LOGIN_S: Final = 120
_FAREWELL_S: Final = 1
_APART_S: Final = 0.1
"""Between a board and the end of its game: xboard and PyChess lose the last move where they read both at once."""
_SLOW: Final = b"\n\r**** You read too slowly: this replay goes on without you. ****\n\r"
_FAULT: Final = b"\n\r**** This replay has a fault and cannot go on for you. ****\n\r"
_FULL: Final = b"\n\r**** There are too many clients; try again later. ****\n\r"


def serve(listen_at: Address, clients: ReplayClients, report: Callable[[str], None]) -> None:
    listeners = listen(listen_at)
    for listener in listeners:
        here = format_address(Address(*listener.getsockname()[:2]))
        report(f"Listening on {here}.")
        if not is_loopback(listener):
            report(f"Warning: {here} is open to other machines: anyone there can see these games.")
    report(f"Connect a client: {client_command(listeners[0])}")
    asyncio.run(_serve(clients, listeners, report))


async def _serve(clients: ReplayClients, listeners: Sequence[socket.socket], report: Callable[[str], None]) -> None:
    stop = asyncio.Event()
    heed_signals(stop, asyncio.Event())
    await ReplayServer(clients, report).serve(listeners, stop)


class ReplayServer:
    """``report`` gets a sentence when a client connects or leaves."""

    def __init__(self, clients: ReplayClients, report: Callable[[str], None]) -> None:
        self.clients = clients
        self.report = report
        self.links: dict[LoginDialogue, _Link] = {}
        self._timer: asyncio.TimerHandle | None = None

    async def serve(self, listeners: Sequence[socket.socket], stop: asyncio.Event) -> None:
        """When ``stop`` is set everybody is sent away."""
        loop = asyncio.get_running_loop()
        servers = [await loop.create_server(lambda: _Link(self), sock=listener) for listener in listeners]
        try:
            await stop.wait()
        finally:
            if self._timer is not None:
                self._timer.cancel()
            for server in servers:
                server.close()
            for link in list(self.links.values()):
                link.end(b"\n\r    **** Server shutting down immediately. ****\n\r")
            while self.links:
                await asyncio.sleep(0.02)

    def schedule(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        due_ns = self.clients.due_ns
        if due_ns is not None:
            self._timer = asyncio.get_running_loop().call_later(_seconds_to(due_ns), self._tick)

    def _tick(self) -> None:
        self._timer = None
        try:
            self.clients.tick(monotonic_ns(), self._failed)
            for link in list(self.links.values()):
                link.flush()
        finally:
            self.schedule()

    def _failed(self, client: LoginDialogue, error: Exception) -> None:
        link = self.links.get(client)
        if link is not None:
            link.fail(error)


class _Link(asyncio.Protocol):
    def __init__(self, server: ReplayServer) -> None:
        self._server = server
        self._client: LoginDialogue | None = None
        self._transport: asyncio.Transport | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._held: asyncio.TimerHandle | None = None  # what is sent next is kept apart from what was sent
        self._limits: list[asyncio.TimerHandle] = []  # of the login, and of the farewell
        self._waiting = b""
        self._looked_at = 0  # so many bytes of what waits
        self._ending = False
        self._name = ""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        peer = transport.get_extra_info("peername")  # None: it is gone already
        self._name = "somebody" if peer is None else "{}:{}".format(*peer[:2])
        try:
            client = self._server.clients.connect(monotonic_ns())
        except Exception as error:  # the client gets a message and is disconnected, so that it does not wait
            self.fail(error)
            return
        if client is None:
            self.end(_FULL)
            return
        self._client = client
        self._server.links[client] = self
        self._limits.append(asyncio.get_running_loop().call_later(_LOGIN_S, self._login_over))
        self.flush()

    def data_received(self, data: bytes) -> None:
        if self._ending:
            return
        assert self._transport is not None
        begin = not self._waiting
        self._waiting = self._waiting[self._looked_at :] + data
        self._looked_at = 0
        if begin:
            self._work()

    def _slice(self) -> bytes:
        begin = self._looked_at
        end = self._waiting.find(b"\n", begin, begin + _SLICE) + 1 or begin + _SLICE
        found = self._waiting[begin:end]
        self._looked_at = end
        if end >= len(self._waiting):
            self._waiting, self._looked_at = b"", 0
        return found

    def _work(self) -> None:
        """The other slices of the same client wait for the next turn."""
        if self._client is None or self._transport is None or self._ending or not self._waiting:
            return
        handle = self._client.handle
        try:
            self._server.clients.receive(self._client, self._slice(), monotonic_ns())
        except Exception as error:  # a fault that one client meets must not leave it hanging, nor harm others
            self.fail(error)
            return
        if handle is None and self._client.handle is not None:
            self._server.report(f"{self._client.handle} connected from {self._name}.")
        self.flush()
        self._server.schedule()
        if self._waiting:
            self._transport.pause_reading()
            asyncio.get_running_loop().call_soon(self._work)
        else:
            self._transport.resume_reading()

    def flush(self) -> None:
        client, transport = self._client, self._transport
        if client is None or transport is None or self._ending:
            return
        whole = client.closed or client.backlog > _MOST_HELD
        if whole and self._held is not None:
            self._held.cancel()
            self._held = None
        while self._held is None:
            data = client.take_output(part=not whole)
            if data:
                transport.write(data)
            if not client.is_parted:
                break
            self._held = asyncio.get_running_loop().call_later(_APART_S, self._release)
        if transport.get_write_buffer_size() > _MOST_WAITING:
            self._server.report(f"{client.handle or self._name} reads too slowly and was disconnected.")
            self.end(_SLOW)
        elif client.closed:
            self.end(b"")
        else:
            self._set_timer(client)

    def _release(self) -> None:
        self._held = None
        if self._client is not None:
            self._client.go_on()
        self.flush()

    def _set_timer(self, client: LoginDialogue) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        due_ns = client.due_ns
        if due_ns is not None:
            self._timer = asyncio.get_running_loop().call_later(_seconds_to(due_ns), self._tick)

    def _tick(self) -> None:
        self._timer = None
        if self._client is not None:
            try:
                self._client.tick(monotonic_ns())
            except Exception as error:  # as above
                self.fail(error)
            self.flush()

    def _login_over(self) -> None:
        if self._client is not None and self._client.handle is None and not self._ending:
            self.end(b"\n\r**** LOGIN TIMEOUT ****\n\r")

    def fail(self, error: Exception) -> None:
        """A fault of this program: log where it is, and disconnect the client with a message."""
        last = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{type(error).__name__}: {error}, {PurePath(last.filename).name} line {last.lineno}"
        name = self._name if self._client is None else self._client.handle or self._name
        self._server.report(f"{name} was disconnected ({where}, a bug).")
        self.end(_FAULT)

    def end(self, words: bytes) -> None:
        """A client that does not listen is cut off."""
        transport = self._transport
        if transport is None or self._ending:
            return
        self._ending = True
        if words:
            transport.write(words)
        transport.close()
        self._limits.append(asyncio.get_running_loop().call_later(_FAREWELL_S, transport.abort))

    def connection_lost(self, exc: Exception | None) -> None:
        self._ending = True
        if self._timer is not None:
            self._timer.cancel()
        if self._held is not None:
            self._held.cancel()
        for limit in self._limits:
            limit.cancel()
        if self._client is not None:
            self._server.clients.disconnect(self._client)
            self._server.links.pop(self._client, None)
            if self._client.handle is not None:
                self._server.report(f"{self._client.handle} disconnected.")


def _seconds_to(due_ns: int) -> float:
    return max(due_ns - monotonic_ns(), 0) / _NS
