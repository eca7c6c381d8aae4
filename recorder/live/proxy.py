"""Forwards bytes between a user's client and the server, both directions byte-exact, and records them.

``recording`` decides what is written to the journal. Once ``HIGH_BYTES`` wait for a side that reads nothing, the other
side is not read either, so that TCP slows the sender down and memory is bounded. An end is passed on behind the last
byte, in its direction only. After a side has failed, the bytes that it sent before are still forwarded, and the other
side is still read to its end, so that everything is recorded.

Bytes are forwarded first and then recorded in a thread, so that a slow disk does not delay them. After a crash the
journal lacks the bytes that waited for the disk, commonly some milliseconds of traffic. With ``journal_first`` every
read waits for the disk, and the journal lacks nothing that a peer has received.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Callable, Coroutine
from enum import Enum
from typing import Any, Final, NamedTuple

from recorder.errors import JournalError, is_disk_full
from recorder.live.messages import MessageSink
from recorder.live.net.connection import Incoming, open_connection
from recorder.live.net.sockets import (
    MAX_CLIENTS,
    Address,
    connect,
    failure_reason,
    in_thread,
    prepare,
    say_farewell,
    why_no_connection,
)
from recorder.live.recording import RecordedConnection

HIGH_BYTES: Final = 1 << 16
_LINGER_S: Final = 5
"""How long the other side may still send when one side is gone."""
_TICK_S: Final = 0.5
_ACCEPT_AGAIN_S: Final = 1
_OPEN_S: Final = 5
"""How long a client waits for the disk to create its journal."""


class ProxySide(Enum):
    """The value is the word in journals."""

    CLIENT = "client"
    SERVER = "server"

    @property
    def other(self) -> ProxySide:
        return ProxySide.SERVER if self is ProxySide.CLIENT else ProxySide.CLIENT


class Closed(NamedTuple):
    """``by``: the side that ended first, None: the proxy; ``recording`` is closed, None: there was no journal."""

    number: int
    by: ProxySide | None
    from_client: int
    from_server: int
    recording: RecordedConnection | None


class Proxy:
    """Joins every client with its own connection to the server. If ``record`` raises, there is no recording."""

    def __init__(
        self,
        server: Address,
        record: Callable[[int], RecordedConnection],
        *,
        report: MessageSink,
        on_closed: Callable[[Closed], None] = lambda closed: None,
        journal_first: bool = False,
        max_clients: int = MAX_CLIENTS,
    ) -> None:
        self._server = server
        self._record = record
        self._report = report
        self._on_closed = on_closed
        self.journal_first = journal_first
        self._links: set[_Link] = set()
        self._joining: set[asyncio.Task[None]] = set()
        self._closing: set[asyncio.Task[None]] = set()
        self._refusing: set[asyncio.Task[None]] = set()
        self._max_clients = max_clients
        self._refusal_reported = False  # since a client was served last
        self._clients = 0
        self.connections = 0
        self.forwarded = {ProxySide.CLIENT: 0, ProxySide.SERVER: 0}  # bytes of connections that are over
        self.unrecorded = 0  # connections that are not recorded completely

    async def serve(self, listeners: list[socket.socket], stop: asyncio.Event) -> None:
        """Close every connection, journal and listener when ``stop`` is set."""
        accepting = [asyncio.create_task(self._accept(listener)) for listener in listeners]
        ticking = asyncio.create_task(self._tick())
        try:
            await stop.wait()
        finally:
            tasks = [*accepting, ticking, *self._joining, *self._refusing]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            for listener in listeners:
                listener.close()
            links = list(self._links)
            for link in links:
                link.abort()
            await asyncio.gather(*[link.over for link in links])
            await asyncio.gather(*self._closing)

    async def _accept(self, listener: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        while True:
            try:
                client, _ = await loop.sock_accept(listener)
            except OSError as error:  # no file descriptor is left, or the client has closed
                why = failure_reason(error)
                self._report("client_refused", f"A client could not be accepted: {why}.", client=None, how=why)
                await asyncio.sleep(_ACCEPT_AGAIN_S)
                continue
            if len(self._joining) + len(self._links) + len(self._closing) < self._max_clients:
                self._refusal_reported = False
                self._start(self._join(client), self._joining)
            else:
                self._refuse(client)

    def _refuse(self, client: socket.socket) -> None:
        why = f"{self._max_clients} clients are connected, which is the limit"
        if not self._refusal_reported:
            self._refusal_reported = True
            self._report(
                "client_refused",
                f"A client was turned away: {why} (--max-clients). This is reported again after another was served.",
                client=None,
                how=why,
            )
        if len(self._refusing) < self._max_clients:
            self._start(say_farewell(client, f"ics-recorder: {why}. Try again later."), self._refusing)
        else:
            client.close()

    def _start(self, work: Coroutine[Any, Any, None], tasks: set[asyncio.Task[None]]) -> None:
        task = asyncio.create_task(work)
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    async def _join(self, client: socket.socket) -> None:
        self._clients += 1
        number = self._clients
        with contextlib.ExitStack() as opened:  # closed if the proxy is stopped
            opened.callback(client.close)
            try:
                server = await connect(self._server)
            except (OSError, TimeoutError) as error:
                why = why_no_connection(self._server, error)
                self._report("client_refused", f"Client {number} was turned away: {why}.", client=number, how=why)
                await say_farewell(client, f"ics-recorder: {why}.")
                return
            opened.callback(server.close)
            self.connections += 1
            link = _Link(self, number)
            for side, connection in ((ProxySide.CLIENT, client), (ProxySide.SERVER, server)):
                with contextlib.suppress(OSError):  # already closed; reading reports it
                    prepare(connection)
                await link.add(side, connection)
                opened.callback(link.transports[side].abort)
            link.recording = await self._open(number)
            opened.pop_all()
        self._links.add(link)
        link.start()

    async def _open(self, number: int) -> RecordedConnection | None:
        """In a thread: a disk that hangs must not delay the other connections."""
        try:
            async with asyncio.timeout(_OPEN_S):
                return await in_thread(lambda: self._record(number), lambda late: late.close(how="too late"))
        except Exception as error:  # whatever the error, the user's game comes first
            self.unrecorded += 1
            why = f"the journal failed ({type(error).__name__})."
            if isinstance(error, JournalError):
                why = str(error)
            elif isinstance(error, TimeoutError):
                why = f"the disk did not make a journal within {_OPEN_S} s."
            sentence = f"Error: Connection {number} IS NOT RECORDED, it continues: {why}"
            self._report("unrecorded", sentence, connection=number, disk_full=is_disk_full(error))
            return None

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(_TICK_S)
            for link in list(self._links):
                if link.recording is not None:
                    link.recording.tick()

    def end(self, link: _Link, closed: Closed, how: str) -> None:
        """Close the journal in a thread, then call ``on_closed``."""
        self._links.discard(link)
        self.forwarded[ProxySide.CLIENT] += closed.from_client
        self.forwarded[ProxySide.SERVER] += closed.from_server
        self._start(self._close(closed, how), self._closing)

    async def _close(self, closed: Closed, how: str) -> None:
        if closed.recording is not None:
            by = closed.by.value if closed.by else "proxy"
            await asyncio.to_thread(closed.recording.close, by=by, how=how)
            self.unrecorded += closed.recording.failed
        self._on_closed(closed)


class _End(Incoming):
    def __init__(self, link: _Link, side: ProxySide, connected: socket.socket) -> None:
        super().__init__(connected, lambda data: link.take(side, data), lambda: link.end(side))
        self._link = link
        self._side = side

    def pause_writing(self) -> None:
        self._link.transports[self._side.other].pause_reading()

    def resume_writing(self) -> None:
        self._link.transports[self._side.other].resume_reading()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._link.lose(self._side)


class _Link:
    """One client, its connection to the server, and the bytes on their way; ``over`` is done when both are closed."""

    def __init__(self, proxy: Proxy, number: int) -> None:
        self._proxy = proxy
        self._number = number
        self._ends: dict[ProxySide, _End] = {}
        self._started = False
        self._linger: asyncio.TimerHandle | None = None
        self._by: ProxySide | None = None
        self._how: str | None = None
        self._read = {ProxySide.CLIENT: 0, ProxySide.SERVER: 0}  # bytes of each
        self.transports: dict[ProxySide, asyncio.Transport] = {}
        self.over = asyncio.get_running_loop().create_future()
        self.recording: RecordedConnection | None = None

    async def add(self, side: ProxySide, connected: socket.socket) -> None:
        self._ends[side] = _End(self, side, connected)
        self.transports[side] = await open_connection(connected, self._ends[side])
        self.transports[side].set_write_buffer_limits(HIGH_BYTES)

    def start(self) -> None:
        self._started = True
        for transport in self.transports.values():
            transport.resume_reading()

    def abort(self) -> None:
        self._how = self._how or "stopped"
        for transport in self.transports.values():
            transport.abort()

    def take(self, side: ProxySide, data: bytes) -> None:
        at_ns = 0 if self.recording is None else self.recording.now_ns()
        self._read[side] += len(data)
        if self._proxy.journal_first:
            self._keep(side, data, at_ns)
        if not self.transports[side.other].is_closing():
            self.transports[side.other].write(data)
        if not self._proxy.journal_first:
            self._keep(side, data, at_ns)

    def _keep(self, side: ProxySide, data: bytes, at_ns: int) -> None:
        if self.recording is None:
            return
        if side is ProxySide.SERVER:
            self.recording.server_sent(data, at_ns)
        else:
            self.recording.client_sent(data, at_ns)

    def end(self, side: ProxySide) -> None:
        """Pass the end on; when both sides have ended, all that waits is sent and they are closed."""
        if not self._started:
            return
        failure = self._ends[side].failure
        if self._how is None:
            how = "reset" if isinstance(failure, ConnectionResetError) else "lost"
            self._by, self._how = side, "end" if failure is None else how
        with contextlib.suppress(OSError):  # already closed; reading reports it
            self.transports[side.other].write_eof()
        if all(end.ended for end in self._ends.values()):
            for transport in self.transports.values():
                transport.close()

    def lose(self, side: ProxySide) -> None:
        """The other side gets only a little time to end if this one failed."""
        if not self._started or self.over.done():
            return
        if all(end.closed.done() for end in self._ends.values()):
            if self._linger is not None:
                self._linger.cancel()
            read = self._read
            closed = Closed(self._number, self._by, read[ProxySide.CLIENT], read[ProxySide.SERVER], self.recording)
            self._proxy.end(self, closed, self._how or "stopped")
            self.over.set_result(None)
        elif self._linger is None and self._ends[side].failure is not None:
            self.transports[side.other].resume_reading()
            self._linger = asyncio.get_running_loop().call_later(_LINGER_S, self.abort)
